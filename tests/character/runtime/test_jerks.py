"""Flesh on a rig that starts, stops and jerks: every rule feels the same."""

from __future__ import annotations

import numpy as np
import pytest
from tests.character.pose_models import FramedBend, beam, model_of
from tests.character.runtime.bars import poses_at

import supple as sp
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.runtime.simulation import PoseSimulation

MESH = beam()
SKIN = MESH.boundary()
SIZE = float(np.linalg.norm(np.ptp(MESH.vertices, axis=0)))
DAMPING = sp.Rayleigh(mass=1.0, stiffness=2e-3)
RULES = [sp.Newmark, sp.BDF2, sp.TRBDF2, sp.Bathe]
FRAME = 1 / 60


@pytest.fixture(scope="module")
def model() -> PoseSpaceModel:
    return model_of(FramedBend(SKIN), MESH, poses_at([0.0, 1.5], 7), 6)


def moved(sim: PoseSimulation, way, frames: int) -> np.ndarray:
    """Displacements of the surface at every frame, along z by ``way(t)`` [m]."""
    per_frame = round(FRAME / sim.dt)
    found = []
    for k in range(1, frames * per_frame + 1):
        sim.step([0.0, 0.0, 0.0, way(k * sim.dt), 0.0, 0.0, 0.0])
        if k % per_frame == 0:
            found.append(sim.surface_displacements())
    return np.array(found)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_sudden_starts_and_stops_are_felt_as_they_are(
    model: PoseSpaceModel, rule: type[sp.Integrator]
) -> None:
    """At once to 0.5 m/s, and at once to rest after 2 s: as with steps of a sixteenth."""

    def way(t: float) -> float:
        return 0.5 * min(t, 2.0)

    fine = PoseSimulation(model, damping=DAMPING, integrator=sp.Bathe(), dt=FRAME / 16)
    exact = moved(fine, way, 160)
    found = moved(PoseSimulation(model, damping=DAMPING, integrator=rule()), way, 160)
    assert np.abs(exact).max() > 0.02
    assert np.abs(found - exact).max() < 0.06 * np.abs(exact).max()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_bound_of_accelerations_leaves_lesser_ones_alone(
    model: PoseSpaceModel, rule: type[sp.Integrator]
) -> None:
    ends = []
    for bound in (None, 1e9):
        sim = PoseSimulation(model, damping=DAMPING, integrator=rule(), max_acceleration=bound)
        ends.append(moved(sim, lambda t: 0.3 * min(t, 0.5), 60))
    assert ends[0] == pytest.approx(ends[1], abs=1e-12)


@pytest.mark.parametrize("rule", [sp.BackwardEuler, *RULES], ids=lambda rule: rule.__name__)
def test_a_bounded_acceleration_is_that_of_a_slower_start(
    model: PoseSpaceModel, rule: type[sp.Integrator]
) -> None:
    """A start from 0 to 1 m/s of which 0.2 m/s are felt is one to 0.2 m/s."""
    bounded = PoseSimulation(
        model, damping=DAMPING, integrator=rule(), max_acceleration=0.2 / FRAME
    )
    plain = PoseSimulation(model, damping=DAMPING, integrator=rule(), max_acceleration=1e9)
    found = moved(bounded, lambda t: 1.0 * t, 40)
    wanted = moved(plain, lambda t: 0.2 * t, 40)
    assert found == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("substeps", [1, 3])
def test_a_hop_throws_no_further_than_it_is_long(model: PoseSpaceModel, substeps: int) -> None:
    """5 cm within one frame: flesh stays behind, and does not fly off."""
    for rule in (sp.BackwardEuler, *RULES):
        sim = PoseSimulation(model, damping=DAMPING, integrator=rule(), substeps=substeps)
        moved(sim, lambda t: 0.0, 5)
        found = moved(sim, lambda t: 0.05, 60)
        assert np.abs(found).max() < 0.15


def test_rates_do_not_ring(model: PoseSpaceModel) -> None:
    """After an even run of 5 s, those of Newmark's rule are as small as the motion is."""
    sim = PoseSimulation(model, damping=DAMPING, integrator=sp.Newmark())
    moved(sim, lambda t: 0.5 * t, 300)
    settled = PoseSimulation(model, damping=DAMPING, integrator=sp.TRBDF2())
    moved(settled, lambda t: 0.5 * t, 300)
    assert np.linalg.norm(sim.v) < 2 * np.linalg.norm(settled.v) + 1e-3
