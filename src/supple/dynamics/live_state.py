"""Where a simulation in full space is now."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.elastic_body import ElasticBody
from supple.core.checks import number, numbers
from supple.core.guarded import Guarded
from supple.core.types import Floats


class LiveState(Guarded):
    """Where a simulation is now. Assign ``u`` or ``v``, or change them in place, to set it."""

    def __init__(self, body: ElasticBody) -> None:
        self._body = body
        self._time = 0.0
        self._u = np.zeros_like(body.mesh.vertices)
        self._v = np.zeros_like(body.mesh.vertices)

    @property
    def time(self) -> float:
        """[s]"""
        return self._time

    @time.setter
    def time(self, value: float) -> None:
        self._time = number("time", value, unit="s")

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

    def move(self, time: float, u: Floats, v: Floats) -> None:
        """Be at u and v, which are sound, from now on."""
        self._time, self._u, self._v = time, u.copy(), v.copy()


class PartState(Guarded):
    """Where one of several bodies is: rows of the state of all of them."""

    def __init__(self, state: LiveState, rows: slice) -> None:
        self._state, self._rows = state, rows

    @property
    def time(self) -> float:
        """[s]"""
        return self._state.time

    @property
    def u(self) -> Floats:
        """Displacements of the body [m], (its vertices, 3)."""
        return self._state.u[self._rows]

    @u.setter
    def u(self, value: ArrayLike) -> None:
        self._state.u[self._rows] = numbers("u", value, (self.u.shape, (3,)))

    @property
    def v(self) -> Floats:
        """Velocities of the body [m/s], (its vertices, 3)."""
        return self._state.v[self._rows]

    @v.setter
    def v(self, value: ArrayLike) -> None:
        self._state.v[self._rows] = numbers("v", value, (self.v.shape, (3,)))
