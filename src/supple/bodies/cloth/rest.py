"""A sheet without strain, as its energy sees it: gradients in triangles, folds at hinges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from supple.bodies.cloth.material import ClothMaterial, IsotropicCloth
from supple.bodies.elastic_body import by_region
from supple.core.errors import InputError
from supple.core.types import Floats, Ints
from supple.mesh import SheetMesh

Materials = list[tuple[ClothMaterial, Ints]]
"""Each material with the triangles that are made of it."""


def by_material(mesh: SheetMesh, given: ClothMaterial | Mapping[str, ClothMaterial]) -> Materials:
    """The triangles of each material, which together are all of them, each once."""
    m = mesh.n_cells
    if isinstance(given, ClothMaterial):
        found: Materials = [(given, np.arange(m))]
    elif isinstance(given, Mapping) and all(isinstance(x, ClothMaterial) for x in given.values()):
        found = by_region(mesh, given, "triangle")
    else:
        raise InputError(
            f"material is a {type(given).__name__}; give one such as IsotropicCloth(young=1e6, "
            "thickness=5e-4, areal_density=0.15), or a mapping from region names to them"
        )
    for material, _ in found:
        for name in material.parameters:
            value = getattr(material, name)
            if np.ndim(value) and len(value) != m:
                raise InputError(
                    f"{name} has {len(value)} values for {m} triangles; give a scalar or ({m},)"
                )
    return found


@dataclass(frozen=True, eq=False)
class RestTriangles:
    """The triangles of a sheet in axes along warp and weft."""

    corners: Floats
    """[m], (m, 3, 2)."""
    gradients: Floats
    """∇N_a [1/m], (m, 3, 2)."""
    start: Floats
    """F where the vertices of the mesh are, (m, 3, 2)."""

    @classmethod
    def of(cls, mesh: SheetMesh, materials: Materials) -> RestTriangles:
        """The triangles of ``mesh``, turned so that the first axis is the warp."""
        warp = np.zeros((mesh.n_cells, 2))
        for material, cells in materials:
            warp[cells] = _warp(mesh, material, cells)
        across = np.stack([-warp[:, 1], warp[:, 0]], axis=1)
        axes = np.stack([warp, across], axis=1)
        corners = np.einsum("ejk,eak->eaj", axes, mesh.rest_corners)
        spans = corners[:, 1:] - corners[:, :1]
        inner = np.linalg.inv(spans).transpose(0, 2, 1)  # ∇N of the second and the third corner
        gradients = np.concatenate([-inner.sum(axis=1, keepdims=True), inner], axis=1)
        X = mesh.vertices[mesh.cells]
        start = np.einsum("eai,eaj->eij", X[:, 1:] - X[:, :1], inner)
        return cls(corners, np.ascontiguousarray(gradients), np.ascontiguousarray(start))


def _warp(mesh: SheetMesh, material: ClothMaterial, cells: Ints) -> Floats:
    """Unit vectors along the warp in the plane of ``rest_corners``, (len(cells), 2)."""
    given = material.direction
    if given is not None and given.ndim == 2:
        if len(given) != mesh.n_cells:
            raise InputError(
                f"warp has {len(given)} directions for {mesh.n_cells} triangles; give one of them, "
                "or one for each"
            )
        given = given[cells]
    if mesh.pattern is not None:
        if given is None:
            given = np.array([1.0, 0.0])
        if given.shape[-1] != 2:
            raise InputError("warp has three components; in a pattern it has two, e.g. (1, 0)")
        plane = np.broadcast_to(given, (len(cells), 2))
    else:
        if isinstance(material, IsotropicCloth):
            return np.broadcast_to([1.0, 0.0], (len(cells), 2))
        if given is None:
            given = np.array([1.0, 0.0, 0.0])
        if given.shape[-1] != 3:
            raise InputError(
                "warp has two components, but the mesh has no pattern; give three, e.g. (1, 0, 0)"
            )
        plane = np.einsum(
            "eji,ei->ej", mesh.rest_axes[cells], np.broadcast_to(given, (len(cells), 3))
        )
    length = np.linalg.norm(plane, axis=1, keepdims=True)
    lost = np.flatnonzero(length[:, 0] <= 1e-6 * np.linalg.norm(given, axis=-1))
    if len(lost):
        raise InputError(
            f"the warp is at right angles to triangle {cells[lost[0]]}; give warp= a direction "
            "that lies in the sheet, or the mesh a pattern"
        )
    unit: Floats = plane / length
    return unit


@dataclass(frozen=True, eq=False)
class RestHinges:
    """The hinges of a sheet: how stiff they are, and how they measure a fold."""

    vertices: Ints
    """(h, 4), as ``Hinges`` of the mesh."""
    cells: Ints
    """(h, 2)"""
    lengths: Floats
    """‖e‖ of the edge [m], (h,)."""
    areas: Floats
    """A₁ + A₂ of the two triangles [m²], (h,)."""
    rigidity: Floats
    """D across the edge [N m], (h,)."""
    folds: Floats
    """K (h, 4): Σ_p K_p x_p is ‖e‖ times the jump of the slope across the edge [m]."""

    @classmethod
    def of(
        cls, mesh: SheetMesh, rest: RestTriangles, rigidity: tuple[Floats, Floats]
    ) -> RestHinges:
        """The hinges of ``mesh`` with D of its triangles along warp and weft, (m,) each."""
        hinges = mesh.hinges
        lengths, slopes, D = [], [], []
        for side in range(2):
            cell, corner = hinges.cells[:, side], hinges.corners[:, side]
            first, second, opposite = rest.corners[cell[:, None], corner].transpose(1, 0, 2)
            edge = second - first
            length = np.linalg.norm(edge, axis=1)
            outward = np.stack([edge[:, 1], -edge[:, 0]], axis=1) / length[:, None]
            inside = np.einsum("hj,hj->h", outward, opposite - first) > 0
            outward[inside] *= -1
            gradients = rest.gradients[cell[:, None], corner]
            slopes.append(np.einsum("haj,hj->ha", gradients, outward))
            lengths.append(length)
            # Bending across an edge curves the warp as far as the warp crosses it.
            D.append(
                rigidity[0][cell] * outward[:, 0] ** 2 + rigidity[1][cell] * outward[:, 1] ** 2
            )
        length = 0.5 * (lengths[0] + lengths[1])
        folds = np.zeros((len(length), 4))
        for side in range(2):
            folds[:, [0, 1, 2 + side]] += length[:, None] * slopes[side]
        areas = mesh.areas[hinges.cells].sum(axis=1)
        return cls(hinges.vertices, hinges.cells, length, areas, 0.5 * (D[0] + D[1]), folds)

    @cached_property
    def shape(self) -> Floats:
        """‖e‖²/(A₁ + A₂), (h,): with D times this, a sheet rolled up has the energy ½ D κ² A."""
        return self.lengths**2 / self.areas

    @cached_property
    def stiffness(self) -> Floats:
        """k [N m] of every hinge, (h,)."""
        return self.rigidity * self.shape
