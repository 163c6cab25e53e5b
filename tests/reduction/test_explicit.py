"""Reduced models moved by explicit rules."""

import copy

import numpy as np
import pytest
from tests.refusals import refused

import supple as sp
from supple.integrators import INTEGRATORS, ExplicitIntegrator

EXPLICIT = [rule for rule in INTEGRATORS if issubclass(rule, ExplicitIntegrator)]
LIMITS = {sp.SymplecticEuler: 2.0, sp.RK4: np.sqrt(8.0)}  # of ω dt, on the imaginary axis


@pytest.mark.parametrize("rule", EXPLICIT, ids=lambda rule: rule.__name__)
def test_largest_step_is_that_of_the_theory(model, rule):
    live = sp.ExplicitReducedSimulation(model, integrator=rule())
    fastest = 2 * np.pi * model.frequencies[-1]
    # how far rounding lets an amplification exceed one leaves the limit known to a few per mille
    assert live.critical_dt == pytest.approx(LIMITS[rule] / fastest, rel=5e-3)
    assert live.dt == 0.5 * live.critical_dt
    with pytest.raises(sp.InputError, match="does not stay bounded"):
        sp.ExplicitReducedSimulation(model, integrator=rule(), dt=1.02 * live.critical_dt)


@pytest.mark.parametrize("rule", EXPLICIT, ids=lambda rule: rule.__name__)
def test_same_motion_as_an_implicit_rule(model, tip, rule):
    damping = sp.Rayleigh(mass=0.5, stiffness=1e-4)
    force = model.pull(tip, (0, 0.5, 1.0))
    live = sp.ExplicitReducedSimulation(
        model, integrator=rule(), damping=damping, gravity=(0, 0, -1.0), dt=2e-4
    )
    implicit = model.simulation(
        integrator=sp.Newmark(), damping=damping, gravity=(0, 0, -1.0), dt=2e-4
    )
    for each in (live, implicit):
        each.v = np.eye(model.size)[0] * 0.5
        each.run_steps(1000, force=force)
    assert live.time == pytest.approx(0.2)
    apart = np.abs(live.displacements() - implicit.displacements()).max()
    assert (
        apart < (2e-3 if rule is sp.SymplecticEuler else 2e-4) * np.abs(live.displacements()).max()
    )


def test_energy_of_symplectic_euler_does_not_drift(model):
    live = sp.ExplicitReducedSimulation(model)
    live.v = np.eye(model.size)[0] * 0.3

    def energy():
        return model.energy(live.q) + 0.5 * live.v @ model.mass @ live.v

    start = energy()
    for _ in range(20):
        live.run_steps(200)
        assert energy() == pytest.approx(start, rel=0.1)


def test_what_blows_up_is_told(model):
    live = sp.ExplicitReducedSimulation(model)
    live.v = np.full(model.size, 1e4)
    with pytest.raises(sp.StepFailed, match="no longer finite"):
        live.run_steps(1000)
    with pytest.raises(sp.InputError, match="integrator is"):
        sp.ExplicitReducedSimulation(model, integrator=sp.Newmark())


def test_settings_change_between_steps_as_in_a_new_simulation(model):
    live = sp.ExplicitReducedSimulation(model, gravity=(0, 0, -9.81))
    live.run_steps(20)
    live.gravity, live.damping, live.integrator = (0, 1, -3), sp.Rayleigh(mass=0.3), sp.RK4()
    live.edit(young=4e5)
    options = {"gravity": (0, 1, -3), "damping": sp.Rayleigh(mass=0.3), "integrator": sp.RK4()}
    anew = sp.ExplicitReducedSimulation(live.model, **options)
    assert (live.dt, live.critical_dt) == (anew.dt, anew.critical_dt)
    live.dt = anew.dt = 0.3 * anew.critical_dt
    anew.q, anew.v, anew.time = live.q, live.v, live.time
    for each in (live, anew):
        each.run_steps(20)
        each.step(dt=0.2 * each.critical_dt)
    assert np.array_equal(live.q, anew.q)
    assert live.time == anew.time


def test_snapshots_go_back_to_the_last_bit(model):
    live = sp.ExplicitReducedSimulation(model, gravity=(0, 0, -9.81), damping=sp.Rayleigh(mass=0.1))
    live.run_steps(20)
    kept, twin = live.snapshot(), copy.deepcopy(live)
    live.run_steps(20)
    there = live.q.copy()
    live.edit(young=5e4)
    live.integrator, live.dt = sp.RK4(), 0.1 * live.dt
    live.model = live.model.detail(2)
    live.run_steps(20)
    live.restore(kept)
    for each in (live, twin):
        each.run_steps(20)
        assert np.array_equal(each.q, there)


def test_what_would_take_no_effect_or_burst_is_refused(model):
    live = sp.ExplicitReducedSimulation(model)
    refused("did you mean gravity", setattr, live, "gravty", (0, 0, 1))
    refused("follows from the model", setattr, live, "critical_dt", 1.0)
    refused("does not stay bounded", setattr, live, "dt", 1.02 * live.critical_dt)
    refused("does not stay bounded", live.step, dt=1.02 * live.critical_dt)
    live.dt = before = 0.9 * live.critical_dt
    refused("does not stay bounded", live.edit, young=4e7)
    assert live.dt == before
    assert not live.q.flags.writeable
