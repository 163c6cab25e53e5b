"""Scene files: bodies, what holds and moves them, and for how long, as TOML."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from supple.bodies.cloth import Cloth
from supple.bodies.solid import Body
from supple.builtin import Solid
from supple.contact import SelfContact
from supple.core.errors import InputError
from supple.core.types import Floats, Progress
from supple.damping import Damping, ExampleDamping
from supple.damping.example import known_examples
from supple.design import Unloading
from supple.dynamics.simulation import Simulation
from supple.dynamics.statics import static_shape
from supple.integrators import TRBDF2, ExplicitIntegrator, Integrator
from supple.io.report.run_report import floor_under
from supple.io.scene import build
from supple.io.scene.base import AnyScene, common_fields, up_axis
from supple.io.scene.damping import build_damping, example_names
from supple.io.scene.design import DesignOptions, Initial, build_initial, build_targets
from supple.io.scene.fields import CLOTH_SCENE, COMMON, SCENE, WOVEN_SCENE
from supple.io.scene.schema import MISSING, SHEETS, Problems, Refused, Table
from supple.io.scene.world_fields import WORLD_SCENE, body_named
from supple.io.scene.worlds import WorldScene, build_world, check_implicit, own_dampings
from supple.io.scene.yarns import YarnScene, build_yarn_scene
from supple.mesh import Embedding, Mesh, VolumeMesh
from supple.reduction import vibration_modes
from supple.solvers import Newton
from supple.solvers.interface import StageSolver

__all__ = ["Initial", "Scene", "WorldScene", "YarnScene", "load_scene", "schema_of", "up_axis"]

_LARGEST = 1_000_000  # bytes of a scene file
_TWICE = re.compile(r"Cannot declare \('bodies', '(.+?)'\) twice")


@dataclass(frozen=True, eq=False, kw_only=True)
class Scene(AnyScene):
    """A scene of a solid, or of a sheet of cloth.

    ``targets`` are what is asked of the damping, and ``design`` how to find one that does it.
    ``alone`` is the name of what is one of several bodies, here without the others.
    """

    body: Body | Cloth
    loads: tuple[build.Load, ...]
    initial: Initial
    damping: Damping | tuple[Damping, ...] | None
    integrator: Integrator
    solver: StageSolver
    self_contact: SelfContact | None = None
    skin: Embedding | None = None
    colors: Floats | None = None
    targets: tuple[Unloading, ...] = ()
    design: DesignOptions = field(default_factory=DesignOptions)
    alone: str = ""

    @property
    def mesh(self) -> Mesh:
        return self.body.mesh

    @property
    def is_free(self) -> bool:
        return bool(self.body.free.all())

    @property
    def floor(self) -> float | None:
        return floor_under(self.body, up=self.up)

    @property
    def solid(self) -> Body:
        """The body, where it is a solid. Raises InputError where it is cloth."""
        if not isinstance(self.body, Body):
            raise InputError(f"{self.path} is a scene of cloth, and this needs a solid")
        return self.body

    @property
    def dampings(self) -> tuple[Damping, ...]:
        """The damping, as any number of them that add up."""
        if self.damping is None:
            return ()
        return self.damping if isinstance(self.damping, tuple) else (self.damping,)

    @property
    def by_example(self) -> ExampleDamping | None:
        """The one damping that has examples."""
        found = (d for d in self.dampings if isinstance(d, ExampleDamping) and d.examples)
        return next(found, None)

    def force(self, time: float) -> Floats:
        """All loads that act at ``time`` [s], (n, 3) [N]."""
        total = np.zeros_like(self.body.mesh.vertices)
        for load in self.loads:
            if load.start <= time < load.end:
                total += load.force
        return total

    def simulation(self, *, at_start: bool = True, progress: Progress | None = None) -> Simulation:
        made = Simulation(
            self.body,
            damping=self.damping,
            integrator=self.integrator,
            solver=self.solver,
            dt=self.dt,
            gravity=self.gravity,
            force=self.force if self.loads else None,
            obstacles=self.obstacles,
            self_contact=self.self_contact,
        )
        if at_start:
            u, v = self._start(progress)
            made.state.u, made.state.v = u, v
        return made

    def _start(self, progress: Progress | None) -> tuple[Floats, Floats]:
        X, given = self.body.mesh.vertices, self.initial
        u = np.zeros_like(X)
        if given.equilibrium:
            u = static_shape(self.body, self.force(0.0), gravity=self.gravity, progress=progress)
        if given.mode is not None:
            modes = vibration_modes(self.solid, given.mode, at=u if given.equilibrium else None)
            shape = modes.shapes[given.mode - 1]
            u = u + given.amplitude / np.linalg.norm(shape, axis=1).max() * shape
        if given.example is not None:
            damping = self.by_example
            if damping is None:
                raise InputError(f"there is no example {given.example!r} to start from")
            u = u if given.equilibrium or damping.about is None else damping.about
            shape = damping.examples[damping.index(given.example)].at(given.excitation)
            u = np.where(self.body.free, u + shape, u)
        return u, given.velocities(self.body, u)


def load_scene(
    path: str | os.PathLike[str],
    *,
    recorded: Mesh | None = None,
    changes: Mapping[str, Any] | None = None,
    body: str | None = None,
    progress: Progress | None = None,
) -> Scene | WorldScene | YarnScene:
    """Reads a scene file and builds what it describes.

    ``recorded``: the mesh of an earlier run of this scene, taken where the scene fills a surface
    with tets, for no two fillings are the same. ``body`` is the name of one of several bodies: the
    scene then is that of this body alone. ``changes`` are tables to take instead of those of
    the file, such as {"solver": {"method": "admm"}}; an empty one leaves a table out, and
    "obstacles" are added to those of the file. ``progress`` hears of the search for the shapes of
    examples.

    Raises InputError that names the file and, at once, every field that cannot be used, with what
    was got and what is allowed.
    """
    file = Path(path)
    text = _text(file)
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        twice = _TWICE.search(str(error))
        if twice:
            told = f"two bodies are called {twice[1]!r}; give each a name of its own"
            raise InputError(f"{file}: {told}") from error
        raise InputError(f"{file} is not TOML: {error}") from error
    except RecursionError as error:
        raise InputError(f"{file} is not a scene: its arrays are nested too deeply") from error
    table = _changed(table, changes or {})
    problems = Problems(file.parent)
    try:
        plan = schema_of(table).read(table, "", problems)
        problems.stop()
        if "bodies" in plan and body is None:
            return build_world(file, text, plan, problems, recorded, progress)
        if body is not None:
            plan, problems = _alone(plan, body, problems)
        if "woven" in plan:
            return build_yarn_scene(file, text, plan, problems)
        solid = recorded if isinstance(recorded, VolumeMesh) else None
        return _built(file, text, plan, problems, solid, progress)
    except RecursionError as error:
        raise InputError(f"{file} is not a scene: its tables are nested too deeply") from error
    except Refused:
        found = problems.found
        if len(found) == 1:
            raise InputError(f"{file}: {found[0]}") from None
        lines = "".join(f"\n  {problem}" for problem in found)
        raise InputError(f"{file} has {len(found)} problems:{lines}") from None


def _alone(plan: dict[str, Any], body: str, problems: Problems) -> tuple[dict[str, Any], Problems]:
    """The scene of one body of a world alone, a solid or a sheet."""
    bodies = plan.get("bodies", {})
    if not bodies:
        problems.add("", f"there is one body, which has no name; {body!r} is none")
    elif body_named(body, bodies, "bodies", problems) is not MISSING and "mesh" not in bodies[body]:
        problems.add(f"bodies.{body}", "moves in its world alone; name a body that has a mesh")
    problems.stop()
    tables = own_dampings(plan, body)
    beside = {k: v for k, v in plan.items() if k in (*COMMON, "integrator", "solver")}
    made = {**beside, **bodies[body], "damping": tables, "obstacles": [], "alone": body}
    return made, problems.below(f"bodies.{body}")


def schema_of(table: Mapping[str, Any]) -> Table:
    """What a scene file with these tables may hold."""
    if "bodies" in table:
        return WORLD_SCENE
    if "woven" in table:
        return WOVEN_SCENE
    mesh = table.get("mesh")
    return CLOTH_SCENE if isinstance(mesh, dict) and set(SHEETS) & set(mesh) else SCENE


def _changed(table: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    made = {key: value for key, value in table.items() if key not in changes or changes[key]}
    made |= {key: value for key, value in changes.items() if value or value is False}
    bodies = made.get("bodies")
    if "damping" in changes and isinstance(bodies, dict):
        made["bodies"] = {
            name: {k: v for k, v in each.items() if k != "damping"}
            if isinstance(each, dict)
            else each
            for name, each in bodies.items()
        }
    before = table.get("obstacles", [])
    if "obstacles" in changes and isinstance(before, list):
        made["obstacles"] = [*before, *changes["obstacles"]]
    return made


def _built(
    file: Path,
    text: str,
    plan: dict[str, Any],
    problems: Problems,
    recorded: VolumeMesh | None,
    progress: Progress | None,
) -> Scene:
    solid: build.Sheet | Solid | None = None
    with problems.noting("mesh"):
        solid = build.build_mesh(plan, problems, recorded)
    if solid is None:
        raise Refused
    body = build.build_body(plan, solid, problems)
    loads = build.build_loads(plan.get("loads", ()), body, solid, problems)
    tables, damping = plan.get("damping", ()), None
    in_file = any("file" in table for table in tables)
    names: list[str] | None = example_names(
        [each for table in tables for each in table.get("examples", ())]
    )
    if in_file:
        damping = build_damping(plan, body, solid, problems, progress)
        several = damping if isinstance(damping, tuple) else (damping,)
        names = [e.name for each in several for e in known_examples(each)]
        names = names if damping is not None else None
    initial = build_initial(plan.get("initial", {}), body, names, problems)
    targets = build_targets(plan.get("targets", ()), names, problems)
    if not in_file:  # last, for it may take a while
        damping = build_damping(plan, body, solid, problems, progress)
    integrator: Integrator = plan.get("integrator") or TRBDF2()
    obstacles = tuple(plan.get("obstacles", ()))
    if obstacles:
        check_implicit(integrator, "hold a body out of obstacles", problems)
    solver = plan.get("solver") or Newton()
    self_contact = plan.get("self_contact")
    with problems.noting("self_contact"):
        if self_contact is not None and not isinstance(solver, Newton):
            raise InputError("ADMM knows none; take Newton's method, or leave it out")
        if self_contact is not None and isinstance(integrator, ExplicitIntegrator):
            raise InputError("it needs an implicit integrator, such as TRBDF2")
        if self_contact is not None:
            self_contact.bind(body)  # tells where layers pass through each other already
    problems.stop()
    return Scene(
        **common_fields(file, text, plan),
        skin=solid.skin,
        colors=solid.colors,
        body=body,
        loads=loads,
        initial=initial,
        damping=damping,
        integrator=integrator,
        solver=solver,
        self_contact=self_contact,
        targets=targets,
        design=DesignOptions(**plan.get("design", {})),
        alone=plan.get("alone", ""),
        obstacles=obstacles,
    )


def _text(file: Path) -> str:
    if not file.is_file():
        raise InputError(f"there is no scene file {file}")
    if file.stat().st_size > _LARGEST:
        raise InputError(f"{file} is too large for a scene file; is it a mesh?")
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not text, as a scene file must be") from error
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}") from error
