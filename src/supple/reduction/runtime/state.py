"""The state of a held reduced body: coordinates, shape, energies and momenta."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.core.checks import numbers
from supple.core.errors import InputError
from supple.core.types import Floats
from supple.dynamics.motion import Frame
from supple.reduction.damping import ReducedDamping
from supple.reduction.model import ReducedModel, expand
from supple.reduction.runtime.recorded import RecordedStepper
from supple.reduction.runtime.stepper import skin_shape, still


class ReducedState(RecordedStepper):
    """Where a held reduced body is, and how it moves."""

    _damping: ReducedDamping
    _mass: Floats

    def __init__(self, model: ReducedModel, **options: Any) -> None:
        super().__init__(model, **options)
        self._history: Floats = np.zeros((self._vectors, model.size))

    @property
    def q(self) -> Floats:
        """Coordinates, (r,)."""
        return still(self._history[0])

    @q.setter
    def q(self, value: ArrayLike) -> None:
        self._history[0] = self.model.checked("q", value)
        self._settled = self._has_past = False

    @property
    def v(self) -> Floats:
        """Rates of the coordinates, (r,)."""
        return still(self._history[1])

    @v.setter
    def v(self, value: ArrayLike) -> None:
        self._history[1] = self.model.checked("v", value)
        self._settled = self._has_past = False

    def displacements(self, *, out: Floats | None = None) -> Floats:
        """Displacements of the volume mesh [m], (n, 3)."""
        return expand(self._history[0], self.model.vectors, out)

    def skin_vertices(self, *, out: Floats | None = None) -> Floats:
        """Where the vertices of the model's skin are [m], (s, 3)."""
        return skin_shape(self.model, self._history[0], out)

    def excitations(self, q: ArrayLike | None = None) -> Floats:
        """How much of each example of the damping there is, now (k,) or at q (..., r)."""
        examples = self._damping.examples
        if examples is None:
            raise InputError("there are no examples; give damping=ExampleDamping(base, [...])")
        return examples.excitations(self._history[0] if q is None else numbers("q", q))

    @property
    def kinetic(self) -> float:
        """Kinetic energy [J]."""
        v = self._history[1]
        return 0.5 * float(v @ self._mass @ v)

    @property
    def elastic(self) -> float:
        """Elastic energy [J]."""
        return self.model.evaluate(self._history[0])[0]

    @property
    def damping_power(self) -> float:
        """Power that damping takes from the motion [W]."""
        q, v = self._history[0], self._history[1]
        C = self._damping
        K = C.constant if C.is_constant else self.model.evaluate(q)[2]  # any will do
        return float(v @ (C.force(q, v, K) - C.push()))

    def frame(self, *, dissipated: float = 0.0) -> Frame:
        """The body as it is now, with its energies and momenta."""
        q, v = self._history[0], self._history[1]
        linear, angular = self.model.momenta(q, v)
        return Frame(
            time=self.time,
            displacements=self.displacements(),
            kinetic=self.kinetic,
            elastic=self.elastic,
            gravitational=self.model.gravitational(q, self._gravity),
            dissipated=dissipated,
            linear_momentum=linear,
            angular_momentum=angular,
        )
