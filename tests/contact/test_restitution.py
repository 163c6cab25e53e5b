"""Restitution: bodies bounce as much as obstacles say, whatever the integrator would do."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.contact.blocks import SOLVERS, G, block, run, simulation

import supple as sp

pytestmark = pytest.mark.processors

both = pytest.mark.parametrize("solver", SOLVERS)


def landed(solver: str, restitution: float | None, rule: sp.Integrator) -> float:
    """The highest speed upward [m/s] of a stiff body that falls on a floor at 1 m/s."""
    floor = sp.Plane(restitution=restitution)
    body = block((0.02, 0.02, 0.02), (1, 1, 1), at=(0, 0, 0.01), young=1e7)
    sim = simulation(body, solver, floor, integrator=rule, dt=0.004)
    sim.state.v = np.tile((0.0, 0.0, -1.0), (body.n_vertices, 1))
    speed = []
    for _ in range(12):
        sim.step()
        speed.append(sim.frame().linear_momentum[2] / body.total_mass)
    return max(speed)


@both
def test_restitution_none_at_all(solver):
    """TR-BDF2 throws bodies back; restitution 0 does not."""
    assert landed(solver, 0.0, sp.TRBDF2()) < 0.05


@both
@pytest.mark.parametrize("rule", [sp.BackwardEuler, sp.TRBDF2], ids=lambda r: r.__name__)
@pytest.mark.parametrize("restitution", [0.5, 1.0])
def test_restitution_of_a_stiff_body(solver, restitution, rule):
    assert landed(solver, restitution, rule()) == pytest.approx(restitution, abs=0.1)


@both
def test_restitution_left_to_the_integrator(solver):
    assert landed(solver, None, sp.BackwardEuler()) < 0.05
    assert landed(solver, None, sp.TRBDF2()) > 0.5


@both
def test_at_rest_nothing_bounces(solver):
    """A body that stands has nothing to bounce with, even with restitution 1."""
    body, floor = block(), sp.Plane(restitution=1.0)
    sim = simulation(body, solver, floor)
    sim.state.u = sp.static_shape(
        dataclasses.replace(body, fixed=np.flatnonzero(body.mesh.vertices[:, 2] < 1e-9)),
        gravity=(0, 0, -G),
    )
    run(sim, 25)
    assert np.abs(sim.state.v).max() < 0.02
