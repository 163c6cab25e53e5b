"""Viscous damping by a matrix that the user gives, or that another model makes once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from supple._kernels.linear_algebra.blocks import add_scaled
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.shape import Shape
from supple.core.errors import InputError
from supple.core.parameters import Kind, described
from supple.core.sparse import BlockPattern
from supple.core.types import Floats
from supple.damping.base import DAMPINGS, BoundDamping, BoundViscousDamping, Damping

if TYPE_CHECKING:
    import scipy.sparse as sparse

_ASYMMETRY = 1e-10  # share of the largest entry that counts as rounding
_NEGATIVE = 1e-9  # the same for negative eigenvalues, once the diagonal is scaled to 1


MATRIX = Kind("matrix", lambda of, value: _checked(value))


@DAMPINGS.register
@dataclass(frozen=True, eq=False, repr=False)
class Viscous(Damping):
    """∇₂R = C v with any constant ``matrix`` C [N s/m], dense or SciPy sparse, (3n, 3n).

    Rows are components x, y, z of vertex 0, then of vertex 1, and so on. C must be symmetric and
    take energy from every motion, vᵀCv ≥ 0. It may couple vertices that share no cell, e.g. by
    dashpots; a matrix of many such couplings makes steps slow.
    """

    matrix: Any = field(
        metadata=described("C, kept as a SciPy csr_array", kind=MATRIX, unit="N s/m")
    )

    def __repr__(self) -> str:
        n, _ = self.matrix.shape
        return f"Viscous(({n}, {n}), {self.matrix.nnz} entries)"

    def bind(self, body: ElasticBody) -> BoundDamping:
        size, wanted = self.matrix.shape[0], 3 * body.n_vertices
        if size != wanted:
            raise InputError(
                f"the damping matrix is ({size}, {size}), but the body has {body.n_vertices} "
                f"vertices; give ({wanted}, {wanted})"
            )
        return BoundMatrix(body, self.matrix)


class BoundMatrix(BoundViscousDamping):
    """Damping by one symmetric sparse matrix (3n, 3n)."""

    depends_on_shape = False

    def __init__(self, body: ElasticBody, matrix: sparse.csr_array) -> None:
        own, values = _blocks(matrix)
        joint, _, places = body.pattern.union(own)
        if joint.n_blocks == body.pattern.n_blocks:
            self._pattern = body.pattern
            self._values = np.zeros((joint.n_blocks, 3, 3))
            self._values[places] = values
        else:
            self.pattern = self._pattern = own
            self._values = values

    def evaluate(self, shape: Shape, v: Floats) -> tuple[float, Floats]:
        force = self._pattern.multiply(self._values, v)
        return 0.5 * float(np.vdot(v, force)), force

    def multiply(self, shape: Shape, shapes: Floats) -> Floats:
        return self._pattern.multiply_many(self._values, shapes)

    def add_matrix(
        self, shape: Shape, v: Floats, factor: float, values: Floats, *, definite: bool
    ) -> None:
        add_scaled(self._values.reshape(-1), factor, values.reshape(-1))


def _blocks(matrix: sparse.csr_array) -> tuple[BlockPattern, Floats]:
    """The 3 × 3 blocks of the upper triangle, with every diagonal one."""
    blocked = matrix.tobsr(blocksize=(3, 3))
    n = len(blocked.indptr) - 1
    rows = np.repeat(np.arange(n, dtype=np.int64), np.diff(blocked.indptr))
    upper = blocked.indices >= rows
    given = rows[upper] * n + blocked.indices[upper]
    keys = np.union1d(given, np.arange(n, dtype=np.int64) * (n + 1))
    values = np.zeros((len(keys), 3, 3))
    values[np.searchsorted(keys, given)] = blocked.data[upper]
    indptr = np.searchsorted(keys // n, np.arange(n + 1)).astype(np.int64)
    return BlockPattern(indptr, (keys % n).astype(np.int64)), values


def _checked(given: ArrayLike | sparse.sparray) -> sparse.csr_array:
    """``given`` as a symmetric sparse matrix without negative eigenvalues."""
    import scipy.sparse as sparse  # slow to import

    raw: Any = given if sparse.issparse(given) else np.asarray(given)
    if raw.dtype.kind not in "biuf":
        raise InputError(f"the damping matrix has entries of type {raw.dtype}; give numbers")
    if raw.ndim != 2 or raw.shape[0] != raw.shape[1] or raw.shape[0] % 3 or not raw.shape[0]:
        raise InputError(
            f"the damping matrix has shape {raw.shape}; give (3n, 3n) for a body of n vertices"
        )
    matrix = sparse.csr_array(raw, dtype=float, copy=True)
    matrix.sum_duplicates()
    if not np.isfinite(matrix.data).all():
        raise InputError("the damping matrix holds NaN or infinity; every value must be finite")
    size = np.abs(matrix.data).max(initial=0.0)
    skew = abs(matrix - matrix.T).tocoo()
    if skew.nnz and skew.data.max() > _ASYMMETRY * size:
        i, j = (int(k[skew.data.argmax()]) for k in skew.coords)
        raise InputError(
            f"the damping matrix is not symmetric: it has {matrix[i, j]:.6g} at ({i}, {j}) but "
            f"{matrix[j, i]:.6g} at ({j}, {i}); give its symmetric part (C + C.T) / 2"
        )
    matrix = sparse.csr_array(0.5 * (matrix + matrix.T))
    matrix.eliminate_zeros()
    matrix.sort_indices()
    if not _is_non_negative(matrix):
        raise InputError(
            "the damping matrix has a negative eigenvalue and would feed energy to some motion; "
            "give a positive semidefinite one, e.g. add a multiple of the body's mass or stiffness"
        )
    for array in (matrix.data, matrix.indices, matrix.indptr):
        array.setflags(write=False)
    return matrix


def _is_non_negative(matrix: sparse.csr_array) -> bool:
    """Whether no eigenvalue is negative beyond rounding.

    A matrix is positive definite exactly where elimination without exchanges meets positive pivots
    only. That always ends with a clear answer, at the cost of about one time step; an iteration for
    the least eigenvalue does not, since damping matrices often have many that are zero.
    """
    import scipy.sparse as sparse  # slow to import
    from scipy.sparse.linalg import splu

    diagonal = matrix.diagonal()
    damped = diagonal > 0
    rest = np.flatnonzero(~damped)
    if (diagonal < 0).any() or matrix[rest].nnz:
        return False  # a zero on the diagonal needs a row of zeros
    if not damped.any():
        return True
    scale = sparse.diags_array(1 / np.sqrt(diagonal[damped]))
    scaled = scale @ matrix[damped][:, damped] @ scale
    shifted = scaled + _NEGATIVE * sparse.eye_array(scaled.shape[0])
    try:
        factors = splu(
            shifted.tocsc(),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError:  # "Factor is exactly singular"
        return False
    straight = np.array_equal(factors.perm_r, factors.perm_c)
    return straight and bool((factors.U.diagonal() > 0).all())
