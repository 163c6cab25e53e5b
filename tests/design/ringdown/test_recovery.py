"""Damping from recordings that do not swing: bodies whose answers are known, with noise."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from tests.refusals import refused

import supple as sp
from supple.damping.curve import Curve
from supple.damping.example import ExampleDamping
from supple.design.ringdown.fit import RingDownFit
from supple.design.ringdown.recovery import Recovery, read_recovery
from supple.design.ringdown.recovery_fit import RecoveryFit, fit_damping, fit_recovery
from supple.design.ringdown.ringdown import RingDown
from supple.design.ringdown.trial import Experiment

pytestmark = pytest.mark.processors

GRAVITY = (0.0, 0.0, -9.81)
MESH = sp.HexMesh.box(size=(0.1, 0.03, 0.02), cells=(4, 1, 1))
TIP = MESH.where(x=0.1)
RATE = 100.0  # frames a second
CURVE = Curve.linear([(2e-4, 8.0), (3e-3, 1.0)])


def body(hung: float = 0.0) -> sp.Body:
    """A soft beam, with ``hung`` [kg] in the cells at its tip."""
    end = MESH.cells_where(x=(0.075, 0.1))
    density = np.full(MESH.n_cells, 1000.0)
    density[end] += hung / MESH.volumes[end].sum()
    return sp.Body(MESH, sp.StVK(young=2e5, poisson=0.3, density=density), fixed=MESH.where(x=0))


@cache
def clean(hung: float, mass: float, stiffness: float, nonlinear: bool, seconds: float):
    """What a camera sees of the full body, first held by its tip for a tenth of a second."""
    of = body(hung)
    rest = sp.static_shape(of, gravity=GRAVITY)
    pull = of.point_force(TIP, (0, 0, 0.2 / len(TIP)))
    damping: sp.Damping = sp.Rayleigh(mass=mass, stiffness=stiffness)
    if nonlinear:
        damping = ExampleDamping(damping, [], overall=CURVE, about=rest)
    sim = sp.Simulation(
        of, damping=damping, integrator=sp.Bathe(), dt=0.125 / RATE, gravity=GRAVITY
    )
    sim.state.u = sp.static_shape(of, pull, gravity=GRAVITY)
    places = sim.run(seconds).displacements[:, TIP, 2].mean(axis=1)[::8]
    places = np.append(np.full(10, places[0]), places) + 0.1  # the camera has its own origin
    return np.arange(len(places)) / RATE, places


def recorded(
    *, hung=0.0, mass=0.0, stiffness=0.0, nonlinear=False, seconds=1.5, noise=5e-5, seed=3
) -> Experiment:
    t, x = clean(hung, mass, stiffness, nonlinear, seconds)
    seen = RingDown(t, x + noise * np.random.default_rng(seed).normal(size=x.shape))
    return Experiment(seen, body(hung), TIP, (0, 0, 1), GRAVITY, name=f"{hung:g}")


def test_a_recovery_is_read():
    t, x = clean(0.0, 0.0, 0.2, False, 1.5)
    reading = read_recovery(RingDown(t, x))
    assert reading.release == pytest.approx(0.1, abs=0.011)
    assert reading.off == pytest.approx(x[0] - x[-1], rel=1e-3)
    assert reading.lasting == pytest.approx(0.2, rel=0.1)  # 1/e after β, if it is overdamped
    late = read_recovery(RingDown(t[10:], x[10:]))
    assert late.held == 0
    assert late.release == t[10]


def test_simulated_recovery_is_that_of_the_full_body():
    given = recorded(stiffness=0.2, noise=0.0)
    trial = Recovery(given)
    off, _ = trial.run(sp.Rayleigh(stiffness=0.2)).at(given.measured.times - 0.1)
    x = given.measured.displacements
    assert np.abs(off - (x - x[-1])).max() < 3e-3 * np.ptp(x)


@pytest.mark.parametrize("beta", [0.2, 0.06])
@pytest.mark.parametrize("held", [True, False])
def test_known_damping_is_found(beta, held):
    given = recorded(stiffness=beta)
    if not held:
        given = replace(given, measured=given.measured.between(0.1, 10.0))
    fit = fit_damping([given], points=3)
    assert isinstance(fit, RecoveryFit)
    assert fit.rayleigh.mass == 0
    assert fit.rayleigh.stiffness == pytest.approx(beta, rel=0.03)
    assert abs(fit.rayleigh.stiffness / beta - 1) < 4 * fit.level_error
    assert fit.level_error < 0.02
    assert not fit.share_determined
    assert fit.noise == pytest.approx(5e-5, rel=0.2)
    known = np.isfinite(fit.curve_errors)
    strengths = np.array([gamma for _, gamma in fit.curve.points])
    assert known[-1]
    assert (np.abs(np.log(strengths)) < 4 * fit.curve_errors)[known].all()  # no curve is needed


def test_two_frequencies_tell_mass_from_stiffness():
    pair = [recorded(hung=hung, mass=200.0, stiffness=0.1) for hung in (0.0, 0.1)]
    fit = fit_recovery(pair, points=2)
    assert fit.share_determined
    assert fit.rayleigh.mass == pytest.approx(200.0, rel=0.08)
    assert fit.rayleigh.stiffness == pytest.approx(0.1, rel=0.06)
    assert max(fit.misses) < 0.01


@pytest.mark.verify
def test_damping_that_grows_towards_the_rest():
    """As of the printed dragon: quick at first, then slow; no linear damping does that."""
    fit = fit_recovery([recorded(stiffness=0.05, nonlinear=True, seconds=3.0)], points=5)
    assert fit.rayleigh_misses[0] > 3 * fit.misses[0]
    for (place, gamma), error in zip(fit.curve.points, fit.curve_errors, strict=True):
        if place < 2e-3:  # the first hundredths of a second say little of the farthest ones
            assert error < 0.15
            assert gamma * fit.base.stiffness == pytest.approx(0.05 * CURVE(place), rel=0.08)
    rest = sp.static_shape(body(), gravity=GRAVITY)
    assert fit.damping(rest).overall == fit.curve


def test_swinging_recordings_go_the_other_way():
    t = np.arange(0, 2, 0.01)
    swings = RingDown(t, 0.002 * np.cos(36 * t) * np.exp(-2 * t))
    assert swings.swings
    fit = fit_damping([Experiment(swings, body(), TIP, (0, 0, 1))], points=2)
    assert isinstance(fit, RingDownFit)
    assert not recorded(stiffness=0.2).measured.swings
    mixed = [Experiment(swings, body(), TIP, (0, 0, 1)), recorded(stiffness=0.2)]
    refused("fit the two kinds apart", fit_damping, mixed)


def test_what_is_not_determined_is_refused():
    given = recorded(stiffness=0.2, noise=2e-4)
    # cut off when a third of the way is done, nobody knows where it would have come to rest
    short = replace(given, measured=given.measured.between(0.1, 0.18))
    refused("do not determine the damping", fit_recovery, [short])
    t = given.measured.times
    still = replace(
        given, measured=RingDown(t, 1e-4 * np.random.default_rng(0).normal(size=len(t)))
    )
    refused("does not show a body that was let go", fit_recovery, [still])
    x = np.where(t < 0.1, 1e-3, 0.0)
    refused("more frames a second", fit_recovery, [replace(given, measured=RingDown(t, x))])
    refused("held_by is zero everywhere", replace, given, held_by=np.zeros((MESH.n_vertices, 3)))
    refused("no experiments given", fit_damping, [])
