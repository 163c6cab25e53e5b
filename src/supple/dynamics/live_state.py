"""Where a simulation is now."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.elastic_body import ElasticBody
from supple.core.types import Floats


class LiveState:
    """Where a simulation is now. Assign ``u`` or ``v``, or change them in place, to set it."""

    def __init__(self, body: ElasticBody) -> None:
        self._body = body
        self.time = 0.0
        """[s]"""
        self._u = np.zeros_like(body.mesh.vertices)
        self._v = np.zeros_like(body.mesh.vertices)

    @property
    def u(self) -> Floats:
        """Displacements [m], (n, 3)."""
        return self._u

    @u.setter
    def u(self, value: ArrayLike) -> None:
        self._u = self._body.checked("u", value).copy()

    @property
    def v(self) -> Floats:
        """Velocities [m/s], (n, 3)."""
        return self._v

    @v.setter
    def v(self, value: ArrayLike) -> None:
        self._v = self._body.checked("v", value).copy()
