"""Every field that a scene of several bodies may have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from supple.contact import Box, Capsule, Cone, Cylinder, Obstacle, Sphere, Torus
from supple.contact.attachments import BODY, PLACE_OR_PATH, Glue, Pin, Spring
from supple.contact.obstacles.base import OBSTACLES
from supple.core.parameters import checked, describe, described, parameter
from supple.damping import DAMPINGS
from supple.io.scene.fields import (
    CLOTH_SCENE,
    COMMON,
    MOVING,
    PLACED,
    SCENE,
    WOVEN_SCENE,
    Dampings,
)
from supple.io.scene.models import MOVES, among, fields_of, find, required_of
from supple.io.scene.schema import (
    MISSING,
    SHEETS,
    VECTOR,
    Choice,
    File,
    Kind,
    Named,
    Problems,
    Table,
    Tables,
    Text,
    Whole,
    alike,
    guess,
    listed,
)

ATTACHMENTS = among("attachment", Pin, Spring, Glue, key="kind")
_CLOSED = (Box, Capsule, Cone, Cylinder, Sphere, Torus)
KINDS = ("mesh", "rigid", "springs", "woven")
"""Fields of a body that say what it is; one of these."""


@dataclass(frozen=True, kw_only=True)
class Rigid:
    """What a scene says of a rigid body, beside its shape."""

    density: float = field(metadata=described("of what it encloses", unit="kg/m³", above=0))
    stiffness: float = parameter(1e10, "what keeps it rigid", unit="Pa", above=0)
    fixed: bool = parameter(False, "it is held where it is")

    def __post_init__(self) -> None:
        checked(self)


@dataclass(frozen=True, kw_only=True)
class Springs:
    """What a scene says of a network of springs, beside its shape."""

    stiffness: float = field(
        metadata=described("pull at twice the length at rest, of each spring", unit="N", above=0)
    )
    mass: float = field(metadata=described("of each vertex", unit="kg", above=0))

    def __post_init__(self) -> None:
        checked(self)


# -- bodies --------------------------------------------------------------------------------


@dataclass(frozen=True)
class RigidShape(Kind):
    """A rigid body by its ``shape``: one of the closed obstacles, or a surface in a file.

    What is read has a function ``make`` of the shape's ``options``.
    """

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        known: dict[str, type[Obstacle] | None] = {
            str(OBSTACLES.name_of(cls)): cls for cls in _CLOSED
        }
        names = (*known, "mesh")
        if not isinstance(value, dict):
            example = 'a table such as { shape = "sphere", radius = 0.1, density = 1000 }'
            return problems.got(path, value, example)
        if "shape" not in value:
            return problems.add(f"{path}.shape", f"is missing; give one of {listed(names)}")
        name = Choice(names).read(value["shape"], f"{path}.shape", problems)
        if name is MISSING:
            return MISSING
        cls = known.get(name)
        own = _of_shape(cls) if cls is not None else {"file": File()}
        required = required_of(cls) if cls is not None else ("file",)
        fields = {"shape": Text(), **own, **fields_of(Rigid), "moves": MOVES}
        read = Table(fields, (*required, *required_of(Rigid))).read(value, path, problems)
        if read is MISSING:
            return MISSING
        if "moves" in read and read.get("fixed"):
            return problems.add(f"{path}.fixed", "what moves is led; leave it out")
        rest = {k: v for k, v in read.items() if k not in ("shape", *own, "moves")}
        shape: Callable[..., Any] | None = cls
        return {
            "shape": shape,
            "options": {k: read[k] for k in own if k in read},
            "rigid": rest,
            "moves": read.get("moves"),
        }


def _of_shape(cls: type[Obstacle]) -> Mapping[str, Kind]:
    """What says how large a closed obstacle is, and where; not how it meets bodies."""
    others = {each.name for each in describe(Obstacle)} | {"hollow"}
    return {name: kind for name, kind in fields_of(cls).items() if name not in others}


_SPRINGS = Table(
    {
        "chain": Table(
            {**alike(VECTOR, "start end"), "count": Whole()}, required=("start", "end", "count")
        ),
        "surface": File(),
        **fields_of(Springs),
    },
    required=required_of(Springs),
    one_of=("chain", "surface"),
)

_OWN: dict[str, Kind] = {
    **PLACED,
    "supports": COMMON["supports"],
    "damping": Dampings(),
    "initial": Table(MOVING),
}


def _some(of: Table, names: str) -> dict[str, Kind]:
    return {name: of.fields[name] for name in names.split()}


_SOLID = Table({**_OWN, **_some(SCENE, "mesh material materials mass loads targets design")})
_SHEET = Table({**_OWN, **_some(CLOTH_SCENE, "mesh material materials cloth mass loads")})
_ROPE = Table({**_OWN, "springs": _SPRINGS})
_WOVEN = Table(_some(WOVEN_SCENE, "woven supports initial damping"))
_RIGID = Table({**{k: v for k, v in _OWN.items() if k != "supports"}, "rigid": RigidShape()})


@dataclass(frozen=True)
class BodyOf(Kind):
    """One body of a world: a solid, cloth, springs, rigid, or woven yarn by yarn."""

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, dict):
            return problems.got(path, value, f"a table with one of {listed(KINDS)}")
        named = [key for key in KINDS if key in value]
        if len(named) != 1:
            got = f"got {' and '.join(named)}" if named else "got none"
            return problems.add(path, f"give one of {listed(KINDS)}; {got}")
        mesh = value.get("mesh")
        others = {"rigid": _RIGID, "springs": _ROPE, "woven": _WOVEN}
        kind = others.get(named[0], _SOLID)
        if isinstance(mesh, dict) and set(SHEETS) & set(mesh):
            kind = _SHEET
        return kind.read(value, path, problems)


@dataclass(frozen=True)
class Bodies(Kind):
    """The bodies of a world by their names: tables ``[bodies.ball]`` and so on."""

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if isinstance(value, list) or not value:
            return problems.got(path, value, f"a table for each body, such as [{path}.ball]")
        return Named(BodyOf()).read(value, path, problems)


@dataclass(frozen=True)
class WorldDampings(Kind):
    """The damping of all bodies that have none of their own; it names no body."""

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        tables = value.items() if isinstance(value, dict) else ()
        strays = [k for k, v in tables if isinstance(v, dict) and not _is_of_damping(k)]
        if strays:
            return problems.add(
                f"{path}.{strays[0]}",
                f"what is damped by itself says so in its own table, [bodies.{strays[0]}.damping]; "
                "[damping] is that of all others",
            )
        return Dampings().read(value, path, problems)


def _is_of_damping(name: str) -> bool:
    """Whether some damping has a field of this name, which may be a table."""
    return name == "overall" or any(name in fields_of(cls) for cls in DAMPINGS)


# -- what holds them -----------------------------------------------------------------------


@dataclass(frozen=True)
class AttachmentOf(Kind):
    """One attachment by its ``kind``, bodies by their names: what to make when they are there."""

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        names = [name.lower() for name in ATTACHMENTS.by_name]
        if not isinstance(value, dict):
            example = 'a table such as { kind = "pin", body = "lamp", at = [0, 0, 1] }'
            return problems.got(path, value, example)
        if "kind" not in value:
            return problems.add(f"{path}.kind", f"is missing; give one of {listed(names)}")
        cls = find(ATTACHMENTS, value["kind"], f"{path}.kind", problems)
        if cls is MISSING:
            return MISSING
        fields = {"kind": Text(), **fields_of(cls)}
        if any(each.kind is PLACE_OR_PATH for each in describe(cls)):
            fields["moves"] = MOVES
        read = Table(fields, required_of(cls)).read(value, path, problems)
        if read is MISSING:
            return MISSING
        if "moves" in read and "other" in read:
            return problems.add(
                f"{path}.moves", "leads a place in space; leave it out, or leave out other"
            )
        bodies = [each.name for each in describe(cls) if each.kind is BODY and each.name in read]
        return {"make": cls, "bodies": bodies, "path": path, **read}


def body_named(name: str, known: Mapping[str, Any], path: str, problems: Problems) -> Any:
    """The body of a name; MISSING after noting which there are."""
    if name in known:
        return known[name]
    hint = guess(name, known) or f"; there are: {listed(map(repr, known))}"
    return problems.add(path, f"no body {name!r}{hint}")


WORLD_SCENE = Table(
    {
        **{name: kind for name, kind in COMMON.items() if name != "supports"},
        **_some(SCENE, "integrator solver self_contact"),
        "damping": WorldDampings(),
        "bodies": Bodies(),
        "attachments": Tables(AttachmentOf()),
    },
    required=("bodies", "time"),
)
"""The whole scene file of several bodies."""
