"""A whole implicit step with one Newton iteration, and what of it the factorization takes."""

from __future__ import annotations

import supple as sp
from supple._kernels.threads import available_cores
from supple.solvers.cholesky import Factorization

from .cantilever import beam, first_bending_mode
from .timing import median_seconds, table


def main() -> None:
    body = beam()
    _, shape = first_bending_mode(body, 0.05)
    rows = []
    for threads in (1, available_cores()):
        sp.set_thread_count(threads)
        sim = sp.Simulation(
            body,
            integrator=sp.BackwardEuler(),
            solver=sp.Newton(iterations=1, linear=sp.Cholesky()),
        )
        sim.state.u = shape
        step = median_seconds(sim.step)
        stiffness = body.evaluate(shape, order=2).stiffness
        factorization = Factorization(body.pattern, body.free)
        factorize = median_seconds(lambda f=factorization, k=stiffness: f.factorize(k))  # type: ignore[misc]
        solve = median_seconds(lambda f=factorization: f.solve(shape))  # type: ignore[misc]
        assemble = median_seconds(lambda k=stiffness: body.evaluate(shape, order=2, stiffness=k))  # type: ignore[misc]
        rows.append([threads, *(1e3 * t for t in (step, assemble, factorize, solve))])
    sp.set_thread_count(0)
    print(f"{body.mesh.n_vertices} vertices, {body.mesh.n_cells} tetrahedra; medians in ms")
    print(table(["threads", "step", "assembly", "factorization", "solve"], rows))
