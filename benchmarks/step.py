"""A whole implicit step with one Newton iteration, and what of it the factorization takes."""

from __future__ import annotations

import supple as sp
from benchmarks.cantilever import beam, first_bending_mode
from benchmarks.timing import median_seconds, table
from supple.core.threads import available_cores
from supple.solvers.linear.cholesky import Factorization


def measure(threads: int) -> list[float]:
    """Milliseconds of a step, and of assembly, factorization and solve by themselves."""
    sp.set_thread_count(threads)
    body = beam()
    _, shape = first_bending_mode(body, 0.05)
    one_iteration = sp.Newton(iterations=1, linear=sp.Cholesky())
    sim = sp.Simulation(body, integrator=sp.BackwardEuler(), solver=one_iteration)
    sim.state.u = shape
    stiffness = body.evaluate(shape, order=2).stiffness
    factorization = Factorization(body.pattern, body.free)
    calls = [
        sim.step,
        lambda: body.evaluate(shape, order=2, stiffness=stiffness),
        lambda: factorization.factorize(stiffness),
        lambda: factorization.solve(shape),
    ]
    return [1e3 * median_seconds(call) for call in calls]


def main() -> None:
    rows = [[threads, *measure(threads)] for threads in (1, available_cores())]
    sp.set_thread_count(0)
    print("2,496 vertices, 11,172 tetrahedra; medians in ms")
    print(table(["threads", "step", "assembly", "factorization", "solve"], rows))
