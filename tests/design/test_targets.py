"""Wishes in words and numbers."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("down to 20 % after one cycle", sp.ShareLeft(0.2)),
        ("Down to 20% after one cycle", sp.ShareLeft(0.2)),
        ("80 % left each cycle", sp.ShareLeft(0.8)),
        ("80 percent left", sp.ShareLeft(0.8)),
        ("leaves 12.5 % per cycle", sp.ShareLeft(0.125)),
        ("half-life 0.4 s", sp.HalfLife(0.4)),
        ("half-life of 400 ms", sp.HalfLife(0.4)),
        ("halves in 2 s", sp.HalfLife(2.0)),
        ("settles in 0.3 s", sp.SettlingTime(0.3)),
        ("Settles within 300 ms.", sp.SettlingTime(0.3)),
        ("settling time 0.3 s", sp.SettlingTime(0.3)),
        ("ζ = 0.05", sp.DampingRatio(0.05)),
        ("zeta=.05", sp.DampingRatio(0.05)),
        ("damping ratio 5 %", sp.DampingRatio(0.05)),
        ("ζ = 0.05 at this amplitude", sp.DampingRatio(0.05)),
        ("5 % damping", sp.DampingRatio(0.05)),
        ("2 % of critical.", sp.DampingRatio(0.02)),
        ("80 % of the amplitude left after each cycle", sp.ShareLeft(0.8)),
        ("down to 20 % after 1 cycle", sp.ShareLeft(0.2)),
        ("halved after one cycle", sp.ShareLeft(0.5)),
        ("half-life 0.4 seconds", sp.HalfLife(0.4)),
        ("half-life: 4e-1 sec", sp.HalfLife(0.4)),
    ],
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
    with pytest.raises(sp.InputError):
        sp.wish(words)


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
    with pytest.raises(sp.InputError):
        sp.Unloading(0, start, residual)
