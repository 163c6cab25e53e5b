"""Training a cubature: poses, the forces of cells in them, and the cells that stand for all."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.solid import Body
from supple.core.checks import number, numbers, whole_number
from supple.core.errors import InputError
from supple.core.types import Floats, Ints, Progress
from supple.reduction.cubature.cubature import (
    Cubature,
    CubatureWarning,
    checked_vectors,
    points_a_cell,
)
from supple.reduction.cubature.poses import SCALES, EnergyCoordinates, PoseSampler
from supple.reduction.cubature.selection import (
    DenseSamples,
    Good,
    PointSamples,
    Selection,
    select,
)

LARGEST_GOOD_ERROR = 0.03
_TOLERANCE = 0.01
_CELLS_A_COORDINATE = 10  # 4 to 7 are needed for 1 %, as a rule
_MOST_POSES = 0.98  # in which the force is right to the tolerance
_POOL = 2**25  # numbers that describe the cells to choose from: 256 MB


def train_cubature(
    body: Body,
    vectors: ArrayLike,
    *,
    poses: int | ArrayLike = 200,
    size: int | None = None,
    tolerance: float | None = None,
    amplitude: float = 0.3,
    seed: int = 0,
    by_point: bool | None = None,
    progress: Progress | None = None,
) -> Cubature:
    """A cubature for the basis ``vectors`` (r, n, 3), whatever the body's materials.

    ``poses`` is how many training poses to draw, or coordinates (N, r) of poses to use, of which
    every fifth is kept for the test. Half of those drawn are random, half at rest under random
    loads. They have five scales; at the largest the vertex that moves most moves by ``amplitude``
    times the longest side of the body's bounding box. Where a material does not survive inversion,
    poses that come near it are made smaller.

    Cells are added until the relative error of the force is at most ``tolerance``, 1 % by default,
    in 49 of 50 poses, or there are ``size`` cells, by default 10 r. Where poses are drawn, half as
    many others, to which no weights are fitted, count among these. If only ``size`` is given, that
    many cells are used as far as they help. The errors told are root mean squares over poses; those
    of the test are used for nothing else. A CubatureWarning tells of an error above 3 %.

    ``by_point`` chooses single quadrature points in place of whole cells, of which ``size`` is then
    the number. Where cells have several, as bricks do, that is done unless told otherwise: points
    do as well as cells, of which each costs as much as all of its points.
    """
    basis = checked_vectors(body, vectors)
    by_point = points_a_cell(body) > 1 if by_point is None else bool(by_point)
    if size is None:
        most = _CELLS_A_COORDINATE * len(basis)
    else:
        most = whole_number("size", size, at_least=1)
    if tolerance is None:
        target = _TOLERANCE if size is None else 0.0
    else:
        target = number("tolerance", tolerance, at_least=0.0, below=1.0)
    number("amplitude", amplitude, above=0.0, below=10.0)
    rng = np.random.default_rng(whole_number("seed", seed, at_least=0))
    coordinates = EnergyCoordinates.of(body, basis)
    sampler = PoseSampler(body, coordinates, amplitude, progress)
    if isinstance(poses, int | np.integer):
        whole_number("poses", poses, at_least=2 * len(SCALES))
        training_set = _drawn_training_set(sampler, int(poses), by_point, rng)
    else:
        training_set = _given_training_set(sampler, poses, by_point, rng)
    good = _watch(sampler, training_set, target)
    goals = {"most": most, "tolerance": target, "good": good, "progress": progress}
    selected = _select(training_set.batches, **goals)
    error = selected.error
    found = training_set.pool.cubature(body, basis, selected.chosen, selected.weights[0])
    exact = sampler.total_force(training_set.test)
    B = coordinates.B
    missed = found.evaluate_many(training_set.test @ B.T, order=1)[1] @ B - exact
    test_error = float(np.sqrt(np.mean(np.sum((missed / _lengths(exact)) ** 2, axis=1))))
    if max(error, test_error) > LARGEST_GOOD_ERROR:
        warnings.warn(
            f"this cubature of {found.size} {found.kind} misses the reduced force by "
            f"{100 * error:.3g} % in its training poses and by {100 * test_error:.3g} % in others; "
            f"allow more {found.kind} (size=), train with more poses (poses=), or with smaller "
            "ones (amplitude=)",
            CubatureWarning,
            stacklevel=2,
        )
    return replace(
        found,
        training_error=error,
        test_error=test_error,
        poses=sum(batch.count for batch in training_set.batches),
        shrunk_poses=training_set.shrunk,
    )


@dataclass(frozen=True, eq=False)
class _Pool:
    """Cells to choose from, (c,), or one quadrature point of each."""

    cells: Ints
    points: Ints | None

    def cubature(self, body: Body, vectors: Floats, chosen: Ints, weights: Floats) -> Cubature:
        """The cubature of some of them."""
        points = None if self.points is None else self.points[chosen]
        return Cubature.of_cells(body, vectors, self.cells[chosen], weights, points=points)


def _samples(sampler: PoseSampler, z: Floats, pool: _Pool) -> DenseSamples | PointSamples:
    """What cells should add up to in poses z: forces over the norm of the whole force."""
    cells, r = pool.cells, z.shape[1]
    if pool.points is not None:
        P, G = np.empty((len(cells), len(z), 9)), np.empty((len(cells), 9, r))
        whole = sampler.stresses(z, cells, pool.points, P, G)
        lengths = _lengths(whole)
        P /= lengths
        return PointSamples(len(z), P, G, (whole / lengths).reshape(-1))
    of_cells = np.empty((len(cells), *z.shape))
    whole = sampler.forces(z, cells, of_cells)
    lengths = _lengths(whole)
    of_cells /= lengths
    return DenseSamples(len(z), of_cells.reshape(len(cells), -1), (whole / lengths).reshape(-1))


@dataclass(frozen=True, eq=False)
class _TrainingSet:
    """All that a training learns from: cells to choose from, and poses z."""

    pool: _Pool
    batches: list[DenseSamples | PointSamples]
    others: Floats
    """Poses in which forces are to be right too, but which no weights are fitted to."""
    test: Floats
    shrunk: int


def _watch(sampler: PoseSampler, training_set: _TrainingSet, tolerance: float) -> Good:
    """Tells whether cells are good in the poses that are watched.

    A mean would not do: half of the poses are worse, and in which of them a body comes to rest is
    chance. All of them would be too much: to meet the worst few takes up to twice as many cells.
    """
    body, shapes, others = sampler.body, sampler.coordinates.shapes, training_set.others
    exact = sampler.total_force(others) if len(others) else others
    sizes = _lengths(exact)[:, 0] if len(others) else others

    def good(chosen: Ints, weights: Floats) -> bool:
        errors = []
        for batch in training_set.batches:
            left = batch.whole - weights[0] @ batch.columns(chosen)
            errors.append(np.linalg.norm(left.reshape(batch.count, -1), axis=1))
        if len(others):
            cubature = training_set.pool.cubature(body, shapes, chosen, weights[0])
            missed = cubature.evaluate_many(others, order=1)[1] - exact
            errors.append(np.linalg.norm(missed, axis=1) / sizes)
        fine = np.concatenate(errors) <= tolerance
        return bool(fine.mean() >= _MOST_POSES)

    return good


def _drawn_training_set(
    sampler: PoseSampler, count: int, by_point: bool, rng: np.random.Generator
) -> _TrainingSet:
    """Poses at random, and poses at rest found with a coarse cubature for the former."""
    r = len(sampler.coordinates.omega)
    pool = _pool(sampler.body, count, r, by_point, rng)
    moving = sampler.draw(count - count // 2, rng)
    shrunk = sampler.shrink_inverted(moving)
    first = _samples(sampler, moving, pool)
    few = _select([first], most=_CELLS_A_COORDINATE * r, tolerance=LARGEST_GOOD_ERROR)
    shapes = sampler.coordinates.shapes
    coarse = pool.cubature(sampler.body, shapes, few.chosen, few.weights[0])
    resting = sampler.draw_resting(count // 2, rng, coarse)
    some = max(len(SCALES), count // 4)
    others, test = (
        np.concatenate([sampler.draw(some, rng), sampler.draw_resting(some, rng, coarse)])
        for _ in range(2)
    )
    shrunk += sum(sampler.shrink_inverted(z) for z in (resting, others, test))
    return _TrainingSet(pool, [first, _samples(sampler, resting, pool)], others, test, shrunk)


def _given_training_set(
    sampler: PoseSampler, given: ArrayLike, by_point: bool, rng: np.random.Generator
) -> _TrainingSet:
    r = len(sampler.coordinates.omega)
    q = numbers("poses", given)
    if q.ndim != 2 or q.shape[1] != r or len(q) < 5 or not np.abs(q).max(axis=1).all():
        raise InputError(
            f"poses has shape {q.shape}; give how many to draw, or coordinates (N, {r}) of at "
            "least five poses, none of them the rest shape"
        )
    z = np.ascontiguousarray(np.linalg.solve(sampler.coordinates.B, q.T).T)
    shrunk = sampler.shrink_inverted(z)
    kept = np.arange(len(z)) % 5 == 4
    pool = _pool(sampler.body, len(z), r, by_point, rng)
    return _TrainingSet(pool, [_samples(sampler, z[~kept], pool)], z[:0], z[kept], shrunk)


def cell_pool(body: Body, numbers_a_cell: int, rng: np.random.Generator) -> Ints:
    """Cells to choose from: all, or else a sample with equally many of each part."""
    place = np.empty(body.mesh.n_cells)
    for part in body.parts:
        place[part.cells] = rng.permutation(len(part.cells))
    most = max(1, _POOL // numbers_a_cell)
    return np.sort(np.argsort(place, kind="stable")[:most])


def _pool(body: Body, poses: int, r: int, by_point: bool, rng: np.random.Generator) -> _Pool:
    """Cells to choose from, or points of them: all, or equally many of each part."""
    if not by_point:
        return _Pool(cell_pool(body, poses * r, rng), None)
    most = max(1, _POOL // (9 * (poses + r)))
    # one of the points of every cell, then another, so that all of the body is in the pool
    n, points = body.mesh.n_cells, points_a_cell(body)
    turns = np.argsort(rng.random((n, points)), axis=1)
    place = np.empty(n)
    for part in body.parts:
        place[part.cells] = rng.permutation(len(part.cells))
    cells = np.tile(np.argsort(place, kind="stable"), points)[:most]
    singles = turns[cells, np.arange(len(cells)) // n]
    order = np.lexsort((singles, cells))
    return _Pool(cells[order], singles[order])


def _lengths(forces: Floats) -> Floats:
    """Norm of the force in each pose, (T, 1)."""
    lengths: Floats = np.linalg.norm(forces, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and lengths.min() > 0):
        raise InputError("a pose has no force, or none that is finite; change amplitude= or poses=")
    return lengths


def _select(batches: Sequence[DenseSamples | PointSamples], **goals: Any) -> Selection:
    """Which cells of the pool to take, with one weight for all poses."""
    r = len(batches[0].whole) // batches[0].count
    return select([batches], step=max(1, r // 2), **goals)
