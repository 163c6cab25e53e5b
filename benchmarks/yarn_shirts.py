"""Shirts of yarns on a man in mid-stride: time and memory of steps of 1 ms.

``python -m benchmarks yarn_shirts FOLDER`` reads man and shirt as examples/shirt.py does. The sheet
is put on and walks for a while; then it is woven as it hangs, at spacings up to those of the
paper's two sizes, and goes on as yarns with one Newton iteration a step, as there. ``--save
SHAPES`` keeps the sheet and the last shapes, and goes on from what is there; ``--sizes 136,741``
takes some sizes alone, ``--steps`` says how many are measured after the first, and ``--passing``
has the layers of the shirt pass through each other.

The sheet has no thickness and takes no notice of itself, so yarns that are woven from it begin too
near each other, and the first step is one of parts.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.timing import table
from supple import AnimatedMesh, SheetMesh
from supple.core.types import Floats
from supple.yarns import WovenCloth, YarnNet, YarnSelfContact, YarnSimulation

ROOT = Path(__file__).resolve().parents[1]
SPACINGS = {"2,800": 1.5e-2, "20,000": 5.6e-3, "136,741": 2.15e-3, "1,053,175": 7.75e-4}
"""[m], by the crossings that were asked for; the last two are those of the paper's shirts."""
PAPER = {"136,741": 9.85, "1,053,175": 86.0}
"""Seconds a step on a GPU."""
FILLED, EASED, WALKED = 0.1, 0.1, 0.12  # [s]: growing, begin of the walk, and all of it as a sheet
DT, STEPS = 1e-3, 3


def _dressing(usual: Any) -> Any:
    return replace(usual, growing=FILLED, settling=0.0, easing=EASED)


def worn(folder: Path, file: Path) -> None:
    """Dress the man, let him walk, and keep the sheet and its speed in a file."""
    sys.path.insert(0, str(ROOT / "examples"))
    import shirt

    cloth, man = shirt.around(folder, _dressing(shirt.DRESSING))
    sim = shirt.simulation(cloth, man, shirt.DAMPINGS["medium"], shirt.DT)
    sim.run(FILLED, every=1000)
    sim.obstacles = man
    sim.run(WALKED, every=1000)
    np.savez(file, x=cloth.mesh.vertices + sim.state.u, v=sim.state.v, time=sim.state.time)


def woven_shirt(
    folder: Path, x: Floats, spacing: float
) -> tuple[WovenCloth, AnimatedMesh, SheetMesh]:
    """The shirt as yarns where its vertices are at x, the man, and its flat pattern."""
    sys.path.insert(0, str(ROOT / "examples"))
    import shirt
    import yarn_shirt

    from supple.bodies.cloth import front_and_back

    cloth, man = shirt.around(folder, _dressing(shirt.DRESSING))
    flat = front_and_back(cloth.mesh, facing=(0, -1, 0), up=(0, 0, 1))
    return yarn_shirt.woven(replace(flat, vertices=x), spacing), man, flat


def shirt_on_the_man(
    folder: Path, file: Path, spacing: float, shape: Path | None, *, passing: bool = False
) -> YarnSimulation:
    """The shirt as yarns, in a saved shape or as the sheet was, and the man at the same instant."""
    sheet = np.load(file)
    woven, man, flat = woven_shirt(folder, sheet["x"], spacing)
    import yarn_shirt

    if shape is not None and shape.exists():
        kept = np.load(shape)
        q, v, now = kept["q"].astype(float), kept["v"].astype(float), float(kept["time"])
    else:
        soon = replace(flat, vertices=sheet["x"] + DT * sheet["v"])
        later = YarnNet.from_garment(soon, spacing=spacing)
        q, v = woven.rest_state, (later.positions - woven.net.positions) / DT
        now = float(sheet["time"])
    sim = YarnSimulation(
        woven,
        damping=yarn_shirt.DAMPINGS["medium"],
        gravity=(0, 0, -9.81),
        obstacles=replace(man, times=np.asarray(man.times) - now),
        self_contact=None if passing else YarnSelfContact(friction=0.3),
        iterations=1,
        dt=DT,
    )
    sim.set_state(q=q, v=v)
    return sim


def measure(
    folder: Path, file: Path, spacing: float, steps: int, save: Path | None, passing: bool
) -> None:
    """Print a row of the table, but for the first and the last column, as JSON."""
    start = time.perf_counter()
    sim = shirt_on_the_man(folder, file, spacing, save, passing=passing)
    begun = float(np.load(file if save is None or not save.exists() else save)["time"])
    made = time.perf_counter() - start
    spans, worked, parts = [], [], []
    for step in range(1 + steps):
        start, began = time.perf_counter(), time.process_time()
        sim.step()
        spans.append(time.perf_counter() - start)
        worked.append(time.process_time() - began)
        parts.append(sim.parts)
        print(f"step {step}: {spans[-1]:.1f} s, {worked[-1]:.1f} s of cores", file=sys.stderr)
        if save is not None:
            q, v = sim.q.astype(np.float32), sim.v.astype(np.float32)
            np.savez_compressed(save, q=q, v=v, time=begun + sim.time)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    (man,) = sim.obstacles
    x, yarn, gaps = sim.q[:, :3], sim.cloth.warp, sim.layer_gaps
    assert np.isfinite(sim.q).all()
    assert np.isfinite(sim.v).all()
    found = {
        "weaving [s]": made,
        "the first [s]": worked[0],
        "a step by the clock [s]": median(spans[1:] or spans),
        "of all cores [s]": median(worked[1:] or worked),
        "parts": float(np.mean(parts[1:] or parts)),
        "memory [GB]": memory,
        "pressed on him": int((np.abs(sim.contact_forces).max(axis=1) > 0).sum()),
        "off the margin [yarns]": float(man.at(x, sim.time).distance.min()) / (2 * yarn.radius),
        "touching itself": len(gaps),
        "nearest [thicknesses]": float(gaps.min(initial=np.inf)) / (4 * yarn.radius),
    }
    print(json.dumps([sim.cloth.n_nodes, found]))


def main(arguments: Sequence[str]) -> int:
    reader = argparse.ArgumentParser()
    reader.add_argument("folder", type=Path)
    reader.add_argument("--save", type=Path)
    reader.add_argument("--sizes", nargs="+", choices=SPACINGS, default=list(SPACINGS))
    reader.add_argument("--steps", type=int, default=STEPS)
    reader.add_argument("--passing", action="store_true")
    given = reader.parse_args(arguments)
    keep = given.save or Path(tempfile.mkdtemp())
    keep.mkdir(exist_ok=True)
    file = keep / "worn.npz"
    if not file.exists():
        worn(given.folder, file)
    rows: list[list[object]] = []
    headers: list[str] = []
    for name in given.sizes:
        save = None if given.save is None else given.save / f"yarns_{name.replace(',', '')}.npz"
        saved = None if save is None else str(save)
        code = (
            "from pathlib import Path; from benchmarks.yarn_shirts import measure; "
            f"s = {saved!r}; measure(Path({str(given.folder)!r}), Path({str(file)!r}), "
            f"{SPACINGS[name]!r}, {given.steps}, None if s is None else Path(s), {given.passing})"
        )
        done = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE)
        crossings, found = json.loads(done.stdout.splitlines()[-1])
        headers = ["crossings", *found, "the paper, GPU [s]"]
        rows.append([f"{crossings:,}", *found.values(), PAPER.get(name, "")])
    print(table(headers, rows))
    return 0
