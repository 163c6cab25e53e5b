"""Which joints of a skeleton bend the flesh between them."""

from __future__ import annotations

from dataclasses import dataclass

from supple.core.types import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class JointPairs:
    """Pairs of joints whose flesh hangs together: how they lie to each other tells poses apart.

    Where the bones that share flesh make circles, the pairs that share least are left out.
    """

    joints: Ints
    """(p, 2)"""
    places: Floats
    """Where the two meet, in the frames of both, (p, 2, 3) [m]."""
    slide: Bools
    """Which of them come apart in some clip, (p,)."""
    length: float
    """A slide by this much [m] counts as 1 rad."""
