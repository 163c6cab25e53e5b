"""Points that rigs carry, and tet meshes that follow by them: fast paths against plain ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.character.arms import BAR, arm, some_pose, with_targets
from tests.refusals import refused

import supple as sp
from supple.character import Character
from supple.character.model.weights import PoseWeights
from supple.character.rigs import BendRig, BlackBoxRig, Blend, LatticeRig, PoseRig, SkeletonRig
from supple.character.rigs.base import CarriedPoints
from supple.character.runtime.rig import RigSampler
from supple.character.tissue.tet_rig import TetRig


def stretched() -> Character:
    """An arm whose rest is not how its skin was modelled, with bones of other sizes."""
    character = arm(scale=100.0)
    rest = some_pose(character, 7, 0.4)
    scales = rest.scales * np.random.default_rng(2).uniform(0.7, 1.4, rest.scales.shape)
    return replace(character, rig=replace(character.rig, rest=replace(rest, scales=scales)))


RIGS: dict[str, PoseRig] = {
    "bend": BendRig(BAR, about=(0, 1, 1), origin=(0.1, 0, 0), bounds=(0.2, 0.6)),
    "lattice": LatticeRig(BAR),
    "linear": SkeletonRig(stretched()),
    "dual quaternions": SkeletonRig(stretched(), Blend.DUAL_QUATERNION),
    "morphs": SkeletonRig(with_targets(stretched())),
    "black box": BlackBoxRig(lambda p: BAR.vertices * (1 + p), BAR.triangles, np.zeros(3)),
}
ALL = pytest.mark.parametrize("name", list(RIGS))


def another(rig: PoseRig, seed: int) -> np.ndarray:
    """A pose far from the neutral one."""
    if not isinstance(rig, SkeletonRig):
        size = 0.02 if isinstance(rig, LatticeRig) else 0.3
        return size * np.random.default_rng(seed).standard_normal(len(rig.neutral))
    pose = rig.pose_of(some_pose(rig.character, seed))
    pose[30:] = 0.3
    return pose


def inside(rig: PoseRig) -> sp.TetMesh:
    """A mesh that fills about what the neutral surface does."""
    low, high = rig.surface().bounds
    return sp.TetMesh.box(tuple(high - low), (5, 2, 2), tuple(low))


@ALL
def test_frames_are_the_rotations_nearest_to_the_gradients(name: str) -> None:
    rig = RIGS[name]
    pose = another(rig, 1)
    frames, gradients = rig.frames(pose), rig.gradients(pose)
    if frames is None:
        assert gradients is None
        return
    assert gradients is not None
    U, _, Vt = np.linalg.svd(gradients)
    assert frames == pytest.approx(U @ Vt, abs=1e-9)
    some = np.array([3, 11, 3])
    x, turned = rig.posed(pose, some)
    assert turned == pytest.approx(gradients[some], abs=1e-12)
    assert x == pytest.approx(rig.vertices(pose)[some], abs=1e-12)


@ALL
def test_carried_points_are_means_over_the_surface(name: str) -> None:
    rig = RIGS[name]
    rng = np.random.default_rng(3)
    near = rng.integers(0, rig.n_vertices, (40, 4))
    shares = rng.dirichlet(np.ones(4), 40)
    offsets = 0.1 * rng.standard_normal((40, 4, 3))
    points, plain = rig.carried(near, shares, offsets), CarriedPoints(rig, near, shares, offsets)
    for seed in range(3):
        pose = another(rig, seed)
        x, gradients, features = points(pose)
        assert features == pytest.approx(rig.features(pose), abs=1e-14)
        surface = rig.gradients(pose)
        moved = offsets
        if surface is None:
            assert gradients.shape == (0, 3, 3)
        else:
            mean = np.einsum("nk,nkij->nij", shares, surface[near])
            assert gradients == pytest.approx(mean, abs=1e-12)
            moved = np.einsum("nkij,nkj->nki", surface[near], offsets)
        there = rig.vertices(pose)[near] + moved
        assert x == pytest.approx(np.einsum("nk,nki->ni", shares, there), abs=1e-12)
        for one, two in zip(points(pose), plain(pose), strict=True):
            assert one == pytest.approx(two, abs=1e-12)


@ALL
def test_a_follower_gives_what_the_tet_rig_gives(name: str) -> None:
    rig = RIGS[name]
    mesh = inside(rig)
    rng = np.random.default_rng(4)
    known = [rig.features(another(rig, seed)) for seed in range(3)]
    corrections = 0.01 * rng.standard_normal((3, len(mesh.vertices), 3))
    which = rng.permutation(len(mesh.vertices))[:20]
    plain = TetRig.of(rig, mesh)
    for tet_rig in (plain, plain.corrected(PoseWeights.of(known), corrections)):
        follower = RigSampler(tet_rig, which)
        pose = another(rig, 5)
        x, frames, features = follower.sample(pose)
        assert x == pytest.approx(tet_rig.vertices(pose, which), abs=1e-11)
        assert features == pytest.approx(rig.features(pose), abs=1e-14)
        wanted = tet_rig.frames(pose, which)
        if wanted is None:
            assert frames.shape == (0, 3, 3)
        else:
            assert frames == pytest.approx(wanted, abs=1e-10)
    assert plain.vertices(rig.neutral) == pytest.approx(mesh.vertices, abs=1e-11)


def test_numbers_that_are_not_finite_are_refused() -> None:
    rig = RIGS["bend"]
    follower = RigSampler(TetRig.of(rig, inside(rig)), np.arange(5))
    refused("not finite", follower.sample, np.array([np.nan]))
