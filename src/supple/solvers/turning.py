"""Bodies that turn as a whole within ADMM's global step.

Local variables y, such as deformation gradients, hold the body the way it is turned: a global step
turns it by the share that its inertia has of their weight, and a stiff body takes a thousand steps.
But what is local does not change as all of it turns together. So the global step minimises over a
small turn θ of all y as well:

    ½ uᵀ(c_a M + …) u − f·u + Σ w/2 ‖D u − y − Σ_k θ_k e_k × y‖²
"""

from __future__ import annotations

import numpy as np

from supple.core.types import Floats
from supple.solvers.global_step import GlobalStep
from supple.solvers.splitting import Splitting, views

_TINY = float(np.finfo(float).tiny)
_SOFT = 0.3  # share that the inertia has of what holds the body: above, it turns fast enough
_STIFF = 1e-12  # share of what holds y below which nothing but rounding is left of the inertia


class Turning:
    """What a turn of the local variables does: G = A⁻¹ Dᵀ W (e_k × y), found for one y.

    Its derivative stays that of the y it was made for, which is near enough: a turn vanishes where
    local variables and the body agree, whatever G is.
    """

    def __init__(self, step: GlobalStep, split: Splitting, y: Floats) -> None:
        self._split, self._weights = split, split.weights()
        turned = np.empty((3, len(y)))
        for k, out in enumerate(turned):
            cross = _cross(np.eye(3)[k])
            for part, place in zip(views(y, split.terms), views(out, split.terms), strict=True):
                place[:] = cross @ part
        forces = np.array([split.scatter(each) for each in turned])
        self.G: Floats = np.array([step.solve(each) for each in forces])
        """How the body follows a turn about each axis [m], (3, n, 3)."""
        held = (turned * self._weights) @ turned.T
        self._inertia = held - forces.reshape(3, -1) @ self.G.reshape(3, -1).T
        self._held = float(np.trace(held))
        self.H: Floats = _inverse(self._inertia, held)
        """Turn by a torque [1/(N m)], (3, 3)."""
        self._radius = max(float(np.sqrt(np.square(self.G).sum(axis=2).mean())), _TINY)

    @property
    def is_needed(self) -> bool:
        """Whether local variables hold the body more firmly than its inertia does."""
        return bool(np.trace(self._inertia) < _SOFT * self._held)

    def angles(self, y: Floats, apart: Floats) -> Floats:
        """θ (3,), where D u − z = ``apart`` with z turned not yet."""
        torque = np.zeros(3)
        pairs = views(self._weights * y, self._split.terms), views(apart, self._split.terms)
        for part, other in zip(*pairs, strict=True):
            sums = np.tensordot(part, other, axes=([0, 2], [0, 2]))  # Σ w y_i (D u − z)_k
            torque += [sums[i, j] - sums[j, i] for i, j in ((1, 2), (2, 0), (0, 1))]
        found: Floats = self.H @ torque
        return found

    def force(self, theta: Floats) -> float:
        """What it takes to turn the body so much [N], at the radius that it has."""
        return float(np.linalg.norm(self._inertia @ theta)) / self._radius

    def follow(self, theta: Floats) -> Floats:
        """How the body moves with a turn [m], (n, 3)."""
        moved: Floats = np.tensordot(theta, self.G, axes=1)
        return moved


def rotation(theta: Floats) -> Floats:
    """exp(θ ×), by Rodrigues' formula."""
    angle = float(np.linalg.norm(theta))
    if angle == 0.0:
        return np.eye(3)
    cross = _cross(theta / angle)
    turned: Floats = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * (cross @ cross)
    return turned


def _cross(a: Floats) -> Floats:
    """The matrix of a ×."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def _inverse(inertia: Floats, held: Floats) -> Floats:
    """The inverse, without the axes about which there is nothing to turn; none, if not finite."""
    if not np.isfinite(inertia).all():
        return np.zeros((3, 3))
    values, axes = np.linalg.eigh(0.5 * (inertia + inertia.T))
    sound = values > _STIFF * np.trace(held)
    inverse: Floats = (axes[:, sound] / values[sound]) @ axes[:, sound].T
    return inverse
