"""Inverse design: the damping curves that make unloading tests come out as wished (§5)."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.solid import Body
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.core.checks import instance, number, whole_number
from supple.core.errors import InputError
from supple.core.types import Floats, Progress
from supple.damping import ExampleDamping, Measure
from supple.damping.designed import DesignWarning
from supple.design.conflicts import contradictions
from supple.design.journal import Journal
from supple.design.kept_wishes import with_wishes
from supple.design.moments import ordered_targets, worst
from supple.design.report import DesignInterrupted, DesignReport, Fit, TargetResult
from supple.design.search.bench import HIGH, LOW, Asked, Bench, Trial
from supple.design.search.descents import bring_nearer, descend
from supple.design.search.knots import Knots, first_knots, more_knots
from supple.design.search.reasons import beyond_reach, due_to_steps, met_alone, reason
from supple.design.search.root import HIGHEST, LOWEST, Search
from supple.design.search.together import solve_by_derivatives, solve_together
from supple.design.targets import Unloading
from supple.design.testbed import Watch
from supple.design.testbeds import make_testbed
from supple.design.unloading import UnloadingTest
from supple.design.wishes import Aim
from supple.integrators import Integrator
from supple.reduction import ReducedModel

_SMALL = 0.15  # of the smallest start, below which steep curves are strong
_WEAK = -2.0  # log₁₀ γ elsewhere
_STEEP_TRIES = 8
_EVOLVES = 4  # rounds after which curves evolve
_MOST = 100  # times as many releases a target as in a round, in all
_CLOSE = 0.05  # by which all targets are off at most that the next steps are likely to meet
_NEAR = 0.01  # by which an example is off that only others moved


def design_damping(
    body: Body | ReducedModel | PoseSpaceModel,
    damping: ExampleDamping,
    targets: Sequence[Unloading],
    *,
    integrator: Integrator | None = None,
    dt: float = 1 / 60,
    gravity: ArrayLike = (0.0, 0.0, 0.0),
    relaxed: bool = False,
    tolerance: float = 0.005,
    rounds: int = 5,
    simulations: int = 15,
    checkpoint: str | os.PathLike[str] | None = None,
    keep_checkpoint: bool = False,
    progress: Progress | None = None,
) -> Fit:
    """Curves for the examples of ``damping`` with which all ``targets`` are met.

    Curves are piecewise linear in log γ, with a point at each target's start. All targets are
    released, the points moved towards meeting them, and so on until what is left is within
    ``tolerance`` of every wish, in at most ``simulations`` releases a target. Where that is not
    enough, further ``rounds`` give the curves more points, also below the smallest start, keep them
    smooth, and begin elsewhere. Where wishes conflict, what comes nearest in the least squares is
    handed back, or what meets more of them and is about as near. A wish that is out of reach by
    itself draws no other off, and is then brought as near as the others allow.

    ``integrator`` (Bathe), ``dt`` [s] and ``gravity`` should be those of the motions that the
    damping is for. ``relaxed`` lets the body go from equilibria with the excitations of the
    examples, in place of the examples themselves, so that later cycles go on as the first. With a
    file as ``checkpoint`` a design that was interrupted goes on where it was; the file is removed
    at the end, unless ``keep_checkpoint`` leaves that to who has something to do with the result.
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
    bed = make_testbed(
        body, damping, integrator=integrator, dt=dt, gravity=gravity, relaxed=relaxed
    )
    asked = [
        Asked(index, target, Watch.of(target, bed.linear_period(index)))
        for index, target in ordered
    ]
    notes = contradictions(bed, asked)
    for note in notes:
        warnings.warn(note, DesignWarning, stacklevel=2)
    given = [str(target) for target in targets], repr(ordered), tolerance, rounds, simulations
    bed.journal = Journal(checkpoint, [bed.fingerprint(), *given])
    designer = _Designer(
        Bench(bed, damping, asked, tolerance=tolerance, tell=_teller(progress, len(asked))),
        simulations,
    )

    def fit() -> Fit:
        results = designer.results(targets)
        report = DesignReport(
            results, designer.rounds, time.perf_counter() - began, tolerance, tuple(notes)
        )
        kept = with_wishes(
            designer.best.damping,
            targets,
            body,
            integrator=bed.integrator,
            dt=dt,
            gravity=gravity,
            relaxed=relaxed,
            tolerance=tolerance,
        )
        return Fit(kept.designed_for(body), report)

    try:
        designer.run(rounds)
        designer.touch_up()
        designer.bring_nearer()
        designer.explain()
        constant = all(curve.is_constant for curve in damping.curves)
        if designer.rounds > 1 or not constant:  # else curves are as smooth as wishes
            notes += due_to_steps(designer.bench, designer.best)
    except KeyboardInterrupt as interrupt:
        raise DesignInterrupted(fit() if designer.is_begun else None) from interrupt
    if not keep_checkpoint:
        bed.journal.drop()
    return fit()


def _teller(progress: Progress | None, total: int) -> Any:
    def tell(place: int, what: str) -> None:
        if progress is not None:
            progress(place, total, f"targets; {what}")

    return tell


def _level(start: float, aim: Aim) -> float:
    """The amplitude before a moment, of each cycle; of another moment the one that is wanted."""
    return start * aim.share ** (aim.when - 1 if aim.each else 1)


class _Designer:
    def __init__(self, bench: Bench, simulations: int) -> None:
        self.bench, self._simulations = bench, simulations
        self.rounds = 0
        self._before: list[UnloadingTest] = []
        self._reasons: dict[int, str] = {}
        self._starts: dict[int, list[float]] = {}
        self._polished: Trial | None = None

    @property
    def is_begun(self) -> bool:
        """Whether there is anything to hand back."""
        return self.bench.best is not None

    @property
    def best(self) -> Trial:
        """What there is to hand back."""
        assert self.bench.chosen is not None
        return self.bench.chosen

    @property
    def _nearest(self) -> Trial:
        """From where the search goes on."""
        assert self.bench.best is not None
        return self.bench.best

    def run(self, rounds: int) -> None:
        """Rounds, until all targets are met that can be or nothing else is left to try."""
        bench = self.bench
        every = range(len(bench.asked))
        self._before = [bench.release(bench.damping, i) for i in every]
        knots = self._first_knots()
        z = knots.read(bench.damping, LOWEST, HIGHEST)
        solve_together(bench, self._begin(knots, z), self._simulations)
        self.rounds = 1
        for attempt in range(rounds - 1):
            assert bench.best is not None
            if attempt == 0:
                knots = more_knots(knots, self._starts)
                for i in every:
                    if not bench.best.is_met(i, bench.tolerance) and beyond_reach(
                        bench, bench.best, i
                    ):
                        bench.give_up(i)
            if bench.is_done:
                return
            self.rounds += 1
            if attempt >= _EVOLVES - 1 and not bench.bed.is_slow:
                descend(bench, _MOST * self._simulations * len(bench.asked), seed=attempt)
                continue
            z = self._another_start(knots, bench.best, attempt)
            found = solve_together(bench, bench.trial(knots, z), self._simulations)
            if not found.met(bench.tolerance) and (attempt == 0 or not bench.bed.is_slow):
                solve_by_derivatives(bench, found)
            if not bench.is_done:
                bench.put_together(knots)
            if not bench.is_done and (not bench.bed.is_slow or self._is_close()):
                self._polish()

    def _is_close(self) -> bool:
        """Whether the best so far is worth more releases than a beginning elsewhere."""
        best = self._nearest
        wanted = [m for m, weight in zip(best.moments, best.weights, strict=True) if weight == 1]
        return all(abs(worst(each).error) <= _CLOSE for each in wanted)

    def _polish(self) -> None:
        """Follow measured derivatives from the best so far, one example after the other."""
        bench = self.bench
        if self._polished is self._nearest:
            return
        for example in self._nearest.knots.places:
            if bench.is_met_along(example):
                continue
            bench.frozen = frozenset(self._nearest.knots.places) - {example}
            solve_by_derivatives(bench, self._nearest, patiently=True)
        bench.frozen = frozenset()
        self._polished = self._nearest

    def touch_up(self) -> None:
        """Meet again what was met, and was moved off since by curves of other examples."""
        bench, best = self.bench, self.best
        far = {
            each.example
            for i, each in enumerate(bench.asked)
            if not abs(worst(best.moments[i]).error) <= _NEAR
        }
        unmet = [i for i in range(len(bench.asked)) if not best.is_met(i, bench.tolerance)]
        if far and any(bench.asked[i].example not in far for i in unmet):
            bench.frozen, cut_short = frozenset(far), bench.cut_short
            solve_together(bench, best, self._simulations)
            bench.cut_short |= cut_short

    def bring_nearer(self) -> None:
        """Bring what is out of reach as near as goes."""
        if self.rounds > 1 and not self.bench.bed.is_slow and not self.bench.cut_short:
            bring_nearer(self.bench, seed=self.rounds)

    def explain(self) -> None:
        """Find out why targets were not met."""
        bench, found = self.bench, self.best
        for i in range(len(bench.asked)):
            if not found.is_met(i, bench.tolerance):
                self._reasons[i] = reason(bench, found, i)

    def _first_knots(self) -> Knots:
        bench = self.bench
        moments: dict[int, Any] = {}
        scales: dict[int, float] = {}
        for each, test in zip(bench.asked, self._before, strict=True):
            i = each.example
            if bench.damping.examples[i].measure is Measure.RATE and i not in scales:
                period = test.period if test.oscillates else bench.bed.linear_period(i)
                scales[i] = 2 * np.pi / period  # the fastest of the cycle, about
            self._starts.setdefault(i, []).append(each.target.start * scales.get(i, 1.0))
            moments.setdefault(i, []).extend(
                (each.target.start, aim) for aim in each.target.aims(bench.bed.linear_period(i))
            )
        levels = {
            i: [_level(s, aim) * scales.get(i, 1.0) for s, aim in m] for i, m in moments.items()
        }
        return first_knots(self._starts, levels, bench.damping.curves)

    def _begin(self, knots: Knots, z: Floats) -> Trial:
        """The first trial: with the strengths given or, where a release fails, with weaker ones."""
        trial = self.bench.trial(knots, z)
        for shift in (-1.0, -2.0):
            if not any(test.is_failed for test in trial.tests):
                break
            weaker = self.bench.trial(knots, np.maximum(z + shift, LOW))
            trial = min(trial, weaker, key=lambda each: each.quality)
        return trial

    def _another_start(self, knots: Knots, best: Trial, attempt: int) -> Floats:
        """Where a further round begins: at the best so far; then elsewhere."""
        z = knots.read(best.damping, LOWEST, HIGHEST)
        if attempt == 0:
            return z
        bench = self.bench
        for example, places in knots.places.items():
            mine = [i for i, each in enumerate(bench.asked) if each.example == example]
            if all(best.is_met(i, bench.tolerance) for i in mine):
                continue
            if attempt == 1:  # what each target would need by itself
                known = [
                    (bench.asked[i].target.start, met_alone(bench, best.damping, i)) for i in mine
                ]
                points = [(x, alone.gamma) for x, alone in known if alone.gamma is not None]
                if points:
                    xs, gammas = np.array(points).T
                    z[knots.part(example)] = np.interp(places, xs, np.log10(gammas))
                continue
            errors = [worst(best.moments[i]).error for i in mine]
            falling = errors[-1] < errors[0] if np.isfinite(errors).all() else True
            if attempt == 2 and falling:
                z = self._steep(knots, z, mine[0])
                continue
            contrast = 1.5 * np.linspace(1, -1, len(places)) * (1 if falling else -1)
            if attempt > 2:
                chance = np.random.default_rng(attempt)
                contrast = contrast * chance.uniform(0, 2) + chance.normal(0, 0.7, len(places))
            z[knots.part(example)] = np.clip(contrast, LOW, HIGH)
        return z

    def _steep(self, knots: Knots, z: Floats, i: int) -> Floats:
        """Strong where excitations are small alone, as strong as target i, the smallest, asks for.

        A swing passes there at its fastest: nothing takes more from small ones and less from large
        ones. It acts as dry friction would, which takes as much of any amplitude.
        """
        bench, own = self.bench, knots.part(self.bench.asked[i].example)
        low = knots.places[bench.asked[i].example] < _SMALL * min(
            self._starts[bench.asked[i].example]
        )
        search, gamma = Search(), 10.0
        steep = z.copy()
        for _ in range(_STEEP_TRIES):
            steep[own] = np.where(low, np.log10(gamma), _WEAK)
            test = bench.release(knots.damping(bench.damping, steep), i)
            moment = bench.moments(i, test)[-1]
            if test.is_failed:
                search.tell(gamma, inf, 1.0)
            elif abs(moment.error) < 0.05:
                break
            else:
                search.tell(gamma, moment.decrement, moment.wanted_decrement)
            if search.exhausted or search.closed:
                break
            gamma = search.next()
        return steep

    def results(self, targets: Sequence[Unloading]) -> tuple[TargetResult, ...]:
        """One a target, in the order in which they were given."""
        bench, best = self.bench, self.best
        found = {}
        for i, each in enumerate(bench.asked):
            moments = best.moments[i]
            bad = worst(moments)
            met = best.is_met(i, bench.tolerance)
            place = self._starts[each.example][
                [a.target for a in bench.asked if a.example == each.example].index(each.target)
            ]
            found[id(each.target)] = TargetResult(
                target=each.target,
                example=each.example,
                wanted=bad.wanted,
                reached=bad.reached,
                before=self._before[i],
                after=best.tests[i],
                gamma=float(best.damping.curves[each.example](place)),
                simulations=bench.simulations[i],
                met=met,
                reason="" if met else self._reasons.get(i, "the design was interrupted"),
                moments=moments,
            )
        return tuple(found[id(target)] for target in targets)
