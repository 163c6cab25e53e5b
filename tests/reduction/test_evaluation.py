"""The evaluation of the paper (§7) on a coarse spoon; the figure in the guide runs it in full."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reduction import spoon_evaluation as ev

import supple as sp

SIZE = 12


@pytest.fixture(scope="module")
def case() -> ev.Struck:
    return ev.struck_spoon(resolution=30, peak=3.0, dt=2e-3, duration=0.5)


@pytest.fixture(scope="module")
def full(case: ev.Struck) -> np.ndarray:
    return ev.full_motion(case)


def errors(case: ev.Struck, full: np.ndarray, basis: sp.Basis) -> ev.Errors:
    height = ev.reduced_motion(case, basis) @ basis.vectors[:, case.tip, 2]
    return ev.errors(case.times, full[:, case.tip, 2], height)


@pytest.mark.verify
def test_strike_goes_deep_into_the_nonlinear_range(case, full):
    height = full[:, case.tip, 2]
    assert np.abs(height).max() > 0.5 * ev.LENGTH
    linear = ev.errors(case.times, height, ev.linear_tip(case))
    assert linear.second > 0.1  # the linear spoon stretches and swings too far
    assert full[:, case.tip, 0].min() < -0.2 * ev.LENGTH  # the true one curls up


def test_motion_basis_gives_the_motion_again(case, full):
    found = errors(case, full, sp.motion_basis(case.body, full, SIZE))
    assert abs(found.frequency) < 1e-3
    assert found.height < 0.01


@pytest.mark.verify
def test_modal_derivatives_are_within_5_percent_and_better_than_sketching(case, full):
    derivatives = errors(case, full, sp.modal_derivative_basis(case.body, modes=6, size=SIZE))
    strokes = ev.strokes_all_round(case, reach=0.15, points=8)
    sketch = errors(case, full, sp.sketch_basis(case.body, strokes, SIZE))
    assert 0 < derivatives.frequency < 0.05
    assert abs(derivatives.first) < 0.05
    assert abs(derivatives.second) < 0.05
    assert derivatives.frequency < sketch.frequency
    assert derivatives.height < sketch.height


def test_modes_without_derivatives_lock(case, full):
    found = errors(case, full, sp.picked_basis(case.body, case.modes.shapes))
    assert found.frequency > 0.5
    assert found.first < -0.5


def test_swing_of_a_known_motion():
    t = np.linspace(0, 3, 3001)
    swing = ev.swing(t, 0.2 * np.exp(-0.1 * t) * np.sin(2 * np.pi * 1.5 * t))
    np.testing.assert_allclose(swing.crossings, np.arange(1, 9) / 3, atol=1e-6)
    assert swing.frequency(8) == pytest.approx(1.5, rel=1e-6)
    extremes = 0.2 * np.exp(-0.1 * (np.arange(8) + 0.5) / 3)
    np.testing.assert_allclose(swing.extremes, extremes, rtol=1e-3)
