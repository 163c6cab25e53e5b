"""Cells of a solid as local terms: elasticity and dissipation of a point, or dry damping."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from supple._kernels.local_steps.newton import advance, count_doublings
from supple._kernels.local_steps.spectral import (
    Search,
    add_principal_damping,
    add_singular_values,
    advance_stretches,
    from_stretches,
    to_stretches,
)
from supple._kernels.local_steps.stretch import add_stretches, minimise_power_law
from supple.bodies.assembly import Part, elastic_points, elastic_stretches, point_array
from supple.core.types import Floats, Ints
from supple.damping.cells import BoundCellDamping, Points, PointSums
from supple.damping.power_law import BoundStretchPower
from supple.damping.principal_strain import BoundPrincipalStrain
from supple.dynamics.splitting.base import GradientTerms
from supple.integrators import Stage
from supple.solvers.splitting import Dissipation

_MOST_TRIALS = 8
_SHARE = 0.45  # of a weight, with which Φ is to be convex: half of it, with something to spare
_MOST_DOUBLINGS = 10
_WORTH_ALL = 0.6  # share of points not done, below which those are picked out


class CellTerms(GradientTerms):
    """Φ(F) = ψ(F) + r(F, Ḟ)/c_v by volume, with Ḟ = c_v (F − F̂), for the cells of one part.

    The weight of a cell is the least curvature that Φ has over all strains of the rest shape: for
    an elastic solid 2μ, more with viscosity. Larger ones make near-incompressible bodies crawl.
    """

    def __init__(
        self,
        part: Part,
        dampings: Sequence[BoundCellDamping],
        *,
        c_v: float,
        dissipation: Dissipation,
    ) -> None:
        super().__init__(part, least_stiffness(part, dampings, c_v))
        self._dampings, self._c_v, self._dissipation = dampings, c_v, dissipation
        self._before = np.zeros(self.by_point)
        self._start_rate = np.zeros(self.by_point)
        self._elasticity = any(model.needs_elasticity for model in dampings)
        self._principal = _principal_alone(dampings, dissipation)
        self._axes = np.zeros(self.by_point)  # V of the last local minima, to start from
        self._axes[:] = np.eye(3)
        self._stretches_before = np.zeros(self.by_point[:3])
        self._latest: tuple[Floats, Floats] | None = None  # ∂Φ/∂F and its derivative, where last
        # looked at in the stage at hand

    def begin(self, stage: Stage, u_v: Floats, start_velocity: Floats) -> None:
        if self._dampings:
            self.gradients(u_v, 1.0, self._before)
        if self._dissipation is Dissipation.SECOND_ORDER:
            self.gradients(start_velocity, 0.0, self._start_rate)
        if self._principal is not None:
            self._stretches_before[:] = 0.0
            for past in self.past(stage):
                self._add_singular_values(*past)

    def _add_singular_values(self, p: float, q: float, F: Floats, rate: Floats) -> None:
        self.share(
            lambda cut: add_singular_values(F[cut], rate[cut], p, q, self._stretches_before[cut])
        )

    def warm_start(self, z: Floats, s: Floats) -> None:
        Z, S = z.reshape(self.by_point), s.reshape(self.by_point)
        if not self._by_stretches:
            P, A = np.empty(self.by_point), np.empty((*self.by_point[:2], 6, 3, 3))
            self._latest = P, A

        def some(cut: slice) -> None:
            P, A = self.forces(cut, Z[cut], 1 if self._latest is None else 2)
            if self._latest is not None:
                self._latest[0][cut], self._latest[1][cut] = P, A
            forbidden = ~np.isfinite(P).all(axis=(2, 3))  # a support has jumped, say
            if forbidden.any():
                Z[cut][forbidden], P[forbidden] = np.eye(3), 0.0
            S[cut] = Z[cut] + P / self.stiffness[cut, None, None, None]

        self.share(some)

    def raise_weights(self, z: Floats) -> bool:
        """w > 2 m, where −m is the least curvature of Φ at z.

        With curvature a > m of the rest of the body, an iteration multiplies errors by
        (w² − a m)/((w + a)(w − m)), which for all a is above −1 just then.
        """
        Z, grown = z.reshape(self.by_point), []
        rule = self._factor * self._rule

        def some(cut: slice) -> None:
            _, A = self.forces(cut, Z[cut], 2)
            cells = rule[cut], _SHARE, _MOST_DOUBLINGS, self.doublings[cut]
            grown.append(count_doublings(A, *cells))

        self.share(some)
        return any(grown)

    def lower_weights(self) -> None:
        self.doublings[:] = np.maximum(self.doublings - 1, 0)

    def finish(self, s: Floats, z: Floats) -> None:
        self._latest = None

    @property
    def _by_stretches(self) -> bool:
        """Whether Φ is a function of singular values alone."""
        alone = not self._dampings or self._principal is not None
        return alone and self.part.material.is_isotropic

    def minimise(self, s: Floats, z: Floats) -> None:
        S, Z = s.reshape(self.by_point), z.reshape(self.by_point)
        one = self._minimise_stretches if self._by_stretches else self._minimise
        self.share(lambda cut: one(cut, S[cut], Z[cut]))

    def _minimise(self, cut: slice, s: Floats, z: Floats) -> None:
        part = self.part
        cells = np.arange(len(part.cells))[cut]
        trial, step = z.copy(), np.empty_like(z)
        norm, length = np.full(z.shape[:2], np.inf), np.ones(z.shape[:2])
        found = z
        if self._latest is not None:
            # The first direction is by the forces last looked at, which are those at z but for a
            # turn of the body: what it leads to is then looked at whatever it is.
            P, A = (each[cut] for each in self._latest)
            advance(found, trial, s, self.stiffness[cut], P, A, norm, step, length, 0.0)
            norm[:] = np.inf
        for _ in range(_MOST_TRIALS):
            P, A = self.forces(cells, trial, 2)
            if self._latest is not None:
                self._latest[0][cells], self._latest[1][cells] = P, A
            w = self.stiffness[cells]
            left = advance(found, trial, s, w, P, A, norm, step, length, self.accuracy)
            if not left:
                break
            if left < _WORTH_ALL * length.size:  # go on with the cells that are not done
                go = np.flatnonzero(length.any(axis=1))
                z[cells - cut.start] = found
                cells, s, found = cells[go], s[go], found[go]
                trial, step, norm, length = trial[go], step[go], norm[go], length[go]
        z[cells - cut.start] = found

    def _minimise_stretches(self, cut: slice, s: Floats, z: Floats) -> None:
        """The same for energies of singular values alone, with three unknowns."""
        part = self.part
        U, V = point_array("U", part, cut, 3, 3), self._axes[cut]
        names = ("sigma", "x", "trial", "step")
        sigma, x, trial, step = (point_array(name, part, cut, 3) for name in names)
        numbers = (point_array(name, part, cut) for name in ("merit", "norm", "length"))
        search = Search(x, trial, step, *numbers)
        to_stretches(s, z, U, sigma, V, search, self.accuracy)
        w = self.stiffness[cut]
        for _ in range(_MOST_TRIALS):
            psi, p, H = elastic_stretches(part, cut, trial)
            if self._principal is not None:
                factors = self._c_v * self._principal[part.cells[cut]]
                add_principal_damping(trial, self._stretches_before[cut], factors, p, H)
            given = search, sigma, w, psi, p, H
            if not advance_stretches(*given, self.accuracy, self._principal is None):
                break
        from_stretches(s, U, sigma, x, V, z)

    def forces(self, cut: slice | Ints, F: Floats, order: int) -> tuple[Floats, Floats]:
        """∂Φ/∂F [Pa] at F (c, q, 3, 3) of some cells, and its derivative if order ≥ 2."""
        part, c_v = self.part, self._c_v
        psi, P, A = elastic_points(part, cut, F, 2 if self._elasticity else order)
        if not self._dampings:
            return P, A
        elastic_P, elastic_A = P, A  # scratch that models may use too
        P = point_array("local P", part, cut, 3, 3)
        A = point_array("local A", part, cut, 6, 3, 3, wanted=order >= 2)
        P[:], A[:] = elastic_P, elastic_A[: len(A)]
        if self._elasticity:
            kept = point_array("elastic P", part, cut, 3, 3)
            kept_A = point_array("elastic A", part, cut, 6, 3, 3)
            kept[:], kept_A[:] = elastic_P, elastic_A
            elastic_P, elastic_A = kept, kept_A
        rate = point_array("rate", part, cut, 3, 3)
        np.subtract(F, self._before[cut], out=rate)
        rate *= c_v
        points = Points(part, cut, F, rate, elastic_P, elastic_A)
        for model in self._dampings:
            add = model.add_tangent_points if order >= 2 else model.add_points
            add(points, PointSums(psi, P, A, order=order, factor=c_v))
            if self._dissipation is not Dissipation.BALANCE:
                model.add_shape_gradient_points(points, P, 1 / c_v)
            if self._dissipation is Dissipation.SECOND_ORDER:
                start = Points(part, cut, F, self._start_rate[cut], elastic_P, elastic_A)
                model.add_shape_gradient_points(start, P, -1 / c_v)
        return P, A


def _principal_alone(
    dampings: Sequence[BoundCellDamping], dissipation: Dissipation
) -> Floats | None:
    """β of principal strain damping (cells,) where it is all there is, in the form of Eq. 53."""
    if len(dampings) != 1 or dissipation is Dissipation.BALANCE:
        return None
    model = dampings[0]
    return model.beta if isinstance(model, BoundPrincipalStrain) and model.is_plain else None


def least_stiffness(part: Part, dampings: Sequence[BoundCellDamping], c_v: float) -> Floats:
    """The least second derivative of Φ [Pa] over all strains of the rest shape, (cells,)."""
    whole = slice(0, len(part.cells))
    F = np.zeros((*part.weights.shape, 3, 3))
    F[:] = np.eye(3)
    A = np.zeros((*F.shape[:2], 6, 3, 3))
    psi, P = np.zeros(F.shape[:2]), np.zeros_like(F)
    part.evaluate(whole, F, psi, P, A, 2)
    rest = Points(part, whole, F, np.zeros_like(F), P, A.copy())
    for model in dampings:
        model.add_points(rest, PointSums(psi, P, A, order=2, factor=c_v))
    least = np.linalg.eigvalsh(_in_strains(A[:, 0]))[:, 0]
    return np.asarray(np.maximum(least, 1e-3 * part.lame[1]), dtype=float)


def _in_strains(A: Floats) -> Floats:
    """The symmetric part of a stress derivative (c, 6, 3, 3) in an orthonormal basis, (c, 6, 6)."""
    full, B = np.empty((len(A), 3, 3, 3, 3)), np.zeros((6, 3, 3))  # ∂P_ij/∂F_kl, and the basis
    for s, (j, l) in enumerate(zip(*np.triu_indices(3), strict=True)):
        full[:, :, j, :, l] = A[:, s]
        full[:, :, l, :, j] = A[:, s].transpose(0, 2, 1)
        B[s, j, l] = B[s, l, j] = 1.0 if j == l else np.sqrt(0.5)
    moduli: Floats = np.einsum("aij,cijkl,bkl->cab", B, full, B, optimize=True)
    return moduli


class StretchTerms(GradientTerms):
    """Φ(S) = β/c_v ‖c_v (S − Ŝ)‖^(p+1), S the stretch in F = R S (Eqs. 75–78)."""

    def __init__(
        self, part: Part, damping: BoundStretchPower, stiffness: Floats, *, c_v: float
    ) -> None:
        super().__init__(part, stiffness)
        self._p = damping.exponent
        self._b = damping.strength[part.cells] * c_v**damping.exponent
        self._before = np.zeros(self.by_point)
        self._stretch = np.zeros(self.by_point)  # S of the last local minima, to start from
        self._tension = np.zeros(self.by_point)  # w ū by volume, of the last stage [Pa]

    def begin(self, stage: Stage, u_v: Floats, start_velocity: Floats) -> None:
        """Ŝ is made of past stretches as û_v is of past displacements.

        The stretch of û_v would do, but for rotation: extrapolated, that is a swelling.
        """
        self._before[:] = 0.0
        for past in self.past(stage):
            self._add(*past)
        self._stretch[:] = self._before

    def _add(self, p: float, q: float, F: Floats, rate: Floats) -> None:
        self.share(lambda cut: add_stretches(F[cut], rate[cut], p, q, self._before[cut]))

    def warm_start(self, z: Floats, s: Floats) -> None:
        ratio = self._tension / self.stiffness[:, None, None, None]
        s[:] = z + ratio.reshape(self.shape)
        self.minimise(s, z)

    def minimise(self, s: Floats, z: Floats) -> None:
        given, Z = s.reshape(self.by_point), z.reshape(self.by_point)

        def minimise(cut: slice | Ints) -> None:
            law = self._before[cut], self._b[cut], self._p, self.stiffness[cut]
            minimise_power_law(given[cut], *law, self.accuracy, self._stretch[cut], Z[cut])

        self.share(minimise)

    def finish(self, s: Floats, z: Floats) -> None:
        self._tension = self.stiffness[:, None, None, None] * (s - z).reshape(self.by_point)
