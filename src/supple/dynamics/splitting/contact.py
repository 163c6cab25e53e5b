"""Contacts as local terms: vertices near an obstacle, held out of it and back by friction."""

from __future__ import annotations

import numpy as np

from supple.contact.contacts import Contacts
from supple.core.types import Floats, Ints
from supple.integrators import Stage
from supple.solvers.splitting import LocalTerms


class ContactTerms(LocalTerms):
    """Non-penetration and Coulomb friction of pairs, in closed form (Eqs. 58–60).

    The normal force that limits friction is that of the iteration at hand, and planes follow the
    vertices.
    """

    def __init__(self, contacts: Contacts, weights: Floats, stage: Stage, diagonal: Ints) -> None:
        self._contacts, self._stage = contacts, stage
        self.vertices = contacts.pairs.vertex
        """(m,)"""
        self._diagonal = diagonal[self.vertices]
        self.weights = weights
        self.shape = (contacts.pairs.count, 3, 1)
        contacts.pairs.limits = np.zeros(0)

    def gather(self, u: Floats, out: Floats) -> None:
        self._contacts.update_planes(self._stage, u)
        out[:, :, 0] = u[self._contacts.pairs.vertex]

    def scatter(self, y: Floats, out: Floats) -> None:
        np.add.at(out, self._contacts.pairs.vertex, self.weights[:, None] * y[:, :, 0])

    def add_matrix(self, values: Floats) -> None:
        np.add.at(values, self._diagonal, self.weights)

    def warm_start(self, z: Floats, s: Floats) -> None:
        s[:, :, 0] = z[:, :, 0] - self._contacts.warm_start_forces() / self.weights[:, None]
        self.minimise(s, z)

    def minimise(self, s: Floats, z: Floats) -> None:
        z[:, :, 0] = self._contacts.projected(np.ascontiguousarray(s[:, :, 0])).z

    def finish(self, s: Floats, z: Floats) -> None:
        self._contacts.store_forces(self.weights[:, None] * (z - s)[:, :, 0])
