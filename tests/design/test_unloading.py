"""Unloading tests: where a cycle ends, and what is left of it."""

from __future__ import annotations

import numpy as np
import pytest
from tests.refusals import refused

import supple as sp
from supple.design.testbeds import make_testbed
from supple.design.unloading import cycle_end

pytestmark = pytest.mark.processors

REST = sp.StiffnessAt.REST


@pytest.mark.parametrize("zeta", [0.0, 0.02, 0.2])
@pytest.mark.parametrize("steps", [8, 12, 48, 200])
def test_cycle_of_an_oscillator(zeta, steps):
    """A damped cosine, sampled coarsely: the turn is found between the samples."""
    w = np.sqrt(1 - zeta**2)
    t = np.arange(0, 3 * steps) * 2 * np.pi / w / steps
    x = np.exp(-zeta * t) * (np.cos(w * t) + zeta / w * np.sin(w * t))
    v = -np.exp(-zeta * t) * np.sin(w * t) / w
    period, residual = cycle_end(x, v, t[1])
    accuracy = 40.0 / steps**4
    assert residual == pytest.approx(np.exp(-2 * np.pi * zeta / w), rel=accuracy)
    assert period == pytest.approx(2 * np.pi / w, rel=50 * accuracy)


def test_no_cycle():
    t = np.linspace(0, 5, 50)
    assert cycle_end(np.exp(-t), -np.exp(-t), t[1]) is None  # creeps back
    assert cycle_end(np.cos(t[:20]), -np.sin(t[:20]), t[1]) is None  # cut short


def test_local_peaks_do_not_end_a_cycle():
    """Fast ripples before the second pass through zero are not the turn (§5)."""
    t = np.linspace(0, 10, 4000)
    x = np.cos(t) + 0.05 * np.cos(17 * t)
    v = -np.sin(t) - 0.85 * np.sin(17 * t)
    period, _ = cycle_end(x, v, t[1])
    assert period > 1.5 * np.pi


def test_release_of_a_mode(in_space, examples, modes):
    """A small release decays as the damping ratio says."""
    zeta, w = 0.04, 2 * np.pi * modes.frequencies[0]
    damping = sp.ExampleDamping(sp.Rayleigh(mass=2 * zeta * w / 4), [examples[0].with_curve(4.0)])
    dt = 1 / (100 * modes.frequencies[0])
    bed = make_testbed(in_space, damping, integrator=sp.Trapezoidal(), dt=dt)
    test = bed.unload(damping, 0, 0.01)
    assert test.oscillates
    assert test.residual / 0.01 == pytest.approx(sp.DampingRatio(zeta).share(1.0), rel=1e-3)
    assert test.period == pytest.approx(2 * np.pi / (w * np.sqrt(1 - zeta**2)), rel=1e-3)
    assert test.excitations[0] == 0.01
    assert test.times[-1] == pytest.approx(test.period, abs=bed.dt)


def test_overdamped_release(cantilever, examples):
    damping = sp.ExampleDamping(sp.Rayleigh(mass=1.0), [examples[0].with_curve(1000.0)])
    test = make_testbed(cantilever, damping).unload(damping, 0, 0.1)
    assert not test.oscillates
    assert test.residual == 0.0


def test_gravity_needs_the_shape_at_rest(cantilever, examples):
    damping = sp.ExampleDamping(sp.Rayleigh(mass=1.0), examples)
    refused("static_shape", make_testbed, cantilever, damping, gravity=(0, 0, -1.0))


def test_a_shape_that_is_not_at_rest_is_refused(cantilever, in_space, examples):
    """Half the sag, or the sag without the gravity that makes it."""
    down = (0.0, 0.0, -1.0)
    rest = sp.static_shape(cantilever, gravity=down)
    for about, gravity in ((0.5 * rest, down), (rest, (0, 0, 0))):
        damping = sp.ExampleDamping(sp.Rayleigh(mass=1.0), examples, about=about)
        refused("out of balance", make_testbed, in_space, damping, gravity=gravity)
    damping = sp.ExampleDamping(sp.Rayleigh(mass=1.0), examples[:1], about=rest)
    test = make_testbed(cantilever, damping, gravity=down).unload(damping, 0, 0.1)
    assert test.oscillates


def test_a_slow_return_is_waited_for(cantilever, examples):
    """Strong damping at large excitations: the body creeps, then swings where the curve is weak."""
    curve = sp.Curve.linear([(0.4, 1.0), (0.5, 1000.0)])
    damping = sp.ExampleDamping(sp.Rayleigh(mass=0.3), [examples[0].with_curve(curve)])
    bed = make_testbed(cantilever, damping)
    test = bed.unload(damping, 0, 1.2)
    assert test.oscillates
    assert test.period > 4 * bed.linear_period(0)
    assert test.residual > 0.2
