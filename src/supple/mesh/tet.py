"""Tetrahedra: linear ones, each with a constant deformation gradient, and quadratic ones.

Quadratic ones have straight sides, and bend without locking.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from supple.core.checks import instance
from supple.core.errors import InputError, MeshError
from supple.core.types import Floats, Ints
from supple.mesh.lattice.filling import LatticeFilling
from supple.mesh.meshing import as_surface, fill_with_tets
from supple.mesh.surface import Surface
from supple.mesh.volume import Quadrature, VolumeMesh, grid

EDGES = np.array([(0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3)])
"""Local edges of a tet, in the order of the middle nodes of a quadratic one."""

STRAIGHT = 1e-6
"""How far a middle node may be from the middle of its edge, as a part of the edge."""

# A brick in five: four corners cut off, and the tet between them. Neighbouring bricks take the
# two mirrored ways in turn, so that their faces meet and no direction is favoured.
_FIVE = np.array(
    [
        [(0, 1, 3, 4), (1, 2, 3, 6), (1, 6, 4, 5), (3, 4, 6, 7), (1, 3, 4, 6)],
        [(0, 1, 2, 5), (0, 2, 3, 7), (0, 5, 7, 4), (2, 7, 5, 6), (0, 2, 7, 5)],
    ]
)


class _Tetrahedra(VolumeMesh):
    """What tets of both kinds share."""

    _corner_edges: ClassVar[Ints] = EDGES

    @classmethod
    def _signed_volumes(cls, vertices: Floats, cells: Ints) -> tuple[Floats, Floats]:
        volumes = tet_volumes(vertices, cells)
        return volumes, volumes

    def quality(self) -> Floats:
        """Mean ratio of each tet, 12 (3V)^⅔ / Σ l² over its edges l, 1 for a regular one, (m,)."""
        squares = (self.edge_lengths() ** 2).sum(axis=1)
        return np.asarray(12 * np.cbrt(3 * self.volumes) ** 2 / squares)


@dataclass(frozen=True, eq=False, repr=False)
class TetMesh(_Tetrahedra):
    """Tetrahedra with four corners; corner 3 sees 0, 1, 2 clockwise (positive volume)."""

    cell_nodes: ClassVar[int] = 4
    _faces: ClassVar[Ints] = np.array([(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)])
    _face_triangles: ClassVar[Ints] = np.array([(0, 1, 2)])
    _flip: ClassVar[Ints] = np.array([0, 2, 1, 3])

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
        filling: LatticeFilling | None = None,
    ) -> Self:
        """Fill a surface with tets, by fTetWild (extra ``meshing``) or by a lattice.

        ``surface``: a Surface or the name of a file that read_surface reads; any triangles will
        do, also open, doubled or crossing ones. ``edge``: wished edge length [m], by default a
        twentieth of the diagonal of the bounding box; ``epsilon``: how far the skin of the result
        may be from the surface [m], by default a thousandth of it, or a tenth of ``edge`` if that
        is given and gives more. Details smaller than epsilon are lost; a smaller one needs more
        tets, whatever the edge. fTetWild gives another mesh every time it runs.

        With ``filling``, such as LatticeFilling(edge=0.05), the same surface gives the same mesh,
        in about a second and without an extra; edges and corners of the surface are rounded.
        """
        if filling is None:
            return cls.cleaned(*fill_with_tets(as_surface(surface), edge, epsilon))
        instance("filling", filling, LatticeFilling, "LatticeFilling(edge=0.05)")
        for name, value in (("edge", edge), ("epsilon", epsilon)):
            if value is not None:
                raise InputError(
                    f"{name}={value!r} is for fTetWild; with filling= give LatticeFilling(edge=…)"
                )
        return cls.cleaned(*filling.fill(as_surface(surface)))

    def quadratic(self) -> QuadraticTetMesh:
        """The same shape with a node in the middle of each edge."""
        pairs = np.sort(self.cells[:, EDGES].reshape(-1, 2), axis=1)
        keys = pairs[:, 0] * self.n_vertices + pairs[:, 1]
        unique, middle = np.unique(keys, return_inverse=True)
        ends = np.stack(np.divmod(unique, self.n_vertices), axis=1)
        vertices = np.concatenate([self.vertices, self.vertices[ends].mean(axis=1)])
        cells = np.hstack([self.cells, self.n_vertices + middle.reshape(-1, 6)])
        return QuadraticTetMesh(vertices, cells, self.regions, self.properties)

    @cached_property
    def _quadrature(self) -> Quadrature:
        """One point in each cell."""
        gradients = barycentric_gradients(self.vertices, self.cells, self.volumes)
        return Quadrature(self.volumes[:, None], gradients[:, None], np.full((1, 4), 0.25))

    def shape_mass(self) -> Floats:
        """Integral of N_a N_b over each cell, V (1 + δ_ab) / 20 [m³], (m, 4, 4)."""
        return self.volumes[:, None, None] * ((np.ones((4, 4)) + np.eye(4)) / 20.0)


@dataclass(frozen=True, eq=False, repr=False)
class QuadraticTetMesh(_Tetrahedra):
    """Tetrahedra with ten nodes: four corners, then the middles of 01, 12, 02, 03, 13, 23."""

    cell_nodes: ClassVar[int] = 10
    _faces: ClassVar[Ints] = np.array(
        [(0, 2, 1, 6, 5, 4), (0, 1, 3, 4, 8, 7), (1, 2, 3, 5, 9, 8), (0, 3, 2, 7, 9, 6)]
    )
    _face_triangles: ClassVar[Ints] = np.array([(0, 3, 5), (3, 1, 4), (5, 4, 2), (3, 4, 5)])
    _flip: ClassVar[Ints] = np.array([0, 2, 1, 3, 6, 5, 4, 7, 9, 8])

    def __post_init__(self) -> None:
        super().__post_init__()
        off = off_middle(self.vertices, self.cells)
        bad = off > STRAIGHT * self._longest_edges(self.vertices, self.cells)
        if bad.any():
            first = int(np.argmax(bad))
            raise MeshError(
                f"cell {first} has curved sides: a middle node is {off[first]:.3g} m from the "
                f"middle of its edge ({np.count_nonzero(bad)} such cells); the nodes after the "
                "corners are the middles of edges 01, 12, 02, 03, 13, 23; "
                "TetMesh(...).quadratic() makes straight ones"
            )

    @classmethod
    def box(cls, size: ArrayLike, cells: ArrayLike, origin: ArrayLike = (0.0, 0.0, 0.0)) -> Self:
        """A box of ``size`` [m] at ``origin`` [m], cut as in TetMesh.box."""
        made = TetMesh.box(size, cells, origin).quadratic()
        return cls(made.vertices, made.cells)

    def linear(self) -> TetMesh:
        """The same shape without the middle nodes."""
        return TetMesh.cleaned(self.vertices, self.cells[:, :4], self.regions, self.properties)

    @cached_property
    def _quadrature(self) -> Quadrature:
        """Four points in each cell, exact for polynomials of degree two."""
        near, far = (5.0 + 3.0 * np.sqrt(5.0)) / 20.0, (5.0 - np.sqrt(5.0)) / 20.0
        places = np.full((4, 4), far) + (near - far) * np.eye(4)
        corner = barycentric_gradients(self.vertices, self.cells, self.volumes)
        gradients = np.einsum("qkc,mci->mqki", quadratic_slopes(places), corner, optimize=True)
        weights = np.repeat(self.volumes[:, None] / 4.0, 4, axis=1)
        return Quadrature(weights, gradients, quadratic_values(places))

    def shape_mass(self) -> Floats:
        """Integral of N_a N_b over each cell [m³], (m, 10, 10)."""
        return self.volumes[:, None, None] * _UNIT_MASS


def tet_volumes(vertices: Floats, cells: Ints) -> Floats:
    """Signed volume of each tet [m³], (m,)."""
    origin = vertices[cells[:, 0]]
    a, b, c = (vertices[cells[:, corner]] - origin for corner in (1, 2, 3))
    return np.asarray(np.einsum("mi,mi->m", np.cross(a, b), c) / 6.0)


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


def quadratic_values(places: Floats) -> Floats:
    """The ten shape functions at barycentric ``places`` (q, 4), (q, 10)."""
    corners = places * (2.0 * places - 1.0)
    middles = 4.0 * places[:, EDGES[:, 0]] * places[:, EDGES[:, 1]]
    return np.hstack([corners, middles])


def quadratic_slopes(places: Floats) -> Floats:
    """Their derivatives by the four barycentric coordinates, (q, 10, 4)."""
    slopes = np.zeros((len(places), 10, 4))
    for corner in range(4):
        slopes[:, corner, corner] = 4.0 * places[:, corner] - 1.0
    for edge, (a, b) in enumerate(EDGES):
        slopes[:, 4 + edge, a] = 4.0 * places[:, b]
        slopes[:, 4 + edge, b] = 4.0 * places[:, a]
    return slopes


def off_middle(vertices: Floats, cells: Ints) -> Floats:
    """Largest distance of a cell's middle nodes from the middles of its edges [m], (m,)."""
    middles = vertices[cells[:, EDGES]].mean(axis=2)
    return np.asarray(np.linalg.norm(vertices[cells[:, 4:]] - middles, axis=2).max(axis=1))


def _unit_mass() -> Floats:
    # ∫ L0^a L1^b L2^c L3^d = 6V a! b! c! d! / (a + b + c + d + 3)! gives these numbers over 420.
    mass = np.ones((10, 10))
    ends = [set(edge) for edge in EDGES.tolist()]
    for i in range(4):
        mass[i, i] = 6.0
        for e in range(6):
            mass[i, 4 + e] = mass[4 + e, i] = -4.0 if i in ends[e] else -6.0
    for e in range(6):
        for f in range(6):
            mass[4 + e, 4 + f] = {0: 8.0, 1: 16.0, 2: 32.0}[len(ends[e] & ends[f])]
    return mass / 420.0


_UNIT_MASS = _unit_mass()
