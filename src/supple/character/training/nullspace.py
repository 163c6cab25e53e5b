"""Displacements that keep linear constraints, C u = 0 (pose space paper, §6)."""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sparse

_DEPENDENT = 1e-6  # rows of which less than this share is new depend on the others
_NEGLIGIBLE = 1e-10  # entries of 𝒵 below are left out where it has to be sparse


def independent_rows(C: sparse.csr_array) -> sparse.csr_array:
    """The rows of C (c, N), made of unit length, without those that depend on others."""
    sizes = np.sqrt(np.asarray(C.multiply(C).sum(axis=1)).ravel())
    some = np.flatnonzero(sizes > _DEPENDENT * sizes.max(initial=0.0))
    rows = sparse.csr_array(sparse.diags_array(1 / sizes[some]) @ C[some])
    rows.eliminate_zeros()
    if not len(some):
        return rows
    dense = rows[:, np.unique(rows.indices)].toarray()
    R, order = scipy.linalg.qr(dense.T, mode="r", pivoting=True)
    new = np.abs(np.diagonal(R)) > _DEPENDENT
    return rows[np.sort(order[: len(new)][new])]


def nullspace(C: sparse.csr_array) -> sparse.csr_array:
    """𝒵 (N, N − c) with C 𝒵 = 0, of rank N − c, for independent rows C (c, N)."""
    count, n = C.shape
    touched = np.unique(C.indices)
    # C P = L [U_p U_n]; SciPy pivots rows, so Cᵀ = (P U)ᵀ Lᵀ is what it is given.
    place, upper, _ = scipy.linalg.lu(C[:, touched].T.toarray(), p_indices=True)
    order = touched[np.argsort(place)]
    pivots, others = order[:count], order[count:]
    # −C_p⁻¹ C_n = −U_p⁻¹ U_n, Eqs. 29 and 30
    top = -scipy.linalg.solve_triangular(
        upper[:count], upper[count:].T, trans="T", lower=True, unit_diagonal=True
    )
    kept = np.setdiff1d(np.arange(n), pivots)
    i, j = np.nonzero(top)
    rows = np.concatenate([pivots[i], kept])
    columns = np.concatenate([np.searchsorted(kept, others[j]), np.arange(len(kept))])
    values = np.concatenate([top[i, j], np.ones(len(kept))])
    return sparse.csr_array((values, (rows, columns)), shape=(n, n - count))


def thresholded(Z: sparse.csr_array) -> sparse.csr_array:
    """𝒵 without the entries that are too small to matter: products with it stay sparse."""
    cut = Z.copy()
    cut.data[np.abs(cut.data) < _NEGLIGIBLE] = 0.0
    cut.eliminate_zeros()
    return cut
