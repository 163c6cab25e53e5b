"""Seams: where borders of panels meet in space, and the crossings that are sewn together there."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from supple.core.errors import InputError
from supple.core.types import Bools, Floats, Ints
from supple.mesh import MeshWarning
from supple.yarns.panels import Panels

_NEAR = 2.0  # spacings up to which crossings are sewn to a seam
_SHORTEST = 0.1  # of a spacing: a stitch
_ELSEWHERE = 10.0  # tolerances: places of one panel so far apart in the pattern can be sewn
_AT_ONCE = 2_000_000  # distances from places to sides


class Hits(NamedTuple):
    """Where yarns meet the borders of panels."""

    side: Ints
    """The row of ``Panels.border``, (h,)."""
    share: Floats
    """How far along it, in the order of the triangle's corners, (h,)."""
    meets: Floats
    """In space [m], (h, 3)."""


@dataclass(frozen=True, eq=False)
class Places:
    """Where the crossings are: in the pattern, on which panel, and in space."""

    flat: Floats
    panel: Ints
    positions: Floats

    def nearest(self, flat: Floats, panel: Ints, positions: Floats, within: float) -> Ints:
        """The crossing nearest to each of some places, in the pattern and in space; n if none."""
        apart = 1e3 * (float(np.ptp(self.flat, axis=0).max()) + within)  # between panels
        tree = cKDTree(np.column_stack([self.flat, apart * self.panel, self.positions]))
        points = np.column_stack([flat, apart * panel, positions])
        found: Ints = tree.query(points, distance_upper_bound=within)[1]
        return found


@dataclass(frozen=True, eq=False)
class Seams:
    """The places where a yarn of one panel meets the border of another."""

    panels: Panels
    meets: Floats
    """In space, on the first side [m], (h, 3)."""
    opposite: Floats
    """In space, on the other side [m], (h, 3)."""
    side: Ints
    """The rows in ``panels.border`` of both sides, (h, 2)."""
    ends: Floats
    """Of both sides in the pattern, in one order (h, 2, 2, 2): which side, which end, uv."""
    share: Floats
    """How far the place is along each, (h, 2)."""

    @classmethod
    def of(cls, panels: Panels, corners: Floats, hits: Hits, tolerance: float) -> Seams:
        """Places at which borders are at most ``tolerance`` [m] apart.

        Sides whose ends are at the same places are partners; where a side has none, such as
        where the other panel has other vertices, the side that is nearest to each place is.
        ``corners`` are those of the triangles in space (m, 3, 3).
        """
        share = np.where(panels.swapped[hits.side], 1 - hits.share, hits.share)
        row = np.zeros(3 * len(panels.panel), dtype=np.int64)
        row[panels.border] = np.arange(len(panels.border))
        partner = panels.partner[hits.side]
        other, share_there = row[partner], share.copy()
        sewn, opposite = partner >= 0, hits.meets.copy()
        turned = np.zeros(len(share), dtype=bool)

        ends = _ends(panels, corners)
        (alone,) = np.nonzero(~sewn)
        if len(alone):
            found, along, apart = _nearest_sides(panels, ends, hits, share, alone, tolerance)
            other[alone], share_there[alone] = found, along
            sewn[alone] = apart <= tolerance
            opposite[alone] = ends[found, 0] + along[:, None] * (ends[found, 1] - ends[found, 0])
            ways = ends[:, 1] - ends[:, 0]
            turned[alone] = np.einsum("hi,hi->h", ways[hits.side[alone]], ways[found]) < 0
        flat = panels.turned[np.stack([hits.side, other], axis=1)]
        flat[turned, 1] = flat[turned, 1, ::-1]
        shares = np.stack([share, np.where(turned, 1 - share_there, share_there)], axis=1)
        rows = np.stack([hits.side, other], axis=1)
        return cls(panels, hits.meets[sewn], opposite[sewn], rows[sewn], flat[sewn], shares[sewn])

    def sewn(self, places: Places, spacing: Floats) -> tuple[Ints, Floats]:
        """Pairs of crossings on both sides of seams (k, 2), and how far apart they are at rest [m].

        Wherever a yarn of either side meets a seam, the crossings next to that place are sewn to
        each other. Their distance is that in the pattern, with the other panel laid against the
        seam.
        """
        panels, pair = self.panels, []
        within = _NEAR * float(spacing.max())
        there = self.ends[:, :, 0] + self.share[..., None] * (
            self.ends[:, :, 1] - self.ends[:, :, 0]
        )
        for each, meets in enumerate((self.meets, self.opposite)):
            panel = panels.panel[panels.border[self.side[:, each]] // 3]
            pair.append(places.nearest(there[:, each], panel, meets, within))
        pairs = np.stack(pair, axis=1)
        real = (pairs < len(places.flat)).all(axis=1) & (pairs[:, 0] != pairs[:, 1])
        pairs, sides, ends = pairs[real], self.side[real], _complex(self.ends[real])
        here = _complex(there[real])
        middle = _complex(panels.corners.mean(axis=1))[panels.border[sides] // 3]
        along = ends[..., 1] - ends[..., 0]
        left = np.imag((middle - ends[..., 0]) / along) > 0
        away = _complex(places.flat[pairs[:, 1]]) - here[:, 1]
        same = left[:, 0] == left[:, 1]
        away, back = (np.where(same, each.conj(), each) for each in (away, along[:, 1]))
        turn = along[:, 0] / back
        laid = here[:, 0] + away * turn / np.abs(turn)
        lengths = np.abs(laid - _complex(places.flat[pairs[:, 0]]))
        unique, first = np.unique(np.sort(pairs, axis=1), axis=0, return_index=True)
        return unique, np.maximum(lengths[first], _SHORTEST * float(spacing.min()))


def check_seams(
    panels: Panels, corners: Floats, seams: Seams, stitches: Ints, tolerance: float, asked: bool
) -> None:
    """Refuse seams that were ``asked`` for and not found; else warn of panels that are loose.

    ``corners`` are those of the triangles in space (m, 3, 3), the tolerance is in metres.
    """
    count = int(panels.panel.max()) + 1
    of_side = panels.panel[panels.border // 3]
    loose = np.setdiff1d(np.arange(count), of_side[seams.side])
    missing = not len(stitches) if asked else count > 1 and len(loose) > 0
    if not missing:
        return
    if not asked and not len(seams.side) and count == 1:
        return
    ends, chosen = _ends(panels, corners), np.arange(len(of_side))
    if count > 1:
        chosen = np.flatnonzero(np.isin(of_side, loose if len(loose) else of_side))
    hits = Hits(chosen, np.full(len(chosen), 0.5), ends[chosen].mean(axis=1))
    far = 4 * tolerance if count == 1 else np.inf
    _, _, apart = _nearest_sides(panels, ends, hits, hits.share, chosen, far)
    apart = apart[np.isfinite(apart)]
    told = (
        f"; where their borders come nearest to another one, they are {apart.min():.3g} to "
        f"{apart.max():.3g} m away, {np.median(apart):.3g} m in the middle"
        if len(apart)
        else "; no other border is near"
    )
    if not asked:
        warnings.warn(
            f"{len(loose)} of {count} panels, as panel {loose[0]}, are sewn to nothing at a "
            f"tolerance of {tolerance:.3g} m{told}; give a larger seam_tolerance if there should "
            "be seams",
            MeshWarning,
            stacklevel=4,
        )
        return
    raise InputError(
        f"seam_tolerance={tolerance:g} m: no seam of a garment of {count} panel(s) was found"
        f"{told}; give a larger one, put the panels where they meet, or leave it out if nothing "
        "is to be sewn"
    )


def _ends(panels: Panels, corners: Floats) -> Floats:
    """The ends of border sides in space, in the order of ``turned``, (b, 2, 3)."""
    cell, corner = np.divmod(panels.border, 3)
    ends = np.stack([corners[cell, corner], corners[cell, (corner + 1) % 3]], axis=1)
    ends[panels.swapped] = ends[panels.swapped, ::-1]
    return ends


def _nearest_sides(
    panels: Panels, ends: Floats, hits: Hits, share: Floats, chosen: Ints, tolerance: float
) -> tuple[Ints, Floats, Floats]:
    """The border side nearest in space to each chosen hit, how far along it, and its distance [m].

    That of the own panel counts where the place on it is elsewhere in the pattern.
    """
    flat = panels.turned
    of_side = panels.panel[panels.border // 3]
    way = ends[:, 1] - ends[:, 0]
    square = np.maximum(np.einsum("bi,bi->b", way, way), np.finfo(float).tiny)
    found, along = np.zeros(len(chosen), dtype=np.int64), np.zeros(len(chosen))
    apart = np.empty(len(chosen))
    apart_in_pattern = _ELSEWHERE * tolerance
    for start in range(0, len(chosen), step := max(1, _AT_ONCE // len(way))):
        part = slice(start, start + step)
        rows = chosen[part]
        side, x = hits.side[rows], hits.meets[rows]
        t = np.einsum("hbi,bi->hb", x[:, None] - ends[None, :, 0], way) / square
        t = np.clip(t, 0.0, 1.0)
        gap = np.linalg.norm(ends[:, 0] + t[..., None] * way - x[:, None], axis=2)
        here = flat[side, 0] + share[rows, None] * (flat[side, 1] - flat[side, 0])
        there = flat[:, 0] + t[..., None] * (flat[:, 1] - flat[:, 0])
        near: Bools = np.linalg.norm(there - here[:, None], axis=2) <= apart_in_pattern
        gap[(of_side[side][:, None] == of_side) & near] = np.inf
        gap[np.arange(len(rows)), side] = np.inf
        best = gap.argmin(axis=1)
        found[part], at = best, np.arange(len(rows))
        along[part], apart[part] = t[at, best], gap[at, best]
    return found, along, apart


def _complex(points: Floats) -> NDArray[np.complex128]:
    """Points of the plane (..., 2) as numbers, which are turned by multiplying."""
    return np.asarray(points[..., 0] + 1j * points[..., 1])
