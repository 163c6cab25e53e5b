"""The fields of damping in a scene file: base, examples, targets, and how to design."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from supple.damping import Measure
from supple.io.scene.kinds import POSITIVE, SELECTION, SELECTORS, VECTOR
from supple.io.scene.models import CurveOf, DampingModel
from supple.io.scene.schema import (
    MISSING,
    Choice,
    Either,
    File,
    Flag,
    Kind,
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


@dataclass(frozen=True)
class Dampings(Kind):
    """One damping, ``[damping]``, or several that add up, ``[[damping]]``: a list of tables.

    Each says under ``path`` where it stands in the file.
    """

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, list):
            read = _DAMPING.read(value, path, problems)
            return MISSING if read is MISSING else [{**read, "path": path}]
        if not value:
            return problems.got(path, value, "a table, or several, each starting with [[damping]]")
        tables = []
        for i, each in enumerate(value):
            place = f"{path}[{i}]"
            read = _DAMPING.read(each, place, problems)
            if read is not MISSING:
                tables.append({**read, "path": place})
        return MISSING if len(tables) < len(value) else tables


_DAMPING = DampingModel(
    (
        ("file", File()),
        ("examples", Tables(_EXAMPLE)),
        ("overall", CurveOf()),
        ("symmetric", Flag()),
        ("about", Choice(("rest", "equilibrium"))),
    ),
    (("symmetric", ("examples",)), ("about", ("examples", "overall"))),
)

EXAMPLE_NAME = Either((Whole(), Text()), "the name of an example, or its number from 1 on")

TARGET = Table(
    {
        "example": EXAMPLE_NAME,
        "start": POSITIVE,
        "residual": POSITIVE,
        "wish": Text(),
        "settle": POSITIVE,
    },
    required=("example", "start"),
    one_of=("residual", "wish", "settle"),
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
