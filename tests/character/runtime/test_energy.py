"""Flesh on a rig that stands still: no rule makes energy of nothing."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from tests.character.pose_models import beam, bend_rig, model_of
from tests.character.runtime.bars import poses_at

import supple as sp
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.runtime.simulation import PoseSimulation
from supple.integrators import ImplicitIntegrator

MESH = beam()
SKIN = MESH.boundary()
BETWEEN = np.array([0.8, 0.0, 0.0, 0.0])
MATERIALS = [sp.StVK, sp.StableNeoHookean, sp.NeoHookean, sp.Corotational]
GAIN = {  # of energy, over its start: of the rules of second order in q only Newmark does not damp
    sp.BackwardEuler: 0.0,
    sp.BDF2: 1e-3,
    sp.TRBDF2: 1e-3,
    sp.Bathe: 1e-3,
    sp.Newmark: 0.05,
    sp.Trapezoidal: 0.05,
}


@pytest.fixture(scope="module", params=MATERIALS, ids=lambda material: material.__name__)
def trained(request: pytest.FixtureRequest) -> PoseSpaceModel:
    """With cubature, and the stiffness that it lacks."""
    material = request.param(young=2e4, poisson=0.4)
    poses = poses_at([1.5], 4)
    return sp.pose_space_model(
        bend_rig(SKIN),
        volume=MESH,
        fixed=MESH.where(x=0),
        material=material,
        poses=poses,
        modes=4,
        size=6,
        cells=30,
    )


def energies(sim: PoseSimulation, speed: float, steps: int) -> np.ndarray:
    """After a push in the first vibrations, between two poses [J]."""
    sim.reset(BETWEEN)
    sim.v = speed * np.linspace(3.0, 1.0, sim.model.n_coordinates)
    found = [sim.kinetic + sim.elastic]
    for _ in range(steps):
        sim.step(BETWEEN)
        found.append(sim.kinetic + sim.elastic)
    return np.array(found)


@pytest.mark.parametrize("rule", GAIN, ids=lambda rule: rule.__name__)
def test_energy_does_not_grow_while_the_pose_stands_still(
    trained: PoseSpaceModel, rule: type[ImplicitIntegrator]
) -> None:
    sim = PoseSimulation(trained, integrator=rule())
    found = energies(sim, 0.5, 150)
    assert found.max() <= (1 + GAIN[rule]) * found[0]


@pytest.mark.parametrize("iterations", [1, 20])
def test_backward_euler_takes_energy_in_every_step(
    trained: PoseSpaceModel, iterations: int
) -> None:
    sim = PoseSimulation(trained, solver=sp.DenseNewton(max_iterations=iterations))
    found = energies(sim, 1.0, 100)
    assert np.diff(found).max() < 1e-9 * found[0]
    assert found[-1] < 0.8 * found[0]  # the rule damps by itself


def test_flesh_that_runs_away_is_told(trained: PoseSpaceModel) -> None:
    """A single iteration of a rule that does not damp, far beyond what it is for."""
    sim = PoseSimulation(
        trained, integrator=sp.Newmark(), solver=sp.DenseNewton(max_iterations=1), dt=0.1
    )
    size = float(np.linalg.norm(np.ptp(MESH.vertices, axis=0)))
    with suppress(sp.StepFailed):
        energies(sim, 30.0, 400)
    mass = float(trained.masses.sum())
    assert np.linalg.norm(sim.q) <= 10 * size * np.sqrt(mass)


def test_a_model_of_all_cells_loses_no_energy_to_its_pose() -> None:
    """With steps that are short for its vibrations, Newmark's rule keeps it."""
    whole = model_of(bend_rig(SKIN), MESH, poses_at([0.0, 1.5], 4), 6)
    found = energies(PoseSimulation(whole, integrator=sp.Newmark(), dt=1e-3), 0.2, 300)
    assert found == pytest.approx(found[0], rel=1e-3)
