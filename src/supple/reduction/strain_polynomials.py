"""The coefficients of the reduced energy of StVK bodies (subspace StVK, §4 and App. B).

All follow from one matrix of products of strain coefficients, summed over the quadrature points;
since λ and μ enter linearly there is one polynomial for each, for λ = 1 and for μ = 1, and for each
group of cells (§6.5).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple._kernels.reduction.strain import fill_strains, gather_monomials
from supple.core.types import Floats, Ints, Progress
from supple.mesh import VolumeMesh
from supple.reduction.polynomial import Quartic, coefficient_count, pair_count

_CHUNK_BYTES = 32e6
_SAME = 1e-12  # of the largest: shape gradients that are equal but for rounding


def unit_polynomials(
    mesh: VolumeMesh,
    vectors: Floats,
    cells: Ints,
    factors: tuple[Floats, Floats] | None = None,
    progress: Progress | None = None,
) -> tuple[Floats, Floats]:
    """Coefficients of the λ-part and the μ-part of the energy of some cells (App. B).

    For λ = μ = 1, or for ``factors`` λ and μ of each of the cells.
    """
    of_lam, of_mu = strain_grams(mesh, vectors, cells, factors, progress)
    return polynomial_of(of_lam, len(vectors)), polynomial_of(of_mu, len(vectors))


def polynomial_of(gram: Floats, r: int) -> Floats:
    """The coefficients of zᵀGz, from the upper triangle of G."""
    quartic = Quartic(r, np.zeros(coefficient_count(r)))
    gather_monomials(gram, r, quartic.P, quartic.Q, quartic.S)
    return quartic.coefficients


def strain_grams(
    mesh: VolumeMesh,
    vectors: Floats,
    cells: Ints,
    factors: tuple[Floats, Floats] | None = None,
    progress: Progress | None = None,
) -> tuple[Floats, Floats]:
    """G with U = zᵀGz, z = (q, all q_i q_j with i ≥ j), for λ and for μ, (r + pairs, r + pairs).

    For λ = μ = 1, or for ``factors`` of each of the cells. The upper triangle alone.
    """
    columns = len(vectors) + pair_count(len(vectors))
    grams = [np.zeros((columns, columns)) for _ in range(2)]
    rows_of = shared_rows(mesh.quadrature().gradients[cells])
    for gradients, weights, here, done in _point_chunks(mesh, vectors, cells, columns):
        strains, traces = _strains(gradients, weights, columns, rows_of)
        # U = ∫ λ/2 tr(E)² + μ E:E
        terms = zip(grams, (traces, strains), (0.5, 1.0), factors or (None, None), strict=True)
        for gram, rows, factor, share in terms:
            if share is not None:
                rows *= _roots(share[here], len(rows))
            _add_products(gram, factor, rows)
        if progress is not None:
            progress(done, len(cells), "cells")
    return grams[0], grams[1]


def _add_products(gram: Floats, factor: float, rows: Floats) -> None:
    """Adds ``factor`` rowsᵀ rows to the upper triangle.

    What is below may be anything. BLAS adds half of the products in place, where SciPy is there to
    say so to it: a matrix of its own would be written, mirrored and read again for every chunk.
    """
    try:
        from scipy.linalg.blas import dsyrk
    except ModuleNotFoundError:  # damping of finished models needs NumPy alone
        gram += factor * (rows.T @ rows)
    else:
        dsyrk(factor, rows.T, beta=1.0, c=gram.T, lower=1, overwrite_c=1)


def fibre_gram(mesh: VolumeMesh, vectors: Floats, factors: Floats, axes: Floats) -> Floats:
    """The same for ½ η (a·Ea)² with η (cells,) along fibres a (cells, 3)."""
    columns = len(vectors) + pair_count(len(vectors))
    gram = np.zeros((columns, columns))
    cells = np.flatnonzero(factors)
    for gradients, weights, here, _ in _point_chunks(mesh, vectors, cells, columns):
        strains, _ = _strains(gradients, weights, columns)
        a = axes[cells[here]]
        shears = np.sqrt(2) * np.stack([a[:, 0] * a[:, 1], a[:, 0] * a[:, 2], a[:, 1] * a[:, 2]], 1)
        along = np.repeat(np.concatenate([a**2, shears], 1), len(weights) // len(a), axis=0)
        rows = np.einsum("pk,pkc->pc", along, strains.reshape(-1, 6, columns))
        rows *= _roots(factors[cells[here]], len(rows))
        _add_products(gram, 0.5, rows)
    return gram


class Rows(NamedTuple):
    """Which rows the six strains of a cell's points take; points may have stretches in common."""

    slots: NDArray[np.uint64]
    """(points, 6), the rows of each point's components."""
    owners: Ints
    """(points, 3), the first point that has each E_kk."""

    @property
    def per_cell(self) -> int:
        """How many a cell has."""
        return int(self.slots.max()) + 1


def shared_rows(gradients: Floats) -> Rows:
    """The rows of cells with shape gradients (cells, points, nodes, 3).

    E_kk follows from ∂u/∂X_k alone. In a box it does not change along k, so that its eight points
    have four of each E_kk: a quarter of all rows less. What holds in every cell counts.
    """
    points = gradients.shape[1]
    owners = np.tile(np.arange(points)[:, None], (1, 3))
    if points > 1 and len(gradients):
        size = np.abs(gradients).max(axis=(1, 2, 3), keepdims=True)[..., 0]
        for k in range(3):
            along = gradients[..., k]
            for p in range(points - 1, -1, -1):
                off = np.abs(along - along[:, p : p + 1]) <= _SAME * size
                owners[off.all(axis=(0, 2)), k] = p
    slots = np.full((points, 6), points * 6, dtype=np.uint64)
    taken = 0
    for p in range(points):
        for s in range(6):
            mine = s > 2 or owners[p, s] == p
            slots[p, s] = taken if mine else slots[owners[p, s], s]
            taken += mine
    return Rows(slots, owners)


def _strains(
    gradients: Floats, weights: Floats, columns: int, rows: Rows | None = None
) -> tuple[Floats, Floats]:
    """Coefficients of the strains and of their traces, as ``fill_strains`` has them.

    Each strain of each point has a row of its own unless ``rows`` say otherwise.
    """
    if rows is None:
        rows = Rows(np.arange(6, dtype=np.uint64)[None], np.zeros((1, 3), dtype=int))
    points = len(rows.slots)
    of_cells = weights.reshape(-1, points)
    here = np.arange(points)
    shared = np.stack(
        [of_cells @ (rows.owners[:, None, k] == rows.owners[None, :, k]) for k in range(3)], axis=-1
    )
    strains = np.empty((rows.per_cell * len(of_cells), columns))
    traces = np.empty((len(weights), columns))
    first = rows.owners == here[:, None]
    fill_strains(gradients, weights, rows.slots, first, shared.reshape(-1, 3), strains, traces)
    return strains, traces


def _roots(of_cells: Floats, rows: int) -> Floats:
    """Roots of the numbers of cells, (rows, 1), for as many rows of each."""
    return np.sqrt(np.repeat(of_cells, rows // len(of_cells)))[:, None]


def moduli_gram(
    mesh: VolumeMesh,
    vectors: Floats,
    cells: Ints,
    moduli: Floats,
    progress: Progress | None = None,
) -> Floats:
    """The same for ½ E:C:E of some cells, with C (cells, 6, 6) as materials say.

    With C = L Lᵀ it is a sum of squares of Lᵀ E.
    """
    columns = len(vectors) + pair_count(len(vectors))
    gram = np.zeros((columns, columns))
    # Rows of strains are E₀₀, E₁₁, E₂₂, √2 E₀₁, √2 E₀₂, √2 E₁₂; moduli have 2 E₁₂, 2 E₀₂, 2 E₀₁.
    order, scale = [0, 1, 2, 5, 4, 3], np.sqrt([1, 1, 1, 2, 2, 2])
    L = np.linalg.cholesky(moduli[:, order][:, :, order] * np.outer(scale, scale))
    for gradients, weights, here, done in _point_chunks(mesh, vectors, cells, columns):
        strains, _ = _strains(gradients, weights, columns)
        by_cell = strains.reshape(here.stop - here.start, -1, 6, columns)
        rows = (L[here].swapaxes(1, 2)[:, None] @ by_cell).reshape(-1, columns)
        _add_products(gram, 0.5, rows)
        if progress is not None:
            progress(done, len(cells), "cells")
    return gram


def _point_chunks(
    mesh: VolumeMesh, vectors: Floats, cells: Ints, columns: int
) -> Iterator[tuple[Floats, Floats, slice, int]]:
    """Displacement gradients (points, 3, 3, r) and weights of a few cells at a time."""
    rule = mesh.quadrature()
    points = rule.weights.shape[1]
    chunk = max(1, int(_CHUNK_BYTES / (7 * 8 * columns * points)))
    for first in range(0, len(cells), chunk):
        here = slice(first, min(first + chunk, len(cells)))
        chosen = cells[here]
        nodes = vectors[:, mesh.cells[chosen]]  # (r, cells, nodes, 3)
        # H_kl = Σ_a u_a,k ∂N_a/∂X_l
        H = np.einsum("ieak,epal->epkli", nodes, rule.gradients[chosen], optimize=True)
        gradients = H.reshape(-1, 3, 3, len(vectors))
        yield np.ascontiguousarray(gradients), rule.weights[chosen].reshape(-1), here, here.stop
