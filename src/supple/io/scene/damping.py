"""From the damping tables of a scene file to damping, alone or by example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from supple.bodies.cloth import Cloth
from supple.bodies.mass import LumpedMass
from supple.bodies.solid import Body
from supple.builtin import Solid
from supple.core.errors import InputError, StepFailed
from supple.core.types import Floats, Ints, Progress
from supple.damping import (
    Caughey,
    Curve,
    Damping,
    Example,
    ExampleDamping,
    Measure,
    Rayleigh,
    load_damping,
)
from supple.damping.example import known_examples
from supple.dynamics.statics import static_shape
from supple.io.scene.build import Fields, Sheet, noting, select
from supple.io.scene.examples import Sources
from supple.io.scene.schema import Problems, guess, listed


def example_names(examples: Sequence[Fields]) -> list[str]:
    """What the examples of a scene are called: by their names, or "example 1" and so on."""
    return [given.get("name", f"example {i + 1}") for i, given in enumerate(examples)]


def build_damping(
    plan: Fields,
    body: Body | Cloth,
    solid: Solid | Sheet,
    problems: Problems,
    progress: Progress | None,
) -> Damping | tuple[Damping, ...] | None:
    """The damping of a scene; what is slow waits until nothing else is wrong with the scene."""
    made: list[Damping] = []
    for given in plan.get("damping", ()):
        path = given["path"]
        if "file" in given:
            with noting(problems, f"{path}.file"):
                made += _from_file(given["file"], plan, body)
            continue
        with noting(problems, path):
            _check_base(given["base"], body)
            made.append(given["base"])
            if "examples" in given or "overall" in given:
                if isinstance(body, Cloth) or isinstance(solid, Sheet):
                    raise InputError("examples and overall are for solids; leave them out")
                made[-1:] = _by_example(given, plan, body, solid, problems, progress)
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
) -> list[Damping]:
    """The damping of one table with its examples; none after noting what is wrong."""
    path, examples = given["path"], given.get("examples", ())
    chosen = _checked(examples, path, body, solid, problems)
    about = _wanted_about(given, plan, body, problems)
    if problems.found:
        return []
    around: Floats | None = None
    gravity = plan["gravity"] if about else (0.0, 0.0, 0.0)
    with noting(problems, f"{path}.about"):
        try:
            around = static_shape(body, gravity=gravity, progress=progress) if about else None
        except StepFailed as failure:
            raise InputError(f"no equilibrium under gravity was found: {failure}") from failure
    if problems.found:
        return []
    sources = Sources(body, around, gravity, plan["mesh"].get("scale", 1.0), progress)
    sources.count_modes(examples)
    made: list[Example] = []
    for i, (each, name, ids) in enumerate(
        zip(examples, example_names(examples), chosen, strict=True)
    ):
        with noting(problems, f"{path}.examples[{i}]"):
            made.append(
                Example(
                    sources.shape(each, ids),
                    each.get("curve", Curve.constant(1.0)),
                    measure=Measure(each.get("measure", Measure.EXCITATION.value)),
                    name=name,
                )
            )
    if problems.found:
        return []
    with noting(problems, f"{path}.examples" if made else path):
        damping = ExampleDamping(
            given["base"],
            made,
            overall=given.get("overall"),
            symmetric=given.get("symmetric", False),
            about=around,
        )
        damping.bind(body)  # tells where the base does nothing, or two examples are alike
        return [damping]
    return []


def _check_base(base: Damping, body: Body | Cloth) -> None:
    """Stops where a damping does not fit the body."""
    if isinstance(base, Rayleigh):
        for regions in (base.mass, base.stiffness):
            for region in regions if isinstance(regions, Mapping) else ():
                body.mesh.region(region)
        return
    lumped = isinstance(body.mass_model, LumpedMass)
    if isinstance(base, Caughey) and base.degree >= 2 and not lumped:
        raise InputError(
            f"Caughey damping with {base.degree + 1} coefficients needs a diagonal mass; put "
            'mass = "lumped" at the top of the scene'
        )
    base.bind(body)  # also tells where some vibration would gain energy


def _from_file(file: Path, plan: Fields, body: Body | Cloth) -> list[Damping]:
    """The dampings that were saved in a file; those with examples, for this very mesh."""
    found = load_damping(file)
    dampings = [found] if isinstance(found, Damping) else list(found)
    for damping in dampings:
        _check_base(damping.base if isinstance(damping, ExampleDamping) else damping, body)
        examples = known_examples(damping)
        if examples:
            if "surface" in plan["mesh"]:
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
        with noting(problems, path):
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
