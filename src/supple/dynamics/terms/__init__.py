"""The terms of the equation of motion."""

from __future__ import annotations

from collections.abc import Sequence

from supple.bodies.elastic_body import ElasticBody
from supple.bodies.group import BodyGroup
from supple.contact.attachments import Attachment
from supple.contact.obstacles.base import Obstacle
from supple.contact.self_contact import SelfContact
from supple.damping import Damping
from supple.damping.base import BoundDamping
from supple.damping.part import PartDamping
from supple.dynamics.terms.attachments import AttachmentTerm
from supple.dynamics.terms.base import Term
from supple.dynamics.terms.damping import DampingTerm
from supple.dynamics.terms.elasticity import Elasticity
from supple.dynamics.terms.external import ExternalForces
from supple.dynamics.terms.inertia import Inertia
from supple.dynamics.terms.obstacles import ObstacleContact
from supple.dynamics.terms.rigid import RigidMotion
from supple.dynamics.terms.self_contact import SelfContactTerm


def terms_of(
    body: ElasticBody,
    damping: Sequence[Damping | tuple[int, Damping]] = (),
    obstacles: Sequence[Obstacle] = (),
    self_contact: SelfContact | None = None,
    attachments: Sequence[Attachment] = (),
) -> list[Term]:
    """The terms of a body with damping, obstacles and contact with itself.

    Of several bodies, each damping is that of one: a number, and the model.
    """
    own, damping = _own_terms(body, damping)
    bound = [_bound(body, model) for model in damping]
    terms: list[Term] = [Elasticity(body), Inertia(body), ExternalForces(body.n_vertices)]
    if rigid := RigidMotion.parts_of(body):
        terms.append(RigidMotion(body, rigid))
    if obstacles:
        terms.append(ObstacleContact(body, obstacles, bound))
    terms += [DampingTerm(model) for model in bound]
    if attachments:
        terms.append(AttachmentTerm(body, attachments))
    if self_contact is not None:
        terms.append(SelfContactTerm(body, self_contact))
    return [*terms, *own]  # they take note of what contacts have made of a stage


def _own_terms(
    body: ElasticBody, damping: Sequence[Damping | tuple[int, Damping]]
) -> tuple[list[Term], Sequence[Damping | tuple[int, Damping]]]:
    """The terms that only some kinds of bodies have, and the damping that is not in them."""
    if not isinstance(body, BodyGroup):
        found = body.own_term(slice(0, body.n_vertices), body.n_vertices, damping)
        return ([], damping) if found is None else ([found], [])
    own, left = [], list(damping)
    for number, (part, rows) in enumerate(zip(body.parts, body.rows, strict=True)):
        its = [each for each in left if isinstance(each, tuple) and each[0] == number]
        found = part.own_term(rows, body.n_vertices, [model for _, model in its])
        if found is not None:
            own.append(found)
            left = [each for each in left if each not in its]
    return own, left


def _bound(body: ElasticBody, damping: Damping | tuple[int, Damping]) -> BoundDamping:
    if isinstance(damping, Damping):
        bound: BoundDamping = body.damped_by(damping)
        return bound
    assert isinstance(body, BodyGroup)
    return PartDamping(body, *damping)
