"""Bases that are turned on after Procrustes, so that mixed ones do not lock."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.linalg import eigvalsh, subspace_angles

import supple as sp
from supple.character.fitting import fitted
from supple.character.pose_bases import PoseBases, pose_bases
from supple.character.pose_matching import Mixed, _compliance, matched, softest_turn
from supple.character.pose_modes import pose_modes
from supple.character.pose_training import PoseTraining
from supple.character.posed_body import posed_body
from supple.character.tet_rig import TetRig
from supple.types import Floats

MESH = sp.TetMesh.box((1.0, 0.16, 0.16), (16, 3, 3), (0.0, -0.08, -0.08))
FLESH = sp.StVK(young=1e5, poisson=0.4)
BODY = sp.Body(MESH, FLESH, fixed=MESH.where(x=0), mass_model=sp.LumpedMass())
RIG = sp.BendRig(MESH.boundary(), origin=(0.0, 0.0, 0.0), bounds=(0.35, 0.65))
POSES = np.array([[0.0], [np.pi / 2]])
ENDS = np.stack([np.clip(1.5 - 2 * MESH.vertices[:, 0], 0, 1), MESH.vertices[:, 0]])


@cache
def training(*, local: bool = False) -> PoseTraining:
    """A beam that is straight, and bent by 90°."""
    follows = fitted(TetRig.of(RIG, MESH), POSES)
    bases = pose_bases(BODY, follows, POSES, modes=6, size=12, regions=ENDS if local else None)
    young = np.full((2, MESH.n_cells), 1e5)
    return PoseTraining(BODY, follows, POSES, bases, young, samples=10, seed=0)


def too_fast(of: PoseTraining, bases: PoseBases, share: float) -> float:
    """By what share the first four frequencies of the mixed model are above those of the body."""
    pose = share * POSES[1]
    U = of.in_the_world(bases.shapes(of.weights(pose)), pose).reshape(12, -1).T
    body = posed_body(BODY, of.follows.vertices(pose))
    K = U.T @ (body.stiffness(np.zeros_like(MESH.vertices)) @ U)
    mass = U.T @ (np.repeat(bases.masses, 3)[:, None] * U)
    mixed, own = eigvalsh(K, mass)[:4], pose_modes(body, 4).squares
    return float((np.sqrt(mixed / own) - 1).max())


def test_matched_bases_do_not_lock_between_poses() -> None:
    plain, turned = training().bases, matched(training())
    for share in (0.25, 0.5, 0.75):
        before, after = (too_fast(training(), bases, share) for bases in (plain, turned))
        assert before > 0.19  # what Procrustes alone leaves
        assert after < 0.08


@pytest.mark.parametrize("local", [False, True])
def test_matched_bases_span_what_they_did_in_every_pose(local: bool) -> None:
    plain, turned = training(local=local).bases, matched(training(local=local))
    root = np.sqrt(plain.masses)[:, None, None]
    for one, two in zip(plain.bases, turned.bases, strict=True):
        for region in np.unique(plain.regions):
            own = plain.regions == region
            pair = [(root * U[..., own]).reshape(3 * MESH.n_vertices, -1) for U in (one, two)]
            assert subspace_angles(*pair).max() < 1e-6
            assert pair[1].T @ pair[1] == pytest.approx(np.eye(own.sum()), abs=1e-9)
    assert np.array_equal(turned.bases[0], plain.bases[0])
    assert not np.allclose(turned.bases[1], plain.bases[1], atol=1e-3)


def random_ways(r: int) -> list[Mixed]:
    rng = np.random.default_rng(3)

    def definite() -> Floats:
        A = rng.normal(size=(2 * r, 2 * r))
        return np.asarray(A @ A.T + np.eye(2 * r))

    return [Mixed(w, definite(), definite()) for w in ((0.7, 0.3), (0.4, 0.6))]


def test_compliance_has_the_derivative_that_it_tells() -> None:
    ways, rng = random_ways(4), np.random.default_rng(4)
    Q, change = rng.normal(size=(2, 4, 4))
    step = 1e-5
    ahead, behind = (_compliance(ways, Q + sign * step * change)[0] for sign in (1, -1))
    slope = float((_compliance(ways, Q)[1] * change).sum())
    assert slope == pytest.approx((ahead - behind) / (2 * step), rel=1e-6)


def test_turn_is_a_rotation_to_softer_models() -> None:
    ways = random_ways(5)
    Q = softest_turn(ways)
    assert np.abs(Q @ Q.T - np.eye(5)).max() < 1e-12
    assert _compliance(ways, Q)[0] > 1.1 * _compliance(ways, np.eye(5))[0]


def test_turn_stays_where_nothing_is_gained() -> None:
    """Both poses have the same basis: however it is turned, mixed ones span the same."""
    K = np.diag([1.0, 3.0, 8.0])
    twice = np.concatenate([np.eye(3), np.eye(3)], axis=1)
    Q = softest_turn([Mixed((0.5, 0.5), twice.T @ K @ twice, twice.T @ twice)])
    assert np.abs(Q - np.eye(3)).max() < 1e-6
