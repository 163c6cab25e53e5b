"""What ADMM needs to know of a problem: a sum of local terms, and what is left outside of them.

    ½ c_a ‖u − û_a‖²_M − f·u + (1/c_v) R_outside + Σ_i Φ_i(D_i u)

Each Φ_i sees a few numbers D_i u alone: the deformation gradient of a cell, the vector of a spring,
the place of a vertex (dissipative optimization, Eqs. 13 and 38). D_i treats the coordinates alike,
so that Σ w D_iᵀD_i is one n × n matrix for all three.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from supple.core.sparse import LowRank
from supple.core.types import Floats, Ints
from supple.integrators import Stage
from supple.solvers.interface import Problem


class Dissipation(Enum):
    """How dissipation that depends on the shape enters the optimization."""

    BALANCE = "the force ∇₂R itself, as every other solver has it"
    FIRST_ORDER = "the gradient of R/c_v (Eq. 28): off by ∇₁R/c_v, first order in the time step"
    SECOND_ORDER = "the gradient of (R(x, v) − R(x, vₙ))/c_v (Eq. 30): second order"


@dataclass(frozen=True)
class SplitOptions:
    """What a solver asks of a splitting."""

    weight: float
    """Multiplies the weights of all terms."""
    dissipation: Dissipation


class LocalTerms(ABC):
    """Terms of one kind, m of them, each on a local variable of 3 × d numbers."""

    weights: Floats
    """w [N/m times the local unit squared], (m,): how firmly local variables are tied to D u."""
    shape: tuple[int, int, int]
    """(m, 3, d)"""
    accuracy: float = 1e-6
    """How far off local minima may be, in the unit of local variables."""

    @abstractmethod
    def gather(self, u: Floats, out: Floats) -> None:
        """Fill ``out`` (m, 3, d) with D u."""

    @abstractmethod
    def scatter(self, y: Floats, out: Floats) -> None:
        """Add Dᵀ W y to ``out`` (n, 3), for y of shape (m, 3, d)."""

    @abstractmethod
    def add_matrix(self, values: Floats) -> None:
        """Add DᵀWD to ``values`` (blocks,), multiples of the identity on the body's pattern."""

    @abstractmethod
    def warm_start(self, z: Floats, s: Floats) -> None:
        """s ← z + ∇Φ(z)/w, or what comes close: the place whose local minimum is z.

        Where it is not quite, z moves there.
        """

    def finish(self, s: Floats, z: Floats) -> None:
        """Keep of the outcome what later stages need."""
        return  # nothing, as a rule

    def raise_weights(self, z: Floats) -> bool:
        """Give more weight to terms that are concave at z, and need it; whether there were any.

        The next splitting still has it, until it is lowered.
        """
        return False

    def lower_weights(self) -> None:
        """Take back some of what ``raise_weights`` has given."""
        return  # it has given none

    @abstractmethod
    def minimise(self, s: Floats, z: Floats) -> None:
        """z ← argmin Φ(z) + w/2 ‖z − s‖², starting from the z given (Eq. 40)."""


class PointContacts(ABC):
    """Contacts of k points: the global step solves for their forces, with the body's.

    A point is a vertex, or up to three of them have shares in it.
    """

    nodes: Ints
    """(k, 3)"""
    shares: Floats
    """Of the nodes in the points, (k, 3)."""
    are_vertices: bool
    """Whether all of them are: the first of their nodes, with a share of 1."""
    forces: Floats
    """On the points [N], (k, 3)."""

    @abstractmethod
    def follow(self, u: Floats) -> None:
        """Turn planes to where the vertices are at u (n, 3)."""

    def at(self, u: Floats, among: Ints) -> Floats:
        """Where the points of some contacts are (j, 3), at u (n, 3)."""
        nodes = self.nodes[among]
        if self.are_vertices:
            return np.asarray(u[nodes[:, 0]])
        return np.asarray(np.einsum("ka,kai->ki", self.shares[among], u[nodes]))

    def push(self, force: Floats) -> Floats:
        """``force`` (n, 3) with those of the contacts added."""
        total = force.copy()
        if self.are_vertices:
            np.add.at(total, self.nodes[:, 0], self.forces)
        else:
            np.add.at(total, self.nodes, self.shares[:, :, None] * self.forces[:, None])
        return total

    def mixed(self, among: Ints, of_vertices: Callable[[Ints], Floats], axis: int) -> Floats:
        """What is linear in places of points, from what it is ``of_vertices``, along an axis."""
        nodes = self.nodes[among]
        if self.are_vertices:
            return of_vertices(nodes[:, 0])
        total: Floats | None = None
        for k in range(nodes.shape[1]):
            part = of_vertices(nodes[:, k])
            shape = [1] * part.ndim
            shape[axis] = len(among)
            part = part * self.shares[among, k].reshape(shape)
            total = part if total is None else total + part
        assert total is not None
        return total

    @abstractmethod
    def involved(self, u: Floats) -> Ints:
        """Those of the contacts that press, or that are inside at u (n, 3)."""

    @abstractmethod
    def solve(self, among: Ints, responses: Floats, places: Floats, accuracy: float) -> None:
        """Find the forces of some contacts, and where their points go, ``places`` (j, 3).

        ``responses`` (j, j, p, m) [m/N]: how the force of each moves the others. Places are to be
        found to ``accuracy`` [m], or to what contacts are exact to if that is less.
        """

    def finish(self) -> None:
        """Keep the forces for later stages."""
        return  # nothing, as a rule


@dataclass(eq=False)
class Splitting:
    """A stage as ADMM sees it."""

    n_nodes: int
    terms: list[LocalTerms]
    matrix_key: tuple[object, ...]
    """Changes when the matrix does."""
    scalars: Floats
    """Multiples of the identity in the matrix of what is outside the terms, (body's blocks,)."""
    places: Ints
    """Where the body's blocks are among those of the problem's pattern."""
    blocks: Floats | None = None
    """The rest of that matrix, (blocks, 3, 3)."""
    low_rank: LowRank | None = None
    contacts: PointContacts | None = None
    start: list[Floats] = field(default_factory=list)
    """Sound local variables to start from, one array a term."""

    def gather(self, u: Floats, out: Floats) -> None:
        """Fill ``out``, flat, with D u."""
        for term, place in zip(self.terms, views(out, self.terms), strict=True):
            term.gather(u, place)

    def scatter(self, y: Floats) -> Floats:
        """Dᵀ W y (n, 3), for y as ``gather`` gives it."""
        force = np.zeros((self.n_nodes, 3))
        for term, part in zip(self.terms, views(y, self.terms), strict=True):
            term.scatter(part, force)
        return force

    def weights(self) -> Floats:
        """w for every number of the local variables."""
        return np.concatenate([np.repeat(term.weights, 3 * term.shape[2]) for term in self.terms])


@dataclass(frozen=True, eq=False)
class Outside:
    """Forces outside the local terms at one displacement."""

    residual: Floats
    """M a + ∇₂R_outside − f [N], (n, 3)."""
    scale: float
    """Norm of the forces it is made of [N]."""
    floor: float
    """Norm of the force [N] that rounding alone may leave."""


class SplitProblem(Problem):
    """A problem whose stages can be split into local terms."""

    @abstractmethod
    def split(self, stage: Stage, starts: Sequence[Floats], options: SplitOptions) -> Splitting:
        """The stage as a sum of local terms, about to be solved from one of ``starts`` (n, 3)."""

    def needs_new_contacts(self, stage: Stage, u: Floats) -> bool:
        """Whether u needs terms that the last splitting had not; the next one then has them."""
        return False

    def is_feasible(self, u: Floats) -> bool:
        """Whether u (n, 3) is a shape that may be at all; no stage ends at another."""
        return True

    @abstractmethod
    def outside(self, stage: Stage, u: Floats) -> Outside:
        """Forces at u that are in no local term."""

    def splitting_memory(self) -> Any:
        """What local terms keep from stage to stage, to ``recall_splitting``."""
        return None

    def recall_splitting(self, memory: Any) -> None:
        """Go back to what ``splitting_memory`` gave."""
        return  # nothing is kept


def total_size(terms: list[LocalTerms]) -> int:
    return sum(int(np.prod(term.shape)) for term in terms)


def views(flat: Floats, terms: list[LocalTerms]) -> list[Floats]:
    """The local variables of every term as views of one flat array."""
    found, at = [], 0
    for term in terms:
        size = int(np.prod(term.shape))
        found.append(flat[at : at + size].reshape(term.shape))
        at += size
    return found
