"""A body at one displacement, its energy and derivatives worked out when first asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from supple.bodies.assembly import Evaluation
from supple.bodies.elastic_body import ElasticBody
from supple.core.types import Floats


class Shape:
    """Elastic energy and derivatives of ``body`` at ``u``, shared by all who need them.

    ``order`` says how deep the first evaluation goes: 1 for forces, 2 for the stiffness too.
    ``lend`` gives an array (blocks, 3, 3) for the stiffness for as long as the shape lives.
    """

    def __init__(
        self,
        body: ElasticBody,
        u: Floats,
        *,
        order: int = 1,
        lend: Callable[[object], Floats] | None = None,
    ) -> None:
        self.body, self.u = body, u
        self.known: dict[object, Any] = {}
        """What others have worked out for this shape, each under its own key."""
        self._order, self._lend = order, lend
        self._evaluation: Evaluation = body.evaluate(u, order=order, stiffness=self._array())

    def _array(self) -> Floats | None:
        return None if self._lend is None or self._order < 2 else self._lend(self)

    @property
    def energy(self) -> float:
        """U [J]."""
        return self._evaluation.energy

    @property
    def gradient(self) -> Floats:
        """∇U [N], (n, 3)."""
        return self._evaluation.gradient

    @property
    def stiffness(self) -> Floats:
        """∇²U [N/m], (blocks, 3, 3). Shared: copy before changing it."""
        if self._order < 2:
            self._order = 2
            self._evaluation = self.body.evaluate(self.u, order=2, stiffness=self._array())
        return self._evaluation.stiffness

    @property
    def has_stiffness(self) -> bool:
        """Whether the stiffness is there already."""
        return self._order >= 2

    @cached_property
    def definite_stiffness(self) -> Floats:
        """∇²U with every cell's part made positive semidefinite, (blocks, 3, 3)."""
        return self.body.evaluate(self.u, order=2, definite=True).stiffness
