"""Collisions with friction keep linear and angular momentum."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp


def block(at, *, spin=(0, 0, 0), cells=2, size=(0.1, 0.1, 0.1)) -> sp.Body:
    mesh = sp.TetMesh.box(size, (cells, cells, cells))
    X = mesh.vertices - np.array(size) / 2 + np.array(at)
    return sp.Body(
        sp.TetMesh(X, mesh.cells), sp.StableNeoHookean(young=2e5, poisson=0.35, density=500)
    )


def collision(friction: float, kinds: int, dt: float) -> tuple[sp.Simulation, float]:
    """Bodies that fly at each other off centre and spinning, and m v L of them."""
    bodies = [block((-0.08, 0, 0)), block((0.08, 0.03, 0.02))]
    if kinds == 3:
        bodies.append(block((0.02, 0.17, 0.01), size=(0.08, 0.12, 0.1)))
    sim = sp.Simulation(
        bodies,
        integrator=sp.Trapezoidal(),
        solver=sp.Newton(tolerance=1e-8),
        self_contact=sp.SelfContact(friction=friction),
        dt=dt,
    )
    speeds = [(1.0, 0, 0), (-1.0, 0.2, 0), (0, -1.5, 0)]
    for body, speed, spin in zip(bodies, speeds, (6.0, -4.0, 5.0), strict=False):
        X = body.mesh.vertices
        sim.state_of(body).v = np.array(speed) + np.cross([0, 0, spin], X - X.mean(axis=0))
    return sim, sim.body.total_mass * 1.0 * 0.1


@pytest.mark.parametrize("kinds", [2, pytest.param(3, marks=pytest.mark.verify)])
def test_collisions_with_friction_keep_momentum(kinds):
    """Linear to rounding; angular to what the trapezoidal rule itself leaves of it, about dt²."""
    sim, size = collision(0.5, kinds, 1 / 960)
    first, met = sim.frame(), set()
    for _ in range(110 if kinds == 2 else 160):
        sim.step()
        met.add(sim.stats.contacts)
    last = sim.frame()
    assert max(met) > 10
    assert last.kinetic + last.elastic < 0.97 * (first.kinetic + first.elastic)  # it rubbed
    np.testing.assert_allclose(last.linear_momentum, first.linear_momentum, atol=1e-8 * size)
    np.testing.assert_allclose(last.angular_momentum, first.angular_momentum, atol=1e-4 * size)
