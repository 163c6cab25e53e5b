"""Turns as quaternions, against SciPy's rotations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

from supple.character.skeleton.rig import quaternion_matrices, slerp

rng = np.random.default_rng(0)


def at_random(*shape: int) -> np.ndarray:
    return rng.standard_normal((*shape, 4))


def test_matrices_of_turns_of_any_length() -> None:
    turns = at_random(3, 5)
    expected = Rotation.from_quat(turns.reshape(-1, 4)).as_matrix().reshape(3, 5, 3, 3)
    np.testing.assert_allclose(quaternion_matrices(turns), expected, atol=1e-15)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-6, 1e-3, 1.0, 3.0, np.pi - 1e-6, 4.0])
def test_turns_between_two_go_the_short_way_at_an_even_rate(angle: float) -> None:
    start = Rotation.from_quat(at_random())
    end = start * Rotation.from_rotvec(angle * np.array([0.6, 0.0, 0.8]))
    share = np.linspace(0.0, 1.0, 11)
    expected = Slerp([0.0, 1.0], Rotation.concatenate([start, end]))(share)
    found = slerp(start.as_quat(), -2 * end.as_quat(), share)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-15)
    np.testing.assert_allclose(quaternion_matrices(found), expected.as_matrix(), atol=1e-9)


def test_ends_are_met() -> None:
    start, end = at_random(7), at_random(7)
    for share, there in ((0.0, start), (1.0, end)):
        found = slerp(start, end, np.full(7, share))
        np.testing.assert_allclose(
            quaternion_matrices(found), quaternion_matrices(there), atol=1e-15
        )
