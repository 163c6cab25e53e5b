"""Characters in motion: accuracy in time, jumps, forces from outside, crowds, damping."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from tests.character.pose_models import FramedBend, beam, bend_rig, model_of, poses_at
from tests.refusals import refused

import supple as sp
from supple._kernels.character.rig_path import between
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.runtime.crowd import PoseCrowd
from supple.character.runtime.rig import Path, Sample
from supple.character.runtime.shape import Wind
from supple.character.runtime.simulation import PoseSimulation

MESH = beam((5, 2, 2))
SKIN = MESH.boundary()
SIZE = float(np.linalg.norm([1.0, 0.3, 0.3]))
EXACT = sp.DenseNewton(tolerance=1e-10)
FREE = {"damping": sp.Rayleigh(stiffness=1e-3), "max_acceleration": 1e6}
RULES = [sp.BackwardEuler(), sp.Newmark(), sp.Trapezoidal(), sp.BDF2(), sp.TRBDF2(), sp.Bathe()]


@pytest.fixture(scope="module")
def model() -> PoseSpaceModel:
    return model_of(bend_rig(SKIN), MESH, poses_at([0.0, 1.5, -1.5], 4), 6)


@pytest.fixture(scope="module")
def framed() -> PoseSpaceModel:
    return model_of(FramedBend(SKIN), MESH, poses_at([0.0, 1.2, -1.2], 7), 6, regions=2)


def reach(sim: PoseSimulation) -> float:
    return float(np.linalg.norm(sim.surface_displacements(), axis=1).max())


# -- accuracy --------------------------------------------------------------------------


def smooth_pose(t: float) -> np.ndarray:
    """From rest, with three derivatives at the start."""
    ease = np.sin(np.clip(t / 0.4, 0, 1) * np.pi / 2) ** 4
    return ease * np.array([0.3 * np.cos(5 * t), 0.0, 0.0, 0.1 * np.sin(6 * t)])


@pytest.mark.parametrize("told", [False, True], ids=["frames", "function"])
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_steps_are_as_accurate_as_the_rule(model, rule, told):
    def end(steps: int, with_rule: sp.Integrator) -> np.ndarray:
        dt = 0.4 / steps
        sim = PoseSimulation(model, integrator=with_rule, dt=dt, solver=EXACT, **FREE)
        for k in range(1, steps + 1):
            sim.step(smooth_pose if told else smooth_pose(k * dt))
        return sim.q

    exact = end(1280, sp.TRBDF2())
    errors = [np.linalg.norm(end(n, rule) - exact) for n in (80, 160)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(rule.order, abs=0.25)


def test_substeps_are_steps_along_the_smooth_path(model: PoseSpaceModel) -> None:
    """Four substeps a frame come near steps that are told every pose."""
    dt = 1 / 50
    within = PoseSimulation(model, dt=dt, substeps=4, **FREE)
    told = PoseSimulation(model, dt=dt / 4, **FREE)
    whole = PoseSimulation(model, dt=dt, **FREE)
    for k in range(20):
        within.step(smooth_pose((k + 1) * dt))
        whole.step(smooth_pose((k + 1) * dt))
        for s in range(1, 5):
            told.step(smooth_pose((k + s / 4) * dt))
    apart = np.linalg.norm(within.q - told.q)
    assert apart < 0.1 * np.linalg.norm(told.q)
    assert apart < 0.5 * np.linalg.norm(whole.q - told.q)


def test_a_path_is_smooth_and_exact_for_constant_acceleration() -> None:
    def sample(t: float) -> Sample:
        return Sample(np.array([[t * t, 3 * t, 1.0]]), np.empty((0, 3, 3)), np.array([t]))

    def place(path: Path, share: float) -> np.ndarray:
        at = Sample(*(np.empty_like(each) for each in path.end))
        between(path, share, *at)
        return at.x

    path = Path.standing(sample(0.0))
    for before, now in pairwise([0.0, 0.1, 0.25, 0.3, 0.5]):
        path = path.on(sample(now), now - before)
    for share in (0.0, 0.3, 0.8, 1.0):
        assert place(path, share) == pytest.approx(sample(0.3 + share * 0.2).x, abs=1e-12)
    rng = np.random.default_rng(0)
    wild = Path.standing(sample(0.0))
    slopes = []
    for _ in range(6):
        wild = wild.on(Sample(rng.standard_normal((1, 3)), np.empty((0, 3, 3)), np.zeros(1)), 0.1)
        slopes.append([(place(wild, s) - place(wild, s - 1e-6)) / 1e-6 for s in (1e-6, 1.0)])
    for before, after in pairwise(slopes):
        assert after[0] == pytest.approx(before[1], abs=1e-4)


def test_gravity_is_felt_as_a_rig_that_accelerates(framed: PoseSpaceModel) -> None:
    """A rig in free fall upwards, and the same weight."""
    options = {"integrator": sp.TRBDF2(), "dt": 1e-3, "solver": EXACT}
    moved = PoseSimulation(framed, max_acceleration=1e6, **options)
    still = PoseSimulation(framed, gravity=(0, 0, -4.0), **options)
    still.reset(np.zeros(7))
    for t in 1e-3 * np.arange(1, 101):
        moved.step([0, 0, 0, 2.0 * t * t, 0, 0, 0])
        still.step(np.zeros(7))
    assert moved.q == pytest.approx(still.q, abs=0.02 * np.abs(still.q).max())


def test_a_frame_that_turns_carries_the_flesh_along(framed: PoseSpaceModel) -> None:
    """Flesh on a rig with frames turns with it: the same shape in another direction."""
    sim = PoseSimulation(framed)
    sim.q = np.linspace(-0.2, 0.3, framed.n_coordinates)
    here = sim.surface_displacements()
    sim.teleport([0, 0, 0, 0, 0, 0, np.pi / 2])
    turned = sim.surface_displacements()
    assert turned == pytest.approx(here @ np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]]), abs=1e-12)


# -- standing still, jumping -----------------------------------------------------------


def test_at_rest_it_stays_at_rest(framed: PoseSpaceModel) -> None:
    sim = PoseSimulation(framed, integrator=sp.BDF2())
    pose = np.array([0.7, 1.0, 2.0, 3.0, 0.1, 0.2, 0.3])
    sim.reset(pose)
    for _ in range(20):
        sim.step(pose)
    assert reach(sim) < 1e-12


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_a_jump_of_ten_metres_is_not_felt(model: PoseSpaceModel, rule: sp.Integrator) -> None:
    sim = PoseSimulation(model, integrator=rule)
    for _ in range(3):
        sim.step(np.zeros(4))
    for _ in range(6):
        sim.step([0.0, 10.0, 0.0, 0.0])
    assert reach(sim) < 1e-12


def test_after_a_cut_the_next_frame_tells_the_speed(model: PoseSpaceModel) -> None:
    """Cut into the middle of a run at 6 m/s: nothing is felt at all."""
    sim = PoseSimulation(model)
    for k in range(8):
        sim.step([0.0, 50.0 + 0.1 * k, 0.0, 0.0])
    assert reach(sim) < 1e-9


@pytest.mark.parametrize(("cut", "most"), [(None, 1e-9), (1e9, 1.25)])
def test_a_cut_between_far_poses_is_not_felt_and_as_motion_is_bounded(framed, cut, most):
    """Unbounded, flesh would be thrown 3 times its size away."""
    for rule in RULES:
        damping = sp.Rayleigh(stiffness=2e-3)
        sim = PoseSimulation(framed, integrator=rule, damping=damping, cut_distance=cut)
        for k in range(120):
            sim.step(framed.poses[1 + (k // 20) % 2])  # to and fro within one frame
            assert reach(sim) < most * SIZE


def test_a_failing_step_leaves_everything_as_it_was(model):
    sim, twin = PoseSimulation(model), PoseSimulation(model)
    for k in range(5):
        for each in (sim, twin):
            each.step([0.02 * k, 0, 0, 0])
    with pytest.raises(sp.StepFailed, match="not finite"):
        sim.step([0.1, 0, 0, 0], force=np.full(6, 1e200) * 1e200**0.5)
    assert (sim.q == twin.q).all()
    assert (sim.v == twin.v).all()
    assert sim.time == twin.time
    assert (sim.vertices() == twin.vertices()).all()
    for each in (sim, twin):
        each.step([0.1, 0, 0, 0])
    assert sim.q == pytest.approx(twin.q, abs=1e-12)


def test_displacements_are_continuous_through_all_poses(framed: PoseSpaceModel) -> None:
    sim = PoseSimulation(framed)
    q = np.linspace(-0.3, 0.3, framed.n_coordinates)

    def largest_changes(count: int) -> list[float]:
        """Of the shape from one place to the next, and of that change."""
        shapes = []
        for s in np.linspace(-1.5, 1.5, count):
            sim.teleport([s, 0, 0, 0, 0, 0, 0])
            sim.q = q  # a teleport keeps it as far as energy allows
            shapes.append(sim.surface_displacements())
        return [float(np.abs(np.diff(shapes, n, axis=0)).max()) for n in (1, 2)]

    (far, turn), (half, quarter) = largest_changes(401), largest_changes(801)
    assert half == pytest.approx(far / 2, rel=0.05)
    assert quarter == pytest.approx(turn / 4, rel=0.1)  # the rate has no jump, or it were a half


# -- forces ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["model", "framed"])
def test_a_pull_does_the_work_of_its_vertex(kind: str, request: pytest.FixtureRequest) -> None:
    made = request.getfixturevalue(kind)
    sim = PoseSimulation(made)
    pose = 0.6 * np.eye(len(made.tet_rig.rig.neutral))[0]
    sim.reset(pose)
    vertex = int(np.argmax(SKIN.vertices[:, 0]))
    pull = sim.pull(vertex, (1.0, -2.0, 3.0))
    works = []
    for way in np.eye(made.n_coordinates):
        sim.q = way
        works.append(sim.surface_displacements()[vertex] @ pull.force)
    sim.reset(pose)
    sim.step(pose, dt=1e-6, force=pull)  # too short for anything but M q̈ = f
    found = sim.mass @ sim.v / 1e-6
    assert found == pytest.approx(np.array(works), abs=1e-6 * np.abs(works).max())
    inside = sim.pull(int(np.argmax(MESH.vertices[:, 0])), (0.0, 0.0, 3.0), inside=True)
    assert inside.shares.tolist() == [1.0]


def test_wind_pushes_downwind_and_slows_down(model: PoseSpaceModel) -> None:
    sim = PoseSimulation(model, damping=sp.Rayleigh(mass=10.0))
    for _ in range(300):
        sim.step(np.zeros(4), wind=Wind(velocity=(0.0, 8.0, 0.0)))
    mean = sim.surface_displacements().mean(axis=0)
    assert mean[1] > 1e-3
    assert abs(mean[2]) < 0.1 * mean[1]
    free, braked = PoseSimulation(model), PoseSimulation(model)
    for each in (free, braked):
        each.v = np.eye(6)[0]
    for _ in range(10):
        free.step(np.zeros(4))
        braked.step(np.zeros(4), wind=Wind(density=1000.0))
    assert braked.kinetic + braked.elastic < 0.9 * (free.kinetic + free.elastic)


# -- inputs ----------------------------------------------------------------------------


def test_bad_words_are_refused(model: PoseSpaceModel) -> None:
    sim = PoseSimulation(model)
    refused("pose has shape", sim.step, np.zeros(3))
    refused("pose", sim.step, [np.nan, 0, 0, 0])
    refused("vertices 0 to", sim.pull, 10**6, (0, 0, 1))
    refused("dtype", PoseSimulation, model, dtype=np.int64)
    refused("implicit rule", PoseSimulation, model, integrator=sp.RK4())
    refused("give one such as simulation", sim.step, np.zeros(4), force="up")
    at_rest = sp.Rayleigh(stiffness=np.ones(MESH.n_cells), at=sp.StiffnessAt.REST)
    refused("at rest a character takes one number", PoseSimulation, model, damping=at_rest)
    refused("wind=Wind", PoseSimulation, model, damping=sp.Drag(strength=1.0))
    whole = sp.MomentumConserving(sp.Rayleigh(mass=1.0), sp.Conserving.BODY)
    refused("by=Conserving.CELLS", PoseSimulation, model, damping=[whole])
    refused("give a damping such as", PoseSimulation, model, damping=["thick"])
    sway = np.moveaxis(model.bases[0], 2, 0)[0]
    power = sp.PowerLaw(exponent=0.5, strength=1.0)
    over = sp.ExampleDamping([power], [sp.Example(sway)])
    refused("is not linear in the velocity", PoseSimulation, model, damping=over)
    local = sp.Example(sway, region=np.flatnonzero(~model.fixed))
    over = sp.ExampleDamping(sp.Rayleigh(mass=1.0), [local])
    refused("give them without region=", PoseSimulation, model, damping=over)


class InPython(sp.StableNeoHookean):
    """A material that nobody compiled."""

    @staticmethod
    def evaluate(F, lam, mu, psi, P, A, order):
        sp.StableNeoHookean.evaluate(F, lam, mu, psi, P, A, order)
        if np.abs(F).max() > 1e3:
            raise ArithmeticError("too far")


def test_a_material_in_plain_python_moves_a_character(model: PoseSpaceModel) -> None:
    options = {"substeps": 2, "damping": sp.Rayleigh(stiffness=1e-3, at=sp.StiffnessAt.REST)}
    own, compiled = (
        PoseSimulation(replace(model, material=material), **options)
        for material in (InPython, sp.StableNeoHookean)
    )
    for k in range(10):
        for sim in (own, compiled):
            sim.step([0.1 * k, 0, 0, 0])
    assert (own.q == compiled.q).all()
    own.q = np.full(6, 1e6)
    refused("too far", own.step, np.zeros(4), error=ArithmeticError)


def test_a_pose_may_be_written_over(model: PoseSpaceModel) -> None:
    """An array that a caller uses again for the next pose is not that of the last one."""
    once, again = PoseSimulation(model, substeps=3), PoseSimulation(model, substeps=3)
    pose = np.zeros(4)
    for k in range(8):
        pose[0] = 0.05 * k * k
        once.step(pose)
        again.step(pose.copy())
    assert (once.q == again.q).all()
    pose[0] = 1.0
    assert (once.vertices() == again.vertices()).all()


def test_forces_of_rounding_size_are_solved(model: PoseSpaceModel) -> None:
    sim = PoseSimulation(model)
    for _ in range(3):
        sim.step(np.zeros(4), force=np.full(6, 1e-17))
    assert reach(sim) < 1e-12


# -- crowds -------------------------------------------------------------------------------


def test_a_crowd_is_its_members_one_by_one(framed: PoseSpaceModel) -> None:
    options = {"damping": sp.Rayleigh(stiffness=1e-3), "integrator": sp.TRBDF2()}
    crowd = PoseCrowd(framed, copies=3, **options)
    singles = [PoseSimulation(framed, **options) for _ in range(3)]
    for k in range(15):
        poses = poses_at(np.sin(0.2 * k * np.arange(3)), 7)
        crowd.step(poses)
        for single, pose in zip(singles, poses, strict=True):
            single.step(pose)
    assert crowd.q == pytest.approx(np.array([s.q for s in singles]), abs=1e-13)
    assert crowd.vertices() == pytest.approx(np.array([s.vertices() for s in singles]), abs=1e-13)
    refused("3 copies need", crowd.step, np.zeros((2, 7)))


def test_a_member_that_fails_is_named_and_the_others_move_on(framed: PoseSpaceModel) -> None:
    crowd = PoseCrowd(framed, copies=3)
    forces = np.ones((3, framed.n_coordinates))
    forces[1] = 1e300
    with pytest.raises(sp.StepFailed, match=r"members\[1\]: .*not finite.* smaller forces"):
        crowd.step(np.zeros((3, 7)), forces=forces)
    assert crowd.q.any(axis=1).tolist() == [True, False, True]
    times = [each.time for each in crowd.members]
    assert times[0] == times[2] > times[1] == 0


# -- damping ------------------------------------------------------------------------------


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
