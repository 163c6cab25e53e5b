"""Reduced StVK on 11,172 tetrahedra: basis, polynomial, one step, a crowd. One thread, double.

The figures of Vega FEM 4.0 (with MKL) were measured on a machine of this kind with a mesh of 11,178
tetrahedra: one whole implicit Newmark step with one Newton iteration.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import numpy as np

import supple as sp
from benchmarks.cantilever import beam
from benchmarks.timing import spans, table
from supple._kernels.compiling import reordering_kernel
from supple.reduction.polynomial import pair_count, quadruple_count, triple_count

VEGA_STEP = {4: 0.74, 12: 3.1, 15: 5.2, 20: 13.5, 30: 56.0, 60: 2530.0}  # [µs]
VEGA_PRECOMPUTATION = {30: 62.0, 60: 1800.0}  # [s]
VEGA_BASIS = 3.9  # [s]
COPIES, CROWD_SIZE = 1000, 20
ROUNDS = 8
DAMPING = sp.Rayleigh(mass=0.1, stiffness=1e-3)


@reordering_kernel
def read_all(x, times):
    """Sums an array over and over: the rate at which one core reads it."""
    total = 0.0
    for _ in range(times):
        for t in range(np.uint64(len(x))):
            total += x[t]
    return total


@dataclass(frozen=True)
class Machine:
    """What one core of this machine can do."""

    flops: float  # multiplications and additions a second, in a matrix product

    @classmethod
    def measured(cls) -> Machine:
        A = np.random.default_rng(0).normal(size=(768, 768))
        return cls(2 * 768**3 / min(spans(lambda: A @ A)))

    @staticmethod
    def read_rate(size: int) -> float:
        """Bytes a second, of an array of ``size`` bytes that was read just before."""
        x = np.ones(max(64, size // 8))
        times = max(1, int(4e6 / len(x)))
        return x.nbytes * times / min(spans(lambda: read_all(x, times), least=0.5))


class Stepping:
    """A model under a steady pull, timed in turn with others: a shared machine has slow moments."""

    def __init__(self, model: sp.ReducedModel, solver: sp.DenseNewton) -> None:
        self._live = model.simulation(damping=DAMPING, dt=1e-3, solver=solver)
        tip = int(model.mesh.vertices.sum(axis=1).argmax())
        self._force = model.pull(tip, (0.0, 0.0, -20.0))
        self._steps = max(5, int(2e5 / quadruple_count(model.size)))
        self.times: list[float] = []

    def measure(self) -> None:
        """Adds times [s] of one step, from compiled runs of many."""
        runs = spans(lambda: self._live.run_steps(self._steps, force=self._force), least=0.4)
        self.times += [span / self._steps for span in runs]


def operations(r: int) -> float:
    """Multiply-adds of one step: three for each quartic coefficient, then the linear system."""
    stiffness = 3 * quadruple_count(r) + 4 * triple_count(r) + 3 * pair_count(r)
    return stiffness + r**3 / 6 + 5 * r**2


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main() -> None:
    """Runs in a process whose libraries were told to use one thread."""
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "SUPPLE_THREADS": "1"}
    subprocess.run([sys.executable, "-m", "benchmarks.reduced"], env=alone, check=True)


def _report() -> None:
    body = beam()
    machine = Machine.measured()
    print(
        f"{body.mesh.n_vertices} vertices, {body.mesh.n_cells} tetrahedra; one core multiplies "
        f"matrices at {machine.flops / 1e9:.0f} Gflop/s\n"
    )
    sp.modal_derivative_basis(body, modes=4, size=4)  # compiles
    spans = [seconds(lambda: sp.modal_derivative_basis(body, modes=15, size=30)) for _ in range(3)]
    print(
        f"15 modes, 120 derivatives and mass-PCA: {sorted(spans)[1]:.2f} s "
        f"(Vega {VEGA_BASIS:g} s)\n"
    )
    basis = sp.modal_derivative_basis(body, modes=20, size=60)
    _compile(body, basis)

    models, precomputation = {}, []
    for r in VEGA_STEP:
        start = time.perf_counter()
        models[r] = sp.reduce(body, basis.truncated(r))
        made = time.perf_counter() - start
        if r in VEGA_PRECOMPUTATION:
            precomputation.append([r, made, VEGA_PRECOMPUTATION[r]])
    once = {r: Stepping(m, sp.DenseNewton(iterations=1)) for r, m in models.items()}
    solved = {r: Stepping(m, sp.DenseNewton()) for r, m in models.items()}
    for _ in range(ROUNDS):
        for stepping in (*once.values(), *solved.values()):
            stepping.measure()
    print(_steps_table(models, once, solved, machine))
    print()
    print(table(["r", "precomputation [s]", "Vega [s]"], precomputation))
    print()
    print(_crowds(sp.reduce(body, basis.truncated(CROWD_SIZE)), machine))


def _steps_table(
    models: dict[int, sp.ReducedModel],
    once: dict[int, Stepping],
    solved: dict[int, Stepping],
    machine: Machine,
) -> str:
    rows = []
    for r, model in models.items():
        assert model.quartic is not None
        best = 1e6 * min(once[r].times)
        compiled = model.quartic.compiled
        size = sum(a.nbytes for a in (compiled.P, compiled.Q, compiled.S, compiled.rows))
        reading = 1e6 * size / machine.read_rate(size)
        computing = 1e6 * 2 * operations(r) / machine.flops
        row = [r, best, 1e6 * median(once[r].times), VEGA_STEP[r], best / VEGA_STEP[r]]
        row += [1e6 * min(solved[r].times), size / 1e3, reading, computing]
        rows.append([*row, best / max(reading, computing)])
    headers = ["r", "step, best [µs]", "median [µs]", "Vega [µs]", "best / Vega"]
    headers += ["converged, best [µs]", "coefficients [kB]", "reading them [µs]"]
    return table([*headers, "arithmetic at peak [µs]", "× the larger limit"], rows)


def _compile(body: sp.Body, basis: sp.Basis) -> None:
    for r in (4, 60):  # both layouts
        model = sp.reduce(body, basis.truncated(r))
        model.simulation(damping=DAMPING).run_steps(2)


def _crowds(model: sp.ReducedModel, machine: Machine) -> str:
    rng = np.random.default_rng(0)
    tip = int(model.mesh.vertices.sum(axis=1).argmax())
    forces = np.array([model.pull(tip, 10 * rng.normal(size=3)) for _ in range(COPIES)])
    rows = []
    for dtype in (np.float64, np.float32):
        for solver, name in ((sp.DenseNewton(iterations=1), "one"), (sp.DenseNewton(), "all")):
            crowd = model.simulation(copies=COPIES, damping=DAMPING, solver=solver, dtype=dtype)
            crowd.run_steps(50, force=forces)
            times = spans(lambda c=crowd: c.run_steps(1, force=forces), least=2.0)
            figures = [1e6 * of(times) / COPIES for of in (min, median)]
            rows.append([dtype.__name__, name, *figures])
    products = 2 * pair_count(model.size) ** 2 / machine.flops * 1e6
    return (
        table(["precision", "Newton iterations", "a copy and step, best [µs]", "median [µs]"], rows)
        + f"\n\n{COPIES} copies, r = {model.size}; the matrix product alone, in double precision "
        f"at peak: {products:.2f} µs"
    )


if __name__ == "__main__":
    _report()
