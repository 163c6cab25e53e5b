"""How far the vertices of a surface follow control points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.core.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class Drag:
    """x = X + Σ_k s_k p_k: vertices that follow the displacements p of k control points each."""

    points: Ints
    """Which, (n, k)."""
    shares: Floats
    """How far, (n, k)."""
    slopes: Floats
    """∂s/∂X along each axis [1/m], (3, n, k), or (0, n, k) where it is not known."""

    @classmethod
    def of(cls, shares: Floats, slopes: Floats) -> Drag:
        """From shares (n, c) and slopes (3 or 0, n, c) of all control points."""
        used = (shares != 0) | (slopes != 0).any(axis=0)
        count = max(1, int(used.sum(axis=1).max()))
        points = np.argsort(~used, axis=1, kind="stable")[:, :count]
        return cls(
            points,
            np.take_along_axis(shares, points, axis=1),
            np.take_along_axis(slopes, points[None], axis=2),
        )

    def moves(self, p: Floats, which: Ints | None = None) -> Floats:
        """How far vertices move (n, 3), or those of ``which`` (m,), for displacements p (c, 3)."""
        chosen = slice(None) if which is None else which
        moved: Floats = np.einsum("nk,nki->ni", self.shares[chosen], p[self.points[chosen]])
        return moved

    def gradients(self, p: Floats, which: Ints | None = None) -> Floats:
        """∂x/∂X there, (n, 3, 3) or (m, 3, 3)."""
        chosen = slice(None) if which is None else which
        nearby = p[self.points[chosen]]
        found: Floats = np.eye(3) + np.einsum("ank,nki->nia", self.slopes[:, chosen], nearby)
        return found
