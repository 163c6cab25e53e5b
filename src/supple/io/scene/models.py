"""Objects of a scene file that are named by their class: materials, integrators, solvers."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from enum import Enum
from typing import Any

from supple import solvers
from supple.io.scene.kinds import construct
from supple.io.scene.schema import MISSING, Choice, Flag, Kind, Number, Problems, Table, Whole

LINEAR_SOLVERS: tuple[type[Any], ...] = tuple(
    made
    for name in solvers.__all__
    if dataclasses.is_dataclass(made := getattr(solvers, name))
    and isinstance(made, type)
    and issubclass(made, solvers.LinearSolver)
)

_SCALARS: dict[str, Kind] = {
    "ArrayLike": Number(),
    "ArrayLike | None": Number(),
    "float": Number(),
    "int": Whole(),
    "int | None": Whole(),
    "bool": Flag(),
}


@dataclass(frozen=True)
class Model(Kind):
    """An object by its class name, with that class's options beside it, or the name alone.

    ``key`` is the field of the name; without it the first class is meant. ``extra`` are options
    whose kind does not follow from the class.
    """

    classes: tuple[type[Any], ...]
    key: str
    extra: tuple[tuple[str, Kind], ...] = ()

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        table = {self.key: value} if isinstance(value, str) else value
        names = tuple(cls.__name__ for cls in self.classes)
        if not isinstance(table, dict):
            return problems.got(path, value, f"a table, or one of {', '.join(names)}")
        place = path if isinstance(value, str) else f"{path}.{self.key}"
        name = Choice(names).read(table.get(self.key, names[0]), place, problems)
        if name is MISSING:
            return MISSING
        cls = self.classes[names.index(name)]
        options = self.options(cls)
        rest = {k: v for k, v in table.items() if k != self.key}
        read = Table({self.key: Choice(names), **options}, _required(cls)).read(
            rest, path, problems
        )
        return MISSING if read is MISSING else construct(cls, read, path, problems)

    def options(self, cls: type[Any]) -> dict[str, Kind]:
        extra = dict(self.extra)
        kinds = {
            f.name: extra.get(f.name) or _SCALARS.get(str(f.type))
            for f in dataclasses.fields(cls)
            if f.init
        }
        return {name: kind for name, kind in kinds.items() if kind is not None}


def _required(cls: type[Any]) -> tuple[str, ...]:
    return tuple(
        f.name
        for f in dataclasses.fields(cls)
        if f.init and f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
    )


def first(classes: tuple[type[Any], ...], name: str) -> tuple[type[Any], ...]:
    """The classes with the one that is meant by default in front."""
    return tuple(sorted(classes, key=lambda cls: cls.__name__ != name))


LINEAR = Model(first(LINEAR_SOLVERS, "AutomaticSolver"), "name")


@dataclass(frozen=True)
class _OneOf(Kind):
    """One of an enum, by its name; capitals do not matter."""

    options: type[Enum]

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        names = tuple(option.name.lower() for option in self.options)
        name = Choice(names).read(value, path, problems)
        return MISSING if name is MISSING else self.options[name.upper()]


@dataclass(frozen=True)
class SolverModel(Kind):
    """A solver of a stage, by its ``method``, which may be called ``name`` too."""

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        extra = (
            ("linear", LINEAR),
            ("acceleration", Whole(0)),
            ("dissipation", _OneOf(solvers.Dissipation)),
        )
        if isinstance(value, dict) and "method" in value and "name" in value:
            return problems.add(f"{path}.name", "means the same as method; give one of them")
        key = "name" if isinstance(value, dict) and "name" in value else "method"
        return Model((solvers.Newton, solvers.ADMM), key, extra).read(value, path, problems)
