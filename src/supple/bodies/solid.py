"""A solid body: a mesh with material, mass and supports, and from them M, U, ∇U and ∇²U."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies import loads
from supple.bodies.assembly import Asked, Evaluation, Part, assemble
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.mass import ConsistentMass, MassModel
from supple.bodies.supports import Support
from supple.core.checks import instance, number, vector
from supple.core.errors import InputError
from supple.core.types import Floats, Ints
from supple.materials import Material
from supple.mesh import VolumeMesh


@dataclass(frozen=True, eq=False, repr=False)
class Body(ElasticBody):
    """An elastic solid in full space.

    ``material`` is one material, or a mapping from region names of the mesh to materials that
    together cover every cell once. ``fixed`` holds vertices still: indices (k,), a mask (n,), or a
    mask of components (n, 3). ``supports`` move vertices along a prescribed path.
    """

    mesh: VolumeMesh
    material: Material | Mapping[str, Material]
    fixed: ArrayLike | None = None
    supports: Sequence[Support] = ()
    mass_model: MassModel = field(default_factory=ConsistentMass)

    def __post_init__(self) -> None:
        if not isinstance(self.mesh, VolumeMesh):
            raise InputError(
                f"mesh is a {type(self.mesh).__name__}; give a TetMesh, QuadraticTetMesh or "
                "HexMesh, e.g. from read_mesh(path)"
            )
        instance("mass_model", self.mass_model, MassModel, "LumpedMass()")
        self._check_supports()
        _ = self.parts  # bad materials stop here

    # -- materials ---------------------------------------------------------------------

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The body's cells by material."""
        n = len(self.mesh.cells)
        if isinstance(self.material, Material):
            for name in ("young", "poisson", "density"):
                value = np.asarray(getattr(self.material, name))
                if value.ndim and len(value) != n:
                    raise InputError(
                        f"{name} has {len(value)} values for {n} cells; give a scalar or ({n},)"
                    )
            return (self._part(self.material, None),)
        if not isinstance(self.material, Mapping):
            raise InputError(
                f"material is {_what(self.material)}; give a material such as "
                "StVK(young=1e6, poisson=0.4), or a mapping from region names to materials"
            )
        owner = np.zeros(n, dtype=np.int64)
        for region in self.material:
            owner[self.mesh.region(region)] += 1
        for count, problem in ((0, "no material"), (2, "more than one material")):
            bad = np.flatnonzero(owner == 0 if count == 0 else owner >= 2)
            if len(bad):
                raise InputError(
                    f"{len(bad)} cells have {problem} (the first is cell {bad[0]}); "
                    "the regions given must cover every cell once"
                )
        return tuple(self._part(m, self.mesh.region(region)) for region, m in self.material.items())

    def _part(self, material: Material, cells: Ints | None) -> Part:
        return Part.of_cells(self.mesh, self._pattern_and_slots[1], material, cells)

    @cached_property
    def density(self) -> Floats:
        """Mass density of each cell [kg/m³], (cells,)."""
        density = np.empty(len(self.mesh.cells))
        for part in self.parts:
            density[part.cells] = part.material.per_cell("density", part.cells)
        return density

    @property
    def advice(self) -> str:
        used = (part.material for part in self.parts)
        names = sorted({type(each).__name__ for each in used if not each.survives_inversion})
        if not names:
            return ""
        return f"{' and '.join(names)} forbids inversion, StableNeoHookean recovers from it."

    @cached_property
    def contact_vertices(self) -> Ints:
        """The vertices of the boundary, (k,)."""
        return np.unique(self.mesh.boundary_facets())

    # -- mass --------------------------------------------------------------------------

    def scaled_mass(self, cell_factors: Floats) -> Floats:
        factors = (self.density * cell_factors)[:, None, None]
        return self._added_up(self.mass_model.of_cells(self.mesh.shape_mass()) * factors)

    @cached_property
    def total_mass(self) -> float:
        return float((self.density * self.mesh.volumes).sum())

    # -- energy ------------------------------------------------------------------------

    def _evaluate(self, u: Floats, asked: Asked) -> Evaluation:
        return assemble(self.parts, self.pattern, u, asked)

    @cached_property
    def _rounding(self) -> tuple[float, float]:
        modulus = np.empty(self.mesh.n_cells)
        for part in self.parts:
            modulus[part.cells] = part.lame[0] + 2 * part.lame[1]
        rule = self.mesh.quadrature()
        steepness = np.linalg.norm(rule.gradients, axis=3)
        forces = modulus[:, None, None] * steepness * rule.weights[:, :, None]
        norms = []
        for share in (forces, forces * steepness.max(axis=2, keepdims=True)):
            nodal = np.zeros(self.n_vertices)
            np.add.at(nodal, self.mesh.cells, share.sum(axis=1))
            norms.append(float(np.finfo(float).eps * np.linalg.norm(nodal)))
        return norms[0], norms[1]

    # -- loads -------------------------------------------------------------------------

    def surface_force(self, vertices: ArrayLike | None, traction: ArrayLike) -> Floats:
        """``traction`` (3,) [N/m²] on the boundary facets whose corners are all in ``vertices``."""
        facets = loads.facets_within(self.mesh, vertices)
        areas, _ = loads.facet_integrals(self.mesh, facets)
        return loads.spread(self.mesh, facets, areas[:, :, None] * vector("traction", traction))

    def pressure(self, vertices: ArrayLike | None, value: float) -> Floats:
        """Pressure [Pa] on the same facets, along their rest normals inwards; (n, 3) [N]."""
        facets = loads.facets_within(self.mesh, vertices)
        _, normals = loads.facet_integrals(self.mesh, facets)
        return loads.spread(self.mesh, facets, -number("value", value, unit="Pa") * normals)


def _what(value: object) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else f"a {type(value).__name__}"
