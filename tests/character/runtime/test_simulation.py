"""Characters in motion: the runtime against plain twins of itself and against full space."""

from __future__ import annotations

import numpy as np
import pytest
from tests.character.pose_models import (
    MATERIAL,
    FramedBend,
    beam,
    bend_rig,
    model_of,
    poses_at,
    thinned,
)
from tests.character.runtime.reference import Twin, stepped
from tests.helpers import material_part

import supple as sp
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.runtime.simulation import PoseSimulation
from supple.character.tissue.full_pose import FullPoseSimulation
from supple.character.training.basis import posed_body
from supple.materials import MATERIALS

MESH = beam()
SKIN = MESH.boundary()
GRAVITY = np.array([0.0, 0.0, -9.81])


@pytest.fixture(scope="module")
def plain() -> PoseSpaceModel:
    return model_of(bend_rig(SKIN), MESH, poses_at([0.0, 1.5, -1.5], 4))


@pytest.fixture(scope="module")
def framed() -> PoseSpaceModel:
    poses = poses_at([0.0, 1.5, -1.5], 7)
    return thinned(model_of(FramedBend(SKIN), MESH, poses, regions=3, corrections=2e-3))


def wave(model: PoseSpaceModel, steps: int, dt: float) -> list[np.ndarray]:
    t = dt * np.arange(steps + 1)
    poses = np.zeros((steps + 1, len(model.tet_rig.rig.neutral)))
    ease = np.clip(t / 0.1, 0, 1) ** 2
    poses[:, 0] = ease * 1.2 * np.sin(9 * t)
    poses[:, 3] = ease * 0.05 * np.sin(20 * t)
    if poses.shape[1] == 7:
        poses[:, 5] = ease * np.sin(4 * t)
    return list(poses)


def forces(sim: PoseSimulation, pose: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    sim.teleport(pose)
    sim.q = q
    return sim.elastic_force, sim.stiffness


def somewhere(model: PoseSpaceModel) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    pose = 0.4 * rng.standard_normal(len(model.tet_rig.rig.neutral))
    return pose, 0.02 * rng.standard_normal(model.n_coordinates)


@pytest.mark.parametrize("kind", ["plain", "framed"])
def test_forces_are_those_of_a_plain_twin(kind: str, request: pytest.FixtureRequest) -> None:
    model = request.getfixturevalue(kind)
    pose, q = somewhere(model)
    R, K = forces(PoseSimulation(model), pose, q)
    _, f, H = Twin(model, pose).evaluate(q)
    assert pytest.approx(f, abs=1e-11 * np.abs(f).max()) == R
    assert pytest.approx(H, abs=1e-11 * np.abs(H).max()) == K


@pytest.mark.parametrize("material", MATERIALS, ids=lambda m: m.__name__)
def test_stiffness_is_the_derivative_of_the_force(material: type[sp.Material]) -> None:
    soft = material(young=2e4, poisson=0.4)
    model = model_of(FramedBend(SKIN), MESH, poses_at([0.0, 1.5, -1.5], 7), 5, material=soft)
    sim = PoseSimulation(model)
    pose, q = somewhere(model)
    way = np.random.default_rng(1).standard_normal(len(q))
    R, K = forces(sim, pose, q)
    low = sim.elastic
    errors = []
    for h in (1e-3, 5e-4):
        ahead, _ = forces(sim, pose, q + h * way)
        errors.append(np.linalg.norm(ahead - R - h * K @ way))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    sim.q = q + 1e-6 * way
    assert (sim.elastic - low) / 1e-6 == pytest.approx(R @ way, rel=1e-3)


@pytest.mark.parametrize(
    "rule", [sp.BackwardEuler(), sp.Newmark(), sp.Newmark(0.3025, 0.6)], ids=str
)
@pytest.mark.parametrize("kind", ["plain", "framed"])
def test_steps_are_those_of_a_plain_twin(kind, rule, request):
    model = request.getfixturevalue(kind)
    dt = 1 / 90
    poses = wave(model, 12, dt)
    options = {
        "damping": sp.Rayleigh(mass=0.3, stiffness=2e-3),
        "max_acceleration": 1e6,
        "cut_speed": 1e9,
    }
    exact = sp.DenseNewton(tolerance=1e-10)
    sim = PoseSimulation(model, integrator=rule, dt=dt, gravity=GRAVITY, solver=exact, **options)
    found = []
    for pose in poses[1:]:
        sim.step(pose)
        found.append(sim.q)
    wanted = stepped(model, rule, poses, dt, (0.3, 2e-3), GRAVITY)
    assert np.array(found) == pytest.approx(wanted, abs=1e-8 * np.abs(wanted).max())


def test_a_complete_basis_is_a_full_simulation_with_a_moving_rest_shape() -> None:
    """Damped by the material part of the stiffness."""
    mesh = beam((3, 1, 1))
    model = model_of(bend_rig(mesh.boundary()), mesh, poses_at([0.0, 1.5, -1.5], 4), None)
    dt = 1 / 60
    poses = wave(model, 10, dt)
    sim = PoseSimulation(model, damping=sp.Rayleigh(mass=0.2, stiffness=1e-3), dt=dt,
                         solver=sp.DenseNewton(tolerance=1e-11), max_acceleration=1e6,
                         cut_speed=1e9)  # fmt: skip
    neutral = sp.Body(mesh, MATERIAL, fixed=model.fixed, mass_model=sp.LumpedMass())
    full = FullPoseSimulation(neutral, model.tet_rig, mass=0.2, stiffness=1e-3, dt=dt)
    free = np.repeat(~model.fixed, 3)
    masses = np.repeat(model.masses, 3)[free]
    u, v = np.zeros((2, int(free.sum())))
    x = [model.tet_rig.vertices(poses[0]).ravel()[free]] * 2
    for pose in poses[1:]:
        sim.step(pose)
        body = posed_body(neutral, model.tet_rig.vertices(pose))
        x = [*x[-2:], model.tet_rig.vertices(pose).ravel()[free]]
        inertia = -masses * (x[2] - 2 * x[1] + x[0]) / dt**2
        new = u.copy()
        for _ in range(20):
            shape = np.zeros((mesh.n_vertices, 3))
            shape.ravel()[free] = new
            K = body.stiffness(shape).toarray()[np.ix_(free, free)]
            R = body.force(shape).ravel()[free]
            B = material_part(body, shape)[np.ix_(free, free)]
            C = 0.2 * np.diag(masses) + 1e-3 * B
            rest = inertia - R - C @ ((new - u) / dt) - masses * ((new - u) / dt - v) / dt
            new = new + np.linalg.solve(np.diag(masses) / dt**2 + C / dt + K, rest)
        u, v = new, (new - u) / dt
        full.step(pose)
        for found, near in ((full.displacements, 1e-6), (sim.displacements(), 1e-9)):
            assert found.ravel()[free] == pytest.approx(u, abs=near * np.abs(u).max())


@pytest.mark.parametrize("kind", ["plain", "framed"])
def test_the_surface_is_the_rig_plus_what_its_tets_do(kind, request):
    model = request.getfixturevalue(kind)
    sim = PoseSimulation(model)
    pose, q = somewhere(model)
    corners = model.tet_rig.mesh.cells[model.skin_cells]
    for there in (pose, *model.poses):
        sim.teleport(there)
        sim.q = q
        u = Twin(model, there).U @ q
        assert sim.displacements() == pytest.approx(u, abs=1e-13)
        carried = np.einsum("sk,ski->si", model.skin_weights, u[corners])
        assert sim.surface_displacements() == pytest.approx(carried, abs=1e-13)
        rigged = model.tet_rig.rig.vertices(there)
        assert sim.vertices() == pytest.approx(rigged + carried, abs=1e-13)


@pytest.mark.verify
def test_bases_in_single_precision_keep_seven_digits(framed: PoseSpaceModel) -> None:
    both = [PoseSimulation(framed, dtype=dtype) for dtype in (np.float64, np.float32)]
    for pose in wave(framed, 20, 1 / 60)[1:]:
        for sim in both:
            sim.step(pose)
    assert both[1].vertices() == pytest.approx(both[0].vertices(), abs=1e-6)
