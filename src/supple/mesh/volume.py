"""What all solid meshes share: checks, volumes, the boundary."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from supple.core.errors import InputError
from supple.core.types import Bools, Floats, Ints
from supple.mesh import checks
from supple.mesh.base import Mesh
from supple.mesh.surface import Surface

BRICK_CORNERS = np.array([(x, y, z) for z in (0, 1) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))])
"""Corners of the unit cube, in VTK order."""


@dataclass(frozen=True, eq=False)
class Quadrature:
    """Points at which a mesh integrates its energy.

    ``weights`` (m, q) volume that each point stands for [m³]; ``gradients`` (m, q, k, 3)
    derivatives of the k shape functions by the rest position [1/m]; ``shape_values`` (q, k)
    the shape functions themselves. The arrays are taken over and made read-only, not copied.
    """

    weights: Floats
    gradients: Floats
    shape_values: Floats

    def __post_init__(self) -> None:
        for name in ("weights", "gradients", "shape_values"):
            array = np.ascontiguousarray(getattr(self, name), dtype=np.float64)
            array.setflags(write=False)
            object.__setattr__(self, name, array)


@dataclass(frozen=True, eq=False, repr=False)
class VolumeMesh(Mesh):
    """A solid cut into cells; use TetMesh, QuadraticTetMesh or HexMesh.

    ``vertices`` (n, 3) rest positions X [m]; ``cells`` (m, k) vertex indices; ``regions`` named
    sets of cell indices; ``properties`` of regions, as found in a file: "young" [Pa], "poisson",
    "density" [kg/m³]. All of them are read-only: ``dataclasses.replace`` makes a variant.
    """

    properties: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    # Local nodes of each face, outward; the triangles that draw such a face; edges between
    # corners; and the order of nodes that turns a cell inside out.
    _faces: ClassVar[Ints]
    _face_triangles: ClassVar[Ints]
    _flip: ClassVar[Ints]

    def __post_init__(self) -> None:
        super().__post_init__()
        vertices, cells, kind = self.vertices, self.cells, type(self).__name__
        checks.no_repeats(cells)
        advice = f"{kind}.cleaned(vertices, cells) drops such vertices"
        checks.all_referenced(cells, len(vertices), self._cell, advice)
        volumes, worst = self._signed_volumes(vertices, cells)
        checks.solid(vertices, self._longest_edges(vertices, cells), volumes, worst, kind)
        self._keep(properties=checks.region_values(self.properties, self.regions))

    # -- what each kind of cell defines ------------------------------------------------

    @classmethod
    @abstractmethod
    def _signed_volumes(cls, vertices: Floats, cells: Ints) -> tuple[Floats, Floats]:
        """Signed volumes (m,) and the smallest local volume ratio as a volume (m,) [m³]."""

    @cached_property
    @abstractmethod
    def _quadrature(self) -> Quadrature: ...

    @abstractmethod
    def shape_mass(self) -> Floats:
        """Integral of N_a N_b over each cell, exact [m³], (m, k, k)."""

    def quadrature(self) -> Quadrature:
        """Integration points, made once and kept."""
        return self._quadrature

    # -- making ------------------------------------------------------------------------

    @classmethod
    def cleaned(
        cls,
        vertices: ArrayLike,
        cells: ArrayLike,
        regions: Mapping[str, Ints] | None = None,
        properties: Mapping[str, Mapping[str, float]] | None = None,
    ) -> Self:
        """A mesh without the vertices that no cell uses, and with inverted cells turned round."""
        positions = checks.points(vertices)
        whole = checks.connectivity(cells, cls.cell_nodes, len(positions))
        turned = cls.inverted(positions, whole)
        whole = np.where(turned[:, None], whole[:, cls._flip], whole)
        kept, renumbered = np.unique(whole, return_inverse=True)
        whole = renumbered.reshape(whole.shape).astype(np.int64)
        return cls(positions[kept], whole, regions or {}, properties or {})

    @classmethod
    def inverted(cls, vertices: Floats, cells: Ints) -> Bools:
        """Which cells have a negative volume, (m,)."""
        volumes, _ = cls._signed_volumes(vertices, cells)
        return volumes < 0

    # -- measuring ---------------------------------------------------------------------

    @cached_property
    def volumes(self) -> Floats:
        """Volume of each cell [m³], (m,)."""
        volumes, _ = self._signed_volumes(self.vertices, self.cells)
        volumes.setflags(write=False)
        return volumes

    @property
    def volume(self) -> float:
        """Volume of the whole [m³]."""
        return float(self.volumes.sum())

    @abstractmethod
    def quality(self) -> Floats:
        """Shape of each cell, 1 for a regular one and near 0 for a flat one, (m,).

        Tets: mean ratio 12 (3V)^⅔ / Σ l². Bricks: the smallest scaled Jacobian of their corners.
        """

    @classmethod
    def _longest_edges(cls, vertices: Floats, cells: Ints) -> Floats:
        longest = np.zeros(len(cells))
        for a, b in cls._corner_edges:
            edge = vertices[cells[:, b]] - vertices[cells[:, a]]
            np.maximum(longest, np.einsum("mi,mi->m", edge, edge), out=longest)
        return np.sqrt(longest)

    # -- the boundary ------------------------------------------------------------------

    def boundary_facets(self) -> Ints:
        """Faces that only one cell has, outward, as vertex indices of this mesh.

        (f, 3) for tets, (f, 4) for bricks, (f, 6) for quadratic tets: three corners, then the
        middles of edges 01, 12, 20.
        """
        return self._facets[0]

    def boundary_cells(self) -> Ints:
        """The cell that each boundary facet belongs to, (f,)."""
        return self._facets[1]

    @cached_property
    def _facets(self) -> tuple[Ints, Ints]:
        faces = self.cells[:, self._faces].reshape(-1, self._faces.shape[1])
        corners = 4 if self._faces.shape[1] == 4 else 3
        keys = np.sort(faces[:, :corners], axis=1)
        order = np.lexsort(keys.T)
        same = (keys[order[1:]] == keys[order[:-1]]).all(axis=1)
        single = np.ones(len(faces), dtype=bool)
        single[order[1:][same]] = False
        single[order[:-1][same]] = False
        facets: Ints = faces[single]
        owners: Ints = np.flatnonzero(single) // len(self._faces)
        facets.setflags(write=False)
        owners.setflags(write=False)
        return facets, owners

    def boundary(self) -> Surface:
        """The skin as triangles, outward; its ``vertex_ids`` are vertex indices of this mesh."""
        triangles = self._facets[0][:, self._face_triangles].reshape(-1, 3)
        kept, local = np.unique(triangles, return_inverse=True)
        return Surface(self.vertices[kept], local.reshape(-1, 3).astype(np.int64), kept)


def grid(
    size: ArrayLike, cells: ArrayLike, origin: ArrayLike
) -> tuple[Floats, Ints, tuple[int, int, int]]:
    """Vertices and bricks (VTK order) of a box, with its number of bricks along x, y and z."""
    lengths = np.asarray(size, dtype=np.float64)
    start = np.asarray(origin, dtype=np.float64)
    counts = np.asarray(cells)
    if lengths.shape != (3,) or not (np.isfinite(lengths) & (lengths > 0)).all():
        raise InputError(
            f"size={size!r} must be three lengths above zero [m], e.g. (1.0, 0.2, 0.2)"
        )
    if counts.shape != (3,) or counts.dtype.kind not in "iu" or not (counts > 0).all():
        raise InputError(f"cells={cells!r} must be three whole numbers above zero, e.g. (20, 4, 4)")
    if start.shape != (3,) or not np.isfinite(start).all():
        raise InputError(f"origin={origin!r} must be a point (x, y, z) [m]")
    nx, ny, nz = (int(count) for count in counts)
    axes = [start[a] + lengths[a] * (np.arange(n + 1) / n) for a, n in enumerate((nx, ny, nz))]
    vertices = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    index = np.arange(len(vertices)).reshape(nx + 1, ny + 1, nz + 1)
    nodes = [index[i : nx + i, j : ny + j, k : nz + k].ravel() for i, j, k in BRICK_CORNERS]
    return vertices, np.stack(nodes, axis=1).astype(np.int64), (nx, ny, nz)
