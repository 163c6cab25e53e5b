"""Tets that fill what is inside of each tet of a lattice: Labelle and Shewchuk (2007), Fig. 3."""

from __future__ import annotations

import numpy as np

from supple.core.types import Bools, Floats, Ints
from supple.mesh.lattice.cutting import Cuts, rank_of, signed_count
from supple.mesh.lattice.octree import volumes6


class Stencils:
    """Fills cut tets. Points are the nodes, and after them the cuts."""

    def __init__(self, cuts: Cuts, *, plane: bool) -> None:
        self.cuts, self.plane = cuts, plane
        self._count = len(cuts.lattice)
        keys = cuts.inner * self._count + cuts.outer
        self._order = np.argsort(keys)
        self._keys = keys[self._order]
        self._rank = rank_of(cuts.lattice, plane=plane)
        self._found: list[Ints] = []

    def filled(self) -> tuple[Floats, Ints]:
        """Places (p, 3), in units of the lattice, and tets (m, 4) with positive volumes."""
        cuts = self.cuts
        state = cuts.state[cuts.tets]
        plus, zero, minus = ((state == s).sum(axis=1) for s in (1, 0, -1))
        # by rank within a state, so that mirrored tets list their corners alike
        order = np.lexsort((self._rank[cuts.tets], -state), axis=1)
        tets = np.take_along_axis(cuts.tets, order, axis=1)
        self._found = [tets[(minus == 0) & (plus > 0)]]
        for p, z in ((1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (3, 0)):
            mine = tets[(plus == p) & (zero == z) & (minus == 4 - p - z)]
            if len(mine):
                getattr(self, f"_of_{p}{z}")(*mine.T)
        tets = np.concatenate(self._found)
        middle = 0.5 * (cuts.lattice[cuts.inner] + cuts.lattice[cuts.outer])
        before = volumes6(np.concatenate([cuts.lattice.astype(np.float64), middle]), tets)
        behind = before < 0
        tets[behind, 0], tets[behind, 1] = tets[behind, 1], tets[behind, 0].copy()
        at = cuts.lattice[cuts.inner] + cuts.share[:, None] * (
            cuts.lattice[cuts.outer] - cuts.lattice[cuts.inner]
        )
        return np.concatenate([cuts.places, at]), tets

    def _add(self, *corners: Ints) -> None:
        self._found.append(np.stack(corners, axis=1))

    def _cut(self, inner: Ints, outer: Ints) -> Ints:
        key = inner * self._count + outer
        return np.asarray(self._count + self._order[np.searchsorted(self._keys, key)])

    def _of_10(self, u: Ints, w: Ints, s: Ints, t: Ints) -> None:
        self._add(u, self._cut(u, w), self._cut(u, s), self._cut(u, t))

    def _of_11(self, u: Ints, z: Ints, s: Ints, t: Ints) -> None:
        self._add(u, z, self._cut(u, s), self._cut(u, t))

    def _of_12(self, u: Ints, z: Ints, y: Ints, t: Ints) -> None:
        self._add(u, z, y, self._cut(u, t))

    def _of_21(self, u: Ints, v: Ints, z: Ints, w: Ints) -> None:
        """A pyramid on the quad u, v, cut, cut."""
        cu, cv = self._cut(u, w), self._cut(v, w)
        from_u = self._from_first(u, v, w)
        # the diagonal goes from u to the cut of v, or from v to that of u
        self._add(u, v, z, np.where(from_u, cv, cu))
        self._add(np.where(from_u, u, v), cu, cv, z)

    def _of_20(self, u: Ints, v: Ints, w: Ints, t: Ints) -> None:
        """A prism between the triangles at u and at v."""
        quads = (self._from_first(u, v, w), self._from_first(u, v, t))
        a = (u, self._cut(u, w), self._cut(u, t))
        b = (v, self._cut(v, w), self._cut(v, t))
        # Where diagonals cross over from u to v, the third has only one way; else it is free.
        lower = self._rank[w] < self._rank[t]
        third = np.where(quads[0] == quads[1], lower, quads[1])
        self._prism(a, b, (quads[0], quads[1], third))

    def _of_30(self, u: Ints, v: Ints, s: Ints, w: Ints) -> None:
        """A prism between u, v, s and their cuts."""
        cuts = tuple(self._cut(x, w) for x in (u, v, s))
        diagonals = tuple(self._from_first(x, y, w) for x, y in ((u, v), (u, s), (v, s)))
        self._prism((u, v, s), cuts, diagonals)

    def _prism(
        self, a: tuple[Ints, ...], b: tuple[Ints, ...], from_first: tuple[Bools, ...]
    ) -> None:
        """Tets of prisms with sides a_i b_i; diagonals of the quads 01, 02, 12 go from a_i to b_j.

        Or from a_j to b_i. They never go round, so that one corner of ``a`` has two of them, one
        has one and one has none.
        """
        d01, d02, d12 = (np.asarray(d, dtype=np.int64) for d in from_first)
        score = np.stack([d01 + d02, 1 - d01 + d12, 2 - d02 - d12], axis=1)
        assert (np.sort(score, axis=1) == [0, 1, 2]).all()
        order = np.argsort(-score, axis=1, kind="stable")
        p, q, r = (np.take_along_axis(np.stack(a, axis=1), order, axis=1)).T
        x, y, z = (np.take_along_axis(np.stack(b, axis=1), order, axis=1)).T
        self._add(p, q, r, z)
        self._add(p, q, y, z)
        self._add(p, x, y, z)

    def _from_first(self, u: Ints, v: Ints, w: Ints) -> Bools:
        """Whether the quad u, v, cut of v w, cut of u w is cut from u rather than from v.

        It depends on the face alone, so that both tets at it do the same: to the cut of the
        longer edge; of equal ones, by parity; where that is equal too, by rank.
        """
        lattice = self.cuts.lattice
        to_u = ((lattice[u] - lattice[w]) ** 2).sum(axis=1)
        to_v = ((lattice[v] - lattice[w]) ** 2).sum(axis=1)
        even_u = signed_count(lattice, u, w, plane=self.plane) % 2 == 0
        even_v = signed_count(lattice, v, w, plane=self.plane) % 2 == 0
        lower = self._rank[u] < self._rank[v]
        tied = np.where(even_u != even_v, even_u, lower)
        return np.asarray(np.where(to_u != to_v, to_v > to_u, tied))
