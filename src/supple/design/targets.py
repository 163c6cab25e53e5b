"""What a person asks of a motion: how much of it is left after a cycle, and in plain words."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from math import exp, pi, sqrt

from supple.core.checks import number
from supple.core.errors import InputError
from supple.core.parameters import checked, described

SETTLED = 0.05
"""Share of the amplitude that is left when a motion has settled."""


class Wish(ABC):
    """How a swing should die away."""

    def __post_init__(self) -> None:
        checked(self)

    @abstractmethod
    def share(self, period: float) -> float:
        """What is left of the amplitude after one cycle, that takes ``period`` [s]."""


@dataclass(frozen=True)
class ShareLeft(Wish):
    """A share of the amplitude is left after one cycle: ``ShareLeft(0.8)``."""

    left: float = field(metadata=described("share that is left", above=0, below=1))

    def share(self, period: float) -> float:
        return self.left

    def __str__(self) -> str:
        return f"{100 * self.left:.4g} % left after one cycle"


@dataclass(frozen=True)
class HalfLife(Wish):
    """The amplitude halves in so many seconds."""

    seconds: float = field(metadata=described("in which it does", above=0, unit="s"))

    def share(self, period: float) -> float:
        return float(0.5 ** (period / self.seconds))

    def __str__(self) -> str:
        return f"half-life {self.seconds:.4g} s"


@dataclass(frozen=True)
class SettlingTime(Wish):
    """The motion settles in so many seconds: a twentieth of the amplitude is left then."""

    seconds: float = field(metadata=described("in which it does", above=0, unit="s"))

    def share(self, period: float) -> float:
        return float(SETTLED ** (period / self.seconds))

    def __str__(self) -> str:
        return f"settles in {self.seconds:.4g} s"


@dataclass(frozen=True)
class DampingRatio(Wish):
    """The damping ratio ζ, a share of critical damping."""

    zeta: float = field(metadata=described("damping ratio", above=0, below=1))

    def share(self, period: float) -> float:
        return exp(-2 * pi * self.zeta / sqrt(1 - self.zeta**2))

    def __str__(self) -> str:
        return f"ζ = {self.zeta:.4g}"


def _seconds(found: re.Match[str]) -> float:
    return float(found[1]) * (1e-3 if found[2].startswith("m") else 1.0)


_NUMBER = r"(\d+(?:\.\d*)?(?:e[-+]?\d+)?|\.\d+)"
_CYCLE = r"(?: (?:after|in|each|per|every)(?: (?:one|a|each|every|1))? cycle)?"
_SECONDS = r"(ms|milliseconds?|s|sec|seconds?)"
_WORDS: tuple[tuple[str, Callable[[re.Match[str]], Wish]], ...] = (
    (
        rf"(?:(?:down to|leaves?|left|keeps?) )?{_NUMBER} ?%(?: of (?:the|its) amplitude)?"
        rf"(?: (?:left|remain|remains))?{_CYCLE}",
        lambda found: ShareLeft(float(found[1]) / 100),
    ),
    (rf"(?:halved|half left|halves){_CYCLE}", lambda found: ShareLeft(0.5)),
    (
        rf"(?:half[- ]life(?: of| is)?|halves in|halved in)[:=]? ?{_NUMBER} ?{_SECONDS}",
        lambda found: HalfLife(_seconds(found)),
    ),
    (
        rf"(?:(?:settles?|settled|at rest) (?:in|within|after)|settling time(?: of| is)?[:=]?)"
        rf" ?{_NUMBER} ?{_SECONDS}",
        lambda found: SettlingTime(_seconds(found)),
    ),
    (
        rf"(?:ζ|zeta|(?:damping )?ratio)(?: of| is)? ?[=:]? ?{_NUMBER}( ?%)?(?: of critical)?",
        lambda found: DampingRatio(float(found[1]) * (0.01 if found[2] else 1.0)),
    ),
    (
        rf"{_NUMBER} ?% (?:damping|of critical(?: damping)?)",
        lambda found: DampingRatio(float(found[1]) / 100),
    ),
)


def wish(words: str) -> Wish:
    """A wish from plain words.

    "down to 20 % after one cycle", "80 % left each cycle", "half-life 0.4 s", "settles in 0.3 s",
    "ζ = 0.05".
    """
    text = " ".join(str(words).lower().replace("per cent", "%").replace("percent", "%").split())
    text = text.rstrip(".").removesuffix(" at this amplitude")
    for pattern, make in _WORDS:
        if found := re.fullmatch(pattern, text):
            return make(found)
    raise InputError(
        f"wish {words!r} is not understood; write it like 'down to 20 % after one cycle', "
        "'half-life 0.4 s', 'settles in 0.3 s' or 'ζ = 0.05'; a cycle is one swing there and back"
    )


@dataclass(frozen=True)
class Unloading:
    """The body is released from ``start`` times an example; ``residual`` is left after one cycle.

    ``example`` is its number or its name, ``start`` an excitation. ``residual`` is an excitation
    too, or a wish: an object, or plain words such as "down to 20 % after one cycle".
    """

    example: int | str
    start: float
    residual: float | Wish | str

    def __post_init__(self) -> None:
        number("start", self.start, above=0)
        if isinstance(self.residual, str):
            object.__setattr__(self, "residual", wish(self.residual))
        if isinstance(self.residual, Wish):
            return
        left = number("residual", self.residual, above=0)
        if left >= self.start:
            raise InputError(
                f"residual={self.residual!r} after a start from {self.start!r}: damping cannot "
                "leave more than there was; give a smaller residual"
            )

    def wanted(self, period: float) -> float:
        """The excitation that should be left after a cycle of ``period`` [s]."""
        if isinstance(self.residual, Wish):
            return self.start * self.residual.share(period)
        return float(self.residual)

    def __str__(self) -> str:
        name = self.example if isinstance(self.example, str) else f"example {self.example}"
        if isinstance(self.residual, Wish):
            return f"{name} from {self.start:g}: {self.residual}"
        return f"{name}: {self.start:g} → {self.residual:g}"
