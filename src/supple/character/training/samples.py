"""A pose as a rest shape: what its cells answer to samples of deformation (pose space, §5.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.bodies import assembly
from supple.bodies.solid import Body
from supple.core.errors import InputError
from supple.core.types import Bools, Floats, Ints
from supple.reduction.cubature.cubature import gradients_of_basis
from supple.reduction.cubature.poses import SCALES, energies_and_forces, frame_of, linear_forces

_POOL = 2**27  # numbers that describe the terms to choose from: 512 MB
_CHUNK = 2**20  # numbers in flight while cells are evaluated: 8 MB
_MOST = 0.9  # of the energy: in cells whose gradient is below the amplitude of a sample
_MARGIN = 1.25  # a sample this much larger must not yet turn a cell inside out
_SHRINK = 0.8  # what a sample that does is multiplied by
_LOWEST = -0.25  # of the stiffness of all cells: the most that cubature may have too much
_ROUNDS = 50  # of bounding that, and of keeping regions apart
_ROUNDING = 1e-9  # of such shares
_LINEAR = 0.25  # how much the linear part of forces counts, which the stiffness of the body mends
LEAST = 0.05  # of the usual force in a region: samples that drive it less count as this

Part = tuple[Ints, Ints, NDArray[np.float32]]


@dataclass(frozen=True, eq=False)
class RestPose:
    """A body at rest in a pose, and the basis of its deformations there, in the world."""

    body: Body
    shapes: Floats
    """(r, n, 3)"""
    masses: Floats
    """Of the vertices in the neutral pose [kg], (n,)."""
    regions: Ints
    """Region of each column, (r,)."""
    groups: ColumnGroups
    """Cells by the columns that they feel; cells that are in none do not count."""

    @cached_property
    def mass(self) -> Floats:
        """M̃, (r, r)."""
        flat = (self.shapes * self.masses[:, None]).reshape(len(self.shapes), -1)
        return np.asarray(flat @ self.shapes.reshape(len(self.shapes), -1).T)

    @cached_property
    def stiffness(self) -> Floats:
        """K̃ of all cells at rest, (r, r)."""
        counted = np.zeros(self.body.mesh.n_cells)
        counted[np.concatenate(self.groups.terms)] = 1.0
        still = np.zeros_like(self.shapes[0])
        rest = self.body.evaluate(still, order=2, cell_factors=counted).stiffness
        pushed = [self.body.pattern.multiply(rest, phi).reshape(-1) for phi in self.shapes]
        K = np.array(pushed) @ self.shapes.reshape(len(self.shapes), -1).T
        return np.where(self._coupled, (K + K.T) / 2, 0.0)

    @cached_property
    def balance(self) -> Floats:
        """B, (r, r): where q = Bᵀ z, the stiffness of each region at rest is the identity.

        There an error in a soft mode counts like one of the same share in a stiff mode.
        """
        from scipy.linalg import eigh  # slow to import

        B = np.zeros_like(self.mass)
        for region in np.unique(self.regions):
            block = np.flatnonzero(self.regions == region)
            at = np.ix_(block, block)
            squares, modes = eigh(self.stiffness[at], self.mass[at])
            B[at] = (modes / np.sqrt(squares)).T
        return B

    def balanced(self) -> RestPose:
        """The same in coordinates z."""
        return replace(self, shapes=np.tensordot(self.balance, self.shapes, axes=1))

    # -- samples -----------------------------------------------------------------------

    def draw(self, count: int, rng: np.random.Generator, amplitude: float) -> Floats:
        """Samples q (count, r): Gaussian in the modes of each region, by stiffness.

        One half is like shapes under random loads, q ∝ 1/ω²; the other like thermal motion,
        q ∝ 1/ω, in which stiff modes have their part. Where most of the energy of a region is, the
        gradient of displacements is at most ``amplitude``, or down to a twentieth of it.
        """
        from scipy.linalg import eigh  # slow to import

        q = np.empty((count, len(self.shapes)))
        power = np.where(np.arange(count) // len(SCALES) % 2 == 0, 1.0, 0.5)[:, None]
        scales = amplitude * SCALES[np.arange(count) % len(SCALES)]
        for region in np.unique(self.regions):
            block = np.flatnonzero(self.regions == region)
            at = np.ix_(block, block)
            squares, modes = eigh(self.stiffness[at], self.mass[at])
            normal = rng.normal(size=(count, len(block))) @ frame_of(self.shapes[block], modes).T
            drawn = (normal / (squares / squares[0]) ** power) @ modes.T
            q[:, block] = drawn * (scales / self._reach(drawn, block))[:, None]
        self._shrink_inverted(q)
        return q

    def _reach(self, q: Floats, block: Ints) -> Floats:
        """Norm of the displacement gradient below which most of the energy is stored, (T,).

        The energy counts, and not the number of cells: ears are few of them, slivers are light.
        """
        cells = np.concatenate([t for t, columns in self._grouped() if np.isin(block[0], columns)])
        part = self._part
        norms = np.empty((len(q), len(cells)))
        step = max(1, _CHUNK // (9 * (len(q) + len(block))))
        for a in range(0, len(cells), step):
            G = gradients_of_basis(part, cells[a : a + step], self.shapes[block])
            at = G.reshape(-1, 9, len(block)) @ q.T  # (c, 9, T)
            norms[:, a : a + step] = np.linalg.norm(at, axis=1).T
        order = np.argsort(norms, axis=1)
        ascending = np.take_along_axis(norms, order, axis=1)
        stored = np.cumsum(part.weights[cells].sum(axis=1)[order] * ascending**2, axis=1)
        most = (stored < _MOST * stored[:, -1:]).sum(axis=1)
        return np.asarray(ascending[np.arange(len(q)), most])

    def _shrink_inverted(self, q: Floats) -> None:
        """Makes samples smaller until no cell is near an inversion that it cannot survive."""
        if self._part.material.survives_inversion:
            return
        bad = np.arange(len(q))
        while len(bad):
            fine = np.ones(len(bad), dtype=bool)
            for cells, columns in self._chunks(len(bad)):
                tried = _MARGIN * q[np.ix_(bad, columns)]
                psi, _ = energies_and_forces(self._part, cells, self.shapes[columns], tried, 0)
                fine &= np.isfinite(psi).all(axis=(0, 2))
            bad = bad[~fine]
            q[bad] *= _SHRINK

    # -- forces ------------------------------------------------------------------------

    def forces(self, q: Floats) -> Floats:
        """f̃ of all cells in samples (T, r), (T, r)."""
        total = np.zeros_like(q)
        for cells, columns in self._chunks(len(q)):
            found = energies_and_forces(self._part, cells, self.shapes[columns], q[:, columns], 1)
            total[:, columns] += found[1].sum(axis=0)
        return total

    def cubature_forces(self, q: Floats, cells: Ints, weights: Floats) -> Floats:
        """f̃ from cubature cells (c,) with weights (c,), (T, r) (Eq. 21)."""
        total = np.zeros_like(q)
        for place, some, columns in self.groups.of_terms(cells):
            found = energies_and_forces(self._part, some, self.shapes[columns], q[:, columns], 1)[1]
            total[:, columns] += np.einsum("e,etk->tk", weights[place], found)
        return total

    def linear_stiffness(self, cells: Ints, weights: Floats) -> Floats:
        """K̃ of cubature cells (c,) with weights (c,) at rest, (r, r) (Eq. 22 at q = 0)."""
        K = np.zeros_like(self.mass)
        for place, some, columns in self.groups.of_terms(cells):
            each = np.eye(len(columns))
            found = linear_forces(self._part, some, self.shapes[columns], each)
            K[np.ix_(columns, columns)] += np.einsum("e,etk->tk", weights[place], found)
        return (K + K.T) / 2

    def gap(self, cells: Ints, weights: Floats) -> Floats:
        """D, K̃ of all cells at rest less that of cubature cells with weights (c,), (r, r).

        What those have too much is taken back by a negative spring. One nearly as strong as the
        body would win where cells soften: its share is bounded. What bounds it spreads over all
        columns, also of regions that have no cell in common; these are kept apart, in turns.
        """
        from scipy.linalg import eigh, eigvalsh  # slow to import

        D = np.where(self._coupled, self.stiffness - self.linear_stiffness(cells, weights), 0.0)
        for _ in range(_ROUNDS):
            shares, modes = eigh(D, self.stiffness)
            if shares[0] >= _LOWEST - _ROUNDING:
                return D
            duals = self.stiffness @ modes
            raised = D + (np.maximum(_LOWEST - shares, 0.0) * duals) @ duals.T
            D = np.where(self._coupled, raised, 0.0)
        missing = max(_LOWEST - float(eigvalsh(D, self.stiffness)[0]), 0.0)
        return np.asarray(D + missing * self.stiffness)

    @cached_property
    def _coupled(self) -> Bools:
        """Which columns have a cell that feels both of them, (r, r)."""
        coupled = np.zeros(self.mass.shape, dtype=bool)
        for columns in self.groups.columns:
            coupled[np.ix_(columns, columns)] = True
        return coupled

    def samples(self, q: Floats, pool: Ints) -> SparseSamples:
        """What the cells of ``pool`` (c,) give in samples (T, r), and all cells together.

        Rows are what is not linear in the force, and then, of every second sample, what is.
        """
        n = self.body.mesh.n_cells
        place = np.full(n, -1)
        place[pool] = np.arange(len(pool))
        whole, linear = np.zeros_like(q), np.zeros_like(q)
        parts: list[Part] = []
        for cells, columns in self._chunks(2 * len(q)):
            at = self._part, cells, self.shapes[columns], q[:, columns]
            straight = linear_forces(*at)
            bent = energies_and_forces(*at, 1)[1]
            whole[:, columns] += bent.sum(axis=0)
            linear[:, columns] += straight.sum(axis=0)
            mine = np.flatnonzero(place[cells] >= 0)
            if len(mine):
                rows = _rows(bent[mine], straight[mine], axis=1).astype(np.float32)
                parts.append((place[cells[mine]], columns, rows))
        sizes = sizes_of(whole, self.regions)
        sizes = np.concatenate([sizes, sizes[::2]])
        count = len(q) * len(np.unique(self.regions))
        return SparseSamples.of(_rows(whole, linear, axis=0), parts, len(pool), sizes, count)

    @property
    def _part(self) -> assembly.Part:
        return self.body.parts[0]

    def _grouped(self) -> Iterator[tuple[Ints, Ints]]:
        return zip(self.groups.terms, self.groups.columns, strict=True)

    def _chunks(self, samples: int) -> Iterator[tuple[Ints, Ints]]:
        """Cells in chunks, with the columns that they feel."""
        for cells, columns in self._grouped():
            step = max(1, _CHUNK // (samples * (19 + len(columns)) + 9 * len(columns)))
            for a in range(0, len(cells), step):
                yield cells[a : a + step], columns


class InterpolatedPose(NamedTuple):
    """A pose with its rest shape, and how it is made of the m that have a basis."""

    rest: RestPose
    features: Floats
    """Of the pose, (f,)."""
    w: Floats
    """How much each of the m counts, (m,)."""
    upsilon: Floats
    """Diagonal of Υ, (r,)."""


def _rows(forces: Floats, linear: Floats, axis: int) -> Floats:
    """What cells are to add up to: forces but for their linear part, and some of that."""
    some = linear[:, ::2] if axis == 1 else linear[::2]
    return np.concatenate([forces - linear, _LINEAR * some], axis=axis)


@dataclass(frozen=True, eq=False)
class ColumnGroups:
    """Terms, which are cells or vertices, by the columns of a basis that they feel."""

    terms: tuple[Ints, ...]
    columns: tuple[Ints, ...]

    @classmethod
    def of(cls, regions: Ints, touched: Bools) -> ColumnGroups:
        """Column k is in region ``regions[k]``, which touches the terms ``touched`` (regions, t).

        Terms that no region touches are left out.
        """
        kinds, kind = np.unique(touched, axis=1, return_inverse=True)
        terms, columns = [], []
        for k, within in enumerate(kinds.T):
            felt = np.flatnonzero(within[regions])
            if len(felt):
                terms.append(np.flatnonzero(kind.reshape(-1) == k))
                columns.append(felt)
        return cls(tuple(terms), tuple(columns))

    def of_terms(self, wanted: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
        """Groups of wanted terms: their places in ``wanted``, the terms, the columns."""
        for terms, columns in zip(self.terms, self.columns, strict=True):
            place = np.flatnonzero(np.isin(wanted, terms))
            if len(place):
                yield place, wanted[place], columns

    def pool(self, count: int, rows: int, rng: np.random.Generator) -> Ints:
        """Terms, of so many, to choose from: all that feel a column, or as many as there is memory
        for with so many rows for each column, (c,)."""
        felt = np.zeros(count, dtype=np.int64)
        for terms, columns in zip(self.terms, self.columns, strict=True):
            felt[terms] = len(columns)
        found = rng.permutation(np.flatnonzero(felt))
        needed = np.cumsum(felt[found]) * rows
        return np.sort(found[: max(1, int(np.searchsorted(needed, _POOL)))])


@dataclass(frozen=True, eq=False)
class SparseSamples:
    """Reduced forces of terms in T samples, each kept for the columns that it feels.

    Every row is divided by the size of the force in its sample and region.
    """

    whole: Floats
    """(T · r,)"""
    parts: tuple[Part, ...]
    """Places of terms (c,), their columns (k,), and their forces (c, T, k), in single precision."""
    terms: int
    count: int
    """Number of pairs of a sample and a region."""
    samples: int
    """T"""

    @classmethod
    def of(
        cls, whole: Floats, parts: list[Part], terms: int, sizes: Floats, count: int
    ) -> SparseSamples:
        """Of forces that are not divided by their ``sizes`` yet: ``whole``, those of the parts."""
        for _, columns, forces in parts:
            forces /= sizes[:, columns].astype(np.float32)
        return cls((whole / sizes).reshape(-1), tuple(parts), terms, count, len(whole))

    def correlations(self, residual: Floats) -> Floats:
        rows = residual.reshape(self.samples, -1).astype(np.float32)
        found = np.zeros(self.terms)
        for place, columns, forces in self.parts:
            found[place] = forces.reshape(len(place), -1) @ rows[:, columns].reshape(-1)
        return found

    def squares(self) -> Floats:
        found = np.zeros(self.terms)
        for place, _, forces in self.parts:
            found[place] = np.einsum("etk,etk->e", forces, forces, dtype=np.float64)
        return found

    def columns(self, which: Ints) -> Floats:
        found = np.zeros((len(which), self.samples, len(self.whole) // self.samples))
        row = np.full(self.terms, -1)
        row[which] = np.arange(len(which))
        for place, columns, forces in self.parts:
            mine = np.flatnonzero(row[place] >= 0)
            found[row[place[mine]][:, None, None], np.arange(self.samples)[:, None], columns] = (
                forces[mine]
            )
        return found.reshape(len(which), -1)


def sizes_of(whole: Floats, regions: Ints) -> Floats:
    """Size of the force in each sample and the region of each column, (T, r)."""
    sizes = np.empty_like(whole)
    for region in np.unique(regions):
        block = regions == region
        norms = np.linalg.norm(whole[:, block], axis=1)
        usual = np.sqrt(np.mean(norms**2))
        if not (np.isfinite(usual) and usual > 0):
            raise InputError(
                f"nothing drives region {region} in any sample, or without end; give the region "
                "vertices that are not fixed, and poses that move it"
            )
        sizes[:, block] = np.maximum(norms, LEAST * usual)[:, None]
    return sizes
