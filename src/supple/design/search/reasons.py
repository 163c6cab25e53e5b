"""Why a target was not met, found by releases and not by guesses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, log

from supple.damping import ExampleDamping
from supple.design.moments import Moment, worst
from supple.design.search.alone import OUT, POINTS
from supple.design.search.bench import Bench, Trial
from supple.design.search.root import HIGHEST, LOWEST, Search
from supple.design.unloading import UnloadingTest

_TRIES = 12
_FAR = 0.05  # by which a target is missed for good
_WEAKER = (1.0, 0.1, 0.01)  # times the highest γ, where steps fail or it does not take most
_PARTS = 4  # of a step, in which designs are looked at once more
_OTHERWISE = 0.03  # by which what is left may be off then, before it is worth a word


def with_constant(damping: ExampleDamping, example: int, gamma: float) -> ExampleDamping:
    """The damping with one number for the curve of one example."""
    return damping.with_curves(
        gamma if i == example else curve for i, curve in enumerate(damping.curves)
    )


@dataclass(frozen=True, eq=False)
class Alone:
    """What one number for its example does for a target, the others left as they are."""

    gamma: float | None
    """With which the target is met, if one was found."""
    jumps: bool = False
    failure: str = ""
    """Why a release could not be computed, at the strengths between which the target lies."""


def met_alone(bench: Bench, damping: ExampleDamping, i: int) -> Alone:
    """Look for a constant strength that meets target i."""
    search, gamma, failure = Search(), 1.0, ""
    for _ in range(_TRIES):
        test = bench.release(with_constant(damping, bench.asked[i].example, gamma), i)
        if test.is_failed:
            failure = test.failure
            search.tell(gamma, inf, 1.0)
        else:
            moments = bench.moments(i, test)
            if all(abs(m.error) <= bench.tolerance for m in moments):
                return Alone(gamma)
            last = worst(moments) if len(moments) > 1 else moments[0]
            search.tell(gamma, last.decrement, last.wanted_decrement)
        if search.exhausted or search.closed:
            break
        gamma = search.next()
    return Alone(None, jumps=search.closed and not failure, failure=failure)


def reason(bench: Bench, found: Trial, i: int) -> str:
    """Why target i was not met."""
    each = bench.asked[i]
    if found.tests[i].is_failed:
        return (
            f"the motion cannot be computed ({found.tests[i].failure}), in sixteenths of a step "
            "neither; smaller steps, a smaller start, or a base damping proportional to mass may do"
        )
    if i in found.nudged and all(abs(m.error) <= bench.tolerance for m in found.moments[i]):
        return (
            "rounding decides: let go from a start that differs in the ninth digit, the body snaps "
            "another way and misses it, as it may on another processor; give a smaller start"
        )
    weakest = bench.release(with_constant(found.damping, each.example, LOWEST), i)
    if not weakest.is_failed and not weakest.oscillates:
        return (
            f"let go from {each.target.start:g} the body does not swing back, with next to no "
            f"damping along this example (γ = {LOWEST:g} at every amplitude) either: after "
            f"{weakest.times[-1]:.3g} s {weakest.excitations[-1]:.3g} is left. Give a smaller start"
        )
    strongest, high = _strongest(bench, found.damping, i)
    reasons = (
        _by_itself(bench, found, i),
        _ends(bench, i, weakest, strongest, high, found.moments[i]),
    )
    if any(reasons):
        return "; ".join(filter(None, reasons))
    short = f"not closer in {bench.simulations[i]} simulations, allow more; " * bench.cut_short
    return short + _within(bench, found, i, _told(bench, i, weakest, strongest, high))


def beyond_reach(bench: Bench, found: Trial, i: int) -> bool:
    """Whether one strength at every amplitude, the weakest or the strongest, misses target i far.

    Curves then seldom do better, but at the cost of other targets.
    """
    example = bench.asked[i].example
    far = 2 * bench.tolerance if bench.bed.is_slow else _FAR
    weakest = bench.release(with_constant(found.damping, example, LOWEST), i)
    if not weakest.is_failed and not weakest.oscillates:
        return True
    if not weakest.is_failed and min(m.error for m in bench.moments(i, weakest)) < -far:
        return True
    strongest, _ = _strongest(bench, found.damping, i)
    return not strongest.is_failed and _above(bench, i, strongest) > far


def _by_itself(bench: Bench, found: Trial, i: int) -> str:
    """The reason, where no curve with many points came near the target alone, nor this one did."""
    if i not in bench.nearest_alone or found.is_near(i, OUT):
        return ""
    alone = bench.nearest_alone[i]
    nearer = found.moments[i] if found.missed(i) < alone.missed(0) else alone.moments[0]
    return (
        f"out of reach by itself: of curves with {POINTS} points, whatever they do to others, the "
        f"nearest that was found leaves {_missed(bench, nearer)}"
    )


def _missed(bench: Bench, moments: Sequence[Moment]) -> str:
    """Those moments that are missed, in words."""
    return "; ".join(str(m) for m in moments if abs(m.error) > bench.tolerance)


def _above(bench: Bench, i: int, test: UnloadingTest) -> float:
    """By how much more is left than wanted, of moments counted in cycles.

    In a time, a body that creeps back leaves more, not less.
    """
    return max((m.error for m in bench.moments(i, test) if m.aim.unit == "cycles"), default=0.0)


def _within(bench: Bench, found: Trial, i: int, told: str) -> str:
    """The reason, where the target lies between the ends of the range, of which ``told`` tells."""
    if len(found.moments[i]) > 1:
        return _of_several(bench, found, i)
    alone = met_alone(bench, found.damping, i)
    if alone.gamma is not None:
        return _conflict(bench, found, i, alone.gamma) + f" ({told})"
    if alone.jumps:
        return (
            "at some γ what is left jumps, from a swing to a body that creeps back and only then "
            f"swings, or not at all; a target between cannot be met ({told})"
        )
    if alone.failure:
        return (
            f"strengths that would leave that cannot be computed ({alone.failure}); smaller steps, "
            f"a smaller start, or a base damping proportional to mass may do ({told})"
        )
    return f"no strength that was tried leaves that ({told})"


def _strongest(bench: Bench, damping: ExampleDamping, i: int) -> tuple[UnloadingTest, float]:
    """The release that leaves least of those with the highest strengths, and its strength.

    Where an example holds the body far from rest, it goes on in other shapes, and less strength may
    take more.
    """
    found: tuple[UnloadingTest, float] | None = None
    for share in _WEAKER:
        high = share * HIGHEST
        test = bench.release(with_constant(damping, bench.asked[i].example, high), i)
        if test.is_failed:
            found = found or (test, high)
            continue
        if (
            found is None
            or found[0].is_failed
            or _above(bench, i, test) < _above(bench, i, found[0])
        ):
            found = test, high
        if _above(bench, i, test) <= bench.tolerance:
            break
    assert found is not None
    return found


def _ends(
    bench: Bench,
    i: int,
    weakest: UnloadingTest,
    strongest: UnloadingTest,
    high: float,
    closest: Sequence[Moment],
) -> str:
    """The reason, where a moment and the closest to it that was found are not between the ends."""
    tolerance = bench.tolerance
    beyond = ", and stronger ones leave no less or cannot be computed" * (high < HIGHEST)
    if not weakest.is_failed:
        for moment, got in zip(bench.moments(i, weakest), closest, strict=True):
            if moment.error < -tolerance and got.reached <= (1 + tolerance) * moment.reached:
                return (
                    f"with next to no damping along this example (γ = {LOWEST:g} at every "
                    f"amplitude) {moment.reached:.3g} is left at most, of {moment.wanted:.3g} "
                    "wanted: the rest goes into other shapes, is damped there, or is what the time "
                    "step takes"
                )
    if not strongest.is_failed:
        for moment, got in zip(bench.moments(i, strongest), closest, strict=True):
            in_time = moment.aim.unit == "s"  # stronger ones creep, and leave more
            if (
                moment.error > tolerance
                and not in_time
                and got.reached >= (1 - tolerance) * moment.reached
            ):
                return (
                    f"even γ = {high:g} at every amplitude leaves {moment.reached:.3g}, of "
                    f"{moment.wanted:.3g} wanted{beyond}; a base damping that is stronger along "
                    "this example reaches farther"
                )
    return ""


def _told(
    bench: Bench, i: int, weakest: UnloadingTest, strongest: UnloadingTest, high: float
) -> str:
    """What the ends of the range leave."""

    def left(test: UnloadingTest) -> str:
        if test.is_failed:
            return "cannot be computed"
        return f"leaves {worst(bench.moments(i, test)).reached:.3g}"

    return f"γ = {LOWEST:g} everywhere {left(weakest)}, γ = {high:g} {left(strongest)}"


def _conflict(bench: Bench, found: Trial, i: int, gamma: float) -> str:
    """Which other target a strength that would meet this one misses most."""
    damping = with_constant(found.damping, bench.asked[i].example, gamma)
    missed: list[tuple[float, int, Moment]] = []
    for j, other in enumerate(bench.asked):
        if j == i:
            continue
        test = bench.release(damping, j)
        if test.is_failed:
            continue
        moment = worst(bench.moments(j, test))
        here = other.example == bench.asked[i].example
        off = abs(log(max(moment.reached, 1e-12) / moment.wanted))
        if isfinite(off) and off > bench.tolerance:
            missed.append((off if here else 0.1 * off, j, moment))
    if not missed:
        return f"γ = {gamma:.3g} at every amplitude meets it; allow more rounds"
    _, j, moment = max(missed, key=lambda each: each[0])
    return (
        f"it conflicts with {bench.asked[j].target}: γ = {gamma:.3g} at every amplitude meets this "
        f"one, and leaves {moment.reached:.3g} instead of {moment.wanted:.3g} there. A large swing "
        "passes through all smaller ones, at its fastest"
    )


def _of_several(bench: Bench, found: Trial, i: int) -> str:
    """Where a wish has several moments: which of them are missed."""
    others = [
        each.target
        for j, each in enumerate(bench.asked)
        if j != i and each.example == bench.asked[i].example
    ]
    beside = f" and with {', '.join(map(str, others))}" if others else ""
    return (
        f"its moments do not agree with one another{beside} as well as that; nearest in the least "
        f"squares: {_missed(bench, found.moments[i])}"
    )


def due_to_steps(bench: Bench, found: Trial) -> list[str]:
    """Which targets are met in steps of this length alone, in words.

    A curve that is steep within what the body passes in a step acts by where steps happen to fall.
    """
    finer, told = bench.bed.in_steps_of(bench.bed.dt / _PARTS), []
    for i, each in enumerate(bench.asked):
        if not found.is_met(i, bench.tolerance):
            continue
        bench.simulations[i] += 1
        test = finer.try_unloading(found.damping, each.example, each.target.start, each.watch)
        if test.is_failed:
            continue
        moment = worst(bench.moments(i, test))
        if abs(moment.error) > _OTHERWISE:
            told.append(
                f"{each.target} is met in steps of {bench.bed.dt:.3g} s alone: in steps of "
                f"{finer.dt:.3g} s {moment.reached:.3g} is left, of {moment.wanted:.3g} wanted. "
                "The curve is steep within what the body passes in a step; design with smaller ones"
            )
    return told
