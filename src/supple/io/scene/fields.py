"""Every field that the scene file of a solid may have, and those that all scenes share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from supple.builtin import BUILTINS
from supple.integrators import INTEGRATORS
from supple.io.export import MOTION_FORMATS
from supple.io.scene.damping_fields import DESIGN, EXAMPLE_NAME, TARGET, Dampings
from supple.io.scene.kinds import POSITIVE, SELECTION, VECTOR
from supple.io.scene.models import Model, SolverModel, find
from supple.io.scene.obstacles import ObstacleOf, SelfContactOf
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
    Span,
    Table,
    Tables,
    Text,
    Whole,
)
from supple.materials import MATERIALS

SHEETS = ("grid", "sheet")
"""Fields of [mesh] that make a scene one of cloth."""

_DEFAULT = "StableNeoHookean"


@dataclass(frozen=True)
class MaterialModel(Kind):
    """A material, or the class of one whose constants the mesh file gives."""

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if isinstance(value, dict) and "from_file" in value:
            read = Table({"model": Text(), "from_file": Flag()}).read(value, path, problems)
            if read is MISSING:
                return MISSING
            if read["from_file"]:
                return find(MATERIALS, read.get("model", _DEFAULT), f"{path}.model", problems)
            value = {k: v for k, v in value.items() if k != "from_file"}
        return Model(MATERIALS, _DEFAULT).read(value, path, problems)


@dataclass(frozen=True)
class _Format(Kind):
    """The ending of a file that a motion is exported to."""

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        return Choice(tuple(each[1:] for each in MOTION_FORMATS)).read(value, path, problems)


REGIONS = Named(Table({"x": Span(), "y": Span(), "z": Span(), "tolerance": Number(0.0, unit="m")}))
"""Regions of cells by where their centroids are."""

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
        "regions": REGIONS,
    },
    one_of=("file", "box", "surface", "voxels", "builtin", *SHEETS),
    needs={
        "edge": ("surface",),
        "epsilon": ("surface",),
        "voxels": ("resolution",),
        "resolution": ("voxels", "builtin"),
        "fill": ("voxels",),
    },
)

SUPPORT = Table(
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

COMMON: dict[str, Kind] = {
    "title": Text(),
    "gravity": VECTOR,
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
    "output": Table({"formats": Row(_Format(), least=0), "report": Flag()}),
}
"""What every scene has."""

BODY: dict[str, Kind] = {
    **COMMON,
    "mass": Choice(("consistent", "lumped")),
    "supports": Tables(SUPPORT),
    "damping": Dampings(),
    "integrator": Model(INTEGRATORS, "TRBDF2"),
    "obstacles": Tables(ObstacleOf()),
    "solver": SolverModel(),
    "self_contact": SelfContactOf(),
}
"""What solids and sheets have."""

SCENE = Table(
    {
        **BODY,
        "mesh": _MESH,
        "material": MaterialModel(),
        "materials": Named(Model(MATERIALS, _DEFAULT)),
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
        "targets": Tables(TARGET),
        "design": DESIGN,
    },
    required=("mesh", "time"),
)
"""The whole scene file of a solid."""
