"""Error against time in one large step: ADMM plain and accelerated, and Newton.

A neo-Hookean cantilever of 11,178 tets, 1 × 0.25 × 0.25 m, E = 1 MPa, ν = 0.45, is let go under
gravity: the first frame of backward Euler at 40 ms. The error is ‖u − u*‖/‖u*‖ to the converged
step; a time is the best of several runs of the whole step, with matrices analysed and, for ADMM,
factorized beforehand.
"""

from __future__ import annotations

import time

import numpy as np

import supple as sp
from benchmarks.timing import table
from supple.core.types import Floats

RUNS = 25
GRAVITY = (0.0, 0.0, -9.81)


def cantilever() -> sp.Body:
    """The beam, each brick cut into six tets around a diagonal, 23 × 9 × 9 of them."""
    counts = (23, 9, 9)
    grids = [np.linspace(0, size, n + 1) for size, n in zip((1.0, 0.25, 0.25), counts, strict=True)]
    vertices = np.stack(np.meshgrid(*grids, indexing="ij"), axis=-1).reshape(-1, 3)
    number = np.arange(len(vertices)).reshape([n + 1 for n in counts])
    corner = {
        (i, j, k): number[i : i + counts[0], j : j + counts[1], k : k + counts[2]].ravel()
        for i in (0, 1)
        for j in (0, 1)
        for k in (0, 1)
    }
    tets = []
    for a, b, c in ((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (2, 1, 0), (1, 0, 2)):
        walk = [np.zeros(3, dtype=int)]
        for axis in (a, b, c):
            walk.append(walk[-1] + np.eye(3, dtype=int)[axis])
        cells = np.stack([corner[tuple(int(x) for x in place)] for place in walk], axis=1)
        even = (a, b, c) in ((0, 1, 2), (1, 2, 0), (2, 0, 1))
        tets.append(cells if even else cells[:, [0, 2, 1, 3]])
    mesh = sp.TetMesh(vertices, np.concatenate(tets))
    material = sp.NeoHookean(young=1e6, poisson=0.45, density=1000)
    return sp.Body(mesh, material, fixed=mesh.where(x=0))


def measured(body: sp.Body, solver: object, exact: Floats) -> tuple[float, float]:
    """Error of the step, and the best time of one [s]."""
    sim = sp.Simulation(
        body,
        integrator=sp.BackwardEuler(),
        solver=solver,  # type: ignore[arg-type]
        dt=0.04,
        gravity=GRAVITY,
    )
    rest = np.zeros_like(exact)
    best = np.inf
    for _ in range(RUNS + 1):  # the first compiles, analyses and factorizes
        sim.state.u, sim.state.v, sim.state.time = rest, rest, 0.0
        start = time.perf_counter()
        sim.step()
        best = min(best, time.perf_counter() - start)
    return float(np.linalg.norm(sim.state.u - exact) / np.linalg.norm(exact)), best


def curves(body: sp.Body) -> dict[str, list[tuple[int, float, float]]]:
    """For every method: iterations, error and time [s]."""
    sim = sp.Simulation(
        body,
        integrator=sp.BackwardEuler(),
        solver=sp.Newton(tolerance=1e-12, linear=sp.Cholesky()),
        dt=0.04,
        gravity=GRAVITY,
    )
    sim.step()
    exact = sim.state.u
    methods = {
        "Newton": (lambda n: sp.Newton(iterations=n), (1, 2, 3)),
        "ADMM": (
            lambda n: sp.ADMM(iterations=n, tolerance=1e-15),
            (2, 5, 8, 10, 11, 13, 15, 20, 30, 40),
        ),
        "ADMM, plain": (
            lambda n: sp.ADMM(iterations=n, tolerance=1e-15, acceleration=0),
            (2, 5, 10, 20, 40, 80),
        ),
    }
    found: dict[str, list[tuple[int, float, float]]] = {}
    for name, (solver, counts) in methods.items():
        found[name] = [(n, *measured(body, solver(n), exact)) for n in counts]
    return found


def main() -> None:
    body = cantilever()
    found = curves(body)
    print(f"{body.mesh.n_cells} tets, {sp.thread_count()} threads\n")
    rows = [
        (name, n, f"{error:.1e}", f"{1e3 * seconds:.1f}")
        for name, curve in found.items()
        for n, error, seconds in curve
    ]
    print(table(["method", "iterations", "error", "ms"], rows))


if __name__ == "__main__":
    main()
