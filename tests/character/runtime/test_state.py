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
from supple.character.runtime.shape import Wind
from supple.character.runtime.simulation import PoseSimulation

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


def test_options_of_a_simulation_stay(model):
    sim = PoseSimulation(model)
    for name in ("integrator", "cut_distance", "max_acceleration"):
        with pytest.raises(AttributeError):
            setattr(sim, name, getattr(sim, name))


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
