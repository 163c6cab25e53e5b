"""Strengths that are tried, what releases with them left, and how far that is from all wishes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite, sqrt

import numpy as np

from supple.core.types import Floats
from supple.damping import Curve, ExampleDamping
from supple.design.moments import Moment, moments_of, worst
from supple.design.search.knots import Knots
from supple.design.search.root import HIGHEST, LOWEST
from supple.design.targets import Unloading
from supple.design.testbed import Testbed, Watch
from supple.design.unloading import UnloadingTest

_OVERDAMPED = 2.0  # times the decrement wanted that counts for infinity, and at least
_AT_LEAST = 4.0
GAINED = -0.5
"""Decrement of a swing that gains more than that."""
_FAR_OFF = 0.5  # residual, about the log of an amplitude, beyond which it hardly matters how far
GIVEN_UP, BESIDE = 0.005, 0.05
"""Weight of a target that is beyond reach while others are sought, which it then hardly moves, and
beside them, where trials that do as well by the others are told apart."""
_AS_NEAR = 2.0, 0.02  # times as far off as the nearest trial, and more, to meet more targets
_NUDGES = (1e-9, -1e-9)  # of a start, that a release should not notice

LOW, HIGH = float(np.log10(LOWEST)), float(np.log10(HIGHEST))
"""Bounds of the unknowns."""


@dataclass(frozen=True, eq=False)
class Asked:
    """A target, the example it is of, and how long its releases are watched."""

    example: int
    target: Unloading
    watch: Watch


@dataclass(frozen=True, eq=False)
class Trial:
    """Strengths, and what releases with them left."""

    knots: Knots
    z: Floats
    damping: ExampleDamping
    tests: tuple[UnloadingTest, ...]
    moments: tuple[tuple[Moment, ...], ...]
    stale: tuple[bool, ...]
    """Which tests were made before the curves of other examples changed."""
    weights: tuple[float, ...]
    """What each target counts for; less than one where it is known to be beyond reach."""
    nudged: Mapping[int, tuple[bool, float]] = field(default_factory=dict)
    """Of targets whose releases go one way or another by rounding, the worst that is known: whether
    it failed, and its bounded squares, whatever the target counts for."""

    def is_met(self, i: int, tolerance: float) -> bool:
        """Whether target i is, and not as rounding has it."""
        return i not in self.nudged and all(abs(m.error) <= tolerance for m in self.moments[i])

    def met(self, tolerance: float) -> bool:
        """Whether all targets are that can be."""
        return all(self.is_met(i, tolerance) or weight < 1 for i, weight in enumerate(self.weights))

    def count_met(self, tolerance: float) -> int:
        """How many targets are."""
        return sum(self.is_met(i, tolerance) for i in range(len(self.tests)))

    @property
    def quality(self) -> tuple[int, float]:
        """How many tests failed, and the bounded squares of the others: the smaller the better.

        Where rounding decides, they are those of the worst.
        """
        return self.quality_of(range(len(self.tests)))

    @property
    def within_reach(self) -> tuple[int, float]:
        """The same of all targets that can be met."""
        return self.quality_of(i for i, weight in enumerate(self.weights) if weight == 1)

    @property
    def beside(self) -> tuple[int, float]:
        """The same where what is beyond reach counts as it does beside others."""
        weights = tuple(1.0 if weight == 1 else BESIDE for weight in self.weights)
        return replace(self, weights=weights).quality

    def quality_of(self, targets: Iterable[int]) -> tuple[int, float]:
        """The same of some targets."""
        failed, square = 0, 0.0
        for i in targets:
            has_failed, own = self.missed(i)
            failed += has_failed
            square += self.weights[i] ** 2 * own
        return failed, square

    def is_near(self, i: int, off_by: float) -> bool:
        """Whether target i is missed by no more than that, about relatively, whatever it counts."""
        return self.missed(i) <= (False, off_by**2)

    def missed(self, i: int) -> tuple[bool, float]:
        """Whether the test of target i failed, and its bounded squares."""
        failed, square = self.nudged.get(i, (False, 0.0))
        return self.tests[i].is_failed or failed, max(square, _squares(self.moments[i]))


def _squares(moments: Iterable[Moment]) -> float:
    """Bounded squares of what is known of a target."""
    return sum(_bounded(residual(m)) for m in moments if isfinite(m.error))


def _bounded(x: float) -> float:
    """x², but no more than a bound for what is far off: it is not to outweigh what can be met.

    A robust loss [Geman, McClure 1985].
    """
    return x * x / (1 + (x / _FAR_OFF) ** 2)


class Bench:
    """Makes trials of strengths, and counts what they took."""

    def __init__(
        self,
        bed: Testbed,
        damping: ExampleDamping,
        asked: Sequence[Asked],
        *,
        tolerance: float,
        tell: Callable[[int, str], None],
    ) -> None:
        self.bed, self.damping, self.asked = bed, damping, tuple(asked)
        self.tolerance, self._tell = tolerance, tell
        self.simulations = [0] * len(asked)
        G, masses = bed.base_products()
        self.base_rates: Floats = np.diag(G) / np.diag(masses)
        """xᵀCx / xᵀMx of the base along each example [1/s]."""
        self._weights = [1.0] * len(asked)
        self._released: set[tuple[tuple[Curve, ...], int]] = set()
        self.best: Trial | None = None
        """The trial that is nearest to all targets so far, from which searches go on."""
        self._choices: dict[int, Trial] = {}  # the nearest of those that meet so many targets
        self.nearest_alone: dict[int, Trial] = {}
        """Of targets that are out of reach by themselves, what comes nearest to them alone."""
        self._parts: dict[int, tuple[tuple[int, float], Curve]] = {}  # the best of each example
        self.frozen: frozenset[int] = frozenset()
        """Examples whose curves stay as they are."""
        self.is_wary = False
        """Whether a trial has to do as well from starts nudged a little to be the best."""
        self.cut_short = False
        """Whether the last search ended because it may take no more releases."""

    @property
    def is_done(self) -> bool:
        """Whether all targets are met that can be."""
        return self.chosen is not None and self.chosen.met(self.tolerance)

    def is_met_along(self, example: int) -> bool:
        """Whether the best so far meets all targets of an example that can be met."""
        best = self.best
        return best is not None and all(
            best.is_met(i, self.tolerance) or best.weights[i] < 1
            for i, each in enumerate(self.asked)
            if each.example == example
        )

    @property
    def missed_out_of_reach(self) -> list[int]:
        """Examples with targets that were given up, and are missed."""
        found = self.chosen
        if found is None:
            return []
        given_up = [i for i, weight in enumerate(found.weights) if weight < 1]
        return sorted(
            {self.asked[i].example for i in given_up if not found.is_met(i, self.tolerance)}
        )

    @property
    def chosen(self) -> Trial | None:
        """The trial to hand back: of those about as near as the nearest, one that meets most.

        A target that is met is not given up to bring others nearer that are missed anyway. But all
        nearly met is better than one met by chance and the others far off.
        """
        if not self._choices:
            return None
        failed, loss = min(trial.within_reach for trial in self._choices.values())
        times, more = _AS_NEAR
        most = failed, (times * sqrt(loss) + more) ** 2
        near = [n for n, trial in self._choices.items() if trial.within_reach <= most]
        return self._choices[max(near)]

    def give_up(self, i: int) -> None:
        """Let target i, which is beyond reach, not draw the others off theirs."""
        self._weigh({i: GIVEN_UP})

    def take_up(self, i: int) -> None:
        """Let target i, which was given up, count as others do."""
        self._weigh({i: 1.0})

    def weigh_given_up(self, weight: float) -> None:
        """Let all that was given up count for so much."""
        self._weigh({i: weight for i, before in enumerate(self._weights) if before < 1})

    def _weigh(self, weights: Mapping[int, float]) -> None:
        for i, weight in weights.items():
            self._weights[i] = weight
        self._parts = {}
        self._rank(replace(trial, weights=tuple(self._weights)) for trial in self._known())

    def be_wary(self) -> None:
        """Trials have to do as well from starts nudged a little from now on; those known too."""
        self.is_wary = True
        self._rank(self.nudged(trial) for trial in self._known())

    def _known(self) -> list[Trial]:
        """The trials that are kept."""
        best = [] if self.best is None else [self.best]
        return best + [trial for trial in self._choices.values() if trial is not self.best]

    def _rank(self, trials: Iterable[Trial]) -> None:
        """Keep the nearest trial, and the nearest of those that meet as many targets and more."""
        known = list(trials)
        if not known:
            return
        self.best = min(known, key=lambda trial: trial.quality)
        least = self.best.count_met(self.tolerance)
        self._choices = {}
        for trial in sorted(known, key=lambda trial: trial.beside):
            count = trial.count_met(self.tolerance)
            if count >= least:
                self._choices.setdefault(count, trial)

    def _leads_on(self, trial: Trial) -> bool:
        """Whether a trial is nearer than the nearest, or than those that meet as many targets."""
        if self.best is None or trial.quality < self.best.quality:
            return True
        count = trial.count_met(self.tolerance)
        known = self._choices.get(count)
        return count >= self.best.count_met(self.tolerance) and (
            known is None or trial.beside < known.beside
        )

    def release(self, damping: ExampleDamping, i: int) -> UnloadingTest:
        """Release the example of target i."""
        each = self.asked[i]
        if (damping.curves, i) not in self._released:
            self._released.add((damping.curves, i))
            self.simulations[i] += 1
        return self.bed.try_unloading(damping, each.example, each.target.start, each.watch)

    def moments(self, i: int, test: UnloadingTest) -> tuple[Moment, ...]:
        """What target i wanted, and what a test of it left."""
        each = self.asked[i]
        return moments_of(each.target, test, self.bed.linear_period(each.example))

    def trial(self, knots: Knots, z: Floats, before: Trial | None = None) -> Trial:
        """Release all targets; those of a curve that is as it was ``before`` are not made again."""
        damping = knots.damping(self.damping, z)
        tests, moments, stale = [], [], []
        for i, each in enumerate(self.asked):
            same = before is not None and (
                before.damping.curves[each.example] == damping.curves[each.example]
            )
            test = before.tests[i] if same and before is not None else self.release(damping, i)
            tests.append(test)
            moments.append(self.moments(i, test))
            stale.append(same)
            bad = worst(moments[-1])
            self._tell(i, f"{each.target}: {bad.reached:.3g} of {bad.wanted:.3g}")
        made = Trial(
            knots, z, damping, tuple(tests), tuple(moments), tuple(stale), tuple(self._weights)
        )
        if not any(stale) and self._leads_on(made):
            made = self.nudged(made) if self.is_wary else made
            self._rank([*self._known(), made])
        for example in knots.places:
            quality = made.quality_of(i for i, a in enumerate(self.asked) if a.example == example)
            if example not in self._parts or quality < self._parts[example][0]:
                self._parts[example] = quality, damping.curves[example]
        return made

    def nudged(self, trial: Trial) -> Trial:
        """The trial, with what is known of it from starts that differ in the ninth digit.

        A body that snaps through may go either way, as rounding has it: what it leaves then is no
        property of the strengths, and not there on another processor.
        """
        worst_of: dict[int, tuple[bool, float]] = {}
        for i, each in enumerate(self.asked):
            for nudge in _NUDGES:
                self.simulations[i] += 1
                start = each.target.start * (1 + nudge)
                test = self.bed.try_unloading(trial.damping, each.example, start, each.watch)
                moments = self.moments(i, test)
                if self._goes_elsewhere(trial, i, test, moments):
                    found = test.is_failed, _squares(moments)
                    worst_of[i] = max(worst_of.get(i, found), found)
        return replace(trial, nudged=worst_of)

    def _goes_elsewhere(
        self, trial: Trial, i: int, test: UnloadingTest, moments: Sequence[Moment]
    ) -> bool:
        if test.is_failed or trial.tests[i].is_failed:
            return test.is_failed != trial.tests[i].is_failed
        pairs = zip(moments, trial.moments[i], strict=True)
        return any(abs(finite(new) - finite(old)) > self.tolerance for new, old in pairs)

    def alone(self, i: int, damping: ExampleDamping) -> Bench:
        """A bench for target i and no other, with the curves of ``damping``, as wary as can be."""
        bench = Bench(
            self.bed,
            damping,
            self.asked[i : i + 1],
            tolerance=self.tolerance,
            tell=lambda _, what: self._tell(i, what),
        )
        bench.is_wary = True
        return bench

    def put_together(self, knots: Knots) -> Trial:
        """The best curve that was found for each example, whatever the others were then."""
        curves = list(self.damping.curves)
        for example, (_, curve) in self._parts.items():
            curves[example] = curve
        return self.trial(knots, knots.read(self.damping.with_curves(curves), LOWEST, HIGHEST))


def residuals(trial: Trial) -> Floats:
    """Of all moments, nothing where a test failed."""
    pairs = zip(trial.weights, trial.moments, strict=True)
    return np.array(
        [w * residual(m) if isfinite(m.error) else 0.0 for w, each in pairs for m in each]
    )


def residual(moment: Moment) -> float:
    """Of the least squares."""
    return off(finite(moment), moment.wanted_decrement)[0]


def off(d: float, wanted: float) -> tuple[float, float]:
    """(1 + d*) log((1 + d)/(1 + d*)) and its derivative by d.

    Near a target it is what the log of the amplitude is off by; far from it, where d goes with the
    strengths, it goes with their logs.
    """
    return float((1 + wanted) * np.log((1 + d) / (1 + wanted))), (1 + wanted) / (1 + d)


def finite(moment: Moment) -> float:
    """A decrement that can be computed with."""
    most = max(_AT_LEAST, _OVERDAMPED * moment.wanted_decrement)
    return float(min(max(moment.decrement, GAINED), most))
