"""How a step of a reduced model is solved: the guess, when to stop, and what a failure leaves."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple._kernels.reduction.newton import SHORTENED, remaining_error
from supple.reduction.runtime.stage_table import StageTable

TIGHT = sp.DenseNewton(tolerance=1e-13, max_iterations=60)


@pytest.mark.parametrize("rule", [sp.Bathe, sp.TRBDF2])
def test_the_guess_follows_a_parabola(rule):
    dt = 0.1
    table = StageTable.of(rule(), dt, start=False)

    def path(t: float) -> float:
        return 3.0 - 2.0 * t + 7.0 * t**2

    known = np.zeros(table.vectors)
    known[0], known[3], known[6] = path(0.0), path(-dt), path(table.times[0] - dt)
    for s, time in enumerate(table.times):
        assert table.w_curved_guess[s] @ known == pytest.approx(path(time), rel=1e-12)
        assert table.w_curved_guess[s, ::3].sum() == pytest.approx(1.0, rel=1e-12)
        known[6 + 3 * s] = path(time)


@pytest.mark.parametrize("rule", [sp.Newmark, sp.BDF2, sp.BackwardEuler])
def test_rules_of_one_stage_guess_along_a_line(rule):
    for start in (True, False):
        table = StageTable.of(rule(), 0.1, start=start)
        assert np.array_equal(table.w_curved_guess, table.w_guess)


def test_what_is_still_to_come():
    assert remaining_error(1e-3, -1.0) == 1e-3  # the first correction tells nothing
    assert remaining_error(1e-3, 2e-3) == 1e-3  # nor one that is hardly smaller
    assert remaining_error(1e-5, SHORTENED) == 1e-5  # nor one after a shortened one
    assert remaining_error(1e-5, 1e-2) == pytest.approx(3e-8)
    assert remaining_error(0.09, 1.0) <= 0.09


@pytest.mark.parametrize("rule", [sp.Newmark, sp.Bathe, sp.BackwardEuler])
def test_a_step_is_solved_to_its_tolerance(model, tip, rule):
    """Every step of a large motion, against the same step solved to rounding."""
    options = {"damping": sp.Rayleigh(mass=0.3, stiffness=2e-3), "dt": 1 / 60, "integrator": rule()}
    live = model.simulation(**options)
    live.run_steps(30, force=model.pull(tip, (0.0, 8.0, -16.0)))
    assert np.abs(live.displacements()).max() > 0.1
    coarse, fine = model.simulation(**options), model.simulation(**options, solver=TIGHT)
    for _ in range(30):
        for each in (coarse, fine):
            each.q, each.v = live.q, live.v
            each.run_steps(2)
        assert np.abs(coarse.q - fine.q).max() < 1e-5 * np.abs(fine.q).max()
        live.step()


@pytest.mark.parametrize("rule", [sp.Bathe, sp.TRBDF2, sp.Newmark])
def test_after_a_step_that_failed_the_motion_goes_on(model, tip, rule):
    options = {"damping": sp.Rayleigh(stiffness=1e-3), "dt": 1 / 60, "integrator": rule()}
    live, other = (model.simulation(**options, solver=TIGHT) for _ in range(2))
    pull = model.pull(tip, (0.0, 2.0, -4.0))
    for each in (live, other):
        each.run_steps(10, force=pull)
    with pytest.raises(sp.StepFailed):
        live.step(force=1e200 * pull)
    for each in (live, other):
        each.run_steps(10, force=pull)
    np.testing.assert_allclose(live.q, other.q, rtol=0, atol=1e-9)
