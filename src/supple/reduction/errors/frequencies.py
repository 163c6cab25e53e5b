"""Whether a reduced model vibrates as its body does."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from supple.bodies.solid import Body
from supple.core.errors import InputError, Message, Parameter
from supple.core.types import Floats
from supple.reduction.modes import Modes, SmallVibrations

if TYPE_CHECKING:
    from supple.reduction.model import ReducedModel

COMPARED = 6
"""How many of the slowest vibrations are compared."""
SLOW = 3
"""How many of them a model should have right."""
TOLERANCE = 0.05
"""The error of a frequency, as a share, above which one is told."""
_MOST_VERTICES = 60_000  # of a body that is compared without being asked: factors take memory


class ModelWarning(UserWarning):
    """A reduced model whose slow vibrations, or whose motion, are not those of its body."""


def slowest_frequencies(body: Body, count: int, compare: bool | Modes | None) -> Floats | None:
    """Up to ``count`` frequencies of a body [Hz] that are not rigid; None if nobody looks.

    ``compare`` says whether to, or gives the modes; None leaves very large bodies alone.
    """
    if isinstance(compare, Modes):
        return np.array(compare.frequencies[compare.rigid :][:count])
    if compare is False or (compare is None and body.n_vertices > _MOST_VERTICES):
        return None
    try:
        rest = SmallVibrations(body, np.zeros_like(body.mesh.vertices))
    except InputError:
        if compare:
            raise
        return None  # a body with hinges, say, has shapes to reduce to but no modes
    rigid = len(rest.rigid)
    most = int(body.free.sum()) - 1
    return rest.modes(min(rigid + count, most)).frequencies[rigid:].copy()


def warn_of_frequencies(model: ReducedModel, *, stacklevel: int) -> None:
    """A ModelWarning where one of the slowest vibrations is not that of the body."""
    message = frequencies_note(model)
    if message is not None:
        warnings.warn(ModelWarning(message), stacklevel=stacklevel + 1)


def frequencies_note(model: ReducedModel) -> Message | None:
    """What to tell a person where one of the slowest vibrations is not that of the body."""
    errors, body = model.frequency_errors, model.body_frequencies
    if errors is None or body is None:
        return None
    off = np.flatnonzero(np.abs(errors[:SLOW]) > TOLERANCE)
    if not len(off):
        return None
    first = int(off[0])
    return Message(
        f"vibration {first + 1} of the body is at {body[first]:.3g} Hz, that of the model at "
        f"{model.frequencies[first]:.3g} Hz, {share_text(errors[first])}: the basis does not hold "
        "its shape, and motion that needs it comes out wrong. Put the slowest modes of the body "
        "in, or take a larger ",
        Parameter("size", ""),
    )


def share_text(error: float) -> str:
    """By how much a frequency is off, in words."""
    if error > 1.0:
        return f"{1 + error:.3g} times as fast"
    return f"{100 * abs(error):.2g} % too {'fast' if error > 0 else 'slow'}"


def errors_text(errors: Floats) -> str:
    """By how much the slowest vibrations are too fast, in words."""
    shown = [f"{100 * error:.2g}" if abs(error) >= 5e-4 else "0" for error in errors]
    if set(shown) == {"0"}:
        return f"the {len(shown)} slowest are those of the body"
    return f"the {len(shown)} slowest are {', '.join(shown)} % faster than the body's"
