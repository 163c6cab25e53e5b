"""What to tell of flesh that does not move as one would expect."""

from __future__ import annotations

from collections.abc import Sequence

from supple.character.runtime.soft_motion import SoftMotion
from supple.core.errors import InputError

_FAR = 0.15  # of the body: flesh that goes further looks torn off


def still_notes(still: Sequence[str], names: Sequence[str]) -> list[str]:
    """Of clips that leave the skin as it is at rest; at least one of ``names`` must move it."""
    if len(still) == len(names):
        raise InputError(
            f"{', '.join(names)}: no clip moves the skin from where it is at rest; flesh follows "
            "motion, so name others by clips=, or export the character with an animation"
        )
    if not still:
        return []
    verb = "leaves" if len(still) == 1 else "leave"
    return [f"{', '.join(still)} {verb} the skin as it is at rest, and had no need of flesh"]


def far_notes(motions: Sequence[SoftMotion], size: float) -> list[str]:
    """Of the clip in which flesh moves too far for a body of that ``size`` [m], if one does."""
    far = max(motions, key=lambda motion: motion.largest)
    share = far.largest / size
    if share <= _FAR:
        return []
    return [
        f"flesh moves by {100 * share:.0f} % of the body in {far.clip}, which is much; make it "
        "stiffer by a higher swing= or less soft by soft=, or say how long the character is by "
        "length="
    ]


def loop_notes(motions: Sequence[SoftMotion]) -> list[str]:
    """Of loops whose flesh is not yet the same from round to round."""
    return [
        f"the flesh of {motion.clip} does not repeat itself: after {motion.rounds} rounds two in a "
        f"row are {1e3 * motion.gap:.2g} mm apart, which is spread over the loop; let it settle "
        "sooner by settle=, or play it once"
        for motion in motions
        if not motion.agrees
    ]
