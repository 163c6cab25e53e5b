"""Weaves: which yarn is on top where warp and weft cross."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import numpy as np
from numpy.typing import NDArray

from supple.core.checks import whole_number
from supple.core.errors import InputError
from supple.core.types import Bools


@dataclass(frozen=True, eq=False)
class Weave:
    """A pattern that repeats over the crossings of a cloth.

    ``warp_on_top`` (a, b) says for warp i mod a and weft j mod b whether the warp passes over.
    """

    warp_on_top: Bools

    def __post_init__(self) -> None:
        pattern: NDArray[np.generic] = np.asarray(self.warp_on_top)
        if pattern.ndim != 2 or not pattern.size or pattern.dtype != bool:
            raise InputError(
                f"warp_on_top is {pattern.dtype} of shape {pattern.shape}; give a table of "
                "booleans (a, b), or use Weave.plain(), Weave.twill() or Weave.satin()"
            )
        object.__setattr__(self, "warp_on_top", pattern)

    @classmethod
    def plain(cls) -> Weave:
        """Over one, under one."""
        return cls(np.array([[True, False], [False, True]]))

    @classmethod
    def twill(cls, over: int = 2, under: int = 2) -> Weave:
        """The warp passes over some, under some, one crossing further on each neighbour."""
        over = whole_number("over", over, at_least=1)
        period = over + whole_number("under", under, at_least=1)
        i, j = np.indices((period, period))
        return cls((j - i) % period < over)

    @classmethod
    def satin(cls, period: int = 5, shift: int = 2) -> Weave:
        """The warp passes under one of ``period``, ``shift`` further on each neighbour."""
        period = whole_number("period", period, at_least=3)
        shift = whole_number("shift", shift, at_least=1)
        if gcd(period, shift) != 1 or shift % period in (1, period - 1):
            raise InputError(
                f"shift={shift}: in a satin of {period} it has no common divisor with {period} "
                f"and is neither 1 nor {period - 1}; a satin of 5 takes 2 or 3"
            )
        i, j = np.indices((period, period))
        return cls((j - shift * i) % period != 0)

    def over(self, warps: int, wefts: int) -> Bools:
        """Whether the warp is on top at each crossing, (warps, wefts)."""
        a, b = self.warp_on_top.shape
        i, j = np.indices((warps, wefts))
        top: Bools = self.warp_on_top[i % a, j % b]
        return top
