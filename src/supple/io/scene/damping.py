"""From the damping tables of a scene file to damping, alone or by example."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from supple.bodies.cloth import Cloth
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.mass import LumpedMass
from supple.bodies.solid import Body
from supple.builtin import Solid
from supple.core.errors import InputError, StepFailed
from supple.core.types import Floats, Ints, Progress
from supple.damping import Caughey, Damping, Example, ExampleDamping, Rayleigh, load_damping
from supple.damping.example import known_examples
from supple.design import bent_example, shape_between, shape_of_frame, shape_within
from supple.dynamics.recording import read_motion
from supple.dynamics.statics import static_shape
from supple.io.scene.build import Fields, Sheet, put, select
from supple.io.scene.schema import Problems, Refused, guess, listed
from supple.mesh import QuadraticTetMesh, read_mesh
from supple.reduction import vibration_modes

_OPTIONS = ("overall", "symmetric", "definite")
_SWING = 0.1  # of the body's longest side: how far a vibration mode goes at excitation 1


def example_names(examples: Sequence[Fields]) -> list[str]:
    """What the examples of a scene are called: by their names, or "example 1" and so on."""
    return [given.get("name", f"example {i + 1}") for i, given in enumerate(examples)]


def build_damping(
    plan: Fields,
    body: ElasticBody,
    solid: Solid | Sheet,
    problems: Problems,
    progress: Progress | None,
) -> Damping | tuple[Damping, ...] | None:
    """The damping of a scene; what is slow waits until nothing else is wrong with the scene."""
    made: list[Damping] = []
    for given in plan.get("damping", ()):
        path = given["path"]
        if "file" in given:
            with problems.noting(f"{path}.file"):
                made += _from_file(given["file"], plan, body)
            continue
        with problems.noting(path), suppress(Refused):
            _check_base(given["base"], body)
            made.append(given["base"])
            if "examples" in given or "overall" in given:
                if not isinstance(body, Body) or isinstance(solid, Sheet):
                    raise InputError("examples and overall are for solids; leave them out")
                made[-1] = _by_example(given, plan, body, solid, problems, progress)
    several = [each for each in made if known_examples(each)]
    if len(several) > 1:
        problems.add("damping", "only one of several dampings may have examples; list all there")
    if problems.found:
        return None
    return made[0] if len(made) == 1 else tuple(made) or None


def _by_example(
    given: Fields,
    plan: Fields,
    body: Body,
    solid: Solid,
    problems: Problems,
    progress: Progress | None,
) -> ExampleDamping:
    """The damping of one table with its examples, unless something is wrong."""
    path, examples = given["path"], given.get("examples", ())
    chosen = _checked(examples, path, body, solid, problems)
    about = _wanted_about(given, plan, body, problems)
    problems.stop()
    around: Floats | None = None
    gravity = plan["gravity"] if about else (0.0, 0.0, 0.0)
    with problems.noting(f"{path}.about"):
        try:
            around = static_shape(body, gravity=gravity, progress=progress) if about else None
        except StepFailed as failure:
            raise InputError(f"no equilibrium under gravity was found: {failure}") from failure
    problems.stop()
    modes = max((each.get("mode", 0) for each in examples), default=0)
    shape = _Shapes(body, around, gravity, partial(put, plan=plan), modes, progress)
    made: list[Example] = []
    names = example_names(examples)
    for i, (each, name, ids) in enumerate(zip(examples, names, chosen, strict=True)):
        with problems.noting(f"{path}.examples[{i}]"):
            options = {key: each[key] for key in ("curve", "measure") if key in each}
            part = each["region"] if each.get("local") else None
            example = Example(shape(each, ids), name=name, region=part, **options)
            if "reach" in each:
                example = bent_example(
                    body, example, reach=each["reach"], about=around, gravity=gravity
                )
            made.append(example)
    problems.stop()
    with problems.noting(f"{path}.examples" if made else path):
        options = {key: given[key] for key in _OPTIONS if key in given}
        damping = ExampleDamping(given["base"], made, about=around, **options)
        damping.bind(body)  # tells where the base does nothing, or two examples are alike
    problems.stop()
    return damping


def _check_base(base: Damping, body: ElasticBody) -> None:
    """Stops where a damping does not fit the body."""
    if isinstance(base, Rayleigh):
        for regions in (base.mass, base.stiffness):
            for region in regions if isinstance(regions, Mapping) else ():
                body.mesh.region(region)
        return
    full = isinstance(body, Body | Cloth) and not isinstance(body.mass_model, LumpedMass)
    if isinstance(base, Caughey) and base.degree >= 2 and full:
        raise InputError(
            f"Caughey damping with {base.degree + 1} coefficients needs a diagonal mass; put "
            'mass = "lumped" at the top of the scene'
        )
    base.bind(body)  # also tells where some vibration would gain energy


def _from_file(file: Path, plan: Fields, body: ElasticBody) -> list[Damping]:
    """The dampings that were saved in a file; those with examples, for this very mesh."""
    found = load_damping(file)
    dampings = [found] if isinstance(found, Damping) else list(found)
    for damping in dampings:
        for base in damping.bases if isinstance(damping, ExampleDamping) else [damping]:
            _check_base(base, body)
        examples = known_examples(damping)
        if examples:
            if "surface" in plan.get("mesh", {}):
                raise InputError(
                    "it has examples for one mesh, but [mesh] surface is filled anew by each run; "
                    "fill it once with supple convert, and give [mesh] file"
                )
            known = len(examples[0].shape)
            if known != body.n_vertices:
                raise InputError(
                    f"{file} is for a body of {known} vertices, and this one has "
                    f"{body.n_vertices}; take the mesh that it was made for, or design it anew"
                )
        damping.bind(body)
    return dampings


def _checked(
    examples: Sequence[Fields], damping: str, body: Body, solid: Solid, problems: Problems
) -> list[Ints | None]:
    """The vertices that each example's force acts on; notes what can be seen without computing."""
    chosen: list[Ints | None] = []
    names = example_names(examples)
    free, rigid = int(body.free.sum()), body.free_rigid_motions
    for i, given in enumerate(examples):
        path = f"{damping}.examples[{i}]"
        if names[i] in names[:i]:
            problems.add(
                f"{path}.name", f"{names[i]!r} is taken by an example before; choose another"
            )
        if given.get("mode", 0) >= free:
            problems.add(
                f"{path}.mode", f"got {given['mode']}; the body has less than {free} modes"
            )
        if 0 < given.get("mode", 0) <= rigid:
            problems.add(
                f"{path}.mode",
                f"mode {given['mode']} moves the body rigidly; those that deform it count from "
                f"{rigid + 1} on",
            )
        if "region" in given and given["region"] not in body.mesh.regions:
            known = listed(map(repr, body.mesh.regions)) or "none; [mesh.regions] makes some"
            hint = guess(given["region"], body.mesh.regions)
            problems.add(
                f"{path}.region", f"no region {given['region']!r}{hint or f'; there are: {known}'}"
            )
        chosen.append(None)
        with problems.noting(path):
            chosen[-1] = select(given, solid) if "force" in given else None
            if "force" in given:
                body.require_supports("a shape under a force")
    return chosen


def _wanted_about(given: Fields, plan: Fields, body: Body, problems: Problems) -> bool:
    """Whether excitations are counted from the equilibrium under gravity."""
    heavy = any(plan.get("gravity", ()))
    held = body.free_rigid_motions == 0
    about = given.get("about", "equilibrium" if heavy and held else "rest")
    if about == "equilibrium" and not heavy:
        problems.add(
            f"{given['path']}.about", "without gravity the equilibrium is the rest shape: give that"
        )
    if about == "equilibrium" and not held:
        problems.add(f"{given['path']}.about", 'the body is not held firmly: give about = "rest"')
    return bool(about == "equilibrium")


class _Shapes:
    """Makes the shapes of examples, all of them displacements from one shape.

    That is ``about`` (n, 3), where the body rests under ``gravity``, or the rest shape. ``put``
    takes points of files to where the body is. ``modes`` is how many vibration modes examples need
    at most.
    """

    def __init__(
        self,
        body: Body,
        about: Floats | None,
        gravity: Sequence[float],
        put: Callable[[Floats], Floats],
        modes: int,
        progress: Progress | None,
    ) -> None:
        self._body, self._gravity, self._put, self._progress = body, gravity, put, progress
        self._about = np.zeros_like(body.mesh.vertices) if about is None else about
        self._count = modes

    def __call__(self, given: Fields, vertices: Ints | None) -> Floats:
        """The displacements (n, 3) [m] of one example; ``vertices`` are those its force acts on."""
        u = np.where(self._body.free, self._source(given, vertices), 0.0)
        if not u.any():
            raise InputError("this moves only what is held, which leaves nothing to damp")
        if "region" in given:
            u = shape_within(self._body, u, given["region"], blend=given.get("blend", 0.0))
        amplitude = given.get("amplitude")
        if amplitude is None and "mode" in given:
            amplitude = _SWING * float(np.ptp(self._body.mesh.bounds, axis=0).max())
        if amplitude is not None:
            u *= amplitude / np.linalg.norm(u, axis=1).max()
        return u

    def _source(self, given: Fields, vertices: Ints | None) -> Floats:
        if "mode" in given:
            shape: Floats = self._modes[given["mode"] - 1]
            return shape
        if vertices is not None:
            return self._pushed(given["force"], vertices)
        if "shape" in given:
            rest = self._body.mesh.vertices + self._about
            return shape_between(rest, self._positions(given["shape"]))
        if "between" in given:
            first, second = (self._positions(file) for file in given["between"])
            return shape_between(first, second)
        motion = read_motion(given["motion"])
        if not np.array_equal(motion.mesh.vertices, self._body.mesh.vertices):
            raise InputError(
                f"{given['motion']} is a motion of another mesh; record one of this scene"
            )
        return shape_of_frame(motion, time=given["time"], about=self._about)

    @cached_property
    def _modes(self) -> Floats:
        return vibration_modes(self._body, self._count, at=self._about).shapes

    def _pushed(self, force: Sequence[float], vertices: Ints) -> Floats:
        share = np.array(force) / len(vertices)
        load = self._body.point_force(vertices, share)
        try:
            u = static_shape(
                self._body,
                load,
                gravity=self._gravity,
                start=self._about,
                progress=self._progress,
            )
        except StepFailed as failure:
            raise InputError(
                f"the body cannot be brought to rest under this force: {failure} A weaker force "
                "and amplitude, which scales the shape, may do"
            ) from failure
        if np.allclose(u, self._about, rtol=0.0, atol=1e-300):
            raise InputError(
                "this force moves nothing: it is zero, or acts only where the body is held"
            )
        return shape_between(self._about, u)

    def _positions(self, file: Path) -> Floats:
        """Where the vertices of this body's mesh are in a file."""
        mesh = self._body.mesh
        if isinstance(mesh, QuadraticTetMesh):
            raise InputError("shapes of quadratic tets cannot be read from meshes; give a motion")
        found = read_mesh(file)
        if found.vertices.shape != mesh.vertices.shape:
            raise InputError(
                f"{file} has {found.n_vertices} vertices, and this body {mesh.n_vertices}; give "
                "the same mesh, deformed"
            )
        return self._put(found.vertices)
