"""What every material has: elastic constants, density, a compiled energy, two derivatives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from supple.core.errors import InputError
from supple.core.parameters import CELL_NUMBERS, checked, described, parameter
from supple.core.registry import Registry
from supple.core.types import Floats, Ints
from supple.materials.projection import project_isotropic

if TYPE_CHECKING:
    from supple.mesh import VolumeMesh

Self = TypeVar("Self", bound="Material")


@dataclass(frozen=True, eq=False, kw_only=True)
class Material(ABC):
    """An isotropic elastic material. Each parameter is a scalar or one number a cell.

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
    """Whether ψ is a positive quadratic form of Green's strain, so that ∂²ψ/∂E² is constant."""

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
        value = np.asarray(getattr(self, name), dtype=float)
        if value.ndim == 0:
            return np.full(len(cells), float(value))
        if len(cells) and cells.max() >= len(value):
            raise InputError(
                f"{name} has {len(value)} values, but the mesh has a cell {cells.max()}; "
                f"give a scalar or one value for each cell"
            )
        return np.ascontiguousarray(value[cells])

    @staticmethod
    @abstractmethod
    def evaluate(
        F: Floats, lam: Floats, mu: Floats, psi: Floats, P: Floats, A: Floats, order: int
    ) -> None:
        """Compiled: fill ψ, then P = ∂ψ/∂F if order ≥ 1, then A = ∂P/∂F if order ≥ 2.

        F and P are (cells, points, 3, 3), ψ is (cells, points), A is (cells, points, 6, 3, 3) as
        the kernels of the elements say.
        """

    def evaluate_stretches(
        self, sigma: Floats, lam: Floats, mu: Floats, psi: Floats, p: Floats, H: Floats
    ) -> None:
        """Fill ψ, p = ∂ψ/∂σ and H = ∂²ψ/∂σ² at F = diag(σ).

        σ and p are (cells, points, 3), ψ is (cells, points), H is (cells, points, 6) with the
        entries 00, 01, 02, 11, 12, 22. A material may have a compiled one, which is faster.
        """
        F = sigma[..., None] * np.eye(3)
        P, A = np.empty(F.shape), np.empty((*F.shape[:2], 6, 3, 3))
        self.evaluate(F, lam, mu, psi, P, A, 2)
        axes = np.arange(3)
        p[:] = P[..., axes, axes]
        H[:] = A[..., np.arange(6), *np.triu_indices(3)]

    @staticmethod
    def make_definite(F: Floats, A: Floats) -> None:
        """Replace A by its nearest positive semidefinite stress derivative, in place."""
        project_isotropic(F, A)


MATERIALS: Registry[type[Material]] = Registry("material", "supple.materials", base=Material)
"""Every material model; tests, scene files and reduced models go over it."""
