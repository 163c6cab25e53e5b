"""Steps of reduced models with damping that has no closed form: its laws compiled, and from Python.

A soft beam in 20 coordinates is bent and let go, as an exact polynomial and with a cubature: whole
converged steps of Newmark's rule and of Bathe's. "From Python" is the path of a damping that has no
laws, on the same cells; for scale stands a damping in closed form.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np

import supple as sp
from benchmarks.timing import table
from supple.core.types import Floats
from supple.damping import Damping
from supple.reduction.damping.points import CubatureDamping

SIZE = 20  # coordinates
SPAN = 60  # steps
REPEATS = 3
CURVE = sp.Curve.bezier([(0.5, 0.3), (1.0, 1.0), (1.6, 4.0)])
BASE = sp.StrainRate(shear=20.0)
DAMPINGS: dict[str, Damping] = {
    "PowerLaw, p = 0.5": sp.PowerLaw(exponent=0.5, strength=10.0),
    "PowerLaw, p = 2": sp.PowerLaw(exponent=2.0, strength=10.0),
    "PowerLaw of StrainRate": sp.PowerLaw(exponent=0.5, of=BASE, scale=10.0),
    "SplineDamping": sp.SplineDamping(BASE, CURVE),
    "PrincipalStrain": sp.PrincipalStrain(stiffness=2e-3),
}


def main() -> None:
    """Runs in a process whose libraries were told to use one thread."""
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "SUPPLE_THREADS": "1"}
    subprocess.run([sys.executable, "-m", "benchmarks.reduced_laws"], env=alone, check=True)


@contextmanager
def from_python() -> Iterator[None]:
    """Dampings as if they had no laws."""
    with patch.object(CubatureDamping, "laws", None):
        yield


def soft_beam(cells: tuple[int, int, int]) -> sp.Body:
    mesh = sp.TetMesh.box(size=(1.0, 0.2, 0.2), cells=cells)
    material = sp.StVK(young=2e4, poisson=0.35, density=1000.0)
    return sp.Body(mesh, material, fixed=mesh.where(x=0))


def _report() -> None:
    rows: list[list[object]] = []
    for cells in ((6, 2, 2), (16, 4, 4)):
        body = soft_beam(cells)
        basis = sp.modal_derivative_basis(body, modes=8, size=SIZE)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sp.CubatureWarning)
            cubature = sp.train_cubature(body, basis.vectors)
        models = {
            "polynomial": sp.reduce(body, basis),
            "cubature": sp.reduce(body, basis, cubature=cubature),
        }
        start = 0.3 * _bent(models["polynomial"])
        for kind, model in models.items():
            for name, damping in DAMPINGS.items():
                for rule in (sp.Newmark(), sp.Bathe()):
                    with from_python():
                        before, many = _rate(model, damping, rule, start)
                    after, few = _rate(model, damping, rule, start)
                    plain, _ = _rate(model, BASE, rule, start)
                    here = [kind, body.mesh.n_cells, name, type(rule).__name__]
                    rows.append([*here, before, after, after / before, many, few, plain])
                    print(rows[-1], file=sys.stderr, flush=True)
    headers = ["model", "cells", "damping", "rule", "from Python [steps/s]", "compiled [steps/s]"]
    headers += ["ratio", "iterations a step, from Python", "compiled", "closed form [steps/s]"]
    print(table(headers, rows))


def _bent(model: sp.ReducedModel) -> Floats:
    """The first mode, as large as the body is long."""
    q = np.zeros(model.size)
    q[0] = 1.0
    return q / np.abs(model.displacements(q)).max()


def _rate(
    model: sp.ReducedModel, damping: Damping, rule: sp.Integrator, start: Floats
) -> tuple[float, float]:
    """Steps a second of processor time, the best of several runs; and iterations a step."""
    best = np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sp.CubatureWarning)
        live = model.simulation(damping=damping, integrator=rule, dt=1 / 120)
    live.step()  # compiles
    for _ in range(REPEATS):
        live.q, live.v = start, np.zeros_like(start)
        before = live.stats.iterations
        begun = time.thread_time()
        live.run_steps(SPAN)
        best = min(best, (time.thread_time() - begun) / SPAN)
    return 1 / best, (live.stats.iterations - before) / SPAN


if __name__ == "__main__":
    _report()
