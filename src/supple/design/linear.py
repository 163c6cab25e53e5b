"""The best that one number an example can do: linear damping against the same targets."""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import inf, log10
from typing import Any

import numpy as np

from supple.bodies.solid import Body
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.core.types import Progress
from supple.damping import ExampleDamping
from supple.design.moments import moments_of, ordered_targets, worst
from supple.design.reasons import with_constant
from supple.design.report import DesignReport, Fit, TargetResult
from supple.design.search import HIGHEST, LOWEST
from supple.design.targets import Unloading
from supple.design.testbed import Watch
from supple.design.testbeds import make_testbed
from supple.design.unloading import UnloadingTest
from supple.reduction import ReducedModel

_ACCURACY = 0.01  # of log₁₀ γ


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
    from scipy.optimize import minimize_scalar  # slow to import

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

    def misfit(log_gamma: float, so_far: ExampleDamping, i: int) -> float:
        trial = with_constant(so_far, i, 10.0**log_gamma)
        total = 0.0
        for target in (target for j, target in ordered if j == i):
            counts[target] += 1
            test = release(trial, i, target)
            if test.is_failed:
                return inf  # stronger than the solver bears
            total += sum(m.error**2 for m in moments_of(target, test, bed.linear_period(i)))
        return 0.5 * total

    for done, i in enumerate(examples):
        # the misfit of a decreasing residual has one valley: look over the range, then go down
        grid = np.linspace(log10(LOWEST), log10(HIGHEST), 7)
        heights = [misfit(x, best, i) for x in grid]
        k = int(np.argmin(heights))
        low, high = grid[max(k - 1, 0)], grid[min(k + 1, len(grid) - 1)]
        near = {"xatol": _ACCURACY}
        found = minimize_scalar(
            misfit, args=(best, i), bounds=(low, high), method="bounded", options=near
        )
        best = with_constant(best, i, 10.0 ** float(found.x))
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
