"""Objects of a scene file that a registry knows by name, with their parameters beside the name."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from supple import solvers
from supple.bodies.cloth.material import DIRECTION
from supple.character import Dressing
from supple.contact import OBSTACLES, AnimatedMesh, HeightField, MeshObstacle, SelfContact
from supple.contact.attachments import BODY, PLACE_OR_PATH, WHERE
from supple.contact.obstacles.height_field import HEIGHTS, SPACING
from supple.contact.obstacles.rails import ROTATION
from supple.core import parameters as of
from supple.core.errors import InputError
from supple.core.parameters import Parameter, describe, renamed_keys
from supple.core.registry import Registry
from supple.damping import DAMPINGS, Curve, Joining, MomentumConserving
from supple.damping.coefficients import COEFFICIENT
from supple.damping.curve import CURVE
from supple.damping.strain_rate import DIRECTIONS
from supple.io.scene.materials import Axes
from supple.io.scene.obstacles import (
    animated_mesh,
    character,
    height_field,
    mesh_obstacle,
    moving,
)
from supple.io.scene.schema import (
    MISSING,
    POSITIVE,
    VECTOR,
    Choice,
    Either,
    File,
    Flag,
    Kind,
    Made,
    Named,
    Number,
    Problems,
    Row,
    Table,
    Text,
    Whole,
    alike,
    construct,
    listed,
    together,
)
from supple.materials.moduli import ALONG_AXES, AXES
from supple.materials.spline import KNOTS
from supple.solvers.linear import LINEAR_SOLVERS

_JOININGS = tuple(joining.value for joining in Joining)


def _joined(by: str) -> Kind:
    return Made(Row(Row(Number(), 2)), lambda points: Curve.of({by: points}))


GAMMA = Made(
    Either(
        (Number(0.0), Table({by: _joined(by) for by in _JOININGS}, one_of=_JOININGS)),
        f"{Number(0.0).allowed}, or a table with one of {listed(_JOININGS)}",
    ),
    lambda read: next(iter(read.values())) if isinstance(read, dict) else Curve.constant(read),
)
"""A curve γ: a number, or a table such as ``{ monotone = [[0, 1], [0.5, 3]] }``."""


# -- from what parameters say of themselves ----------------------------------------------


def _number(each: Parameter) -> Number:
    low = each.above if each.at_least is None else each.at_least
    high = each.below if each.at_most is None else each.at_most
    return Number(
        -math.inf if low is None else low,
        math.inf if high is None else high,
        above=each.above is not None,
        below=each.below is not None,
        unit=each.unit,
        too_low=each.too_low,
        too_high=each.too_high,
    )


def _along_axes(each: Parameter) -> Kind:
    words = f"{_number(each).allowed}, or three of them along the axes"
    return Either((_number(each), Row(Number(unit=each.unit), 3)), words)


def _coefficient(each: Parameter) -> Kind:
    words = "a number of zero or more, or a table of one a region"
    return Either((Number(0.0), Named(Number(0.0))), words)


def _one_of(each: Parameter) -> Kind:
    assert isinstance(each.kind, of.Choice)
    options = each.kind.options
    return Made(Choice(each.kind.names), lambda name: options[name.upper()])


def _model(each: Parameter) -> Kind | None:
    kind = each.kind
    assert isinstance(kind, of.Model)
    if kind.registry is DAMPINGS:
        return None if kind.several else Made(DampingModel(), lambda read: read["base"])
    return Model(kind.registry, kind.registry.name_of(type(each.default)))


_AT = Either((Whole(0), VECTOR), "the number of a vertex, or a place [x, y, z]")

_KINDS: dict[of.Kind | type[of.Kind], Any] = {
    of.NUMBER: _number,
    of.WHOLE: lambda each: Whole(int(1 if each.at_least is None else each.at_least)),
    of.FLAG: lambda each: Flag(),
    of.TEXT: lambda each: Text(),
    of.Choice: _one_of,
    of.Vector: lambda each: Row(_number(each), 3),
    of.Numbers: lambda each: Row(Number()),
    of.CELL_NUMBERS: _number,
    of.Model: _model,
    COEFFICIENT: _coefficient,
    DIRECTIONS: lambda each: VECTOR,
    CURVE: lambda each: GAMMA,
    ALONG_AXES: _along_axes,
    AXES: lambda each: Axes(),
    KNOTS: lambda each: Row(Row(Number(), 2), least=2),
    ROTATION: lambda each: VECTOR,
    BODY: lambda each: Text(),
    WHERE: lambda each: _AT,
    PLACE_OR_PATH: lambda each: _AT,
    DIRECTION: lambda each: Either(
        (Row(Number(), 2), VECTOR), "two numbers in the pattern, or three in space"
    ),
    HEIGHTS: lambda each: Row(Row(Number(unit="m"), least=2), least=2),
    SPACING: lambda each: Either(
        (POSITIVE, Row(POSITIVE, 2)), "a length above 0 [m], or two for x and y"
    ),
}
"""What a scene has for a kind of parameter; arrays, as one number a cell, it has not."""


def fields_of(cls: type) -> dict[str, Kind]:
    """What a scene may say of the parameters of a class."""
    found = {}
    for each in describe(cls):
        make = each.kind.among(_KINDS)
        kind = None if make is None else make(each)
        if kind is not None:
            found[each.name] = kind
    return found


def required_of(cls: type) -> tuple[str, ...]:
    """The parameters that must be given."""
    return tuple(each.name for each in describe(cls) if each.is_required)


# -- objects -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Model(Kind):
    """An object by its registered name, with its parameters beside it, or the name alone.

    Without a name ``default`` is meant. ``key`` is the field of the name, where it is not that of
    the registry.
    """

    registry: Registry[Any]
    default: str | None = None
    key: str = ""

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        key = self.key or self.registry.key
        table = {key: value} if isinstance(value, str) else value
        if not isinstance(table, dict):
            return problems.got(path, value, f"a table, or {self.registry.allowed()}")
        place = path if isinstance(value, str) else f"{path}.{key}"
        cls = find(self.registry, table.get(key, self.default), place, problems)
        if cls is MISSING:
            return MISSING
        rest = renamed_keys(cls, {k: v for k, v in table.items() if k != key}, path)
        fields = {key: Text(), **fields_of(cls)}
        read = Table(fields, required_of(cls)).read(rest, path, problems)
        return MISSING if read is MISSING else construct(cls, read, path, problems)


def find(registry: Registry[Any], name: Any, place: str, problems: Problems) -> Any:
    """What a registry has under a name; MISSING after noting which names there are."""
    if not registry.knows(name):
        return problems.got(place, name, registry.allowed(name))
    try:
        return registry.find(name)
    except InputError as error:  # another package's, and broken
        return problems.add(place, str(error))


def among(what: str, *classes: type[Any], key: str = "model") -> Registry[type[Any]]:
    """A registry of a few classes that has no other home."""
    made: Registry[type[Any]] = Registry(what, f"supple.{what.replace(' ', '_')}s", key=key)
    for cls in classes:
        made.register(cls)
    return made


LINEAR = Model(LINEAR_SOLVERS, "AutomaticSolver")
SOLVERS = among("solver", solvers.Newton, solvers.ADMM, key="method")


@dataclass(frozen=True)
class SolverModel(Kind):
    """A solver of a stage, by its ``method``, which may be called ``name`` too."""

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if isinstance(value, dict) and "method" in value and "name" in value:
            return problems.add(f"{path}.name", "means the same as method; give one of them")
        key = "name" if isinstance(value, dict) and "name" in value else "method"
        return Model(SOLVERS, "Newton", key).read(value, path, problems)


# -- damping -----------------------------------------------------------------------------

_RATIOS: dict[str, Kind] = {"frequencies": Row(POSITIVE), "ratios": Row(Number(0.0))}


@dataclass(frozen=True)
class DampingModel(Kind):
    """One damping, under ``base`` of what is read; ``more`` are fields that any model may have.

    ``needs`` is that of those. A table with ``file`` has nothing else.
    """

    more: tuple[tuple[str, Kind], ...] = ()
    needs: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, dict):
            example = 'a table such as { model = "strain_rate", shear = 5 }'
            return problems.got(path, value, example)
        if "file" in value and "file" in dict(self.more):
            return self._file(value, path, problems)
        model = find(DAMPINGS, value.get("model", "rayleigh"), f"{path}.model", problems)
        if model is MISSING:
            return MISSING
        name = DAMPINGS.name_of(model)
        no_room = [needed for needed in required_of(model) if needed not in fields_of(model)]
        if no_room:
            return problems.add(
                f"{path}.model",
                f"a scene has no room for {listed(no_room)} of {name}; keep it with save_damping, "
                'and give file = "…"',
            )
        before = len(problems.found)
        fields = fields_of(model) | (_RATIOS if hasattr(model, "from_ratios") else {})
        rest = {k: v for k, v in value.items() if k != "model"}
        conserving = {"conserving": fields_of(MomentumConserving)["by"]}
        every = {**fields, **conserving, **dict(self.more)}
        own = {
            k: v
            for k, v in renamed_keys(model, rest, path).items()
            if k in every or not _stray(k, str(name), path, problems)
        }
        required = () if hasattr(model, "from_ratios") else required_of(model)
        beside = together("frequencies", "ratios") if "ratios" in fields else {}
        needs = {**beside, **dict(self.needs)}
        read = Table({"model": Text(), **every}, required, needs=needs).read(own, path, problems)
        if read is MISSING or len(problems.found) > before:
            return MISSING
        base = _made(model, {k: v for k, v in read.items() if k in fields}, path, problems)
        if base is not MISSING and "conserving" in read:
            kept = {"damping": base, "by": read["conserving"]}
            base = construct(MomentumConserving, kept, path, problems)
        if base is MISSING:
            return MISSING
        return {"base": base, **{k: read[k] for k, _ in self.more if k in read}}

    def _file(self, value: dict[str, Any], path: str, problems: Problems) -> Any:
        others = [name for name in value if name != "file"]
        if others:
            return problems.add(
                f"{path}.file",
                f"the file is the whole damping; leave out {listed(others)}, or edit them in the "
                "file",
            )
        return Table({"file": File()}).read(value, path, problems)


def _stray(field: str, model: str, path: str, problems: Problems) -> bool:
    """Whether a field is one of other models; notes of which."""
    of_others = [f'"{name}"' for name, cls in DAMPINGS.by_name.items() if field in fields_of(cls)]
    if of_others:
        problems.add(
            f"{path}.{field}", f'goes with model = {" or ".join(of_others)}, and this is "{model}"'
        )
    return bool(of_others)


def _made(model: Any, options: dict[str, Any], path: str, problems: Problems) -> Any:
    """A damping from its parameters, or from frequencies and the ratio of each."""
    if "ratios" not in options:
        missing = [name for name in required_of(model) if name not in options]
        if missing:
            return problems.add(path, f"give {listed(missing)}, or frequencies and ratios")
        return construct(model, options, path, problems)
    taken = inspect.signature(model.from_ratios).parameters
    others = [name for name in options if name not in taken]
    if others:
        why = f"give frequencies and ratios, or {' and '.join(others)}, not both"
        return problems.add(path, why)
    return construct(model.from_ratios, options, path, problems)


# -- obstacles ---------------------------------------------------------------------------

MOVES = Made(
    Table(
        {
            **alike(VECTOR, "velocity turning centre"),
            "oscillation": Table(
                {"amplitude": VECTOR, "frequency": POSITIVE}, required=("amplitude", "frequency")
            ),
            "times": Row(Number(unit="s"), least=2),
            **alike(Row(VECTOR, least=2), "positions rotations"),
        },
        needs={
            "centre": ("turning", "rotations"),
            **together("times", "positions"),
            "rotations": ("times",),
        },
    ),
    moving,
)


@dataclass(frozen=True)
class _Shape:
    """The fields of a shape, and what makes an obstacle of them."""

    fields: Mapping[str, Kind]
    required: tuple[str, ...]
    make: Callable[..., Any]
    one_of: tuple[str, ...] = ()


def _from_file(cls: type, make: Callable[..., Any], **fields: Kind) -> _Shape:
    """A shape whose arrays are in a file, and what a scene says of it beside them."""
    others = {k: kind for k, kind in fields_of(cls).items() if k not in required_of(cls)}
    return _Shape({"file": File(), "scale": POSITIVE, **others, **fields}, ("file",), make)


def shapes() -> dict[str, _Shape]:
    """Every shape that a scene may name: those that are registered, and those made of files."""
    found = {
        name: _Shape(fields_of(cls), required_of(cls), cls)
        for name, cls in OBSTACLES.by_name.items()
    }
    heights = {**fields_of(HeightField), "file": File()}
    return found | {
        "height_field": _Shape(heights, (), height_field, ("file", "heights")),
        "mesh": _from_file(MeshObstacle, mesh_obstacle, position=VECTOR),
        "animated_mesh": _from_file(
            AnimatedMesh, animated_mesh, position=VECTOR, delay=Number(unit="s")
        ),
        "character": _from_file(
            AnimatedMesh,
            character,
            **alike(POSITIVE, "speed rate"),
            up=Choice(("z", "y")),
            clip=Text(),
            repeat=Whole(),
            velocity=VECTOR,
            turned=Named(VECTOR),
            dressing=Table({**fields_of(Dressing), "start": Named(VECTOR)}),
        ),
    }


def _self_contact(given: bool | dict[str, Any]) -> SelfContact | None:
    return SelfContact(**(given if isinstance(given, dict) else {})) if given is not False else None


_OF_SELF_CONTACT = fields_of(SelfContact)
SELF_CONTACT = Made(
    Either((Flag(), Table(_OF_SELF_CONTACT)), f"true, or a table with {listed(_OF_SELF_CONTACT)}"),
    _self_contact,
)
"""Contact of a body with itself: a table, or ``true`` for all that it has by default."""


@dataclass(frozen=True)
class ObstacleOf(Kind):
    """One obstacle by its ``shape``, with the fields of that beside it."""

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, dict):
            return problems.got(path, value, 'a table such as { shape = "plane", friction = 0.4 }')
        known = shapes()
        name = value.get("shape")
        if name is None:
            return problems.add(f"{path}.shape", f"is missing; give one of {listed(known)}")
        if OBSTACLES.knows(name):
            cls = find(OBSTACLES, name, f"{path}.shape", problems)
            name = MISSING if cls is MISSING else str(OBSTACLES.name_of(cls))
        else:
            name = Choice(tuple(known)).read(name, f"{path}.shape", problems)
        if name is MISSING:
            return MISSING
        shape = known[name]
        fields = {"shape": Text(), **shape.fields, "moves": MOVES}
        read = Table(fields, shape.required, shape.one_of).read(value, path, problems)
        if read is MISSING:
            return MISSING
        options = {key: value for key, value in read.items() if key not in ("shape", "moves")}
        if "moves" in read:
            options["motion"] = read["moves"]
        return construct(shape.make, options, path, problems)
