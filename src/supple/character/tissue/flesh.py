"""What flesh is unless it is said: its material, how fast it swings and how soon it settles."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from supple.materials import StableNeoHookean

FREQUENCY = 4.0
"""Natural frequency of flesh [Hz]."""
SETTLE = 0.5
"""Time in which a swing falls to 5 % [s]."""


def flesh() -> StableNeoHookean:
    """Its material, before it is made as stiff as a frequency asks for."""
    from supple.materials import StableNeoHookean  # whose kernels only names need not wait for

    return StableNeoHookean(young=1e4, poisson=0.45, density=1000.0)
