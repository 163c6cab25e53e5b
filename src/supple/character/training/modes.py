"""Modes and derivatives of a body in a pose: in one region, under contact (pose space, §§6–7)."""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sparse
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator, cg, eigsh

from supple.bodies.solid import Body
from supple.character.training.contact import PoseContact
from supple.core.checks import numbers, whole_number
from supple.core.errors import ContactNotKept, InputError
from supple.core.types import Floats, Ints
from supple.reduction.derivatives import force_derivatives
from supple.reduction.modes import Modes, canonicalize, mass_times
from supple.solvers.interface import NotPositiveDefinite
from supple.solvers.linear.cholesky import MatrixFactorization

_FEW = 3  # displacements for each mode: dense algebra finds the modes of so few
_RIGID = 1e-12  # ω² below this share of the largest one is that of a rigid motion
_LOOSE = (
    "the stiffness is not positive definite here: a part of the body, or of a region, is not held. "
    "Fix some of its vertices; or it hangs on a single vertex or edge and turns on it like a "
    "hinge: join its cells by whole faces."
)
_DEPENDENT = "its rows are nearly dependent: leave out some of them, PoseContact.picked"
_EXACT = 1e-13  # of a residual, where 𝒵 was cut and conjugate gradients mend what that left
_DEPENDENT_SHARE = 1e-6  # rows of which less than this share is new depend on the others
_NEGLIGIBLE = 1e-10  # entries of 𝒵 below are left out where it has to be sparse


def pose_modes(
    body: Body,
    count: int,
    *,
    region: ArrayLike | None = None,
    contact: PoseContact | None = None,
) -> Modes:
    """The ``count`` slowest modes in a region that keep a contact, mass-orthonormal.

    ``region`` (n,) is 1 where the region is free to move, falls to 0 at its rim and stays 0
    outside; None stands for the whole body.
    """
    return ConstrainedRest(body, region, contact).modes(count)[0]


class ConstrainedRest:
    """Small displacements u = W 𝒵 y of a body about rest, with C u = 0 (Eqs. 34 and 35).

    W are the weights of a region (n,), C the rows of a contact. Where there is no region W is 1,
    and where there is no contact 𝒵 is (Eqs. 26 to 28, and 31 to 33).
    """

    def __init__(
        self, body: Body, region: ArrayLike | None = None, contact: PoseContact | None = None
    ) -> None:
        self.body = body
        weights = checked_regions(np.ones(body.n_vertices) if region is None else region, body)[0]
        self._where = np.flatnonzero(body.free & (weights > 0)[:, None])
        self._W = np.repeat(weights, 3)[self._where]
        self.free = len(self._where)
        """Number of displacements that the contact leaves or takes."""
        K = body.stiffness(np.zeros_like(body.mesh.vertices))
        self._K = sparse.csr_array(K[self._where][:, self._where])
        M, W = body.mass[self._where][:, self._where], sparse.diags_array(self._W)
        self._WMW = sparse.csr_array(W @ M @ W)
        self._largest = (self._K.diagonal() / M.diagonal()).max(initial=0.0)  # ω², about
        self._Z: sparse.csr_array = sparse.eye_array(self.free, format="csr")
        if contact is not None:
            C = contact.rows(body.n_vertices)[:, self._where] @ W
            self._Z = nullspace(independent_rows(sparse.csr_array(C)))
        self._Zt = sparse.csr_array(self._Z.T)
        self.size = self._Z.shape[1]
        """Number of independent displacements."""
        cut = thresholded(self._Z)
        self._cut = cut.nnz < self._Z.nnz
        if not self.free:
            raise InputError("nothing can move here: all is fixed; free some vertices")
        if not self.size:
            raise ContactNotKept("nothing can move here: all is held by the contact")
        self._factors = self._factorized(cut)

    def _factorized(self, cut: sparse.csr_array) -> MatrixFactorization:
        """Of 𝒵ᵀK𝒵. Where that fails, K tells whether it is for the contact."""
        try:
            return MatrixFactorization(sparse.csr_array(cut.T @ self._K @ cut))
        except NotPositiveDefinite as error:
            try:
                MatrixFactorization(self._K)
            except NotPositiveDefinite:
                raise InputError(_LOOSE) from error
            raise ContactNotKept(
                f"the stiffness is not positive definite where the contact is kept; {_DEPENDENT}"
            ) from error

    # -- the two spaces ------------------------------------------------------------------

    def _spread(self, y: Floats) -> Floats:
        """𝒵 y as fields (k, n, 3), for y (N, k)."""
        fields = np.zeros((y.shape[1], 3 * self.body.n_vertices))
        fields[:, self._where] = (self._Z @ y).T
        return fields.reshape(len(fields), -1, 3)

    def _weighted(self, fields: Floats) -> Floats:
        """W 𝒵 y from 𝒵 y, (k, n, 3)."""
        shapes = np.zeros_like(fields).reshape(len(fields), -1)
        shapes[:, self._where] = self._W * fields.reshape(len(fields), -1)[:, self._where]
        return shapes.reshape(fields.shape)

    def _stiff(self, y: Floats) -> Floats:
        return np.asarray(self._Zt @ (self._K @ (self._Z @ y)))

    def _heavy(self, y: Floats) -> Floats:
        return np.asarray(self._Zt @ (self._WMW @ (self._Z @ y)))

    def _operator(self, product: object) -> LinearOperator:
        return LinearOperator((self.size, self.size), matvec=product, dtype=float)

    def solve(self, rhs: Floats) -> Floats:
        """y (N, k) with (𝒵ᵀK𝒵) y = rhs: direct, and mended by conjugate gradients where 𝒵 was
        cut."""
        found = self._factors.solve(rhs)
        if not self._cut:
            return found
        inverse = self._operator(self._factors.solve)
        exact = self._operator(self._stiff)
        for k in range(rhs.shape[1]):
            found[:, k], failed = cg(
                exact, rhs[:, k], x0=found[:, k], rtol=_EXACT, M=inverse, maxiter=200
            )
            if failed:
                raise ContactNotKept(
                    "conjugate gradients found no displacement that keeps the contact; "
                    + _DEPENDENT
                )
        return found

    # -- modes and derivatives -----------------------------------------------------------

    def modes(self, count: int) -> tuple[Modes, Floats]:
        """The slowest modes φ = W 𝒵 y, and 𝒵 y (count, n, 3)."""
        if whole_number("count", count, at_least=1) > self.size:
            raise InputError(
                f"count={count}: only {self.size} independent displacements are free here; give "
                "at most that"
            )
        values, y = self._eigenvectors(count)
        if values.min() <= _RIGID * self._largest:
            raise InputError(_LOOSE)
        order = np.argsort(values)
        fields = self._spread(y[:, order])
        shapes = self._weighted(fields)
        canonicalize(values[order], shapes, fields)
        return Modes(np.sqrt(values[order]) / (2 * np.pi), shapes), fields

    def _eigenvectors(self, count: int) -> tuple[Floats, Floats]:
        """λ (count,) and y (N, count) of Eq. 34."""
        if self.size <= _FEW * count:
            K, M = (product(np.eye(self.size)) for product in (self._stiff, self._heavy))
            last = self.size - 1
            # M y = y K / λ, since M is not definite where W is nearly 0
            inverse, y = scipy.linalg.eigh(M, K, subset_by_index=(last - count + 1, last))
            return 1 / inverse, y / np.sqrt(inverse)
        values, y = eigsh(
            self._operator(self._stiff),
            k=count,
            M=self._operator(self._heavy),
            sigma=0.0,
            OPinv=self._operator(lambda x: self.solve(x.reshape(-1, 1))[:, 0]),
            which="LM",
            v0=np.random.default_rng(0).normal(size=self.size),
        )
        return values, y

    def pairs(self, count: int) -> Ints:
        """Which of ``count`` modes (i, j) each of the derivatives belongs to, (pairs, 2).

        All of them where W falls off, since there ψ^ij and ψ^ji differ, and i ≤ j elsewhere.
        """
        if (self._W == 1).all():
            return np.stack(np.triu_indices(count), axis=1)
        return np.indices((count, count)).reshape(2, -1).T

    def derivatives(self, modes: Modes, fields: Floats) -> Floats:
        """ψ^ij of mode i along mode j for all ``pairs``, given 𝒵 y of ``modes``, (pairs, n, 3)."""
        i, j = self.pairs(len(fields)).T
        forces = force_derivatives(self.body, modes.shapes, fields)[i, j].reshape(len(i), -1)
        # (𝒵ᵀK𝒵) z_ij = −𝒵ᵀ((H : φ_i) 𝒵 y_j), ψ_ij = W 𝒵 z_ij, Eq. 35
        z = self.solve(-(self._Zt @ forces[:, self._where].T))
        return self._weighted(self._spread(z))

    def static_responses(self, accelerations: Floats) -> Floats:
        """W 𝒵 y at which the body rests under accelerations (k, n, 3) [m/s²], (k, n, 3) [m]."""
        forces = mass_times(self.body, accelerations).reshape(len(accelerations), -1)
        # (𝒵ᵀK𝒵) y = 𝒵ᵀ W M a
        y = self.solve(self._Zt @ (self._W * forces[:, self._where]).T)
        return self._weighted(self._spread(y))


def checked_regions(given: ArrayLike, body: Body) -> Floats:
    """Weights of regions in [0, 1], (d, n)."""
    weights = np.atleast_2d(numbers("regions", given))
    if weights.shape[1:] != (body.n_vertices,):
        raise InputError(f"regions have shape {weights.shape}; give (d, {body.n_vertices})")
    if weights.min() < 0 or weights.max() > 1:
        raise InputError(
            f"regions have weights from {weights.min():.3g} to {weights.max():.3g}; give 1 where "
            "a region is free to move, less towards its rim, 0 outside"
        )
    return weights


def independent_rows(C: sparse.csr_array) -> sparse.csr_array:
    """The rows of C (c, N), made of unit length, without those that depend on others."""
    sizes = np.sqrt(np.asarray(C.multiply(C).sum(axis=1)).ravel())
    some = np.flatnonzero(sizes > _DEPENDENT_SHARE * sizes.max(initial=0.0))
    rows = sparse.csr_array(sparse.diags_array(1 / sizes[some]) @ C[some])
    rows.eliminate_zeros()
    if not len(some):
        return rows
    dense = rows[:, np.unique(rows.indices)].toarray()
    R, order = scipy.linalg.qr(dense.T, mode="r", pivoting=True)
    new = np.abs(np.diagonal(R)) > _DEPENDENT_SHARE
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
