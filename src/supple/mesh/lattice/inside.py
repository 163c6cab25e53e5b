"""What a surface encloses: any triangles, also open, crossing and nested ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple._kernels.contact.obstacles import mesh_distances
from supple._kernels.meshing.winding import INSIDE, ends_of_material, winding_numbers
from supple.core.errors import MeshError
from supple.core.types import Bools, Floats, Ints
from supple.mesh.lattice.linked import linked
from supple.mesh.surface import Surface, area_vectors
from supple.mesh.triangle_boxes import boxes_around, halved

_FLAT = 1e-12  # area of a triangle, against its longest side squared, that leaves it no direction


@dataclass(frozen=True, eq=False)
class Enclosed:
    """Triangles in a tree of boxes, by which inside is told from outside."""

    surface: Surface
    """Welded, and turned the right way out."""
    order: Ints
    """Of its triangles in the tree, (t,)."""
    boxes: Floats
    starts: Ints
    corners: Floats
    dipoles: Floats

    @classmethod
    def by(cls, surface: Surface) -> Enclosed:
        """What a surface encloses; parts of it that are inside out are turned."""
        return _turned_out(_wide(surface.welded()[0].compact()[0]))

    @classmethod
    def _of(cls, surface: Surface) -> Enclosed:
        order, starts = halved(surface)
        corners = np.ascontiguousarray(surface.vertices[surface.triangles[order]])
        boxes = boxes_around(corners, starts)
        return cls(surface, order, boxes, starts, corners, _dipoles(corners, starts))

    @property
    def size(self) -> float:
        """The longest side of the box about it [m]."""
        return float(np.ptp(self.surface.bounds, axis=0).max())

    def contains(self, points: Floats) -> Bools:
        """Which points (k, 3) are inside, (k,)."""
        return np.asarray(self.turns(points) > INSIDE)

    def turns(self, points: Floats) -> Floats:
        """Winding number about points (k, 3), (k,)."""
        found = np.empty(len(points))
        winding_numbers(_rows(points), self.starts, self.corners, self.dipoles, found)
        return found

    def distances(self, points: Floats) -> Floats:
        """How far points (k, 3) are from the surface [m], on either side, (k,)."""
        return self._search(points)[0]

    def nearest(self, points: Floats) -> Ints:
        """The triangle of the surface that is nearest to each of points (k, 3), (k,)."""
        return np.asarray(self.order[self._search(points)[1]])

    def _search(self, points: Floats) -> tuple[Floats, Ints]:
        points = _rows(points)
        found, normals = np.empty(len(points)), np.empty((len(points), 3))
        nearest = np.empty(len(points), dtype=np.int64)
        faces = area_vectors(self.corners.reshape(-1, 3), _numbered(len(self.corners)))
        faces /= np.linalg.norm(faces, axis=1, keepdims=True)
        sides = np.repeat(faces[:, None], 7, axis=1)  # the side does not matter here
        rims = np.zeros((len(faces), 7), dtype=bool)
        nowhere = np.empty((0, 0, 0))
        tree = (self.boxes, self.starts, self.corners, sides, rims, nowhere, False)
        mesh_distances(points, np.inf, *tree, found, normals, nearest)
        return np.abs(found), nearest

    def ends(self, starts_at: Floats, ends_at: Floats, inside: Bools) -> Floats:
        """How far material goes along segments (k, 3) → (k, 3), from either end, (k, 2).

        In parts of the segment, 2 where it goes on to the other end; ``inside`` (k, 2) tells which
        ends are in it.
        """
        found = np.empty((len(starts_at), 2))
        tree = (self.boxes, self.starts, self.corners, self.dipoles)
        ends_of_material(
            _rows(starts_at), _rows(ends_at), np.ascontiguousarray(inside), *tree, found
        )
        return found

    def thickness(self, points: Floats, normals: Floats, most: float) -> Floats:
        """How far it is to the other side [m] from places on the surface (k, 3), (k,).

        Straight in along ``normals`` (k, 3); no more than ``most``, and 0 where no inside is.
        """
        start = points - 1e-4 * most * normals
        end = start - most * normals
        inside = np.stack([self.contains(start), self.contains(end)], axis=1)
        share = self.ends(start, end, inside)[:, 0]
        return np.asarray(np.where(inside[:, 0], most * np.minimum(share, 1.0), 0.0))


def _rows(points: Floats) -> Floats:
    return np.ascontiguousarray(points, dtype=np.float64)  # one layout, compiled once


def _numbered(count: int) -> Ints:
    return np.arange(3 * count).reshape(-1, 3)


def _wide(surface: Surface) -> Surface:
    """Without triangles that are too thin to face anywhere."""
    corners = surface.vertices[surface.triangles]
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1, initial=0)
    wide = surface.areas > _FLAT * longest**2
    if not wide.any():
        raise MeshError("the surface has no area, so there is nothing to fill")
    return surface if wide.all() else Surface(surface.vertices, surface.triangles[wide])


def _turned_out(surface: Surface) -> Enclosed:
    """The surface with each closed part that is inside out turned, unless it lies in another.

    One that does is a hollow, as its maker has it.
    """
    parts = parts_of(surface)
    volumes = np.array([_part(surface, parts == k).volume for k in range(parts.max() + 1)])
    found = Enclosed._of(surface)
    turned = np.zeros(len(volumes), dtype=bool)
    for k in np.flatnonzero(volumes < 0):
        part = _part(surface, parts == k)
        if not part.is_closed:
            continue
        middles = part.vertices[part.triangles].mean(axis=1)
        around = found.turns(middles) - Enclosed._of(part).turns(middles)
        if np.median(around) < INSIDE:
            turned[k] = True
            turned |= _lying_in(part, surface, parts)
    if not turned.any():
        return found
    triangles = surface.triangles.copy()
    triangles[turned[parts]] = triangles[turned[parts]][:, ::-1]
    return Enclosed._of(Surface(surface.vertices, triangles))


def _lying_in(outer: Surface, surface: Surface, parts: Ints) -> Bools:
    """Which closed parts are inside one that is inside out, as a whole body may be."""
    around, inside = Enclosed._of(outer), []
    for k in range(parts.max() + 1):
        part = _part(surface, parts == k)
        middles = part.vertices[part.triangles].mean(axis=1)
        inside.append(part.is_closed and float(np.median(around.turns(middles))) < -INSIDE)
    return np.array(inside)


def _part(surface: Surface, mine: Bools) -> Surface:
    return Surface(surface.vertices, surface.triangles[mine])


def parts_of(surface: Surface) -> Ints:
    """The part that each triangle is in, (t,); triangles of a part hang together by vertices."""
    heads, tails = np.repeat(surface.triangles[:, 0], 2), surface.triangles[:, 1:].ravel()
    labels = linked(heads, tails, surface.n_vertices)[surface.triangles[:, 0]]
    return np.unique(labels, return_inverse=True)[1].reshape(-1)


def _dipoles(corners: Floats, starts: Ints) -> Floats:
    """For each box of the heap: middle, Σ area × normal, and the radius about the middle."""
    leaves = len(starts) - 1
    normals = 0.5 * area_vectors(corners.reshape(-1, 3), _numbered(len(corners)))
    areas = np.linalg.norm(normals, axis=1)
    # sums over leaves and upwards: area, area × middle, area × normal
    sums = np.zeros((2 * leaves, 7))
    each = np.column_stack([areas, areas[:, None] * corners.mean(axis=1), normals])
    sums[leaves:] = np.add.reduceat(each, starts[:-1], axis=0)
    first = np.zeros(2 * leaves, dtype=np.int64)
    last = np.zeros(2 * leaves, dtype=np.int64)
    first[leaves:], last[leaves:] = starts[:-1], starts[1:]
    level = leaves
    while level > 1:
        level //= 2
        above, below = slice(level, 2 * level), slice(2 * level, 4 * level)
        sums[above] = sums[below].reshape(-1, 2, 7).sum(axis=1)
        first[above], last[above] = first[below][::2], last[below][1::2]
    found = np.zeros((2 * leaves, 7))
    found[1:, :3] = sums[1:, 1:4] / sums[1:, :1]
    found[1:, 3:6] = sums[1:, 4:]
    for node in range(1, 2 * leaves):
        mine = corners[first[node] : last[node]].reshape(-1, 3)
        found[node, 6] = np.linalg.norm(mine - found[node, :3], axis=1).max()
    return found
