"""Steps of characters that a definite matrix does not lead through."""

from __future__ import annotations

import numpy as np
import pytest
from tests.character.pose_models import beam, bend_rig, model_of, poses_at

import supple as sp
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.runtime import attempts
from supple.character.runtime.simulation import PoseSimulation
from supple.core.types import Floats

MESH = beam()
STILL = [0.0, 0.0, 0.0, 0.0]


@pytest.fixture(scope="module")
def flesh() -> PoseSpaceModel:
    return model_of(bend_rig(MESH.boundary()), MESH, poses_at([0.0, 1.5, -1.5], 4))


def steep(model: PoseSpaceModel, ratio: float) -> sp.SplineDamping:
    """Fifteen times as strong at a fifth of the slowest vibration's rate as at rest.

    Where the curve bends over to its end, a faster motion meets less force than a slower one.
    """
    omega = float(np.sqrt(model.squares[0, 0]))
    lam, mu = 2 * ratio / omega * model.lame.mean(axis=(0, 1))
    curve = sp.Curve.bezier([(0.0, 0.2), (0.2 * omega, 3.0)])
    base = sp.StrainRate(shear=float(mu), bulk=float(lam))
    return sp.SplineDamping(base, curve, over=sp.SplineOver.RATE)


def kick(model: PoseSpaceModel, share: float) -> Floats:
    """Rates from which the first coordinate would swing by a share of the body."""
    shape = model.bases[0][:, :, 0]
    size = float(np.linalg.norm(np.ptp(MESH.vertices, axis=0)))
    v: Floats = np.zeros(model.n_coordinates)
    v[0] = share * size / np.abs(shape).max() * np.sqrt(model.squares[0, 0])
    return v


def struck(model: PoseSpaceModel, damping: sp.Damping, rule: sp.Integrator) -> PoseSimulation:
    sim = PoseSimulation(model, damping=damping, integrator=rule, dt=1 / 30)
    sim.v = kick(model, 0.3)
    return sim


def test_damping_that_grows_with_the_rate_needs_no_shorter_steps(flesh, monkeypatch):
    """The definite matrix alone does not solve the first of these in 20 iterations."""
    monkeypatch.setattr(attempts, "PARTS", (1,))
    sim = struck(flesh, steep(flesh, 1.5), sp.BackwardEuler())
    sim.solver = sp.DenseNewton(tolerance=1e-10)
    for _ in range(10):
        v, M = sim.v, sim.mass
        sim.step(STILL)
        inertia = M @ (sim.v - v) * 30
        rest = inertia + sim.elastic_force + sim.damping_force
        # q is right to 1e-10 of itself, and forces differ by up to 100 times that of inertia
        assert np.abs(rest).max() < 1e-7 * np.abs(inertia).max()


@pytest.mark.parametrize("rule", [sp.BackwardEuler, sp.TRBDF2])
def test_all_iterations_find_the_same_state(flesh, rule):
    """Where one iteration with the definite matrix is not enough, the whole Jacobian takes over."""
    few, many = (
        PoseSimulation(
            flesh,
            damping=steep(flesh, 0.05),
            integrator=rule(),
            dt=1 / 60,
            solver=sp.DenseNewton(max_iterations=most, tolerance=1e-11),
        )
        for most in (2, 100)
    )
    for sim in (few, many):
        sim.v = kick(flesh, 0.1)
        for _ in range(20):
            sim.step(STILL)
    assert np.abs(many.q).max() > 0.1
    assert few.q == pytest.approx(many.q, abs=1e-8 * np.abs(many.q).max())


def test_a_rule_that_fails_is_stood_in_for_by_backward_euler(flesh, monkeypatch):
    """After a strike whose damping alone the trapezoidal rule, in one part, finds no end to."""
    monkeypatch.setattr(attempts, "PARTS", (1,))
    damping = steep(flesh, 30.0)
    sim, twin = struck(flesh, damping, sp.Newmark()), struck(flesh, damping, sp.BackwardEuler())
    for each in (sim, twin):
        each.v = kick(flesh, 8.0)
        each.step(STILL)
    assert sim.q == pytest.approx(twin.q, rel=1e-6)
    sim.step(STILL)  # and on
