"""What cloth is made of: its stiffness in the plane and against bending, and its mass."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.core.checks import numbers, require_all
from supple.core.errors import InputError
from supple.core.parameters import (
    CELL_NUMBERS,
    Kind,
    Parameter,
    checked,
    describe,
    described,
    parameter,
)
from supple.core.types import Floats, Ints

_POSITIVE: Any = {"kind": CELL_NUMBERS, "above": 0}
_STIFF: Any = {**_POSITIVE, "unit": "Pa", "too_low": "stiffness must be positive"}
_BENDING: Any = {
    "kind": CELL_NUMBERS,
    "unit": "N m",
    "at_least": 0,
    "too_low": "give a stiffness of zero or more [N m]",
}


@dataclass(frozen=True, eq=False, kw_only=True)
class ClothMaterial(ABC):
    """St. Venant–Kirchhoff in plane stress. Each parameter is a scalar or one number a triangle."""

    thickness: ArrayLike = field(
        metadata=described("t", unit="m", too_low="give metres above zero", **_POSITIVE)
    )
    areal_density: ArrayLike = field(
        metadata=described(
            "mass of a square metre", unit="kg/m²", too_low="mass must be positive", **_POSITIVE
        )
    )

    def __post_init__(self) -> None:
        checked(self)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of those that may vary from triangle to triangle."""
        return tuple(each.name for each in describe(type(self)) if each.kind is CELL_NUMBERS)

    def per_cell(self, name: str, cells: Ints) -> Floats:
        """Parameter ``name`` of the given triangles, (len(cells),)."""
        value = np.asarray(getattr(self, name), dtype=float)
        if value.ndim == 0:
            return np.full(len(cells), float(value))
        return np.ascontiguousarray(value[cells])

    @property
    def direction(self) -> Floats | None:
        """Of the warp, as given; None for the first axis, or where it makes no difference."""
        return None

    @abstractmethod
    def stiffness(self, cells: Ints) -> Floats:
        """From (E₀₀, E₁₁, 2 E₀₁) along warp and weft to the tension (S₀₀, S₁₁, S₀₁) [N/m].

        (len(cells), 3, 3)
        """

    @abstractmethod
    def rigidity(self, cells: Ints) -> tuple[Floats, Floats]:
        """D [N m] against bending that curves the warp, and the weft, each (len(cells),)."""


@dataclass(frozen=True, eq=False, kw_only=True)
class IsotropicCloth(ClothMaterial):
    """A sheet that is as stiff one way as the other: a film, felt, paper."""

    young: ArrayLike = field(metadata=described("E", **_STIFF))
    poisson: ArrayLike = parameter(
        0.3,
        "ν",
        kind=CELL_NUMBERS,
        above=-1,
        below=1,
        too_low="a stable sheet has less than 1, and over -1",
        too_high="a stable sheet has less than 1, and over -1",
    )
    bending_stiffness: ArrayLike | None = parameter(
        None, "D, zero for none; as a solid plate has it, E t³/(12 (1 − ν²))", **_BENDING
    )

    def stiffness(self, cells: Ints) -> Floats:
        E, nu, t = (self.per_cell(name, cells) for name in ("young", "poisson", "thickness"))
        return _plane_stress(t * E, t * E, nu, nu, t * E / (2 * (1 + nu)))

    def rigidity(self, cells: Ints) -> tuple[Floats, Floats]:
        if self.bending_stiffness is not None:
            D = self.per_cell("bending_stiffness", cells)
        else:
            E, nu, t = (self.per_cell(name, cells) for name in ("young", "poisson", "thickness"))
            D = E * t**3 / (12 * (1 - nu**2))
        return D, D


def _direction(of: Parameter, value: Any) -> Floats:
    warp = numbers(of.name, value)
    if warp.ndim not in (1, 2) or warp.shape[-1] not in (2, 3):
        raise InputError(
            f"{of.name} has shape {warp.shape}; give a direction (2,) in the pattern or (3,) in "
            "space, or one for each triangle"
        )
    if not (np.linalg.norm(warp, axis=-1) > 0).all():
        raise InputError(f"{of.name} has no length; give a direction such as (1, 0)")
    return warp


DIRECTION = Kind("two numbers or three, or as many a triangle", _direction)


@dataclass(frozen=True, eq=False, kw_only=True)
class OrthotropicCloth(ClothMaterial):
    """A weave: one stiffness along the warp, one along the weft, one against shear between them."""

    young_warp: ArrayLike = field(metadata=described("E₀", **_STIFF))
    young_weft: ArrayLike = field(metadata=described("E₁", **_STIFF))
    shear: ArrayLike = field(
        metadata=described("G, against a change of the angle between warp and weft", **_STIFF)
    )
    poisson: ArrayLike = parameter(
        0.0, "ν₀₁: how much the weft shortens as the warp is pulled longer", kind=CELL_NUMBERS
    )
    warp: ArrayLike | None = parameter(
        None,
        "direction of the warp: (2,) in the pattern, or (3,) in space where the mesh has none, or "
        "one a triangle; the first axis",
        kind=DIRECTION,
    )
    bending_warp: ArrayLike | None = parameter(
        None, "D₀, against curving the warp; as a solid plate has it", **_BENDING
    )
    bending_weft: ArrayLike | None = parameter(
        None, "D₁, against curving the weft; as a solid plate has it", **_BENDING
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        nu, ratio = np.asarray(self.poisson), np.asarray(self.young_weft) / self.young_warp
        stable = nu**2 * ratio < 1
        require_all(
            "poisson",
            np.broadcast_to(nu, stable.shape),
            stable,
            "a stable weave has less than √(young_warp/young_weft)",
        )

    @property
    def direction(self) -> Floats | None:
        return None if self.warp is None else np.asarray(self.warp)

    def _constants(self, cells: Ints) -> tuple[Floats, Floats, Floats, Floats]:
        """E₀, E₁, ν₀₁ and ν₁₀ = ν₀₁ E₁/E₀."""
        names = ("young_warp", "young_weft", "poisson")
        E0, E1, nu = (self.per_cell(name, cells) for name in names)
        return E0, E1, nu, nu * E1 / E0

    def stiffness(self, cells: Ints) -> Floats:
        E0, E1, nu, back = self._constants(cells)
        t, G = self.per_cell("thickness", cells), self.per_cell("shear", cells)
        return _plane_stress(t * E0, t * E1, nu, back, t * G)

    def rigidity(self, cells: Ints) -> tuple[Floats, Floats]:
        E0, E1, nu, back = self._constants(cells)
        t = self.per_cell("thickness", cells)
        found = []
        for name, E in (("bending_warp", E0), ("bending_weft", E1)):
            given = getattr(self, name) is not None
            plate = E * t**3 / (12 * (1 - nu * back))
            found.append(self.per_cell(name, cells) if given else plate)
        return found[0], found[1]


def _plane_stress(E0: Floats, E1: Floats, nu01: Floats, nu10: Floats, G: Floats) -> Floats:
    """The stiffness of a sheet in plane stress, (m, 3, 3)."""
    C = np.zeros((len(E0), 3, 3))
    left = 1 - nu01 * nu10
    C[:, 0, 0], C[:, 1, 1] = E0 / left, E1 / left
    C[:, 0, 1] = C[:, 1, 0] = nu10 * E0 / left
    C[:, 2, 2] = G
    return C


@dataclass(frozen=True, kw_only=True)
class StrainLimit:
    """No triangle ever gets longer than by ``stretch``, in any direction, on the way or at rest.

    From ``onset`` times that on, a barrier adds to the energy, κ r² B((ℓ − e)/r) for both principal
    strains e of Green, B(x) = −(1 − x)² ln x, that grows without bound at the limit ℓ. Up to there
    nothing changes. κ is ``firmness`` times the larger of the cloth's stiffnesses along warp and
    weft. Cloth may be crushed as before: it folds.
    """

    stretch: float = field(
        metadata=described(
            "how much longer it may get, as a share of its length",
            above=0,
        )
    )
    firmness: float = parameter(
        10.0, "how early the barrier is felt; the limit holds whatever it is", above=0
    )
    onset: float = parameter(
        0.8, "share of ``stretch`` from which the cloth stiffens", at_least=0, below=1
    )

    def __post_init__(self) -> None:
        checked(self)

    @property
    def strain(self) -> float:
        """ℓ, Green's strain at that stretch."""
        return _green(self.stretch)

    @property
    def onset_strain(self) -> float:
        """Green's strain at which the barrier sets in."""
        return _green(self.onset * self.stretch)


def _green(stretch: float) -> float:
    """Green's strain of what is longer by a share."""
    return stretch * (1 + 0.5 * stretch)
