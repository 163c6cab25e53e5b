"""Room for arrays, used again."""

import gc

import numpy as np
import pytest

from supple.core.memory import aligned, aligned_room, aligned_zeros

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


def test_zeros_are_zero_in_used_room():
    used = aligned_room(64 + 16_000)
    used[:] = np.nan
    del used
    gc.collect()
    arrays = aligned_zeros(60, 0, 15_999)
    assert [len(each) for each in arrays] == [60, 0, 15_999]
    assert all(address(each) % 64 == 0 for each in arrays if len(each))
    assert not any(each.any() for each in arrays)
