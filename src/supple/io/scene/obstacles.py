"""The obstacles of a scene file: their shapes, and how they move."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from supple.character import Dressing
from supple.contact import (
    OBSTACLES,
    HeightField,
    MeshObstacle,
    Obstacle,
    Rails,
    SelfContact,
)
from supple.core.errors import InputError
from supple.core.types import Floats
from supple.io.scene.animated import animated_mesh, character
from supple.io.scene.kinds import POSITIVE, VECTOR, construct
from supple.io.scene.models import fields_of, find, required_of
from supple.io.scene.schema import (
    MISSING,
    Choice,
    File,
    Flag,
    Kind,
    Named,
    Number,
    Problems,
    Row,
    Table,
    Text,
    Whole,
    listed,
)
from supple.mesh import read_surface

_MARGIN = Number(0.0, unit="m")

MOVES = Table(
    {
        "velocity": VECTOR,
        "turning": VECTOR,
        "oscillation": Table(
            {"amplitude": VECTOR, "frequency": POSITIVE}, required=("amplitude", "frequency")
        ),
        "times": Row(Number(unit="s"), least=2),
        "positions": Row(VECTOR, least=2),
        "rotations": Row(VECTOR, least=2),
        "centre": VECTOR,
    },
    needs={
        "centre": ("turning", "rotations"),
        "times": ("positions",),
        "positions": ("times",),
        "rotations": ("times",),
    },
)
"""How an obstacle moves."""


def moving(given: Mapping[str, Any]) -> Rails:
    """The rails of an obstacle whose table is this. Raises InputError."""
    ways = [name for name in ("velocity", "oscillation", "times") if name in given]
    if "turning" in given and "times" in given:
        ways = ["turning", "times"]
    if len(ways) > 1:
        raise InputError(
            f"got {' and '.join(ways)}; give velocity or oscillation, with turning or without, or "
            "times and positions"
        )
    centre = given.get("centre", (0.0, 0.0, 0.0))
    if "times" in given:
        return Rails.keyframes(
            given["times"], given["positions"], given.get("rotations"), centre=centre
        )
    made = Rails(centre=centre)
    if "turning" in given:
        made = Rails.turning(centre=centre, rate=given["turning"])
    if "velocity" in given:
        v = np.array(given["velocity"])
        made = replace(made, position=lambda t: v * t, velocity=lambda t: v)
    elif "oscillation" in given:
        swing = given["oscillation"]
        a, w = np.array(swing["amplitude"]), 2 * np.pi * swing["frequency"]
        made = replace(
            made,
            position=lambda t: a * np.sin(w * t),
            velocity=lambda t: w * a * np.cos(w * t),
        )
    elif "turning" not in given:
        raise InputError(f"it is empty; give {listed(MOVES.fields)}")
    return made


def _height_field(*, file: Path | None = None, heights: Any = None, **options: Any) -> HeightField:
    return HeightField(heights if file is None else _numbers(file), **options)


def _mesh(*, file: Path, scale: float = 1.0, **options: Any) -> MeshObstacle:
    position = np.array(options.pop("position", (0.0, 0.0, 0.0)))
    surface = read_surface(file).scaled(scale)
    return MeshObstacle(replace(surface, vertices=surface.vertices + position), **options)


def _numbers(file: Path) -> Floats:
    """A table of numbers: NumPy's .npy, or text with spaces or commas between them."""
    try:
        if file.suffix.lower() == ".npy":
            loaded: Floats = np.load(file, allow_pickle=False)
            return loaded
        text = file.read_text(encoding="utf-8").replace(",", " ")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of no rows; HeightField tells
            return np.loadtxt(text.splitlines(), ndmin=2)
    except (ValueError, OSError) as error:
        raise InputError(
            f"file={file}: no table of numbers: {error}; give rows of heights along y, one for "
            "each x, as text or .npy",
            parameter="file",
        ) from error


@dataclass(frozen=True)
class _Shape:
    """The fields of a shape, and what makes an obstacle of them."""

    fields: Mapping[str, Kind]
    required: tuple[str, ...]
    make: Callable[..., Any]
    one_of: tuple[str, ...] = ()


_PLACED: dict[str, Kind] = {"file": File(), "scale": POSITIVE, "position": VECTOR}
_FROM_FILES: dict[str, _Shape] = {
    "height_field": _Shape({"file": File()}, (), _height_field, ("file", "heights")),
    "mesh": _Shape({**_PLACED, "hollow": Flag()}, ("file",), _mesh),
    "animated_mesh": _Shape(
        {**_PLACED, "delay": Number(unit="s"), "margin": _MARGIN}, ("file",), animated_mesh
    ),
    "character": _Shape(
        {
            "file": File(),
            "scale": POSITIVE,
            "up": Choice(("z", "y")),
            "clip": Text(),
            "repeat": Whole(),
            "speed": POSITIVE,
            "rate": POSITIVE,
            "velocity": VECTOR,
            "turned": Named(VECTOR),
            "dressing": Table({**fields_of(Dressing), "start": Named(VECTOR)}),
            "margin": _MARGIN,
        },
        ("file",),
        character,
    ),
}
"""Shapes whose arrays come from files, and what a scene says of them instead."""


def shapes() -> dict[str, _Shape]:
    """Every shape that a scene may name: those that are registered, and those made of files."""
    found = {
        name: _Shape(fields_of(cls), required_of(cls), cls)
        for name, cls in OBSTACLES.by_name.items()
    }
    common = fields_of(Obstacle)
    for name, given in _FROM_FILES.items():
        own = found[name].fields if name == "height_field" else common
        found[name] = replace(given, fields={**own, **given.fields})
    return found


@dataclass(frozen=True)
class SelfContactOf(Kind):
    """Contact of a body with itself: a table, or ``true`` for all that it has by default."""

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if isinstance(value, bool):
            return SelfContact() if value else None
        fields = fields_of(SelfContact)
        if not isinstance(value, dict):
            return problems.got(path, value, f"true, or a table with {listed(fields)}")
        read = Table(fields).read(value, path, problems)
        return MISSING if read is MISSING else SelfContact(**read)


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
            try:
                options["motion"] = moving(read["moves"])
            except InputError as error:
                return problems.add(f"{path}.moves", str(error))
        return construct(shape.make, options, path, problems)
