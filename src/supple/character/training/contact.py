"""Contact that a body keeps in a pose, as linear constraints, also with itself (§6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import breadth_first_order, connected_components
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from trimesh import triangles as on_triangles

from supple.contact.obstacles.base import Obstacle
from supple.core.checks import instance, number, vertex_indices
from supple.core.errors import InputError
from supple.core.types import Bools, Floats, Ints
from supple.mesh import TetMesh, VolumeMesh
from supple.mesh.surface import Surface, area_vectors
from supple.mesh.tet import barycentric_gradients

_NEAR = 0.01  # of the mean edge: so close to an obstacle is on it
_closest_point: Any = on_triangles.closest_point
_barycentric: Any = on_triangles.points_to_barycentric
_TOUCHING = 0.25  # of the mean edge
_APART = 2.0  # of the mean edge
_UNCLEAR = 0.1  # difference of two normals that do not face each other
_CHUNK = 2**20  # pairs of a vertex and a triangle looked at together
_INSIDE = -1e-9  # barycentric coordinate of a place that is in a cell


@dataclass(frozen=True, eq=False, repr=False)
class PoseContact:
    """Vertices in contact, which keep it: C u = 0.

    Vertex k slides on what it touches: n·(u_k − Σ_c b_c u_c) = 0, where the u_c are those of the
    triangle on the other side, or 0 where the other side does not move. Where it sticks, all of
    the difference is 0. ``self_contact`` finds where a body touches itself.
    """

    vertices: Ints
    """That touch, (c,)."""
    normals: Floats
    """Unit vectors out of what they touch, (c, 3)."""
    gaps: Floats
    """Distances between the two sides [m], negative where one is inside the other, (c,)."""
    corners: Ints
    """Vertices of the triangle that each of them touches, (c, 3); of an obstacle any."""
    shares: Floats
    """Barycentric coordinates of the touched place, (c, 3); 0 for an obstacle."""
    sticking: Bools
    """Which of them cannot slide, (c,)."""

    def __repr__(self) -> str:
        return f"PoseContact({len(self)} vertices, {self.sticking.sum()} of them sticking)"

    def __len__(self) -> int:
        return len(self.vertices)

    @classmethod
    def with_obstacle(
        cls,
        mesh: VolumeMesh,
        obstacle: Obstacle,
        *,
        distance: float | None = None,
        sticking: bool = False,
    ) -> PoseContact:
        """Vertices of the boundary within ``distance`` [m] of an obstacle, or inside it.

        The default distance is a hundredth of the mean edge.
        """
        instance("obstacle", obstacle, Obstacle, "Plane(normal=(0, 0, 1))")
        if distance is None:
            distance = _NEAR * float(np.mean(mesh.edge_lengths()))
        number("distance", distance, at_least=0, unit="m")
        skin = np.unique(mesh.boundary_facets())
        gaps, normals = obstacle.signed_distance(mesh.vertices[skin])
        near = np.flatnonzero(gaps <= distance)
        return cls._of_obstacle(skin[near], normals[near], gaps[near], sticking)

    @classmethod
    def of_vertices(
        cls, vertices: ArrayLike, normals: ArrayLike, n: int, *, sticking: bool = False
    ) -> PoseContact:
        """Given vertices of a mesh of n, which do not move along normals, (k, 3) or (3,)."""
        index = vertex_indices("vertices", vertices, n)
        given = np.broadcast_to(np.asarray(normals, dtype=float), (len(index), 3))
        length = np.linalg.norm(given, axis=1, keepdims=True)
        if not (np.isfinite(given).all() and (length > 0).all()):
            raise InputError("a normal has no direction; give vectors that are not zero")
        return cls._of_obstacle(index, given / length, np.zeros(len(index)), sticking)

    @classmethod
    def _of_obstacle(
        cls, vertices: Ints, normals: Floats, gaps: Floats, sticking: bool
    ) -> PoseContact:
        corners = np.repeat(vertices[:, None], 3, axis=1)
        held = np.full(len(vertices), sticking)
        return cls(vertices, normals, gaps, corners, np.zeros(corners.shape), held)

    def joined(self, *others: PoseContact) -> PoseContact:
        """This contact and others, together."""
        all_parts = zip(*(vars(contact).values() for contact in (self, *others)), strict=True)
        return PoseContact(*(np.concatenate(parts) for parts in all_parts))

    def picked(self, which: ArrayLike) -> PoseContact:
        """Only the contacts of ``which``: indices, or a mask (c,)."""
        return PoseContact(*(part[np.asarray(which)] for part in vars(self).values()))

    def rows(self, n: int) -> sparse.csr_array:
        """C for a mesh of n vertices, (rows, 3n): a row where one slides, three where it sticks."""
        if len(self) and max(self.vertices.max(), self.corners.max()) >= n:
            raise InputError(f"the contact names vertices that a mesh of {n} does not have")
        slides, sticks = np.flatnonzero(~self.sticking), np.flatnonzero(self.sticking)
        who = np.concatenate([slides, np.repeat(sticks, 3)])
        directions = np.concatenate([self.normals[slides], np.tile(np.eye(3), (len(sticks), 1))])
        involved = np.concatenate([self.vertices[:, None], self.corners], axis=1)[who]
        factors = np.concatenate([np.ones((len(self), 1)), -self.shares], axis=1)[who]
        values = factors[:, :, None] * directions[:, None]
        columns = 3 * involved[:, :, None] + np.arange(3)
        rows = np.broadcast_to(np.arange(len(who))[:, None, None], values.shape)
        C = sparse.csr_array(
            (values.ravel(), (rows.ravel(), columns.ravel())), shape=(len(who), 3 * n)
        )
        C.eliminate_zeros()
        return C

    def opening(self, u: Floats) -> Floats:
        """By how much displacements u (n, 3) [m] part the two sides, to first order [m], (c,)."""
        other = np.einsum("ck,cki->ci", self.shares, u[self.corners])
        return np.asarray(np.einsum("ci,ci->c", self.normals, u[self.vertices] - other))


def self_contact(
    mesh: VolumeMesh,
    neutral: VolumeMesh,
    *,
    distance: float | None = None,
    apart: float | None = None,
    sticking: bool = False,
) -> PoseContact:
    """Where the boundary of a mesh touches another part of itself, or is inside it.

    ``mesh`` is the mesh in the pose, ``neutral`` the same in the neutral one. Two places are in
    contact where they face each other, are within ``distance`` [m] or one inside the other part,
    and were farther than ``apart`` [m] in the neutral pose. The defaults are a quarter of the mean
    edge of the boundary, and twice that edge. Of two sides the one with more vertices in contact
    gets the constraints: both would make the contact too stiff.
    """
    instance("mesh", mesh, TetMesh, "TetMesh(vertices, cells)")
    if not np.array_equal(mesh.cells, neutral.cells):
        raise InputError("mesh and neutral have different cells; give one mesh in two poses")
    skin = mesh.boundary()
    edge = float(np.mean(_edge_lengths(skin)))
    near = _TOUCHING * edge if distance is None else number("distance", distance, at_least=0)
    far = _APART * edge if apart is None else number("apart", apart, above=0)
    hosts = _hosts(mesh, neutral, skin, far)
    vertex, triangle, gap, shares = _nearest(skin, neutral, near, far, hosts)
    corners = skin.triangles[triangle]
    outward = skin.normals()
    normals = np.einsum("ck,cki->ci", shares, outward[corners]) - outward[vertex]
    unclear = np.linalg.norm(normals, axis=1) < _UNCLEAR
    normals[unclear] = -outward[vertex[unclear]]
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    ids = np.asarray(skin.vertex_ids)
    gaps = np.where(np.isnan(hosts[vertex, 0]), gap, -gap)
    held = np.full(len(vertex), sticking)
    both = PoseContact(ids[vertex], normals, gaps, ids[corners], shares, held)
    return both.picked(_one_side(both))


def _edge_lengths(skin: Surface) -> Floats:
    ends = skin.vertices[skin.triangles]
    return np.asarray(np.linalg.norm(ends - np.roll(ends, 1, axis=1), axis=2))


def _hosts(mesh: VolumeMesh, neutral: VolumeMesh, skin: Surface, far: float) -> Floats:
    """What of the body each vertex of the skin is inside of, if that was far from it: its place in
    the neutral pose [m], (s, 3); not a number where a vertex is outside."""
    centres = mesh.centroids
    radii = np.linalg.norm(mesh.vertices[mesh.cells] - centres[:, None], axis=2).max(axis=1)
    slopes = barycentric_gradients(mesh.vertices, mesh.cells, mesh.volumes)
    start = neutral.vertices[np.asarray(skin.vertex_ids)]
    near = cKDTree(centres).query_ball_point(skin.vertices, radii.max())
    vertex = np.repeat(np.arange(skin.n_vertices), [len(cells) for cells in near])
    cell = np.concatenate([np.asarray(cells, dtype=np.int64) for cells in near])
    arm = skin.vertices[vertex] - centres[cell]
    close = np.linalg.norm(arm, axis=1) <= radii[cell]
    vertex, cell, arm = vertex[close], cell[close], arm[close]
    shares = 0.25 + np.einsum("pki,pi->pk", slopes[cell], arm)
    in_cell = shares.min(axis=1) > _INSIDE
    vertex, cell, shares = vertex[in_cell], cell[in_cell], shares[in_cell]
    corners = neutral.vertices[neutral.cells[cell]]
    apart = np.linalg.norm(start[vertex, None] - corners, axis=2).min(axis=1) > far
    hosts = np.full(skin.vertices.shape, np.nan)
    hosts[vertex[apart]] = np.einsum("pk,pki->pi", shares[apart], corners[apart])
    return hosts


def _nearest(
    skin: Surface, neutral: VolumeMesh, near: float, far: float, hosts: Floats
) -> tuple[Ints, Ints, Floats, Floats]:
    """Vertices that touch, their triangles, distances [m] and barycentric coordinates.

    Those inside of something touch triangles that were nearer to their hosts than to themselves.
    """
    inside = ~np.isnan(hosts[:, 0])
    corners = skin.vertices[skin.triangles]
    centres = corners.mean(axis=1)
    radii = np.linalg.norm(corners - centres[:, None], axis=2).max(axis=1)
    start = neutral.vertices[np.asarray(skin.vertex_ids)]
    faces, normals = area_vectors(skin.vertices, skin.triangles), skin.normals()
    found: list[tuple[Ints, Ints, Floats, Floats]] = []
    step = max(1, _CHUNK // skin.n_triangles)
    for low in range(0, skin.n_vertices, step):
        own = np.arange(low, min(low + step, skin.n_vertices))
        before = cdist(start[own], start)[:, skin.triangles].min(axis=2)
        other = (before > far) & (normals[own] @ faces.T < 0)
        to_host = cdist(hosts[own], start)[:, skin.triangles].min(axis=2)
        other &= ~inside[own, None] | (to_host < before)
        away = np.where(other, cdist(skin.vertices[own], centres), np.inf)
        # The nearest triangle is no farther than the nearest centre.
        reach = np.where(inside[own], away.min(axis=1), near)
        row, triangle = np.nonzero(other & (away <= reach[:, None] + radii))
        vertex = own[row]
        if not len(vertex):
            continue
        place = _closest_point(corners[triangle], skin.vertices[vertex])
        gap = np.linalg.norm(skin.vertices[vertex] - place, axis=1)
        kept = np.flatnonzero((gap <= near) | inside[vertex])
        kept = kept[np.lexsort((gap[kept], vertex[kept]))]
        _, first = np.unique(vertex[kept], return_index=True)
        best = kept[first]
        shares = _barycentric(corners[triangle[best]], place[best])
        found.append((vertex[best], triangle[best], gap[best], shares))
    if not found:
        none = np.empty(0, dtype=np.int64)
        return none, none, np.empty(0), np.empty((0, 3))
    vertex, triangle, gap, shares = (np.concatenate(part) for part in zip(*found, strict=True))
    return vertex, triangle, gap, shares


def _one_side(contact: PoseContact) -> Ints:
    """Contacts whose vertices are on one side, and what they touch on the other, (k,).

    Vertices and the corners that they touch are a graph; from one vertex on, sides alternate.
    """
    n = int(max(contact.vertices.max(initial=-1), contact.corners.max(initial=-1))) + 1
    ends = np.repeat(contact.vertices, 3), contact.corners.ravel()
    graph = sparse.csr_array((np.ones(len(ends[0])), ends), shape=(n, n))
    graph = graph + graph.T
    _, piece = connected_components(graph, directed=False)
    kept: list[Ints] = []
    for one in np.unique(piece[contact.vertices]):
        order, before = breadth_first_order(graph, np.flatnonzero(piece == one)[0], directed=False)
        side = np.zeros(n, dtype=np.int64)
        for vertex in order[1:]:
            side[vertex] = 1 - side[before[vertex]]
        mine = np.flatnonzero(piece[contact.vertices] == one)
        own, other = side[contact.vertices[mine]], side[contact.corners[mine]]
        across = (other == 1 - own[:, None]).all(axis=1)
        larger = int(np.bincount(own[across], minlength=2).argmax())
        kept.append(mine[across & (own == larger)])
    return np.sort(np.concatenate(kept)) if kept else np.empty(0, dtype=np.int64)
