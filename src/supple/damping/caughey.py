"""Caughey damping: Rayleigh damping with more than two coefficients (example damping, §4.1.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import ArrayLike

from supple.bodies.elastic_body import ElasticBody
from supple.core.checks import numbers
from supple.core.errors import InputError
from supple.core.parameters import Numbers, described
from supple.core.types import Floats
from supple.damping.base import DAMPINGS, BoundDamping, Damping
from supple.damping.viscous import BoundMatrix

if TYPE_CHECKING:
    import scipy.sparse as sparse

_ROUNDING = 1e-12
_MISSED = 1e-6  # how far, as a share, a ratio may be off before its system counts as unsolvable
_FEW = 30  # free components up to which a dense eigensolver is used


@DAMPINGS.register
@dataclass(frozen=True)
class Caughey(Damping):
    """C = M Σ_j α_j (M⁻¹K)^j (Eq. 13), with the stiffness K of the rest shape.

    ``coefficients`` are α₀ [1/s], α₁ [s], α₂ [s³] and so on; two of them are Rayleigh damping. A
    free vibration of frequency ω/2π has the damping ratio ζ = Σ_j α_j ω^(2j) / 2ω (Eq. 14).
    Coefficients may be negative where the sum is not, for any vibration of the body.

    With more than two the body needs ``mass_model=LumpedMass()``. Each further one couples
    vertices that are one cell farther apart, so many of them make steps slow; reduced models do
    not care.
    """

    coefficients: tuple[float, ...] = field(
        metadata=described("α₀ [1/s], α₁ [s], α₂ [s³] …", kind=Numbers("(0.1, 1e-3), α₀ first"))
    )

    @classmethod
    def from_ratios(cls, frequencies: Sequence[float], ratios: Sequence[float]) -> Caughey:
        """The coefficients, as many as frequencies [Hz], that give each the damping ratio ζ wanted.

        ``Caughey.from_ratios((1, 10), (0.02, 0.05))``. Between and beyond the
        frequencies ``ratio`` tells what comes out; with an odd number of them faster vibrations
        often get less than nothing, which a body refuses.
        """
        f, zeta = numbers("frequencies", frequencies), numbers("ratios", ratios)
        if f.ndim != 1 or not f.size or not (f > 0).all() or len(np.unique(f)) < len(f):
            raise InputError(
                f"frequencies={frequencies!r}: give different positive frequencies in Hz"
            )
        if zeta.shape != f.shape or (zeta < 0).any():
            raise InputError(
                f"ratios={ratios!r}: give one damping ratio, zero or more, for each of the "
                f"{len(f)} frequencies"
            )
        w = 2 * np.pi * f
        unit = float(np.exp(np.mean(np.log(w))))  # a frequency amid the others
        j = np.arange(len(f))
        with np.errstate(all="ignore"):
            rows = (w / unit)[:, None] ** (2 * j - 1) / 2  # Eq. 14 with a_j = α_j unit^(2j − 1)
            try:
                alphas = np.linalg.solve(rows, zeta) * unit ** (1.0 - 2 * j)
            except np.linalg.LinAlgError:
                alphas = np.full(len(f), np.nan)
            got = Polynomial(alphas)(w**2) / (2 * w)
        if not (np.abs(got - zeta) <= _MISSED * zeta.max()).all():
            raise InputError(
                f"frequencies={frequencies!r}: {len(f)} ratios so close together, or so far "
                "apart, cannot be met in double precision; give fewer"
            )
        return cls(tuple(alphas.tolist()))

    def ratio(self, frequency: ArrayLike) -> Any:
        """ζ, the damping ratio of a free vibration of this frequency [Hz], a number or an array."""
        f = numbers("frequency", frequency)
        if not (f > 0).all():
            raise InputError(f"frequency={frequency!r}: give positive frequencies in Hz")
        w = 2 * np.pi * f
        zeta = Polynomial(self.coefficients)(w**2) / (2 * w)  # Eq. 14
        return float(zeta) if zeta.ndim == 0 else zeta

    @property
    def degree(self) -> int:
        """The highest power of the stiffness that takes part."""
        return max((j for j, alpha in enumerate(self.coefficients) if alpha), default=0)

    def bind(self, body: ElasticBody) -> BoundDamping:
        import scipy.sparse as sparse  # slow to import

        masses = body.mass_values
        diagonal = body.pattern.rows == body.pattern.cols
        if self.degree >= 2 and masses[~diagonal].any():
            raise InputError(
                f"Caughey damping with {self.degree + 1} coefficients needs a diagonal mass, since "
                "the inverse of the exact one couples all vertices; make the body with "
                "mass_model=LumpedMass()"
            )
        K = body.stiffness(np.zeros_like(body.mesh.vertices))
        self._check_takes_energy(body, K)
        # Held components have no inertia of their own: the powers run over the free ones.
        inverse = sparse.diags_array((body.free / masses[diagonal][:, None]).ravel())
        C, term = self.coefficients[0] * body.mass, K
        for j in range(1, self.degree + 1):
            C = C + self.coefficients[j] * term
            if j < self.degree:
                term = K @ (inverse @ term)
        return BoundMatrix(body, sparse.csr_array(0.5 * (C + C.T)))

    def _check_takes_energy(self, body: ElasticBody, K: sparse.csr_array) -> None:
        """Stop where Σ α_j λ^j < 0 for a λ = ω² that the body can have."""
        alphas = np.array(self.coefficients[: self.degree + 1])
        if (alphas >= 0).all() or not body.free.any():
            return
        highest = _highest_square(body, K)
        low = lowest_point(alphas * highest ** np.arange(len(alphas)))
        if low is None:
            return
        f = np.sqrt(np.array([low, 1.0]) * highest) / (2 * np.pi)
        raise InputError(
            f"these coefficients damp vibrations of {f[0]:.4g} Hz by less than nothing "
            f"(Σ α_j ω^(2j) = {Polynomial(alphas)(low * highest):.4g} 1/s), and the body has "
            f"vibrations up to {f[1]:.4g} Hz; give Caughey.from_ratios an even number of "
            f"frequencies, or one more near {f[1]:.3g} Hz, or ratios that differ less"
        )


def lowest_point(a: Floats) -> float | None:
    """Where in [0, 1] the polynomial Σ a_j t^j is lowest, if negative beyond rounding there."""
    polynomial = Polynomial(a)
    turns = polynomial.deriv().trim().roots().real if len(a) > 1 else np.empty(0)
    t = np.concatenate([[0.0, 1.0], turns[(turns > 0) & (turns < 1)]])
    values = polynomial(t)
    negative = values < -_ROUNDING * Polynomial(np.abs(a))(t)
    if not negative.any():
        return None
    return float(t[np.where(negative, values, np.inf).argmin()])


def _highest_square(body: ElasticBody, K: sparse.csr_array) -> float:
    """An upper bound, by a thousandth, of ω² [1/s²] of the body's fastest vibration."""
    from scipy.linalg import eigvalsh  # slow to import
    from scipy.sparse.linalg import eigsh

    free = np.flatnonzero(body.free)
    stiffness, mass = (A[free][:, free].tocsc() for A in (K, body.mass))
    if len(free) <= _FEW:
        return 1.001 * float(eigvalsh(stiffness.toarray(), mass.toarray())[-1])
    start = np.random.default_rng(0).normal(size=len(free))
    largest = eigsh(
        stiffness, k=1, M=mass, which="LA", tol=1e-4, return_eigenvectors=False, v0=start
    )
    return 1.001 * float(largest[0])
