"""Flesh on a rig that starts, stops and jerks, or stands still: every rule feels the same, and none
makes energy of nothing."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from tests.character.pose_models import FramedBend, beam, bend_rig, model_of, poses_at

import supple as sp
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.runtime.simulation import PoseSimulation

MESH = beam()
SKIN = MESH.boundary()
SIZE = float(np.linalg.norm(np.ptp(MESH.vertices, axis=0)))
DAMPING = sp.Rayleigh(mass=1.0, stiffness=2e-3)
RULES = [sp.Newmark, sp.BDF2, sp.TRBDF2, sp.Bathe]
every_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
FRAME = 1 / 60
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


@every_rule
def test_sudden_starts_and_stops_are_felt_as_they_are(model, rule):
    """At once to 0.5 m/s, and at once to rest after 2 s: as with steps of a sixteenth."""

    def way(t: float) -> float:
        return 0.5 * min(t, 2.0)

    fine = PoseSimulation(model, damping=DAMPING, integrator=sp.Bathe(), dt=FRAME / 16)
    exact = moved(fine, way, 160)
    found = moved(PoseSimulation(model, damping=DAMPING, integrator=rule()), way, 160)
    assert np.abs(exact).max() > 0.02
    assert np.abs(found - exact).max() < 0.06 * np.abs(exact).max()


@every_rule
def test_the_bound_of_accelerations_leaves_lesser_ones_alone(model, rule):
    ends = []
    for bound in (None, 1e9):
        sim = PoseSimulation(model, damping=DAMPING, integrator=rule(), max_acceleration=bound)
        ends.append(moved(sim, lambda t: 0.3 * min(t, 0.5), 60))
    assert ends[0] == pytest.approx(ends[1], abs=1e-12)


@pytest.mark.parametrize("rule", [sp.BackwardEuler, *RULES], ids=lambda rule: rule.__name__)
def test_a_bounded_acceleration_is_that_of_a_slower_start(model, rule):
    """A start from 0 to 1 m/s of which 0.2 m/s are felt is one to 0.2 m/s."""
    ends = []
    for bound, speed in ((0.2 / FRAME, 1.0), (1e9, 0.2)):
        sim = PoseSimulation(model, damping=DAMPING, integrator=rule(), max_acceleration=bound)
        ends.append(moved(sim, lambda t, speed=speed: speed * t, 40))
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)


@pytest.mark.parametrize("substeps", [1, 3])
def test_a_hop_throws_no_further_than_it_is_long(model: PoseSpaceModel, substeps: int) -> None:
    """5 cm within one frame: flesh stays behind, and does not fly off."""
    for rule in (sp.BackwardEuler, *RULES):
        sim = PoseSimulation(model, damping=DAMPING, integrator=rule(), substeps=substeps)
        moved(sim, lambda t: 0.0, 5)
        assert np.abs(moved(sim, lambda t: 0.05, 60)).max() < 0.15


def test_rates_do_not_ring(model: PoseSpaceModel) -> None:
    """After an even run of 5 s, those of Newmark's rule are as small as the motion is."""
    rates = []
    for rule in (sp.Newmark(), sp.TRBDF2()):
        sim = PoseSimulation(model, damping=DAMPING, integrator=rule)
        moved(sim, lambda t: 0.5 * t, 300)
        rates.append(np.linalg.norm(sim.v))
    assert rates[0] < 2 * rates[1] + 1e-3


@pytest.fixture(scope="module", params=MATERIALS, ids=lambda material: material.__name__)
def trained(request: pytest.FixtureRequest) -> PoseSpaceModel:
    """With cubature, and the stiffness that it lacks."""
    material = request.param(young=2e4, poisson=0.4)
    options = {"fixed": MESH.where(x=0), "material": material, "modes": 4, "size": 6, "cells": 30}
    return sp.pose_space_model(bend_rig(SKIN), volume=MESH, poses=poses_at([1.5], 4), **options)


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
def test_energy_does_not_grow_while_the_pose_stands_still(trained, rule):
    found = energies(PoseSimulation(trained, integrator=rule()), 0.5, 150)
    assert found.max() <= (1 + GAIN[rule]) * found[0]


@pytest.mark.parametrize("iterations", [1, 20])
def test_backward_euler_takes_energy_in_every_step(trained, iterations):
    sim = PoseSimulation(
        trained,
        solver=sp.DenseNewton(iterations=1)
        if iterations == 1
        else sp.DenseNewton(max_iterations=iterations),
    )
    found = energies(sim, 1.0, 100)
    assert np.diff(found).max() < 1e-9 * found[0]
    assert found[-1] < 0.8 * found[0]  # the rule damps by itself


def test_flesh_that_runs_away_is_told(trained: PoseSpaceModel) -> None:
    """A single iteration of a rule that does not damp, far beyond what it is for."""
    once = sp.DenseNewton(iterations=1)
    sim = PoseSimulation(trained, integrator=sp.Newmark(), solver=once, dt=0.1)
    with suppress(sp.StepFailed):
        energies(sim, 30.0, 400)
    assert np.linalg.norm(sim.q) <= 10 * SIZE * np.sqrt(trained.masses.sum())


def test_a_model_of_all_cells_loses_no_energy_to_its_pose() -> None:
    """With steps that are short for its vibrations, Newmark's rule keeps it."""
    whole = model_of(bend_rig(SKIN), MESH, poses_at([0.0, 1.5], 4), 6)
    found = energies(PoseSimulation(whole, integrator=sp.Newmark(), dt=1e-3), 0.2, 300)
    assert found == pytest.approx(found[0], rel=1e-3)
