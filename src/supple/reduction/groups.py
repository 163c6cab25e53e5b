"""Groups of cells whose material can be changed in a finished model (subspace StVK, §6.5)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from supple.core.checks import number
from supple.core.errors import InputError
from supple.core.types import Floats, Ints
from supple.reduction.polynomial import Quartic


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
        total: Floats = np.zeros(self.units.shape[1:])
        for parameter, unit in zip(parameters, self.units, strict=True):
            assert parameter is not None  # as built, they were all one number
            total += parameter * unit
        return total


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

    @property
    def lame(self) -> tuple[float | None, float | None]:
        """Lamé's λ and μ [Pa] (Eq. 26), or None twice."""
        if self.young is None or self.poisson is None:
            return None, None
        return lame(self.young, self.poisson)

    def edited(self, young: float | None, poisson: float | None, density: float | None) -> Group:
        """The group with new parameters; None leaves one as it is."""
        new_young = self.young if young is None else number("young", young, above=0, unit="Pa")
        new_poisson = (
            self.poisson if poisson is None else number("poisson", poisson, above=-1, below=0.5)
        )
        changes = young is not None or poisson is not None
        if changes and (new_young is None or new_poisson is None):
            missing = "young" if new_young is None else "poisson"
            raise InputError(
                f"{missing} differs from cell to cell in {self.label}; give {missing}= too, which "
                "then holds for all of it"
            )
        new_density = (
            self.density if density is None else number("density", density, above=0, unit="kg/m³")
        )
        return replace(
            self,
            young=new_young,
            poisson=new_poisson,
            density=new_density,
        )

    @property
    def label(self) -> str:
        return " and ".join(repr(name) for name in self.regions) or "the rest of the body"

    def truncated(self, size: int) -> Group:
        """The group's shares in a model with the first ``size`` basis vectors only."""

        def cut(share: Contribution, index: tuple[slice, ...]) -> Contribution:
            built = None if share.built is None else share.built[index].copy()
            return Contribution(share.units[(slice(None), *index)].copy(), built)

        first = slice(size)
        return replace(
            self,
            mass=cut(self.mass, (first, first)),
            weight=cut(self.weight, (first,)),
            turning=cut(self.turning, (slice(size + 1), first)),
            energy=None if self.energy is None else _truncated_energy(self.energy, self, size),
        )


def _truncated_energy(energy: Contribution, group: Group, size: int) -> Contribution:
    full = group.mass.units.shape[1]

    def cut(coefficients: Floats) -> Floats:
        return Quartic(full, coefficients).truncated(size).coefficients

    built = None if energy.built is None else cut(energy.built)
    return Contribution(np.array([cut(unit) for unit in energy.units]), built)


def lame(young: float, poisson: float) -> tuple[float, float]:
    """Lamé's λ and μ [Pa] (Eq. 26)."""
    lam = young * poisson / ((1 + poisson) * (1 - 2 * poisson))
    return lam, young / (2 * (1 + poisson))
