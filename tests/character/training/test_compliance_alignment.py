"""Bases that are turned on after Procrustes, so that mixed ones do not lock."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.linalg import eigvalsh, subspace_angles

import supple as sp
from supple.character.tissue.fitting import fitted
from supple.character.tissue.tet_rig import TetRig
from supple.character.training.basis import PoseBases, pose_bases, posed_body
from supple.character.training.compliance_alignment import (
    InterpolatedPair,
    _compliance,
    compliance_aligned,
    max_compliance_rotation,
)
from supple.character.training.contact import PoseContact
from supple.character.training.midpoint import (
    BetweenPosesWarning,
    midpoint_frequency_error,
    warn_of,
)
from supple.character.training.modes import pose_modes
from supple.character.training.training import PoseTraining
from supple.contact import Plane
from supple.core.types import Floats

pytestmark = pytest.mark.processors
MESH = sp.TetMesh.box((1.0, 0.16, 0.16), (16, 3, 3), (0.0, -0.08, -0.08))
FLESH = sp.StVK(young=1e5, poisson=0.4)
BODY = sp.Body(MESH, FLESH, fixed=MESH.where(x=0), mass_model=sp.LumpedMass())
RIG = sp.BendRig(MESH.boundary(), origin=(0.0, 0.0, 0.0), bounds=(0.35, 0.65))
RIGHT = np.pi / 2
ENDS = np.stack([np.clip(1.5 - 2 * MESH.vertices[:, 0], 0, 1), MESH.vertices[:, 0]])


def test_matched_bases_do_not_lock_between_poses() -> None:
    plain, turned = training(RIGHT).bases, compliance_aligned(training(RIGHT))
    for share in (0.25, 0.5, 0.75):
        bend = share * RIGHT
        before, after = (too_fast(training(RIGHT), bases, bend) for bases in (plain, turned))
        assert before > 0.19  # what Procrustes alone leaves
        assert after < 0.08


@pytest.mark.parametrize("local", [False, True])
def test_matched_bases_span_what_they_did_in_every_pose(local: bool) -> None:
    of = training(RIGHT, local=local)
    plain, turned = of.bases, compliance_aligned(of)
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
    alike = InterpolatedPair((0.5, 0.5), np.tile(K, (2, 2)), np.tile(np.eye(3), (2, 2)))
    assert np.abs(max_compliance_rotation([alike]) - np.eye(3)).max() < 1e-6


def excess(of: PoseTraining) -> list[float | None]:
    return midpoint_frequency_error(of, None, False)


def test_excess_is_that_of_the_slowest_frequencies() -> None:
    """12 columns stand for two frequencies."""
    plain = training(RIGHT)
    better = replace(plain, bases=compliance_aligned(plain))
    for of in (plain, better):
        assert excess(of) == pytest.approx([too_fast(of, of.bases, RIGHT / 2, 2)], rel=1e-6)
    assert excess(plain)[0] > 0.2
    assert excess(better)[0] < 0.06


def test_excess_falls_with_a_pose_between() -> None:
    both = training(3.0), training(1.5, 3.0)
    one, two = (replace(of, bases=compliance_aligned(of)) for of in both)
    assert excess(one)[0] > 0.5
    assert len(excess(two)) == 2
    assert max(excess(two)) < 0.2


def test_excess_vanishes_where_poses_hardly_differ() -> None:
    """Regions are compared with modes of their own, not with those of the whole body."""
    for regions in (None, ENDS):
        of = training(0.02, local=regions is not None)
        assert abs(midpoint_frequency_error(of, regions, False)[0]) < 0.01


def test_excess_is_not_told_where_contact_was_given() -> None:
    touching = PoseContact.with_obstacle(MESH, Plane(normal=(0, 0, 1), offset=-0.08))
    assert midpoint_frequency_error(training(RIGHT), None, [None, touching]) == [None]
    assert midpoint_frequency_error(training(RIGHT), None, [None, None]) == excess(training(RIGHT))


def test_warning_names_the_worst_pair_of_poses() -> None:
    text = r"between poses 2 and 3 .* 31 % too fast; give a pose between"
    with pytest.warns(BetweenPosesWarning, match=text):
        warn_of([0.25, None, 0.31], [-1, 0, 0, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of([0.19, None], [-1, 0, 0])
        warn_of([], [-1])


@cache
def training(*bends: float, local: bool = False) -> PoseTraining:
    """Straight, and bent by these angles [rad]."""
    poses = np.array([[0.0], *([bend] for bend in bends)])
    tet_rig = fitted(TetRig.of(RIG, MESH), poses)
    bases = pose_bases(BODY, tet_rig, poses, modes=6, size=12, regions=ENDS if local else None)
    young = np.full((len(poses), MESH.n_cells), 1e5)
    return PoseTraining(BODY, tet_rig, poses, bases, young, samples=10, seed=0)


def too_fast(of: PoseTraining, bases: PoseBases, bend: float, count: int = 4) -> float:
    """By what share the first frequencies of the mixed model are above those of the body."""
    pose = np.array([bend])
    U = of.in_the_world(bases.shapes(of.weights(pose)), pose).reshape(12, -1).T
    body = posed_body(BODY, of.tet_rig.vertices(pose))
    K = U.T @ (body.stiffness(np.zeros_like(MESH.vertices)) @ U)
    mass = U.T @ (np.repeat(bases.masses, 3)[:, None] * U)
    mixed, own = eigvalsh(K, mass)[:count], pose_modes(body, count).squares
    return float((np.sqrt(mixed / own) - 1).max())
