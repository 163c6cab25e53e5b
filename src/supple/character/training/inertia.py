"""Inertial forces of a rig from a few vertices (pose space paper, §5.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from supple.character.tissue.tet_rig import TetRig
from supple.character.training.cubature import relative_error
from supple.character.training.samples import LEAST, ColumnGroups, RestPose, SparseSamples, sizes_of
from supple.core.checks import number, whole_number
from supple.core.types import Floats, Ints, Progress
from supple.reduction.cubature.selection import select

_BATCHES = 12
_SURPLUS = 1.5
_SIZES = (1.0, 10.0)  # of perturbations: turns also pull outwards, if they are large


@dataclass(frozen=True, eq=False)
class InertialCubature:
    """Vertices that stand for all where the rig accelerates."""

    vertices: Ints
    """(s,)"""
    weights: Floats
    """How many vertices like itself each one stands for, ≥ 0, (s,)."""
    training_error: float
    """RMS over samples and regions of the relative error of f̃."""

    def errors(self, rest: RestPose, kinds: Mapping[str, Floats]) -> dict[str, float]:
        """RMS over accelerations (T, n, 3) of the relative error of f̃ in a pose, for each kind.

        Forces that are much smaller than those of the other kinds count as a twentieth of these.
        """
        at, even = self.vertices, rest.balanced()
        fields = {name: _of_unit_size(a, even.masses) for name, a in kinds.items()}
        exact = {name: reduced_inertia(even.shapes, even.masses, a) for name, a in fields.items()}
        means = [np.mean(np.einsum("tr,tr->t", f, f)) for f in exact.values()]
        least = LEAST * float(np.sqrt(np.mean(means)))
        masses = self.weights * even.masses[at]
        shapes = even.shapes[:, at]
        return {
            name: relative_error(reduced_inertia(shapes, masses, a[:, at]), exact[name], least)
            for name, a in fields.items()  # Eq. 23
        }


def reduced_inertia(shapes: Floats, masses: Floats, accelerations: Floats) -> Floats:
    """−Uᵀ M a of vertices with ``shapes`` (r, n, 3), for accelerations (T, n, 3), (T, r)."""
    pushed = accelerations * masses[:, None]
    return np.asarray(-pushed.reshape(len(pushed), -1) @ shapes.reshape(len(shapes), -1).T)


def rigid_accelerations(x: Floats, masses: Floats) -> Floats:
    """Twelve fields (12, n, 3) that span the accelerations of a body that moves rigidly.

    The first three are along the axes. A turn gives α × r + ω × (ω × r), which is linear in the
    place: the others are the nine linear fields about the centre of mass.
    """
    arms = x - masses @ x / masses.sum()
    fields = np.zeros((4, 3, len(x), 3))
    for axis in range(3):
        fields[0, axis, :, axis] = 1.0
        for along in range(3):
            fields[1 + along, axis, :, axis] = arms[:, along]
    return fields.reshape(12, len(x), 3)


def perturbed_accelerations(
    tet_rig: TetRig, pose: Floats, count: int, rng: np.random.Generator
) -> Floats:
    """Second differences (count, n, 3) [m] of a rig that trembles around a pose."""
    fields = []
    for size, some in zip(_SIZES, np.array_split(np.arange(count), len(_SIZES)), strict=True):
        if len(some):
            frames = [tet_rig.rig.perturbed(pose, rng, size) for _ in range(len(some) + 2)]
            x = np.array([tet_rig.vertices(frame) for frame in frames])
            fields.append(x[:-2] - 2 * x[1:-1] + x[2:])
    return np.concatenate(fields)


def train_inertial_cubature(
    tet_rig: TetRig,
    poses: Sequence[tuple[Floats, RestPose]],
    groups: ColumnGroups,
    *,
    size: int,
    tolerance: float = 0.0,
    samples: int = 30,
    seed: int = 0,
    progress: Progress | None = None,
) -> InertialCubature:
    """Vertices and weights for a rig in and around some poses (d,), with their rest shapes.

    ``groups`` are the vertices by the columns that they feel. Up to ``size`` vertices, until the
    error is at most ``tolerance``. ``samples`` perturbed motions are tried in each pose, beside
    those in which the body moves as a whole.
    """
    most = whole_number("size", size, at_least=1)
    number("tolerance", tolerance, at_least=0.0, below=1.0)
    whole_number("samples", samples, at_least=1)
    rng = np.random.default_rng(whole_number("seed", seed, at_least=0))
    pool = groups.pool(tet_rig.mesh.n_vertices, (2 * samples + 12) * len(poses), rng)
    training_sets = []
    for k, (pose, rest) in enumerate(poses):
        trembling = perturbed_accelerations(tet_rig, pose, samples, rng)
        moving = rigid_accelerations(rest.body.mesh.vertices, rest.masses)
        turning = np.tensordot(rng.normal(size=(samples, 9)), moving[3:], axes=1)
        every = np.concatenate([moving, turning, trembling])
        training_sets.append(_samples(rest.balanced(), groups, pool, every))
        if progress is not None:
            progress(k + 1, len(poses), "poses, inertial forces")
    found = select(
        [training_sets],
        most=most,
        tolerance=tolerance,
        step=max(1, most // _BATCHES),
        surplus=_SURPLUS,
        what="vertices",
        progress=progress,
    )
    order = np.argsort(found.chosen)
    return InertialCubature(pool[found.chosen[order]], found.weights[0][order], found.error)


def _of_unit_size(accelerations: Floats, masses: Floats) -> Floats:
    """Fields (T, n, 3) over their root mean square; those that vanish are left out."""
    squares = np.einsum("n,tni->t", masses, accelerations**2) / masses.sum()
    present = squares > 0
    return np.asarray(accelerations[present] / np.sqrt(squares[present])[:, None, None])


def _samples(
    rest: RestPose, groups: ColumnGroups, pool: Ints, accelerations: Floats
) -> SparseSamples:
    """What the vertices of ``pool`` (c,) give under accelerations (T, n, 3) (Eq. 25)."""
    a = _of_unit_size(accelerations, rest.masses)
    parts = []
    for place, vertices, columns in groups.of_terms(pool):
        pushed = -rest.masses[vertices, None] * a[:, vertices]  # Eq. 24, mass lumped
        shapes = rest.shapes[np.ix_(columns, vertices)]
        forces = pushed.transpose(1, 0, 2) @ shapes.transpose(1, 2, 0)  # (c, T, k)
        parts.append((place, columns, forces.astype(np.float32)))
    whole = reduced_inertia(rest.shapes, rest.masses, a)
    sizes = sizes_of(whole, rest.regions)
    count = len(whole) * len(np.unique(rest.regions))
    return SparseSamples.of(whole, parts, len(pool), sizes, count)
