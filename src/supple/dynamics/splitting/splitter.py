"""Takes the force balance of a body apart into local terms and what is outside of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from supple._kernels.contact.gauss_seidel import solve_contacts
from supple.bodies.assembly import Asked, Evaluation
from supple.bodies.cloth import Cloth
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.shape import Shape
from supple.bodies.solid import Body
from supple.bodies.springs import SpringNetwork
from supple.contact.contacts import Contacts
from supple.core.errors import InputError
from supple.core.sparse import BlockPattern, LowRank, joined
from supple.core.types import Floats, Ints
from supple.damping import BoundDamping
from supple.damping.cells import BoundCellDamping
from supple.damping.cloth_rate import BoundClothStrainRate
from supple.damping.power_law import BoundStretchPower
from supple.damping.strain_rate import BoundSpringStrainRate
from supple.damping.sums import summands
from supple.dynamics.splitting.base import BodyTerms
from supple.dynamics.splitting.cells import CellTerms, StretchTerms
from supple.dynamics.splitting.cloth import ClothTerms
from supple.dynamics.splitting.springs import SpringTerms
from supple.integrators import Stage
from supple.solvers.splitting import (
    Dissipation,
    LocalTerms,
    Outside,
    PointContacts,
    SplitOptions,
    Splitting,
    TurnResponse,
)

_SWEEPS = (10, 2000)  # over all contacts in a global step, at least and at most,
_PRODUCTS = 500_000  # responses that they may take: few contacts of a stiff body need many sweeps
_ENOUGH = 0.1  # of how far a converged contact may be off
_DRY_WEIGHT = 3.0  # times the weight of the cell's elasticity, likewise


class ObstacleContacts(PointContacts):
    """Non-penetration and Coulomb friction of pairs (Eqs. 58–60).

    The normal force that limits friction is that of the iteration at hand, and planes follow the
    vertices.
    """

    def __init__(self, contacts: Contacts, stage: Stage, candidates: Ints) -> None:
        self._contacts, self._stage, self.candidates = contacts, stage, candidates
        pairs = contacts.pairs
        self.nodes, self.shares = pairs.nodes, pairs.shares
        self.are_vertices = not len(pairs.between)
        self.forces = contacts.warm_start_forces()

    def follow(self, u: Floats) -> None:
        self._contacts.update_planes(self._stage, u)

    def involved(self, u: Floats) -> Ints:
        pairs = self._contacts.pairs
        inside = np.einsum("ki,ki->k", pairs.normal, pairs.at(u)) < pairs.offset
        return np.flatnonzero(inside | self.forces.any(axis=1))

    def solve(
        self, among: Ints, responses: Floats, turn: TurnResponse, places: Floats, accuracy: float
    ) -> None:
        pairs, forces = self._contacts.pairs, self.forces[among]
        planes = pairs.normal[among], pairs.offset[among], pairs.origin[among]
        enough = min(_ENOUGH * self._contacts.exact, accuracy)
        sweeps = int(np.clip(_PRODUCTS // len(among) ** 2, *_SWEEPS))
        mu = pairs.friction[among]
        solve_contacts(responses, *turn, *planes, mu, places, forces, enough, sweeps)
        self.forces[among] = forces

    def finish(self) -> None:
        self._contacts.store_forces(self.forces)


class Splitter:
    """Local terms for the cells; damping that is not a sum over cells stays outside."""

    def __init__(self, body: ElasticBody, pattern: BlockPattern, places: Ints) -> None:
        self._body, self._pattern, self._places = body, pattern, places
        self._contacts: Contacts | None = None
        self._dry: list[BoundStretchPower] = []
        self._in_cells: list[BoundCellDamping] = []
        self._of_springs: list[BoundSpringStrainRate] = []
        self._of_cloth: list[BoundClothStrainRate] = []
        self._bending = body.bound_bending if isinstance(body, Cloth) else None
        self._outside: list[tuple[BoundDamping, Ints]] = []
        self._matrices = 0
        self._cache: tuple[tuple[float, ...], Floats, LowRank | None] | None = None
        self._terms: tuple[tuple[object, ...], list[BodyTerms]] | None = None

    def add_damping(self, model: BoundDamping, places: Ints) -> None:
        """Take a damping apart; ``places`` are those of its blocks among the pattern's."""
        found = model.in_cells()
        if isinstance(found, BoundStretchPower) and found.is_rate_independent:
            self._dry.append(found)
        elif found is not None:
            self._in_cells.append(found)
        for rest in summands(model.outside_cells()):
            self._add_outside(rest, places)

    def _add_outside(self, model: BoundDamping, places: Ints) -> None:
        rest: BoundDamping | None = model
        if isinstance(model, BoundClothStrainRate):
            self._of_cloth.append(model)
            rest = model.of_hinges_alone()
        if isinstance(rest, BoundSpringStrainRate):
            self._of_springs.append(rest)
        elif rest is not None:
            self._outside.append((rest, places))

    def add_contacts(self, contacts: Contacts) -> None:
        """Have vertices near obstacles as local terms."""
        self._contacts = contacts

    def split(
        self,
        stage: Stage,
        latest: Floats,
        options: SplitOptions,
        *,
        u_v: Floats,
        start_velocity: Floats,
    ) -> Splitting:
        """The stage as a sum; local variables start at ``latest`` (n, 3), with the stress there.

        Rates are counted from ``u_v`` (n, 3), that of the stage but for held components.
        """
        terms: list[LocalTerms] = []
        for term in self._body_terms(stage, options):
            term.begin(stage, u_v, start_velocity)
            term.set_weight(options.weight)
            terms.append(term)
        contacts = None
        if self._contacts is not None and self._contacts.pairs.count:
            contacts = ObstacleContacts(self._contacts, stage, self._body.contact_vertices)
        start = []
        for local in terms:
            place = np.empty(local.shape)
            local.gather(latest, place)
            start.append(place)
        scalars = stage.c_a * self._body.mass_values
        if self._bending is not None:
            scalars += self._bending.blocks
        blocks: Floats | None = None
        low_rank: LowRank | None = None
        if self._outside:
            blocks, low_rank = self._outside_matrix(stage, latest)
            multiples = blocks[:, 0, 0]
            if (blocks == multiples[:, None, None] * np.eye(3)).all():  # damping of the mass alone
                scalars, blocks = scalars + multiples[self._places], None
        raised = b"".join(each.doublings.tobytes() for each in terms if isinstance(each, CellTerms))
        return Splitting(
            n_nodes=self._body.n_vertices,
            terms=terms,
            matrix_key=(*_rounded(stage.c_v, stage.c_a), options.weight, self._matrices, raised),
            scalars=scalars,
            places=self._places,
            blocks=blocks,
            low_rank=low_rank,
            contacts=contacts,
            start=start,
        )

    def memory(self) -> Any:
        """What local terms know of the last stage."""
        if self._terms is None:
            return None
        key, terms = self._terms
        return key, [_copied(vars(term)) for term in terms]

    def recall(self, memory: Any) -> None:
        """Go back to what ``memory`` gave."""
        if memory is None:
            self._terms = None
            return
        key, kept = memory
        if self._terms is None or self._terms[0] != key:
            (c_v,), dissipation = key
            self._terms = key, self._new_body_terms(c_v, dissipation)
        for term, state in zip(self._terms[1], kept, strict=True):
            vars(term).update(_copied(state))

    def _body_terms(self, stage: Stage, options: SplitOptions) -> list[BodyTerms]:
        key = (_rounded(stage.c_v), options.dissipation)
        if self._terms is None or self._terms[0] != key:
            old = [] if self._terms is None else self._terms[1]
            self._terms = key, self._new_body_terms(stage.c_v, options.dissipation)
            for new, last in zip(self._terms[1], old, strict=False):
                if isinstance(new, CellTerms) and isinstance(last, CellTerms):
                    new.doublings[:] = last.doublings  # the shape is still the same
        return self._terms[1]

    def _new_body_terms(self, c_v: float, dissipation: Dissipation) -> list[BodyTerms]:
        body = self._body
        if isinstance(body, SpringNetwork):
            viscosity = sum((m.viscosity for m in self._of_springs), np.zeros(body.n_cells))
            return [SpringTerms(body, viscosity, c_v=c_v)]
        if isinstance(body, Cloth):
            viscosity = sum((m.viscosity for m in self._of_cloth), np.zeros((body.n_cells, 3, 3)))
            return [ClothTerms(body, viscosity, c_v=c_v)]
        if not isinstance(body, Body):
            raise InputError(f"ADMM cannot take a {type(body).__name__} apart; use Newton()")
        terms: list[BodyTerms] = []
        for part in body.parts:
            cells = CellTerms(part, self._in_cells, c_v=c_v, dissipation=dissipation)
            firm = _DRY_WEIGHT * cells.stiffness
            terms += [cells, *(StretchTerms(part, dry, firm, c_v=c_v) for dry in self._dry)]
        return terms

    def outside(self, stage: Stage, u: Floats, v: Floats, a: Floats, external: Floats) -> Outside:
        """Forces that are in no local term: inertia, external ones, damping, bending of cloth."""
        inertia = self._body.mass_times(a)
        damping, bending = self._outside_damping(u, v), np.zeros_like(u)
        if self._bending is not None:
            to = Evaluation(0.0, bending, np.empty((0, 3)), np.empty((0, 3, 3)))
            self._bending.add(self._body.mesh.vertices + u, Asked(order=1), to)
        parts = (inertia, external, damping, bending)
        return Outside(
            inertia + damping + bending - external,
            sum(float(np.linalg.norm(part)) for part in parts),
            self._body.rounding_force(u) + self._body.rounding_inertia(u, stage.c_a),
        )

    def _outside_damping(self, u: Floats, v: Floats) -> Floats:
        """∇₂R [N] of the damping outside the cells, (n, 3)."""
        total = np.zeros_like(u)
        if self._outside:
            shape = Shape(self._body, u, order=1)
            for model, _ in self._outside:
                total += model.evaluate(shape, v)[1]
        return total

    def _outside_matrix(self, stage: Stage, u: Floats) -> tuple[Floats, LowRank | None]:
        """c_v ∂∇₂R/∂v of that damping where the stage starts, on the whole pattern."""
        if self._cache is not None and self._cache[0] == _rounded(stage.c_v):
            return self._cache[1:]
        shape, v = Shape(self._body, u, order=2), stage.velocity(u)
        blocks = np.zeros((self._pattern.n_blocks, 3, 3))
        factors = []
        for model, places in self._outside:
            share = np.zeros((len(places), 3, 3))
            model.add_matrix(shape, v, stage.c_v, share, definite=True)
            blocks[places] += share
            factors.append(model.low_rank(shape, v))
        low_rank = joined(factors, stage.c_v)
        constant = all(m.is_linear and not m.depends_on_shape for m, _ in self._outside)
        self._cache = (_rounded(stage.c_v), blocks, low_rank) if constant else None
        self._matrices += 1
        return blocks, low_rank


def _copied(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes with arrays of their own."""
    return {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in attributes.items()}


def _rounded(*numbers: float) -> tuple[float, ...]:
    """Numbers as keys: the stages of TR-BDF2 agree to rounding only."""
    return tuple(float(f"{number:.12e}") for number in numbers)
