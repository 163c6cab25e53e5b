"""Where cubature overtakes the exact polynomial: steps of one body in 12 to 100 coordinates.

A soft creature of StVK, pulled by an ear and let go, damped by its current stiffness: whole
converged steps of Bathe's rule. The polynomial of the energy has r⁴/24 numbers and that of the
damping three times as many; a cubature has about nine points a coordinate, and its matrices are
made when they are needed. Beside the rates stands what the cubature costs: the error of the force
in its test poses, and how far its motion goes from the exact one, of the largest displacement.

Give sizes to try others: ``python -m benchmarks.reduced_cubature 30 40``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings

import numpy as np

import supple as sp
from benchmarks.reduced_examples import BASE, pulled, soft_creature
from benchmarks.timing import table
from supple.core.types import Floats

SIZES = (12, 20, 30, 40, 50, 74, 100)
EXACT_UP_TO = 80  # coordinates of damping that follows the strain in closed form
REPEATS = 5
SPAN = 60  # steps


def main() -> None:
    """Runs in a process whose libraries were told to use one thread."""
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "SUPPLE_THREADS": "1"}
    subprocess.run([sys.executable, "-m", "benchmarks.reduced_cubature"], env=alone, check=True)


def _report(sizes: tuple[int, ...]) -> None:
    body, ear, modes = soft_creature()
    basis = sp.joined_basis(
        body,
        sp.picked_basis(body, modes),
        sp.modal_derivative_basis(body, modes=24, size=max(sizes)),
    )
    rows: list[list[object]] = []
    for size in sizes:
        part = basis.truncated(size)
        begun = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sp.CubatureWarning)
            cubature = sp.train_cubature(body, part.vectors)
        spent = time.process_time() - begun
        few = sp.reduce(body, part, cubature=cubature, compare=False)
        exact = sp.reduce(body, part, compare=False) if size <= EXACT_UP_TO else None
        start = pulled(few if exact is None else exact, ear)
        models = [few] if exact is None else [few, exact]
        for dt in (1 / 60, 1 / 1000):
            found = _rates(models, start, dt)
            far: object = "–"
            if exact is not None:
                paths = [_path(model, start, dt) for model in models]
                far = 100 * np.abs(paths[0] - paths[1]).max() / np.abs(paths[1]).max()
            rates = [found[1], found[0], found[0] / found[1]] if exact else ["–", found[0], "–"]
            cost = [cubature.size, spent, 100 * cubature.test_error, far]
            rows.append([size, f"1/{1 / dt:.0f}", *rates, *cost])
            print(rows[-1], file=sys.stderr, flush=True)
    headers = ["r", "dt [s]", "exact [steps/s]", "cubature [steps/s]", "ratio", "points"]
    print(table([*headers, "training [s]", "force error [%]", "motion error [%]"], rows))


def _path(model: sp.ReducedModel, start: Floats, dt: float) -> Floats:
    live = model.simulation(damping=BASE, integrator=sp.Bathe(), dt=dt)
    live.q = start
    return np.array([model.displacements(q) for q in live.trace(SPAN)[0][::5]])


def _rates(models: list[sp.ReducedModel], start: Floats, dt: float) -> list[float]:
    """Steps a second of processor time, the best of several runs that take turns."""
    best = [np.inf] * len(models)
    for _ in range(REPEATS):
        for k, model in enumerate(models):
            live = model.simulation(damping=BASE, integrator=sp.Bathe(), dt=dt)
            live.q = start
            live.step()  # compiles, and finds the first acceleration
            begun = time.thread_time()
            live.run_steps(SPAN)
            best[k] = min(best[k], (time.thread_time() - begun) / SPAN)
    return [1 / span for span in best]


if __name__ == "__main__":
    _report(tuple(map(int, sys.argv[1:])) or SIZES)
