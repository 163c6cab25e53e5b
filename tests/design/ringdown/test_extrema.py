"""Ring-downs as they are recorded: with noise, gaps, hum, and begun at any moment."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from tests.refusals import refused

from supple.design.ringdown.extrema import RingDownWarning
from supple.design.ringdown.ringdown import RingDown

F, ZETA = 2.0, 0.02
W = 2 * np.pi * F
T = np.linspace(0, 5, 2001)


def swing(t, *, frequency=F, zeta=ZETA, phase=0.0):
    w = 2 * np.pi * frequency
    return np.exp(-zeta * w * t) * np.cos(w * np.sqrt(1 - zeta**2) * t + phase)


def noisy(x, share, seed=0):
    return x + share * np.random.default_rng(seed).normal(size=len(x))


@pytest.fixture(autouse=True)
def warnings_are_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RingDownWarning)
        yield


def assert_read(ring, *, frequency=2e-3, ratio=0.03, amplitude=0.03):
    """Frequency, ζ and amplitude as in ``swing``, to these relative errors."""
    assert ring.frequency == pytest.approx(F, rel=frequency)
    assert ring.ratio == pytest.approx(ZETA, rel=ratio)
    assert ring.amplitude == pytest.approx(np.exp(-ZETA * W * ring.start), rel=amplitude)


def unread(words, ring):
    refused(words, getattr, ring, "frequency")


@pytest.mark.parametrize("degrees", range(0, 360, 30))
def test_record_may_begin_at_any_moment(degrees):
    ring = RingDown(T, swing(T, phase=np.radians(degrees)))
    assert_read(ring, frequency=5e-4, ratio=2e-3, amplitude=2e-3)
    np.testing.assert_allclose(ring.decay.ratios, ZETA, rtol=0.01)
    turn = np.remainder(np.radians(-degrees) - np.arcsin(ZETA), np.pi)  # where it stands still
    expected = turn - np.pi if turn > 0.9 * np.pi else turn
    assert ring.start == pytest.approx(expected / W, abs=2e-3)


@pytest.mark.parametrize("share", [0.01, 0.02, 0.05])
@pytest.mark.parametrize("seed", range(3))
def test_noise_is_borne(share, seed):
    ring = RingDown(T, noisy(swing(T), share, seed))
    assert_read(ring, frequency=0.1 * share, ratio=share, amplitude=share)
    assert len(ring.turns[0]) >= 19
    assert ring.frequency == pytest.approx(ring.fit().frequency, rel=0.1 * share)


@pytest.mark.parametrize(("samples", "error"), [(20001, 0.01), (501, 0.04), (101, 0.06)])
def test_noise_is_borne_by_fine_and_coarse_records(samples, error):
    """The coarsest has ten samples a cycle: nothing to smooth over."""
    t = np.linspace(0, 5, samples)
    assert_read(RingDown(t, noisy(swing(t), 0.02)), frequency=5e-3, ratio=error, amplitude=error)


def test_noise_takes_over_where_the_swing_ends():
    t = np.linspace(0, 30, 6001)
    ring = RingDown(t, noisy(swing(t), 0.03))
    assert_read(ring, ratio=0.05)
    last = np.exp(-ZETA * W * ring.turns[0][-1])
    assert 0.01 < last < 0.1  # the noise has 0.03


@pytest.mark.parametrize(
    ("share", "ratio", "amplitude"),
    [(0, 0.02, 0.01), (5e-4, 0.02, 0.01), (0.01, 0.05, 0.03), (0.05, 0.05, 0.03)],
)
def test_body_held_before_its_release(share, ratio, amplitude):
    h = np.maximum(T - 1.3, 0)
    ring = RingDown(T, noisy(swing(h), share))
    assert ring.start == pytest.approx(1.3 + 0.25, abs=2e-3 if share < 0.01 else 5e-3)
    assert ring.frequency == pytest.approx(F, rel=4e-3)
    assert ring.ratio == pytest.approx(ZETA, rel=ratio)
    assert ring.amplitude == pytest.approx(np.exp(-ZETA * W * 0.25), rel=amplitude)


def test_quick_vibrations_and_hum_are_smoothed_away():
    assert_read(RingDown(T, swing(T) + 0.2 * swing(T, frequency=6.3 * F)), amplitude=0.05)
    assert_read(RingDown(T, swing(T) + 0.05 * np.sin(2 * np.pi * 60 * T)))


def test_uneven_sampling_is_read():
    t = np.sort(np.random.default_rng(5).uniform(0, 5, 800))
    assert_read(RingDown(t, swing(t)), frequency=1e-3, ratio=5e-3, amplitude=5e-3)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_no_vibration_is_refused(seed):
    white = np.random.default_rng(seed).normal(size=len(T))
    unread("that stand out of the noise are needed", RingDown(T, white))
    for coloured in (np.cumsum(white), np.convolve(white, np.hanning(51), "same")):
        unread("does not swing evenly|turning points found", RingDown(T, coloured))


@pytest.mark.parametrize("times", [1.5, 2.7])
def test_two_vibrations_are_refused(times):
    both = swing(T) + swing(T, frequency=times * F)
    unread(r"does not swing evenly.* smallest=0\.2", RingDown(T, both))


def test_beats_are_warned_of():
    both = swing(T) + 0.5 * swing(T, frequency=1.2 * F)
    with pytest.warns(RingDownWarning, match=r"grows again to .* several vibrations at once"):
        assert RingDown(T, both).frequency == pytest.approx(F, rel=0.05)


def test_gap_is_refused_where_it_swings():
    def without(start, stop):
        kept = np.abs(T - (start + stop) / 2) > (stop - start) / 2
        return RingDown(T[kept], swing(T)[kept])

    unread(r"no sample between 0\.9975 s and 2\.2025 s", without(1.0, 2.2))
    assert_read(without(1.0, 1.05), amplitude=5e-3)  # a tenth of a cycle
    assert_read(without(1.0, 2.2).between(2.2, 5.0))


def test_gap_while_it_is_held_or_has_settled_does_not_matter():
    t = np.linspace(0, 40, 8001)
    x = swing(np.maximum(t - 2, 0))
    kept = ((t < 0.5) | (t > 1.5)) & ((t < 35) | (t > 36))
    ring = RingDown(t[kept], x[kept])
    assert ring.frequency == pytest.approx(F, rel=1e-3)
    assert ring.ratio == pytest.approx(ZETA, rel=5e-3)


@pytest.mark.parametrize(("zeta", "turns"), [(0.2, 8), (0.25, 6), (0.3, 5)])
def test_strong_damping_leaves_few_turning_points(zeta, turns):
    ring = RingDown(T, swing(T, zeta=zeta))
    assert len(ring.turns[0]) == turns
    assert ring.ratio == pytest.approx(zeta, rel=2e-3)
    np.testing.assert_allclose(ring.decay.ratios, zeta, rtol=2e-3)
    at = np.exp(-zeta * W * ring.decay.times) * np.sqrt(1 - zeta**2)  # beside the envelope's own
    np.testing.assert_allclose(ring.decay.amplitudes, at, rtol=0.01)


@pytest.mark.parametrize(
    "zeta",
    [lambda A: 0.01 + 0.08 * A, lambda A: 0.09 - 0.08 * A, lambda A: 0.015 / (A + 0.1)],
)
def test_ratios_are_right_from_the_first_to_the_last(zeta):
    """Also where ζ changes severalfold on the way."""
    from scipy.integrate import solve_ivp

    t = np.arange(0, 4, 1 / 400)
    A = solve_ivp(lambda _, A: -zeta(A) * W * A, (0, 4), [1.0], t_eval=t, rtol=1e-9).y[0]
    decay = RingDown(t, A * np.cos(W * t) + 0.01 * t).decay
    assert decay.ratios.max() > 1.9 * decay.ratios.min()
    np.testing.assert_allclose(decay.ratios, zeta(decay.amplitudes), rtol=0.04)
    np.testing.assert_allclose(decay.amplitudes, np.interp(decay.times, t, A), rtol=0.01)
