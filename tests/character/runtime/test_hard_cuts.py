"""Flesh that cannot be thrown: cuts, jumps and frames of any length put in no energy."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from tests.character.pose_models import FramedBend, beam, model_of, poses_at

import supple as sp
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.runtime import attempts
from supple.character.runtime.simulation import PoseSimulation

MESH = beam()
SIZE = float(np.linalg.norm(np.ptp(MESH.vertices, axis=0)))
ONCE = sp.DenseNewton(iterations=1)
UNBOUNDED = {"cut_distance": 1e9, "cut_speed": 1e9}
RULES = [sp.BackwardEuler, sp.BDF2, sp.TRBDF2, sp.Bathe, sp.Newmark]
GAIN = {sp.BackwardEuler: 0.011, sp.Newmark: 1.5}  # of the energy at play that a rule may gain
every_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
both = pytest.mark.parametrize("solver", [ONCE, None], ids=["once", "converged"])


@pytest.fixture(scope="module")
def flesh() -> PoseSpaceModel:
    material = sp.StableNeoHookean(young=2e4, poisson=0.45, density=1000.0)
    rig = FramedBend(MESH.boundary())
    return model_of(rig, MESH, poses_at([0.0, 1.5, -1.5], 7), 6, material=material)


def bent(curvature: float, way: float = 0.0) -> np.ndarray:
    return np.array([curvature, 0, 0, way, 0, 0, 0])


def energy(sim: PoseSimulation) -> float:
    return sim.kinetic + sim.elastic


def unseen(model: PoseSpaceModel) -> float:
    """With which the slowest vibration goes by a thousandth of the body [J]."""
    return float(0.5 * model.squares[0, 0] * (1e-3 * SIZE) ** 2 * model.masses.sum())


def reach(sim: PoseSimulation) -> float:
    return float(np.linalg.norm(sim.surface_displacements(), axis=1).max())


@both
@every_rule
def test_what_stands_still_after_a_cut_gains_nothing(flesh, rule, solver):
    """The cut is felt as motion, by a third of the body within a frame, and back."""
    sim = PoseSimulation(flesh, integrator=rule(), solver=solver, **UNBOUNDED)
    for k in range(6):
        sim.step(bent(1.5 if k % 2 else -1.5, 0.3 * (k % 2)))
    found = []
    for k in range(60):
        sim.step(bent(-1.5))
        if k >= 4:
            found.append(energy(sim))
        assert np.isfinite(sim.q).all()
        assert reach(sim) < 1.5 * SIZE
    most = GAIN.get(rule, 0.11)
    lowest = np.minimum.accumulate(found)
    assert np.max(found - lowest) <= most * np.max(lowest) + unseen(flesh)


@both
@every_rule
def test_nothing_throws_flesh(flesh, rule, solver):
    """Poses, places, turns, frames and pauses at random."""
    chance = np.random.default_rng(5)
    sim = PoseSimulation(flesh, integrator=rule(), solver=solver, gravity=(0, 0, -2))
    for _ in range(60):
        pose = sim.pose
        if chance.uniform() < 0.5:
            pose = bent(chance.uniform(-1.5, 1.5), chance.normal() * 0.2)
            pose[4:] = chance.normal(size=3)
        if chance.uniform() < 0.1:
            sim.teleport(pose)
        sim.step(pose, float(chance.choice([1 / 60, 1 / 60, 1 / 5, 1 / 500, 1.0])))
        assert reach(sim) < SIZE


def test_a_cut_tells_itself_by_how_its_parts_change_speed(flesh):
    """A body that starts as a whole is felt; one that bends as fast within a frame is cut."""
    starts, bends = PoseSimulation(flesh), PoseSimulation(flesh)
    rig, here = flesh.tet_rig.rig, bent(0.0)
    far = bent(0.35)
    way = rig.vertices(far) - rig.vertices(here)
    distance = float(np.sqrt((way**2).sum(axis=1).mean()))
    assert distance < 0.5 * bends.cut_distance
    assert np.linalg.norm(way - way.mean(axis=0), axis=1).mean() > bends.cut_speed / 60
    for sim, pose in ((starts, bent(0.0, distance)), (bends, far)):
        sim.step(here)
        sim.step(pose)
    assert (starts.stats.cuts, bends.stats.cuts) == (0, 1)
    assert reach(starts) > 0.1 * distance
    assert reach(bends) < 1e-9
    bends.cut_speed = 1e9
    bends.step(here)
    bends.step(here)
    assert bends.stats.cuts == 1


def test_a_slow_frame_is_no_cut(flesh):
    """What is a cut within a 60th of a second may be motion within a tenth."""
    sim = PoseSimulation(flesh)
    sim.step(bent(0.0))
    sim.step(bent(0.35), 0.1)
    assert sim.stats.cuts == 0


@pytest.mark.parametrize("told", [False, True], ids=["cut", "teleport"])
def test_a_cut_leaves_no_more_energy_than_there_was(flesh, told):
    sim = PoseSimulation(flesh)
    sim.q = np.linspace(1.0, 2.0, flesh.n_coordinates)
    sim.v = np.linspace(-5.0, 5.0, flesh.n_coordinates)
    sim.teleport(bent(0.0))
    for to in (1.5, -1.5, 0.0, 1.0):
        if not told:  # after a cut the next frame tells the speed
            sim.step(sim.pose, 1e-5)
        before = energy(sim)
        assert before > 10 * unseen(flesh)
        if told:
            sim.teleport(bent(to))
        else:
            sim.step(bent(to, 50.0 * to), 1e-5)
        assert energy(sim) <= 1.001 * before + unseen(flesh)
    assert reach(sim) > 1e-3


@every_rule
def test_a_given_number_of_iterations_bounds_the_cost(flesh, rule):
    """Of any step, however hard: one, then two parts and backward Euler with eight at most."""
    sim = PoseSimulation(flesh, integrator=rule(), solver=ONCE, **UNBOUNDED)
    stages = 2 if rule in (sp.TRBDF2, sp.Bathe) else 1
    counts = [0]
    for k in range(40):
        sim.step(bent(1.5 * (-1) ** k, 0.5 * (k % 3)))
        counts.append(sim.stats.iterations)
    costs = [after - before for before, after in pairwise(counts)]
    assert min(costs) >= 1
    assert max(costs) <= stages * (1 + 2 * 8) + 5 * 8
    assert sim.stats.steps == 40


def test_smooth_motion_is_never_taken_otherwise(flesh):
    for rule in RULES:
        for solver in (ONCE, None):
            sim = PoseSimulation(flesh, integrator=rule(), solver=solver)
            for k in range(90):
                sim.step(bent(0.5 * np.sin(0.1 * k), 0.1 * np.sin(0.05 * k)))
            stats = sim.stats
            assert (stats.cuts, stats.gained, stats.settled, stats.stopped) == (0, 0, 0, 0)
            assert reach(sim) > 1e-3


def test_what_nothing_leads_through_comes_to_rest_near_the_rig(flesh, monkeypatch):
    sim = PoseSimulation(flesh)
    sim.v = np.full(flesh.n_coordinates, 3.0)
    for _ in range(3):
        sim.step(bent(0.0))
    before, q = energy(sim), sim.q
    monkeypatch.setattr(attempts, "PARTS", ())
    sim.step(bent(0.1))
    assert sim.stats.stopped == 1
    assert energy(sim) <= before
    assert sim.q == pytest.approx(0.5 * q, rel=1e-12)
    assert not sim.v.any()
    assert sim.time == pytest.approx(4 / 60)
    monkeypatch.undo()
    sim.step(bent(0.1))
    assert sim.stats.stopped == 1


def test_a_snapshot_keeps_the_account(flesh):
    sim = PoseSimulation(flesh, integrator=sp.TRBDF2(), solver=ONCE, **UNBOUNDED)
    poses = [bent(1.2 * (-1) ** (k // 3), 0.1 * (k % 5)) for k in range(24)]
    for pose in poses[:12]:
        sim.step(pose)
    kept = sim.snapshot()
    ends = []
    for _ in range(2):
        for pose in poses[12:]:
            sim.step(pose)
        ends.append((sim.q, sim.stats))
        sim.restore(kept)
    assert (ends[0][0] == ends[1][0]).all()
    assert ends[0][1] == ends[1][1]
