"""Block patterns that grow."""

from __future__ import annotations

import numpy as np

from supple.core import sparse
from supple.core.sparse import BlockPattern, GrowingPattern


def chain(n: int = 6) -> BlockPattern:
    return BlockPattern.of_cells(np.stack([np.arange(n - 1), np.arange(1, n)], axis=1), n)[0]


def test_blocks_are_added_where_they_belong_and_room_is_kept():
    own, n = chain(), 6
    growing = GrowingPattern(own)
    rng = np.random.default_rng(0)
    values = rng.normal(size=(own.n_blocks, 3, 3))
    values[own.rows == own.cols] += values[own.rows == own.cols].transpose(0, 2, 1)

    def dense(keys: np.ndarray, blocks: np.ndarray) -> np.ndarray:
        full = own.full(values).toarray()
        for key, block in zip(keys, blocks, strict=True):
            i, j = divmod(int(key), n)
            full[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] += block
            if i != j:
                full[3 * j : 3 * j + 3, 3 * i : 3 * i + 3] += block.T
        return full

    patterns = []
    for keys in ([3, 3, 1], [4], [3, 10], [5, 15]):  # 0–3 twice and 0–1; 0–4; 0–3, 1–4; 0–5, 2–3
        blocks = rng.normal(size=(len(keys), 3, 3))
        total = growing.sum(values, np.array(keys), blocks, lambda: np.array([4, 10]))
        assert np.allclose(growing.pattern.full(total).toarray(), dense(np.array(keys), blocks))
        patterns.append(growing.pattern)
    assert patterns[0] is patterns[1] is patterns[2]  # there was room
    assert patterns[3] is not patterns[0]
    kept = own.full(values).toarray()
    assert np.allclose(growing.pattern.full(growing.widened(values)).toarray(), kept)


def test_room_that_is_too_large_is_given_up():
    own, n = chain(40), 40
    growing, none = GrowingPattern(own), np.zeros(0, dtype=np.int64)
    values, block = np.zeros((own.n_blocks, 3, 3)), np.zeros((1, 3, 3))
    crowd = np.arange(3, n)  # vertex 0 with all
    growing.sum(values, crowd, np.zeros((len(crowd), 3, 3)), lambda: none)
    growing.sum(values, np.array([n + 5]), block, lambda: none)
    assert growing.pattern.n_blocks == own.n_blocks + len(crowd) + 1  # half as much again
    more = n + np.arange(4, n)  # and vertex 1
    growing.sum(values, more, np.zeros((len(more), 3, 3)), lambda: none)
    growing.sum(values, np.array([2 * n + 9]), block, lambda: none)
    assert growing.pattern.n_blocks == own.n_blocks + 1


def test_large_patterns_have_no_room_that_is_not_needed(monkeypatch):
    """Beyond some size a factor of what is not there costs more than another analysis."""
    monkeypatch.setattr(sparse, "_LARGE", 30)
    own, n = chain(40), 40
    growing, block = GrowingPattern(own), np.zeros((1, 3, 3))
    values, asked = np.zeros((own.n_blocks, 3, 3)), []

    def reserve() -> np.ndarray:
        asked.append(1)
        return np.array([7])

    assert growing.pattern.passing == 0
    growing.sum(values, np.array([3]), block, reserve)
    assert asked
    assert growing.pattern.passing == 2  # few: room costs little
    many = np.concatenate([np.arange(3, n), n + np.arange(4, n), 2 * n + np.arange(5, n)])
    growing.sum(values, many, np.zeros((len(many), 3, 3)), reserve)
    assert len(asked) == 1
    assert growing.pattern.passing == len(many)
    growing.sum(values, np.array([3]), block, reserve)  # and is given back
    assert len(asked) == 2
    assert growing.pattern.passing == 2


def test_room_for_many_that_are_near_stays_while_few_are_there(monkeypatch):
    monkeypatch.setattr(sparse, "_LARGE", 30)
    own, n = chain(40), 40
    growing, block = GrowingPattern(own), np.zeros((1, 3, 3))
    values = np.zeros((own.n_blocks, 3, 3))
    wide = np.concatenate([i * n + np.arange(i + 2, n) for i in range(7)])[:200]
    growing.sum(values, np.array([3]), block, lambda: wide)
    made = growing.pattern
    assert made.n_blocks > 2 * own.n_blocks
    growing.sum(values, np.array([3]), block, lambda: wide)
    growing.sum(values, np.array([n + 5]), block, lambda: wide)
    assert growing.pattern is made


def test_products_are_those_of_the_whole_matrix_in_any_number_of_parts(monkeypatch):
    rng = np.random.default_rng(1)
    own = chain(50).with_keys(np.array([4, 17, 2 * 50 + 40, 30 * 50 + 44]))
    values, x = rng.normal(size=(own.n_blocks, 3, 3)), rng.normal(size=(50, 3))
    values[own.rows == own.cols] += values[own.rows == own.cols].transpose(0, 2, 1)
    expected = (own.full(values) @ x.ravel()).reshape(50, 3)
    for blocks in (1000, 40, 9, 1):
        monkeypatch.setattr(sparse, "_BLOCKS_OF_A_PART", blocks)
        parts = BlockPattern(own.indptr, own.cols)
        np.testing.assert_allclose(parts.multiply(values, x), expected, atol=1e-13)
