"""What a person asks of a release: from where, and how it should die away."""

from __future__ import annotations

from dataclasses import dataclass

from supple.core.checks import number
from supple.core.errors import InputError
from supple.design.wishes import Aim, Wish
from supple.design.words import wish


@dataclass(frozen=True)
class Unloading:
    """The body is released from ``start`` times an example; ``residual`` is left after one cycle.

    ``example`` is its number or its name, ``start`` an excitation. ``residual`` is an excitation
    too, or a wish: an object, or plain words such as "down to 20 % after one cycle". Wishes may
    speak of several cycles, or of a time.
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
        """The excitation that should be left after a cycle of ``period`` [s]; about."""
        if isinstance(self.residual, Wish):
            return self.start * self.residual.share(period)
        return float(self.residual)

    def aims(self, period: float) -> tuple[Aim, ...]:
        """What is asked for, moment by moment, of a motion whose cycles take ``period`` [s]."""
        if isinstance(self.residual, Wish):
            return self.residual.aims(period)
        return (Aim(1, "cycles", float(self.residual) / self.start),)

    def __str__(self) -> str:
        name = self.example if isinstance(self.example, str) else f"example {self.example}"
        if isinstance(self.residual, Wish):
            return f"{name} from {self.start:g}: {self.residual}"
        return f"{name}: {self.start:g} → {self.residual:g}"
