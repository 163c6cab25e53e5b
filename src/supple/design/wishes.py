"""How a motion should die away: wishes, and the moments of a motion that they speak of."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import exp, pi, sqrt
from typing import Any, Literal

import numpy as np

from supple.core.checks import number, whole_number
from supple.core.errors import InputError
from supple.core.parameters import Kind, Parameter, checked, described, parameter
from supple.design.ringdown.ringdown import RingDown

SETTLED = 0.05
"""Share of the amplitude that is left when a motion has settled."""
_POINTS = 6  # of an envelope that is read off a recording

Unit = Literal["cycles", "s"]
"""What moments are counted in."""


@dataclass(frozen=True)
class Aim:
    """What should be left at one moment of a motion."""

    when: float
    """After so many cycles or seconds."""
    unit: Unit
    share: float
    """Of the amplitude at the start or, of ``each`` cycle, of that a cycle before."""
    each: bool = False


class Wish(ABC):
    """How a swing should die away."""

    def __post_init__(self) -> None:
        checked(self)

    @abstractmethod
    def share(self, period: float) -> float:
        """What is left of the amplitude after one cycle, that takes ``period`` [s]; about."""

    def aims(self, period: float) -> tuple[Aim, ...]:
        """What is asked for, moment by moment, of a motion whose cycles take ``period`` [s]."""
        return (Aim(1, "cycles", self.share(period)),)

    def in_words(self, digits: int = 4) -> str:
        """Words that ``wish`` understands; 15 digits lose nothing."""
        return repr(self)  # of a wish from elsewhere, which no words are known for

    def __str__(self) -> str:
        return self.in_words()


def _cycles(count: float) -> str:
    return "one cycle" if count == 1 else f"{count:g} cycles"


def _percent(share: float, digits: int) -> str:
    return f"{100 * share:.{digits}g} %"


@dataclass(frozen=True)
class ShareLeft(Wish):
    """A share of the amplitude is left after so many cycles: ``ShareLeft(0.1, cycles=3)``."""

    left: float = field(metadata=described("share that is left", above=0, below=1))
    cycles: int = parameter(1, "after which it is", at_least=1)

    def share(self, period: float) -> float:
        return float(self.left ** (1 / self.cycles))

    def aims(self, period: float) -> tuple[Aim, ...]:
        return (Aim(self.cycles, "cycles", self.left),)

    def in_words(self, digits: int = 4) -> str:
        return f"{_percent(self.left, digits)} left after {_cycles(self.cycles)}"


@dataclass(frozen=True)
class EachCycle(Wish):
    """The same share is left by each of several cycles: ``EachCycle(0.8, cycles=3)``."""

    left: float = field(metadata=described("share that each leaves", above=0, below=1))
    cycles: int = parameter(3, "that do so", at_least=1)

    def share(self, period: float) -> float:
        return self.left

    def aims(self, period: float) -> tuple[Aim, ...]:
        return tuple(Aim(k, "cycles", self.left, each=True) for k in range(1, self.cycles + 1))

    def in_words(self, digits: int = 4) -> str:
        return f"{_percent(self.left, digits)} left in each of {_cycles(self.cycles)}"


@dataclass(frozen=True)
class HalfLife(Wish):
    """The amplitude halves in so many seconds, as the first cycle shows."""

    seconds: float = field(metadata=described("in which it does", above=0, unit="s"))

    def share(self, period: float) -> float:
        return float(0.5 ** (period / self.seconds))

    def in_words(self, digits: int = 4) -> str:
        return f"half-life {self.seconds:.{digits}g} s"


@dataclass(frozen=True)
class SettlingTime(Wish):
    """The motion settles in so many seconds: then a twentieth is left, or the share ``to``."""

    seconds: float = field(metadata=described("in which it does", above=0, unit="s"))
    to: float = parameter(SETTLED, "share that counts as settled", above=0, below=1)

    def share(self, period: float) -> float:
        return float(self.to ** (period / self.seconds))

    def aims(self, period: float) -> tuple[Aim, ...]:
        return (Aim(self.seconds, "s", self.to),)

    def in_words(self, digits: int = 4) -> str:
        to = "" if self.to == SETTLED else f" to {_percent(self.to, digits)}"
        return f"settles{to} in {self.seconds:.{digits}g} s"


@dataclass(frozen=True)
class DampingRatio(Wish):
    """The damping ratio ζ, a share of critical damping."""

    zeta: float = field(metadata=described("damping ratio", above=0, below=1))

    def share(self, period: float) -> float:
        return exp(-2 * pi * self.zeta / sqrt(1 - self.zeta**2))

    def in_words(self, digits: int = 4) -> str:
        return f"ζ = {self.zeta:.{digits}g}"


def _points(of: Parameter, value: Any) -> tuple[tuple[float, float], ...]:
    example = "give pairs of a moment and a share, such as [(0.5, 0.7), (1.0, 0.3)]"
    try:
        points = tuple((float(when), float(share)) for when, share in value)
    except (TypeError, ValueError) as error:
        raise InputError(f"{of.name}={value!r}: {example}") from error
    if not points:
        raise InputError(f"{of.name} is empty; {example}")
    for when, share in points:
        number("moment", when, above=0)
        number("share", share, above=0, below=1)
    for (before, more), (after, less) in pairwise(points):
        if not (after > before and less < more):
            raise InputError(
                f"{of.name}: {less:g} at {after:g} follows {more:g} at {before:g}; moments must "
                "increase and shares fall, since damping only takes"
            )
    return points


@dataclass(frozen=True)
class Envelope(Wish):
    """An envelope drawn by hand: what is left of the amplitude at each of several moments.

    ``points`` are pairs of a moment and a share of the amplitude at the start. Moments are in
    seconds, or in whole cycles with ``unit="cycles"``.
    """

    points: Sequence[tuple[float, float]] = field(
        metadata=described("moments and shares", kind=Kind("pairs of numbers", _points))
    )
    unit: Unit = "s"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.unit not in ("s", "cycles"):
            raise InputError(f'unit={self.unit!r}: give "s" or "cycles"')
        if self.unit == "cycles":
            whole = tuple(
                (whole_number("cycle", _as_whole(k), at_least=1), share) for k, share in self.points
            )
            object.__setattr__(self, "points", whole)

    @classmethod
    def recorded(
        cls, ring: RingDown | str | os.PathLike[str], *, seconds: float | None = None
    ) -> Envelope:
        """The envelope of a recorded ring-down, or of the file of one, from its first turn on.

        It is read at six moments over ``seconds``, or over as long as a twentieth is left.
        """
        read = ring if isinstance(ring, RingDown) else RingDown.read_csv(ring)
        times = read.turns[0] - read.start
        over = float(times[-1]) if seconds is None else number("seconds", seconds, above=0)
        dense = np.linspace(0, min(over, float(times[-1])), 400)[1:]
        shares = np.minimum.accumulate(read.envelope(read.start + dense) / read.amplitude)
        if seconds is None:
            dense, shares = dense[shares >= SETTLED], shares[shares >= SETTLED]
        falling = np.flatnonzero(np.diff(shares, prepend=1.0) < 0)
        if not len(falling):
            raise InputError(
                "the recording does not die away over the time looked at; give a longer one, or "
                "more seconds="
            )
        # moments between which as much is lost, so that a long tail does not count for all of it
        levels = np.exp(np.linspace(0, np.log(shares[-1]), _POINTS + 1)[1:])
        at = np.interp(-levels, -shares[falling], dense[falling])
        kept = np.concatenate([[True], np.diff(at) > 1e-9])
        return cls(list(zip(at[kept].tolist(), levels[kept].tolist(), strict=True)))

    def share(self, period: float) -> float:
        when = np.array([0.0, *(when for when, _ in self.points)])
        logs = np.log([1.0, *(share for _, share in self.points)])
        one = 1.0 if self.unit == "cycles" else period
        slope = (logs[-1] - logs[-2]) / (when[-1] - when[-2])
        beyond = max(one - when[-1], 0.0)
        return float(np.exp(np.interp(one, when, logs) + slope * beyond))

    def aims(self, period: float) -> tuple[Aim, ...]:
        return tuple(Aim(when, self.unit, share) for when, share in self.points)

    def in_words(self, digits: int = 4) -> str:
        def moment(when: float) -> str:
            return _cycles(when) if self.unit == "cycles" else f"{when:.{digits}g} s"

        return ", ".join(
            f"{_percent(share, digits)} after {moment(when)}" for when, share in self.points
        )


def _as_whole(count: float) -> float | int:
    return int(count) if float(count).is_integer() else count
