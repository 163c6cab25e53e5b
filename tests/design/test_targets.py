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
    assert found.share(0.7) == pytest.approx(expected.share(0.7), rel=1e-12)
    assert sp.wish(str(found)).share(0.7) == pytest.approx(found.share(0.7), rel=1e-3)


@pytest.mark.parametrize(
    "words", ["", "soon", "20", "half-life", "120 % left", "0 %", "ζ = 1", "20 % after two cycles"]
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
