"""A solid body: a mesh with material, mass and supports, and from them M, U, ∇U and ∇²U."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.assembly import Asked, Evaluation, Part, assemble
from supple.bodies.elastic_body import ElasticBody, by_region
from supple.bodies.mass import ConsistentMass, MassModel
from supple.bodies.supports import Support
from supple.core.checks import instance, number, vector, vertex_indices
from supple.core.errors import InputError
from supple.core.types import Floats, Ints
from supple.materials import Material
from supple.mesh import VolumeMesh

_GAUSS = 1 / np.sqrt(3)


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
            self.material.check_cells(n)
            return (self._part(self.material, None),)
        example = "StVK(young=1e6, poisson=0.4), or a mapping from region names to materials"
        instance("material", self.material, Mapping, example)
        found = by_region(self.mesh, self.material, "cell")
        return tuple(self._part(material, cells) for material, cells in found)

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
            C = part.strain_elasticity(slice(None))
            stiffest = None if C is None else np.einsum("caa->ca", C).max(axis=1)
            modulus[part.cells] = part.lame[0] + 2 * part.lame[1] if C is None else stiffest
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
        facets = _facets_within(self.mesh, vertices)
        areas, _ = _facet_integrals(self.mesh, facets)
        return self._spread(facets, areas[:, :, None] * vector("traction", traction))

    def pressure(self, vertices: ArrayLike | None, value: float) -> Floats:
        """Pressure [Pa] on the same facets, along their rest normals inwards; (n, 3) [N]."""
        facets = _facets_within(self.mesh, vertices)
        _, normals = _facet_integrals(self.mesh, facets)
        return self._spread(facets, -number("value", value, unit="Pa") * normals)


def _facets_within(mesh: VolumeMesh, vertices: ArrayLike | None) -> Ints:
    """The boundary facets whose corners are all among the vertices (None: all of them)."""
    facets = mesh.boundary_facets()
    if vertices is None:
        return facets
    index = vertex_indices("vertices", vertices, len(mesh.vertices))
    chosen = np.zeros(len(mesh.vertices), dtype=bool)
    chosen[index] = True
    inside = facets[chosen[facets].all(axis=1)]
    if not len(inside):
        raise InputError(
            f"none of the {len(facets)} boundary facets has all its corners among the "
            f"{len(index)} vertices given; select a patch of the surface, e.g. mesh.where(x=1.0)"
        )
    return inside


def _facet_integrals(mesh: VolumeMesh, facets: Ints) -> tuple[Floats, Floats]:
    """∫ N_a dA (f, k) and ∫ N_a n dA (f, k, 3), outward, over each facet's rest shape."""
    X = mesh.vertices[facets]
    k = facets.shape[1]
    if k == 4:  # bilinear, 2 × 2 Gauss points
        areas, normals = np.zeros(facets.shape), np.zeros((*facets.shape, 3))
        corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
        for xi, eta in corners * _GAUSS:
            N = (1 + corners[:, 0] * xi) * (1 + corners[:, 1] * eta) / 4
            along = np.einsum("a,fai->fi", corners[:, 0] * (1 + corners[:, 1] * eta) / 4, X)
            across = np.einsum("a,fai->fi", corners[:, 1] * (1 + corners[:, 0] * xi) / 4, X)
            normal = np.cross(along, across)
            areas += N * np.linalg.norm(normal, axis=1)[:, None]
            normals += N[:, None] * normal[:, None, :]
        return areas, normals
    normal = np.cross(X[:, 1] - X[:, 0], X[:, 2] - X[:, 0]) / 2
    share = np.full(3, 1 / 3) if k == 3 else np.repeat([0.0, 1 / 3], 3)  # corners of P2: none
    return share * np.linalg.norm(normal, axis=1)[:, None], share[:, None] * normal[:, None, :]
