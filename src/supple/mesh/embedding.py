"""A surface that follows the solid it is embedded in."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.core.errors import InputError
from supple.core.types import Bools, Floats, Ints
from supple.mesh import hex
from supple.mesh.checks import MeshWarning
from supple.mesh.hex import HexMesh
from supple.mesh.surface import Surface
from supple.mesh.tet import (
    QuadraticTetMesh,
    barycentric_gradients,
    quadratic_slopes,
    quadratic_values,
)
from supple.mesh.volume import VolumeMesh

_INSIDE = 1e-9  # how far outside, as a part of a cell, still counts as inside
_FAR = 3.0  # cells; farther from the solid than this deserves a warning
_PAIRS = 400_000  # pairs of point and cell tested at once


@dataclass(frozen=True, eq=False, repr=False)
class Embedding:
    """Each vertex of ``surface`` tied to a cell of ``mesh``.

    ``cells`` (s,) the cell that holds each surface vertex, or the nearest; ``weights`` (s, k) of
    the cell's nodes; ``inside`` (s,) whether the vertex is in its cell; ``matrix`` (s, n) sparse,
    from displacements of the mesh to those of the surface. A vertex outside follows the motion of
    its cell continued linearly, so linear fields are exact everywhere.
    """

    mesh: VolumeMesh
    surface: Surface
    cells: Ints = field(init=False)
    weights: Floats = field(init=False)
    inside: Bools = field(init=False)
    matrix: Any = field(init=False)

    def __post_init__(self) -> None:
        from scipy import sparse  # slow to import

        if not isinstance(self.mesh, VolumeMesh) or not isinstance(self.surface, Surface):
            raise InputError(
                f"Embedding(mesh, surface) needs a volume mesh and a Surface, not "
                f"{type(self.mesh).__name__} and {type(self.surface).__name__}"
            )
        places = self.surface.vertices
        cells = _containing(self.mesh, places)
        inside = cells >= 0
        lost = np.flatnonzero(~inside)
        if len(lost):
            cells[lost], distance = _nearest(self.mesh, places[lost])
            far = distance > _FAR * _radii(self.mesh)[cells[lost]]
            if far.any():
                warnings.warn(
                    f"{np.count_nonzero(far)} surface vertices are more than {_FAR:g} cells away "
                    f"from the solid (up to {distance.max():.3g} m); do both have the same place "
                    "and scale?",
                    MeshWarning,
                    stacklevel=3,
                )
        weights = _weights(self.mesh, cells, places)
        k = self.mesh.cell_nodes
        matrix = sparse.csr_matrix(
            (weights.ravel(), self.mesh.cells[cells].ravel(), np.arange(0, weights.size + 1, k)),
            shape=(len(places), self.mesh.n_vertices),
        )
        for name, value in (("cells", cells), ("weights", weights), ("inside", inside)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        object.__setattr__(self, "matrix", matrix)

    def __repr__(self) -> str:
        return f"Embedding({self.surface!r} in {self.mesh!r})"

    def displace(self, u: ArrayLike) -> Floats:
        """Displacements of the surface [m], (s, 3) or (T, s, 3), from those of the mesh."""
        given = np.asarray(u, dtype=np.float64)
        n = self.mesh.n_vertices
        if given.ndim not in (2, 3) or given.shape[-2:] != (n, 3):
            raise InputError(f"u has shape {given.shape}; it must be ({n}, 3) or (T, {n}, 3)")
        moved = np.empty((*given.shape[:-2], self.surface.n_vertices, 3))
        for frame in np.ndindex(given.shape[:-2]):  # one at a time stays in the cache
            moved[frame] = self.matrix @ given[frame]
        return moved

    def deform(self, u: ArrayLike) -> Floats:
        """Positions of the surface's vertices [m], (s, 3) or (T, s, 3), when the mesh moves."""
        positions = self.displace(u)
        positions += self.surface.vertices
        return positions


def _radii(mesh: VolumeMesh) -> Floats:
    """Distance of each cell's farthest node from its centroid [m], (m,)."""
    spread = mesh.vertices[mesh.cells] - mesh.centroids[:, None]
    return np.asarray(np.sqrt(np.einsum("mki,mki->mk", spread, spread).max(axis=1)))


def _containing(mesh: VolumeMesh, places: Floats) -> Ints:
    """The cell that each place is in, or -1, (s,)."""
    from scipy.spatial import cKDTree  # slow to import

    tree = cKDTree(mesh.centroids)
    radii = _radii(mesh) * (1.0 + 1e-6)
    found = np.full(len(places), -1, dtype=np.int64)
    left = np.arange(len(places))
    known, k = 0, min(8, mesh.n_cells)
    while len(left):
        later = []
        for part in np.array_split(left, 1 + len(left) * k // _PAIRS):
            distance, near = tree.query(places[part], k=k)
            distance, near = distance.reshape(-1, k), near.reshape(-1, k)
            # A place can only be in cells whose farthest node is as far from the centroid as it.
            row, column = np.nonzero(distance[:, known:] <= radii[near[:, known:]])
            cells = near[row, known + column]
            depth = _depth(mesh, cells, places[part[row]])
            holds = np.flatnonzero(depth >= -_INSIDE)
            deepest = holds[np.argsort(depth[holds], kind="stable")]
            found[part[row[deepest]]] = cells[deepest]
            open_end = (found[part] < 0) & (distance[:, -1] <= radii.max())
            later.append(part[open_end])
        left = np.concatenate(later) if k < mesh.n_cells else left[:0]
        known, k = k, min(4 * k, mesh.n_cells)
    return found


def _nearest(mesh: VolumeMesh, places: Floats) -> tuple[Ints, Floats]:
    """The boundary cell nearest to each place, and its distance [m]."""
    from trimesh import triangles as on_triangles

    closest_point: Any = on_triangles.closest_point
    facets = mesh.boundary_facets()
    corners = 4 if facets.shape[1] == 4 else 3
    fan = np.array([(0, 1, 2), (0, 2, 3)])[: corners - 2]
    triangles = mesh.vertices[facets[:, fan]].reshape(-1, 3, 3)
    owner = np.repeat(mesh.boundary_cells(), len(fan))
    middle = triangles.mean(axis=1)
    reach = np.linalg.norm(triangles - middle[:, None], axis=2).max()
    from scipy.spatial import cKDTree  # slow to import

    tree = cKDTree(middle)
    best = np.full(len(places), np.inf)
    cells = np.zeros(len(places), dtype=np.int64)
    left, k = np.arange(len(places)), min(16, len(triangles))
    while len(left):
        later = []
        for part in np.array_split(left, 1 + len(left) * k // _PAIRS):
            distance, near = tree.query(places[part], k=k)
            distance, near = distance.reshape(-1, k), near.reshape(-1, k)
            repeated = np.repeat(places[part], k, axis=0)
            nearest = closest_point(triangles[near.ravel()], repeated)
            gap = np.linalg.norm(nearest - repeated, axis=1).reshape(-1, k)
            rows, choice = np.arange(len(part)), np.argmin(gap, axis=1)
            best[part] = gap[rows, choice]
            cells[part] = owner[near[rows, choice]]
            # No triangle further down the list can be nearer once this holds.
            later.append(part[distance[:, -1] - reach < best[part]])
        left = np.concatenate(later) if k < len(triangles) else left[:0]
        k = min(4 * k, len(triangles))
    return cells, best


def _depth(mesh: VolumeMesh, cells: Ints, places: Floats) -> Floats:
    """How deep a place is in a cell, as a part of the cell; negative outside, (p,)."""
    local = _local(mesh, cells, places)
    if isinstance(mesh, HexMesh):
        return np.asarray(0.5 * (1.0 - np.abs(local)).min(axis=1))
    return np.asarray(local.min(axis=1))


def _local(mesh: VolumeMesh, cells: Ints, places: Floats) -> Floats:
    """Barycentric (p, 4) or, in bricks, reference coordinates (p, 3) of places."""
    if not isinstance(mesh, HexMesh):
        slopes = barycentric_gradients(mesh.vertices, mesh.cells[cells], mesh.volumes[cells])
        offset = places - mesh.centroids[cells]
        return np.asarray(0.25 + np.einsum("pki,pi->pk", slopes, offset))
    nodes = mesh.vertices[mesh.cells[cells]]
    local = np.zeros((len(cells), 3))
    # Places are rounded like the largest coordinate, which is more the smaller the cells are.
    smallest = np.ptp(nodes, axis=1).max(axis=1).min(initial=np.inf)
    rounding = np.finfo(float).eps * np.abs(nodes).max(initial=0.0) / smallest
    for _ in range(30):
        step = _step(nodes, local, places)
        # Far outside the map folds over; staying near keeps Newton's method from wandering off.
        moved = np.clip(local + step, -2.0, 2.0)
        change = np.abs(moved - local).max(initial=0.0)
        local = moved
        if change < 1e-13 + 8 * rounding:
            break
    return local


def _step(nodes: Floats, local: Floats, places: Floats) -> Floats:
    """Newton's step towards the reference coordinates of places, (p, 3)."""
    missing = places - np.einsum("pk,pki->pi", hex.shape_values(local), nodes)
    jacobian = np.einsum("pka,pki->pai", hex.shape_slopes(local), nodes)
    a, b, c = jacobian[:, 0], jacobian[:, 1], jacobian[:, 2]
    rows = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=1)
    volume = np.einsum("pi,pi->p", rows[:, 0], a)
    least = 1e-9 * np.abs(jacobian).max(axis=(1, 2), initial=0.0) ** 3
    volume = np.where(np.abs(volume) > least, volume, np.where(volume < 0, -least, least))
    return np.asarray(np.einsum("pai,pi->pa", rows, missing) / volume[:, None])


def _weights(mesh: VolumeMesh, cells: Ints, places: Floats) -> Floats:
    """Weights of the cell's nodes, continued linearly from the cell outside it, (s, k)."""
    local = _local(mesh, cells, places)
    if isinstance(mesh, HexMesh):
        base = np.clip(local, -1.0, 1.0)
        ahead = _step(mesh.vertices[mesh.cells[cells]], base, places)
        values, slopes = hex.shape_values(base), hex.shape_slopes(base)
    elif isinstance(mesh, QuadraticTetMesh):
        base = np.maximum(local, 0.0)
        base = base / base.sum(axis=1, keepdims=True)
        ahead = local - base
        values, slopes = quadratic_values(base), quadratic_slopes(base)
    else:
        return local
    return np.asarray(values + np.einsum("pka,pa->pk", slopes, ahead))


def carriers(mesh: VolumeMesh, places: Floats) -> tuple[Ints, Floats]:
    """Which nodes carry each place, and with which weights, (s, k) each; linear fields are exact.

    A place outside follows the nearest cell continued linearly.
    """
    cells = _containing(mesh, places)
    lost = np.flatnonzero(cells < 0)
    if len(lost):
        cells[lost] = _nearest(mesh, places[lost])[0]
    return mesh.cells[cells], _weights(mesh, cells, places)
