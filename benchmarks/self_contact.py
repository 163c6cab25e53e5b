"""A large cloth folded on itself: what a step of one Newton iteration takes, with friction.

A strip lies in five layers that press on each other and slide: as they meet, from one state again
and again; and on a floor, with weight, step after step. What contact alone takes is measured beside
the IPC Toolkit, at the same places.

``python -m benchmarks self_contact [--cells N] [--steps N] [--before SRC]``; SRC is the source
folder of another version of Supple, which is measured after this one, in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

import numpy as np

import supple as sp
from benchmarks.timing import table
from benchmarks.toolkit_pairs import compared

LAYERS = 5
APART = 0.217
"""Edges between layers, where they begin to push at 0.228: 0.2 of the mean edge."""

_ABOVE_FLOOR = 1e-4
"""How far above the floor the lowest layer starts [m]."""


def folded(cells: int, contact: sp.SelfContact | None, *, on_floor: bool = False) -> sp.Simulation:
    """A strip of five square layers, each of ``cells`` by ``cells`` squares, folded and at work."""
    floor = sp.Plane(normal=(0, 0, 1), offset=-_ABOVE_FLOOR, friction=0.3)
    flat = sp.SheetMesh.grid((float(LAYERS), 1.0), (LAYERS * cells, cells))
    edge = 1.0 / cells
    s, y = flat.vertices[:, 0], flat.vertices[:, 1]
    layer = np.minimum(np.floor(s + 1e-9), LAYERS - 1)
    along = s - layer
    x = np.where(layer % 2 == 0, along, 1.0 - along)
    shift = edge * layer  # so that layers do not lie edge on edge
    start = np.column_stack([x + 0.13 * shift, y + 0.21 * shift, APART * edge * layer])
    film = sp.IsotropicCloth(young=1e5, poisson=0.3, thickness=5e-4, areal_density=0.2)
    sim = sp.Simulation(
        sp.Cloth(flat, film, mass_model=sp.LumpedMass()),
        integrator=sp.BackwardEuler(),
        solver=sp.Newton(iterations=1),
        self_contact=contact,
        damping=sp.ClothStrainRate(matched=0.01),
        dt=1 / 200,
        gravity=(0, 0, -9.81) if on_floor else (0, 0, 0),
        obstacles=[floor] if on_floor else [],
    )
    sim.state.u = start - flat.vertices
    sim.state.v = np.column_stack([0.2 * (layer % 2), 0 * layer, -0.01 * layer])
    return sim


SCENES = {
    "none": (None, False),
    "frictionless": (sp.SelfContact(), False),
    "friction": (sp.SelfContact(friction=0.3), False),
    "friction, on a floor": (sp.SelfContact(friction=0.3), True),
}


def measured(cells: int, steps: int) -> dict[str, float]:
    """Seconds on the clock and of processors for a step, and what it met."""
    found: dict[str, float] = {}
    for name, (contact, on_floor) in SCENES.items():
        sim = folded(cells, contact, on_floor=on_floor)
        sim.step()
        kept = sim.snapshot()
        clock, processors, iterations, pairs = [], [], 0, []
        for _ in range(steps):
            if not on_floor:
                sim.restore(kept)
            began = time.perf_counter(), time.process_time()
            sim.step()
            clock.append(time.perf_counter() - began[0])
            processors.append(time.process_time() - began[1])
            iterations += sim.stats.iterations
            pairs.append(sim.stats.contacts if contact is not None else 0)
        found |= {f"{name} clock": median(clock), f"{name} processors": median(processors)}
        found |= {f"{name} iterations": iterations / steps, f"{name} pairs": median(pairs)}
    found["vertices"] = sim.body.n_vertices
    return found


def main(given: list[str] | None = None) -> int:
    read = argparse.ArgumentParser(prog="python -m benchmarks self_contact")
    read.add_argument("--cells", type=int, default=44)
    read.add_argument("--steps", type=int, default=10)
    read.add_argument("--before", type=Path)
    read.add_argument("--numbers", action="store_true", help=argparse.SUPPRESS)
    asked = read.parse_args(given or [])
    mine = measured(asked.cells, asked.steps)
    if asked.numbers:
        print(json.dumps(mine))
        return 0
    versions = {"this version": mine}
    if asked.before:
        versions["before"] = _measured_with(asked.before, asked.cells, asked.steps)
    headers = ["", "vertices", "pairs", "self-contact", "iterations", "s a step", "s of processors"]
    rows = [
        [version, f["vertices"], f[f"{name} pairs"], name]
        + [f[f"{name} {what}"] for what in ("iterations", "clock", "processors")]
        for version, f in versions.items()
        for name in SCENES
    ]
    print(table(headers, rows))
    sim = folded(asked.cells, sp.SelfContact(friction=0.3))
    sim.step()
    headers = ["", "s", "of processors", "toolkit, s", "of processors"]
    print(table(headers, compared(sim)))
    return 0


def _measured_with(source: Path, cells: int, steps: int) -> dict[str, float]:
    """The same by the version of Supple in a folder."""
    here = Path(__file__).resolve().parents[1]
    env = os.environ | {"PYTHONPATH": f"{source.resolve()}{os.pathsep}{here}"}
    command = [sys.executable, "-m", "benchmarks", "self_contact", "--numbers"]
    options = ["--cells", str(cells), "--steps", str(steps)]
    run = subprocess.run(
        [*command, *options], env=env, capture_output=True, text=True, check=True, cwd=here
    )
    found: dict[str, float] = json.loads(run.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
