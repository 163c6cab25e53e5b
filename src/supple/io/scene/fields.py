"""Every field that a scene file may have: of a solid, of a sheet, and of cloth yarn by yarn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from supple.bodies.cloth import IsotropicCloth, OrthotropicCloth, StrainLimit
from supple.builtin import BUILTINS
from supple.damping import Example
from supple.integrators import INTEGRATORS
from supple.io.export import MOTION_FORMATS
from supple.io.scene.design import GOALS, DesignOptions, Initial
from supple.io.scene.models import (
    GAMMA,
    LINEAR,
    SELF_CONTACT,
    DampingModel,
    Model,
    ObstacleOf,
    SolverModel,
    among,
    fields_of,
    find,
    required_of,
)
from supple.io.scene.schema import (
    MISSING,
    POSITIVE,
    SELECTION,
    SELECTORS,
    SHEETS,
    SPANS,
    VECTOR,
    Choice,
    Either,
    File,
    Flag,
    Kind,
    Named,
    Number,
    Problems,
    Row,
    Table,
    Tables,
    Text,
    Whole,
    alike,
    together,
)
from supple.materials import MATERIALS
from supple.yarns import YarnDamping, YarnRayleigh

_DEFAULT = "StableNeoHookean"
CLOTH_MATERIALS = among("cloth material", IsotropicCloth, OrthotropicCloth)
YARN_DAMPINGS = among("yarn damping", YarnDamping, YarnRayleigh)


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


@dataclass(frozen=True)
class Dampings(Kind):
    """One damping, ``[damping]``, or several that add up, ``[[damping]]``: a list of tables.

    Each says under ``path`` where it stands in the file.
    """

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if value == []:
            return problems.got(path, value, "a table, or several, each starting with [[damping]]")
        several = isinstance(value, list)
        places = [f"{path}[{i}]" for i in range(len(value))] if several else [path]
        tables = []
        for given, place in zip(value if several else [value], places, strict=True):
            read = _DAMPING.read(given, place, problems)
            if read is not MISSING:
                tables.append({**read, "path": place})
        return MISSING if len(tables) < len(places) else tables


# -- damping and design ------------------------------------------------------------------

_EXAMPLE = Table(
    {
        **fields_of(Example),
        **SELECTION,
        "mode": Whole(),
        "force": VECTOR,
        **alike(File(), "shape motion"),
        "between": Row(File(), 2),
        "time": Number(unit="s"),
        "region": Text(),
        "blend": Number(0.0, unit="m"),
        "local": Flag(),
        "amplitude": POSITIVE,
    },
    one_of=("mode", "force", "shape", "between", "motion"),
    needs={
        **together("motion", "time"),
        **dict.fromkeys(("blend", "local"), ("region",)),
        "force": SELECTORS,
        **dict.fromkeys(SELECTION, ("force",)),
    },
)

_DAMPING = DampingModel(
    (
        ("file", File()),
        ("examples", Tables(_EXAMPLE)),
        ("overall", GAMMA),
        ("symmetric", Flag()),
        ("definite", Flag()),
        ("about", Choice(("rest", "equilibrium"))),
    ),
    (("symmetric", ("examples",)), ("definite", ("examples",)), ("about", ("examples", "overall"))),
)

_EXAMPLE_NAME = Either((Whole(), Text()), "the name of an example, or its number from 1 on")

_TARGET = Table(
    {
        "example": _EXAMPLE_NAME,
        "wish": Text(),
        **alike(POSITIVE, "start residual settle"),
        "envelope": Row(Row(POSITIVE, 2)),
        "recording": File(),
    },
    required=("example", "start"),
    one_of=GOALS,
)

# -- what scenes share -------------------------------------------------------------------

_REGIONS = Named(Table(SPANS))  # of cells by where their centroids are

_SUPPORT = Table(
    {
        **SELECTION,
        "components": Choice(("xyz", "xy", "xz", "yz", "x", "y", "z")),
        "keyframes": Table(
            {"times": Row(Number(unit="s"), least=2), "displacements": Row(VECTOR, least=2)},
            required=("times", "displacements"),
        ),
        "oscillation": Table(
            {"amplitude": VECTOR, **alike(POSITIVE, "frequency duration")},
            required=("amplitude", "frequency"),
        ),
        "rotation": Table(alike(VECTOR, "centre rate"), required=("centre", "rate")),
    },
    one_of=("components", "keyframes", "oscillation", "rotation"),
    at_most_one=True,
)

_LOAD = {**SELECTION, "point": VECTOR, **alike(Number(unit="s"), "start end")}

# Where a flat cloth or a body of a world goes: larger, turned by a rotation vector [rad] about
# the origin, then shifted [m].
PLACED = {"scale": POSITIVE, **alike(VECTOR, "position rotation")}

_INITIAL = fields_of(Initial)
MOVING = {name: _INITIAL[name] for name in ("velocity", "rotation")}

COMMON = {
    "title": Text(),
    "gravity": VECTOR,
    "time": Table(
        {**alike(POSITIVE, "duration dt fps"), **alike(Whole(), "every substeps")},
        required=("duration",),
        one_of=("dt", "fps"),
        needs={"every": ("dt",), "substeps": ("fps",)},
    ),
    "output": Table({"formats": Row(_Format(), least=0), "report": Flag()}),
    "supports": Tables(_SUPPORT),
    "obstacles": Tables(ObstacleOf()),
}

_BODY = {
    **COMMON,
    "mass": Choice(("consistent", "lumped")),
    "damping": Dampings(),
    "integrator": Model(INTEGRATORS, "TRBDF2"),
    "solver": SolverModel(),
    "self_contact": SELF_CONTACT,
}

# -- solids ------------------------------------------------------------------------------

_MESH = Table(
    {
        **alike(File(), "file surface voxels skin"),
        "box": Table(
            {
                "size": Row(POSITIVE, 3),
                "cells": Row(Whole(), 3),
                "origin": VECTOR,
                "bricks": Flag(),
            },
            required=("size", "cells"),
        ),
        "builtin": Choice(tuple(BUILTINS)),
        "resolution": Whole(),
        **alike(POSITIVE, "edge epsilon scale"),
        **alike(Flag(), "fill quadratic"),
        "regions": _REGIONS,
    },
    one_of=("file", "box", "surface", "voxels", "builtin", *SHEETS),
    needs={
        **dict.fromkeys(("edge", "epsilon"), ("surface",)),
        "voxels": ("resolution",),
        "resolution": ("voxels", "builtin"),
        "fill": ("voxels",),
    },
)

SCENE = Table(
    {
        **_BODY,
        "mesh": _MESH,
        "material": MaterialModel(),
        "materials": Named(Model(MATERIALS, _DEFAULT)),
        "loads": Tables(
            Table(
                {**_LOAD, "traction": VECTOR, "pressure": Number(unit="Pa")},
                one_of=("point", "traction", "pressure"),
            )
        ),
        "initial": Table(
            {**_INITIAL, "example": _EXAMPLE_NAME},
            one_of=("mode", "example"),
            at_most_one=True,
            needs={**together("mode", "amplitude"), "excitation": ("example",)},
        ),
        "targets": Tables(_TARGET),
        "design": Table({**fields_of(DesignOptions), "space": Choice(("reduced", "full"))}),
    },
    required=("mesh", "time"),
)
"""The whole scene file of a solid."""

# -- sheets ------------------------------------------------------------------------------

_SHEET = Table(
    {
        "grid": Table(
            {"size": Row(POSITIVE, 2), "cells": Row(Whole(), 2)}, required=("size", "cells")
        ),
        "sheet": File(),
        "pattern": Choice(("mesh", "uv")),
        "uv_scale": POSITIVE,
        **PLACED,
        "regions": _REGIONS,
    },
    one_of=SHEETS,
    needs={"pattern": ("sheet",), "uv_scale": ("pattern",)},
)

_CLOTH = Table(
    {
        "bending": Choice(("quadratic", "hinges")),
        "rest_angles": Number(unit="rad"),
        "strain_limit": Table(fields_of(StrainLimit), required_of(StrainLimit)),
    },
    needs={"rest_angles": ("bending",)},
)

CLOTH_SCENE = Table(
    {
        **_BODY,
        "mesh": _SHEET,
        "material": Model(CLOTH_MATERIALS, "IsotropicCloth"),
        "materials": Named(Model(CLOTH_MATERIALS, "IsotropicCloth")),
        "cloth": _CLOTH,
        "loads": Tables(Table(_LOAD, required=("point",))),
        "initial": Table({**MOVING, "equilibrium": Flag()}),
    },
    required=("mesh", "time"),
)
"""The whole scene file of a sheet."""

# -- yarn by yarn ------------------------------------------------------------------------

_YARN = Table(
    {
        **alike(POSITIVE, "radius linear_density stretch density young bending_young"),
        "bending": Number(0.0),
    },
    required=("radius",),
    one_of=("stretch", "young"),
    needs={
        **together("stretch", "linear_density"),
        **together("young", "density"),
        "bending": ("stretch",),
        "bending_young": ("young",),
    },
)

_WOVEN = Table(
    {
        **alike(Whole(3), "warps wefts"),
        "garment": File(),
        "pattern": Choice(("uv", "front_and_back")),
        "uv_scale": POSITIVE,
        "spacing": Either(
            (POSITIVE, Row(POSITIVE, 2)),
            "a length above 0 [m], or two, between warps and between wefts",
        ),
        "seam_tolerance": Number(0.0),
        "weave": Choice(("plain", "twill", "satin")),
        **alike(Whole(), "over under shift"),
        "period": Whole(3),
        "table": Row(Row(Whole(0))),
        **alike(_YARN, "warp weft"),
        **alike(Number(0.0), "shear friction contact_stiffness"),
        "slip_speed": POSITIVE,
        **PLACED,
    },
    required=("spacing", "warp"),
    one_of=("warps", "garment"),
    needs={
        **together("warps", "wefts"),
        **dict.fromkeys(("over", "under", "period", "shift"), ("weave",)),
        **dict.fromkeys(("pattern", "uv_scale", "scale", "seam_tolerance"), ("garment",)),
    },
)

WOVEN_SCENE = Table(
    {
        **COMMON,
        "woven": _WOVEN,
        "initial": Table(MOVING),
        "damping": Model(YARN_DAMPINGS, "YarnDamping"),
        "solver": Table(
            {
                "tolerance": Number(0.0, 1.0, above=True, below=True),
                "max_iterations": Whole(),
                "linear": LINEAR,
            }
        ),
    },
    required=("woven", "time"),
)
"""The whole scene file of cloth that is woven yarn by yarn."""
