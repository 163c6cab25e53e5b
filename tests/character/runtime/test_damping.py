"""Characters in motion: how they are damped."""

from __future__ import annotations

import numpy as np
import pytest
from tests.character.runtime.bars import MESH, bending_bar

import supple as sp
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.runtime.simulation import PoseSimulation

EXACT = sp.DenseNewton(tolerance=1e-10)


@pytest.fixture(scope="module")
def model() -> PoseSpaceModel:
    return bending_bar()


def test_damping_by_the_stiffness_at_rest_is_that_of_the_pose(model: PoseSpaceModel) -> None:
    """For small motion both kinds of stiffness are one."""
    ends = []
    for at in sp.StiffnessAt:
        sim = PoseSimulation(model, damping=sp.Rayleigh(stiffness=0.01, at=at), solver=EXACT)
        sim.reset([1.0, 0, 0, 0])
        sim.v = 1e-5 * np.ones(6)
        for _ in range(30):
            sim.step([1.0, 0, 0, 0])
        ends.append(sim.q)
    assert ends[0] == pytest.approx(ends[1], abs=1e-4 * np.abs(ends[0]).max())


@pytest.mark.verify
def test_examples_designed_in_the_neutral_pose_damp_in_all(model: PoseSpaceModel) -> None:
    """Motion along the example settles as if all were damped so much, any other as before."""
    shape = np.moveaxis(model.bases[0], 2, 0)[0]
    base = sp.Rayleigh(mass=1.5)
    designed = sp.ExampleDamping(base, [sp.Example(shape, curve=8.0)])
    pose = np.array([0.9, 0.0, 0.0, 0.0])

    def left(damping: sp.Damping, mode: int) -> float:
        sim = PoseSimulation(model, damping=damping, integrator=sp.TRBDF2(), dt=5e-3, solver=EXACT)
        sim.reset(pose)
        sim.v = 1e-3 * np.linalg.solve(sim.mass, np.eye(6)[mode])
        start = sim.kinetic
        for _ in range(10):
            sim.step(pose)
        return (sim.kinetic + sim.elastic) / start

    assert left(designed, 0) == pytest.approx(left(sp.Rayleigh(mass=12.0), 0), rel=0.05)
    assert left(designed, 4) == pytest.approx(left(base, 4), rel=0.05)


def test_other_dampings_are_refused(model: PoseSpaceModel) -> None:
    with pytest.raises(sp.InputError, match="a character takes Rayleigh"):
        PoseSimulation(model, damping=sp.PowerLaw(exponent=1.0, strength=1.0))
    with pytest.raises(sp.InputError, match="a character takes one number"):
        PoseSimulation(model, damping=sp.Rayleigh(mass=np.ones(MESH.n_cells)))
