"""Wishes in words and numbers."""

from __future__ import annotations

import numpy as np
import pytest
from tests.refusals import refused

import supple as sp

WISHES = (
    (sp.ShareLeft(0.2), "down to 20 % after one cycle", "Down to 20% after one cycle",
     "down to 20 % after 1 cycle"),
    (sp.ShareLeft(0.8), "80 % left each cycle", "80 percent left",
     "80 % of the amplitude left after each cycle"),
    (sp.ShareLeft(0.125), "leaves 12.5 % per cycle"),
    (sp.ShareLeft(0.5), "halved after one cycle"),
    (sp.HalfLife(0.4), "half-life 0.4 s", "half-life of 400 ms", "half-life 0.4 seconds",
     "half-life: 4e-1 sec"),
    (sp.HalfLife(2.0), "halves in 2 s"),
    (sp.ShareLeft(0.1, cycles=3), "10 % after three cycles", "down to 10 % left after 3 cycles"),
    (sp.EachCycle(0.8, cycles=3), "80 % in each of three cycles",
     "80 % left in each of the first 3 cycles"),
    (sp.SettlingTime(0.4, to=0.02), "settles to 2 % within 0.4 s"),
    (sp.Envelope([(0.5, 0.7), (1.0, 0.3)]), "70 % after 0.5 s, 30 % after 1 s",
     "70 % left after 500 ms and 30 % after 1 s"),
    (sp.Envelope([(1, 0.7), (3, 0.3)], unit="cycles"), "70 % after one cycle, 30 % after 3 cycles"),
    (sp.Envelope([(0.5, 0.7)]), "70 % after 0.5 s"),
    (sp.SettlingTime(0.3), "settles in 0.3 s", "Settles within 300 ms.", "settling time 0.3 s"),
    (sp.DampingRatio(0.05), "ζ = 0.05", "zeta=.05", "damping ratio 5 %", "5 % damping",
     "ζ = 0.05 at this amplitude"),
    (sp.DampingRatio(0.02), "2 % of critical."),
)  # fmt: skip


@pytest.mark.parametrize(
    ("words", "expected"), [(words, wish) for wish, *said in WISHES for words in said]
)
def test_words(words, expected):
    found = sp.wish(words)
    assert type(found) is type(expected)
    assert found == expected
    assert sp.wish(str(found)).share(0.7) == pytest.approx(found.share(0.7), rel=1e-3)
    assert sp.wish(found.in_words(15)).aims(0.7) == found.aims(0.7)


@pytest.mark.parametrize(
    "words",
    [
        "",
        "soon",
        "20",
        "half-life",
        "120 % left",
        "0 %",
        "ζ = 1",
        "20 % after 0 cycles",
        "30 % after 1 s, 70 % after 2 s",
        "70 % after one cycle, 30 % after 2 s",
        "like no.csv",
        "20 % in each of some cycles",
    ],
)
def test_words_not_understood(words):
    refused(".", sp.wish, words)


def test_shares():
    """One decay said in four ways."""
    zeta, period = 0.05, 0.8
    share = np.exp(-2 * np.pi * zeta / np.sqrt(1 - zeta**2))
    assert sp.DampingRatio(zeta).share(period) == pytest.approx(share)
    assert sp.ShareLeft(share).share(period) == share
    assert sp.HalfLife(period * np.log(2) / -np.log(share)).share(period) == pytest.approx(share)
    settled = sp.SettlingTime(period * np.log(20) / -np.log(share))
    assert settled.share(period) == pytest.approx(share)
    assert settled.share(settled.seconds) == pytest.approx(0.05)


def test_unloading():
    target = sp.Unloading(0, 1.6, 0.75)
    assert target.wanted(0.3) == 0.75
    assert sp.Unloading("ear", 2.0, "80 % left").wanted(0.3) == pytest.approx(1.6)
    assert sp.Unloading(0, 2.0, sp.HalfLife(0.3)).wanted(0.6) == pytest.approx(0.5)
    assert "1.6" in str(target)
    assert "ear" in str(sp.Unloading("ear", 2.0, "80 % left"))


@pytest.mark.parametrize(
    ("start", "residual"), [(0.0, 0.1), (-1.0, 0.1), (1.0, 0.0), (1.0, 1.0), (1.0, 2.0), (1.0, "x")]
)
def test_bad_unloading(start, residual):
    refused(".", sp.Unloading, 0, start, residual)


def test_moments():
    """What each wish asks for, and when."""
    three = sp.wish("80 % in each of three cycles").aims(0.7)
    assert [(aim.when, aim.share, aim.each) for aim in three] == [(k, 0.8, True) for k in (1, 2, 3)]
    (late,) = sp.wish("settles to 2 % in 0.4 s").aims(0.7)
    assert (late.when, late.unit, late.share) == (0.4, "s", 0.02)
    (third,) = sp.wish("10 % after three cycles").aims(0.7)
    assert (third.when, third.unit, third.share) == (3, "cycles", 0.1)


def test_a_recording_as_a_wish(tmp_path):
    """A known decay, read back from its envelope at six moments."""
    t = np.linspace(0, 3, 900)
    x = 0.02 * np.exp(-0.9 * t) * np.cos(2 * np.pi * 3 * t)
    np.savetxt(tmp_path / "ring.csv", np.stack([t, x], axis=1))
    found = sp.Envelope.recorded(tmp_path / "ring.csv")
    assert len(found.points) == 6
    for when, share in found.points:
        assert share == pytest.approx(np.exp(-0.9 * when), rel=0.02)
    assert found.share(1 / 3) == pytest.approx(np.exp(-0.3), rel=0.02)
    wished = sp.wish(f"like {tmp_path / 'ring.csv'}")
    assert wished.points == found.points
    short = sp.Envelope.recorded(tmp_path / "ring.csv", seconds=1.0)
    assert short.points[-1][0] == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize(
    ("points", "options"),
    [([], {}), ([(1.0, 1.2)], {}), ([(0.0, 0.5)], {}), ([(1, 0.5), (2, 0.6)], {}), (3, {}),
     ([(1.5, 0.5)], {"unit": "cycles"}), ([(1.0, 0.5)], {"unit": "minutes"})],
)  # fmt: skip
def test_bad_envelopes(points, options):
    refused(".", sp.Envelope, points, **options)
