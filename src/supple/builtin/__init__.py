"""Bodies made by code, to try things on."""

from __future__ import annotations

from collections.abc import Callable

from supple.builtin.bridge import bridge
from supple.builtin.creature import creature
from supple.builtin.heart import heart
from supple.builtin.solid import Solid, beam
from supple.builtin.spoon import spoon
from supple.builtin.tower import tower

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
