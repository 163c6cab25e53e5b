"""Compiled skinning against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from supple._kernels.character import skinning


def test_squeezed_directions_fade_without_a_jump() -> None:
    least = skinning.COLLAPSED
    sizes = np.array([0.0, 0.5 * least, least - 1e-9, least + 1e-9, 1.0])
    A = np.array([np.diag([1.0, 1.0, size]) for size in sizes])
    out = np.empty((5, 3))
    skinning.undo(A, np.ones((5, 3)), out)
    assert out[:, :2] == pytest.approx(1.0)
    assert out[:, 2] == pytest.approx([0.0, 0.5 / least, 1 / least, 1 / least, 1.0], rel=1e-6)
    skinning.undo(np.zeros((1, 3, 3)), np.ones((1, 3)), out[:1])
    assert (out[0] == 0).all()


@pytest.mark.parametrize("squeeze", [1.0, 0.3, 0.05, 1e-3, 0.0])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_nearest_rotations_are_those_of_the_polar_decomposition(squeeze, size):
    rng = np.random.default_rng(0)
    turns = Rotation.random(50, random_state=0).as_matrix()
    axes = Rotation.random(50, random_state=1).as_matrix()
    stretch = np.stack([np.ones(50), rng.uniform(squeeze, 1, 50), np.full(50, squeeze)], axis=1)
    S = np.einsum("nik,nk,njk->nij", axes, stretch, axes)
    found = np.empty_like(turns)
    back = np.tile(np.eye(3), (50, 1, 1))
    skinning.nearest_rotations(size * turns @ S, back, np.arange(50), found)
    least = max(squeeze, 1e-3)  # of the two smallest stretches, which say how sharp the answer is
    assert np.abs(found @ found.swapaxes(1, 2) - np.eye(3)).max() < 1e-13
    assert np.linalg.det(found) == pytest.approx(1.0)
    assert np.abs(found - turns).max() < 1e-13 / least


def test_mirrored_and_vanished_surroundings_have_a_rotation() -> None:
    given = np.array([np.diag([1.0, 1.0, -1.0]), np.zeros((3, 3)), -np.eye(3)])
    found = np.empty_like(given)
    skinning.nearest_rotations(given, np.tile(np.eye(3), (3, 1, 1)), np.arange(3), found)
    assert np.linalg.det(found) == pytest.approx(1.0)
    assert np.abs(found @ found.swapaxes(1, 2) - np.eye(3)).max() < 1e-13


def times(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Products of quaternions x, y, z, w, (n, 4)."""
    (a, s), (b, t) = (np.split(each, [3], axis=1) for each in (p, q))
    return np.hstack([s * b + t * a + np.cross(a, b), s * t - (a * b).sum(axis=1, keepdims=True)])


def test_dual_quaternion_blends_are_those_of_a_plain_twin() -> None:
    """Four bones with scales, turned at random, and weights at random."""
    rng = np.random.default_rng(0)
    turns = Rotation.from_rotvec(rng.uniform(-1, 1, (5, 3)))
    shifts, scales = rng.standard_normal((5, 3)), rng.uniform(0.5, 2.0, 5)
    X, bones = rng.standard_normal((30, 3)), rng.integers(0, 5, (30, 4))
    weights = rng.dirichlet(np.ones(4), 30)

    moves = np.concatenate([scales[:, None, None] * turns.as_matrix(), shifts[:, :, None]], axis=2)
    duals, stretches = np.empty((5, 8)), np.empty((5, 3, 3))
    A, t, x = np.empty((30, 3, 3)), np.empty((30, 3)), np.empty((30, 3))
    skinning.split_moves(moves, duals, stretches)
    skinning.blend_dual_quaternions(duals, stretches, bones, weights, np.arange(30), A, t)
    skinning.move_vertices(A, t, X, x)

    q = turns.as_quat()
    e = 0.5 * times(np.hstack([shifts, np.zeros((5, 1))]), q)
    main = q[bones[np.arange(30), np.argmax(weights, axis=1)]]
    signs = np.where(np.einsum("nki,ni->nk", q[bones], main) < 0, -1.0, 1.0)
    real, dual = (np.einsum("nk,nki->ni", signs * weights, each[bones]) for each in (q, e))
    length = np.linalg.norm(real, axis=1, keepdims=True)
    real, dual = real / length, dual / length
    shift = 2 * times(dual, real * [-1, -1, -1, 1])[:, :3]
    stretched = (weights * scales[bones]).sum(axis=1, keepdims=True) * X
    assert x == pytest.approx(Rotation.from_quat(real).apply(stretched) + shift, abs=1e-13)
