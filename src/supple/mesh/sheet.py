"""Sheets of triangles: cloth and thin shells, with the flat pattern that they are cut from."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from supple.core.checks import instance, numbers, whole_number
from supple.core.errors import InputError, MeshError
from supple.core.types import Floats, Ints
from supple.mesh import checks
from supple.mesh.base import Mesh
from supple.mesh.surface import Surface, area_vectors

_THIN = 1e-10  # of its longest edge squared: a triangle of less area has no directions


@dataclass(frozen=True, eq=False)
class Hinges:
    """Where two triangles of a sheet share an edge, h of them."""

    vertices: Ints
    """(h, 4): the ends of the edge, then the corner opposite to it in each of the triangles."""
    cells: Ints
    """(h, 2): the two triangles."""
    corners: Ints
    """(h, 2, 3): in each of them, which corner is each end of the edge, and the opposite one."""


@dataclass(frozen=True, eq=False, repr=False)
class SheetMesh(Mesh):
    """Vertices (n, 3) [m] joined by triangles, (m, 3).

    ``pattern`` is the shape without strain, laid out flat [m]: one point a vertex, (n, 2), or one a
    corner of each triangle, (m, 3, 2), where seams cut it into pieces. Without it, the triangles
    have no strain as they lie in space. The triangles are the mesh's cells; ``regions`` name sets
    of them.
    """

    _: KW_ONLY
    pattern: Floats | None = None

    cell_nodes: ClassVar[int] = 3
    _corner_edges: ClassVar[Ints] = np.array([(0, 1), (1, 2), (2, 0)])
    _cell: ClassVar[str] = "triangle"
    _lengths: ClassVar[tuple[str, ...]] = ("vertices", "pattern")

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.no_repeats(self.cells)
        advice = "SheetMesh.from_surface(surface) drops such vertices"
        checks.all_referenced(self.cells, self.n_vertices, self._cell, advice)
        if self.pattern is not None:
            shapes = ((self.n_vertices, 2), (self.n_cells, 3, 2))
            flat = numbers("pattern", self.pattern, shapes)
            self._keep(pattern=checks.frozen(flat, np.float64))
        sides = np.linalg.norm(np.diff(self.rest_corners[:, [0, 1, 2, 0]], axis=1), axis=2)
        thin = np.flatnonzero(self.areas <= _THIN * sides.max(axis=1) ** 2)
        if len(thin):
            where = "" if self.pattern is None else " in the pattern"
            raise MeshError(
                f"triangle {thin[0]} is {self.cells[thin[0]].tolist()}, whose corners are in line"
                f"{where}; remove it, or move a corner"
            )
        _ = self.hinges  # edges of too many triangles stop here

    # -- making ------------------------------------------------------------------------

    @classmethod
    def grid(
        cls, size: tuple[float, float], cells: tuple[int, int], *, pattern: ArrayLike | None = None
    ) -> Self:
        """A rectangle in the plane z = 0 from the origin, of ``size`` [m] along x and y.

        Each of ``cells`` along x and y is cut into two triangles, by diagonals that alternate.
        Vertices count along y first. The pattern is the rectangle itself unless one is given.
        """
        lengths = numbers("size", size, ((2,),))
        if not (lengths > 0).all():
            raise InputError(f"size={size!r}: give two lengths above zero [m]")
        if np.shape(cells) != (2,):
            raise InputError(f"cells={cells!r}: give two whole numbers, along x and along y")
        nx, ny = (whole_number("cells", count, at_least=1) for count in cells)
        sides = (np.linspace(0, lengths[0], nx + 1), np.linspace(0, lengths[1], ny + 1))
        x, y = np.meshgrid(*sides, indexing="ij")
        flat = np.stack([x.ravel(), y.ravel()], axis=1)
        i, j = (index.ravel() for index in np.meshgrid(np.arange(nx), np.arange(ny), indexing="ij"))
        a = i * (ny + 1) + j
        b, c, d = a + ny + 1, a + ny + 2, a + 1  # round the cell: a (0, 0), b (1, 0), c, d (0, 1)
        rising = np.stack([a, b, c, a, c, d], axis=1)
        falling = np.stack([a, b, d, b, c, d], axis=1)
        triangles = np.where(((i + j) % 2 == 0)[:, None], rising, falling).reshape(-1, 3)
        vertices = np.column_stack([flat, np.zeros(len(flat))])
        given = flat if pattern is None else numbers("pattern", pattern)
        return cls(vertices, triangles, pattern=given)

    @classmethod
    def from_quads(
        cls, vertices: ArrayLike, quads: ArrayLike, *, pattern: ArrayLike | None = None
    ) -> Self:
        """Quads (m, 4), each cut into two triangles from its first corner to its third.

        ``pattern`` [m] has a point a vertex, (n, 2), or one a corner of each quad, (m, 4, 2).
        """
        points = checks.points(vertices)
        corners = checks.connectivity(quads, 4, len(points), "quad")
        cut = np.array([[0, 1, 2], [0, 2, 3]])
        flat = None if pattern is None else numbers("pattern", pattern)
        if flat is not None and flat.shape == (len(corners), 4, 2):
            flat = flat[:, cut].reshape(-1, 3, 2)
        return cls(points, corners[:, cut].reshape(-1, 3), pattern=flat)

    @classmethod
    def from_surface(cls, surface: Surface, *, pattern: ArrayLike | None = None) -> Self:
        """The triangles of a surface; vertices of none are left out, of the pattern too."""
        instance("surface", surface, Surface, "read_surface(path)")
        whole, kept = surface.compact()
        flat = None if pattern is None else numbers("pattern", pattern)
        if flat is not None and flat.shape == (surface.n_vertices, 2):
            flat = flat[kept]
        return cls(whole.vertices, whole.triangles, pattern=flat)

    # -- measuring ---------------------------------------------------------------------

    @cached_property
    def rest_corners(self) -> Floats:
        """The corners of each triangle without strain, in a plane [m], (m, 3, 2).

        Those of the pattern or, without one, each triangle laid flat with its first edge along the
        first axis.
        """
        if self.pattern is not None:
            flat = self.pattern if self.pattern.ndim == 3 else self.pattern[self.cells]
            return np.ascontiguousarray(flat)
        axes = self.rest_axes
        spans = self.vertices[self.cells] - self.vertices[self.cells[:, :1]]
        return np.ascontiguousarray(np.einsum("eai,eji->eaj", spans, axes))

    @cached_property
    def rest_axes(self) -> Floats:
        """Unit vectors along the first edge of each triangle in space and across it, (m, 2, 3)."""
        first = self.vertices[self.cells[:, 1]] - self.vertices[self.cells[:, 0]]
        normal = area_vectors(self.vertices, self.cells)
        axes = np.stack([first, np.cross(normal, first)], axis=1)
        length = np.linalg.norm(axes, axis=2, keepdims=True)
        return np.asarray(np.divide(axes, length, out=np.zeros_like(axes), where=length > 0))

    @cached_property
    def areas(self) -> Floats:
        """Area of each triangle without strain [m²], (m,)."""
        a, b, c = self.rest_corners.transpose(1, 0, 2)
        one, other = b - a, c - a
        areas: Floats = 0.5 * np.abs(one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0])
        areas.setflags(write=False)
        return areas

    @property
    def area(self) -> float:
        """Area of the whole sheet without strain [m²]."""
        return float(self.areas.sum())

    @cached_property
    def vertex_areas(self) -> Floats:
        """A third of the triangles around each vertex, without strain [m²], (n,)."""
        shares = np.bincount(self.cells.ravel(), np.repeat(self.areas / 3, 3), self.n_vertices)
        areas: Floats = shares.astype(np.float64)
        areas.setflags(write=False)
        return areas

    # -- edges -------------------------------------------------------------------------

    @cached_property
    def _sides(self) -> tuple[Ints, Ints, Ints]:
        """The edges (e, 2), the edge of each side of each triangle (3m,), sides by edge (3m,).

        Side 3f + k goes from corner k of triangle f to the next one.
        """
        ends = np.sort(self.cells[:, self._corner_edges].reshape(-1, 2))
        edges, edge = np.unique(ends, axis=0, return_inverse=True)
        edge = edge.reshape(-1).astype(np.int64)
        return edges, edge, np.argsort(edge, kind="stable").astype(np.int64)

    @property
    def edges(self) -> Ints:
        """Every edge once, its ends in ascending order, (e, 2)."""
        return self._sides[0]

    @cached_property
    def boundary_edges(self) -> Ints:
        """The edges that only one triangle has, (k, 2)."""
        edges, edge, _ = self._sides
        return np.asarray(edges[np.bincount(edge, minlength=len(edges)) == 1])

    @cached_property
    def hinges(self) -> Hinges:
        """Where two triangles share an edge."""
        edges, edge, order = self._sides
        count = np.bincount(edge, minlength=len(edges))
        crowded = np.flatnonzero(count > 2)
        if len(crowded):
            raise MeshError(
                f"the edge between vertices {edges[crowded[0]].tolist()} belongs to "
                f"{count[crowded[0]]} triangles; a sheet has at most two there, so give each "
                "further layer vertices of its own"
            )
        start = np.cumsum(count) - count
        shared = start[count == 2]
        sides = np.stack([order[shared], order[shared + 1]], axis=1)  # (h, 2)
        cells, corner = sides // 3, sides % 3
        ends = edges[count == 2]
        # Which corner of each triangle is the first end of the edge: where its side starts or ends.
        ahead = self.cells[cells, corner] == ends[:, :1]
        first = np.where(ahead, corner, (corner + 1) % 3)
        second = np.where(ahead, (corner + 1) % 3, corner)
        opposite = (corner + 2) % 3
        corners = np.stack([first, second, opposite], axis=2)
        vertices = np.concatenate([ends, self.cells[cells, opposite]], axis=1)
        return Hinges(vertices.astype(np.int64), cells, corners)

    def surface(self) -> Surface:
        """The sheet in space as a surface, with the same vertices and triangles."""
        return Surface(self.vertices, self.cells, np.arange(self.n_vertices))
