"""Shirts of yarns on a man in mid-stride: time and memory of steps of 1 ms.

``python -m benchmarks yarn_shirts FOLDER`` reads man and shirt as examples/shirt.py does. The sheet
is put on and walks for a while; then it is woven as it hangs, at the spacings of the paper's two
sizes, and goes on as yarns with one Newton iteration a step, as there. ``--save MOTIONS`` keeps the
last shapes for docs/figures/yarn_shirts.py. The largest needs 12 GB.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.timing import table

ROOT = Path(__file__).resolve().parents[1]
SPACINGS = {"136,741": 2.15e-3, "1,053,175": 7.75e-4}
"""[m], by the crossings of the paper's shirts."""
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


def measure(folder: Path, file: Path, spacing: float, steps: int, save: Path | None) -> None:
    """Print crossings, seconds of weaving, of steps by the clock and of all cores, memory [GB]."""
    sys.path.insert(0, str(ROOT / "examples"))
    import shirt
    import yarn_shirt

    from supple.bodies.cloth import front_and_back
    from supple.yarns import YarnNet, YarnSelfContact, YarnSimulation

    cloth, man = shirt.around(folder, _dressing(shirt.DRESSING))
    saved = np.load(file)
    flat = front_and_back(cloth.mesh, facing=(0, -1, 0), up=(0, 0, 1))
    man = replace(man, times=np.asarray(man.times) - float(saved["time"]))
    start = time.perf_counter()
    woven = yarn_shirt.woven(replace(flat, vertices=saved["x"]), spacing)
    later = YarnNet.from_garment(
        replace(flat, vertices=saved["x"] + DT * saved["v"]), spacing=spacing
    )
    sim = YarnSimulation(
        woven,
        damping=yarn_shirt.DAMPINGS["medium"],
        gravity=(0, 0, -9.81),
        obstacles=man,
        self_contact=YarnSelfContact(friction=0.3),
        iterations=1,
        dt=DT,
    )
    sim.set_state(v=(later.positions - woven.net.positions) / DT)
    made = time.perf_counter() - start
    spans, worked, parts = [], [], 0
    for _ in range(1 + steps):
        start, began = time.perf_counter(), time.process_time()
        sim.step()
        spans.append(time.perf_counter() - start)
        worked.append(time.process_time() - began)
        parts += sim.parts
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    x, now = sim.q[:, :3], sim.time
    clear = float((man.at(x, now).distance + man.margin).min())
    if save is not None:
        np.savez_compressed(save, q=sim.q.astype(np.float32), time=now)
    print(
        woven.n_nodes, made, median(spans[1:]), median(worked[1:]), parts / (1 + steps), memory,
        1e3 * clear,
    )  # fmt: skip


def main() -> None:
    reader = argparse.ArgumentParser()
    reader.add_argument("folder", type=Path)
    reader.add_argument("--save", type=Path)
    given, _ = reader.parse_known_args(sys.argv[2:])
    keep = given.save or Path(__file__).resolve().parent / ".shirts"
    keep.mkdir(exist_ok=True)
    file = keep / "worn.npz"
    if not file.exists():
        worn(given.folder, file)
    rows: list[list[object]] = []
    for name, spacing in SPACINGS.items():
        save = None if given.save is None else given.save / f"yarns_{name.replace(',', '')}.npz"
        saved = None if save is None else str(save)
        code = (
            "from pathlib import Path; from benchmarks.yarn_shirts import measure; "
            f"s = {saved!r}; measure(Path({str(given.folder)!r}), Path({str(file)!r}), "
            f"{spacing!r}, {STEPS}, None if s is None else Path(s))"
        )
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
        found = [float(word) for word in done.stdout.split()]
        rows.append([f"{int(found[0]):,}", *found[1:], PAPER[name]])
    headers = ["crossings", "weaving [s]", "a step by the clock [s]", "of all cores [s]",
               "parts", "memory [GB]", "off the skin [mm]", "the paper, GPU [s]"]  # fmt: skip
    print(table(headers, rows))


if __name__ == "__main__":
    main()
