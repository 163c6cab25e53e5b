"""Friction of crossings on obstacles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from supple.contact.augmented_lagrangian import AugmentedLagrangian
from supple.contact.obstacles.base import Obstacle
from supple.core.types import Floats

_ROUNDS = 1  # in a step, after which friction follows the slip
_SAME = 0.01  # of the forces of friction: a change that is none


class ObstacleFriction:
    """Coulomb's friction by a viscosity that follows the slip.

    Against the slip velocity c acts the force κ c, κ = μN/√(|c|² + ε²), with N and c as they are
    expected at the start of a step, and once more as they then turn out; ε is the ``speed`` [m/s]
    below which friction fades out. So friction leaves no corners in a step, and is right where
    slip changes little from one step to the next.
    """

    def __init__(
        self, contact: AugmentedLagrangian, obstacles: Sequence[Obstacle], speed: float
    ) -> None:
        self._contact, self._obstacles, self._speed = contact, obstacles, speed
        self._friction = np.zeros(len(obstacles))
        self._viscosity = np.zeros(0)
        self._h, self._rounds = 1.0, 0

    def begin(self, x: Floats, h: float, time: float) -> None:
        """Start a step of h [s] that is bound for positions x (n, 3) at ``time`` [s]."""
        self._h, self._rounds = h, 0
        self._friction = np.array([each.friction_at(time) for each in self._obstacles])
        self._update_viscosity(x)

    def memory(self) -> tuple[Floats, float]:
        """What the last step left, to ``recall``."""
        return self._viscosity, self._h

    def recall(self, memory: tuple[Floats, float]) -> None:
        """Go back to what ``memory`` gave."""
        self._viscosity, self._h = memory

    def _update_viscosity(self, x: Floats) -> None:
        pairs = self._contact.contacts.pairs
        pressed = -self._contact.weights * np.einsum(
            "ki,ki->k", pairs.scaled_multiplier, pairs.normal
        )
        slip = np.linalg.norm(self._slips(x), axis=1)
        limits = self._friction[pairs.obstacle] * np.maximum(pressed, 0.0)
        self._viscosity = limits / np.hypot(slip, self._speed)

    def _slips(self, x: Floats) -> Floats:
        """Slip velocity of every pair [m/s], (k, 3)."""
        return self._contact.contacts.slips(x) / self._h

    @property
    def _kappa(self) -> Floats:
        """κ of every pair [kg/s], (k,); pairs that are new have none yet."""
        new = self._contact.contacts.pairs.count - len(self._viscosity)
        return np.concatenate([self._viscosity, np.zeros(new)])

    def forces(self, x: Floats) -> Floats:
        """What is taken from each pair's vertex at positions x (n, 3), κ c [N], (k, 3)."""
        taken: Floats = self._kappa[:, None] * self._slips(x)
        return taken

    def potential(self, x: Floats) -> float:
        """½ h Σ κ |c|² [J], whose gradient are the forces."""
        return 0.5 * self._h * float(np.vdot(self.forces(x), self._slips(x)))

    def add_matrix(self, values: Floats) -> None:
        """Add the second derivative to blocks (blocks, 3, 3)."""
        pairs = self._contact.contacts.pairs
        along = np.eye(3) - np.einsum("ki,kj->kij", pairs.normal, pairs.normal)
        where = self._contact.diagonal[pairs.vertex]
        np.add.at(values, where, (self._kappa / self._h)[:, None, None] * along)

    def refresh(self, x: Floats, enough: float) -> bool:
        """Bring κ up to date, and say whether that changed forces by more than ``enough`` [N]."""
        if self._rounds == _ROUNDS:
            return False
        self._rounds += 1
        before = self.forces(x)
        self._update_viscosity(x)
        after = self.forces(x)
        much = max(enough, _SAME * float(np.linalg.norm(after)))
        return bool(np.linalg.norm(after - before) > much)

    def on_vertices(self, x: Floats) -> Floats:
        """The force of friction on every vertex [N], (n, 3)."""
        total = np.zeros_like(x)
        np.subtract.at(total, self._contact.contacts.pairs.vertex, self.forces(x))
        return total
