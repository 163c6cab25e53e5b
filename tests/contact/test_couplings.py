"""Sums of the blocks of stencils."""

from __future__ import annotations

import numpy as np
import pytest

from supple.contact.couplings import Couplings
from supple.core.threads import set_thread_count
from supple.mesh.points import CarriedPoints

N = 30


def stencils(slots: int, some_unused: bool) -> np.ndarray:
    rng = np.random.default_rng(2)
    found = np.array([rng.permutation(N)[:slots] for _ in range(4000)])
    if some_unused:
        found[::2, -1] = -1
        found[::4, -2:] = -1
    return found


def dense(keys: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    found = np.zeros((N, N, 3, 3))
    for key, block in zip(keys, blocks, strict=True):
        row, col = divmod(int(key), N)
        assert row <= col
        found[row, col] += block
        if row != col:
            found[col, row] += block.T
    return found


def close(mine: np.ndarray, theirs: np.ndarray) -> bool:
    return bool(np.abs(mine - theirs).max() <= 1e-12 * np.abs(theirs).max())


@pytest.fixture
def points() -> CarriedPoints:
    return CarriedPoints.of_vertices(np.zeros((N, 3)))


def test_blocks_are_summed_where_they_belong(points):
    quads = stencils(4, False)
    blocks = np.random.default_rng(3).normal(size=(len(quads), 10, 3, 3))
    expected = np.zeros((N, N, 3, 3))
    for s, (a, b) in enumerate(zip(*np.triu_indices(4), strict=True)):
        if a == b:
            blocks[:, s] += blocks[:, s].transpose(0, 2, 1)
        np.add.at(expected, (quads[:, a], quads[:, b]), blocks[:, s])
        if a != b:
            np.add.at(expected, (quads[:, b], quads[:, a]), blocks[:, s].transpose(0, 2, 1))
    found = Couplings(points, quads)
    assert (np.diff(found.keys) > 0).all()
    assert close(dense(found.keys, found.of_blocks(blocks)), expected)


def test_products_are_summed_where_they_belong_whatever_the_number_of_threads(points):
    six, rng = stencils(6, True), np.random.default_rng(4)
    J, H = rng.normal(size=(len(six), 6, 2, 3)), rng.normal(size=(len(six), 2, 2))
    H += H.transpose(0, 2, 1)
    expected = np.zeros((N, N, 3, 3))
    for a in range(6):
        for b in range(6):
            used = (six[:, a] >= 0) & (six[:, b] >= 0)
            block = np.einsum("kpi,kpq,kqj->kij", J[used, a], H[used], J[used, b])
            np.add.at(expected, (six[used, a], six[used, b]), block)
    sums = []
    try:
        for threads in (1, 2, 3):
            set_thread_count(threads)
            found = Couplings(points, six)
            sums.append(found.of_products(J, H))
    finally:
        set_thread_count(0)
    assert close(dense(found.keys, sums[0]), expected)
    for other in sums[1:]:
        np.testing.assert_array_equal(sums[0], other)


def test_nothing_couples_nothing(points):
    none = Couplings(points, np.zeros((0, 4), dtype=np.int64))
    assert len(none.keys) == 0
    assert none.of_blocks(np.zeros((0, 10, 3, 3))).shape == (0, 3, 3)
