"""What a target wanted of a release, and what came of it, moment by moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log

from supple.core.errors import InputError
from supple.damping import ExampleDamping
from supple.design.targets import Unloading
from supple.design.unloading import UnloadingTest
from supple.design.wishes import Aim

_FAINTEST = 1e-6  # share of a start that a motion can be told from nothing, or from all of it


@dataclass(frozen=True)
class Moment:
    """One moment of a target: what should be left then, and what is."""

    aim: Aim
    wanted: float
    """Excitation that should be left."""
    reached: float
    """Excitation that is left; NaN where the motion could not be computed."""
    decrement: float
    """Log of what there was over what is left; infinite where nothing is."""

    @property
    def wanted_decrement(self) -> float:
        """The same, as it should be."""
        return -log(self.aim.share)

    @property
    def error(self) -> float:
        """(reached − wanted) / wanted."""
        return self.reached / self.wanted - 1

    def __str__(self) -> str:
        when = f"{self.aim.when:.4g} s" if self.aim.unit == "s" else f"cycle {int(self.aim.when)}"
        return f"{when}: {self.reached:.4g} of {self.wanted:.4g}"


def moments_of(target: Unloading, test: UnloadingTest, linear_period: float) -> tuple[Moment, ...]:
    """What a target wanted, and what a test of it left."""
    period = test.period if test.oscillates else linear_period
    found = []
    for aim in target.aims(period):
        if not _FAINTEST < aim.share < 1 - _FAINTEST:
            raise InputError(
                f"{target}: of a cycle of {period:.3g} s that would leave {aim.share:.3g} of the "
                "start, which no motion can be measured to; ask for something between"
            )
        if test.is_failed:
            found.append(Moment(aim, target.start * aim.share, test.residual, test.residual))
            continue
        base = test.base(aim) or target.start * aim.share ** (aim.when - 1)  # of what never was
        found.append(Moment(aim, base * aim.share, test.amplitude(aim), test.decrement(aim)))
    return tuple(found)


def worst(moments: Sequence[Moment]) -> Moment:
    """The moment that is missed most."""
    return max(moments, key=lambda moment: abs(moment.error))


def ordered_targets(
    damping: ExampleDamping, targets: Sequence[Unloading]
) -> list[tuple[int, Unloading]]:
    """The targets with the numbers of their examples, by example and ascending amplitude."""
    if not isinstance(targets, Sequence) or not all(isinstance(t, Unloading) for t in targets):
        raise InputError(f"targets={targets!r}: give a list such as [Unloading(0, 0.8, 0.2)]")
    if not targets:
        raise InputError("there are no targets; give at least one, such as Unloading(0, 0.8, 0.2)")
    ordered = sorted(
        ((damping.index(target.example), target) for target in targets),
        key=lambda pair: (pair[0], pair[1].start),
    )
    for (i, first), (j, second) in pairwise(ordered):
        if i == j and first.start == second.start:
            raise InputError(
                f"two targets release example {first.example!r} from {first.start:g}; give one, or "
                "another start"
            )
    return ordered
