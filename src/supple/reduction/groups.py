"""Groups of cells whose material can be changed in a finished model (subspace StVK, §6.5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from supple.core.checks import number
from supple.core.errors import InputError
from supple.core.memory import aligned_room
from supple.core.types import Floats, Ints
from supple.reduction.damping.strain_rate import StrainGrams
from supple.reduction.polynomial import Quartic

PARAMETERS: dict[str, dict[str, Any]] = {
    "young": {"above": 0.0, "unit": "Pa"},
    "poisson": {"above": -1.0, "below": 0.5},
    "density": {"above": 0.0, "unit": "kg/m³"},
}
"""What can be edited, and within which bounds."""


@dataclass(frozen=True, eq=False)
class Contribution:
    """What a group adds to a quantity that is linear in its parameters.

    ``units`` (parameters, …) is the share for each parameter at one; ``built`` is the share with
    the parameters that the cells had, and is kept only where these differ from cell to cell.
    """

    units: Floats
    built: Floats | None

    def at(self, *parameters: float | None) -> Floats:
        """The share with these parameters, None for those that the cells had."""
        if self.built is not None and None in parameters:
            return self.built
        assert None not in parameters  # as built, they were all one number
        factors = np.array(parameters, dtype=float)
        units = self.units.reshape(len(factors), -1)
        share = np.dot(factors, units, out=aligned_room(units.shape[1]))
        return share.reshape(self.units.shape[1:])

    def cut(self, cut: Callable[[Floats], Floats]) -> Contribution:
        """The same shares in other coordinates."""
        built = None if self.built is None else cut(self.built).copy()
        return Contribution(np.array([cut(unit) for unit in self.units]), built)


@dataclass(frozen=True, eq=False)
class Group:
    """Cells that are in the same named regions, and their shares of the reduced model.

    A parameter is None where it varies from cell to cell, as the body had it.
    """

    regions: tuple[str, ...]
    cells: Ints
    young: float | None
    poisson: float | None
    density: float | None
    mass: Contribution
    """(1, r, r) for a density of one."""
    weight: Contribution
    """Uᵀ M applied to the three unit accelerations, (1, r, 3)."""
    place: Contribution
    """Mass times position at rest, summed, (1, 3)."""
    turning: Contribution
    """Angular momentum of each rate about the origin, at rest and by q_i, (1, r + 1, r, 3)."""
    energy: Contribution | None
    """Coefficients for λ = 1 and for μ = 1, (2, …); None where the model has a cubature."""
    built_mass: float | None = None
    """Mass of the cells [kg] as the body had them, where their densities differ."""
    scaled_only: str = ""
    """The material whose stiffness goes with Young's modulus and cannot change otherwise, if any.

    Its λ and μ are those of small strains, or means over all directions.
    """
    grams: StrainGrams | None = None
    """Of the strains, for damping; None where the model has a cubature."""

    @property
    def lame(self) -> tuple[float | None, float | None]:
        """Lamé's λ and μ [Pa] (Eq. 26), or None twice."""
        if self.young is None or self.poisson is None:
            return None, None
        return lame(self.young, self.poisson)

    def edited(self, **changes: float | None) -> Group:
        """The group with new parameters; None leaves one as it is."""
        given = {
            name: number(name, value, **PARAMETERS[name])
            for name, value in changes.items()
            if value is not None
        }
        if self.scaled_only and "poisson" in given:
            raise InputError(
                f"{self._label} is of {self.scaled_only}, which a finished model knows as a whole: "
                "young= scales it, but another poisson= needs another material; change that of the "
                "body, and reduce(body, basis) again",
                parameter="poisson",
            )
        if self.scaled_only and "young" in given and None in self.lame:
            raise InputError(
                f"stiffness differs from cell to cell in {self._label}, which is of "
                f"{self.scaled_only}; name the parts in which it is one when the model is made: "
                "reduce(body, basis, regions=[...])",
                parameter="young",
            )
        group = replace(self, **given)  # type: ignore[arg-type]
        missing = [name for name in ("young", "poisson") if getattr(group, name) is None]
        if missing and not given.keys() <= {"density"}:
            raise InputError(
                f"{missing[0]} differs from cell to cell in {self._label}; give {missing[0]}= too, "
                "which then holds for all of it"
            )
        return group

    @property
    def _label(self) -> str:
        return " and ".join(map(repr, self.regions)) or "the rest of the body"

    def truncated(self, size: int) -> Group:
        """The group's shares in a model with the first ``size`` basis vectors only."""
        full, energy = self.mass.units.shape[1], self.energy
        if energy is not None:
            energy = energy.cut(lambda c: Quartic(full, c).truncated(size).coefficients)
        return replace(
            self,
            mass=self.mass.cut(lambda M: M[:size, :size]),
            weight=self.weight.cut(lambda w: w[:size]),
            turning=self.turning.cut(lambda t: t[: size + 1, :size]),
            energy=energy,
            grams=None if self.grams is None else self.grams.truncated(size),
        )

    def transformed(self, T: Floats) -> Group:
        """The group's shares in coordinates p with q = T p, for T (r, s)."""
        full, energy = len(T), self.energy
        if energy is not None:
            energy = energy.cut(lambda c: Quartic(full, c).transformed(T).coefficients)
        moved = with_rest(T)
        return replace(
            self,
            mass=self.mass.cut(lambda M: T.T @ M @ T),
            weight=self.weight.cut(lambda w: T.T @ w),
            turning=self.turning.cut(lambda t: np.einsum("ia,ijk,jb->abk", moved, t, T)),
            energy=energy,
            grams=None if self.grams is None else self.grams.transformed(T),
        )


def with_rest(T: Floats) -> Floats:
    """T (r, s) for arrays in which the shape at rest comes before the vectors, (r + 1, s + 1)."""
    wide = np.zeros((T.shape[0] + 1, T.shape[1] + 1))
    wide[0, 0] = 1.0
    wide[1:, 1:] = T
    return wide


def lame(young: float, poisson: float) -> tuple[float, float]:
    """Lamé's λ and μ [Pa] (Eq. 26)."""
    lam = young * poisson / ((1 + poisson) * (1 - 2 * poisson))
    return lam, young / (2 * (1 + poisson))
