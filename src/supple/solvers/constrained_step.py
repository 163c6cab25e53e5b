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
            responses = self._responses(contacts, among)
            if turning is None:
                turn = np.zeros((0, len(among), 3)), np.zeros((3, 3))
            else:  # forces on points turn the body, too
                G = contacts.mixed(among, partial(_taken, turning.G), 1)
                turn = np.ascontiguousarray(G), turning.H
            contacts.solve(among, responses, turn, contacts.at(u, among), accuracy)
            change = np.zeros_like(contacts.forces)
            change[among] = contacts.forces[among] - before
            u = u + self._step.solve(contacts.push(np.zeros_like(u), change))
            if turning is not None:
                more = turning.H @ np.einsum("bkj,kj->b", turn[0], change[among])
                theta, u = theta + more, u + turning.follow(more)
            pressed = contacts.involved(u)
            if np.isin(pressed, among).all():
                break
            among = np.union1d(among, pressed)
        return u, theta

    def _responses(self, contacts: PointContacts, among: Ints) -> Floats:
        """How some points move by unit forces on each of them, (j, j, p, m) [m/N]."""
        nodes = contacts.nodes[among]
        if contacts.are_vertices:
            return self._step.responses(nodes[:, 0], contacts.candidates)
        vertices = np.unique(nodes)
        of_vertices = self._step.responses(vertices, contacts.candidates)

        def rows(some: Ints) -> Floats:
            return np.asarray(of_vertices[np.searchsorted(vertices, some)])

        by_points = contacts.mixed(among, rows, 0)

        def columns(some: Ints) -> Floats:
            return _taken(by_points, np.searchsorted(vertices, some))

        return np.ascontiguousarray(contacts.mixed(among, columns, 1))


def _taken(array: Floats, vertices: Ints) -> Floats:
    """What an array says of vertices, along its second axis."""
    return np.asarray(array[:, vertices])
