"""What local terms of a body share, and those on the deformation gradients of its cells."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from supple._kernels.elasticity import elements
from supple.bodies.assembly import Part, chunks_by_thread
from supple.core.threads import run_all
from supple.core.types import Floats
from supple.integrators import Stage
from supple.solvers.splitting import LocalTerms


class BodyTerms(LocalTerms):
    """Terms of a body, not of what it touches, that live as long as stages keep their c_v."""

    @abstractmethod
    def set_weight(self, factor: float) -> None:
        """Multiply the weights that the rule gives by a factor."""

    @abstractmethod
    def begin(self, stage: Stage, u_v: Floats, start_velocity: Floats) -> None:
        """Set where rates are counted from, and the velocity at the start of the step (n, 3)."""


class GradientTerms(BodyTerms):
    """Terms with a deformation gradient at every quadrature point of a part."""

    def __init__(self, part: Part, stiffness: Floats) -> None:
        self.part = part
        cells, points = part.weights.shape
        self.by_point = (cells, points, 3, 3)
        self.shape = (cells * points, 3, 3)
        self._rule = stiffness
        self.doublings = np.zeros(cells, dtype=np.int8)
        self._work = [[cut for _, cut in chunks] for chunks in chunks_by_thread((part,))]
        self.set_weight(1.0)

    def set_weight(self, factor: float) -> None:
        self._factor = factor
        self.stiffness: Floats = factor * self._rule * 2.0**self.doublings
        """Weight by volume [Pa], (cells,)."""
        self._weights = self.stiffness[:, None] * self.part.weights
        self.weights = self._weights.ravel()

    def share(self, work: Callable[[slice], None]) -> None:
        """Do ``work`` for chunks of cells, in threads."""

        def some(cuts: list[slice]) -> None:
            for cut in cuts:
                work(cut)

        run_all([partial(some, cuts) for cuts in self._work])

    def gradients(self, u: Floats, identity: float, out: Floats) -> None:
        """identity · I + ∇u at every point, into ``out``."""
        F, part = out.reshape(self.by_point), self.part
        self.share(
            lambda cut: elements.gradients_of(
                u, part.nodes[cut], part.gradients[cut], identity, F[cut]
            )
        )

    def past(self, stage: Stage) -> Iterator[tuple[float, float, Floats, Floats]]:
        """p, q, F and Ḟ of every state that û_v is made of; the arrays are used again."""
        F, rate = np.empty(self.by_point), np.empty(self.by_point)
        for p, q, state in stage.memory:
            self.gradients(state.u, 1.0, F)
            self.gradients(state.v, 0.0, rate)
            yield p, q, F, rate

    def gather(self, u: Floats, out: Floats) -> None:
        self.gradients(u, 1.0, out)

    def scatter(self, y: Floats, out: Floats) -> None:
        Y, part = y.reshape(self.by_point), self.part
        elements.add_nodal_forces(part.nodes, part.gradients, self._weights, Y, out)

    def add_matrix(self, values: Floats) -> None:
        part = self.part
        a, b = np.triu_indices(part.nodes.shape[1])
        products = np.einsum(
            "cq,cqpi,cqpi->cp", self._weights, part.gradients[:, :, a], part.gradients[:, :, b]
        )
        np.add.at(values, np.where(part.slots < 0, ~part.slots, part.slots), products)
