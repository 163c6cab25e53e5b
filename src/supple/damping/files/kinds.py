"""Every damping model as a table of text and numbers, and back: one entry of ``KINDS`` each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from itertools import count
from typing import Any

import numpy as np

from supple.core.errors import InputError
from supple.damping.base import Damping
from supple.damping.caughey import Caughey
from supple.damping.cloth_drag import ClothDrag
from supple.damping.cloth_rate import ClothStrainRate
from supple.damping.conserving import Conserving, MomentumConserving
from supple.damping.curve import Curve
from supple.damping.drag import Drag
from supple.damping.example import Example, ExampleDamping, Measure
from supple.damping.files.text_format import Table, array_of, kept, table_of
from supple.damping.matched import MatchedStrainRate
from supple.damping.power_law import PowerLaw
from supple.damping.principal_strain import PrincipalStrain
from supple.damping.rayleigh import Rayleigh, StiffnessAt
from supple.damping.spline import SplineDamping, SplineOver
from supple.damping.spring_rate import SpringStrainRate
from supple.damping.strain_rate import StrainRate
from supple.damping.viscous import Viscous


@dataclass(frozen=True)
class Field:
    """How one parameter is written, and read again. Both are given its name and the shapes."""

    write: Callable[[str, Any, Table], Any]
    read: Callable[[str, Any, Table], Any] = lambda name, given, shapes: given
    options: tuple[str, ...] = ()
    """The names to choose from, of one that is a choice."""


@dataclass(frozen=True)
class Kind:
    """How a model is written, and read again. Both are given the shapes."""

    model: type[Damping]
    write: Callable[[Any, Table], Table]
    read: Callable[[str, Table, Table], Damping]
    """Given what to call the table in messages, too."""
    fields: Mapping[str, Field] = field(default_factory=dict)
    """The parameters of a model that is made of nothing else, and which of them are needed."""
    needed: tuple[str, ...] = ()


def described(damping: Damping, shapes: Table) -> Table:
    """A damping as a table that says its kind; arrays go to ``shapes``."""
    for name, kind in KINDS.items():
        if type(damping) is kind.model:
            return {"kind": name} | kind.write(damping, shapes)
    known = ", ".join(kind.model.__name__ for kind in KINDS.values())
    raise InputError(f"a damping file cannot keep {type(damping).__name__}; it keeps {known}")


def damping_of(label: str, given: Any, shapes: Table) -> Damping:
    """The damping that a table describes."""
    name = table_of(label, given, needed=("kind",))["kind"]
    if not isinstance(name, str) or name not in KINDS:
        raise InputError(f"kind={name!r}: give {', '.join(KINDS)}")
    return KINDS[name].read(label, given, shapes)


def within(label: str, make: Any, *arguments: Any) -> Any:
    """What ``make`` makes, with ``label`` in front of what it complains about."""
    try:
        return make(*arguments)
    except InputError as error:
        raise InputError(f"{label}: {error}") from error
    except OverflowError as error:
        raise InputError(f"{label}: a number is too large ({error})") from error


# -- parameters --------------------------------------------------------------------------


def _write_coefficient(name: str, given: Any, shapes: Table) -> Any:
    if isinstance(given, Mapping):
        return {str(region): np.asarray(value).tolist() for region, value in given.items()}
    return kept(f"{name} by cell", np.asarray(given), shapes) if np.ndim(given) else float(given)


def _write_vectors(name: str, given: Any, shapes: Table) -> Any:
    array = np.asarray(given, dtype=float)
    return array.tolist() if array.ndim == 1 else kept(f"{name} by cell", array, shapes)


def _read_array_or_plain(name: str, given: Any, shapes: Table) -> Any:
    return array_of(name, given, shapes) if isinstance(given, str) else given


def _read_damping(name: str, given: Any, shapes: Table) -> Damping:
    found: Damping = within(name, damping_of, name, given, shapes)
    return found


def _write_dampings(name: str, given: Any, shapes: Table) -> Any:
    if isinstance(given, Damping):
        return described(given, shapes)
    return [described(each, shapes) for each in given]


def _read_dampings(name: str, given: Any, shapes: Table) -> Any:
    if not isinstance(given, list):
        return _read_damping(name, given, shapes)
    return [_read_damping(f"{name} {i}", each, shapes) for i, each in enumerate(given)]


def _choice(options: type[Enum], key: Callable[[Any], str]) -> Field:
    """One of an enum, by what ``key`` makes of it."""
    known = {key(option): option for option in options}

    def read(name: str, given: Any, shapes: Table) -> Enum:
        if not isinstance(given, str) or given not in known:
            raise InputError(f"{name}={given!r}: give one of {', '.join(known)}")
        return known[given]

    return Field(lambda name, given, shapes: key(given), read, tuple(known))


def _read_yes_or_no(name: str, given: Any, shapes: Table) -> bool:
    if not isinstance(given, bool):
        raise InputError(f"{name}={given!r}: give true or false")
    return given


def _read_text(name: str, given: Any, shapes: Table) -> str:
    if not isinstance(given, str):
        raise InputError(f"{name}={given!r}: give a text in quotes")
    return given


def _by_name(option: Enum) -> str:
    return option.name.lower()


def _by_value(option: Enum) -> str:
    return str(option.value)


NUMBER = Field(lambda name, given, shapes: float(given))
NUMBERS = Field(lambda name, given, shapes: np.asarray(given, dtype=float).tolist())
COEFFICIENT = Field(_write_coefficient, _read_array_or_plain)
VECTORS = Field(_write_vectors, _read_array_or_plain)
ARRAY = Field(lambda name, given, shapes: kept(name, given, shapes), array_of)
YES_OR_NO = Field(lambda name, given, shapes: bool(given), _read_yes_or_no)
TEXT = Field(lambda name, given, shapes: str(given), _read_text)
CURVE = Field(
    lambda name, given, shapes: given.table(),
    lambda name, given, shapes: within(name, Curve.of, given),
)
DAMPING = Field(lambda name, given, shapes: described(given, shapes), _read_damping)
DAMPINGS = Field(_write_dampings, _read_dampings)


# -- models ------------------------------------------------------------------------------


def write_fields(thing: Any, fields: Mapping[str, Field], shapes: Table) -> Table:
    """The parameters of a thing that it has."""
    values = {name: getattr(thing, name) for name in fields}
    return {
        name: fields[name].write(name, value, shapes)
        for name, value in values.items()
        if value is not None
    }


def read_fields(
    label: str, given: Any, fields: Mapping[str, Field], needed: tuple[str, ...], shapes: Table
) -> Table:
    """The parameters that a table gives."""
    table = table_of(label, given, tuple(fields), needed=needed)
    return {
        name: each.read(name, table[name], shapes) for name, each in fields.items() if name in table
    }


def _by_fields(model: type[Damping], fields: Mapping[str, Field], *needed: str) -> Kind:
    """A model that is made of its parameters; those not needed have a value of their own."""

    def read(label: str, given: Table, shapes: Table) -> Damping:
        table = {key: value for key, value in given.items() if key != "kind"}
        return model(**read_fields(label, table, fields, needed, shapes))

    def write(damping: Damping, shapes: Table) -> Table:
        return write_fields(damping, fields, shapes)

    return Kind(model, write, read, fields, needed)


_MATRIX = {"entries": "data", "columns": "indices", "rows": "indptr"}


def _write_matrix(damping: Viscous, shapes: Table) -> Table:
    return {
        name: kept(name, getattr(damping.matrix, attribute), shapes)
        for name, attribute in _MATRIX.items()
    }


def _read_matrix(label: str, given: Table, shapes: Table) -> Viscous:
    import scipy.sparse as sparse  # slow to import

    table = table_of(label, given, ("kind", *_MATRIX), needed=tuple(_MATRIX))
    entries, columns, rows = (array_of(name, table[name], shapes) for name in _MATRIX)
    kinds = [(array.ndim, array.dtype.kind) for array in (entries, columns, rows)]
    if kinds != [(1, "f"), (1, "i"), (1, "i")] or not rows.size:
        raise InputError("entries, columns and rows are no matrix: they are mixed up")
    try:
        matrix = sparse.csr_array((entries, columns, rows), shape=(len(rows) - 1,) * 2)
        matrix.check_format(full_check=True)
    except ValueError as error:
        raise InputError(f"entries, columns and rows are no matrix: {error}") from error
    return Viscous(matrix)


def _write_shape(name: str, given: Any, shapes: Table) -> str:
    free = next(each for i in count() if (each := f"example {i}") not in shapes)
    return kept(free, given, shapes)


EXAMPLE = {
    "name": TEXT,
    "measure": _choice(Measure, _by_value),
    "curve": Field(CURVE.write, lambda name, given, shapes: Curve.of(given)),
    "shape": Field(_write_shape, array_of),
}
EXAMPLE_OPTIONS = {"symmetric": YES_OR_NO, "overall": CURVE, "about": ARRAY}


def examples_of(given: Any, shapes: Table) -> list[Example]:
    """The examples in a list of tables."""
    if not isinstance(given, list):
        raise InputError("example is not a list; write each one under [[example]]")
    examples = []
    for i, each in enumerate(given):
        name = each.get("name") if isinstance(each, dict) else None
        label = f"example {i} ({name!r})" if isinstance(name, str) and name else f"example {i}"
        examples.append(within(label, _example_of, each, shapes))
    return examples


def _example_of(given: Any, shapes: Table) -> Example:
    return Example(**read_fields("it", given, EXAMPLE, ("shape", "curve"), shapes))


_EXAMPLES = Field(
    lambda name, given, shapes: [write_fields(each, EXAMPLE, shapes) for each in given],
    lambda name, given, shapes: examples_of(given, shapes),
)

KINDS: dict[str, Kind] = {
    "rayleigh": _by_fields(
        Rayleigh,
        {"mass": COEFFICIENT, "stiffness": COEFFICIENT, "at": _choice(StiffnessAt, _by_name)},
    ),
    "caughey": _by_fields(Caughey, {"coefficients": NUMBERS}, "coefficients"),
    "viscous": Kind(Viscous, _write_matrix, _read_matrix),
    "strain_rate": _by_fields(
        StrainRate,
        {"shear": COEFFICIENT, "bulk": COEFFICIENT, "fibre": COEFFICIENT, "direction": VECTORS},
    ),
    "matched_strain_rate": _by_fields(MatchedStrainRate, {"stiffness": COEFFICIENT}, "stiffness"),
    "principal_strain": _by_fields(
        PrincipalStrain, {"stiffness": COEFFICIENT, "axis_width": NUMBER}, "stiffness"
    ),
    "spline": _by_fields(
        SplineDamping,
        {
            "base": DAMPING,
            "curve": CURVE,
            "over": _choice(SplineOver, _by_name),
            "axis_width": NUMBER,
        },
        "base",
        "curve",
    ),
    "spring_strain_rate": _by_fields(
        SpringStrainRate, {"viscosity": COEFFICIENT, "matched": COEFFICIENT}
    ),
    "cloth_strain_rate": _by_fields(
        ClothStrainRate, {each.name: COEFFICIENT for each in fields(ClothStrainRate)}
    ),
    "cloth_drag": _by_fields(
        ClothDrag,
        {"normal": NUMBER, "tangential": NUMBER, "wind": NUMBERS, "air_density": NUMBER},
    ),
    "power_law": _by_fields(
        PowerLaw,
        {
            "exponent": NUMBER,
            "strength": COEFFICIENT,
            "width": NUMBER,
            "of": DAMPING,
            "scale": NUMBER,
        },
        "exponent",
    ),
    "momentum_conserving": _by_fields(
        MomentumConserving, {"by": _choice(Conserving, _by_name), "damping": DAMPINGS}, "damping"
    ),
    "drag": _by_fields(Drag, {"strength": NUMBER, "wind": NUMBERS, "exponent": NUMBER}, "strength"),
    "by_example": _by_fields(
        ExampleDamping,
        {"base": DAMPING, **EXAMPLE_OPTIONS, "examples": _EXAMPLES},
        "base",
        "examples",
    ),
}
"""What a damping file can keep."""
