"""What fits warn of."""

from __future__ import annotations


class MatchingWarning(UserWarning):
    """A fit that can be used, though what was observed does not tell all of it."""
