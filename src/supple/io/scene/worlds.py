"""Scenes of several bodies that meet, and are held to each other."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np

from supple.bodies.elastic_body import ElasticBody
from supple.bodies.group import BodyGroup
from supple.bodies.rigid import RigidBody
from supple.bodies.springs import SpringNetwork
from supple.bodies.supports import Support
from supple.contact import Obstacle, Rails, SelfContact
from supple.contact.attachments import Attachment
from supple.contact.obstacles.rails import Path as PointPath
from supple.core.errors import InputError
from supple.core.types import Floats, Ints, Progress
from supple.damping import Damping
from supple.dynamics.simulation import Simulation
from supple.dynamics.terms.rigid import RigidMotion
from supple.integrators import TRBDF2, ExplicitIntegrator, Integrator
from supple.io.report.run_report import floor_under
from supple.io.scene.base import AnyScene, common_fields
from supple.io.scene.build import (
    Fields,
    Load,
    Sheet,
    build_body,
    build_loads,
    build_mesh,
    build_supports,
    placed,
)
from supple.io.scene.damping import build_damping
from supple.io.scene.design import Initial
from supple.io.scene.schema import MISSING, Problems, Refused, construct
from supple.io.scene.world_fields import body_named
from supple.io.scene.yarns import woven_and_held
from supple.mesh import Embedding, Mesh, MeshGroup, SpringMesh, Surface, VolumeMesh, read_surface
from supple.solvers import Newton
from supple.solvers.interface import StageSolver
from supple.yarns import WovenBody
from supple.yarns.motion_term import WovenMotion

Dampings = Damping | tuple[Damping, ...] | None


@dataclass(frozen=True, eq=False, kw_only=True)
class WorldScene(AnyScene):
    """A scene of several bodies, by their names, in the order of the file.

    ``loads``, ``initial`` and ``dampings`` are those of each; ``self_contact`` is False where
    bodies go through each other. ``with_targets`` names those for which a damping can be designed.
    """

    bodies: Mapping[str, ElasticBody]
    loads: Mapping[str, tuple[Load, ...]]
    initial: Mapping[str, Initial]
    dampings: Mapping[str, Dampings]
    attachments: tuple[Attachment, ...]
    integrator: Integrator
    solver: StageSolver
    self_contact: SelfContact | Literal[False]
    with_targets: tuple[str, ...] = ()

    @cached_property
    def group(self) -> BodyGroup:
        """All bodies as one."""
        return BodyGroup(self.bodies)

    @property
    def mesh(self) -> Mesh:
        return self.group.mesh

    @property
    def is_free(self) -> bool:
        return bool(self.group.free.all()) and not self.attachments

    @property
    def floor(self) -> float | None:
        return floor_under(self.group, up=self.up)

    def force(self, time: float) -> Floats:
        """All loads that act at ``time`` [s], (n, 3) [N]."""
        total = np.zeros_like(self.mesh.vertices)
        for rows, loads in zip(self.group.rows, self.loads.values(), strict=True):
            for load in loads:
                if load.start <= time < load.end:
                    total[rows] += load.force
        return total

    def simulation(self, *, at_start: bool = True, progress: Progress | None = None) -> Simulation:
        made = Simulation(
            self.bodies,
            damping=self.dampings,
            integrator=self.integrator,
            solver=self.solver,
            dt=self.dt,
            gravity=self.gravity,
            force=self.force if any(self.loads.values()) else None,
            obstacles=self.obstacles,
            self_contact=self.self_contact,
            attachments=self.attachments,
        )
        for name, body in self.bodies.items() if at_start else ():
            still = np.zeros_like(body.mesh.vertices)
            made.state_of(name).v = self.initial[name].velocities(body, still)
        return made


@dataclass(frozen=True, eq=False)
class _Part:
    """One body of a world, and what goes with it."""

    body: ElasticBody
    damping: Dampings
    loads: tuple[Load, ...]
    skin: Embedding | None = None
    colors: Floats | None = None


def build_world(
    file: Path,
    text: str,
    plan: dict[str, Any],
    problems: Problems,
    recorded: Mesh | None,
    progress: Progress | None,
) -> WorldScene:
    """The scene of checked tables, unless something is wrong."""
    parts: dict[str, _Part] = {}
    for name, given in plan["bodies"].items():
        own = {"gravity": plan.get("gravity", (0.0, 0.0, 0.0)), **given}
        if "woven" not in given:
            own["damping"] = own_dampings(plan, name)
        elif "damping" in plan and "damping" not in given:
            problems.add(
                f"bodies.{name}.damping",
                "is missing; [damping] is not for yarns, give them their own, such as "
                '{ model = "YarnDamping", stretch = 0.01 }',
            )
        before = _part_of(recorded, name)
        with suppress(Refused):
            parts[name] = _built(own, problems.below(f"bodies.{name}"), before, progress)
    problems.stop()
    bodies = {name: part.body for name, part in parts.items()}
    attachments = _attachments(plan.get("attachments", ()), bodies, problems)
    integrator: Integrator = plan.get("integrator") or TRBDF2()
    solver: StageSolver = plan.get("solver") or Newton()
    obstacles: tuple[Obstacle, ...] = tuple(plan.get("obstacles", ()))
    group = BodyGroup(bodies)
    wanted = plan.get("self_contact", SelfContact() if len(bodies) > 1 else None)
    self_contact: SelfContact | Literal[False] = wanted if wanted is not None else False
    if RigidMotion.parts_of(group):
        check_implicit(integrator, "keep a body rigid", problems)
    elif any(isinstance(body, WovenBody) for body in bodies.values()):
        check_implicit(integrator, WovenMotion.why_implicit, problems)
    elif obstacles or self_contact:
        check_implicit(integrator, "keep bodies out of obstacles or of each other", problems)
    problems.stop()
    with problems.noting("solver"):
        Simulation(bodies, solver=solver, attachments=attachments, self_contact=False)
    if self_contact:
        with problems.noting("self_contact"):
            _check_apart(bodies, self_contact)
    problems.stop()
    return WorldScene(
        **common_fields(file, text, plan),
        bodies=bodies,
        loads={name: part.loads for name, part in parts.items()},
        initial={name: Initial(**g.get("initial", {})) for name, g in plan["bodies"].items()},
        dampings={name: part.damping for name, part in parts.items()},
        attachments=attachments,
        integrator=integrator,
        solver=solver,
        self_contact=self_contact,
        with_targets=tuple(name for name, g in plan["bodies"].items() if "targets" in g),
        obstacles=obstacles,
        skin={name: part.skin for name, part in parts.items() if part.skin is not None} or None,
        colors={n: part.colors for n, part in parts.items() if part.colors is not None} or None,
    )


def own_dampings(plan: Fields, name: str) -> list[dict[str, Any]]:
    """The tables that damp one body: its own or, where it has none, those of all bodies."""
    own: list[dict[str, Any]] | None = plan["bodies"][name].get("damping")
    tables = plan.get("damping", ()) if own is None else own
    above = f"bodies.{name}."
    return [{**table, "path": table["path"].removeprefix(above)} for table in tables]


def check_implicit(integrator: Integrator, what: str, problems: Problems) -> None:
    """Notes where an explicit integrator cannot do what is asked."""
    if isinstance(integrator, ExplicitIntegrator):
        name = type(integrator).__name__
        problems.add(
            "integrator",
            f'{name} is explicit and cannot {what}; give an implicit one such as "TRBDF2"',
        )


# -- bodies --------------------------------------------------------------------------------


def _part_of(recorded: Mesh | None, name: str) -> VolumeMesh | None:
    """The recorded mesh of one body, a solid."""
    if not (isinstance(recorded, MeshGroup) and name in recorded.names):
        return None
    found = recorded.parts[recorded.names.index(name)]
    return found if isinstance(found, VolumeMesh) else None


def _built(
    plan: dict[str, Any], problems: Problems, recorded: VolumeMesh | None, progress: Progress | None
) -> _Part:
    """One body, unless something is wrong with it."""
    before = len(problems.found)
    if "woven" in plan:
        cloth, fixed, moving = woven_and_held(plan, problems)
        problems.stop(before)
        return _Part(WovenBody(cloth, fixed=fixed, supports=moving), plan.get("damping"), ())
    if "mesh" in plan:
        solid = None
        with problems.noting("mesh"):
            solid = build_mesh(plan, problems, recorded)
        problems.stop(before)
        assert solid is not None
        soft = build_body(plan, solid, problems)
        loads = build_loads(plan.get("loads", ()), soft, solid, problems)
        body: ElasticBody = soft
        skin, colors = solid.skin, solid.colors
    else:
        made = None
        with problems.noting("rigid" if "rigid" in plan else "springs"):
            made = _rigid(plan) if "rigid" in plan else _springs(plan, problems)
        problems.stop(before)
        assert made is not None
        body, loads, skin, colors = made, (), None, None
        solid = Sheet(body.mesh)
    damping = build_damping(plan, body, solid, problems, progress)
    problems.stop(before)
    return _Part(body, damping, loads, skin, colors)


def _rigid(plan: Fields) -> RigidBody:
    """A rigid body; one that moves on rails has its four vertices led."""
    given = plan["rigid"]
    if given["shape"] is None:
        surface = read_surface(given["options"]["file"])
    else:
        surface = given["shape"](**given["options"]).surface()
    surface = surface.scaled(plan.get("scale", 1.0))
    surface = Surface(placed(surface.vertices, plan), surface.triangles)
    body = RigidBody(surface, **given["rigid"])
    if given["moves"] is None:
        return body
    return RigidBody(surface, **given["rigid"], supports=[_led(given["moves"], body.mesh.vertices)])


def _led(rails: Rails, X: Floats) -> Support:
    def motion(time: float) -> Floats:
        return rails.pose(time).to_world(X) - X

    def velocity(time: float) -> Floats:
        pose = rails.pose(time)
        return pose.velocity_at(pose.to_world(X))

    return Support(np.arange(len(X)), motion, velocity)


def _springs(plan: Fields, problems: Problems) -> SpringNetwork:
    given = dict(plan["springs"])
    places: dict[str, Ints] = {}
    if "chain" in given:
        mesh = SpringMesh.chain(**given.pop("chain"))
        places = {"start": np.array([0]), "end": np.array([mesh.n_vertices - 1])}
    else:
        mesh = SpringMesh.from_surface(read_surface(given.pop("surface")))
    mesh = mesh.scaled(plan.get("scale", 1.0))
    mesh = SpringMesh(placed(mesh.vertices, plan), mesh.cells, rest_lengths=mesh.rest_lengths)
    fixed, moving = build_supports(plan, Sheet(mesh, places), problems)
    return SpringNetwork(mesh, **given, fixed=fixed, supports=moving)


# -- what they have with each other --------------------------------------------------------


def _attachments(
    given: Any, bodies: Mapping[str, ElasticBody], problems: Problems
) -> tuple[Attachment, ...]:
    made = []
    for each in given:
        path, options = each["path"], {k: v for k, v in each.items() if k not in _BESIDE}
        for key in each["bodies"]:
            options[key] = body_named(each[key], bodies, f"{path}.{key}", problems)
        if MISSING in options.values():
            continue
        if "moves" in each:
            start = _place(options.get("point", options["at"]), options["body"])
            options["point"] = _on_rails(each["moves"], start)
        found = construct(each["make"], options, path, problems)
        if found is not MISSING:
            made.append(found)
    return tuple(made)


_BESIDE = ("make", "bodies", "path", "kind", "moves")


def _place(at: Any, body: ElasticBody) -> Floats:
    """Where a vertex of a body or a place is at rest, (3,)."""
    if isinstance(at, int):
        rest = body.points.rest
        return np.asarray(rest[min(at, len(rest) - 1)])  # one that is not there is refused later
    return np.asarray(at, dtype=float)


def _on_rails(rails: Rails, start: Floats) -> PointPath:
    return lambda time: rails.pose(time).to_world(start[None])[0]


def _check_apart(bodies: Mapping[str, ElasticBody], options: SelfContact) -> None:
    """Stops where bodies cross or touch as they start, and says which."""
    try:
        options.bind(BodyGroup(bodies))
    except InputError as error:
        for some in (*((name,) for name in bodies), *combinations(bodies, 2)):
            try:
                options.bind(BodyGroup({name: bodies[name] for name in some}))
            except InputError as one:
                who = " and ".join(map(repr, some))
                raise InputError(f"{who}: {one}") from error
        raise
