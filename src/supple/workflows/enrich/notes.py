"""What to tell of flesh that does not move as one would expect."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from supple.character.runtime.soft_motion import SoftMotion
from supple.character.training.midpoint import BetweenPosesWarning
from supple.core.errors import InputError, Message, Parameter
from supple.io.gltf.motion import GltfReport
from supple.reduction.cubature.cubature import CubatureWarning

STIFFER = Message(
    "make it stiffer by a higher ", Parameter("frequency", ""), " or less soft by ",
    Parameter("soft", ""),
)  # fmt: skip
_FAR = 0.15  # of the body: flesh that goes further looks torn off


def still_notes(still: Sequence[str], names: Sequence[str]) -> Iterator[str]:
    """Of clips that leave the skin as it is at rest; at least one of ``names`` must move it."""
    if len(still) == len(names):
        raise InputError(
            f"{', '.join(names)}: no clip moves the skin from where it is at rest; flesh "
            "follows motion, so name others by ",
            Parameter("clips", ""),
            ", or export the character with an animation",
        )
    if still:
        verb = "leaves" if len(still) == 1 else "leave"
        yield f"{', '.join(still)} {verb} the skin as it is at rest, and had no need of flesh"


def hard_note(names: Sequence[str]) -> str:
    """Of what is rigid without having been asked for."""
    return Message(
        "taken for hard, unless ", Parameter("soft", ""), f" names them: {', '.join(names)}"
    )


def far_notes(motions: Sequence[SoftMotion], size: float) -> Iterator[str]:
    """Of the clip in which flesh moves too far for a body of that ``size`` [m], if one does."""
    far = max(motions, key=lambda motion: motion.largest)
    share = far.largest / size
    if share > _FAR:
        yield Message(
            f"flesh moves by {100 * share:.0f} % of the body in {far.clip}, which is much; ",
            STIFFER,
            ", or say how long the character is by ",
            Parameter("length", ""),
        )


def loop_notes(motions: Sequence[SoftMotion]) -> Iterator[str]:
    """Of loops whose flesh is not yet the same from round to round."""
    for motion in motions:
        if not motion.agrees:
            yield Message(
                f"the flesh of {motion.clip} does not repeat itself: after {motion.rounds} rounds "
                f"two in a row are {1e3 * motion.gap:.2g} mm apart, which is spread over the loop; "
                "let it settle sooner by ",
                Parameter("settle", ""),
                ", or play it once",
            )


def settling_notes(wanted: float, reached: float, slowest: float) -> Iterator[str]:
    """Of flesh that settles within ``reached`` [s] only, as it swings so slowly [Hz]."""
    if reached > 1.01 * wanted:
        yield Message(
            f"flesh that swings {slowest:.3g} times a second, as the slowest does, settles within "
            f"{reached:.2g} s, not {wanted:g} s; ",
            STIFFER,
        )


def tolerance_notes(written: GltfReport | None) -> Iterator[str]:
    """Of a file whose vertices are farther off than they may be."""
    if written is not None and not written.met:
        more, larger = Parameter("targets", ""), Parameter("tolerance", "")
        yield Message(f"the file has {written}; give more ", more, ", or a larger ", larger)


@contextmanager
def noted(notes: list[str]) -> Iterator[None]:
    """Puts what is warned of among the notes; warnings that Python gives go on."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for each in caught:
        if issubclass(each.category, UserWarning):
            notes.append(_told(each.message))
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)


def _told(message: Warning | str) -> str:
    """What a warning says; how to choose cells or poses is nothing that can be asked for here."""
    if isinstance(message, CubatureWarning | BetweenPosesWarning):
        return str(message).split(";")[0]
    kept = message.args[0] if isinstance(message, Warning) and message.args else message
    return kept if isinstance(kept, Message) else str(kept)
