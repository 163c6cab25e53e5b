"""What a reduced model knows of how far it is from its body, in words."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from supple.core.errors import Message
from supple.reduction.errors.frequencies import ModelWarning, errors_text, frequencies_note
from supple.reduction.errors.locking import locking_note, locking_text

if TYPE_CHECKING:
    from supple.reduction.errors.motion import MotionError
    from supple.reduction.model import ReducedModel


def warn_of_errors(model: ReducedModel, *, stacklevel: int) -> None:
    """A ModelWarning for each way in which a model is not like its body."""
    for note in notes_of(model):
        warnings.warn(ModelWarning(note), stacklevel=stacklevel + 1)


def notes_of(model: ReducedModel) -> list[Message]:
    """What to tell a person of a model that is not like its body."""
    notes = (frequencies_note(model), locking_note(model))
    return [note for note in notes if note is not None]


def known_of(model: ReducedModel) -> list[tuple[str, str]]:
    """How the model compares with its body, as names and values; none where nobody has looked."""
    rows = []
    if model.frequency_errors is not None:
        rows.append(("Vibrations", errors_text(model.frequency_errors)))
    if model.locking is not None:
        rows.append(("Large swings", locking_text(model.locking)))
    return rows


def error_text(told: MotionError) -> str:
    """How far a motion is from that of the body, in words."""
    return (
        f"at most {100 * told.error:.2g} % of its swing from that of the body, after "
        f"{told.worst_time:.3g} s: {told.distance:.2g} m of {told.swing:.2g} m where it is worst"
    )
