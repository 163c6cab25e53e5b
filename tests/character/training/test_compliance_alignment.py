"""Bases that are turned on after Procrustes, so that mixed ones do not lock."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from tests.character.guide_beam import MESH, RIGHT, too_fast, training

from supple.character.training.compliance_alignment import (
    InterpolatedPair,
    _compliance,
    compliance_aligned,
    max_compliance_rotation,
)
from supple.core.types import Floats

pytestmark = pytest.mark.processors


def test_matched_bases_do_not_lock_between_poses() -> None:
    plain, turned = training(RIGHT).bases, compliance_aligned(training(RIGHT))
    for share in (0.25, 0.5, 0.75):
        bend = share * RIGHT
        before, after = (too_fast(training(RIGHT), bases, bend) for bases in (plain, turned))
        assert before > 0.19  # what Procrustes alone leaves
        assert after < 0.08


@pytest.mark.parametrize("local", [False, True])
def test_matched_bases_span_what_they_did_in_every_pose(local: bool) -> None:
    plain, turned = (
        training(RIGHT, local=local).bases,
        compliance_aligned(training(RIGHT, local=local)),
    )
    root = np.sqrt(plain.masses)[:, None, None]
    for one, two in zip(plain.bases, turned.bases, strict=True):
        for region in np.unique(plain.regions):
            own = plain.regions == region
            pair = [(root * U[..., own]).reshape(3 * MESH.n_vertices, -1) for U in (one, two)]
            assert subspace_angles(*pair).max() < 1e-6
            assert pair[1].T @ pair[1] == pytest.approx(np.eye(own.sum()), abs=1e-9)
    assert np.array_equal(turned.bases[0], plain.bases[0])
    assert not np.allclose(turned.bases[1], plain.bases[1], atol=1e-3)


def random_ways(r: int) -> list[InterpolatedPair]:
    rng = np.random.default_rng(3)

    def definite() -> Floats:
        A = rng.normal(size=(2 * r, 2 * r))
        return np.asarray(A @ A.T + np.eye(2 * r))

    return [InterpolatedPair(w, definite(), definite()) for w in ((0.7, 0.3), (0.4, 0.6))]


def test_compliance_has_the_derivative_that_it_tells() -> None:
    ways, rng = random_ways(4), np.random.default_rng(4)
    Q, change = rng.normal(size=(2, 4, 4))
    step = 1e-5
    ahead, behind = (_compliance(ways, Q + sign * step * change)[0] for sign in (1, -1))
    slope = float((_compliance(ways, Q)[1] * change).sum())
    assert slope == pytest.approx((ahead - behind) / (2 * step), rel=1e-6)


def test_turn_is_a_rotation_to_softer_models() -> None:
    ways = random_ways(5)
    Q = max_compliance_rotation(ways)
    assert np.abs(Q @ Q.T - np.eye(5)).max() < 1e-12
    assert _compliance(ways, Q)[0] > 1.1 * _compliance(ways, np.eye(5))[0]


def test_turn_stays_where_nothing_is_gained() -> None:
    """Both poses have the same basis: however it is turned, mixed ones span the same."""
    K = np.diag([1.0, 3.0, 8.0])
    twice = np.concatenate([np.eye(3), np.eye(3)], axis=1)
    Q = max_compliance_rotation(
        [InterpolatedPair((0.5, 0.5), twice.T @ K @ twice, twice.T @ twice)]
    )
    assert np.abs(Q - np.eye(3)).max() < 1e-6
