"""Every field that the scene file of cloth may have, as a sheet or yarn by yarn."""

from __future__ import annotations

from supple.bodies.cloth import IsotropicCloth, OrthotropicCloth
from supple.io.scene.fields import BODY, COMMON, REGIONS, SUPPORT
from supple.io.scene.kinds import POSITIVE, SELECTION, VECTOR
from supple.io.scene.models import LINEAR, Model, among
from supple.io.scene.obstacles import ObstacleOf
from supple.io.scene.schema import (
    Choice,
    Either,
    File,
    Flag,
    Kind,
    Named,
    Number,
    Row,
    Table,
    Tables,
    Whole,
)
from supple.yarns import YarnDamping, YarnRayleigh

PLACED: dict[str, Kind] = {"position": VECTOR, "rotation": VECTOR}
"""Where a flat cloth goes: turned by a rotation vector [rad] about its origin, then shifted [m]."""

_DIRECTION = Either(
    (Row(Number(), 2), Row(Number(), 3)), "two numbers in the pattern, or three in space"
)
CLOTH_MATERIALS = among("cloth material", IsotropicCloth, OrthotropicCloth)
YARN_DAMPINGS = among("yarn damping", YarnDamping, YarnRayleigh)
_MATERIAL = Model(CLOTH_MATERIALS, "IsotropicCloth", extra=(("warp", _DIRECTION),))

_SHEET = Table(
    {
        "grid": Table(
            {"size": Row(POSITIVE, 2), "cells": Row(Whole(), 2)}, required=("size", "cells")
        ),
        "sheet": File(),
        "pattern": Choice(("mesh", "uv")),
        "uv_scale": POSITIVE,
        "scale": POSITIVE,
        **PLACED,
        "regions": REGIONS,
    },
    one_of=("grid", "sheet"),
    needs={"pattern": ("sheet",), "uv_scale": ("pattern",)},
)

_CLOTH = Table(
    {
        "bending": Choice(("quadratic", "hinges")),
        "rest_angles": Number(unit="rad"),
        "strain_limit": Table(
            {"stretch": Number(0.0), "firmness": POSITIVE}, required=("stretch",)
        ),
    },
    needs={"rest_angles": ("bending",)},
)

_LOAD = Table(
    {
        **SELECTION,
        "point": VECTOR,
        "start": Number(unit="s"),
        "end": Number(unit="s"),
    },
    required=("point",),
)

CLOTH_SCENE = Table(
    {
        **BODY,
        "mesh": _SHEET,
        "material": _MATERIAL,
        "materials": Named(_MATERIAL),
        "cloth": _CLOTH,
        "loads": Tables(_LOAD),
        "initial": Table({"equilibrium": Flag(), "velocity": VECTOR, "rotation": VECTOR}),
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
        "scale": POSITIVE,
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
        **PLACED,
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
        **COMMON,
        "woven": _WOVEN,
        "supports": Tables(SUPPORT),
        "obstacles": Tables(ObstacleOf()),
        "initial": Table({"velocity": VECTOR, "rotation": VECTOR}),
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
