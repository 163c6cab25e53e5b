"""The parts of a scene in words."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from supple.bodies.cloth import Bending, Cloth, ClothMaterial
from supple.contact import Box, Capsule, HeightField, Obstacle, Plane, Sphere
from supple.damping import (
    Caughey,
    ClothStrainRate,
    Damping,
    ExampleDamping,
    Measure,
    MomentumConserving,
    Rayleigh,
)
from supple.solvers.interface import StageSolver
from supple.yarns import Yarn, YarnDamping, YarnRayleigh

_UNITS = {
    "shear": "Pa s",
    "bulk": "Pa s",
    "fibre": "Pa s",
    "wind": "m/s",
    "scale": "W/m³",
    "stiffness": "s",
}
_UNITS_OF_CLOTH = {
    "thickness": "m",
    "areal_density": "kg/m²",
    **dict.fromkeys(("young", "young_warp", "young_weft", "shear"), "Pa"),
    **dict.fromkeys(("bending_stiffness", "bending_warp", "bending_weft"), "N m"),
    "rest_angles": "rad",
}
_UNITS_OF_YARNS = dict.fromkeys(("stretch", "bending", "shear", "stiffness"), "s")
_UNITS_OF_RATES = {
    **dict.fromkeys(("shear", "bulk", "warp", "weft", "trellis"), "N s/m"),
    "bending": "N m s",
    **dict.fromkeys(("matched", "matched_bending"), "s"),
}


def _units(given: Any) -> Mapping[str, str]:
    """The units of a thing's options."""
    if isinstance(given, ClothMaterial | Bending):
        return _UNITS_OF_CLOTH
    if isinstance(given, YarnDamping | YarnRayleigh):
        return _UNITS_OF_YARNS
    return _UNITS_OF_RATES if isinstance(given, ClothStrainRate) else _UNITS


def damping_text(dampings: Sequence[Damping]) -> str:
    """The damping of a scene in words: any number that add up."""
    return "; ".join(map(_with_examples, dampings)) or "none but the integrator's own"


def _with_examples(given: Damping) -> str:
    if not isinstance(given, ExampleDamping):
        return base_text(given)
    parts = [base_text(given.base)]
    parts += [f"{name}: {text}" for name, text in _examples(given)]
    if given.overall is not None:
        parts.append(f"all of it by the displacement [m]: {given.overall}")
    if given.about is not None:
        parts.append("about the equilibrium")
    return "; ".join(parts)


def base_text(given: Damping) -> str:
    """A damping without examples in words."""
    if isinstance(given, Rayleigh):
        return (
            f"Rayleigh: mass {_one(given.mass, '1/s')}, stiffness {_one(given.stiffness, 's')}, "
            f"{given.at.name.lower()} stiffness"
        )
    if isinstance(given, Caughey):
        return f"Caughey: {', '.join(f'{alpha:.3g}' for alpha in given.coefficients)}"
    if isinstance(given, MomentumConserving):
        inner = "; ".join(map(base_text, given.models))
        return f"{inner}, conserving momentum by {_plain(given.by.name)}"
    return _set_here(given)


def _set_here(given: Any) -> str:
    """The name of a thing, and those of its options that are not as by default."""
    units = _units(given)
    parts = [
        f"{_plain(f.name)} {_value(getattr(given, f.name), units.get(f.name, ''))}"
        for f in dataclasses.fields(given)
        if not _is_default(f, getattr(given, f.name))
    ]
    return f"{type(given).__name__}: {', '.join(parts)}" if parts else type(given).__name__


def obstacle_text(given: Obstacle) -> str:
    """An obstacle in words."""
    words = {"MeshObstacle": "mesh", "HeightField": "height field", "AnimatedMesh": "animated mesh"}
    name = type(given).__name__
    parts = [words.get(name, name.lower()), _place(given), f"friction {given.friction:.4g}"]
    if given.restitution is not None:
        parts.append(f"restitution {given.restitution:.4g}")
    if given.motion is not None:
        parts.append("moving")
    return ", ".join(part for part in parts if part)


def _place(given: Obstacle) -> str:
    if isinstance(given, Plane):
        return f"normal {_value(given.normal, '')}, offset {given.offset:.4g} m"
    if isinstance(given, Sphere):
        kind = "bodies inside, " if given.hollow else ""
        return f"{kind}radius {given.radius:.4g} m around {_value(given.centre, 'm')}"
    if isinstance(given, Box):
        return f"{_value(given.size, 'm')} around {_value(given.centre, 'm')}"
    if isinstance(given, Capsule):
        ends = f"{_value(given.start, 'm')} to {_value(given.end, 'm')}"
        return f"radius {given.radius:.4g} m from {ends}"
    if isinstance(given, HeightField):
        return " × ".join(map(str, np.shape(given.heights))) + " heights"
    return f"{given.surface().n_triangles:,} triangles"


def cloth_text(cloth: Cloth) -> list[tuple[str, str]]:
    """What a sheet is made of, as names and values."""
    given = cloth.material
    listed = [
        (f"Material, {name}" if name else "Material", options_text(material))
        for name, material in (given.items() if isinstance(given, Mapping) else (("", given),))
    ]
    if cloth.bending is not None:
        listed.append(("Bending", options_text(cloth.bending)))
    if cloth.strain_limit is not None:
        listed.append(("Strain limit", options_text(cloth.strain_limit)))
    return listed


def yarn_text(yarn: Yarn) -> str:
    """A yarn in words."""
    return (
        f"radius {1e3 * yarn.radius:.3g} mm, {1e6 * yarn.linear_density:.3g} mg/m, "
        f"stretch {yarn.stretch:.3g} N, bending {yarn.bending:.3g} N m²"
    )


def options_text(given: Any) -> str:
    """The name of a thing, and those of its options that are not as by default."""
    return _set_here(given)


def solver_text(given: StageSolver) -> str:
    """A solver in words: its name, and what was set of it."""
    return _set_here(given)


def spread(value: object) -> str:
    """A number, or the range of several."""
    array = np.asarray(value, dtype=float)
    low, high = float(array.min()), float(array.max())
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"


def _value(value: Any, unit: str) -> str:
    if isinstance(value, Damping):
        return f"({base_text(value)})"
    if isinstance(value, Mapping) or (np.ndim(value) == 0 and isinstance(value, int | float)):
        return _one(value, unit).strip()
    if hasattr(value, "name"):  # of an enum
        return _plain(value.name)
    if isinstance(value, tuple | list | np.ndarray) and np.shape(value) == (3,):
        return f"({', '.join(f'{x:g}' for x in np.asarray(value))}) {unit}".strip()
    return str(value)


def _one(value: Any, unit: str) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{v:.3g} {unit}".strip() + f" in {k}" for k, v in value.items())
    return f"{spread(value)} {unit}"


def _is_default(field: dataclasses.Field[Any], value: Any) -> bool:
    if not field.init or value is None:
        return True
    default: Any = field.default
    if field.default_factory is not dataclasses.MISSING:
        default = field.default_factory()
    return bool(np.array_equal(value, default)) if np.ndim(value) else bool(value == default)


def _plain(name: str) -> str:
    return name.lower().replace("_", " ")


def _examples(given: ExampleDamping) -> list[tuple[str, str]]:
    """Each example by its name, and how strongly it is damped."""
    return [
        (
            example.name or f"example {i + 1}",
            f"{example.curve}{' by rate' if example.measure is Measure.RATE else ''}",
        )
        for i, example in enumerate(given.examples)
    ]
