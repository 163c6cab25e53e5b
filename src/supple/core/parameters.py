"""Parameters that describe themselves: unit, bounds, default and a line of text, beside the field.

    @dataclass(frozen=True, kw_only=True)
    class Jelly(Damping):
        strength: float = field(metadata=described("force at 1 m/s", unit="kg/s", at_least=0))
        wind: ArrayLike = parameter((0, 0, 0), "of the air", unit="m/s", kind=VECTOR)

        def __post_init__(self) -> None:
            checked(self)

``checked`` is the check of the values; scene files, damping files, the command line and the tables
of the documentation read ``describe(cls)``. A field that says nothing of itself is known by its
type alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field
from enum import Enum
from functools import cache
from typing import Any

import numpy as np

from supple.core.checks import cell_numbers, instance, number, numbers, require_all, whole_number
from supple.core.errors import InputError
from supple.core.registry import Registry, warn_renamed

_KEY = "supple"


@dataclass(frozen=True)
class Kind:
    """What sort of value a parameter has; this one takes what it is given."""

    def check(self, of: Parameter, value: Any) -> Any:
        """``value`` as it is kept. Raises InputError."""
        return value

    def shown(self, value: Any) -> str:
        """A value as a table of the documentation has it."""
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, tuple):
            return f"[{', '.join(map(self.shown, value))}]"
        return f"{value:g}" if isinstance(value, int | float) else str(value)

    words = ""
    """What a table says beside the bounds."""


@dataclass(frozen=True)
class Number(Kind):
    def check(self, of: Parameter, value: Any) -> Any:
        found = number(
            of.name, value, above=of.above, at_least=of.at_least, below=of.below, unit=of.unit
        )
        if of.at_most is not None and found > of.at_most:
            raise InputError(f"{of.name}={value!r}: {of.too_high or f'give {of.allowed}'}")
        return found


@dataclass(frozen=True)
class Whole(Kind):
    words = "whole number"

    def check(self, of: Parameter, value: Any) -> Any:
        return whole_number(of.name, value, at_least=int(1 if of.at_least is None else of.at_least))


@dataclass(frozen=True)
class Flag(Kind):
    words = "true or false"


@dataclass(frozen=True)
class Text(Kind):
    words = "text"


@dataclass(frozen=True)
class Choice(Kind):
    """One of an enum; files and scenes have its name in small letters."""

    options: type[Enum]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(option.name.lower() for option in self.options)

    @property
    def words(self) -> str:  # type: ignore[override]
        return ", ".join(f'"{name}"' for name in self.names)

    def check(self, of: Parameter, value: Any) -> Any:
        example = list(self.options)[-1]
        instance(of.name, value, self.options, f"{type(example).__name__}.{example.name}")
        return value

    def shown(self, value: Any) -> str:
        return f'"{value.name.lower()}"'


@dataclass(frozen=True)
class Vector(Kind):
    """Three numbers, (3,), each within the bounds; a tuple where the owner is compared by value."""

    as_tuple: bool = False
    words = "three numbers"

    def check(self, of: Parameter, value: Any) -> Any:
        found = numbers(of.name, value, ((3,),))
        if of.above is not None and not (found > of.above).all():
            raise InputError(f"{of.name}={found.tolist()}: {of.too_low or f'give {of.allowed}'}")
        return tuple(found.tolist()) if self.as_tuple else found


@dataclass(frozen=True)
class Numbers(Kind):
    """Any number of them, (k,), kept as a tuple."""

    example: str
    words = "numbers"

    def check(self, of: Parameter, value: Any) -> Any:
        array = numbers(of.name, value)
        if array.ndim != 1 or not array.size:
            raise InputError(f"{of.name}={value!r}: give a list such as {self.example}")
        return tuple(array.tolist())


@dataclass(frozen=True)
class Array(Kind):
    """An array of any shape; no scene has room for one."""

    words = "array"

    def check(self, of: Parameter, value: Any) -> Any:
        return numbers(of.name, value)


@dataclass(frozen=True)
class CellNumbers(Kind):
    """A number, or one a cell, (cells,)."""

    words = "one, or one a cell"

    def check(self, of: Parameter, value: Any) -> Any:
        found = cell_numbers(of.name, value)
        array = np.asarray(found)
        if of.above is not None:
            require_all(of.name, found, array > of.above, of.too_low or f"give {of.allowed}")
        if of.at_least is not None:
            require_all(of.name, found, array >= of.at_least, of.too_low or f"give {of.allowed}")
        if of.below is not None:
            require_all(of.name, found, array < of.below, of.too_high or f"give {of.allowed}")
        return found


@dataclass(frozen=True)
class Instance(Kind):
    """An object that only Python can make; no file has it."""

    type: type
    example: str

    def check(self, of: Parameter, value: Any) -> Any:
        instance(of.name, value, self.type, self.example)
        return value


@dataclass(frozen=True, eq=False)
class Model(Kind):
    """Another thing that describes itself, out of a registry; or ``several`` of them."""

    registry: Registry[Any]
    base: type
    example: str
    several: bool = False

    @property
    def words(self) -> str:  # type: ignore[override]
        return f"another {self.registry.what}{', or several' if self.several else ''}"

    def check(self, of: Parameter, value: Any) -> Any:
        if not self.several or isinstance(value, self.base):
            instance(of.name, value, self.base, self.example)
            return value
        good = isinstance(value, Sequence) and value
        if not good or not all(isinstance(each, self.base) for each in value):
            raise InputError(
                f"{of.name}={value!r}: give a {self.registry.what} such as {self.example}, or "
                "several"
            )
        return tuple(value)

    def shown(self, value: Any) -> str:
        return f'"{self.registry.name_of(type(value))}"'


NUMBER, WHOLE, FLAG, TEXT, VECTOR, ARRAY = Number(), Whole(), Flag(), Text(), Vector(), Array()
CELL_NUMBERS, OTHER = CellNumbers(), Kind()
_BY_TYPE = {"float": NUMBER, "int": WHOLE, "bool": FLAG, "str": TEXT, "ArrayLike": NUMBER}


@dataclass(frozen=True, eq=False)
class Parameter:
    """One parameter of a class: what it is, what it may be, and what it is if nothing is said."""

    name: str
    kind: Kind
    default: Any
    """MISSING where one must be given."""
    text: str = ""
    unit: str = ""
    above: float | None = None
    at_least: float | None = None
    below: float | None = None
    at_most: float | None = None
    too_low: str = ""
    too_high: str = ""
    formerly: str = ""
    """What old files call it."""

    @property
    def is_required(self) -> bool:
        return self.default is MISSING

    @property
    def allowed(self) -> str:
        """The bounds in words."""
        bounds = (
            ("above", self.above),
            ("at least", self.at_least),
            ("below", self.below),
            ("at most", self.at_most),
        )
        return " and ".join(f"{word} {bound:g}" for word, bound in bounds if bound is not None)

    def check(self, value: Any) -> Any:
        """``value`` as it is kept; None is fine where it is the default. Raises InputError."""
        if value is None and self.default is None:
            return None
        return self.kind.check(self, value)


def described(
    text: str,
    *,
    kind: Kind | type[Enum] | None = None,
    unit: str = "",
    above: float | None = None,
    at_least: float | None = None,
    below: float | None = None,
    at_most: float | None = None,
    too_low: str = "",
    too_high: str = "",
    formerly: str = "",
) -> Mapping[str, Any]:
    """What ``field(metadata=...)`` takes, of a parameter that must be given.

    ``kind`` follows from a type of float, int, bool or str; ``too_low`` and ``too_high`` are what
    to say of a value beyond the bounds; ``formerly`` is what old files call it.
    """
    given = {
        "kind": Choice(kind) if isinstance(kind, type) else kind,
        "text": text,
        "unit": unit,
        "above": above,
        "at_least": at_least,
        "below": below,
        "at_most": at_most,
        "too_low": too_low,
        "too_high": too_high,
        "formerly": formerly,
    }
    return {_KEY: given}


def parameter(default: Any, text: str, *, make: Callable[[], Any] | None = None, **of: Any) -> Any:
    """A field with a default, or one that ``make`` makes, and what ``described`` takes."""
    if make is not None:
        return field(default_factory=make, metadata=described(text, **of))
    return field(default=default, metadata=described(text, **of))


@cache
def describe(cls: type) -> tuple[Parameter, ...]:
    """The parameters of a dataclass, in the order of its fields."""
    found = []
    for each in dataclasses.fields(cls):
        if not each.init or each.name.startswith("_"):
            continue
        given = dict(_metadata(cls, each.name))
        default = each.default
        if each.default_factory is not MISSING:
            default = each.default_factory()
        of_type = getattr(each.type, "__name__", str(each.type)).removesuffix(" | None")
        kind = given.pop("kind", None) or _BY_TYPE.get(of_type, OTHER)
        found.append(Parameter(each.name, kind, default, **given))
    return tuple(found)


def renamed_keys(cls: type, table: Mapping[str, Any], where: str) -> dict[str, Any]:
    """``table`` with what old files call parameters of ``cls`` under its name, which is told."""
    now = {each.formerly: each.name for each in describe(cls) if each.formerly}
    for old in [key for key in table if key in now and now[key] not in table]:
        warn_renamed(f"{old!r} of {where}", now[old])
        table = {now[key] if key == old else key: value for key, value in table.items()}
    return dict(table)


def _metadata(cls: type, name: str) -> Mapping[str, Any]:
    """What the field says of itself; one that only changes a default says what its base does."""
    for owner in cls.__mro__:
        metadata = owner.__dict__.get("__dataclass_fields__", {})
        if name in metadata and _KEY in metadata[name].metadata:
            found: Mapping[str, Any] = metadata[name].metadata[_KEY]
            return found
    return {}


def checked(thing: Any) -> None:
    """Check what a frozen dataclass says of its parameters, and keep each as its kind has it."""
    cls: type = type(thing)
    for each in (known for known in describe(cls) if known.text):
        object.__setattr__(thing, each.name, each.check(getattr(thing, each.name)))
