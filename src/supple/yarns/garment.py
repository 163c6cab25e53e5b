"""Yarns laid on a garment: wefts along u, warps along v of its flat pattern."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.core.errors import InputError
from supple.core.types import Bools, Floats, Ints
from supple.mesh.sheet import SheetMesh
from supple.yarns.panels import Panels
from supple.yarns.seams import Hits, Places, Seams, check_seams

_INSIDE = 1e-9  # barycentric coordinate below zero of a point that is still inside
_ON_NODE = 1e-6  # of a spacing: a border so near to a crossing cuts no yarn
_COINCIDE = 1e-3  # of a spacing: borders so near to each other are sewn, unless told otherwise
_FOLDED = 0.01  # of all crossings, where a pattern may lie on itself: yarns end there


@dataclass(frozen=True, eq=False)
class Laid:
    """Crossings on a garment, as YarnNet wants them."""

    positions: Floats
    arc_lengths: Floats
    along: Ints
    lines: Ints
    """Which warp and which weft of its panel, (n, 2)."""
    stitches: Ints
    stitch_lengths: Floats


def lay_yarns(mesh: SheetMesh, spacing: Floats, tolerance: float | None = None) -> Laid:
    """Crossings of lines at ``spacing`` (2,) [m] in u and v, lifted into space.

    Borders that are at most ``tolerance`` [m] apart in space are sewn to each other.
    """
    reach = _COINCIDE * float(spacing.min()) if tolerance is None else tolerance
    panels = Panels.of(mesh, reach)
    low, high = panels.bounds()
    lines = np.maximum(np.round((high - low) / spacing), 1)
    origin = 0.5 * (low + high - (lines - 1) * spacing)
    grid = (panels.corners - origin[panels.panel][:, None]) / spacing
    triangle, at, shares = _crossings(grid, panels.panel)
    panel = panels.panel[triangle]
    stride = np.array([lines[:, 0].max() + 3, lines[:, 1].max() + 3], dtype=np.int64)

    ends = _sides(grid)[panels.border]
    borders = [_border_hits(ends, family) for family in (0, 1)]
    runs = []
    for family, (side, share) in enumerate(borders):
        cut, first = _cut_segments(_between(ends[side], share), family)
        keys = _keys(panels.panel[panels.border[side[cut]] // 3], first, stride)
        runs.append(_runs(panel, at, family, stride, keys))
    along, kept = _linked(runs, len(at))
    if not kept.any():
        raise InputError(
            f"no panel of the garment, {mesh.area:.3g} m² in all, is wide enough for yarns "
            f"{spacing.tolist()} m apart to cross; give a smaller spacing, or check the unit of "
            "the pattern"
        )
    new = np.cumsum(kept) - 1
    along = np.where(along >= 0, new[along], -1)[kept]
    triangle, at, shares, panel = triangle[kept], at[kept], shares[kept], panel[kept]
    positions = np.einsum("na,nai->ni", shares, mesh.vertices[mesh.cells[triangle]])
    flat = origin[panel] + at * spacing
    side, share = (np.concatenate(each) for each in zip(*borders, strict=True))
    meets = _between(_sides(mesh.vertices[mesh.cells])[panels.border[side]], share)
    places = Places(flat, panel, positions)
    seams = Seams.of(panels, mesh.vertices[mesh.cells], Hits(side, share, meets), reach)
    stitches, lengths = seams.sewn(places, spacing)
    check_seams(panels, mesh.vertices[mesh.cells], seams, stitches, reach, tolerance is not None)
    return Laid(positions, flat[:, ::-1].copy(), along, at, stitches, lengths)


def _crossings(grid: Floats, panel: Ints) -> tuple[Ints, Ints, Floats]:
    """Whole-numbered points in triangles (m, 3, 2): triangle, point (n, 2) and shares (n, 3)."""
    low = np.ceil(grid.min(axis=1) - _INSIDE).astype(np.int64)
    high = np.floor(grid.max(axis=1) + _INSIDE).astype(np.int64)
    size = np.maximum(high - low + 1, 0)
    count = size.prod(axis=1)
    triangle = np.repeat(np.arange(len(grid)), count)
    k = np.arange(len(triangle)) - np.repeat(np.cumsum(count) - count, count)
    across = size[triangle, 1]
    at = low[triangle] + np.stack([k // across, k % across], axis=1)
    edges = np.stack([grid[:, 1] - grid[:, 0], grid[:, 2] - grid[:, 0]], axis=2)
    inverse = np.linalg.inv(edges)
    bc = np.einsum("nij,nj->ni", inverse[triangle], at - grid[triangle, 0])
    shares = np.column_stack([1 - bc.sum(axis=1), bc])
    inside = shares.min(axis=1) >= -_INSIDE
    triangle, at, shares = triangle[inside], at[inside], shares[inside]
    names = np.column_stack([panel[triangle], at])
    _, first, one, count = np.unique(
        names, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    deep = shares.min(axis=1) > 1e-6
    twice = np.bincount(one.reshape(-1), weights=deep, minlength=len(first)) > 1
    if twice.mean() > _FOLDED:
        raise InputError(
            f"{int(twice.sum())} crossings lie in several triangles of one panel, as in triangle "
            f"{triangle[first[np.argmax(twice)]]}: the pattern folds over itself there; give one "
            "that lies flat"
        )
    single = first[~twice]
    return triangle[single], at[single], shares[single]


def _sides(corners: Floats) -> Floats:
    """Where sides of triangles (m, 3, d) start and end, (3 m, 2, d)."""
    sides = np.stack([corners, corners[:, [1, 2, 0]]], axis=2)
    return sides.reshape(-1, 2, corners.shape[2])


def _between(ends: Floats, share: Floats) -> Floats:
    """Places (k, d) at shares (k,) of the way between ends (k, 2, d)."""
    there: Floats = ends[:, 0] + share[:, None] * (ends[:, 1] - ends[:, 0])
    return there


def _border_hits(ends: Floats, family: int) -> tuple[Ints, Floats]:
    """Where yarns of a family meet border sides: which side (h,), and how far along it (h,)."""
    c = family  # warps are lines of constant u, wefts of constant v
    start, end = ends[:, 0], ends[:, 1]
    low = np.ceil(np.minimum(start, end)[:, c]).astype(np.int64)
    high = np.floor(np.maximum(start, end)[:, c]).astype(np.int64)
    count = np.where(start[:, c] == end[:, c], 0, np.maximum(high - low + 1, 0))
    side = np.repeat(np.arange(len(start)), count)
    line = low[side] + np.arange(len(side)) - np.repeat(np.cumsum(count) - count, count)
    return side, (line - start[side, c]) / (end - start)[side, c]


def _cut_segments(where: Floats, family: int) -> tuple[Ints, Ints]:
    """Which hits cut a yarn between two crossings, and the first of these, (h, 2)."""
    before = np.floor(where).astype(np.int64)
    rest = where[:, 1 - family] - before[:, 1 - family]
    cut = np.flatnonzero((rest > _ON_NODE) & (rest < 1 - _ON_NODE))
    first = before[cut]
    first[:, family] = np.round(where[cut, family]).astype(np.int64)
    return cut, first


def _keys(panel: Ints, at: Ints, stride: Ints) -> Ints:
    """One number for each place of the grid of each panel; a border may be one line outside."""
    keys: Ints = (panel * stride[0] + at[:, 0] + 1) * stride[1] + at[:, 1] + 1
    return keys


def _runs(panel: Ints, at: Ints, family: int, stride: Ints, cut: Ints) -> tuple[Ints, Ints]:
    """The crossings in order along the yarns of a family, and which run each belongs to.

    A line is cut into runs where the panel ends.
    """
    along = 1 - family
    order = np.lexsort((at[:, along], at[:, family], panel))
    here, there = order[:-1], order[1:]
    goes_on = (
        (panel[here] == panel[there])
        & (at[here, family] == at[there, family])
        & (at[there, along] == at[here, along] + 1)
        & ~np.isin(_keys(panel, at, stride)[here], cut)
    )
    return order, np.concatenate([[0], np.cumsum(~goes_on)])


def _linked(runs: list[tuple[Ints, Ints]], n: int) -> tuple[Ints, Bools]:
    """Who comes before and after each crossing (n, 2, 2), and which crossings are kept (n,).

    A crossing from which one of its yarns leads nowhere is none; the other yarn goes on past it.
    """
    kept = np.ones(n, dtype=bool)
    while True:
        along = np.full((n, 2, 2), -1, dtype=np.int64)
        for family, (order, run) in enumerate(runs):
            left = kept[order]
            order, run = order[left], run[left]
            joined = np.flatnonzero(run[:-1] == run[1:])
            along[order[joined], family, 1] = order[joined + 1]
            along[order[joined + 1], family, 0] = order[joined]
        leads = np.asarray((along >= 0).any(axis=2))
        crossing = kept & leads[:, 0] & leads[:, 1]
        if np.array_equal(crossing, kept):
            return along, kept
        kept = crossing
