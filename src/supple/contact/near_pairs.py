"""Pairs of a surface that may be in reach, kept while no vertex leaves a ball (Verlet's lists).

With the way of a step inside these balls, all that it could meet is among the pairs, too. So one
search is enough for the step, for how far it can go and for all places on it that are tried.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from supple.contact.contact_surface import STOPS_OFF, ContactSurface, Pairs
from supple.contact.pair_scales import PairScales
from supple.core.types import Floats

_LEAST_REACHES, _LEAST_EDGES = 0.25, 0.05
"""How far vertices may go at least before near is looked for anew: the larger of these."""
_FARTHEST = 2.0  # edges: how far balls may ever reach
_FEW, _MANY = 1.0, 3.0  # pairs an edge: to look at so many takes less than to look for them
_WIDER = 1.5  # times as far, where few were found
_KEPT = 2  # searches: a step is looked at where it began and where it ended


class Candidates(NamedTuple):
    """Pairs that may be in reach, in an order that follows from the surface alone."""

    pairs: Pairs
    reach: Floats
    """d̂ [m], (k,)."""
    weights: Floats
    """K [J], (k,)."""
    centres: Floats
    """(m, 3)"""
    radii: Floats
    """Of the balls in which vertices may be, (m,) [m]."""

    def hold(self, x: Floats, margin: float = 0.0) -> bool:
        """Whether vertices x (m, 3) are inside, by so much [m]."""
        room = np.maximum(self.radii - margin, -1.0)
        away = ((x - self.centres) ** 2).sum(axis=1)
        return bool((away <= room * np.abs(room)).all())


class NearPairs:
    """Looks for pairs where those of the last searches do not do.

    How far vertices may go until then follows from how many pairs that makes.
    """

    def __init__(self, surface: ContactSurface, scales: PairScales) -> None:
        self._surface, self._scales = surface, scales
        edge = float(np.median(surface.lengths))
        self._least = max(_LEAST_REACHES * float(scales.room.min()), _LEAST_EDGES * edge)
        self._most = max(_FARTHEST * edge, self._least)
        self._radius = self._least
        self._found: deque[Candidates] = deque(maxlen=_KEPT)

    def at(self, x: Floats) -> Candidates:
        """All pairs in reach at x (m, 3), and some more."""
        for number, found in enumerate(self._found):
            if found.hold(x):
                self._found.rotate(-number)
                return self._found[0]
        return self._seek(x, np.full(len(x), self._radius))

    def collision_free_step(self, x: Floats, step: Floats) -> float:
        """The share of a step (m, 3) from x, up to 1, that can be gone without an impact.

        It is the same to the last bit whatever is known to be near.
        """
        surface, near = self._surface, self.at(x)
        ways = np.sqrt((step**2).sum(axis=1))
        most = float(ways.max(initial=0.0))
        least = surface.collision_free_step_of(near.pairs, x, step)
        if near.hold(x, STOPS_OFF * most) and near.hold(x + step, STOPS_OFF * most):
            return least
        if least * most > 2 * self._radius:
            return surface.collision_free_step(x, step, least)
        radii = (0.5 * least) * ways + (STOPS_OFF * least * most + 0.5 * self._radius)
        near = self._seek(x + (0.5 * least) * step, radii)
        return min(least, surface.collision_free_step_of(near.pairs, x, step))

    def _seek(self, centres: Floats, radii: Floats) -> Candidates:
        """What may be in reach while vertices are in balls."""
        surface = self._surface
        pairs = surface.candidates(centres, self._scales.room, radii)
        reach, weights = self._scales.of(pairs)
        an_edge = len(pairs) / len(surface.edges)
        if an_edge > _MANY:
            self._radius = self._most = max(self._radius / _WIDER, self._least)
        elif an_edge < _FEW:
            self._radius = min(self._radius * _WIDER, self._most)
        found = Candidates(pairs, reach, weights, centres, radii)
        self._found.appendleft(found)
        return found
