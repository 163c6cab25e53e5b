"""Whether reduced models can be let go from anywhere, with any rule and step.

Five bodies, two sizes of models, five rules and three steps: let go at 0.1, 0.3 and 0.5 of the
body's length along its slowest vibration, or pulled steadily from rest, without damping and with
``Rayleigh``: 1,200 runs, in which no step may fail and no energy may come from nowhere.

``python -m benchmarks reduced_releases FOLDER [BODY …] [--keep CACHE]``, where the folder has
``tets``; what was found is kept in the folder CACHE, so that it can be interrupted, and measured
again where the code of reduced models has changed.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import supple as sp
from benchmarks.keeping import Kept, fingerprint
from benchmarks.model_error import held_body
from benchmarks.timing import table
from supple.builtin import spoon
from supple.core.types import Floats

BODIES = ("beam", "spoon", "bunny", "octocat", "elephant")
SIZES = (10, 20)
RULES = (sp.BackwardEuler(), sp.Newmark(), sp.BDF2(), sp.TRBDF2(), sp.Bathe())
RATES = (30, 60, 240)
STARTS = ("0.1", "0.3", "0.5", "pull")
DAMPED = (False, True)
DURATION = 1.0
"""Of each run [s]."""
_PULL = 0.3  # how far a linear body would be pulled, as a share of its length
_RATIO = 0.05  # damping ratio of the slowest vibration
_GROWN = 0.01  # share of the energy at the start, or of the work of the pull, that is told


def body_named(folder: Path, name: str) -> sp.Body:
    if name == "beam":
        mesh = sp.TetMesh.box(size=(1.0, 0.2, 0.2), cells=(10, 2, 2))
        return sp.Body(mesh, sp.StVK(young=1e6, poisson=0.4), fixed=mesh.where(x=0))
    if name == "spoon":
        made = spoon(resolution=40)
        return sp.Body(made.mesh, made.material, fixed=made.places["far end"])
    return held_body(folder, name)[0]


class Releases:
    """All runs of one model."""

    def __init__(self, body: sp.Body, model: sp.ReducedModel) -> None:
        self.model = model
        length = float(np.ptp(body.mesh.vertices, axis=0).max())
        K = model.stiffness(np.zeros(model.size))
        squares, shapes = np.linalg.eigh(K)  # bases are mass-orthonormal
        slowest = shapes[:, 0]
        moved = np.linalg.norm(np.tensordot(slowest, model.vectors, 1), axis=1)
        self._way: Floats = slowest * length / moved.max()
        self.damping = sp.Rayleigh(stiffness=2 * _RATIO / float(np.sqrt(squares[0])))
        self._pull: Floats = _PULL * K @ self._way

    def run(self, rule: sp.Integrator, rate: int, start: str, damped: bool) -> dict[str, Any]:
        """One run: whether it came to its end, its work, and the energy that came from nowhere."""
        model = self.model
        live = model.simulation(
            integrator=rule, dt=1 / rate, damping=self.damping if damped else None
        )
        force = np.zeros(model.size)
        if start == "pull":
            force = self._pull
        else:
            live.q = float(start) * self._way
        found: dict[str, Any] = {}
        began = time.process_time()
        try:
            q, v = live.trace(round(DURATION * rate), force=force)
        except sp.StepFailed as failed:
            return {"failed": str(failed), "time": live.time, **_stats(live)}
        found["seconds"] = time.process_time() - began
        kinetic = 0.5 * np.einsum("ti,ij,tj->t", v, model.mass, v)
        elastic = np.array([model.evaluate(x)[0] for x in q])
        total = kinetic + elastic - q @ force
        given = total[0] if start != "pull" else (q @ force).max()
        found["grown"] = float((total.max() - total[0]) / given)
        return {**found, **_stats(live)}


def _stats(live: sp.ReducedSimulation) -> dict[str, int]:
    stats = live.stats
    return {"steps": stats.steps, "iterations": stats.iterations, "cut": stats.cut}


def rows_of(folder: Path, name: str, kept: Kept) -> Iterator[dict[str, Any]]:
    package = Path(sp.__file__).parent
    code = [*(package / "reduction").rglob("*.py"), *(package / "_kernels/reduction").glob("*.py")]
    mark = fingerprint(name, files=[*code, Path(__file__)])
    cases = list(product(RULES, RATES, STARTS, DAMPED))
    for size in SIZES:
        made: list[Releases] = []

        def releases(size: int = size, made: list[Releases] = made) -> Releases:
            if not made:
                body = body_named(folder, name)
                basis = sp.modal_derivative_basis(body, modes=10, size=size)
                made.append(Releases(body, sp.reduce(body, basis, compare=False)))
            return made[0]

        for rule, rate, start, damped in cases:
            label = f"{type(rule).__name__} · {rate} · {start} · {'damped' if damped else 'not'}"
            row = kept.row(
                "reduced_releases",
                f"{name} · {size} · {label} · {mark}",
                lambda c=(rule, rate, start, damped), r=releases: r().run(*c),
            )
            yield {**row, "body": name, "size": size, "rule": type(rule).__name__, "rate": rate,
                   "start": start, "damped": damped}  # fmt: skip


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks reduced_releases", description=__doc__
    )
    parser.add_argument("folder", type=Path, help="of bodies, with tets")
    parser.add_argument("bodies", nargs="*", help=f"some of {', '.join(BODIES)}")
    parser.add_argument("--keep", type=Path, help="a folder for what was found")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore", sp.MeshWarning)
    rows: list[dict[str, Any]] = []
    for name in given.bodies or BODIES:
        for row in rows_of(given.folder, name, Kept(given.keep)):
            rows.append(row)
            if "failed" in row or row["grown"] > _GROWN:
                told = row.get("failed") or f"energy grows by {100 * row['grown']:.3g} %"
                print(f"{row['key']}: {told}", file=sys.stderr, flush=True)
    head = ["rule", "damped", "runs", "failed", "energy grew", "at most", "steps cut",
            "iterations a step"]  # fmt: skip
    print(table(head, [_summary(rows, rule, damped) for rule in RULES for damped in DAMPED]))
    failed = sum("failed" in row for row in rows)
    print(f"\n{failed} of {len(rows)} runs failed")
    return 0


def _summary(rows: list[dict[str, Any]], rule: sp.Integrator, damped: bool) -> list[str]:
    name = type(rule).__name__
    some = [row for row in rows if row["rule"] == name and row["damped"] is damped]
    grown = np.array([row["grown"] for row in some if "grown" in row])
    steps = sum(row["steps"] for row in some)
    return [
        name,
        "Rayleigh" if damped else "no",
        f"{len(some)}",
        f"{sum('failed' in row for row in some)}",
        f"{(grown > _GROWN).sum()}",
        f"{100 * grown.max(initial=0.0):.3g} %",
        f"{100 * sum(row['cut'] for row in some) / max(steps, 1):.2g} %",
        f"{sum(row['iterations'] for row in some) / max(steps, 1):.3g}",
    ]
