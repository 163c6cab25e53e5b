"""A body-centred cubic lattice on an octree, and the tets between its points.

Labelle and Shewchuk, Isosurface Stuffing: Fast Tetrahedral Meshes with Good Dihedral Angles
(2007), §3. Places are whole numbers: a cube of the finest kind has sides of 2, so that its middle
is one as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.core.types import Bools, Floats, Ints

FINEST = 2
"""Side of a finest cube."""

_REACH = 2**20  # keys are made of coordinates between minus and plus this
_SIDES = np.array([(axis, way) for axis in range(3) for way in (-1, 1)])
_AROUND = np.indices((3, 3, 3)).reshape(3, -1).T - 1
_SQUARE = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])  # corners of a face, in turn


def keys_of(places: Ints) -> Ints:
    """A number for each place (..., 3), (...,)."""
    return np.asarray(
        ((places[..., 0] + _REACH) * (2 * _REACH) + places[..., 1] + _REACH) * (2 * _REACH)
        + places[..., 2]
        + _REACH
    )


def _unique(places: Ints) -> Ints:
    return places[np.unique(keys_of(places), return_index=True)[1]]


def _among(places: Ints, others: Ints) -> Bools:
    return np.isin(keys_of(places), keys_of(others))


@dataclass(frozen=True, eq=False)
class Octree:
    """Cubes that no two neighbours of which, over a face, an edge or a corner, differ by more
    than a factor of two.

    ``leaves[l]`` (k, 3) are those of level l by their lowest corners in sides of their own,
    ``divided[l]`` the ones of that level that were cut in eight. Level 0 is the coarsest.
    """

    leaves: tuple[Ints, ...]
    divided: tuple[Ints, ...]

    @property
    def levels(self) -> int:
        """How many sizes of cubes there are."""
        return len(self.leaves)

    def side(self, level: int) -> int:
        """Of a cube of a level."""
        return int(FINEST * 2 ** (self.levels - 1 - level))

    @classmethod
    def grown(
        cls, roots: Ints, levels: int, divide: Callable[[Ints, int], Bools], mirrored: bool
    ) -> Octree:
        """From ``roots`` (k, 3), by ``divide(middles, side)``: whether cubes are cut in eight.

        With ``mirrored``, whatever is cut is cut on the other side of x = 0 as well.
        """
        cubes, divided = roots, []
        for level in range(levels - 1):
            side = FINEST * 2 ** (levels - 1 - level)
            cut = cubes[divide(cubes * side + side // 2, side)]
            if mirrored:
                cut = _unique(np.concatenate([cut, cut * [-1, 1, 1] - [1, 0, 0]]))
            divided.append(cut)
            cubes = _children(cut)
        divided.append(np.zeros((0, 3), dtype=np.int64))
        for level in range(levels - 2, 0, -1):
            around = (divided[level][:, None] + _AROUND).reshape(-1, 3) // 2
            divided[level - 1] = _unique(np.concatenate([divided[level - 1], around]))
        there, leaves = _unique(np.concatenate([roots, divided[0]])), []
        for cut in divided:
            leaves.append(there[~_among(there, cut)])
            there = _children(cut)
        return cls(tuple(leaves), tuple(divided))

    def tets(self, plane: bool) -> tuple[Ints, Ints]:
        """Places (n, 3) and tets (m, 4) between them, all with positive volume.

        With ``plane``, none lies on both sides of x = 0.
        """
        corners = np.concatenate(
            [
                (self.side(level) * cubes[:, None] + self.side(level) * _CORNERS).reshape(-1, 3)
                for level, cubes in enumerate(self.leaves)
            ]
        )
        split = np.unique(keys_of(corners))
        found: list[Ints] = []
        for level in range(self.levels):
            for axis, way in _SIDES:
                found += self._of_faces(level, axis, way, split, plane)
        tets = np.concatenate(found)
        keys, index = np.unique(keys_of(tets), return_inverse=True)
        places = np.empty((len(keys), 3), dtype=np.int64)
        places[index.ravel()] = tets.reshape(-1, 3)
        cells = index.reshape(-1, 4)
        return places, oriented(places, cells)

    def _of_faces(self, level: int, axis: int, way: int, split: Ints, plane: bool) -> list[Ints]:
        """Tets (m, 4, 3) at the faces of a level's leaves that look one way."""
        cubes, side = self.leaves[level], self.side(level)
        if not len(cubes):
            return []
        step = np.zeros(3, dtype=np.int64)
        step[axis] = way
        beyond = cubes + step
        middle = side * cubes + side // 2
        face = middle + step * (side // 2)
        across = [k for k in range(3) if k != axis]
        offsets = np.zeros((4, 3), dtype=np.int64)
        offsets[:, across] = _SQUARE * (side // 2)
        square = face[:, None] + offsets  # corners in turn, (k, 4, 3)

        same = _among(beyond, self.leaves[level])
        finer = _among(beyond, self.divided[level])
        coarser = np.zeros(len(cubes), dtype=bool)
        if level:
            coarser = ~same & ~finer & _among(beyond // 2, self.leaves[level - 1])
        on_plane = plane & (axis == 0) & (face[:, 0] == 0)
        found = []
        pairs = same & ~on_plane
        if way > 0 and pairs.any():
            other = middle[pairs] + side * step
            found += _between(middle[pairs], other, square[pairs], split)
        halves = (same & on_plane) | finer
        if halves.any():
            found += _between(middle[halves], face[halves], square[halves], split)
        if coarser.any():
            found += self._at_coarser(
                level, middle[coarser], square[coarser], beyond[coarser], axis
            )
        return found

    def _at_coarser(
        self, level: int, middle: Ints, square: Ints, beyond: Ints, axis: int
    ) -> list[Ints]:
        """Half pyramids on the quarter of a larger face, cut from its middle outwards."""
        large = 2 * self.side(level)
        centre = large * (beyond // 2) + large // 2
        centre[:, axis] = square[:, 0, axis]
        hub = np.argmax((square == centre[:, None]).all(axis=2), axis=1)
        turn = (hub[:, None] + np.arange(4)) % 4
        ring = np.take_along_axis(square, turn[:, :, None], axis=1)
        return [np.stack([middle, ring[:, 0], ring[:, k], ring[:, k + 1]], axis=1) for k in (1, 2)]


_CORNERS = np.indices((2, 2, 2)).reshape(3, -1).T


def _children(cubes: Ints) -> Ints:
    return np.asarray((2 * cubes[:, None] + _CORNERS).reshape(-1, 3))


def _between(a: Ints, b: Ints, square: Ints, split: Ints) -> list[Ints]:
    """Tets of two points and each edge of the square between them, in two where that is split."""
    found = []
    for k in range(4):
        e, f = square[:, k], square[:, (k + 1) % 4]
        m = (e + f) // 2
        cut = np.isin(keys_of(m), split) & ((e + f) % 2 == 0).all(axis=1)
        whole = ~cut
        found.append(np.stack([a[whole], b[whole], e[whole], f[whole]], axis=1))
        found.append(np.stack([a[cut], b[cut], e[cut], m[cut]], axis=1))
        found.append(np.stack([a[cut], b[cut], m[cut], f[cut]], axis=1))
    return found


def oriented(places: Any, cells: Ints) -> Ints:
    """Tets with corners in such an order that volumes are positive."""
    found = cells.copy()
    behind = volumes6(places, cells) < 0
    found[behind, 0], found[behind, 1] = cells[behind, 1], cells[behind, 0]
    return found


def volumes6(places: Any, cells: Ints) -> Floats:
    """Six times the signed volumes of tets, (m,)."""
    a, b, c = (places[cells[:, k]] - places[cells[:, 0]] for k in (1, 2, 3))
    return np.asarray(np.einsum("mi,mi->m", np.cross(a, b), c))
