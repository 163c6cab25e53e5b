"""Ring-downs: what is read from a record, against closed forms and the measured beam."""

from __future__ import annotations

import numpy as np
import pytest
from tests.refusals import refused

import supple as sp
from supple.design.ringdown.ringdown import RingDown, compare_ring_downs

REST = 0.02
T = np.arange(0, 2, 0.01)


def swing(t, frequency=4.0, zeta=0.05, amplitude=0.01, rest=REST):
    """A body let go at t = 0 without velocity."""
    w = 2 * np.pi * frequency
    root = np.sqrt(1 - zeta**2)
    phase = w * root * t
    return rest + amplitude * np.exp(-zeta * w * t) * (np.cos(phase) + zeta / root * np.sin(phase))


@pytest.mark.parametrize("zeta", [0.005, 0.05, 0.1])
@pytest.mark.parametrize("rate", [80, 1000])
def test_closed_form_is_read_back(zeta, rate):
    t = np.arange(0, 3, 1 / rate)
    ring = RingDown(t, swing(t, zeta=zeta))
    assert ring.start == pytest.approx(0, abs=2e-3)
    assert ring.frequency == pytest.approx(4.0 * np.sqrt(1 - zeta**2), rel=5e-4)
    assert ring.ratio == pytest.approx(zeta, rel=2e-3)
    np.testing.assert_allclose(ring.decay.ratios, zeta, rtol=0.05)  # samples miss the very tops
    w = 2 * np.pi * 4.0
    early = t[t < 1]
    np.testing.assert_allclose(ring.envelope(early), 0.01 * np.exp(-zeta * w * early), rtol=0.005)
    if zeta == 0.1:  # has settled by then
        assert ring.rest == pytest.approx(REST, abs=1e-6)


def test_creep_of_the_rest_does_not_look_like_damping():
    ours, theirs = RingDown(T, swing(T)).decay, RingDown(T, swing(T) - 0.002 * T).decay
    count = min(len(ours.ratios), len(theirs.ratios), 8)
    np.testing.assert_allclose(theirs.ratios[:count], ours.ratios[:count], atol=0.002)


def test_noise_makes_no_turning_points():
    t = np.arange(0, 2, 0.001)
    noise = 2e-5 * np.random.default_rng(1).normal(size=len(t))
    ring = RingDown(t, swing(t) + noise, smallest=0.02)
    assert ring.frequency == pytest.approx(4.0, rel=0.005)
    assert ring.ratio == pytest.approx(0.05, rel=0.03)
    np.testing.assert_array_equal(np.sign(np.diff(ring.turns[1]))[::2], -1)  # down, up, down, …


def test_damping_that_depends_on_amplitude_is_seen():
    """Dry friction takes the same from every swing: ζ = f / A where A falls by f a radian."""
    t = np.arange(0, 2.5, 0.002)
    w, lost = 2 * np.pi * 4.0, 1.5e-4
    amplitude = 0.01 - lost * w * t
    inside = amplitude > 5e-4
    decay = RingDown(t[inside], (amplitude * np.cos(w * t))[inside]).decay
    middle = slice(3, -6)
    np.testing.assert_allclose(decay.ratios[middle], lost / decay.amplitudes[middle], rtol=0.05)
    assert decay.ratios[-4] > 2 * decay.ratios[3]


def test_sinusoid_fits_its_own_record():
    fit = RingDown(T, swing(T)).fit(0.1, 1.6)
    assert fit.frequency == pytest.approx(4.0, rel=1e-6)
    assert fit.ratio == pytest.approx(0.05, rel=1e-6)
    np.testing.assert_allclose(fit(T), swing(T), atol=1e-9)


def test_comparison_of_known_differences():
    t = np.arange(0, 2.5, 0.002)
    measured = RingDown(t, swing(t))
    same = compare_ring_downs(measured, RingDown(t + 3.0, swing(t) + 1.0))
    assert abs(same.frequency) < 1e-9
    assert same.envelope < 1e-9
    faster = compare_ring_downs(RingDown(t, swing(t, 4.08, 0.05 / 1.02)), measured)
    assert faster.frequency == pytest.approx(0.02, abs=1e-3)
    assert faster.envelope < 2e-3
    larger = compare_ring_downs(RingDown(t, swing(t, amplitude=0.011)), measured)
    assert larger.envelope == pytest.approx(0.1, abs=1e-3)
    assert larger.pointwise == pytest.approx(0.1, abs=1e-3)


def test_comparison_over_too_few_swings_names_seconds():
    t = np.arange(0, 6, 0.01)
    slow = RingDown(t, swing(t, frequency=0.8))
    refused(r"3 turning points .* give seconds= of 2\.8 or more", compare_ring_downs, slow, slow)
    assert compare_ring_downs(slow, slow, seconds=2.8).envelope == 0


def test_motion_of_a_mode_rings_as_rayleigh_says():
    mesh = sp.HexMesh.box(size=(1.0, 0.1, 0.1), cells=(6, 1, 1))
    body = sp.Body(mesh, sp.StVK(young=1e6, poisson=0.3), fixed=mesh.where(x=0))
    modes = sp.vibration_modes(body, 2)
    f, tip = modes.frequencies[0], mesh.where(x=1.0)
    up = modes.shapes[0][tip].mean(axis=0)
    sim = sp.Simulation(
        body, damping=sp.Rayleigh(stiffness=0.08 / (2 * np.pi * f)), dt=1 / (60 * f)
    )
    sim.state.u = 1e-4 * modes.shapes[0] / np.abs(modes.shapes[0]).max()
    ring = RingDown.from_motion(sim.run(5 / f), tip, up)
    assert ring.frequency == pytest.approx(f, rel=2e-3)
    assert ring.ratio == pytest.approx(0.04, rel=0.01)


# -- what cannot be read ------------------------------------------------------------------------


def test_bad_records_say_what_is_wrong():
    back = T.copy()
    back[7] = back[5]
    refused(r"times goes from 0\.06 s to 0\.05 s at sample 7", RingDown, back, swing(T))
    refused(r"displacements has shape \(199,\)", RingDown, T, swing(T)[1:])
    for silent in (np.exp(-T), np.zeros_like(T), T**2):
        refused("turning points found", getattr, RingDown(T, silent), "frequency")
    refused("0 samples lie between 5 s and 6 s", RingDown(T, swing(T)).between, 5, 6)


# -- the measured beam -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "release", "frequency", "ratio"),
    [("gravity", 0.72, 7.73, 0.050), ("load52", 0.44, 4.35, 0.057), ("load101", 0.52, 3.37, 0.061)],
)
def test_measured_silicone_beam(assets, name, release, frequency, ratio):
    """Sinusoids fitted over 1.75 s from 50 ms after the release, as published with the data."""
    path = assets / "measured" / f"silicone_{name}.csv"
    ring = RingDown.read_csv(path, time="time_s", value="m0_up")
    fit = ring.fit(release + 0.05, release + 1.80)
    assert fit.frequency == pytest.approx(frequency, abs=0.015)
    assert fit.ratio == pytest.approx(ratio, abs=0.0015)
    assert ring.first(1.5).frequency == pytest.approx(frequency, rel=0.005)
    assert release + 0.04 < ring.start < release + 0.16  # half a swing after the release
    assert ring.rest == pytest.approx(ring.displacements[-50:].mean(), abs=1e-4)
    # markers beside each other tell the same
    other = RingDown.read_csv(path, value="m1_up")
    match = compare_ring_downs(other, ring)
    assert abs(match.frequency) < 0.005
    assert match.envelope < 0.07
