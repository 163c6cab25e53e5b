"""Room for arrays, used again."""

import gc
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest

from supple.core.memory import aligned, aligned_room, apart, rooms_apart, zeros_apart

COUNT = 20_011  # of a size that nothing else has


def address(array):
    return array.__array_interface__["data"][0]


@pytest.mark.parametrize("count", [1, 7, COUNT, 3_000_000])
def test_rooms_begin_where_cache_lines_do(count):
    room = aligned_room(count)
    assert room.shape == (count,)
    assert address(room) % 64 == 0


def test_room_is_used_again_once_nobody_looks_at_it():
    first = aligned_room(COUNT)
    place = address(first)
    del first
    gc.collect()
    assert address(aligned_room(COUNT)) == place


def test_room_is_kept_while_any_view_of_it_is():
    first = aligned(np.arange(float(COUNT)))
    view = first[: 2 * (COUNT // 2)].reshape(2, -1)[1][::2]
    expected = view.copy()
    del first
    gc.collect()
    others = [aligned_room(COUNT) for _ in range(8)]
    for other in others:
        other[:] = -1.0
    np.testing.assert_array_equal(view, expected)


def test_rooms_in_use_share_nothing():
    rooms = [aligned_room(COUNT) for _ in range(6)]
    assert not any(np.shares_memory(a, b) for n, a in enumerate(rooms) for b in rooms[:n])


class Pair(NamedTuple):
    one: np.ndarray
    count: int


class Nested(NamedTuple):
    pair: Pair
    flags: np.ndarray


def test_arrays_apart_are_far_from_every_other():
    value = Nested(Pair(np.arange(6.0).reshape(2, 3), 4), np.array([True, False]))
    moved = [apart(value) for _ in range(20)]
    for each in moved:
        assert isinstance(each, Nested)
        assert each.pair.count == 4
        np.testing.assert_array_equal(each.pair.one, value.pair.one)
        np.testing.assert_array_equal(each.flags, value.flags)
    arrays = [a for each in moved for a in (each.pair.one, each.flags)]
    arrays += [zeros_apart(3, 2, dtype=np.float32) for _ in range(20)]
    small = [np.zeros(2) for _ in range(50)]
    assert not any(arrays[-1].ravel())
    for n, array in enumerate(arrays):
        others = [address(other) for other in arrays[:n] + small]
        assert min(abs(address(array) - other) for other in others) >= 1024


def test_rooms_of_one_block_are_far_from_each_other():
    rooms = rooms_apart((3,), (5, 7), (0,), (1,), (64, 2))
    assert [room.shape for room in rooms] == [(3,), (5, 7), (0,), (1,), (64, 2)]
    assert all(address(room) % 64 == 0 and not room.any() for room in rooms if room.size)
    for before, after in pairwise(room for room in rooms if room.size):
        assert address(after) - (address(before) + before.nbytes) >= 1024
