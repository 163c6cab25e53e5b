"""Stiffness and damping from ring-downs: bodies whose answers are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.refusals import refused

import supple as sp
from supple.damping.curve import Curve
from supple.damping.example import Example, ExampleDamping
from supple.design.ringdown.fit import fit_ring_down
from supple.design.ringdown.ringdown import RingDown, compare_ring_downs
from supple.design.ringdown.trial import Experiment, Trial

pytestmark = pytest.mark.processors

GRAVITY = (0.0, 0.0, -9.81)
FACTOR = 1.2
"""What the true body is stiffer by than the one the search begins with."""
BASE = sp.Rayleigh(mass=0.6, stiffness=1e-3)
CURVE = Curve.linear([(2e-4, 4.0), (3e-3, 0.5)])
MESH = sp.HexMesh.box(size=(0.1, 0.03, 0.02), cells=(4, 1, 1))
TIP = MESH.where(x=0.1)
SWINGS = np.array([5e-4, 1e-3, 2e-3])
"""Amplitudes [m] that every experiment here goes through."""


def over_a_cycle(curve: Curve, amplitudes: np.ndarray) -> np.ndarray:
    """What a curve does to a swing A cos θ in all: γ weighted by the square of the velocity."""
    theta = (np.arange(500) + 0.5) * np.pi / 500
    return np.array(
        [2 * np.mean(np.sin(theta) ** 2 * curve(A * np.cos(theta))) for A in amplitudes]
    )


def body(hung: float = 0.0) -> sp.Body:
    """A soft beam, with ``hung`` [kg] in the cells at its tip."""
    end = MESH.cells_where(x=(0.075, 0.1))
    density = np.full(MESH.n_cells, 1000.0)
    density[end] += hung / MESH.volumes[end].sum()
    return sp.Body(MESH, sp.StVK(young=2e5, poisson=0.3, density=density), fixed=MESH.where(x=0))


def measured(true: Experiment, damping: sp.Damping, newtons: float = 0.2) -> RingDown:
    """What a camera of 160 Hz sees of the full body that is let go from below."""
    bend = sp.static_shape(true.body, 1e-3 * true.push)
    load = true.body.mass_times(bend)
    load *= -newtons / load[:, 2].sum()  # [N]; near to how the slowest swing itself loads it
    pulled = sp.static_shape(true.body, load, gravity=true.gravity)
    sim = sp.Simulation(
        true.body, damping=damping, integrator=sp.Bathe(), dt=1 / 160, gravity=true.gravity
    )
    sim.state.u = pulled
    return RingDown.from_motion(sim.run(1.0), TIP, (0, 0, 1))


@pytest.fixture(scope="module")
def anything() -> RingDown:
    t = np.arange(0, 2, 0.01)
    return RingDown(t, 0.01 * np.cos(40 * t) * np.exp(-t))


@pytest.fixture(scope="module")
def experiments(anything) -> list[Experiment]:
    """Two measured beams, the second with a weight; their bodies are still too soft."""
    found = []
    for hung in (0.0, 0.04):
        guess = Experiment(anything, body(hung), TIP, (0, 0, 2.0), GRAVITY)
        true = guess.stiffened(FACTOR)
        rest = sp.static_shape(true.body, gravity=GRAVITY)
        damping = ExampleDamping(BASE, [], overall=CURVE, about=rest)
        found.append(replace(guess, measured=measured(true, damping)))
    return found


@pytest.mark.verify
def test_known_stiffness_and_curve_are_found(experiments):
    steps = []
    fit = fit_ring_down(
        experiments, points=4, seconds=0.8, progress=lambda *call: steps.append(call[:2])
    )
    assert fit.young_factor == pytest.approx(FACTOR, rel=0.01)
    for ours, linear in zip(fit.designed.matches, fit.rayleigh.matches, strict=True):
        assert abs(ours.frequency) < 0.005
        assert ours.envelope < 0.02
        assert linear.envelope > 2 * ours.envelope
    for each in experiments:
        w = 2 * np.pi * each.measured.frequency
        true, found = (base.mass + base.stiffness * w**2 for base in (BASE, fit.base))
        np.testing.assert_allclose(
            found * over_a_cycle(fit.curve, SWINGS), true * over_a_cycle(CURVE, SWINGS), rtol=0.05
        )
    assert len(steps) == fit.runs + 1
    assert all(done < total for done, total in steps[:-1])
    assert steps[-1][0] == steps[-1][1]
    assert fit.damping(experiments[0].body.mesh.vertices).overall == fit.curve


def test_curve_along_an_example(anything):
    guess = Experiment(anything, body(), TIP, (0, 0, 1))
    bend = sp.static_shape(guess.body, 1e-3 * guess.push)
    bend /= bend[TIP, 2].mean()  # excitations are metres at the tip
    base = sp.Rayleigh(stiffness=1e-3)
    curve = Curve.linear([(3e-4, 4.0), (2e-3, 0.6)])
    ring = measured(guess, ExampleDamping(base, [Example(bend, curve)]), newtons=0.06)
    fit = fit_ring_down([replace(guess, measured=ring)], example=bend, points=4, seconds=0.8)
    assert fit.young_factor == pytest.approx(1.0, rel=0.01)
    assert fit.base.mass == 0
    (ours,), (linear,) = fit.designed.matches, fit.rayleigh.matches
    assert ours.envelope < 0.01
    assert linear.envelope > 3 * ours.envelope
    swings = np.array([1e-3, 1.5e-3, 2e-3])  # between its first and its last
    np.testing.assert_allclose(
        fit.base.stiffness * over_a_cycle(fit.curve, swings),
        base.stiffness * over_a_cycle(curve, swings),
        rtol=0.08,
    )
    (example,) = fit.damping().examples
    assert example.curve == fit.curve
    np.testing.assert_array_equal(example.shape, bend)


def test_trial_repeats_the_full_simulation(experiments):
    """The model that the search moves has the envelope of the body that was measured."""
    true = experiments[1].stiffened(FACTOR)
    trial = Trial(true, seconds=0.8)
    damping = ExampleDamping(BASE, [], overall=CURVE, about=trial.rest)
    trial.calibrate(trial.run(damping))
    match = compare_ring_downs(trial.run(damping), true.measured, seconds=0.8)
    assert abs(match.frequency) < 0.001  # the recording has 40 samples a cycle
    assert match.envelope < 0.003


def test_bad_input_says_what_is_wrong(anything):
    refused("no experiments given", fit_ring_down, [])
    refused("an experiment is 3", fit_ring_down, [3])
    refused("give at least one vertex", Experiment, anything, body(), [], (0, 0, 1))
    refused("a direction that is not zero", Experiment, anything, body(), TIP, (0, 0, 0))
    loose = sp.Body(MESH, sp.StVK(young=1e5, poisson=0.3))
    refused("needs a body that is held in place", Experiment, anything, loose, TIP, (0, 0, 1))
    t = anything.times
    growing = RingDown(t, 1e-3 * np.cos(40 * t) * np.exp(t))
    grown = Experiment(growing, body(), TIP, (0, 0, 1))
    refused("experiment 0 does not die away", fit_ring_down, [grown])
    slow = RingDown(10 * t, anything.displacements)
    with pytest.raises(sp.InputError, match=r"0\.637 Hz, at least 5 .* give seconds= of 3\.5 or"):
        fit_ring_down([Experiment(slow, body(), TIP, (0, 0, 1))])
    millimetres = RingDown(anything.times, 1e3 * anything.displacements)
    words = r"swings by 10 m, more than .* check its units"
    refused(words, Experiment, millimetres, body(), TIP, (0, 0, 1))
