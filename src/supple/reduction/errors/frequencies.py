"""Whether a reduced model vibrates as its body does."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

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


class Compared(NamedTuple):
    """The slowest vibrations of a body."""

    modes: Modes
    """Those that are not rigid."""
    rest: SmallVibrations | None
    """The body about its rest shape, unless its factors would take too long."""


def compared_vibrations(body: Body, count: int, compare: bool | Modes | None) -> Compared | None:
    """Up to ``count`` vibrations of a body that are not rigid; None if nobody looks.

    ``compare`` says whether to, or gives the modes; None leaves very large bodies alone.
    """
    large = body.n_vertices > _MOST_VERTICES and compare is not True
    given = isinstance(compare, Modes)
    if isinstance(compare, Modes) and compare.shapes.shape[1:] != body.mesh.vertices.shape:
        raise InputError(
            f"compare has modes of {compare.shapes.shape[1]} vertices, the body has "
            f"{body.n_vertices}; give vibration_modes(body, 6)"
        )
    if compare is False or (large and not given):
        return None
    rest = None
    try:
        rest = None if large else SmallVibrations(body, np.zeros_like(body.mesh.vertices))
    except InputError:
        if compare is True:
            raise  # a body with hinges, say, has shapes to reduce to but no modes
    if isinstance(compare, Modes):
        modes = compare
    elif rest is None:
        return None
    else:
        modes = rest.modes(min(len(rest.rigid) + count, int(body.free.sum()) - 1))
    own = slice(modes.rigid, modes.rigid + count)
    return Compared(Modes(modes.frequencies[own], modes.shapes[own]), rest)


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
