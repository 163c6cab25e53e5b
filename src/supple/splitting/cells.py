"""Cells of a solid as local terms: elasticity and dissipation of one quadrature point together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from .._kernels import elements
from .._kernels.local_newton import advance
from .._kernels.local_spectral import advance_stretches, from_stretches, to_stretches
from ..assembly import Part, chunks_by_thread, elastic_points, point_array
from ..damping.cells import BoundCellDamping, Points
from ..solvers.splitting import Dissipation, LocalTerms
from ..threads import run_all
from ..types import Floats

_MOST_TRIALS = 8


class CellTerms(LocalTerms):
    """Φ(F) = w (ψ(F) + r(F, Ḟ)/c_v) with Ḟ = c_v (F − F̂), for the cells of one part."""

    def __init__(
        self,
        part: Part,
        dampings: Sequence[BoundCellDamping],
        *,
        c_v: float,
        dissipation: Dissipation,
    ) -> None:
        self.part, self._dampings = part, dampings
        self._c_v, self._dissipation = c_v, dissipation
        cells, points = part.weights.shape
        self._by_point = (cells, points, 3, 3)
        self.shape = (cells * points, 3, 3)
        self._least = self._least_stiffness()
        self.set_weight(1.0)
        self._work = [[cut for _, cut in chunks] for chunks in chunks_by_thread((part,))]
        self._before = np.zeros(self._by_point)
        self._start_rate = np.zeros(self._by_point)
        self._elasticity = any(model.needs_elasticity for model in dampings)

    def _least_stiffness(self) -> Floats:
        """The least second derivative of Φ [Pa] over all strains of the rest shape, (cells,)."""
        part, whole = self.part, slice(0, len(self.part.cells))
        F = np.zeros((len(part.cells), part.weights.shape[1], 3, 3))
        F[:] = np.eye(3)
        A = np.zeros((*F.shape[:2], 6, 3, 3))
        psi, P = np.zeros(F.shape[:2]), np.zeros_like(F)
        lam, mu = part.lame
        part.material.evaluate(F, lam, mu, psi, P, A, 2)
        rest = Points(part, whole, F, np.zeros_like(F), P, A.copy())
        for model in self._dampings:
            model.add_points(rest, psi, P, A, order=2, factor=self._c_v)
        moduli = _in_strains(A[:, 0])
        least = np.asarray(np.linalg.eigvalsh(moduli)[:, 0], dtype=float)
        return np.asarray(np.maximum(least, 1e-3 * mu), dtype=float)

    def set_weight(self, factor: float) -> None:
        """Multiply the weights that the rule gives by a factor."""
        self._stiffness = factor * self._least  # by volume [Pa], (cells,)
        self._weights = self._stiffness[:, None] * self.part.weights
        self.weights = self._weights.ravel()

    def begin(self, u_v: Floats, start_velocity: Floats) -> None:
        """Set where rates are counted from, and the velocity at the start of the step (n, 3)."""
        part = self.part
        elements.gradients_of(u_v, part.nodes, part.gradients, 1.0, self._before)
        if self._dissipation is Dissipation.SECOND_ORDER:
            elements.gradients_of(start_velocity, part.nodes, part.gradients, 0.0, self._start_rate)

    def gather(self, u: Floats, out: Floats) -> None:
        F, part = out.reshape(self._by_point), self.part

        def some(cuts: list[slice]) -> None:
            for cut in cuts:
                elements.gradients_of(u, part.nodes[cut], part.gradients[cut], 1.0, F[cut])

        run_all([partial(some, cuts) for cuts in self._work])

    def scatter(self, y: Floats, out: Floats) -> None:
        Y, part = y.reshape(self._by_point), self.part
        elements.add_nodal_forces(part.nodes, part.gradients, self._weights, Y, out)

    def add_matrix(self, values: Floats) -> None:
        part = self.part
        a, b = np.triu_indices(part.nodes.shape[1])
        products = np.einsum(
            "cq,cqpi,cqpi->cp", self._weights, part.gradients[:, :, a], part.gradients[:, :, b]
        )
        np.add.at(values, np.where(part.slots < 0, ~part.slots, part.slots), products)

    def warm(self, z: Floats, s: Floats) -> None:
        Z, S = z.reshape(self._by_point), s.reshape(self._by_point)

        def some(cuts: list[slice]) -> None:
            for cut in cuts:
                P, _ = self.forces(cut, Z[cut], 1)
                S[cut] = Z[cut] + P / self._stiffness[cut, None, None, None]

        run_all([partial(some, cuts) for cuts in self._work])

    def minimise(self, s: Floats, z: Floats) -> None:
        S, Z = s.reshape(self._by_point), z.reshape(self._by_point)

        def some(cuts: list[slice]) -> None:
            for cut in cuts:
                self._minimise(cut, S[cut], Z[cut])

        run_all([partial(some, cuts) for cuts in self._work])

    def _minimise(self, cut: slice, s: Floats, z: Floats) -> None:
        if not self._dampings:
            self._minimise_stretches(cut, s, z)
            return
        part = self.part
        trial, step = (point_array(name, part, cut, 3, 3) for name in ("trial", "step"))
        norm, length = (point_array(name, part, cut) for name in ("norm", "length"))
        trial[:] = z
        norm[:], length[:] = np.inf, 1.0
        w = self._stiffness[cut]
        for _ in range(_MOST_TRIALS):
            P, A = self.forces(cut, trial, 2)
            if not advance(z, trial, s, w, P, A, norm, step, length, self.accuracy):
                break

    def _minimise_stretches(self, cut: slice, s: Floats, z: Floats) -> None:
        part = self.part
        U, V, trial = (point_array(name, part, cut, 3, 3) for name in ("U", "V", "trial"))
        sigma, x, step = (point_array(name, part, cut, 3) for name in ("sigma", "x", "step"))
        norm, length = (point_array(name, part, cut) for name in ("norm", "length"))
        to_stretches(s, U, sigma, V, trial, norm, length)
        w = self._stiffness[cut]
        for _ in range(_MOST_TRIALS):
            _, P, A = elastic_points(part, cut, trial, 2)
            left = advance_stretches(x, trial, sigma, w, P, A, norm, step, length, self.accuracy)
            if not left:
                break
        from_stretches(U, x, V, z)

    def forces(self, cut: slice, F: Floats, order: int) -> tuple[Floats, Floats]:
        """∂Φ/∂F by volume [Pa] at F (c, q, 3, 3), and its derivative if order ≥ 2."""
        part = self.part
        psi, P, A = elastic_points(part, cut, F, order)
        if not self._dampings:
            return P, A
        elastic_P, elastic_A = P, A
        if self._elasticity:
            elastic_P = point_array("elastic P", part, cut, 3, 3)
            elastic_A = point_array("elastic A", part, cut, 6, 3, 3)
            if order < 2:
                elastic_points(part, cut, F, 2)
            elastic_P[:], elastic_A[:] = P, A
        rate = point_array("rate", part, cut, 3, 3)
        np.multiply(F - self._before[cut], self._c_v, out=rate)
        points = Points(part, cut, F, rate, elastic_P, elastic_A)
        for model in self._dampings:
            model.add_points(points, psi, P, A, order=order, factor=self._c_v)
            if order >= 2:
                model.add_stress_points(points, A)
            if self._dissipation is not Dissipation.BALANCE:
                model.add_shape_gradient_points(points, P, 1 / self._c_v)
            if self._dissipation is Dissipation.SECOND_ORDER:
                start = Points(part, cut, F, self._start_rate[cut], elastic_P, elastic_A)
                model.add_shape_gradient_points(start, P, -1 / self._c_v)
        return P, A


def _in_strains(A: Floats) -> Floats:
    """The symmetric part of a stress derivative (c, 6, 3, 3) in an orthonormal basis, (c, 6, 6)."""
    full = np.empty((len(A), 3, 3, 3, 3))  # ∂P_ij/∂F_kl
    s = 0
    for j in range(3):
        for l in range(j, 3):
            full[:, :, j, :, l] = A[:, s]
            full[:, :, l, :, j] = A[:, s].transpose(0, 2, 1)
            s += 1
    basis = []
    for i in range(3):
        for j in range(i, 3):
            e = np.zeros((3, 3))
            e[i, j] = e[j, i] = 1.0 if i == j else np.sqrt(0.5)
            basis.append(e)
    B = np.array(basis)
    moduli: Floats = np.einsum("aij,cijkl,bkl->cab", B, full, B, optimize=True)
    return moduli
