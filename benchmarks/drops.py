"""Whether bodies that hit a floor gain energy, and how high they jump.

Bodies by others and a box, 20 cm large, of five stiffnesses, dropped from thirteen heights in steps
of four lengths with every implicit rule, by Newton's method and by ADMM: no step may fail and
kinetic, elastic and potential energy together may not grow.

``python -m benchmarks drops FOLDER [--keep CACHE] [--every N] [BODY …]``, where the folder has
``tets``; ``--every N`` takes each N-th of all runs. What was found is kept in the folder CACHE, so
that it can be interrupted, and measured again where the code of contact has changed.
"""

from __future__ import annotations

import argparse
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import supple as sp
from benchmarks.keeping import Kept, fingerprint
from benchmarks.timing import table
from supple.integrators import INTEGRATORS, ImplicitIntegrator

BODIES = ("box", "bunny_1124", "sphere", "torus")
STIFFNESSES = (1e4, 1e5, 1e6, 1e7, 1e9)  # Pa
HEIGHTS = tuple(np.round(np.geomspace(0.02, 1.0, 13), 4))  # m
RATES = (24, 60, 120, 240)
RULES = tuple(rule for rule in INTEGRATORS if issubclass(rule, ImplicitIntegrator))
SOLVERS = {"Newton": sp.Newton(), "ADMM": sp.ADMM(iterations=30)}
SIZE = 0.2  # m
AFTERWARDS = 0.4  # s, after the body has met the floor
GROWN = 0.01
"""Share of the energy of the fall above which energy that came from nowhere is told."""
_G = 9.81


def body_named(folder: Path, name: str, young: float) -> sp.Body:
    """20 cm large, with its lowest point at height 0."""
    if name == "box":
        mesh = sp.TetMesh.box(size=(SIZE, SIZE, SIZE), cells=(4, 4, 4))
    else:
        file = folder / "tets" / f"{name}.node"
        mesh = sp.read_mesh(file if file.exists() else file.with_suffix(".msh"))
    X = mesh.vertices - mesh.vertices.min(axis=0)
    X *= SIZE / np.ptp(X, axis=0).max()
    material = sp.StableNeoHookean(young=young, poisson=0.45, density=1000)
    return sp.Body(sp.TetMesh(X, mesh.cells), material)


def dropped(
    body: sp.Body, height: float, dt: float, rule: sp.Integrator, solver: Any
) -> dict[str, Any]:
    """One drop: what it gained, how high it jumped, what it cost."""
    floor = sp.Plane(normal=(0, 0, 1), offset=-height, friction=0.3)
    sim = sp.Simulation(
        body, obstacles=[floor], integrator=rule, solver=solver, dt=dt, gravity=(0, 0, -_G)
    )
    steps = int(np.ceil((np.sqrt(2 * height / _G) + AFTERWARDS) / dt))
    mass = body.mass_times(np.ones_like(body.mesh.vertices))[:, 2]
    fall = body.total_mass * _G * height
    energies, heights = [], []
    began = time.process_time()
    found: dict[str, Any] = {}
    for _ in range(steps):
        frame = sim.frame()
        energies.append(frame.kinetic + frame.elastic + frame.gravitational)
        heights.append(float(mass @ sim.state.u[:, 2]) / body.total_mass)
        try:
            sim.step()
        except Exception as failed:  # whatever it is, it counts
            found["failed"] = f"{type(failed).__name__}: {failed}"
            break
    E, z = np.array(energies), np.array(heights)
    lowest = int(np.argmin(z[: np.argmax(np.diff(z) > 0) + 1])) if (np.diff(z) > 0).any() else -1
    found["above"] = float(E.max() - E[0]) / fall
    found["grown"] = float((E - np.minimum.accumulate(E)).max()) / fall
    found["rebound"] = float(z[lowest:].max() + height) / height if lowest >= 0 else 0.0
    total = sim.stats.total
    found["iterations"] = total.iterations / max(len(E), 1) if total else 0.0
    found["substeps"] = total.substeps / max(len(E), 1) if total else 0.0
    found["seconds"] = time.process_time() - began
    return found


def main(arguments: list[str] | None = None) -> int:
    """Print what failed and what gained energy, by rule and solver."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks drops")
    parser.add_argument("folder", type=Path)
    parser.add_argument("bodies", nargs="*", default=BODIES)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args(arguments)
    package = Path(sp.__file__).parent
    code = [
        f for part in ("contact", "dynamics", "solvers") for f in (package / part).rglob("*.py")
    ]
    mark = fingerprint("drops", files=[*code, package / "integrators.py", Path(__file__)])
    kept = Kept(options.keep)
    cases = list(product(options.bodies, STIFFNESSES, HEIGHTS, RATES, RULES, SOLVERS))
    rng = np.random.default_rng(0)
    chosen = [cases[k] for k in rng.permutation(len(cases))[:: options.every]]
    rows: list[tuple[Any, ...]] = []
    for number, case in enumerate(chosen):
        name, young, height, rate, rule, solver = case

        def run(case: Any = case) -> dict[str, Any]:
            name, young, height, rate, rule, solver = case
            body = body_named(options.folder, name, young)
            return dropped(body, float(height), 1 / rate, rule(), SOLVERS[solver])

        label = f"{name} · {young:g} · {height} · {rate} · {rule.__name__} · {solver}"
        rows.append((case, kept.row("drops", f"{label} · {mark}", run)))
        found = rows[-1][1]
        if "failed" in found or found["grown"] > GROWN:
            print(f"\r{label}: {found}", flush=True)
        print(f"\r{number + 1} of {len(chosen)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    told = []
    for rule, solver in product(RULES, SOLVERS):
        mine = [found for case, found in rows if case[4] is rule and case[5] == solver]
        if mine:
            grown = [found["grown"] for found in mine]
            told.append(
                [
                    rule.__name__,
                    solver,
                    len(mine),
                    sum("failed" in found for found in mine),
                    sum(each > GROWN for each in grown),
                    max(grown),
                    max(found["rebound"] for found in mine),
                    float(np.mean([found["substeps"] for found in mine])),
                ]
            )
    head = ["rule", "solver", "runs", "failed", "gained energy", "most gained", "highest rebound"]
    print(table([*head, "substeps a step"], told))
    return 0


if __name__ == "__main__":
    sys.exit(main())
