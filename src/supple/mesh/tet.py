"""Linear tetrahedra: one constant deformation gradient in each cell."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from supple.core.types import Floats, Ints
from supple.mesh.surface import Surface
from supple.mesh.volume import Quadrature, VolumeMesh, grid

if TYPE_CHECKING:
    from supple.mesh.quadratic import QuadraticTetMesh

EDGES = np.array([(0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3)])
"""Local edges of a tet, in the order of the middle nodes of a quadratic one."""

# A brick in five: four corners cut off, and the tet between them. Neighbouring bricks take the
# two mirrored ways in turn, so that their faces meet and no direction is favoured.
_FIVE = np.array(
    [
        [(0, 1, 3, 4), (1, 2, 3, 6), (1, 6, 4, 5), (3, 4, 6, 7), (1, 3, 4, 6)],
        [(0, 1, 2, 5), (0, 2, 3, 7), (0, 5, 7, 4), (2, 7, 5, 6), (0, 2, 7, 5)],
    ]
)


@dataclass(frozen=True, eq=False, repr=False)
class TetMesh(VolumeMesh):
    """Tetrahedra with four corners; corner 3 sees 0, 1, 2 clockwise (positive volume)."""

    cell_nodes: ClassVar[int] = 4
    _faces: ClassVar[Ints] = np.array([(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)])
    _face_triangles: ClassVar[Ints] = np.array([(0, 1, 2)])
    _corner_edges: ClassVar[Ints] = EDGES
    _flip: ClassVar[Ints] = np.array([0, 2, 1, 3])

    @classmethod
    def _signed_volumes(cls, vertices: Floats, cells: Ints) -> tuple[Floats, Floats]:
        volumes = tet_volumes(vertices, cells)
        return volumes, volumes

    @classmethod
    def box(cls, size: ArrayLike, cells: ArrayLike, origin: ArrayLike = (0.0, 0.0, 0.0)) -> Self:
        """A box of ``size`` [m], its lowest corner at ``origin`` [m], cut into bricks.

        Each of the ``cells`` = (nx, ny, nz) bricks becomes five tets, in two mirrored ways that
        alternate like a chessboard; even numbers of bricks make the mesh mirror-symmetric.
        """
        vertices, bricks, (nx, ny, nz) = grid(size, cells, origin)
        parity = np.indices((nx, ny, nz)).sum(axis=0).ravel() % 2
        tets = np.take_along_axis(bricks, _FIVE[parity].reshape(-1, 20), axis=1)
        return cls(vertices, tets.reshape(-1, 4))

    @classmethod
    def from_surface(
        cls,
        surface: Surface | str | os.PathLike[str],
        edge: float | None = None,
        *,
        epsilon: float | None = None,
    ) -> Self:
        """Fill a surface with tets, by fTetWild (extra ``meshing``).

        ``surface``: a Surface or the name of a file that read_surface reads; any triangles will
        do, also open, doubled or crossing ones. ``edge``: wished edge length [m], by default a
        twentieth of the diagonal of the bounding box; ``epsilon``: how far the skin of the result
        may be from the surface [m], by default a thousandth of it, or a tenth of ``edge`` if that
        is given and gives more. Details smaller than epsilon are lost; a smaller one needs more
        tets, whatever the edge.
        """
        from supple.mesh.meshing import as_surface, fill_with_tets

        return cls.cleaned(*fill_with_tets(as_surface(surface), edge, epsilon))

    def quadratic(self) -> QuadraticTetMesh:
        """The same shape with a node in the middle of each edge."""
        from supple.mesh.quadratic import QuadraticTetMesh

        pairs = np.sort(self.cells[:, EDGES].reshape(-1, 2), axis=1)
        keys = pairs[:, 0] * self.n_vertices + pairs[:, 1]
        unique, middle = np.unique(keys, return_inverse=True)
        ends = np.stack(np.divmod(unique, self.n_vertices), axis=1)
        vertices = np.concatenate([self.vertices, self.vertices[ends].mean(axis=1)])
        cells = np.hstack([self.cells, self.n_vertices + middle.reshape(-1, 6)])
        return QuadraticTetMesh(vertices, cells, self.regions, self.properties)

    def quadrature(self) -> Quadrature:
        """One point in each cell."""
        return self._quadrature

    @cached_property
    def _quadrature(self) -> Quadrature:
        gradients = barycentric_gradients(self.vertices, self.cells, self.volumes)
        return Quadrature(self.volumes[:, None], gradients[:, None], np.full((1, 4), 0.25))

    def quality(self) -> Floats:
        """Mean ratio of each tet, 12 (3V)^⅔ / Σ l², 1 for a regular one, (m,)."""
        return mean_ratio(self)

    def shape_mass(self) -> Floats:
        """Integral of N_a N_b over each cell, V (1 + δ_ab) / 20 [m³], (m, 4, 4)."""
        return self.volumes[:, None, None] * ((np.ones((4, 4)) + np.eye(4)) / 20.0)


def tet_volumes(vertices: Floats, cells: Ints) -> Floats:
    """Signed volume of each tet [m³], (m,)."""
    origin = vertices[cells[:, 0]]
    a, b, c = (vertices[cells[:, corner]] - origin for corner in (1, 2, 3))
    volumes: Floats = np.einsum("mi,mi->m", np.cross(a, b), c) / 6.0
    return volumes


def barycentric_gradients(vertices: Floats, cells: Ints, volumes: Floats) -> Floats:
    """Gradients of the four barycentric coordinates [1/m], (m, 4, 3)."""
    origin = vertices[cells[:, 0]]
    a, b, c = (vertices[cells[:, corner]] - origin for corner in (1, 2, 3))
    gradients = np.empty((len(cells), 4, 3))
    # Each gradient is normal to the opposite face: (b × c) / 6V for corner 1, and so on.
    gradients[:, 1] = np.cross(b, c)
    gradients[:, 2] = np.cross(c, a)
    gradients[:, 3] = np.cross(a, b)
    gradients[:, 1:] /= (6.0 * volumes)[:, None, None]
    gradients[:, 0] = -gradients[:, 1:].sum(axis=1)
    return gradients


def mean_ratio(mesh: VolumeMesh) -> Floats:
    """12 (3V)^⅔ / Σ l² over the six edges l of each tet, 1 for a regular one, (m,)."""
    squares = (mesh.edge_lengths() ** 2).sum(axis=1)
    ratio: Floats = 12 * np.cbrt(3 * mesh.volumes) ** 2 / squares
    return ratio
