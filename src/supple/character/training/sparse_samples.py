"""Forces of many cells or vertices in samples, kept where they are not zero.

Columns of a basis are zero outside of their regions. Terms that the same columns move are treated
together, with those columns alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.core.errors import InputError
from supple.core.types import Bools, Floats, Ints

LEAST = 0.05  # of the usual force in a region: samples that drive it less count as this

Part = tuple[Ints, Ints, NDArray[np.float32]]


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

    def numbers(self, count: int) -> Ints:
        """How many columns each of ``count`` terms feels, (count,)."""
        found = np.zeros(count, dtype=np.int64)
        for terms, columns in zip(self.terms, self.columns, strict=True):
            found[terms] = len(columns)
        return found


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
