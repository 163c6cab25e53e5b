"""Aligned bases, turned on so that flesh does not lock between the poses.

Procrustes makes the columns of two poses alike by mass. Yet columns that are a little apart can
mix to a shape that stretches a limb where it should bend, and then the model is too stiff half-way.
How the basis of a pose is turned is free; so it is turned to where the mixed models are softest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from supple.character.training.alignment import from_the_root
from supple.character.training.basis import PoseBases
from supple.character.training.training import PoseTraining
from supple.core.types import Floats

_SHARES = (1 / 3, 2 / 3)  # of the way between two poses: where models are mixed
_NEAR = 0.2  # how much it counts to stay with Procrustes, where all compliance counts 1
_MOST = 60  # steps; more change what can hardly be seen
_ENOUGH = 1e-6  # of the compliance: what a step must gain


class InterpolatedPair(NamedTuple):
    """A body on the way between two poses, in the span of both of their bases."""

    weights: tuple[float, float]
    """How much each pose counts."""
    stiffness: Floats
    """(2 r, 2 r), the columns of the first pose before those of the second."""
    mass: Floats
    """(2 r, 2 r)"""


def compliance_aligned(training: PoseTraining) -> PoseBases:
    """The bases of a training, each turned within its span, region by region."""
    bases = training.bases
    turned, regions, parents = bases.bases.copy(), bases.regions, bases.alignment.parents
    for child in from_the_root(parents):
        pair = turned[[parents[child], child]]
        ways = [_on_the_way(training, pair, parents[child], child, share) for share in _SHARES]
        for region in np.unique(regions):
            own = np.flatnonzero(regions == region)
            both = np.concatenate([own, len(regions) + own])
            at = np.ix_(both, both)
            Q = max_compliance_rotation(
                [InterpolatedPair(way.weights, way.stiffness[at], way.mass[at]) for way in ways]
            )
            turned[child][..., own] = turned[child][..., own] @ Q
    return replace(bases, alignment=replace(bases.alignment, bases=turned))


def _on_the_way(
    training: PoseTraining, pair: Floats, parent: int, child: int, share: float
) -> InterpolatedPair:
    """With bases of both poses (2, n, 3, r)."""
    poses = training.poses
    pose = training.tet_rig.rig.between(poses[parent], poses[child], share)
    shapes = training.in_the_world(np.concatenate(list(pair), axis=-1), pose)
    first, second = training.weights(pose)[[parent, child]]
    return InterpolatedPair((first, second), *training.reduced(training.body_at(pose), shapes))


def max_compliance_rotation(ways: Sequence[InterpolatedPair]) -> Floats:
    """Q (r, r), orthogonal: U_i and U_j Q mix to models whose Σ 1/ω² is the largest.

    That sum is how far all shapes go under loads of their own, so that soft modes count most. Where
    it hardly changes, Q stays near 1.
    """
    from scipy.optimize import minimize  # slow to import

    r = len(ways[0].mass) // 2
    plain = _compliance(ways, np.eye(r))[0]
    above = np.triu_indices(r, 1)

    def cost(numbers: Floats) -> tuple[float, Floats]:
        half, Q = _cayley(numbers, r)
        value, slope = _compliance(ways, Q)
        value = value / plain + _NEAR * np.trace(Q) / r
        slope = slope / plain + _NEAR * np.eye(r) / r
        # Q = (1 − A/2)⁻¹ (1 + A/2), so dQ = (1 − A/2)⁻¹ dA (1 + Q) / 2
        by_entry = half.T @ slope @ (np.eye(r) + Q).T / 2
        return -value, -(by_entry - by_entry.T)[above]

    found = minimize(
        cost,
        np.zeros(len(above[0])),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": _MOST, "ftol": _ENOUGH},
    )
    return _cayley(found.x, r)[1]


def _cayley(numbers: Floats, r: int) -> tuple[Floats, Floats]:
    """(1 − A/2)⁻¹ and the rotation (1 − A/2)⁻¹ (1 + A/2), (r, r), with A antisymmetric."""
    A = np.zeros((r, r))
    A[np.triu_indices(r, 1)] = numbers
    A -= A.T
    half: Floats = np.linalg.inv(np.eye(r) - A / 2).astype(float, copy=False)
    return half, half @ (np.eye(r) + A / 2)


def _compliance(ways: Sequence[InterpolatedPair], Q: Floats) -> tuple[float, Floats]:
    """Σ 1/ω² = tr(K̃⁻¹ M̃) over all ways [s²], and its derivative by Q (r, r)."""
    r = len(Q)
    total, slope = 0.0, np.zeros((r, r))
    for (first, second), K, M in ways:
        N = np.concatenate([first * np.eye(r), second * Q])
        stiff, heavy = K @ N, M @ N
        inverse = np.linalg.inv(N.T @ stiff)
        answers = inverse @ (N.T @ heavy)  # K̃⁻¹ M̃
        total += float(np.trace(answers))
        slope += 2 * second * (heavy[r:] @ inverse - stiff[r:] @ (answers @ inverse))
    return total, slope
