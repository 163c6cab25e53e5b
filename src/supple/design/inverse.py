"""Inverse design: the damping curves that make unloading tests come out as wished (§5)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise
from math import inf, log

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.solid import Body
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.core.checks import instance, number, whole_number
from supple.core.errors import InputError, StepFailed
from supple.core.types import Progress
from supple.damping import Curve, ExampleDamping, Measure
from supple.design.report import DesignReport, Fit, TargetResult
from supple.design.search import HIGHEST, LOWEST, Search
from supple.design.targets import Unloading
from supple.design.unloading import Testbed, UnloadingTest, make_testbed
from supple.integrators import Integrator
from supple.reduction import ReducedModel

_CLOSE_BY = (1.0, 1.04, 0.96, 1.12)  # times a γ: where to try again after a step that failed
_FAINTEST = 1e-6  # share of a start that a motion can be told from nothing, or from all of it


def design_damping(
    body: Body | ReducedModel | PoseSpaceModel,
    damping: ExampleDamping,
    targets: Sequence[Unloading],
    *,
    integrator: Integrator | None = None,
    dt: float = 1 / 60,
    gravity: ArrayLike = (0.0, 0.0, 0.0),
    tolerance: float = 0.005,
    rounds: int = 5,
    simulations: int = 15,
    progress: Progress | None = None,
) -> Fit:
    """Curves for the examples of ``damping`` with which all ``targets`` are met.

    Every target becomes a point of its example's curve, which is piecewise linear in log γ; points
    are found one after the other from small amplitudes to large ones, each by releasing the body
    until what is left after a cycle is within ``tolerance`` of the wish, in at most ``simulations``
    tries. Examples are gone through in ``rounds`` until they agree. ``integrator`` (Bathe), ``dt``
    [s] and ``gravity`` should be those of the motions that the damping is for.
    """
    instance("damping", damping, ExampleDamping, "ExampleDamping(Rayleigh(stiffness=1e-3), [...])")
    number("tolerance", tolerance, above=0, below=1)
    whole_number("rounds", rounds, at_least=1)
    whole_number("simulations", simulations, at_least=2)
    if progress is not None and not callable(progress):
        raise InputError(
            f"progress={progress!r}: give a function, called as progress(done, total, what)"
        )
    began = time.perf_counter()
    damping = damping.with_curves(damping.curves)  # whatever it was designed for before
    ordered = ordered_targets(damping, targets)
    bed = make_testbed(body, damping, integrator=integrator, dt=dt, gravity=gravity)
    designer = _Designer(bed, damping, ordered, tolerance, simulations, progress)
    done, settled = 0, False
    while not settled and done < rounds:
        done += 1
        settled = designer.improve() or designer.alone
    results = designer.results(targets)
    report = DesignReport(results, done, time.perf_counter() - began, tolerance)
    options = {"integrator": integrator, "dt": dt, "gravity": gravity, "tolerance": tolerance}
    return Fit(designer.damping.designed_for(body, targets, **options), report)


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


def wanted_residual(bed: Testbed, example: int, target: Unloading, test: UnloadingTest) -> float:
    """The excitation that a target wants to be left, given the cycle that a test took."""
    period = test.period if test.oscillates else bed.linear_period(example)
    wanted = target.wanted(period)
    if not _FAINTEST * target.start < wanted < (1 - _FAINTEST) * target.start:
        raise InputError(
            f"{target}: of a cycle of {period:.3g} s that would leave {wanted / target.start:.3g} "
            "of the start, which no motion can be measured to; ask for something between"
        )
    return wanted


def with_constant(damping: ExampleDamping, example: int, gamma: float) -> ExampleDamping:
    """The damping with one number for the curve of one example."""
    return damping.with_curves(
        gamma if i == example else curve for i, curve in enumerate(damping.curves)
    )


class _Point:
    """One target and the point of the curve that serves it."""

    def __init__(self, example: int, target: Unloading, x: float, gamma: float) -> None:
        self.example, self.target = example, target
        self.x, self.gamma = x, gamma
        self.simulations = 0
        self.before: UnloadingTest | None = None
        self.after: UnloadingTest | None = None
        self.failure: tuple[float, StepFailed] | None = None  # the last one, and its γ
        self.known: UnloadingTest | None = None  # the next test, if nothing changes before it
        self.reason = ""


class _Designer:
    def __init__(
        self,
        bed: Testbed,
        damping: ExampleDamping,
        targets: list[tuple[int, Unloading]],
        tolerance: float,
        simulations: int,
        progress: Progress | None,
    ) -> None:
        self._bed, self.damping = bed, damping
        self._tolerance, self._limit, self._progress = tolerance, simulations, progress
        self.alone = len({index for index, _ in targets}) == 1  # one example, which none disturbs
        self._points: list[_Point] = []
        for index, target in targets:
            example = damping.examples[index]
            test = bed.try_unloading(damping, index, target.start)
            x = target.start
            if example.measure is Measure.RATE:  # the fastest of the cycle, about
                period = test.period if test.oscillates else bed.linear_period(index)
                x *= 2 * np.pi / period
            gamma = min(max(float(example.curve(x)), LOWEST), HIGHEST)
            point = _Point(index, target, x, gamma)
            point.before, point.simulations = test, 1
            same = example.curve.is_constant and gamma == example.curve.points[0][1]
            if same and not test.is_failed:
                point.known = test  # the curve of its targets begins as the same constant
            self._points.append(point)
        self._fresh, self._settled = True, False
        self._set_curves()

    def improve(self) -> bool:
        """One round over all targets; whether all were met, or found out of reach, as they were."""
        settled = True
        for place, point in enumerate(self._points):
            before = self._points[place - 1] if place else None  # below on the same curve, if so
            if self._fresh and before is not None and before.example == point.example:
                point.gamma = before.gamma  # a better start than the curve one came with
                self._set_curves()
            if self._fresh and place:
                point.known = None  # curves of others have changed
            gamma = point.gamma
            self._meet(point, place)
            settled = settled and abs(log(point.gamma / gamma)) < 1e-12 and not self._fresh
        self._fresh, self._settled = False, settled
        return settled

    def _meet(self, point: _Point, place: int) -> None:
        search = Search()
        tests: dict[float, UnloadingTest] = {}
        gamma, point.reason, point.failure = point.gamma, "", None
        for attempt in range(self._limit):
            tried = self._try(point, gamma)
            if tried is None:  # stronger than the solver bears, for all one can tell
                search.tell(gamma, inf, 1.0)
            else:
                gamma, test = tried
                tests[gamma] = test
                wanted = self._wanted(point, test)
                self._tell(place, point, test, wanted)
                if abs(test.residual / wanted - 1) <= self._tolerance:
                    point.after = test
                    return
                start = point.target.start
                decrement = log(start / test.residual) if test.residual > 0 else inf
                search.tell(gamma, decrement, log(start / wanted))
            if search.exhausted or search.closed or attempt + 1 == self._limit:
                break
            gamma = search.next()

        def miss(gamma: float) -> float:
            return abs(tests[gamma].residual / self._wanted(point, tests[gamma]) - 1)

        if not tests:
            assert point.failure is not None
            _, failure = point.failure
            failure.add_note(f"That is the release for {point.target}, with any damping along it.")
            raise failure
        point.gamma = min(tests, key=miss)
        point.after = tests[point.gamma]
        self._set_curves()
        point.reason = self._why(point, search)

    def _try(self, point: _Point, gamma: float) -> tuple[float, UnloadingTest] | None:
        """The test with a γ or, if a step of it fails, with one close by."""
        for factor in _CLOSE_BY:
            point.gamma = min(max(factor * gamma, LOWEST), HIGHEST)
            self._set_curves()
            try:
                return point.gamma, self._unload(point)
            except StepFailed as failure:
                point.failure = point.gamma, failure
        return None

    def _why(self, point: _Point, search: Search) -> str:
        """Why a target was not met."""
        assert point.after is not None
        left, wanted = point.after.residual, self._wanted(point, point.after)
        if point.failure is not None and not search.exhausted:
            gamma, failure = point.failure
            return (
                f"with γ = {gamma:.3g} the motion cannot be computed ({failure.reason}); smaller "
                "steps, a smaller start, or a base damping proportional to mass may do"
            )
        if search.closed:
            return (
                f"at γ = {point.gamma:.3g} what is left jumps, from a swing to a body that creeps "
                "back and only then swings, or not at all; a target between cannot be met"
            )
        if not search.exhausted:
            return f"not closer in {self._limit} simulations; allow more, or a wider tolerance"
        if left > wanted:
            return (
                f"even γ = {HIGHEST:g} at this amplitude leaves {left:.3g}: most of the cycle runs "
                "at smaller excitations, or in other shapes; a base damping that is stronger along "
                "this example reaches farther"
            )
        undamped = with_constant(self.damping, point.example, LOWEST)
        bare = self._bed.try_unloading(undamped, point.example, point.target.start)
        point.simulations += 1
        if bare.residual < wanted:
            return (
                f"with next to no damping along this example {bare.residual:.3g} is left at most: "
                "the rest goes into other shapes, is damped there, or is what the time step takes"
            )
        return (
            f"γ = {LOWEST:g} at this amplitude leaves {left:.3g}: the damping that the smaller "
            "amplitudes ask for takes more than that on the way through them"
        )

    def _unload(self, point: _Point) -> UnloadingTest:
        if point.known is not None:
            test, point.known = point.known, None
            return test
        point.simulations += 1
        return self._bed.unload(self.damping, point.example, point.target.start)

    def _wanted(self, point: _Point, test: UnloadingTest) -> float:
        return wanted_residual(self._bed, point.example, point.target, test)

    def _tell(self, place: int, point: _Point, test: UnloadingTest, wanted: float) -> None:
        if self._progress is not None:
            what = f"targets; {point.target}: {test.residual:.3g} of {wanted:.3g}"
            self._progress(place, len(self._points), what)

    def _set_curves(self) -> None:
        curves = list(self.damping.curves)
        for index in {point.example for point in self._points}:
            mine = [(p.x, p.gamma) for p in self._points if p.example == index]
            curves[index] = Curve.linear(mine)
        self.damping = self.damping.with_curves(curves)

    def results(self, targets: Sequence[Unloading]) -> tuple[TargetResult, ...]:
        """One a target, in the order in which they were given."""
        found = {}
        for point in self._points:
            assert point.before is not None
            test = point.after
            assert test is not None
            if not self.alone and not self._settled:  # curves have changed since it was tested
                point.simulations += 1
                start = point.target.start
                test = self._bed.try_unloading(self.damping, point.example, start)
            wanted = self._wanted(point, test)
            met = abs(test.residual / wanted - 1) <= self._tolerance
            reason = "" if met else point.reason or "examples do not agree yet; allow more rounds"
            found[id(point.target)] = TargetResult(
                target=point.target,
                example=point.example,
                wanted=wanted,
                reached=test.residual,
                before=point.before,
                after=test,
                gamma=point.gamma,
                simulations=point.simulations,
                met=met,
                reason=reason,
            )
        return tuple(found[id(target)] for target in targets)
