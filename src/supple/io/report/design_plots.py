"""Plots of a designed damping: its curves, and how each target's swing dies away."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from supple.core.types import Floats
from supple.damping import ExampleDamping, Measure
from supple.damping.curve import Curve as DampingCurve
from supple.design import Fit, TargetResult, Unloading, UnloadingTest, Wish
from supple.io.report.plots import Curve, Plot

_NOW, _LINEAR, _WISH, _BEFORE = 1, 2, 4, 5  # colours
_LEAST = 1e-4  # γ that is drawn for none at all
_MARGIN = 1.08  # of the horizontal axis


def name_of(damping: ExampleDamping, example: int) -> str:
    """What to call an example."""
    return damping.examples[example].name or f"Example {example}"


def run_colors(count: int) -> list[int]:
    """Colours of so many runs that go with those of the plots: the first before, the last now."""
    between = [_LINEAR, 3, _WISH]
    return [_BEFORE, *(between[i % 3] for i in range(count - 2)), _NOW] if count > 1 else [_NOW]


def target_text(target: Unloading) -> str:
    """What a target asks for, in words."""
    if isinstance(target.residual, Wish):
        return str(target.residual)
    return f"{target.residual:g} left after one cycle"


def curve_plots(before: ExampleDamping, fit: Fit, linear: Fit | None) -> list[Plot]:
    """γ of every example, one plot each."""
    return [_curves(i, before, fit, linear) for i in range(len(fit.damping.examples))]


def own_curve_plots(damping: ExampleDamping) -> list[Plot]:
    """γ of every example and, if there is one, of the whole body, one plot each."""
    curves = [
        (name_of(damping, i), example.curve, _across(example.measure))
        for i, example in enumerate(damping.examples)
    ]
    if damping.overall is not None:
        curves.append(("All motion", damping.overall, "displacement, mean over the mass [m]"))
    return [_own_curve(*each) for each in curves]


def _own_curve(title: str, curve: DampingCurve, across: str) -> Plot:
    points = np.array(curve.points)
    x = np.linspace(0, _MARGIN * (points[-1, 0] or 1.0), 400)
    drawn = [Curve("", np.maximum(curve(x), _LEAST), _NOW)]
    if not curve.is_constant:
        gamma = np.maximum(points[:, 1], _LEAST)
        drawn.append(Curve("", gamma, _NOW, mark="dot", places=points[:, 0]))
    return Plot(title, "γ", x, drawn, f"{_words(curve)}.", across=across, log=True)


def _across(measure: Measure) -> str:
    return "excitation |χ|" if measure is Measure.EXCITATION else "its rate |χ̇| [1/s]"


def decay_plots(fit: Fit, linear: Fit | None) -> list[Plot]:
    """The swing that each target asks for, one plot each."""
    others = [None] * len(fit.report.results) if linear is None else linear.report.results
    pairs = zip(fit.report.results, others, strict=True)
    return [_decay(name_of(fit.damping, r.example), r, other) for r, other in pairs]


def _curves(i: int, before: ExampleDamping, fit: Fit, linear: Fit | None) -> Plot:
    example, old = fit.damping.examples[i], before.examples[i].curve
    points = _target_points(i, fit)
    ends = [x for curve in (example.curve, old) for x, _ in curve.points]
    end = _MARGIN * (max([*ends, *points[:, 0]]) or 1.0)
    x = np.linspace(0, end, 400)

    def drawn(name: str, curve: DampingCurve, color: int, **style: Any) -> Curve:
        return Curve(name, np.maximum(curve(x), _LEAST), color, **style)

    if example.curve == old and not len(points):
        curves, says = [drawn("as before", old, _NOW)], [f"As before: {_words(old)}."]
    else:
        curves, says = [drawn("before", old, _BEFORE, dashed=True)], [f"Before: {_words(old)}."]
        if linear is not None:
            constant = linear.damping.examples[i].curve
            curves.append(drawn("best linear", constant, _LINEAR, thin=True))
            says.append(f"Best linear: {_words(constant)}.")
        curves.append(drawn("designed", example.curve, _NOW))
        says.append(f"Designed: {_words(example.curve)}.")
    if len(points):
        gamma = np.maximum(points[:, 1], _LEAST)
        curves.append(Curve("targets", gamma, _NOW, mark="dot", places=points[:, 0]))
    title, across = name_of(fit.damping, i), _across(example.measure)
    return Plot(title, "γ", x, curves, " ".join(says), across=across, log=True)


def _words(curve: DampingCurve) -> str:
    if curve.is_constant:
        return f"γ = {curve.points[0][1]:.4g}"
    return "γ = " + ", ".join(f"{gamma:.4g} at {x:.4g}" for x, gamma in curve.points)


def results_of(example: int, fit: Fit) -> list[TargetResult]:
    """What came of the targets of an example, the gentlest first."""
    mine = (result for result in fit.report.results if result.example == example)
    return sorted(mine, key=lambda result: result.target.start)


def _target_points(i: int, fit: Fit) -> Floats:
    """Where the targets of an example stand on its curve, (k, 2)."""
    mine = results_of(i, fit)
    example = fit.damping.examples[i]
    if len(mine) == len(example.curve.points):  # each target made one
        return np.reshape(example.curve.points if mine else (), (-1, 2))
    if example.measure is Measure.RATE:
        return np.empty((0, 2))
    found = [(r.target.start, float(example.curve(r.target.start))) for r in mine]
    return np.reshape(found, (-1, 2))


def _last(test: UnloadingTest) -> float:
    """When the last cycle looked at ends [s]."""
    return float(test.turns[-1, 0]) if len(test.turns) else test.period


def _decay(name: str, result: TargetResult, linear: TargetResult | None) -> Plot:
    if linear is not None and linear.after.is_failed:
        linear = None  # nothing to draw
    tests = [result.before, result.after] + ([] if linear is None else [linear.after])
    periods = [_last(test) for test in tests if test.oscillates]
    end = _MARGIN * max(periods or [test.times[-1] for test in tests])
    start, wanted = result.target.start, result.wanted

    def drawn(name: str, test: UnloadingTest, color: int, **style: Any) -> Curve:
        smooth = CubicSpline(test.times, test.excitations)  # a cycle may have few steps
        last = _last(test) if test.oscillates else min(float(test.times[-1]), end)
        times = np.linspace(0, last, 240)
        return Curve(name, smooth(times), color, places=times, **style)

    curves, says = [], f"Asked: {target_text(result.target)}. Before, "
    if result.before.is_failed:
        says += "the motion could not be computed"
    else:
        curves.append(drawn("before", result.before, _BEFORE, dashed=True))
        says += f"{result.left_by(result.before):.3g} was left"
    if linear is not None:
        curves.append(drawn("best linear", linear.after, _LINEAR, thin=True))
        says += f"; with the best linear damping {linear.reached:.3g}"
    if not result.after.is_failed:
        curves.append(drawn("designed", result.after, _NOW))
    says += f"; as designed {result.reached:.4g}, of {wanted:.4g} wanted."
    period = result.after.period if result.after.oscillates else max(periods, default=np.nan)
    if len(result.moments) > 1 or (result.moments and result.moments[0].aim.unit == "s"):
        places = np.array([result.after.span(moment.aim)[1] for moment in result.moments])
        heights = np.array([moment.wanted for moment in result.moments])
        curves.append(Curve("wished", heights, _WISH, mark="ring", places=places))
    elif np.isfinite(period):
        period = result.after.span(result.moments[0].aim)[1] if result.moments else period
        t = np.linspace(0, period, 100)
        envelope = start * (wanted / start) ** (t / period)
        curves.append(Curve("", envelope, _WISH, dashed=True, thin=True, places=t))
        places = np.array([period])
        curves.append(Curve("wished", np.array([wanted]), _WISH, mark="ring", places=places))
    else:  # nothing came back: a level, since there is no moment
        level = np.array([wanted, wanted])
        curves.append(Curve("wished", level, _WISH, dashed=True, places=np.array([0.0, end])))
    curves.append(Curve("", np.array([start]), _NOW, mark="dot", places=np.zeros(1)))
    title = f"{name}, from {start:g}"
    across = "time after the release [s]"
    return Plot(title, "χ", np.array([0.0, end]), curves, says, across=across)
