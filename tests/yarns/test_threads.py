"""Loops over yarns in threads: the same sums."""

from __future__ import annotations

import numpy as np
import pytest
from tests.yarns.cases import bent, cloth, rates

from supple.yarns import YarnDamping
from supple.yarns import coloring as sharing
from supple.yarns.coloring import ColoredCells
from supple.yarns.stages import YarnStage, YarnState
from supple.yarns.step import StepPotential


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_shares_have_no_node_in_common(threads, monkeypatch):
    monkeypatch.setattr(sharing, "thread_count", lambda: threads)
    monkeypatch.setattr(sharing, "_WORTH_A_THREAD", 5)
    corners = cloth(9, 8).net.corners
    shares = ColoredCells(72, corners)
    ordered = shares.nodes
    assert sorted(ordered.tolist()) == sorted(corners.tolist())
    seen: list[tuple[int, set[int]]] = []
    shares.run(lambda part: seen.append((part.start, set(ordered[part].ravel().tolist()))))
    *apart, _across = (nodes for _, nodes in sorted(seen, key=lambda each: each[0]))
    assert len(apart) == threads
    assert len(set().union(*apart)) == sum(map(len, apart))
    assert shares.total(lambda part: part.stop - part.start) == len(corners)


def test_threads_give_the_same_step(monkeypatch):
    monkeypatch.setattr(sharing, "_WORTH_A_THREAD", 5)
    found = []
    for threads in (1, 2, 3):
        monkeypatch.setattr(sharing, "thread_count", threads.__int__)
        body = cloth(9, 8)
        q, v = bent(body), rates(body)
        start = YarnState(0.0, q, v, body.kinetic(q, v)[1])
        damping = YarnDamping(stretch=0.01, bending=0.1, shear=0.01)
        stage = YarnStage.backward_euler(start, 1e-3, 1e-3)
        step = StepPotential(body, damping, np.array([0, 0, -9.81]), stage)
        gradient, values = np.empty_like(q), np.empty((body.pattern.n_blocks, 5, 5))
        found.append((step.evaluate(bent(body, seed=3), gradient, values), gradient, values))
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-13 * np.abs(a).max())
