"""Springs as local terms: their elasticity and their strain rate dissipation, in closed form."""

from __future__ import annotations

import numpy as np

from supple.bodies.springs import SpringNetwork
from supple.core.types import Floats
from supple.dynamics.splitting.base import BodyTerms
from supple.integrators import Stage

_COLLAPSED = 1e-10  # of the rest length


class SpringTerms(BodyTerms):
    """Φ(x) for the span x of a spring, with the force n (k ε + η ε̇), n = x/‖x‖.

    Its derivative along the spring is (k + η c_v)/L, which is the weight. The force along x alone
    makes the local minimum lie on the line through s, where the balance is linear in the length.
    """

    def __init__(self, body: SpringNetwork, viscosity: Floats, *, c_v: float) -> None:
        self._body, self._c_v, self._eta = body, c_v, viscosity
        self._L = body.mesh.rest_lengths
        self.shape = (body.n_cells, 3, 1)
        self._firm = body.spring_stiffness + viscosity * c_v  # k + η c_v [N]
        self._before = np.zeros((body.n_cells, 3))
        self.set_weight(1.0)

    def set_weight(self, factor: float) -> None:
        self.weights = factor * self._firm / self._L

    def begin(self, stage: Stage, u_v: Floats, start_velocity: Floats) -> None:
        self._before = self._spans(u_v)

    def _spans(self, u: Floats) -> Floats:
        return self._body.differences(self._body.mesh.vertices + u)

    def gather(self, u: Floats, out: Floats) -> None:
        out[:, :, 0] = self._spans(u)

    def scatter(self, y: Floats, out: Floats) -> None:
        out += self._body.gathered(self.weights[:, None] * y[:, :, 0])

    def add_matrix(self, values: Floats) -> None:
        rest = self._body.stretched(np.zeros_like(self._body.mesh.vertices))
        values += self._body.blocks(rest, self.weights, self.weights)[:, 0, 0]

    def warm_start(self, z: Floats, s: Floats) -> None:
        n, length = self._directions(z[:, :, 0])
        s[:, :, 0] = z[:, :, 0] + (self._pull(n, length) / self.weights)[:, None] * n
        self.minimise(s, z)

    def minimise(self, s: Floats, z: Floats) -> None:
        n, length = self._directions(s[:, :, 0])
        # r + (k (r/L − 1) + η c_v (r − n·x̂)/L)/w = ‖s‖
        behind = np.einsum("ei,ei->e", n, self._before)
        firm = self._firm / (self.weights * self._L)
        held = self._body.spring_stiffness + self._eta * self._c_v * behind / self._L
        r = (length + held / self.weights) / (1 + firm)
        z[:, :, 0] = np.maximum(r, _COLLAPSED * self._L)[:, None] * n

    def _pull(self, n: Floats, length: Floats) -> Floats:
        """k ε + η ε̇ [N], (springs,)."""
        behind = np.einsum("ei,ei->e", n, self._before)
        strain = length / self._L - 1
        pull: Floats = self._body.spring_stiffness * strain
        pull += self._eta * self._c_v * (length - behind) / self._L
        return pull

    def _directions(self, spans: Floats) -> tuple[Floats, Floats]:
        length = np.maximum(np.linalg.norm(spans, axis=1), _COLLAPSED * self._L)
        return spans / length[:, None], length
