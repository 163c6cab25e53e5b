"""Elastic forces in every pose from the same few cells (pose space paper, §5.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from supple.character.model.weights import PoseWeights, StiffnessCorrections
from supple.character.training.samples import InterpolatedPose
from supple.core.checks import number, whole_number
from supple.core.types import Floats, Ints, Progress
from supple.reduction.cubature.selection import DenseSamples, select, weights_of

_BATCHES = 12  # cells are added in so many batches, or a few more
_SURPLUS = 2.0  # cells that are chosen at first, some to be given up again
_SAME = 1e-3  # of the largest distance between poses: nearer ones tell nothing new
_SWEEPS = 6  # over the poses, whose weights meet in the poses between


@dataclass(frozen=True, eq=False)
class PoseCubature:
    """Cells that stand for all, the same in every pose, and how much they count in each.

    They stand for what is not linear in the forces; the stiffness at rest is that of all cells.
    """

    cells: Ints
    """(c,)"""
    weights: Floats
    """v_i ≥ 0 in each pose, (m, c)."""
    gaps: StiffnessCorrections
    training_errors: Floats
    """RMS over samples and regions of the relative error of f̃ in each pose, (m,)."""

    def at(self, w: Floats) -> Floats:
        """v(p) = Σ_i w_i(p) v_i in a pose with weights w (m,), (c,) (Eq. 20)."""
        return w @ self.weights

    def forces(self, at: InterpolatedPose, q: Floats) -> Floats:
        """f̃ in samples q (T, r) of a pose, (T, r)."""
        gap = self.gaps.at(at.features, at.upsilon)
        return at.rest.cubature_forces(q, self.cells, self.at(at.w)) + q @ gap

    def error(self, at: InterpolatedPose, q: Floats) -> float:
        """RMS over samples q (T, r) of the relative error of f̃, all modes equally stiff."""
        balance = at.rest.balance.T
        return relative_error(self.forces(at, q) @ balance, at.rest.forces(q) @ balance)


def relative_error(found: Floats, exact: Floats, least: float = 0.0) -> float:
    """RMS over rows of ‖found − exact‖ / ‖exact‖, both (T, r), none taken as below ``least``."""
    sizes = np.maximum(np.linalg.norm(exact, axis=1), least)
    missed = np.linalg.norm(found - exact, axis=1) / sizes
    return float(np.sqrt(np.mean(missed**2)))


def train_pose_cubature(
    poses: Sequence[InterpolatedPose],
    between: Sequence[InterpolatedPose] = (),
    more: Sequence[InterpolatedPose] = (),
    *,
    size: int,
    tolerance: float = 0.0,
    samples: int = 60,
    amplitude: float = 0.5,
    seed: int = 0,
    progress: Progress | None = None,
) -> PoseCubature:
    """Cells, and weights in each of the ``poses``, for bases of the same regions.

    ``between`` are interpolated poses: the cells are chosen for them too, and the weights such that
    interpolated ones fit there. ``more`` are used for the stiffness at rest alone.

    Up to ``size`` cells, until the error in every pose is at most ``tolerance``. ``samples`` are
    drawn in each pose; in the largest of them the gradient of displacements is ``amplitude``.
    Errors are relative to the force, in coordinates in which all modes are equally stiff.
    """
    most = whole_number("size", size, at_least=1)
    number("tolerance", tolerance, at_least=0.0, below=1.0)
    number("amplitude", amplitude, above=0.0)
    whole_number("samples", samples, at_least=10)
    rng = np.random.default_rng(whole_number("seed", seed, at_least=0))
    every = [*poses, *between]
    first, rows = every[0].rest, (samples + (samples + 1) // 2) * len(every)
    pool = first.groups.pool(first.body.mesh.n_cells, rows, rng)
    training_sets, drawn = [], []
    for k, at in enumerate(every):
        even = at.rest.balanced()
        drawn.append(even.draw(samples, rng, amplitude))
        training_sets.append(even.samples(drawn[-1], pool))
        if progress is not None:
            progress(k + 1, len(every), "poses, forces of cells")
    selected = select(  # Eq. 17, but with weights for each pose
        [[training_set] for training_set in training_sets],
        most=most,
        tolerance=tolerance,
        step=max(1, most // _BATCHES),
        surplus=_SURPLUS,
        progress=progress,
    )
    chosen = np.sort(selected.chosen)
    w = np.array([at.w for at in every])
    dense = [DenseSamples(x.count, x.columns(chosen), x.whole) for x in training_sets]
    weights = _coupled(dense, w)
    used = weights.any(axis=0)
    chosen, weights = chosen[used], np.ascontiguousarray(weights[:, used])
    cells = pool[chosen]
    gaps = _gaps([*every, *more], cells, weights)
    found = PoseCubature(cells, weights, gaps, np.zeros(len(poses)))
    of_poses = zip(poses, drawn, strict=False)
    found.training_errors[:] = [found.error(at, z @ at.rest.balance) for at, z in of_poses]
    return found


def _gaps(poses: list[InterpolatedPose], cells: Ints, weights: Floats) -> StiffnessCorrections:
    """Of cells (c,) with weights (m, c), known in all of the poses that differ."""
    features = np.array([at.features for at in poses])
    apart = np.linalg.norm(features[:, None] - features, axis=2)
    same = np.tril(apart <= _SAME * apart.max(), -1).any(axis=1)
    kept = [at for at, again in zip(poses, same, strict=True) if not again]
    found = [at.rest.gap(cells, at.w @ weights) / np.outer(at.upsilon, at.upsilon) for at in kept]
    return StiffnessCorrections(PoseWeights.of(features[~same]), np.array(found))


def _coupled(training_sets: list[DenseSamples], w: Floats) -> Floats:
    """v_i ≥ 0 (m, c) that fit best where training set k has the weights Σ_i w_ki v_i (Eqs. 19, 20).

    Pose after pose is fitted while the others stay, until all agree.
    """
    m = w.shape[1]
    every = np.arange(len(training_sets[0].of_terms))
    v = np.array([weights_of([training_set], every)[0] for training_set in training_sets[:m]])
    for _ in range(_SWEEPS if len(training_sets) > m else 0):
        for i in range(m):
            v[i] = 0.0
            parts = [
                DenseSamples(x.count, share[i] * x.of_terms, x.whole - (share @ v) @ x.of_terms)
                for x, share in zip(training_sets, w, strict=True)
                if share[i] != 0
            ]
            v[i] = weights_of(parts, every)[0]
    return v
