"""Time and memory of a converged TR-BDF2 step, 10 k to 300 k tetrahedra, in fresh processes."""

from __future__ import annotations

import json
import math
import resource
import subprocess
import sys
import time

import numpy as np

import supple as sp
from benchmarks.cantilever import beam
from benchmarks.timing import table

BRICKS = [(38, 7, 7), (53, 10, 10), (80, 15, 15), (116, 21, 21)]
SOLVERS: dict[str, sp.Newton] = {
    "lagged Cholesky": sp.Newton(linear=sp.LaggedCholesky()),
    "conjugate gradients": sp.Newton(linear=sp.ConjugateGradients()),
}
STEPS = 20


def measure(name: str, bricks: tuple[int, int, int]) -> dict[str, float]:
    """Mean time of a step, refactorizations included, and the memory of the whole process."""
    body = beam(bricks=bricks)
    sim = sp.Simulation(body, solver=SOLVERS[name])
    x = body.mesh.vertices[:, 0]
    sim.state.v = np.stack([0 * x, 0 * x, 0.2 * x**2], axis=1)
    sim.step()
    start = time.perf_counter()
    steps = STEPS if name == "lagged Cholesky" else 3
    for _ in range(steps):
        sim.step()
    seconds = (time.perf_counter() - start) / steps
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"cells": body.mesh.n_cells, "seconds": seconds, "megabytes": memory}


def main() -> None:
    for name in SOLVERS:
        rows: list[list[object]] = []
        first: dict[str, float] | None = None
        for bricks in BRICKS:
            command = [sys.executable, "-m", "benchmarks.scaling", name, json.dumps(bricks)]
            found = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
            first = first or found
            growth = found["cells"] / first["cells"]
            exponent = (
                math.log(found["seconds"] / first["seconds"]) / math.log(growth)
                if growth > 1
                else math.nan
            )
            rows.append([int(found["cells"]), found["seconds"], found["megabytes"], exponent])
        print(f"\n{name}, {sp.thread_count()} threads")
        print(table(["tetrahedra", "s a step", "MB", "exponent from the first row"], rows))


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], tuple(json.loads(sys.argv[2])))))
