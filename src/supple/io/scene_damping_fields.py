"""The fields of damping in a scene file: base, examples, targets, and how to design."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from supple.damping import Curve, Joining, Measure, StiffnessAt
from supple.errors import InputError
from supple.io.scene_kinds import POSITIVE, SELECTION, SELECTORS, VECTOR
from supple.io.scene_schema import (
    MISSING,
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

SOURCES = ("mode", "force", "shape", "between", "motion")
"""Where an example deformation can come from."""

_JOININGS = tuple(joining.value for joining in Joining)


@dataclass(frozen=True)
class CurveOf(Kind):
    """A curve γ: a number, or a table such as ``{ monotone = [[0, 1], [0.5, 3]] }``."""

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, dict):
            allowed = f"{Number(0.0).allowed}, or a table with one of {', '.join(_JOININGS)}"
            gamma = Number(0.0).read(value, path, Problems(problems.folder))
            return problems.got(path, value, allowed) if gamma is MISSING else Curve.constant(gamma)
        points = Row(Row(Number(), 2))
        read = Table(dict.fromkeys(_JOININGS, points), one_of=_JOININGS).read(value, path, problems)
        if read is MISSING:
            return MISSING
        try:
            return Curve.of(read)
        except InputError as error:
            return problems.add(f"{path}.{next(iter(read))}", str(error))


_COEFFICIENT = Either(
    (Number(0.0), Named(Number(0.0))), "a number of zero or more, or a table of one a region"
)

_EXAMPLE = Table(
    {
        "name": Text(),
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
        "curve": CurveOf(),
        "measure": Choice(tuple(measure.value for measure in Measure)),
    },
    one_of=SOURCES,
    needs={
        "motion": ("time",),
        "time": ("motion",),
        "blend": ("region",),
        "force": SELECTORS,
        **dict.fromkeys(SELECTION, ("force",)),
    },
)

DAMPING = Table(
    {
        "model": Choice(("Rayleigh", "Caughey")),
        "mass": _COEFFICIENT,
        "stiffness": _COEFFICIENT,
        "frequencies": Row(POSITIVE),
        "ratios": Row(Number(0.0)),
        "stiffness_at": Choice(tuple(at.name.lower() for at in StiffnessAt)),
        "coefficients": Row(Number()),
        "file": File(),
        "examples": Tables(_EXAMPLE),
        "overall": CurveOf(),
        "symmetric": Flag(),
        "about": Choice(("rest", "equilibrium")),
    },
    needs={
        "frequencies": ("ratios",),
        "ratios": ("frequencies",),
        "symmetric": ("examples",),
        "about": ("examples", "overall"),
    },
)

EXAMPLE_NAME = Either((Whole(), Text()), "the name of an example, or its number from 1 on")

TARGET = Table(
    {
        "example": EXAMPLE_NAME,
        "start": POSITIVE,
        "residual": POSITIVE,
        "wish": Text(),
    },
    required=("example", "start"),
    one_of=("residual", "wish"),
)

DESIGN = Table(
    {
        "space": Choice(("reduced", "full")),
        "modes": Whole(),
        "size": Whole(),
        "tolerance": Number(0.0, 1.0, above=True, below=True),
        "rounds": Whole(),
        "simulations": Whole(2),
        "compare_linear": Flag(),
        "verify": Flag(),
    }
)
