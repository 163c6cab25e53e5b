"""The state of a character: what copies it, what leaves it alone, what cannot be changed."""

from __future__ import annotations

import copy
import pickle
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from tests.character.pose_models import FramedBend, beam, model_of, poses_at
from tests.refusals import refused

import supple as sp
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.model.weights import StiffnessCorrections
from supple.character.runtime.crowd import PoseCrowd
from supple.character.runtime.shape import Wind
from supple.character.runtime.simulation import PoseSimulation
from supple.character.runtime.solver import _flat

MESH = beam()


@pytest.fixture(scope="module")
def model() -> PoseSpaceModel:
    return model_of(FramedBend(MESH.boundary()), MESH, poses_at([0.0, 1.2, -1.2], 7), 6)


def bent(angle: float) -> np.ndarray:
    return np.array([angle, 0, 0, 0, 0, 0, 0.0])


def moving(model: PoseSpaceModel, **options) -> PoseSimulation:
    sim = PoseSimulation(model, **options)
    for k in range(6):
        sim.step(bent(0.02 * k * k))
    return sim


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda sim: pickle.loads(pickle.dumps(sim))], ids=["deep", "pickled"]
)
def test_a_copy_goes_on_like_the_original_and_apart_from_it(model, copied):
    sim = moving(model, integrator=sp.BDF2(), damping=sp.Rayleigh(mass=1.0, stiffness=1e-3))
    other = copied(sim)
    assert (other.vertices() == sim.vertices()).all()
    before = other.q
    sim.step(bent(1.0))
    assert (other.q == before).all()
    other.step(bent(1.0))
    assert (other.q == sim.q).all()
    assert (other.v == sim.v).all()


class Failing(sp.StableNeoHookean):
    """A material that gives up when it is told to."""

    calls_left = np.inf

    @staticmethod
    def evaluate(F, lam, mu, psi, P, A, order):
        Failing.calls_left -= 1
        if Failing.calls_left < 0:
            raise ArithmeticError("no more")
        sp.StableNeoHookean.evaluate(F, lam, mu, psi, P, A, order)


def test_what_a_material_raises_leaves_the_state_as_it_was(model, monkeypatch):
    sim, twin = (moving(replace(model, material=Failing), substeps=4) for _ in range(2))
    with monkeypatch.context() as patch:
        patch.setattr(Failing, "calls_left", 5)
        refused("no more", sim.step, bent(0.9), error=ArithmeticError)
    for was, now in zip(*((s.q, s.v, s.vertices(), s.time) for s in (twin, sim)), strict=True):
        np.testing.assert_array_equal(was, now)
    for each in (sim, twin):
        each.step(bent(0.9))
    assert (sim.q == twin.q).all()


@pytest.mark.parametrize("rule", [sp.BackwardEuler(), sp.BDF2(), sp.TRBDF2()], ids=repr)
@pytest.mark.parametrize("substeps", [1, 3])
@pytest.mark.parametrize("designed", [False, True])
def test_the_motion_after_a_snapshot_is_the_same_again(model, rule, substeps, designed):
    damping = sp.Rayleigh(mass=1.0, stiffness=1e-3)
    if designed:
        shape = np.einsum("nir,r->ni", model.bases[0], np.eye(6)[0])
        curve = sp.Curve([(0.0, 4.0), (1.0, 0.5)])
        damping = sp.ExampleDamping(damping, [sp.Example(shape, curve=curve)])
    options = {"integrator": rule, "substeps": substeps, "damping": damping}
    options |= {"gravity": (0.0, 0.0, -9.81)}

    def on(sim: PoseSimulation) -> bytes:
        for k in range(4):
            sim.step(bent(0.7 - 0.1 * k), 1 / 50, wind=Wind(velocity=(0.0, 5.0, 0.0)))
        sim.step(bent(0.1), force=sim.pull(3, (0.0, 0.0, 0.1)))
        return b"".join(x.tobytes() for x in (sim.q, sim.v, sim.vertices(), np.array(sim.time)))

    sim, untouched = moving(model, **options), moving(model, **options)
    kept = sim.snapshot()
    end = on(untouched)
    assert on(sim) == end
    other = PoseSimulation(model, **options)
    other.restore(kept)
    kept_arrays = [id(array) for array in other._solver.state()]
    for array in _flat(other._solver.workspace):
        if id(array) not in kept_arrays:
            array[...] = np.nan if array.dtype.kind == "f" else 0  # nobody may read these
    assert on(other) == end
    for _ in range(2):
        sim.restore(kept)
        assert on(sim) == end
    assert on(copy.copy(untouched)) == on(untouched)


def test_settings_change_between_steps_and_come_back(model):
    sim, steady = moving(model), moving(model)
    kept = sim.snapshot()
    sim.dt, sim.substeps, sim.gravity = 1 / 100, 2, (0.0, 0.0, -3.0)
    sim.damping, sim.integrator = sp.Rayleigh(mass=3.0), sp.TRBDF2()
    sim.solver = sp.DenseNewton(max_iterations=40)
    sim.cut_distance, sim.max_acceleration = 0.3, 5.0
    assert (sim.cut_distance, sim.max_acceleration) == (0.3, 5.0)
    before = sim.q
    sim.step(bent(0.6))
    assert sim.time == pytest.approx(steady.time + 1 / 100)
    assert (sim.q != before).any()
    sim.restore(kept)
    for each in (sim, steady):
        each.step(bent(0.6))
    assert (sim.q == steady.q).all()
    assert (sim.dt, sim.substeps, sim.integrator) == (1 / 60, 1, sp.BackwardEuler())
    assert sim.damping is None


def test_a_rule_that_was_assigned_is_one_that_was_given(model):
    sim = PoseSimulation(model, integrator=sp.BackwardEuler(), damping=sp.Rayleigh(mass=1.0))
    given = PoseSimulation(model, integrator=sp.TRBDF2(), damping=sp.Rayleigh(mass=2.0))
    sim.integrator, sim.damping = sp.TRBDF2(), sp.Rayleigh(mass=2.0)
    for k in range(5):
        for each in (sim, given):
            each.step(bent(0.02 * k * k))
    assert (sim.q == given.q).all()


def test_what_cannot_be_set(model):
    sim = PoseSimulation(model)
    refused("did you mean gravity", setattr, sim, "gravty", (0, 0, 1))
    refused("another simulation", setattr, sim, "model", model)
    refused("dt", setattr, sim, "dt", 0.0)
    refused("substeps", setattr, sim, "substeps", 0)
    refused("integrator", setattr, sim, "integrator", sp.RK4())
    refused("cut_distance", setattr, sim, "cut_distance", -1.0)
    refused("another character", sim.restore, PoseSimulation(replace(model)).snapshot())
    crowd = PoseCrowd(model, copies=2)
    kept = crowd.snapshot()
    crowd.step([bent(0.1), bent(0.2)])
    there = crowd.q
    crowd.restore(kept)
    crowd.step([bent(0.1), bent(0.2)])
    assert (crowd.q == there).all()
    refused("2 characters", PoseCrowd(model, copies=3).restore, kept)


def test_steps_of_any_length_need_no_more_memory(model):
    sim = PoseSimulation(model)
    tracemalloc.start()
    for k in range(600):
        sim.step(bent(0.0), 1e-4 * (1 + k))
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert taken < 1e6  # the tables of all these lengths would take 1.7 MB


def test_wind_after_a_pause_knows_nothing_of_what_was_before_it(model):
    """The surface was elsewhere when the wind stopped; that is no speed."""
    breeze = Wind(velocity=(0.0, 1e-4, 0.0))
    sim = PoseSimulation(model, damping=sp.Rayleigh(mass=50.0))
    sim.step(bent(0.0), wind=breeze)
    for k in range(120):
        sim.step(bent(min(0.02 * k, 1.0)))
    still = sim.vertices()
    sim.step(bent(1.0), wind=breeze)
    assert np.abs(sim.vertices() - still).max() < 1e-5


def test_wind_sees_the_speed_of_the_last_step_whatever_its_length(model):
    found = []
    for last in (1 / 60, 1 / 240):
        sim = PoseSimulation(model)
        sim.v = np.full(6, 1e-3)
        for _ in range(2):
            sim.step(bent(0.0), 1e-4, wind=Wind())
        sim.step(bent(0.0), last, wind=Wind(density=1e-9))
        found.append(sim.force)
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12)


def test_a_model_needs_a_rig_with_the_same_features(model):
    gaps = StiffnessCorrections.none(np.zeros(3), model.n_coordinates)
    refused("features", replace, model, gaps=gaps)
