"""Every field that a scene file may have: of a solid, of a sheet, and of cloth yarn by yarn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from supple.bodies.cloth import IsotropicCloth, OrthotropicCloth, StrainLimit
from supple.builtin import BUILTINS
from supple.damping import Example
from supple.integrators import INTEGRATORS
from supple.io.export import MOTION_FORMATS
from supple.io.scene.design import DesignOptions, Initial
from supple.io.scene.models import (
    GAMMA,
    LINEAR,
    DampingModel,
    Model,
    SolverModel,
    among,
    fields_of,
    find,
    required_of,
)
from supple.io.scene.obstacles import SELF_CONTACT, ObstacleOf
from supple.io.scene.schema import (
    MISSING,
    POSITIVE,
    SELECTION,
    SELECTORS,
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
)
from supple.materials import MATERIALS
from supple.yarns import YarnDamping, YarnRayleigh

SHEETS = ("grid", "sheet")
"""Fields of [mesh] that make a scene one of cloth."""

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
        for each, place in zip(value if several else [value], places, strict=True):
            read = _DAMPING.read(each, place, problems)
            if read is not MISSING:
                tables.append({**read, "path": place})
        return MISSING if len(tables) < len(places) else tables


# -- damping and design ------------------------------------------------------------------

_EXAMPLE = Table(
    {
        **fields_of(Example),
        "mode": Whole(),
        "force": VECTOR,
        **SELECTION,
        "shape": File(),
        "between": Row(File(), 2),
        "motion": File(),
        "time": Number(unit="s"),
        "region": Text(),
        "blend": Number(0.0, unit="m"),
        "amplitude": POSITIVE,
    },
    one_of=("mode", "force", "shape", "between", "motion"),
    needs={
        "motion": ("time",),
        "time": ("motion",),
        "blend": ("region",),
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
        ("about", Choice(("rest", "equilibrium"))),
    ),
    (("symmetric", ("examples",)), ("about", ("examples", "overall"))),
)

_EXAMPLE_NAME = Either((Whole(), Text()), "the name of an example, or its number from 1 on")

_TARGET = Table(
    {
        "example": _EXAMPLE_NAME,
        "start": POSITIVE,
        "residual": POSITIVE,
        "wish": Text(),
        "settle": POSITIVE,
    },
    required=("example", "start"),
    one_of=("residual", "wish", "settle"),
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
            {"amplitude": VECTOR, "frequency": POSITIVE, "duration": POSITIVE},
            required=("amplitude", "frequency"),
        ),
        "rotation": Table({"centre": VECTOR, "rate": VECTOR}, required=("centre", "rate")),
    },
    one_of=("components", "keyframes", "oscillation", "rotation"),
    at_most_one=True,
)

_LOAD: dict[str, Kind] = {
    **SELECTION,
    "point": VECTOR,
    "start": Number(unit="s"),
    "end": Number(unit="s"),
}

_PLACED: dict[str, Kind] = {"scale": POSITIVE, "position": VECTOR, "rotation": VECTOR}
"""Where a flat cloth goes: turned by a rotation vector [rad] about its origin, then shifted [m]."""

_INITIAL = fields_of(Initial)
_MOVING = {name: _INITIAL[name] for name in ("velocity", "rotation")}

_COMMON: dict[str, Kind] = {
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
    "supports": Tables(_SUPPORT),
    "obstacles": Tables(ObstacleOf()),
}

_BODY: dict[str, Kind] = {
    **_COMMON,
    "mass": Choice(("consistent", "lumped")),
    "damping": Dampings(),
    "integrator": Model(INTEGRATORS, "TRBDF2"),
    "solver": SolverModel(),
    "self_contact": SELF_CONTACT,
}

# -- solids ------------------------------------------------------------------------------

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
        "regions": _REGIONS,
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
            needs={"mode": ("amplitude",), "amplitude": ("mode",), "excitation": ("example",)},
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
        **_PLACED,
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
        "initial": Table({**_MOVING, "equilibrium": Flag()}),
    },
    required=("mesh", "time"),
)
"""The whole scene file of a sheet."""

# -- yarn by yarn ------------------------------------------------------------------------

_YARN = Table(
    {
        "radius": POSITIVE,
        "linear_density": POSITIVE,
        "stretch": POSITIVE,
        "bending": Number(0.0),
        "density": POSITIVE,
        "young": POSITIVE,
        "bending_young": POSITIVE,
    },
    required=("radius",),
    one_of=("stretch", "young"),
    needs={
        "stretch": ("linear_density",),
        "linear_density": ("stretch",),
        "bending": ("stretch",),
        "young": ("density",),
        "density": ("young",),
        "bending_young": ("young",),
    },
)

_WOVEN = Table(
    {
        "warps": Whole(3),
        "wefts": Whole(3),
        "garment": File(),
        "pattern": Choice(("uv", "front_and_back")),
        "uv_scale": POSITIVE,
        "spacing": Either(
            (POSITIVE, Row(POSITIVE, 2)),
            "a length above 0 [m], or two, between warps and between wefts",
        ),
        "weave": Choice(("plain", "twill", "satin")),
        "over": Whole(),
        "under": Whole(),
        "period": Whole(3),
        "shift": Whole(),
        "table": Row(Row(Whole(0), least=1), least=1),
        "warp": _YARN,
        "weft": _YARN,
        "shear": Number(0.0),
        "friction": Number(0.0),
        "slip_speed": POSITIVE,
        "contact_stiffness": Number(0.0),
        **_PLACED,
    },
    required=("spacing", "warp"),
    one_of=("warps", "garment"),
    needs={
        "warps": ("wefts",),
        "wefts": ("warps",),
        **dict.fromkeys(("over", "under", "period", "shift"), ("weave",)),
        **dict.fromkeys(("pattern", "uv_scale", "scale"), ("garment",)),
    },
)

WOVEN_SCENE = Table(
    {
        **_COMMON,
        "woven": _WOVEN,
        "initial": Table(_MOVING),
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
