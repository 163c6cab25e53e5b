"""How far Newton's method goes in a step between barriers."""

from __future__ import annotations

import numpy as np
import pytest
from tests.contact.cards import leaning
from tests.helpers import stepped

from supple.solvers.line_search import LineSearch

pytest.importorskip("ipctk")


@pytest.mark.parametrize(
    ("friction", "dt", "most"), [(0.9, 0.025, 130), (0.9, 0.01, 160), (0.3, 0.025, 270)]
)
def test_cards_find_their_stand_in_few_iterations(friction, dt, most):
    """It took 192, 304 and 317 where steps were halved until forces were nearer to balance."""
    sim = stepped(leaning(friction, dt), 8)
    assert sim.stats.total.iterations < most
    assert sim.stats.total.substeps == 8


def test_no_step_between_barriers_goes_uphill(monkeypatch):
    found = []
    along = LineSearch.along

    def watched(self, here, step, **how):
        barriers = self._problem.active_set.has_barriers
        there = along(self, here, step, **how)
        if barriers and there is not None:
            rounding = here.potential_rounding
            found.append((here.potential - there.lagged_potential(here)) / rounding)
        return there

    monkeypatch.setattr(LineSearch, "along", watched)
    stepped(leaning(0.9, 0.01), 4)
    assert len(found) > 20
    assert min(found) >= -1.0


def test_a_step_that_runs_into_a_barrier_ends_near_it(monkeypatch):
    """Not half way to it, where the next direction would know as little of it."""
    gone = []
    along = LineSearch.along

    def watched(self, here, step, **how):
        there = along(self, here, step, **how)
        length = np.vdot(there.u - here.u, step) / np.vdot(step, step)
        gone.append((self.free, length / self.free))
        return there

    monkeypatch.setattr(LineSearch, "along", watched)
    leaning(0.9, 0.025).step()
    free, share = gone[0]
    assert free < 0.5
    assert 0.9 < share < 1.0
