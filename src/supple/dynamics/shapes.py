"""The last shapes of a body, and the arrays that they work in."""

from __future__ import annotations

import weakref
from collections import deque

import numpy as np

from supple.bodies.elastic_body import ElasticBody
from supple.bodies.shape import Shape
from supple.core.types import Floats

_CACHED = 2  # shapes: a stage ends at one of the last two that were looked at


class ArrayPool:
    """Large arrays of one shape, used again when what they were lent to is gone.

    New ones would cost more, in pages that the system has to clear, than what is done with them.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._shape = shape
        self._unused: list[Floats] = []

    def lend(self, owner: object) -> Floats:
        """An array, of any content, for as long as ``owner`` lives."""
        array = self._unused.pop() if self._unused else np.empty(self._shape)
        weakref.finalize(owner, self._unused.append, array).atexit = False
        return array


class Shapes:
    """Shapes of a body at the displacements that a solver asks for."""

    def __init__(
        self, body: ElasticBody, *, order: int, with_direction: bool, stiffness: ArrayPool
    ) -> None:
        self._body, self._order, self._with_direction = body, order, with_direction
        self._stiffness = stiffness
        self._cache: deque[Shape] = deque(maxlen=_CACHED)

    def at(self, u: Floats, *, v: Floats | None = None, with_matrix: bool = False) -> Shape:
        """The body at u (n, 3), about to be damped at velocity v; the last ones are cached."""
        for shape in self._cache:
            if np.array_equal(shape.u, u):
                return shape
        shape = Shape(
            self._body,
            u.copy(),
            order=2 if with_matrix else self._order,
            direction=v if self._with_direction else None,
            lend=self._stiffness.lend,
        )
        self._cache.append(shape)
        return shape
