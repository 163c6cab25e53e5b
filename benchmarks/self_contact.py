"""A large cloth folded on itself: what a step of one Newton iteration takes, with friction.

A strip lies in five layers that press on each other and slide.

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

LAYERS = 5
APART = 0.217
"""Edges between layers, where they begin to push at 0.228: 0.2 of the mean edge."""


def folded(cells: int, contact: sp.SelfContact | None) -> sp.Simulation:
    """A strip of five square layers, each of ``cells`` by ``cells`` squares, folded and at work."""
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
    )
    sim.state.u = start - flat.vertices
    sim.state.v = np.column_stack([0.2 * (layer % 2), 0 * layer, -0.01 * layer])
    return sim


def measured(cells: int, steps: int) -> dict[str, float]:
    """Seconds on the clock and of processors for a step, and what it met."""
    found: dict[str, float] = {}
    for name, contact in (
        ("none", None),
        ("frictionless", sp.SelfContact()),
        ("friction", sp.SelfContact(friction=0.3)),
    ):
        sim = folded(cells, contact)
        sim.step()
        kept = sim.snapshot()
        clock, processors, iterations = [], [], 0
        for _ in range(steps):
            sim.restore(kept)
            began = time.perf_counter(), time.process_time()
            sim.step()
            clock.append(time.perf_counter() - began[0])
            processors.append(time.process_time() - began[1])
            iterations += sim.stats.iterations
        found |= {f"{name} clock": median(clock), f"{name} processors": median(processors)}
        found[f"{name} iterations"] = iterations / steps
        if contact is not None:
            found["pairs"] = sim.stats.contacts
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
        [version, f["vertices"], f["pairs"] if name != "none" else 0, name]
        + [f[f"{name} {what}"] for what in ("iterations", "clock", "processors")]
        for version, f in versions.items()
        for name in ("none", "frictionless", "friction")
    ]
    print(table(headers, rows))
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
