"""A plug-in as another package would have it: one toy of each kind, one registration each."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from supple._kernels.compiling import kernel
from supple.contact import OBSTACLES, Obstacle
from supple.core.parameters import VECTOR, checked, described, parameter
from supple.damping import DAMPINGS, BoundViscousDamping, Damping
from supple.integrators import INTEGRATORS, ImplicitIntegrator, Stage
from supple.io.export import EXPORTERS
from supple.materials import MATERIALS, Material
from supple.mesh import Surface


@DAMPINGS.register
@dataclass(frozen=True, kw_only=True)
class ToyDrag(Damping):
    """A force c v on every vertex."""

    strength: float = field(metadata=described("c", unit="kg/s", at_least=0))

    def __post_init__(self):
        checked(self)

    def bind(self, body):
        return _BoundToyDrag(self.strength, body)


class _BoundToyDrag(BoundViscousDamping):
    depends_on_shape = False

    def __init__(self, strength, body):
        self._c, self._diagonal = strength, body.pattern.indptr[:-1]

    def evaluate(self, shape, v):
        return 0.5 * self._c * float(np.vdot(v, v)), self._c * v

    def multiply(self, shape, shapes):
        return self._c * shapes

    def add_matrix(self, shape, v, factor, values, *, definite):
        values[self._diagonal] += factor * self._c * np.eye(3)


@kernel
def evaluate(F, lam, mu, psi, P, A, order):
    """ψ = μ/2 ‖F − I‖² + λ/2 tr(F − I)²: springs that know no rotation."""
    for e in range(len(lam)):
        for q in range(F.shape[1]):
            trace = F[e, q, 0, 0] + F[e, q, 1, 1] + F[e, q, 2, 2] - 3.0
            psi[e, q] = 0.5 * lam[e] * trace * trace
            for i in range(3):
                for j in range(3):
                    d = F[e, q, i, j] - (1.0 if i == j else 0.0)
                    psi[e, q] += 0.5 * mu[e] * d * d
                    if order >= 1:
                        P[e, q, i, j] = mu[e] * d + (lam[e] * trace if i == j else 0.0)
            if order >= 2:
                s = 0
                for j in range(3):
                    for l in range(j, 3):
                        for i in range(3):
                            for k in range(3):
                                a = mu[e] if i == k and j == l else 0.0
                                A[e, q, s, i, k] = a + (lam[e] if i == j and k == l else 0.0)
                        s += 1


@MATERIALS.register
@dataclass(frozen=True, eq=False, kw_only=True)
class ToyLinear(Material):
    """Linear in every respect."""

    evaluate = staticmethod(evaluate)


@INTEGRATORS.register
@dataclass(frozen=True)
class ToyEuler(ImplicitIntegrator):
    """Backward Euler, with steps that count as longer by a share."""

    longer: float = parameter(0.0, "share", at_least=0)

    def __post_init__(self):
        checked(self)

    @property
    def order(self):
        return 1

    def stages(self, now, before, dt):
        w = 1 / (dt * (1 + self.longer))
        yield Stage(now.time + dt, w, now.u, w * w, now.u + now.v / w, now.u + dt * now.v)


@OBSTACLES.register
@dataclass(frozen=True, eq=False, kw_only=True)
class ToyCeiling(Obstacle):
    """Bodies stay below a height."""

    corner: ArrayLike = parameter((0.0, 0.0, 1.0), "a place on it", kind=VECTOR, unit="m")

    def _distance(self, points, within):
        return self.corner[2] - points[:, 2], np.tile([0.0, 0.0, -1.0], (len(points), 1))

    def _drawn(self, extent, about):
        square = [[0, 0, 0], [extent, 0, 0], [0, extent, 0]]
        return Surface(np.asarray(self.corner) + square, np.array([[0, 2, 1]]))


def write_toy(motion, path, *, skin=None, obstacles=(), progress=None):
    """The times, as JSON."""
    Path(path).write_text(json.dumps(motion.times.tolist()), encoding="utf-8")


EXPORTERS.register(write_toy, name=".toy")
