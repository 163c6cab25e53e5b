"""What it took to move a character."""

from __future__ import annotations

from dataclasses import dataclass

ITERATIONS, STEPS, CUTS, GAINED, IN_PARTS, SETTLED, STOPPED = range(7)
"""Places in ``Workspace.counts``, in the order of the fields of ``PoseStats``."""


@dataclass(frozen=True)
class PoseStats:
    """What it took to move a character, since it was made."""

    iterations: int
    """Of Newton's method, over all stages, tries that came to nothing among them."""
    steps: int
    cuts: int
    """Frames that counted as a cut and exerted no force."""
    gained: int
    """Steps that would have gained energy that nothing puts in, and were taken otherwise."""
    in_parts: int
    """Steps that were taken in shorter ones, or with more iterations than were asked for."""
    settled: int
    """Steps that backward Euler took in place of the rule."""
    stopped: int
    """Steps that nothing led through: flesh was brought nearer to the rig, and to rest."""
