"""Bodies made by code, to try things on."""

from __future__ import annotations

from collections.abc import Callable

from .beam import beam
from .bridge import bridge
from .creature import creature
from .heart import heart
from .solid import Solid
from .spoon import spoon
from .tower import tower

BUILTINS: dict[str, Callable[..., Solid]] = {
    "beam": beam,
    "creature": creature,
    "spoon": spoon,
    "bridge": bridge,
    "tower": tower,
    "heart": heart,
}
"""Every built-in body by the name that scene files give it."""

__all__ = ["BUILTINS", "Solid", "beam", "bridge", "creature", "heart", "spoon", "tower"]
