"""What several tables of a scene file share: vectors, lengths, and which vertices are meant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from supple.core.errors import InputError
from supple.io.scene.schema import File, Kind, Number, Problems, Row, Span, Text, Whole

VECTOR = Row(Number(), 3)
POSITIVE = Number(0.0, above=True)
SELECTION: dict[str, Kind] = {
    "x": Span(),
    "y": Span(),
    "z": Span(),
    "tolerance": Number(0.0, unit="m"),
    "file": File(),
    "vertices": Row(Whole(0)),
    "place": Text(),
}
"""Fields that choose vertices."""
SELECTORS = ("x", "y", "z", "file", "vertices", "place")
"""Those of them that can stand alone."""


def construct(
    cls: Callable[..., Any], options: dict[str, Any], path: str, problems: Problems
) -> Any:
    """What ``cls`` makes of options; what it refuses is a problem of the field that it names."""
    try:
        return cls(**options)
    except InputError as error:
        place = f"{path}.{error.parameter}" if error.parameter in options else path
        return problems.add(place, str(error))
