"""Contacts as forces in a stage, by the augmented Lagrangian of Alart and Curnier.

Each pair of vertex and plane has a scaled multiplier and a weight w [N/m]; its force at u is
w (z − s) with s = u + multiplier and z the projection of s (``contacts.py``). With the right
multipliers the weights do not matter. Three updates lead there: the primal–dual one after a full
Newton step, that of the multipliers where forces balance, and that of a stage's first guess, which
are the forces of the last one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

import numpy as np

from supple._kernels.contact.vertices import SLIDING
from supple.bodies.elastic_body import ElasticBody, PointResponses
from supple.bodies.group import BodyGroup
from supple.contact.carried import CarriedBlocks
from supple.contact.contacts import Contacts
from supple.contact.facets import Facets
from supple.contact.obstacles.base import Obstacle
from supple.contact.pairs import ContactPairs, Projection
from supple.core.sparse import BlockPattern
from supple.core.types import Floats, Ints
from supple.integrators import Stage
from supple.mesh.points import CarriedPoints

_WEIGHT = 5.0  # times what a vertex has on the diagonal of the stage's matrix
_MOSTLY_DAMPED = 10.0  # times the rest of the diagonal that counts of damping, at most
_CLOSER = 0.25  # of how far contacts are off may be left after a round, or else
_MORE = 10.0  # times the weights are used from then on
_LOCKING = 5  # rounds after which friction's limits change by halves
_TURNING = 20  # rounds after which planes stay: over a corner of a mesh they turn for ever
_SAME_LIMIT = 1e-4  # share of it by which friction's limit may still change


@dataclass(eq=False)
class ContactPoint:
    """The contacts of a stage at one shape."""

    u: Floats
    """Displacements of what can touch, (p, 3)."""
    at: Projection
    force: Floats
    """What the contacts add to the residual, w (s − z) [N], (n, 3)."""
    potential: float
    """Their part of the incremental potential [J]; its gradient is ``force``."""
    blocks: Floats
    """I − ∂z/∂s (k, 3, 3), as the last matrix that was asked for has them."""


class AugmentedLagrangian:
    """Contacts with weights that suit the stages of what they push.

    ``diagonal`` (n,) are the places of the vertices' own blocks among those of a matrix;
    ``stiffness`` [N/m] and ``mass`` [kg], (n,) each, what they have there at rest.
    """

    _stage: Stage  # since ``begin``

    def __init__(
        self,
        contacts: Contacts,
        diagonal: Ints,
        stiffness: Floats,
        mass: Floats,
        pattern: BlockPattern | None = None,
        points: CarriedPoints | None = None,
        of_carriers: Floats | None = None,
        responses: Sequence[tuple[slice, PointResponses]] = (),
    ) -> None:
        """``pattern`` couples the vertices of each edge and face, where these are contacts.

        Where bodies are touched at ``points`` that they carry, contacts are of these. What carries
        points by more than means gives way by its own stiffness ``of_carriers`` [N/m], (n, 3);
        how some points do is known by their ``responses``.
        """
        self.contacts, self._pattern = contacts, pattern
        self._points = None if points is None or points.are_vertices else points
        self.diagonal, self._stiffness, self._mass = diagonal, stiffness, mass
        self._of_carriers = np.zeros((len(mass), 3)) if of_carriers is None else of_carriers
        self._responses = responses
        self._viscosity = np.zeros(len(mass))
        self.weights = np.zeros(0)
        """w [N/m], (k,), of the pairs of the stage at hand."""
        self._off, self._boost, self._rounds = np.inf, 1.0, 0
        self._share = 1.0  # of the weights, while it is sought what holds

    @classmethod
    def of_body(cls, body: ElasticBody, obstacles: Sequence[Obstacle]) -> AugmentedLagrangian:
        """The contacts of a body with obstacles."""
        movable = np.asarray(body.free.any(axis=1))
        vertices = body.contact_vertices
        edge = float(body.mesh.edge_lengths().mean())
        points = body.points
        movable = points.with_any(movable)
        contacts = Contacts(
            obstacles,
            points.rest,
            points.free(body.free),
            vertices[movable[vertices]],
            edge,
            facets=Facets.of_body(body),
        )
        diagonal = body.pattern.indptr[:-1]
        rest = body.evaluate(np.zeros_like(body.mesh.vertices), order=2).stiffness
        components = np.einsum("bii->bi", rest[diagonal])
        stiffness, mass = components.mean(axis=1), body.mass_values[diagonal]
        deforms = np.zeros((body.n_vertices, 1), dtype=bool)
        deforms[points.first[~points.are_means]] = True
        of_carriers = np.where(deforms, components, 0.0)
        known = (body.pattern, points, of_carriers, _responses_of(body))
        return cls(contacts, diagonal, stiffness, mass, *known)

    def add_damping_diagonal(self, values: Floats) -> None:
        """Know of damping by its matrix at rest [N s/m], blocks on the body's pattern."""
        self._viscosity += np.einsum("bii->b", values[self.diagonal]) / 3

    def stiffness_at(self, stage: Stage) -> Floats:
        """What all that can touch has on the diagonal of the stage's matrix [N/m], (p,), about."""
        undamped = self._stiffness + stage.c_a * self._mass
        damped = np.minimum(stage.c_v * self._viscosity, _MOSTLY_DAMPED * undamped)
        of_vertices = np.asarray(undamped + damped)
        points = self._points
        if points is None:
            return of_vertices
        # of a point that several carry, what resists there: 1 / Σ B²/k; of a rigid body inertia
        firmness = self._of_carriers + stage.c_a * self._mass[:, None]
        gives = (points.matrix.power(2) @ (1.0 / firmness).ravel()).reshape(-1, 3).mean(axis=1)
        found = of_vertices[points.first]
        np.divide(1.0, gives, out=found, where=~points.is_vertex & (gives > 0))
        for rows, known in self._responses:
            found[rows] = known.stiffness(stage.c_a)
        return found

    def _at_points(self, field: Floats) -> Floats:
        return field if self._points is None else self._points.of(field)

    def begin(self, stage: Stage, start: Floats, guess: Floats, began: float) -> None:
        """Find the contacts of a stage, with the forces of the last one to start from."""
        start, guess = self._at_points(start), self._at_points(guess)
        if self._points is not None:
            stage = replace(stage, u_v=self._points.of(stage.u_v), guess=guess)
        self._stage = stage
        self._off, self._boost, self._rounds, self._share = np.inf, 1.0, 0, 1.0
        contacts = self.contacts
        contacts.begin(stage, start, guess, began)
        self._set_weights()
        pairs, forces = contacts.pairs, contacts.warm_start_forces()
        pairs.scaled_multiplier = -forces / self.weights[:, None]
        normal = np.einsum("ki,ki->k", forces, pairs.normal)
        pairs.limits = pairs.friction * np.maximum(normal, 0.0) / self.weights

    def _set_weights(self) -> None:
        by_point = self.contacts.pairs.stiffness_of(self.stiffness_at(self._stage))
        self.weights = self._share * self._boost * _WEIGHT * by_point

    def weigh(self, share: float) -> bool:
        """Have this share of the weights from now on; whether that is another one.

        Multipliers stay the forces that they are.
        """
        if share == self._share:
            return False
        factor, self._share = share / self._share, share
        self._scale_weights(factor)
        return True

    def _scale_weights(self, factor: float) -> None:
        pairs = self.contacts.pairs
        self.weights = factor * self.weights
        pairs.scaled_multiplier = pairs.scaled_multiplier / factor
        pairs.limits = pairs.limits / factor

    def evaluate(self, u: Floats) -> ContactPoint:
        """Forces and potential at u (n, 3)."""
        u = self._at_points(u)
        at = self.contacts.projection(u)
        force = np.zeros_like(u)
        self.contacts.pairs.add_to(force, self.weights[:, None] * (at.s - at.z))
        force = force if self._points is None else self._points.spread(force)
        return ContactPoint(u, at, force, self.contacts.energy(u, self.weights), at.blocks)

    def add_matrix(self, here: ContactPoint, values: Floats, *, majorized: bool) -> None:
        """Add the derivative of the force to blocks on the body's pattern."""
        pairs = self.contacts.pairs
        here.blocks = here.at.blocks
        if majorized:
            here.blocks = self.contacts.projected(here.at.s, majorized=True).blocks
        blocks, rows = self.weights[:, None, None] * here.blocks, pairs.between
        if self._points is not None:
            assert self._pattern is not None
            rows, cols, blocks = _of_points(pairs, blocks)
            carried = CarriedBlocks(self._points, rows, cols)
            values[np.searchsorted(self._pattern.keys, carried.keys)] += carried.of(blocks)
            return
        if not len(rows):
            np.add.at(values, self.diagonal[pairs.vertex], blocks)
            return
        alone = np.ones(pairs.count, dtype=bool)
        alone[rows] = False
        np.add.at(values, self.diagonal[pairs.vertex[alone]], blocks[alone])
        assert self._pattern is not None
        nodes, shares, n = pairs.nodes[rows], pairs.shares[rows], np.int64(len(self._mass))
        for a in range(3):
            for b in range(a, 3):  # blocks are symmetric, so that order does not matter
                low, high = np.sort(nodes[:, [a, b]], axis=1).T
                where = np.searchsorted(self._pattern.keys, low * n + high)
                part = (shares[:, a] * shares[:, b])[:, None, None]
                np.add.at(values, where, part * blocks[rows])

    def update_multipliers(self, here: ContactPoint, step: Floats, length: float) -> float:
        """The primal–dual update after a share of a step from ``here``, made with its matrix.

        The force of a contact becomes what the matrix had promised for the end of the step, as in a
        Newton method with forces among its unknowns: none for a vertex that the step has brought
        in, so that the next step finds it. Returns by how much forces changed [N].
        """
        contacts, pairs, step = self.contacts, self.contacts.pairs, self._at_points(step)
        pull = here.at.s - here.at.z
        promised = pull + np.einsum("kij,kj->ki", here.blocks, pairs.at(step))
        multiplier = pairs.scaled_multiplier + length * (promised - pairs.scaled_multiplier)
        pressed = -np.einsum("ki,ki->k", pairs.normal, multiplier)
        limits = pairs.friction * np.maximum(pressed, 0.0)
        u = here.u + length * step
        # What slides back has passed the place where it sticks; else it goes to and fro for ever.
        opposed = np.einsum("ki,ki->k", pull, contacts.slips(u)) < 0
        limits[(here.at.kind == SLIDING) & (pairs.limits > 0) & opposed] = np.inf
        new = np.column_stack([multiplier - pairs.scaled_multiplier, limits - pairs.limits])
        pairs.scaled_multiplier, pairs.limits = multiplier, limits
        contacts.store_forces(-self.weights[:, None] * multiplier)
        contacts.update_planes(self._stage, u)
        return float(np.linalg.norm(self.weights[:, None] * new))

    def snapshot(self) -> Callable[[], None]:
        """Gives what takes back all that ``update_multipliers`` and ``weigh`` do from now on."""
        pairs, weights, share = self.contacts.pairs.with_more(), self.weights, self._share

        def restore() -> None:
            self.contacts.pairs, self.weights, self._share = pairs, weights, share

        return restore

    def refresh(self, u: Floats, enough: float) -> bool:
        """Update multipliers, the limits of friction and planes where forces balance.

        Returns whether that changed forces by more than ``enough`` [N], or turned planes.
        """
        contacts, pairs, stage = self.contacts, self.contacts.pairs, self._stage
        u = self._at_points(u)
        at = contacts.projection(u)
        s, z = at.s, at.z
        contacts.store_forces(self.weights[:, None] * (z - s))
        apart = pairs.at(u) - z
        off = float(np.abs(apart).max(initial=0.0))
        inside = float(np.abs(np.einsum("ki,ki->k", apart, pairs.normal)).max(initial=0.0))
        limits = pairs.friction * contacts.pressed(s)
        self._rounds += 1
        if self._rounds > _LOCKING:  # pressing and sticking feed each other
            limits = 0.5 * (limits + pairs.limits)
        grown = np.abs(limits - pairs.limits) > _SAME_LIMIT * limits + contacts.exact / _WEIGHT
        new = np.column_stack([apart, limits - pairs.limits])
        much = float(np.linalg.norm(self.weights[:, None] * new)) > enough
        facing = pairs.normal.copy()
        pairs.scaled_multiplier, pairs.limits = s - z, limits
        if inside > max(_CLOSER * self._off, contacts.exact):  # the body resists with more
            self._boost *= _MORE
            self._scale_weights(_MORE)
        self._off = inside
        if self._rounds <= _TURNING:
            contacts.update_planes(stage, u)
        turned = np.abs(pairs.normal - facing).max(axis=1, initial=0.0)
        active = (pairs.scaled_multiplier != 0).any(axis=1)
        moved = (turned * active).max(initial=0.0) * contacts.edge
        if contacts.add_penetrating(stage, u):
            self._set_weights()
            return True
        changed = much and (off > contacts.exact or grown.any())
        return bool(changed or moved > contacts.flat)


def _responses_of(body: ElasticBody) -> list[tuple[slice, PointResponses]]:
    """The points of bodies that know how these give way."""
    if not isinstance(body, BodyGroup):
        own = body.point_responses
        return [] if own is None else [(slice(None), own)]
    ends = [0, *accumulate(part.points.count for part in body.parts)]
    pairs = zip(pairwise(ends), body.parts, strict=True)
    found = [(slice(*rows), part.point_responses) for rows, part in pairs]
    return [(rows, own) for rows, own in found if own is not None]


def _of_points(pairs: ContactPairs, blocks: Floats) -> tuple[Ints, Ints, Floats]:
    """Rows, columns and blocks (m, 3, 3) between the points that pairs have shares of.

    Each pair of points stands for both halves of a symmetric matrix.
    """
    between = pairs.between
    alone = np.ones(pairs.count, dtype=bool)
    alone[between] = False
    rows, cols, found = [pairs.vertex[alone]], [pairs.vertex[alone]], [blocks[alone]]
    nodes, shares = pairs.nodes[between], pairs.shares[between]
    for a in range(3):
        for b in range(a, 3):
            rows.append(nodes[:, a])
            cols.append(nodes[:, b])
            found.append((shares[:, a] * shares[:, b])[:, None, None] * blocks[between])
    return np.concatenate(rows), np.concatenate(cols), np.concatenate(found)
