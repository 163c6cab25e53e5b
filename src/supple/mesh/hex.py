"""Bricks with eight corners and trilinear shape functions."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from supple.core.types import Floats, Ints
from supple.mesh.checks import MeshWarning
from supple.mesh.meshing import as_surface
from supple.mesh.surface import Surface
from supple.mesh.tet import TetMesh
from supple.mesh.volume import BRICK_CORNERS, Quadrature, VolumeMesh, grid

CORNERS = 2.0 * BRICK_CORNERS - 1.0
"""Reference coordinates of the corners in [-1, 1]³."""


@dataclass(frozen=True, eq=False, repr=False)
class HexMesh(VolumeMesh):
    """Bricks: corners 0 to 3 around the bottom, counter-clockwise from above, 4 to 7 over them."""

    cell_nodes: ClassVar[int] = 8
    _faces: ClassVar[Ints] = np.array(
        [(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)]
    )
    _face_triangles: ClassVar[Ints] = np.array([(0, 1, 2), (0, 2, 3)])
    _corner_edges: ClassVar[Ints] = np.array(
        [(0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3), (1, 2, 3, 0, 5, 6, 7, 4, 4, 5, 6, 7)]
    ).T
    _flip: ClassVar[Ints] = np.array([4, 5, 6, 7, 0, 1, 2, 3])

    @classmethod
    def _signed_volumes(cls, vertices: Floats, cells: Ints) -> tuple[Floats, Floats]:
        places, _ = gauss(2)
        inner = np.linalg.det(_jacobians(vertices, cells, places))
        corner = np.linalg.det(_jacobians(vertices, cells, CORNERS))
        # det J has degree two in each coordinate, so two points a side integrate it exactly.
        return inner.sum(axis=1), 8.0 * np.minimum(inner.min(axis=1), corner.min(axis=1))

    @classmethod
    def box(cls, size: ArrayLike, cells: ArrayLike, origin: ArrayLike = (0.0, 0.0, 0.0)) -> Self:
        """A box of ``size`` [m], its lowest corner at ``origin`` [m], of (nx, ny, nz) ``cells``."""
        vertices, bricks, _ = grid(size, cells, origin)
        return cls(vertices, bricks)

    @classmethod
    def voxelize(
        cls, surface: Surface | str | os.PathLike[str], resolution: int, *, fill: bool = True
    ) -> Self:
        """Cover a surface, and what it encloses, with equal cubes.

        ``surface``: a Surface or the name of a file that read_surface reads; any triangles will
        do. ``resolution``: number of cubes along the longest side of the bounding box. Every cube
        that the surface reaches into is taken and, with ``fill``, every cube from which no way
        leads outside: hollows are filled. A MeshWarning tells if the cubes are in several parts
        that share no face.
        """
        from supple.mesh.voxels import pieces, voxel_bricks  # with SciPy, slow to import

        vertices, bricks = voxel_bricks(as_surface(surface), resolution, fill)
        parts = pieces(bricks, cls._faces)
        if parts > 1:
            warnings.warn(
                f"the bricks are in {parts} parts that share no face; a lower resolution or a "
                "joined surface makes them one",
                MeshWarning,
                stacklevel=2,
            )
        return cls(vertices, bricks)

    def tetrahedra(self) -> TetMesh:
        """The same vertices with each brick cut into six tets whose faces meet everywhere."""
        # Every face is cut from its lowest vertex, so both of its bricks cut it alike: the three
        # faces away from the brick's own lowest vertex are cut, and joined to that vertex.
        low = np.argmin(self.cells, axis=1)
        far = np.array([[f for f in self._faces.tolist() if c not in f] for c in range(8)])
        quads = np.take_along_axis(self.cells, far[low].reshape(-1, 12), axis=1).reshape(-1, 3, 4)
        start = np.argmin(quads, axis=2)[..., None]
        quads = np.take_along_axis(quads, (start + np.arange(4)) % 4, axis=2)
        triangles = quads[..., [[0, 1, 2], [0, 2, 3]]].reshape(-1, 6, 3)
        apex = np.repeat(self.cells.min(axis=1)[:, None, None], 6, axis=1)
        # Triangles look outward, away from the apex; a tet wants its base to look at corner 3.
        tets = np.concatenate([triangles[..., ::-1], apex], axis=2).reshape(-1, 4)
        six = np.arange(6)
        regions = {name: (6 * ids[:, None] + six).ravel() for name, ids in self.regions.items()}
        return TetMesh(self.vertices, tets, regions, self.properties)

    @cached_property
    def _quadrature(self) -> Quadrature:
        """Two Gauss points a side, eight in each brick."""
        places, weights = gauss(2)
        jacobians = _jacobians(self.vertices, self.cells, places)
        slopes, inverse = shape_slopes(places), np.linalg.inv(jacobians)
        gradients = np.einsum("qka,mqia->mqki", slopes, inverse, optimize=True)
        return Quadrature(weights * np.linalg.det(jacobians), gradients, shape_values(places))

    def quality(self) -> Floats:
        """The smallest scaled Jacobian of each brick's corners, 1 for a cuboid, (m,)."""
        slopes = _jacobians(self.vertices, self.cells, CORNERS)
        unit = slopes / np.linalg.norm(slopes, axis=3, keepdims=True)
        return np.asarray(np.linalg.det(unit).min(axis=1))

    def shape_mass(self) -> Floats:
        """Integral of N_a N_b over each brick, exact also for distorted ones [m³], (m, 8, 8)."""
        places, weights = gauss(3)
        measure = weights * np.linalg.det(_jacobians(self.vertices, self.cells, places))
        values = shape_values(places)
        return np.asarray(np.einsum("mq,qa,qb->mab", measure, values, values, optimize=True))


def gauss(points: int) -> tuple[Floats, Floats]:
    """Gauss points (q, 3) and weights (q,) of the cube [-1, 1]³, q = points³."""
    line, weight = np.polynomial.legendre.leggauss(points)
    places = np.stack(np.meshgrid(line, line, line, indexing="ij"), axis=-1).reshape(-1, 3)
    weights: Floats = np.einsum("i,j,k->ijk", weight, weight, weight).ravel()
    return places, weights


def shape_values(places: Floats) -> Floats:
    """The eight shape functions at reference ``places`` (..., 3), (..., 8)."""
    return np.asarray(np.prod(1.0 + places[..., None, :] * CORNERS, axis=-1) / 8.0)


def shape_slopes(places: Floats) -> Floats:
    """Their derivatives by the reference coordinates, (..., 8, 3)."""
    factors = 1.0 + places[..., None, :] * CORNERS
    slopes = np.empty(factors.shape)
    for axis, (b, c) in enumerate(((1, 2), (0, 2), (0, 1))):
        slopes[..., axis] = CORNERS[:, axis] * factors[..., b] * factors[..., c] / 8.0
    return slopes


def _jacobians(vertices: Floats, cells: Ints, places: Floats) -> Floats:
    """J[a, i] = ∂X_i / ∂ξ_a at each place (q, 3) of each brick, (m, q, 3, 3)."""
    slopes = shape_slopes(places)
    return np.asarray(np.einsum("qka,mki->mqai", slopes, vertices[cells], optimize=True))
