"""Every field that a scene file may have."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from enum import Enum
from typing import Any

from supple import solvers
from supple.builtin import BUILTINS
from supple.integrators import INTEGRATORS
from supple.io.export import MOTION_FORMATS
from supple.io.scene_damping_fields import DESIGN, EXAMPLE_NAME, TARGET, Dampings
from supple.io.scene_kinds import POSITIVE, SELECTION, VECTOR, construct
from supple.io.scene_obstacles import ObstacleOf
from supple.io.scene_schema import (
    MISSING,
    Choice,
    File,
    Flag,
    Kind,
    Named,
    Number,
    Problems,
    Row,
    Span,
    Table,
    Tables,
    Text,
    Whole,
)
from supple.materials import MATERIALS

LINEAR_SOLVERS: tuple[type[Any], ...] = tuple(
    made
    for name in solvers.__all__
    if dataclasses.is_dataclass(made := getattr(solvers, name))
    and isinstance(made, type)
    and issubclass(made, solvers.LinearSolver)
)
FORMATS = tuple(ending[1:] for ending in MOTION_FORMATS)


def _first(classes: tuple[type[Any], ...], name: str) -> tuple[type[Any], ...]:
    """The classes with the one that is meant by default in front."""
    return tuple(sorted(classes, key=lambda cls: cls.__name__ != name))


_MATERIALS = _first(MATERIALS, "StableNeoHookean")

_SCALARS: dict[str, Kind] = {
    "ArrayLike": Number(),
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


@dataclass(frozen=True)
class MaterialModel(Kind):
    """A material, or the class of one whose constants the mesh file gives."""

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if isinstance(value, dict) and "from_file" in value:
            names = tuple(cls.__name__ for cls in _MATERIALS)
            read = Table({"model": Choice(names), "from_file": Flag()}).read(value, path, problems)
            if read is MISSING or read["from_file"]:
                name = MISSING if read is MISSING else read.get("model", names[0])
                return MISSING if name is MISSING else _MATERIALS[names.index(name)]
            value = {k: v for k, v in value.items() if k != "from_file"}
        return Model(_MATERIALS, "model").read(value, path, problems)


def _required(cls: type[Any]) -> tuple[str, ...]:
    return tuple(
        f.name
        for f in dataclasses.fields(cls)
        if f.init and f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
    )


_MESH = Table(
    {
        "file": File(),
        "box": Table(
            {
                "size": Row(POSITIVE, 3),
                "cells": Row(Whole(), 3),
                "origin": VECTOR,
                "bricks": Flag(),
            },
            required=("size", "cells"),
        ),
        "surface": File(),
        "edge": POSITIVE,
        "epsilon": POSITIVE,
        "voxels": File(),
        "resolution": Whole(),
        "fill": Flag(),
        "builtin": Choice(tuple(BUILTINS)),
        "scale": POSITIVE,
        "quadratic": Flag(),
        "skin": File(),
        "regions": Named(
            Table({"x": Span(), "y": Span(), "z": Span(), "tolerance": Number(0.0, unit="m")})
        ),
    },
    one_of=("file", "box", "surface", "voxels", "builtin"),
    needs={
        "edge": ("surface",),
        "epsilon": ("surface",),
        "voxels": ("resolution",),
        "resolution": ("voxels", "builtin"),
        "fill": ("voxels",),
    },
)

_SUPPORT = Table(
    {
        **SELECTION,
        "components": Choice(("xyz", "xy", "xz", "yz", "x", "y", "z")),
        "keyframes": Table(
            {"times": Row(Number(unit="s"), least=2), "displacements": Row(VECTOR, least=2)},
            required=("times", "displacements"),
        ),
        "oscillation": Table(
            {"amplitude": VECTOR, "frequency": POSITIVE, "duration": POSITIVE},
            required=("amplitude", "frequency"),
        ),
        "rotation": Table({"centre": VECTOR, "rate": VECTOR}, required=("centre", "rate")),
    },
    one_of=("components", "keyframes", "oscillation", "rotation"),
    at_most_one=True,
)

_LOAD = Table(
    {
        **SELECTION,
        "point": VECTOR,
        "traction": VECTOR,
        "pressure": Number(unit="Pa"),
        "start": Number(unit="s"),
        "end": Number(unit="s"),
    },
    one_of=("point", "traction", "pressure"),
)

_LINEAR = Model(_first(LINEAR_SOLVERS, "AutomaticSolver"), "name")


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
            ("linear", _LINEAR),
            ("acceleration", Whole(0)),
            ("dissipation", _OneOf(solvers.Dissipation)),
        )
        if isinstance(value, dict) and "method" in value and "name" in value:
            return problems.add(f"{path}.name", "means the same as method; give one of them")
        key = "name" if isinstance(value, dict) and "name" in value else "method"
        return Model((solvers.Newton, solvers.ADMM), key, extra).read(value, path, problems)


SCENE = Table(
    {
        "title": Text(),
        "gravity": VECTOR,
        "mass": Choice(("consistent", "lumped")),
        "mesh": _MESH,
        "material": MaterialModel(),
        "materials": Named(Model(_MATERIALS, "model")),
        "supports": Tables(_SUPPORT),
        "loads": Tables(_LOAD),
        "initial": Table(
            {
                "equilibrium": Flag(),
                "velocity": VECTOR,
                "rotation": VECTOR,
                "mode": Whole(),
                "amplitude": Number(unit="m"),
                "example": EXAMPLE_NAME,
                "excitation": Number(),
            },
            one_of=("mode", "example"),
            at_most_one=True,
            needs={
                "mode": ("amplitude",),
                "amplitude": ("mode",),
                "excitation": ("example",),
            },
        ),
        "damping": Dampings(),
        "targets": Tables(TARGET),
        "design": DESIGN,
        "integrator": Model(_first(INTEGRATORS, "TRBDF2"), "name"),
        "obstacles": Tables(ObstacleOf()),
        "solver": SolverModel(),
        "time": Table(
            {
                "duration": POSITIVE,
                "dt": POSITIVE,
                "every": Whole(),
                "fps": POSITIVE,
                "substeps": Whole(),
            },
            required=("duration",),
            one_of=("dt", "fps"),
            needs={"every": ("dt",), "substeps": ("fps",)},
        ),
        "output": Table({"formats": Row(Choice(FORMATS), least=0), "report": Flag()}),
    },
    required=("mesh", "time"),
)
"""A whole scene file."""
