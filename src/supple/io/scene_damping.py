"""From the damping table of a scene file to damping, alone or by example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from supple.body import Body
from supple.builtin import Solid
from supple.damping import (
    Caughey,
    Curve,
    Damping,
    Example,
    ExampleDamping,
    Measure,
    Rayleigh,
    StiffnessAt,
    load_damping,
)
from supple.errors import InputError, StepFailed
from supple.io.scene_build import Fields, noting, select
from supple.io.scene_examples import Sources
from supple.io.scene_schema import Problems, guess, listed
from supple.mass import LumpedMass
from supple.statics import static_shape
from supple.types import Floats, Ints, Progress

_OF_RAYLEIGH = ("mass", "stiffness", "stiffness_at")


def example_names(examples: Sequence[Fields]) -> list[str]:
    """What the examples of a scene are called: by their names, or "example 1" and so on."""
    return [given.get("name", f"example {i + 1}") for i, given in enumerate(examples)]


def build_damping(
    plan: Fields, body: Body, solid: Solid, problems: Problems, progress: Progress | None
) -> Damping | None:
    """The damping of a scene; what is slow waits until nothing else is wrong with the scene."""
    given = plan.get("damping")
    if given is None:
        return None
    if "file" in given:
        with noting(problems, "damping.file"):
            return _from_file(given, plan, body)
        return None
    base: Damping | None = None
    with noting(problems, "damping"):
        base = _base(given, body)
    if "examples" not in given and "overall" not in given:
        return base
    examples = given.get("examples", ())
    chosen = _checked(examples, body, solid, problems)
    about = _wanted_about(given, plan, body, problems)
    if problems.found or base is None:
        return None
    around: Floats | None = None
    gravity = plan["gravity"] if about else (0.0, 0.0, 0.0)
    with noting(problems, "damping.about"):
        try:
            around = static_shape(body, gravity=gravity, progress=progress) if about else None
        except StepFailed as failure:
            raise InputError(f"no equilibrium under gravity was found: {failure}") from failure
    if problems.found:
        return None
    sources = Sources(body, around, gravity, plan["mesh"].get("scale", 1.0), progress)
    sources.count_modes(examples)
    made: list[Example] = []
    for i, (each, name, ids) in enumerate(
        zip(examples, example_names(examples), chosen, strict=True)
    ):
        with noting(problems, f"damping.examples[{i}]"):
            made.append(
                Example(
                    sources.shape(each, ids),
                    each.get("curve", Curve.constant(1.0)),
                    measure=Measure(each.get("measure", Measure.EXCITATION.value)),
                    name=name,
                )
            )
    if problems.found:
        return None
    with noting(problems, "damping.examples" if made else "damping"):
        damping = ExampleDamping(
            base,
            made,
            overall=given.get("overall"),
            symmetric=given.get("symmetric", False),
            about=around,
        )
        damping.bind(body)  # tells where the base does nothing, or two examples are alike
        return damping
    return None


def _base(given: Fields, body: Body) -> Damping:
    """Rayleigh or Caughey damping, from coefficients, or from ratios at some frequencies."""
    at = StiffnessAt[given.get("stiffness_at", "current").upper()]
    if given.get("model") == "Caughey":
        return _caughey(given, body)
    if "coefficients" in given:
        raise InputError('coefficients are for model = "Caughey"; Rayleigh takes mass, stiffness')
    if "ratios" in given:
        if "mass" in given or "stiffness" in given:
            raise InputError("give frequencies and ratios, or mass and stiffness, not both")
        if len(given["frequencies"]) != 2 or len(given["ratios"]) != 2:
            raise InputError(
                f"Rayleigh damping takes two frequencies and two ratios; got "
                f"{len(given['frequencies'])} and {len(given['ratios'])}. "
                'model = "Caughey" takes any number'
            )
        (low, high), (first, second) = given["frequencies"], given["ratios"]
        return Rayleigh.from_ratios((low, high), (first, second), at=at)
    _check_regions(given, body)
    return Rayleigh(mass=given.get("mass", 0.0), stiffness=given.get("stiffness", 0.0), at=at)


def _caughey(given: Fields, body: Body) -> Caughey:
    strange = [name for name in _OF_RAYLEIGH if name in given]
    if strange:
        raise InputError(
            f"Caughey damping has no {listed(strange)}; give coefficients, or frequencies and "
            "ratios"
        )
    if ("coefficients" in given) == ("ratios" in given):
        raise InputError("give coefficients, or frequencies and ratios, for Caughey damping")
    if "coefficients" in given:
        damping = Caughey(tuple(given["coefficients"]))
    else:
        damping = Caughey.from_ratios(given["frequencies"], given["ratios"])
    if damping.degree >= 2 and not isinstance(body.mass_model, LumpedMass):
        raise InputError(
            f"Caughey damping with {damping.degree + 1} coefficients needs a diagonal mass; put "
            'mass = "lumped" at the top of the scene'
        )
    damping.bind(body)  # tells where some vibration would gain energy
    return damping


def _check_regions(given: Mapping[str, Any], body: Body) -> None:
    for name in ("mass", "stiffness"):
        regions = given.get(name)
        for region in regions if isinstance(regions, Mapping) else ():
            body.mesh.region(region)


def _from_file(given: Fields, plan: Fields, body: Body) -> Damping:
    """A damping that was saved, for this very mesh."""
    others = [name for name in given if name != "file"]
    if others:
        raise InputError(
            f"the file is the whole damping; leave out {listed(others)}, or edit them in the file"
        )
    damping = load_damping(given["file"])
    if not isinstance(damping, Damping):
        raise InputError(
            f"{given['file']} has {len(damping)} dampings; a scene takes one of a file"
        )
    base = damping.base if isinstance(damping, ExampleDamping) else damping
    if isinstance(base, Rayleigh):
        _check_regions({"mass": base.mass, "stiffness": base.stiffness}, body)
    if isinstance(damping, ExampleDamping) and damping.examples:
        if "surface" in plan["mesh"]:
            raise InputError(
                "it has examples for one mesh, but [mesh] surface is filled anew by each run; fill "
                "it once with supple convert, and give [mesh] file"
            )
        known = len(damping.examples[0].shape)
        if known != body.n_vertices:
            raise InputError(
                f"{given['file']} is for a body of {known} vertices, and this one has "
                f"{body.n_vertices}; take the mesh that it was made for, or design it anew"
            )
    damping.bind(body)
    return damping


def _checked(
    examples: Sequence[Fields], body: Body, solid: Solid, problems: Problems
) -> list[Ints | None]:
    """The vertices that each example's force acts on; notes what can be seen without computing."""
    chosen: list[Ints | None] = []
    names = example_names(examples)
    free, rigid = int(body.free.sum()), body.free_rigid_motions
    for i, given in enumerate(examples):
        path = f"damping.examples[{i}]"
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
            "damping.about", "without gravity the equilibrium is the rest shape: give that"
        )
    if about == "equilibrium" and not held:
        problems.add("damping.about", 'the body is not held firmly: give about = "rest"')
    return bool(about == "equilibrium")
