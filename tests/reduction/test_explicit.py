"""Reduced models moved by explicit rules."""

import numpy as np
import pytest

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
