"""Friction between pairs, with pressures and directions of an earlier shape."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from supple._kernels.contact import rubbing
from supple.contact.contact_surface import ContactSurface, Pairs
from supple.contact.couplings import Couplings
from supple.contact.partwise import in_parts
from supple.core.types import Floats, Ints
from supple.mesh.points import CarriedPoints


@dataclass(frozen=True, eq=False)
class LaggedFriction:
    """Friction R(v) = Σ L f₀(|τ|), with the limit L = μ N of each of k pairs and its slip τ.

    τ = Σ J_a v_a is the velocity of one side against the other, seen in a frame that turns with
    them (see ``rubbing``): it is nothing as the pair moves rigidly, so that the forces have neither
    a sum nor a torque about where they were lagged.
    """

    points: CarriedPoints
    """Of the surface, (m,)."""
    limits: Floats
    """L [N], (k,)."""
    vertices: Ints
    """(k, 6), −1 in slots that are not needed."""
    J: Floats
    """(k, 6, 2, 3)."""
    sticking: float
    """ε [m/s]."""

    @classmethod
    def of(
        cls,
        surface: ContactSurface,
        pairs: Pairs,
        reach: Floats,
        weights: Floats,
        x: Floats,
        friction: float,
        sticking: float,
    ) -> LaggedFriction:
        """That of pairs in reach at x (m, 3)."""
        k = len(pairs)
        limits, J = np.empty(k), np.empty((k, rubbing.SLOTS, 2, 3))
        vertices = np.empty((k, rubbing.SLOTS), dtype=np.int64)
        given = pairs.kinds, pairs.quads, reach, weights, surface.bounds(pairs)
        lag = partial(rubbing.lagged_friction, *given, surface.frames(pairs), x, friction)
        in_parts(lag, k, limits, vertices, J)
        return cls(surface.carried, limits, vertices, J, sticking)

    def forces(self, v: Floats) -> tuple[float, Floats]:
        """R [W] and ∇R [N], (m, 3), at velocities v."""
        total = np.zeros_like(v)
        return float(self._forces(v, self.sticking, total)), total

    @property
    def _forces(self) -> partial[float]:
        return partial(rubbing.friction_forces, self.limits, self.vertices, self.J)

    @cached_property
    def _couplings(self) -> Couplings:
        return Couplings(self.points, self.vertices)

    @property
    def keys(self) -> Ints:
        """Those of the blocks of ∇²R, (b,)."""
        return self._couplings.keys

    def blocks(self, v: Floats, factor: float, *, majorized: bool) -> Floats:
        """``factor`` ∇²R at v as blocks (b, 3, 3) in the matrix of the body."""
        curvatures = np.empty((len(self.limits), 2, 2))
        given = self.limits, self.vertices, self.J, v, self.sticking, factor, majorized
        fill = partial(rubbing.friction_curvatures, *given)
        in_parts(fill, len(self.limits), curvatures)
        return self._couplings.of_products(self.J, curvatures)
