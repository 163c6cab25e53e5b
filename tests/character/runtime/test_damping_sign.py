"""Damping by the stiffness takes power also where cubature cells are far too stiff at rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.character.pose_models import beam, bend_rig, model_of, poses_at

import supple as sp
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.runtime.simulation import PoseSimulation

MESH = beam()
BETA = 0.01


@pytest.fixture(scope="module")
def corrected() -> PoseSpaceModel:
    """Cells that have four times the body's stiffness, of which D takes off the rest."""
    model = model_of(bend_rig(MESH.boundary()), MESH, poses_at([0.0, 1.5, -1.5], 4))
    K = np.diag(np.maximum(model.squares[0], 0.0))
    D = np.broadcast_to(-0.75 * K, model.gaps.values.shape)
    return replace(model, gaps=replace(model.gaps, values=D.copy()))


def dampings() -> dict[str, sp.Damping | list[sp.Damping]]:
    by_stiffness = sp.Rayleigh(stiffness=BETA)
    example = sp.Example(np.zeros_like(MESH.vertices) + (0, 0, 0.1) * MESH.vertices[:, :1], 1.0)
    return {
        "alone": by_stiffness,
        "beside": [sp.ExampleDamping(sp.Rayleigh(mass=1e-9), [example]), by_stiffness],
        "by example": sp.ExampleDamping(by_stiffness, [example]),
    }


@pytest.mark.parametrize("which", ["alone", "beside", "by example"])
def test_damping_takes_power_in_any_shape(corrected, which):
    sim = PoseSimulation(corrected, damping=dampings()[which])
    rng = np.random.default_rng(3)
    size = np.linalg.norm(np.ptp(MESH.vertices, axis=0)) * np.sqrt(corrected.masses.sum())
    for _ in range(100):
        sim.q = 0.3 * size * rng.standard_normal(sim.q.shape) / np.sqrt(len(sim.q))
        C = []
        for direction in np.eye(len(sim.q)):
            sim.v = direction
            C.append(sim.damping_force)
        least, *_, most = np.linalg.eigvalsh(np.array(C))
        assert least >= -1e-9 * most  # rounding


@pytest.mark.parametrize("curvature", [0.0, 0.7, -1.5])
@pytest.mark.parametrize("which", ["alone", "beside", "by example"])
def test_damping_at_rest_is_that_of_the_stiffness(corrected, which, curvature):
    sim = PoseSimulation(corrected, pose=[curvature, 0, 0, 0], damping=dampings()[which])
    K = sim.stiffness
    for direction in np.eye(len(K)):
        sim.v = direction
        assert sim.damping_force == pytest.approx(BETA * K @ direction, abs=1e-7 * BETA * K.max())


@pytest.mark.parametrize("which", ["alone", "by example"])
def test_steps_damp_as_the_damping_force_says(corrected, which):
    """One tiny step of backward Euler is M (v₁ − v₀)/h = −R(q₁) − C(q₁) v₁."""
    h = 1e-4
    sim = PoseSimulation(corrected, pose=[0.7, 0, 0, 0], damping=dampings()[which], dt=h)
    rng = np.random.default_rng(5)
    sim.q, sim.v = 0.1 * rng.standard_normal((2, len(sim.q)))
    before = sim.v
    sim.step([0.7, 0, 0, 0])
    felt = -sim.mass @ (sim.v - before) / h - sim.elastic_force
    assert felt == pytest.approx(sim.damping_force, rel=1e-6, abs=1e-6 * np.abs(felt).max())
