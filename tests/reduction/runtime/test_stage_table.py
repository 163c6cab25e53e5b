"""Integrators as tables: the weights reproduce the rule."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reduction.conftest import every_rule

from supple.integrators import State
from supple.reduction.runtime.stage_table import StageTable


class TestStageTable:
    @every_rule
    def test_weights_reproduce_the_rule(self, rule):
        rng = np.random.default_rng(0)
        now, before = (State(t, *rng.normal(size=(3, 4))) for t in (0.0, -0.1))
        table = StageTable.of(rule(), 0.1, start=False)
        vectors = [now.u, now.v, now.acceleration, before.u, before.v, before.acceleration]
        stages = rule().stages(now, before, 0.1)
        stage = next(stages)
        for s in range(len(table.c_v)):
            history = np.array(vectors + [np.zeros(4)] * (table.vectors - len(vectors)))
            assert np.allclose(table.w_v[s] @ history, stage.u_v)
            assert np.allclose(table.w_a[s] @ history, stage.u_a)
            guess = table.w_guess[s] @ history
            assert np.allclose(table.v_of_guess[s] @ history, stage.velocity(guess))
            assert np.allclose(table.a_of_guess[s] @ history, stage.acceleration(guess))
            assert (table.c_v[s], table.c_a[s]) == (stage.c_v, stage.c_a)
            solution = stage.state(rng.normal(size=4))
            vectors += [solution.u, solution.v, solution.acceleration]
            if s + 1 < len(table.c_v):
                stage = stages.send(solution)
        with pytest.raises(StopIteration):
            stages.send(solution)

    @every_rule
    def test_guesses_go_on_in_a_straight_line(self, rule):
        table = StageTable.of(rule(), 0.1, start=False)
        places = 2.0 - 3.0 * np.concatenate([[0.0, -0.1], table.times])  # a uniform motion
        history = np.zeros(table.vectors)
        history[::3] = places
        assert np.allclose(table.w_guess @ history, places[2:])
        start = StageTable.of(rule(), 0.1, start=True)
        assert start.w_guess[0, 0] == 1.0
        assert not start.w_guess[0, 1:].any()

    @every_rule
    def test_only_trapezoids_keep_rates_that_displacements_do_not_bear_out(self, rule):
        table = StageTable.of(rule(), 0.1, start=False)
        assert table.keeps_rates == (rule.__name__ in ("Newmark", "Trapezoidal"))
