"""What cloth is made of: its stiffness in the plane and against bending, and its mass."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from supple.core.checks import cell_numbers, numbers, require_all
from supple.core.errors import InputError
from supple.core.types import Floats, Ints


@dataclass(frozen=True, eq=False, kw_only=True)
class ClothMaterial(ABC):
    """St. Venant–Kirchhoff in plane stress. Each parameter is a scalar or one number a triangle."""

    thickness: ArrayLike
    """t [m]."""
    areal_density: ArrayLike
    """Mass of a square metre [kg/m²]."""

    parameters: ClassVar[tuple[str, ...]] = ("thickness", "areal_density")
    """Names of those that may vary from triangle to triangle."""

    def __post_init__(self) -> None:
        for name in self.parameters:
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, cell_numbers(name, value))
        require_all(
            "thickness", self.thickness, np.asarray(self.thickness) > 0, "give metres above zero"
        )
        density = np.asarray(self.areal_density)
        require_all("areal_density", density, density > 0, "mass must be positive")

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

    young: ArrayLike
    """E [Pa]."""
    poisson: ArrayLike = 0.3
    """ν."""
    bending_stiffness: ArrayLike | None = None
    """D [N m], zero for none; as a solid plate has it, E t³/(12 (1 − ν²)), unless given."""

    parameters: ClassVar[tuple[str, ...]] = (
        *ClothMaterial.parameters,
        "young",
        "poisson",
        "bending_stiffness",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        young, nu = np.asarray(self.young), np.asarray(self.poisson)
        require_all("young", young, young > 0, "stiffness must be positive")
        require_all("poisson", nu, np.abs(nu) < 1.0, "a stable sheet has less than 1, and over -1")
        _not_negative("bending_stiffness", self.bending_stiffness)

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


@dataclass(frozen=True, eq=False, kw_only=True)
class OrthotropicCloth(ClothMaterial):
    """A weave: one stiffness along the warp, one along the weft, one against shear between them."""

    young_warp: ArrayLike
    """E₀ [Pa]."""
    young_weft: ArrayLike
    """E₁ [Pa]."""
    shear: ArrayLike
    """G [Pa], against a change of the angle between warp and weft."""
    poisson: ArrayLike = 0.0
    """ν₀₁: how much the weft shortens as the warp is pulled longer."""
    warp: ArrayLike | None = None
    """Direction of the warp: (2,) or (triangles, 2) in the pattern, or, where the mesh has none,
    (3,) or (triangles, 3) in space; the first axis unless given."""
    bending_warp: ArrayLike | None = None
    """D₀ [N m] against curving the warp; as a solid plate has it unless given."""
    bending_weft: ArrayLike | None = None
    """D₁ [N m] against curving the weft."""

    parameters: ClassVar[tuple[str, ...]] = (
        *ClothMaterial.parameters,
        "young_warp",
        "young_weft",
        "shear",
        "poisson",
        "bending_warp",
        "bending_weft",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("young_warp", "young_weft", "shear"):
            value = np.asarray(getattr(self, name))
            require_all(name, value, value > 0, "stiffness must be positive")
        nu, ratio = np.asarray(self.poisson), np.asarray(self.young_weft) / self.young_warp
        stable = nu**2 * ratio < 1
        require_all(
            "poisson",
            np.broadcast_to(nu, stable.shape),
            stable,
            "a stable weave has less than √(young_warp/young_weft)",
        )
        _not_negative("bending_warp", self.bending_warp)
        _not_negative("bending_weft", self.bending_weft)
        if self.warp is not None:
            warp = numbers("warp", self.warp)
            if warp.ndim not in (1, 2) or warp.shape[-1] not in (2, 3):
                raise InputError(
                    f"warp has shape {warp.shape}; give a direction (2,) in the pattern or (3,) "
                    "in space, or one for each triangle"
                )
            if not (np.linalg.norm(warp, axis=-1) > 0).all():
                raise InputError("warp has no length; give a direction such as (1, 0)")
            object.__setattr__(self, "warp", warp)

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


def _not_negative(name: str, value: ArrayLike | None) -> None:
    if value is not None:
        require_all(name, value, np.asarray(value) >= 0, "give a stiffness of zero or more [N m]")
