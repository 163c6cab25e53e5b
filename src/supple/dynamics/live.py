"""What a simulation in full space is set up with, and moments to go back to.

All of it may be changed between two steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.elastic_body import ElasticBody
from supple.bodies.group import BodyGroup
from supple.contact.attachments import Attachment
from supple.contact.obstacles.base import Obstacle
from supple.contact.self_contact import SelfContact
from supple.core.checks import instance, number, several
from supple.core.errors import InputError
from supple.core.guarded import Timed
from supple.core.types import Floats
from supple.damping import Damping, ExampleDamping
from supple.dynamics.live_state import LiveState, PartState
from supple.dynamics.problem import BodyProblem
from supple.dynamics.safeguard import Memory, SafeStepper
from supple.dynamics.snapshots import Settings, Snapshot, check_same_mesh
from supple.dynamics.stepping import Stats, Stepper
from supple.dynamics.terms import terms_of
from supple.dynamics.terms.base import Term
from supple.dynamics.terms.obstacles import ObstacleContact
from supple.dynamics.terms.self_contact import SelfContactTerm
from supple.integrators import TRBDF2, Integrator, State
from supple.solvers.interface import StageSolver
from supple.solvers.newton import Newton

DampingOf = (
    Damping
    | Sequence[Damping]
    | None
    | Mapping[ElasticBody, Damping | Sequence[Damping] | None]
    | Mapping[str, Damping | Sequence[Damping] | None]
    | Mapping[ElasticBody | str, Damping | Sequence[Damping] | None]
)
"""Damping of a body, or of each of several; or a table that has for each of them its own."""
ForceField = Callable[[float], ArrayLike]
"""External force [N] on every vertex, (n, 3), as a function of time [s]."""


class LiveSimulation(Timed):
    """A body, its damping, what pushes it and what moves it; all but the steps."""

    _damping: DampingOf
    _obstacles: tuple[Obstacle, ...]
    _self_contact: SelfContact | None

    def __init__(
        self,
        body: ElasticBody | Sequence[ElasticBody] | Mapping[str, ElasticBody],
        *,
        damping: DampingOf = None,
        integrator: Integrator | None = None,
        solver: StageSolver | None = None,
        dt: float = 1 / 60,
        gravity: ArrayLike = (0.0, 0.0, 0.0),
        force: ForceField | None = None,
        obstacles: Obstacle | Sequence[Obstacle] = (),
        self_contact: SelfContact | Literal[False] | None = None,
        attachments: Attachment | Sequence[Attachment] = (),
    ) -> None:
        if isinstance(body, Sequence | Mapping):
            body = BodyGroup(body)
        instance("body", body, ElasticBody, "Body(mesh, StVK(young=1e6, poisson=0.4))")
        self._solver = solver if solver is not None else Newton()
        instance("solver", self._solver, StageSolver, "Newton()")
        self.force = force
        self.integrator = integrator if integrator is not None else TRBDF2()
        self.dt = dt
        self.gravity = gravity
        self._body = body
        self._state = LiveState(body)
        checked = _checked_self_contact(self_contact, self._solver, body)
        self._attachments = _checked_attachments(attachments, self._solver)
        self._dissipated = 0.0
        self._stats = Stats()
        self._set_up(damping, _several_obstacles(obstacles), checked)
        self._pushed: tuple[Any, ...] = (self._gravity, None, force)
        self._elastic = 0.0  # energy, where ``_now`` is
        self._power = 0.0  # of damping, where ``_now`` is
        self._taken: tuple[float, float] | None = None  # length of the last step, what was taken
        self._steps_done, self._run_start = 0, 0.0
        body.held.place(self.state.u, 0.0)
        body.held.set_velocity(self.state.v, 0.0)

    # -- what can be changed between two steps -----------------------------------------

    _fixed = {  # noqa: RUF012
        "state": "set state.u, state.v or state.time, or restore(snapshot)",
        "stats": "it tells what steps have cost",
    }

    @property
    def body(self) -> ElasticBody:
        """The body; assign another of the same mesh, such as one of another material, and go on.

        Of several bodies it is their ``BodyGroup``; assign a list of as many bodies of the same
        meshes, which take over the dampings and the attachments of those in their place.
        """
        return self._body

    @body.setter
    def body(self, body: ElasticBody | Sequence[ElasticBody]) -> None:
        if isinstance(body, Sequence):
            body = _named_like(self._body, body)
        instance("body", body, ElasticBody, "Body(mesh, StVK(young=1e6, poisson=0.4))")
        check_same_mesh("this body is", body, self._body)
        before, self._body = (self._body, self._attachments), body
        others = dict(zip(_parts_of(before[0]), _parts_of(body), strict=True))
        damping = self._damping
        try:
            self._attachments = tuple(each.between(others) for each in self._attachments)
            if isinstance(damping, Mapping):
                damping = {k if isinstance(k, str) else others[k]: v for k, v in damping.items()}
            self._set_up(damping, self._obstacles, self._self_contact)
        except Exception:
            self._body, self._attachments = before
            raise
        self._state._body = body

    @property
    def bodies(self) -> tuple[ElasticBody, ...]:
        """The bodies, in the order that they were given in; one, if there is one."""
        return _parts_of(self._body)

    def state_of(self, body: ElasticBody | str) -> PartState:
        """Where one of several bodies is, itself or its name: ``u`` and ``v``, to be set too."""
        group = self._body if isinstance(self._body, BodyGroup) else BodyGroup([self._body])
        return PartState(self._state, group.rows[group.number_of(body)])

    def _note_gravity(self) -> None:
        if "_problem" in self.__dict__:
            for term in self._problem.terms:
                term.set_gravity(self._gravity)

    @property
    def integrator(self) -> Integrator:
        """The rule that makes the steps; assign another and go on."""
        return self._integrator

    @integrator.setter
    def integrator(self, integrator: Integrator) -> None:
        instance("integrator", integrator, Integrator, "TRBDF2()")
        self._integrator = integrator

    @property
    def force(self) -> ForceField | None:
        """A function of time [s] that gives the external force (n, 3) [N]; assign another."""
        return self._force

    @force.setter
    def force(self, force: ForceField | None) -> None:
        if force is not None and not callable(force):
            raise InputError(
                f"force={force!r}: give a function of time that returns (n, 3) newtons"
            )
        self._force = force

    @property
    def solver(self) -> StageSolver:
        """What solves the stages; assign another and go on."""
        return self._solver

    @solver.setter
    def solver(self, solver: StageSolver) -> None:
        instance("solver", solver, StageSolver, "Newton()")
        _checked_self_contact(self._self_contact, solver, self._body)
        _checked_attachments(self._attachments, solver)
        self._solver = solver
        self._make_stepper()

    @property
    def damping(self) -> DampingOf:
        """The damping; assign another and go on."""
        return self._damping

    @damping.setter
    def damping(self, damping: DampingOf) -> None:
        self._set_up(damping, self._obstacles, self._self_contact)

    @property
    def dissipated(self) -> float:
        """Energy that damping and friction have taken since the start [J]; assign 0 to begin anew.

        It is integrated by the rule that moves the body. What the rule itself loses, as
        BackwardEuler does, is not in it.
        """
        return self._dissipated

    @dissipated.setter
    def dissipated(self, value: float) -> None:
        self._dissipated = number("dissipated", value, unit="J")

    @property
    def state(self) -> LiveState:
        """Where the body is."""
        return self._state

    @property
    def stats(self) -> Stats:
        """What the last step took: iterations, factorizations, contacts; ``total`` of all steps."""
        return self._stats

    def _set_up(
        self,
        damping: DampingOf,
        obstacles: tuple[Obstacle, ...],
        self_contact: SelfContact | None,
    ) -> None:
        """Make the terms; where they are refused, all stays as it is."""
        models = _models_of(damping, self._body)
        terms = terms_of(self.body, models, obstacles, self_contact, self._attachments)
        if "_problem" in self.__dict__:
            self._carry_memory(terms, obstacles, self_contact)
        self._problem = BodyProblem(self.body, terms)
        self._note_gravity()
        self._make_stepper()
        self._damping, self._obstacles, self._self_contact = damping, obstacles, self_contact
        self._now: State | None = None  # the acceleration jumps with the damping
        self._before: State | None = None

    def _make_stepper(self) -> None:
        before = self.__dict__.get("_safe")
        self._stepper = Stepper(self._problem, self._solver)
        self._safe = SafeStepper(self._stepper, self._problem, self._solver)
        if before is not None:
            self._safe.memory = before.memory

    @property
    def _safety(self) -> Memory:
        """What the safeguard of steps keeps from one to the next."""
        return self._safe.memory

    @_safety.setter
    def _safety(self, kept: Memory) -> None:
        self._safe.memory = kept

    def _carry_memory(
        self, terms: Sequence[Term], obstacles: tuple[Obstacle, ...], self_contact: Any
    ) -> None:
        """Let new terms go on from what old ones know: of contacts, where these are the same."""
        same = {
            ObstacleContact: obstacles is self._obstacles,
            SelfContactTerm: self_contact is self._self_contact,
        }
        for old in self._problem.terms:
            for new in terms:
                if type(new) is type(old):
                    new.go_on_from(old)
                    if same.get(type(new)):
                        new.recall(old.memory())

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """What the body cannot enter; assign others and go on."""
        return self._obstacles

    @obstacles.setter
    def obstacles(self, obstacles: Obstacle | Sequence[Obstacle]) -> None:
        self._set_up(self._damping, _several_obstacles(obstacles), self._self_contact)

    @property
    def self_contact(self) -> SelfContact | None:
        """What keeps the body from passing through itself; assign another, or None, and go on."""
        return self._self_contact

    @self_contact.setter
    def self_contact(self, self_contact: SelfContact | None) -> None:
        checked = _checked_self_contact(self_contact, self.solver, self._body)
        self._set_up(self._damping, self._obstacles, checked)

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """Pins, glue and springs between the bodies; assign others, or (), and go on."""
        return self._attachments

    @attachments.setter
    def attachments(self, attachments: Attachment | Sequence[Attachment]) -> None:
        before = self._attachments
        self._attachments = _checked_attachments(attachments, self._solver)
        try:
            self._set_up(self._damping, self._obstacles, self._self_contact)
        except Exception:
            self._attachments = before
            raise

    @property
    def self_contact_forces(self) -> Floats:
        """Force of the body on itself, through contact, at the end of the last step [N], (n, 3)."""
        for term in self._problem.terms:
            if isinstance(term, SelfContactTerm):
                return term.forces(self.state.u, self.state.v)
        return np.zeros_like(self.state.u)

    @property
    def contact_forces(self) -> Floats:
        """Force of the obstacles on every vertex at the end of the last step [N], (n, 3)."""
        for term in self._problem.terms:
            if isinstance(term, ObstacleContact):
                return term.forces()
        return np.zeros_like(self.state.u)

    # -- going back --------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """The moment, to ``restore``: bit for bit, the motion after it is the same again."""
        return Snapshot(
            settings=self._settings(),
            time=self.state.time,
            u=self.state.u.copy(),
            v=self.state.v.copy(),
            now=self._now,
            before=self._before,
            values={name: getattr(self, name) for name in _VALUES},
            terms=self._problem.memory(),
            solver=self._stepper.solver_memory(),
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot, with the body, the damping and all settings that it had."""
        instance("snapshot", snapshot, Snapshot, "simulation.snapshot()")
        snapshot.check(self._body)
        self._adopt(snapshot.settings)
        self._state.move(snapshot.time, snapshot.u, snapshot.v)
        self._now, self._before = snapshot.now, snapshot.before
        for name, value in snapshot.values.items():
            setattr(self, name, value)
        self._problem.recall(snapshot.terms)
        self._stepper.recall_solver(snapshot.solver)

    def _settings(self) -> Settings:
        return Settings(
            self._body, self._damping, self._obstacles, self._self_contact, self._attachments,
            self._solver,
            self._integrator, self._dt, self._gravity, self._force,
        )  # fmt: skip

    def _adopt(self, settings: Settings) -> None:
        """Take on settings; the state is about to be written over."""
        before = self._settings()
        self._body, damping, obstacles, self_contact, self._attachments, *rest = settings
        self._solver, self._integrator, self._dt, self._gravity, self._force = rest
        self._note_gravity()
        self._state._body = self._body
        if any(a is not b for a, b in zip(before[:5], settings[:5], strict=True)):
            self._set_up(damping, obstacles, self_contact)
        elif settings.solver is not before.solver:
            self._make_stepper()

    def __copy__(self) -> Self:
        """Another simulation in the same state, with a state of its own; the body is shared."""
        given = self._settings()._asdict()
        given["self_contact"] = given["self_contact"] or False  # None would be the default
        other = type(self)(given.pop("body"), **given)
        other.restore(self.snapshot())
        return other

    def __deepcopy__(self, memo: Mapping[int, Any]) -> Self:
        return self.__copy__()


_VALUES = (
    "_pushed", "_safety", "_elastic", "_power", "_taken", "_dissipated", "_stats",
    "_steps_done", "_run_start",
)  # fmt: skip
"""What a simulation keeps from step to step beside its states."""


def _parts_of(body: ElasticBody) -> tuple[ElasticBody, ...]:
    return body.parts if isinstance(body, BodyGroup) else (body,)


def _checked_attachments(
    given: Attachment | Sequence[Attachment], solver: StageSolver
) -> tuple[Attachment, ...]:
    found = several("attachments", given, Attachment, "Pin(body, 0)")
    if found and not isinstance(solver, Newton):
        raise InputError(f"attachments need solver=Newton(); {type(solver).__name__} has none")
    return found


def _named_like(before: ElasticBody, given: Sequence[ElasticBody]) -> BodyGroup:
    """Bodies as one, with the names of those in their place."""
    if isinstance(before, BodyGroup) and len(before.parts) == len(given):
        return BodyGroup(dict(zip(before.mesh.names, given, strict=True)))
    return BodyGroup(given)


def _several_obstacles(given: Obstacle | Sequence[Obstacle]) -> tuple[Obstacle, ...]:
    return several("obstacles", given, Obstacle, "Plane(normal=(0, 0, 1))")


def _models_of(
    damping: DampingOf, body: ElasticBody
) -> Sequence[Damping] | Sequence[tuple[int, Damping]]:
    """The models of a body, or of several bodies, each with the number of its own."""
    if not isinstance(body, BodyGroup):
        if isinstance(damping, Mapping):
            raise InputError("damping is a table of bodies, but there is one; give its damping")
        return _checked_models(damping, body)
    given: list[Any] = [None if isinstance(damping, Mapping) else damping] * len(body.parts)
    if isinstance(damping, Mapping):
        for each, own in damping.items():
            given[body.number_of(each)] = own  # or it is refused
    return [
        (k, model)
        for k, (part, own) in enumerate(zip(body.parts, given, strict=True))
        for model in _checked_models(own, part)
    ]


def _checked_models(
    damping: Damping | Sequence[Damping] | None, body: ElasticBody
) -> Sequence[Damping]:
    models = several("damping", damping or (), Damping, "Rayleigh(mass=0.1)")
    for model in models:
        if isinstance(model, ExampleDamping) and model.designed is not None:
            model.designed.check(body)
    return models


def _checked_self_contact(
    given: SelfContact | Literal[False] | None, solver: StageSolver, body: ElasticBody
) -> SelfContact | None:
    """Contact of the body with itself; several bodies keep apart unless that is False."""
    if isinstance(body, BodyGroup) and not isinstance(solver, Newton):
        raise InputError(
            f"several bodies need solver=Newton(); {type(solver).__name__} moves one at a time. "
            "Leave solver out, or give Newton(iterations=2) for a fixed cost"
        )
    if not isinstance(solver, Newton) and body.only_newton:
        raise InputError(f"{body.only_newton} solver=Newton(); {type(solver).__name__} has none")
    if given is False:
        return None
    if given is None and isinstance(body, BodyGroup) and len(body.parts) > 1:
        given = SelfContact()
    if given is not None:
        instance("self_contact", given, SelfContact, "SelfContact(friction=0.3)")
        if not isinstance(solver, Newton):
            raise InputError(
                f"self_contact needs solver=Newton(), which never lets a trial shape pass through "
                f"itself; {type(solver).__name__} cannot promise that"
            )
    return given
