"""Characters among obstacles: flesh gives way as far as it can, and held parts fail no step."""

from __future__ import annotations

import numpy as np
import pytest
from tests.character.pose_models import FramedBend, beam, model_of, poses_at, thinned

import supple as sp
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.runtime.simulation import PoseSimulation

MESH = beam()
SKIN = MESH.boundary()
GRAVITY = np.array([0.0, 0.0, -9.81])
BALL = sp.Sphere(centre=(0.9, 0.15, -0.165), radius=0.15, friction=0.3)


@pytest.fixture(scope="module")
def model() -> PoseSpaceModel:
    poses = poses_at([0.0, 1.5, -1.5], 7)
    return thinned(model_of(FramedBend(SKIN), MESH, poses, regions=3, corrections=2e-3))


def pose(curvature: float = 0.0, *, lowered: float = 0.0) -> np.ndarray:
    found = np.zeros(7)
    found[0], found[3] = curvature, -lowered
    return found


def moving(model: PoseSpaceModel, **options: object) -> PoseSimulation:
    given = {"dt": 1 / 60, "gravity": GRAVITY, "obstacles": BALL}
    return model.simulation(damping=sp.Rayleigh(mass=1.0, stiffness=2e-3), **(given | options))


def depth(sim: PoseSimulation) -> float:
    """How deep a vertex that can give way is inside an obstacle, in edges."""
    x, around = sim.vertices(), sim._around
    x = x[around.gives_way]
    deepest = max(-float(each.at(x, sim.time).distance.min()) for each in sim.obstacles)
    return deepest / around.edge


@pytest.mark.parametrize("rule", [sp.BackwardEuler(), sp.TRBDF2()], ids=repr)
def test_flesh_stays_out_on_a_moving_pose(model: PoseSpaceModel, rule: sp.Integrator) -> None:
    sim = moving(model, integrator=rule)
    free = moving(model, integrator=rule, obstacles=())
    deepest, most, bare = 0.0, 0.0, 0.0
    for k in range(60):
        at = pose(0.6 * np.sin(0.1 * k))
        sim.step(at)
        free.step(at)
        bare = max(bare, -float(BALL.at(free.vertices(), 0.0).distance.min()))
        deepest = max(deepest, depth(sim))
        most = max(most, -float(sim.obstacle_forces[0, 2]))
    assert bare > 0.1 * sim._around.edge  # there was something to keep out
    assert deepest < 1e-3
    assert most > 1.0


def test_forces_are_those_of_every_vertex_and_friction_holds(model: PoseSpaceModel) -> None:
    sim = moving(model, obstacles=sp.Plane(offset=-0.02, friction=0.5))
    for _ in range(60):
        sim.step(pose())
    forces = sim.contact_forces
    assert forces.shape == sim.vertices().shape
    np.testing.assert_allclose(sim.obstacle_forces[0], -forces.sum(axis=0), atol=1e-12)
    assert (forces[:, 2] >= 0).all()
    sideways = np.linalg.norm(forces[:, :2], axis=1)
    assert (sideways <= 0.5 * forces[:, 2] * (1 + 1e-6) + 1e-9).all()
    assert forces[:, 2].sum() > 1.0


def test_what_the_rig_pushes_in_fails_no_step(model: PoseSpaceModel) -> None:
    """The whole rig is lowered through a floor: held parts follow it, and are told of."""
    sim = moving(model, obstacles=sp.Plane(offset=-0.05, friction=0.3))
    for k in range(20):
        sim.step(pose(lowered=0.01 * k))
    assert sim.held_depth == pytest.approx(0.14, abs=0.02)
    for k in range(20):
        sim.step(pose(lowered=0.19 - 0.01 * k))
    for _ in range(20):
        sim.step(pose())
    assert sim.held_depth == 0.0
    assert depth(sim) < 1e-3


def test_a_snapshot_brings_contacts_back_bit_by_bit(model: PoseSpaceModel) -> None:
    sim = moving(model)
    for k in range(20):
        sim.step(pose(-0.02 * k))
    kept = sim.snapshot()
    ends = []
    for _ in range(2):
        for k in range(5):
            sim.step(pose(-0.4 + 0.02 * k))
        ends.append((sim.q, sim.contact_forces))
        sim.restore(kept)
    assert ends[0][1].any()
    assert (ends[0][0] == ends[1][0]).all()
    assert (ends[0][1] == ends[1][1]).all()


def test_obstacles_come_and_go_and_what_is_far_changes_nothing(model: PoseSpaceModel) -> None:
    felt = {"cut_speed": 1e9, "max_acceleration": 1e9}  # jumps of the pose
    far = moving(model, obstacles=sp.Plane(offset=-9.0), **felt)
    free = moving(model, obstacles=(), **felt)
    for k in range(10):
        far.step(pose(0.05 * k))
        free.step(pose(0.05 * k))
    assert (far.q == free.q).all()
    free.obstacles = BALL
    for _ in range(30):
        free.step(pose())
    assert free.contact_forces.any()
    free.obstacles = ()
    free.step(pose())
    assert not free.contact_forces.any()
