"""What several tables of a scene file share: vectors, lengths, and which vertices are meant."""

from __future__ import annotations

from supple.io.scene_schema import File, Kind, Number, Row, Span, Text, Whole

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
