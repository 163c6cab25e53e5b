"""The best that one number an example can do: linear damping against the same targets."""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import log10
from typing import Any

import numpy as np

from supple.bodies.solid import Body
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.core.types import Floats, Progress
from supple.damping import ExampleDamping
from supple.design.moments import moments_of, ordered_targets, worst
from supple.design.report import DesignReport, Fit, TargetResult
from supple.design.search.reasons import with_constant
from supple.design.search.root import HIGHEST, LOWEST
from supple.design.targets import Unloading
from supple.design.testbed import Watch
from supple.design.testbeds import make_testbed
from supple.design.unloading import UnloadingTest
from supple.reduction import ReducedModel

_ACCURACY = 0.01  # of log₁₀ γ
_FIRST = 0.5  # of log₁₀ γ, twice as far each time


class _Valley:
    """The log₁₀ γ with the least squares of errors, all of which go one way with γ.

    It goes down from where it starts in longer and longer steps, and once it is past the bottom by
    parabolas through the errors at the three points around it, as they are smoother than squares.
    """

    def __init__(self, gamma: float) -> None:
        self._ends = log10(LOWEST), log10(HIGHEST)
        self._start = min(max(log10(gamma), self._ends[0]), self._ends[1])
        self._known: dict[float, Floats] = {}
        self._step = 0.5 * _FIRST

    def tell(self, x: float, errors: Floats | None) -> None:
        """What errors there are at x; None where a release fails, as it does from there on."""
        if errors is None:
            nearest = max((each for each in self._known if each < x), default=self._ends[0])
            self._ends = self._ends[0], 0.5 * (nearest + x)
            self._start = self._ends[1]
        else:
            self._known[x] = errors

    @property
    def lowest(self) -> float:
        """The best so far."""
        if not self._known:
            return self._start
        return min(self._known, key=lambda x: float(self._known[x] @ self._known[x]))

    def next(self) -> float | None:
        """Where to look next; None at the bottom."""
        low, high = self._ends
        if not self._known:
            return self._start if high - low > _ACCURACY else None
        xs, bottom = sorted(self._known), self.lowest
        if len(xs) == 1:  # what leaves too much needs more
            way = 1.0 if self._known[bottom].sum() > 0 else -1.0
            x = self._further(bottom, way) or self._further(bottom, -way)
        elif bottom in (xs[0], xs[-1]):
            x = self._further(bottom, 1.0 if bottom == xs[-1] else -1.0)
        else:
            x = None
        if x is not None:
            return x
        k = min(max(xs.index(bottom), 1), len(xs) - 2)
        if k < 1:
            return None
        around = np.array(xs[k - 1 : k + 2])
        parabolas = np.polyfit(around, [self._known[each] for each in around], 2)
        between = np.linspace(around[0], around[-1], 1001)
        heights = np.square(np.vander(between, 3) @ parabolas).sum(axis=1)
        found = float(between[heights.argmin()])
        return None if np.abs(np.array(xs) - found).min() < _ACCURACY else found

    def _further(self, x: float, way: float) -> float | None:
        """Beyond the points that are known, if there is anything."""
        self._step *= 2
        found = min(max(x + way * self._step, self._ends[0]), self._ends[1])
        return found if abs(found - x) > _ACCURACY else None


def best_linear_damping(
    body: Body | ReducedModel | PoseSpaceModel,
    damping: ExampleDamping,
    targets: Sequence[Unloading],
    *,
    tolerance: float = 0.005,
    progress: Progress | None = None,
    **options: Any,
) -> Fit:
    """The constant scale of each example with which it comes closest to its ``targets`` (Eq. 18).

    One number serves one target an example; where there are more, compare with what
    ``design_damping`` reaches. The options are those of ``design_damping``.
    """
    began = time.perf_counter()
    options = {
        key: options[key] for key in ("integrator", "dt", "gravity", "relaxed") if key in options
    }
    ordered = ordered_targets(damping, targets)
    bed = make_testbed(body, damping, **options)

    def release(with_damping: ExampleDamping, i: int, target: Unloading) -> UnloadingTest:
        watch = Watch.of(target, bed.linear_period(i))
        return bed.try_unloading(with_damping, i, target.start, watch)

    before = {target: release(damping, i, target) for i, target in ordered}
    counts = dict.fromkeys(before, 1)
    examples = sorted({i for i, _ in ordered})
    best = damping

    def errors(log_gamma: float, so_far: ExampleDamping, i: int) -> Floats | None:
        trial = with_constant(so_far, i, 10.0**log_gamma)
        found: list[float] = []
        for target in (target for j, target in ordered if j == i):
            counts[target] += 1
            test = release(trial, i, target)
            if test.is_failed:
                return None  # stronger than the solver bears
            found += [m.error for m in moments_of(target, test, bed.linear_period(i))]
        return np.array(found)

    for done, i in enumerate(examples):
        valley = _Valley(best.curves[i].points[0][1])
        while (x := valley.next()) is not None:
            valley.tell(x, errors(x, best, i))
        best = with_constant(best, i, 10.0**valley.lowest)
        if progress is not None:
            progress(done + 1, len(examples), "examples with one number each")
    results = []
    for target in targets:
        i = damping.index(target.example)
        after = release(best, i, target)
        moments = moments_of(target, after, bed.linear_period(i))
        bad = worst(moments)
        met = abs(bad.error) <= tolerance
        results.append(
            TargetResult(
                target=target,
                example=i,
                wanted=bad.wanted,
                reached=bad.reached,
                before=before[target],
                after=after,
                gamma=best.curves[i].points[0][1],
                simulations=counts[target] + 1,
                met=met,
                reason="" if met else "one number cannot serve all amplitudes",
                moments=moments,
            )
        )
    report = DesignReport(tuple(results), 1, time.perf_counter() - began, tolerance)
    return Fit(best, report)
