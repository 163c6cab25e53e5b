"""The global step of ADMM with what constrains it: contacts, and that a body turns as a whole.

Contacts among the local terms would have to be given a weight, and none is right: what holds a
vertex against its neighbours is a thousand times what holds the body as a whole, which then creeps.
The global step is a quadratic problem with one matrix, so contacts are solved for with it, by the
responses of the body to forces on the vertices that touch.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from supple.core.types import Floats, Ints
from supple.solvers.global_step import GlobalStep
from supple.solvers.splitting import PointContacts, Splitting
from supple.solvers.turning import Turning

_CONTACT_ACCURACY = 0.01  # of the way of a global step: what is left looks like noise to the others
_MOST_ROUNDS = 5  # with contacts that others have pressed in


class ConstrainedStep:
    """Eq. 16a for one splitting; ``turns`` says whether nothing keeps the body from turning."""

    def __init__(self, step: GlobalStep, split: Splitting, *, turns: bool) -> None:
        self._step, self._split, self._turns = step, split, turns
        self._turning: Turning | None = None

    def solve(self, u: Floats, force: Floats, s: Floats, z: Floats) -> tuple[Floats, Floats]:
        """From u, where ``force`` (n, 3) is left, to the balance; and the turn of s and z (3,)."""
        contacts, theta = self._split.contacts, np.zeros(3)
        if contacts is not None:
            contacts.follow(u)
            force = contacts.push(force)
        step = self._step.solve(force)
        u = u + step
        if self._turns:
            y = 2 * z - s
            if self._turning is None:
                self._turning = Turning(self._step, self._split, y)
                if not self._turning.is_needed:
                    self._turns, self._turning = False, None
        if self._turning is not None:
            there = np.empty_like(y)
            self._split.gather(u, there)
            theta = self._turning.angles(y, there - z)
            u = u + self._turning.follow(theta)
        if contacts is not None:
            accuracy = _CONTACT_ACCURACY * float(np.abs(step).max())
            u, theta = self._in_contact(contacts, u, theta, accuracy)
        return u, theta

    def force_to_turn(self, theta: Floats) -> float:
        """What a turn that ``solve`` has found would take [N]."""
        return 0.0 if self._turning is None else self._turning.force(theta)

    def _in_contact(
        self, contacts: PointContacts, u: Floats, theta: Floats, accuracy: float
    ) -> tuple[Floats, Floats]:
        turning, among = self._turning, contacts.involved(u)
        for _ in range(_MOST_ROUNDS):
            if not len(among):
                break
            before = contacts.forces[among]
            columns = contacts.mixed(among, self._step.responses, 0)
            responses = contacts.mixed(among, partial(_taken, columns), 1)
            if turning is not None:  # forces on points turn the body, too
                at = contacts.mixed(among, partial(_taken, turning.G), 1)
                turned = np.tensordot(at, np.tensordot(turning.H, at, axes=1), axes=(0, 0))
                turned = turned.transpose(2, 0, 1, 3)
                responses = turned + (np.eye(3) * responses if columns.shape[3] == 1 else responses)
            contacts.solve(among, np.ascontiguousarray(responses), contacts.at(u, among), accuracy)
            change = contacts.forces[among] - before
            u = u + _moved(columns, change)
            if turning is not None:
                more = turning.H @ np.einsum("bkj,kj->b", at, change)
                theta, u = theta + more, u + turning.follow(more)
            pressed = contacts.involved(u)
            if np.isin(pressed, among).all():
                break
            among = np.union1d(among, pressed)
        return u, theta


def _taken(array: Floats, vertices: Ints) -> Floats:
    """What an array says of vertices, along its second axis."""
    return np.asarray(array[:, vertices])


def _moved(columns: Floats, forces: Floats) -> Floats:
    """How nodes move (n, 3) by forces (k, 3), with responses (k, n, p, m)."""
    _, n, p, m = columns.shape
    moved: Floats = np.empty((n, 3))
    if m == 3:
        np.einsum("knpm,km->np", columns, forces, out=moved)
        return moved
    for i in range(3):
        moved[:, i] = forces[:, i] @ columns[:, :, i if p == 3 else 0, 0]
    return moved
