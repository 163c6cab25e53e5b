"""What pushes from outside: f."""

from __future__ import annotations

import numpy as np

from supple.core.types import Floats
from supple.dynamics.terms.base import Point, Share, StageStart, Term


class ExternalForces(Term):
    """Forces f (n, 3) [N] that do not change within a stage, with the potential −f·u."""

    def __init__(self, n_vertices: int) -> None:
        self._force: Floats = np.zeros((n_vertices, 3))

    def begin(self, start: StageStart) -> None:
        self._force = start.external

    def evaluate(self, at: Point) -> Share:
        work = float(np.vdot(self._force, at.u))
        return Share(-self._force, -work, magnitude=abs(work))
