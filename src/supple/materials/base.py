"""What every material has: elastic constants, density, a compiled energy, two derivatives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from supple.core.errors import InputError
from supple.core.parameters import CELL_NUMBERS, checked, described, parameter
from supple.core.registry import Registry
from supple.core.types import Bools, Floats, Ints
from supple.materials.projection import project_isotropic

if TYPE_CHECKING:
    from supple.mesh import VolumeMesh

Self = TypeVar("Self", bound="Material")


@dataclass(frozen=True, eq=False, kw_only=True)
class Material(ABC):
    """An elastic material, isotropic unless it says otherwise; a parameter is one, or one a cell.

    Every model here agrees with linear elasticity of the same Young's modulus and Poisson ratio
    for small strains.
    """

    young: ArrayLike = field(
        metadata=described(
            "Young's modulus",
            kind=CELL_NUMBERS,
            unit="Pa",
            above=0,
            too_low="stiffness must be positive",
        )
    )
    poisson: ArrayLike = field(
        metadata=described(
            "Poisson ratio",
            kind=CELL_NUMBERS,
            above=-1,
            below=0.5,
            too_low="a stable material has more than -1",
            too_high="½ is incompressible; use less than 0.5, e.g. 0.49",
        )
    )
    density: ArrayLike = parameter(
        1000.0,
        "mass density of the rest shape",
        kind=CELL_NUMBERS,
        unit="kg/m³",
        above=0,
        too_low="mass must be positive",
    )

    survives_inversion: ClassVar[bool] = True
    """Whether energy and stress are finite when a cell is turned inside out."""
    quadratic_in_strain: ClassVar[bool] = False
    """Whether ψ is a positive quadratic form of Green's strain, so that ∂²ψ/∂E² is constant.

    Reduced energies are polynomials then.
    """

    @property
    def is_isotropic(self) -> bool:
        """Whether it is equally stiff in all directions: ψ is a function of the stretches."""
        return True

    def __post_init__(self) -> None:
        checked(self)

    @classmethod
    def from_mesh(cls: type[Self], mesh: VolumeMesh) -> Self:
        """A material with the constants that the mesh file gave to its regions."""
        values = {
            name: np.full(len(mesh.cells), np.nan) for name in ("young", "poisson", "density")
        }
        for region, properties in mesh.properties.items():
            for name, column in values.items():
                if name not in properties:
                    raise InputError(f"region {region!r} of this mesh has no {name}; give one")
                column[mesh.regions[region]] = properties[name]
        bare = np.flatnonzero(np.isnan(values["young"]))
        if len(bare):
            raise InputError(
                f"{len(bare)} of {len(mesh.cells)} cells have no material in this mesh "
                f"(the first is cell {bare[0]}); give young=, poisson= and density= yourself"
            )
        return cls(**values)

    def lame(self, cells: Ints) -> tuple[Floats, Floats]:
        """Lamé's λ and μ [Pa] of the given cells."""
        young, nu = self.per_cell("young", cells), self.per_cell("poisson", cells)
        return young * nu / ((1 + nu) * (1 - 2 * nu)), young / (2 * (1 + nu))

    def per_cell(self, name: str, cells: Ints) -> Floats:
        """Parameter ``name`` of the given cells, (len(cells),)."""
        return rows_of(name, np.asarray(getattr(self, name), dtype=float), cells)

    def extra(self, cells: Ints) -> tuple[Floats, ...]:
        """What ``evaluate`` takes of the given cells beside λ and μ: nothing, or one array.

        Its rows belong to the cells, or it has one row for all of them. ψ goes with μ then: twice
        the μ makes twice the energy.
        """
        return ()

    @staticmethod
    def takes(extra: Floats) -> bool:
        """Whether ``evaluate`` can take this array, of a file, beside λ and μ."""
        return False

    def check_cells(self, count: int) -> None:
        """Stop where parameters do not have one value, or one for each of ``count`` cells."""
        for name in ("young", "poisson", "density"):
            check_rows(name, np.asarray(getattr(self, name)), count)

    # -- variants ------------------------------------------------------------------------

    def stiffened(self: Self, factor: ArrayLike) -> Self:
        """The material with its stiffness times a factor, one or one a cell."""
        return replace(self, young=np.asarray(factor) * np.asarray(self.young))

    def edited(self: Self, cells: Bools, **values: float) -> Self:
        """The material with other numbers for ``young``, ``poisson`` or ``density`` in cells."""
        changed = {
            name: np.where(cells, value, getattr(self, name)) for name, value in values.items()
        }
        return replace(self, **changed)

    # -- what is compiled ----------------------------------------------------------------

    @staticmethod
    @abstractmethod
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
        """Compiled: fill ψ, then P = ∂ψ/∂F if order ≥ 1, then A = ∂P/∂F if order ≥ 2.

        F and P are (cells, points, 3, 3), ψ is (cells, points), A is (cells, points, 6, 3, 3) as
        the kernels of the elements say. A material that has none takes no ``extra``; else row
        e modulo its length is that of cell e.
        """

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
        """Fill ψ, p = ∂ψ/∂σ and H = ∂²ψ/∂σ² at F = diag(σ), of an isotropic material.

        σ and p are (cells, points, 3), ψ is (cells, points), H is (cells, points, 6) with the
        entries 00, 01, 02, 11, 12, 22. A material may have a compiled one, which is faster.
        """
        F = sigma[..., None] * np.eye(3)
        P, A = np.empty(F.shape), np.empty((*F.shape[:2], 6, 3, 3))
        self.evaluate(F, lam, mu, psi, P, A, 2, *extra)
        axes = np.arange(3)
        p[:] = P[..., axes, axes]
        H[:] = A[..., np.arange(6), *np.triu_indices(3)]

    @staticmethod
    def make_definite(F: Floats, A: Floats) -> None:
        """Replace A by its nearest positive semidefinite stress derivative, in place."""
        project_isotropic(F, A)

    @staticmethod
    def strain_elasticity(lam: Floats, mu: Floats, *extra: Floats) -> Floats | None:
        """C = ∂²ψ/∂E² [Pa] of cells with preferred directions, (cells, 6, 6); None without any.

        From (E₀₀, E₁₁, E₂₂, 2 E₁₂, 2 E₀₂, 2 E₀₁) to (S₀₀, S₁₁, S₂₂, S₁₂, S₀₂, S₀₁), the same at
        every strain. Damping that is matched to the elasticity is Ė:C:Ė where there is one.
        """
        return None


class MaterialWarning(UserWarning):
    """A material that is not stable in all that it may be put through, or not what was asked."""


def name_for_file(material: type[Material]) -> str:
    """What a file calls a material. Raises InputError for one that it could not be read with."""
    name = MATERIALS.name_of(material)
    if name is None:
        raise InputError(
            f"{material.__name__} is not a registered material, so no file that names it could be "
            "read again; put @MATERIALS.register above its class (from supple.materials import "
            "MATERIALS), or make it an entry point of the group supple.materials"
        )
    return name


def material_of_file(name: str) -> type[Material]:
    """The material that a file calls so. Raises InputError where it is not registered here."""
    known = {material.__name__: material for material in MATERIALS} | dict(MATERIALS.by_name)
    if name in known:
        return known[name]
    raise InputError(
        f"its material is {name!r}, which is not known here ({', '.join(MATERIALS.names)}); import "
        "the module that registers it first, or name that with --plugin or SUPPLE_PLUGINS"
    )


def rows_of(name: str, value: Floats, cells: Ints) -> Floats:
    """The one number of all cells (len(cells),), or those of the given ones."""
    if value.ndim == 0:
        return np.full(len(cells), float(value))
    if len(cells) and cells.max() >= len(value):
        raise InputError(
            f"{name} has {len(value)} values, but the mesh has a cell {cells.max()}; "
            f"give a scalar or one value for each cell"
        )
    return np.ascontiguousarray(value[cells])


def check_rows(name: str, value: Floats, count: int) -> None:
    """Stop at values by cell that are not as many as the cells."""
    if value.ndim and len(value) != count:
        raise InputError(
            f"{name} has {len(value)} values for {count} cells; give a scalar or ({count},)"
        )


MATERIALS: Registry[type[Material]] = Registry("material", "supple.materials", base=Material)
"""Every material model; tests, scene files and reduced models go over it."""
