"""Where the energy of backward Euler goes, and where it may come from."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.core.types import Floats

SOLVED = sp.DenseNewton(max_iterations=200, tolerance=1e-12)
SIZE = 8


@pytest.fixture(scope="module")
def slender() -> sp.ReducedModel:
    mesh = sp.TetMesh.box(size=(1.0, 0.1, 0.1), cells=(8, 1, 1))
    body = sp.Body(mesh, sp.StVK(young=1e5, poisson=0.4), fixed=mesh.where(x=0))
    return sp.reduce(body, sp.modal_derivative_basis(body, modes=4, size=SIZE), compare=False)


def pulled(model: sp.ReducedModel, rate: int, damped: bool) -> tuple[Floats, Floats, float]:
    """Gains of energy and what the balance says of them, a step each; the work of the pull."""
    K = model.stiffness(np.zeros(SIZE))
    squares, shapes = np.linalg.eigh(K)
    way = shapes[:, 0] / np.linalg.norm(np.tensordot(shapes[:, 0], model.vectors, 1), axis=1).max()
    f, h = 0.6 * K @ way, 1 / rate
    beta = 0.1 / np.sqrt(squares[0]) if damped else 0.0
    sim = model.simulation(
        integrator=sp.BackwardEuler(), dt=h, damping=sp.Rayleigh(stiffness=beta), solver=SOLVED
    )
    gains, balance, work = [], [], 0.0
    for _ in range(rate):
        q0, v0 = sim.q, sim.v
        sim.step(force=f)
        q, v, M = sim.q, sim.v, model.mass
        U0, (U, slope) = model.evaluate(q0)[0], model.evaluate(q)[:2]
        gains.append(0.5 * v @ M @ v - 0.5 * v0 @ M @ v0 + U - U0 - f @ (q - q0))
        convexity = U0 - U - slope @ (q0 - q)
        balance.append(-h * sim.damping_power - 0.5 * (v - v0) @ M @ (v - v0) - convexity)
        work = max(work, float(f @ q))
    return np.array(gains), np.array(balance), work


@pytest.mark.parametrize("damped", [False, True])
@pytest.mark.parametrize("rate", [30, 240])
def test_energy_comes_from_elasticity_that_is_not_convex_alone(slender, rate, damped):
    gains, balance, work = pulled(slender, rate, damped)
    assert gains == pytest.approx(balance, abs=1e-8 * work)  # the tolerance, by the stiffness
