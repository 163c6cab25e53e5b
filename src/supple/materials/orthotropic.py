"""Orthotropic Saint Venant–Kirchhoff: ψ = ½ E:C:E, E = ½ (FᵀF − I), with three material axes.

C has nine moduli in the frame of the axes: Young's moduli E₁, E₂, E₃, shear moduli G₁₂, G₂₃, G₃₁
and Poisson's ratios, of which ν_ij tells how much axis j shortens as axis i is pulled longer, with
ν_ij/E_i = ν_ji/E_j. Where only one ratio ν is given, ν_ij = ν √(E_i/E_j) and
G_ij = √(E_i E_j)/(2 (1 + ν)), which is stable for every E and isotropic where these are equal
[Li and Barbič 2014].

Strains are (E₀₀, E₁₁, E₂₂, 2 E₁₂, 2 E₀₂, 2 E₀₁), stresses (S₀₀, S₁₁, S₂₂, S₁₂, S₀₂, S₀₁).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from supple._kernels.compiling import kernel, pointwise
from supple.core.checks import numbers
from supple.core.parameters import described, parameter
from supple.core.types import Bools, Floats, Ints
from supple.materials.base import MATERIALS, Material, check_rows, rows_of
from supple.materials.moduli import (
    ALONG_AXES,
    AXES,
    PAIRS,
    VOIGT,
    check_stable,
    moduli_along_axes,
    turned,
)
from supple.materials.projection import project_symmetric
from supple.materials.stvk import StVK

if TYPE_CHECKING:
    from supple.mesh import VolumeMesh


@pointwise
def energy(F, C, scale, S):
    """Fills the second Piola–Kirchhoff stress S (6,) for the derivatives."""
    strain = (
        0.5 * (F[0, 0] * F[0, 0] + F[1, 0] * F[1, 0] + F[2, 0] * F[2, 0] - 1.0),
        0.5 * (F[0, 1] * F[0, 1] + F[1, 1] * F[1, 1] + F[2, 1] * F[2, 1] - 1.0),
        0.5 * (F[0, 2] * F[0, 2] + F[1, 2] * F[1, 2] + F[2, 2] * F[2, 2] - 1.0),
        F[0, 1] * F[0, 2] + F[1, 1] * F[1, 2] + F[2, 1] * F[2, 2],
        F[0, 0] * F[0, 2] + F[1, 0] * F[1, 2] + F[2, 0] * F[2, 2],
        F[0, 0] * F[0, 1] + F[1, 0] * F[1, 1] + F[2, 0] * F[2, 1],
    )
    total = 0.0
    for a in range(6):
        s = 0.0
        for b in range(6):
            s += C[a, b] * strain[b]
        S[a] = scale * s
        total += S[a] * strain[a]
    return 0.5 * total


@pointwise
def stress(F, S, P):
    """P = F S."""
    for i in range(3):
        P[i, 0] = F[i, 0] * S[0] + F[i, 1] * S[5] + F[i, 2] * S[4]
        P[i, 1] = F[i, 0] * S[5] + F[i, 1] * S[1] + F[i, 2] * S[3]
        P[i, 2] = F[i, 0] * S[4] + F[i, 1] * S[3] + F[i, 2] * S[2]


@pointwise
def stress_derivative(F, C, scale, S, A, half):
    """∂P_ij/∂F_kl = δ_ik S_jl + Σ_mn F_im C_mjnl F_kn."""
    s = 0
    for j in range(3):
        for l in range(j, 3):
            for i in range(3):
                for n in range(3):
                    h = 0.0
                    for m in range(3):
                        h += F[i, m] * C[VOIGT[m, j], VOIGT[n, l]]
                    half[i, n] = scale * h
            for i in range(3):
                for k in range(3):
                    a = half[i, 0] * F[k, 0] + half[i, 1] * F[k, 1] + half[i, 2] * F[k, 2]
                    if i == k:
                        a += S[VOIGT[j, l]]
                    A[s, i, k] = a
            s += 1


@kernel
def evaluate_moduli(F, mu, C, psi, P, A, order):
    """ψ, P and ∂P/∂F of cells with the moduli μ C, up to ``order``."""
    S, half = np.empty(6), np.empty((3, 3))
    for e in range(len(mu)):
        row = C[e % len(C)]
        for q in range(F.shape[1]):
            psi[e, q] = energy(F[e, q], row, mu[e], S)
            if order >= 1:
                stress(F[e, q], S, P[e, q])
            if order >= 2:
                stress_derivative(F[e, q], row, mu[e], S, A[e, q], half)


_MODULUS: Any = {"kind": ALONG_AXES, "unit": "Pa", "above": 0}


@MATERIALS.register
@dataclass(frozen=True, eq=False, kw_only=True)
class OrthotropicStVK(Material):
    """Saint Venant–Kirchhoff material with fibres: another stiffness along each of three axes.

    With one Young's modulus and one Poisson ratio it is ``StVK``.
    """

    young: ArrayLike = field(
        metadata=described(
            "Young's moduli E₁, E₂, E₃ along the axes", too_low="give moduli above 0", **_MODULUS
        )
    )
    poisson: ArrayLike = field(
        metadata=described(
            "Poisson ratios ν₁₂, ν₂₃, ν₃₁, or one ν for ν_ij = ν √(E_i/E_j)",
            kind=ALONG_AXES,
            above=-1,
            below=0.5,
            too_low="a stable material has more than -1",
            too_high="½ is incompressible; use less than 0.5, e.g. 0.49",
        )
    )
    shear: ArrayLike | None = parameter(
        None,
        "shear moduli G₁₂, G₂₃, G₃₁; √(E_i E_j)/(2 (1 + √(ν_ij ν_ji)))",
        too_low="give moduli above 0",
        **_MODULUS,
    )
    axes: ArrayLike | None = parameter(
        None,
        "of the rest shape: the fibres (3,), and a direction across (2, 3), or three (3, 3); x, y "
        "and z",
        kind=AXES,
    )

    survives_inversion: ClassVar[bool] = True
    quadratic_in_strain: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.is_isotropic:
            check_stable(*self._constants(self._every()))

    @classmethod
    def along_fibres(
        cls,
        fibres: ArrayLike,
        *,
        young: ArrayLike,
        ratio: float,
        poisson: ArrayLike = 0.3,
        density: ArrayLike = 1000.0,
    ) -> OrthotropicStVK:
        """A transversely isotropic one: ``ratio`` times as stiff along fibres as across.

        ``fibres`` are (3,) or (cells, 3), ``young`` [Pa] is Young's modulus across them.
        """
        across = np.asarray(numbers("young", young))
        along = np.asarray(numbers("ratio", ratio, ((),))) * across
        moduli = np.stack([along, across, across], axis=-1)
        return cls(young=moduli, poisson=poisson, axes=fibres, density=density)

    @classmethod
    def from_mesh(cls, mesh: VolumeMesh) -> OrthotropicStVK:
        found = StVK.from_mesh(mesh)
        constants = {x: _of_cells(np.asarray(getattr(found, x))) for x in _ENGINEERS}
        return cls(density=found.density, **constants)

    @property
    def is_isotropic(self) -> bool:
        def alike(value: Any) -> bool:
            return value is None or np.ndim(value) == 0 or np.shape(value)[-1:] != (3,)

        return self.shear is None and alike(self.young) and alike(self.poisson)

    # -- by cell -------------------------------------------------------------------------

    def _every(self) -> Ints:
        """As many cells as there are values."""
        given = [np.asarray(x) for x in (self.young, self.poisson, self.shear) if x is not None]
        counts = [len(x) for x in given if x.ndim and x.shape != (3,)]
        return np.arange(max(counts, default=1))

    def _three(self, name: str, cells: Ints) -> Floats:
        """A parameter along each axis, (cells, 3)."""
        value = np.asarray(getattr(self, name), dtype=float)
        if value.shape == (3,):
            return np.tile(value, (len(cells), 1))
        if value.ndim < 2:
            one = rows_of(name, value, cells)
            return np.repeat(one[:, None], 3, axis=1)
        return rows_of(name, value, cells)

    def _constants(self, cells: Ints) -> tuple[Floats, Floats, Floats]:
        """E_i, ν₁₂ ν₂₃ ν₃₁ and G₁₂ G₂₃ G₃₁, each (cells, 3)."""
        E = self._three("young", cells)
        nu = self._three("poisson", cells)
        ends = E[:, [j for _, j in PAIRS]]
        if np.ndim(self.poisson) == 0 or np.shape(self.poisson)[-1:] != (3,):
            mean, nu = nu, nu * np.sqrt(E / ends)
        else:
            mean = np.sign(nu) * np.sqrt(nu * nu * ends / E)  # √(ν_ij ν_ji)
        if self.shear is None:
            return E, nu, np.sqrt(E * ends) / (2 * (1 + mean))
        return E, nu, self._three("shear", cells)

    def _in_axes(self, cells: Ints) -> Floats:
        """C [Pa] in the frame of the axes, (cells, 6, 6)."""
        return moduli_along_axes(*self._constants(cells))

    def lame(self, cells: Ints) -> tuple[Floats, Floats]:
        """λ and μ [Pa] of the isotropic material that is nearest: means over all directions."""
        if self.is_isotropic:
            young, nu = (rows_of(x, np.asarray(getattr(self, x)), cells) for x in _ENGINEERS)
            return young * nu / ((1 + nu) * (1 - 2 * nu)), young / (2 * (1 + nu))
        C = self._in_axes(cells)
        direct = C[:, 0, 0] + C[:, 1, 1] + C[:, 2, 2]
        cross = C[:, 0, 1] + C[:, 1, 2] + C[:, 0, 2]
        bulk = (direct + 2 * cross) / 9
        mu = (direct - cross + 3 * (C[:, 3, 3] + C[:, 4, 4] + C[:, 5, 5])) / 15
        return bulk - mu * (2 / 3), mu

    def per_cell(self, name: str, cells: Ints) -> Floats:
        """Parameter ``name`` of cells; of moduli and ratios, those of the nearest isotropic one."""
        if name not in _ENGINEERS or self.is_isotropic:
            return super().per_cell(name, cells)
        lam, mu = self.lame(cells)
        young, poisson = mu * (3 * lam + 2 * mu) / (lam + mu), 0.5 * lam / (lam + mu)
        return young if name == "young" else poisson

    def extra(self, cells: Ints) -> tuple[Floats, ...]:
        """C over the mean μ along x, y and z, (cells, 6, 6), or (1, 6, 6) where all are alike."""
        if self.is_isotropic:
            return ()
        alike = len(self._every()) == 1 and (self.axes is None or np.ndim(self.axes) < 3)
        some = np.arange(1) if alike else cells
        C = self._in_axes(some) / self.lame(some)[1][:, None, None]
        if self.axes is not None:
            Q = np.asarray(self.axes)
            C = turned(C, Q if Q.ndim == 2 else rows_of("axes", Q, some))
        return (np.ascontiguousarray(C),)

    @staticmethod
    def takes(extra: Floats) -> bool:
        return extra.shape[1:] == (6, 6)

    def check_cells(self, count: int) -> None:
        for name in (*_ENGINEERS, "shear"):
            value = np.asarray(getattr(self, name))
            if getattr(self, name) is not None and value.shape != (3,):
                check_rows(name, value, count)
        check_rows("density", np.asarray(self.density), count)
        if self.axes is not None and np.ndim(self.axes) == 3:
            check_rows("axes", np.asarray(self.axes), count)

    # -- variants ------------------------------------------------------------------------

    def stiffened(self, factor: ArrayLike) -> OrthotropicStVK:
        """All moduli times a factor, one or one a cell."""

        def times(value: ArrayLike | None) -> Any:
            if value is None or np.ndim(factor) == 0:
                return None if value is None else np.asarray(factor) * np.asarray(value)
            value, by_cell = np.asarray(value), np.asarray(factor)
            if value.shape[-1:] == (3,):
                return by_cell[:, None] * value
            return _of_cells(by_cell * value)

        return replace(self, young=times(self.young), shear=times(self.shear))

    def edited(self, cells: Bools, **values: float) -> OrthotropicStVK:
        """Another mean Young's modulus scales all moduli; densities are as given."""
        if self.is_isotropic:
            changed = {
                name: np.where(cells, value, getattr(self, name)) for name, value in values.items()
            }
            changed |= {name: _of_cells(changed[name]) for name in _ENGINEERS if name in changed}
            return replace(self, **changed)
        made = self
        if "young" in values:
            now = self.per_cell("young", np.arange(len(cells)))
            made = self.stiffened(np.where(cells, values.pop("young") / now, 1.0))
        return Material.edited(made, cells, **values)

    # -- what is compiled ----------------------------------------------------------------

    @staticmethod
    def evaluate(
        F: Floats,
        lam: Floats,
        mu: Floats,
        psi: Floats,
        P: Floats,
        A: Floats,
        order: int,
        *extra: Floats,
    ) -> None:
        if extra:
            evaluate_moduli(F, mu, extra[0], psi, P, A, order)
        else:
            StVK.evaluate(F, lam, mu, psi, P, A, order)

    def evaluate_stretches(
        self,
        sigma: Floats,
        lam: Floats,
        mu: Floats,
        psi: Floats,
        p: Floats,
        H: Floats,
        *extra: Floats,
    ) -> None:
        assert not extra  # with fibres it is no function of stretches
        StVK.evaluate_stretches(sigma, lam, mu, psi, p, H)

    @staticmethod
    def make_definite(F: Floats, A: Floats) -> None:
        project_symmetric(A)

    @staticmethod
    def strain_elasticity(lam: Floats, mu: Floats, *extra: Floats) -> Floats | None:
        if not extra:
            return None
        rows = extra[0][np.arange(len(mu)) % len(extra[0])]
        return np.ascontiguousarray(mu[:, None, None] * rows)


_ENGINEERS = ("young", "poisson")


def _of_cells(values: Floats) -> Floats:
    """One number a cell, in a form that is not taken for numbers along three axes."""
    return np.repeat(values[:, None], 3, axis=1) if values.shape == (3,) else values
