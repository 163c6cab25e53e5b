"""Isosurface stuffing: tets of what is inside of a surface on a lattice."""

from __future__ import annotations

import numpy as np

from supple.core.errors import MeshError
from supple.core.types import Bools, Floats, Ints
from supple.mesh.lattice.cutting import (
    EDGES,
    Cuts,
    components,
    edges_of,
    outer_nodes,
    parted,
    snapped,
)
from supple.mesh.lattice.grid import Grid
from supple.mesh.lattice.inside import Enclosed
from supple.mesh.lattice.octree import FINEST, keys_of
from supple.mesh.lattice.stencils import Stencils

_OFF = np.array([1.31e-4, 0.87e-4, 1.13e-4])
"""How far the surface is shifted against the lattice, in sides of a finest cube: faces that lie
exactly on points of the lattice are then on one side of them, whatever rounding does."""
_WAY = 4e-3  # a part of an edge: cuts of mirrored edges that differ by less count as equal


def stuffed(solid: Enclosed, grid: Grid) -> tuple[Floats, Ints]:
    """Places (p, 3) [m] and tets (m, 4) of what is inside."""
    plane = grid.frame.symmetric
    cuts = _cuts(solid, grid, plane)
    places, tets = Stencils(cuts, plane=plane).filled()
    if not len(tets):
        raise MeshError("the surface encloses nothing that a lattice of this edge has a point in")
    used, cells = np.unique(tets, return_inverse=True)
    return grid.to_world(places[used]), cells.reshape(-1, 4)


def _cuts(solid: Enclosed, grid: Grid, plane: bool) -> Cuts:
    points = grid.points
    inside = solid.contains(_shifted(grid, points, points))
    if grid.frame.whole:
        inside = inside[_seen(points, points)]
    tets = grid.tets[inside[grid.tets].any(axis=1)]
    edges, number = edges_of(tets)
    ends = _ends(solid, grid, edges, inside)
    goes_on: Bools = np.all((ends >= 2.0) & inside[edges], axis=1)
    label = components(inside[tets], goes_on[number])
    which, own = parted(tets, label)
    nodes, at = outer_nodes(tets[which], own, len(points))
    return _of_parts(points, tets[which], own, nodes, at, edges, number[which], ends, plane)


def _of_parts(
    points: Ints,
    tets: Ints,
    own: Bools,
    nodes: Ints,
    at: Ints,
    edges: Ints,
    number: Ints,
    ends: Floats,
    plane: bool,
) -> Cuts:
    lattice = points[at]
    state = np.where(np.arange(len(at)) < len(points), 1, -1)
    inner, outer, share = [], [], []
    for k, pair in enumerate(EDGES):
        for a, b in (pair, pair[::-1]):
            cut = np.flatnonzero(own[:, a] & ~own[:, b])
            edge = number[cut, k]
            first = edges[edge, 0] == tets[cut, a]
            inner.append(nodes[cut, a])
            outer.append(nodes[cut, b])
            share.append(np.where(first, ends[edge, 0], ends[edge, 1]))
    one, two, part = np.concatenate(inner), np.concatenate(outer), np.concatenate(share)
    _, kept = np.unique(one * len(at) + two, return_index=True)
    one, two, part = one[kept], two[kept], part[kept]
    part = np.minimum(part, 1.0)
    places, state = snapped(lattice, state, one, two, part, plane=plane)
    return Cuts(lattice, places, state, nodes, one, two, part)


def _shifted(grid: Grid, places: Ints, side_of: Ints) -> Floats:
    """Where points of the lattice are, a little off, mirrored on the far side of the plane."""
    off = np.tile(_OFF * FINEST, (len(places), 1))
    if grid.frame.symmetric:
        off[side_of[:, 0] < 0, 0] *= -1.0
    return grid.to_world(places + off)


def _ends(solid: Enclosed, grid: Grid, edges: Ints, inside: Bools) -> Floats:
    """How far material goes along edges from either end, (e, 2), 2 where it goes on."""
    points = grid.points
    found = np.full((len(edges), 2), 2.0)
    length = grid.unit * np.linalg.norm(points[edges[:, 1]] - points[edges[:, 0]], axis=1)
    apart = solid.distances(grid.to_world(points))
    near = apart[edges].sum(axis=1) <= 1.001 * length
    near |= inside[edges[:, 0]] != inside[edges[:, 1]]
    near = np.flatnonzero(near)
    far = points[edges[near]].sum(axis=1)
    a = _shifted(grid, points[edges[near, 0]], far)
    b = _shifted(grid, points[edges[near, 1]], far)
    found[near] = solid.ends(a, b, inside[edges[near]])
    if grid.frame.symmetric:
        _even_out(points, edges, found, whole=grid.frame.whole)
    return found


def _seen(points: Ints, among: Ints) -> Ints:
    """For each point (n, 3) the one on the near side of the plane: itself, or its mirror image."""
    keys = keys_of(among)
    order = np.argsort(keys)
    mirrored = points.copy()
    mirrored[:, 0] = np.abs(mirrored[:, 0])
    return np.asarray(order[np.searchsorted(keys[order], keys_of(mirrored))])


def _even_out(points: Ints, edges: Ints, ends: Floats, *, whole: bool) -> None:
    """Mirrored edges are cut in mirrored places, where they are so already but for little."""
    flipped = points * np.array([-1, 1, 1])
    keys = keys_of(points)
    order = np.argsort(keys)
    image = order[np.searchsorted(keys[order], keys_of(flipped))]
    there = image[edges]
    turned = there[:, 0] > there[:, 1]
    low, high = there.min(axis=1), there.max(axis=1)
    count = len(points)
    mine = edges[:, 0] * count + edges[:, 1]
    by = np.argsort(mine)
    place = np.minimum(np.searchsorted(mine[by], low * count + high), len(mine) - 1)
    partner = by[place]
    known = mine[partner] == low * count + high
    other = ends[partner]
    other = np.where(turned[:, None], other[:, ::-1], other)
    if whole:
        far = known & (points[edges, 0].sum(axis=1) < 0)
        ends[far] = other[far]
        return
    alike = known[:, None] & (np.abs(other - ends) < _WAY)
    ends[alike] = (0.5 * (ends + other))[alike]
