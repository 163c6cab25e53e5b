"""From recoveries to a damping: Rayleigh's constants, and a curve over how far the body is off.

Fitted are whole curves in the sense of least squares. With every recording go three numbers of its
own: where it comes to rest, how far off it started, and when. What they and the noise leave open of
the damping is in the covariance, and what is left open too far is refused or told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from supple.core.checks import instance, whole_number
from supple.core.errors import InputError
from supple.core.types import Floats, Progress
from supple.damping import Damping, Rayleigh
from supple.damping.curve import Curve
from supple.damping.example import ExampleDamping
from supple.design.matching.least_squares import Estimate, estimate
from supple.design.ringdown.fit import RingDownFit, curved, fit_ring_down, share_of
from supple.design.ringdown.recovery import Recovery
from supple.design.ringdown.trial import Experiment

_STIR = 0.02  # change of a parameter that tells its effect on a recovery
_VAGUE = 0.3  # standard error of a logarithm from which on it is not determined
_VAGUE_SHARE = 1.0  # of the logit of the share that goes with stiffness
_APART = 1.1  # quotient of frequencies that can tell mass from stiffness
_SMALLEST = 0.05  # of the largest start: where the curve begins
_LEVEL, _SHARE, _SLOPE = 2.0, 2.0, 1.0  # what logarithms of strengths may well be off by, or differ
_REST, _SIZE, _SAMPLES, _NO_TIME = 0.5, 0.3, 2.0, 0.02  # the same for the numbers of a recording
_SETTLED = 1e-4  # step of a logarithm that counts as none
_OWN = 3  # such numbers
_FLOOR = 1e-4  # of the range of a recording: the least noise


@dataclass(frozen=True, eq=False)
class RecoveryFit:
    """A damping that repeats recorded recoveries.

    The damping is ``base``, scaled by ``curve`` along ``example`` (n, 3) if one was given,
    otherwise in all. ``level_error`` is the relative standard error of the base; ``share`` of it
    goes with stiffness, the rest with mass, and ``share_determined`` tells whether the recordings
    say so. ``curve_errors`` are relative standard errors of the strengths at the curve's points,
    infinite where the recordings do not determine one: it has the value of its neighbour there.
    ``simulated`` are the curves [m] at the times of the recordings, ``misses`` the root mean
    squares of their errors over the range of the recordings, and ``rayleigh_misses`` what the base
    ``rayleigh`` without a curve leaves. ``noise`` [m] is the standard deviation of what is left.
    """

    base: Rayleigh
    curve: Curve
    example: Floats | None
    rayleigh: Rayleigh
    level_error: float
    share: float
    share_determined: bool
    curve_errors: Floats
    simulated: tuple[Floats, ...]
    misses: tuple[float, ...]
    rayleigh_misses: tuple[float, ...]
    noise: float
    runs: int

    def damping(self, about: ArrayLike | None = None) -> ExampleDamping:
        """The damping, for a body that comes to rest in the shape ``about`` (n, 3)."""
        return curved(self.base, self.curve, self.example, about)


def fit_damping(
    experiments: Sequence[Experiment],
    *,
    example: ArrayLike | None = None,
    points: int = 6,
    progress: Progress | None = None,
) -> RingDownFit | RecoveryFit:
    """A damping from recordings, by the method that they call for.

    Where all of them swing to and fro, their envelopes are matched by ``fit_ring_down``, which
    gives a RingDownFit; where none does, whole curves by ``fit_recovery``, a RecoveryFit.
    """
    given = _checked(experiments)
    swing = [each.measured.swings for each in given]
    if all(swing):
        seconds = min(float(e.measured.times[-1] - e.measured.start) for e in given)
        last = min(float(e.measured.turns[0][-1] - e.measured.start) for e in given)
        return fit_ring_down(
            given, example=example, points=points, seconds=min(seconds, last), progress=progress
        )
    if any(swing):
        names = [each.name or str(k) for k, each in enumerate(given) if swing[k]]
        raise InputError(
            f"of {len(given)} recordings {len(names)} swing ({', '.join(names)}) and the others "
            "creep back to rest; fit the two kinds apart"
        )
    return fit_recovery(given, example=example, points=points, progress=progress)


def fit_recovery(
    experiments: Sequence[Experiment],
    *,
    example: ArrayLike | None = None,
    points: int = 6,
    progress: Progress | None = None,
) -> RecoveryFit:
    """One damping for all ``experiments``, none of which need swing.

    Stiffness must be known, as from ``fit_stiffness``: how fast an overdamped body recovers tells
    damping over stiffness alone. The curve gets ``points`` points over displacements from the
    rest, the root of the mean square over the body's mass [m], or over the excitation of
    ``example`` (n, 3). Several recordings with different frequencies tell how much of the damping
    goes with mass; otherwise all of it is taken to go with stiffness.
    """
    given = _checked(experiments)
    whole_number("points", points, at_least=2)
    shape = None if example is None else given[0].body.checked("example", example)
    search = _Search(given, shape, progress)
    rayleigh, linear, told = search.best_rayleigh()
    base, curve, errors, found = search.best_curve(rayleigh, points)
    simulated, misses = search.at_work(found)
    _, before = search.at_work(linear)
    return RecoveryFit(
        base=base,
        curve=curve,
        example=shape,
        rayleigh=rayleigh,
        level_error=float(linear.errors[0]),
        share=search.share(base),
        share_determined=told,
        curve_errors=errors,
        simulated=simulated,
        misses=misses,
        rayleigh_misses=before,
        noise=found.noise,
        runs=search.runs,
    )


def _checked(experiments: Sequence[Experiment]) -> tuple[Experiment, ...]:
    given = tuple(experiments)
    if not given:
        raise InputError("no experiments given; give at least one Experiment(measured, body, ...)")
    for each in given:
        instance("an experiment", each, Experiment, "Experiment(measured, body, tip, (0, 0, 1))")
    return given


Dampings = Callable[[Floats], Sequence[Damping]]
"""From damping parameters to one damping for each experiment."""


class _Search:
    """Dampings tried out on all experiments."""

    def __init__(
        self, given: tuple[Experiment, ...], example: Floats | None, progress: Progress | None
    ) -> None:
        self._given, self._example, self._progress = given, example, progress
        self._trials = [Recovery(each) for each in given]
        self.runs = 0
        w = 2 * np.pi * np.array([trial.frequency for trial in self._trials])
        self._middle = float(np.exp(np.log(w).mean()))
        # the slow rate s of q̈ + level q̇ + ω² q = 0 has level = s + ω²/s
        s = 1 / np.array([trial.reading.lasting for trial in self._trials])
        self._guess = float(np.exp(np.log(s + w**2 / s).mean()))
        self._several = len(given) > 1 and w.max() > _APART * w.min()
        self._floor = _FLOOR * max(abs(trial.reading.off) for trial in self._trials)

    def _made(self, level: float, share: float) -> Rayleigh:
        return Rayleigh(mass=level * (1 - share), stiffness=level * share / self._middle**2)

    def _level(self, base: Rayleigh) -> float:
        alpha, beta = float(base.mass), float(base.stiffness)  # type: ignore[arg-type]
        return alpha + beta * self._middle**2

    def share(self, base: Rayleigh) -> float:
        """The share of damping that goes with stiffness, at the middle of the frequencies."""
        return 1 - float(base.mass) / self._level(base)  # type: ignore[arg-type]

    # -- what is compared ------------------------------------------------------------------

    def _curves(self, dampings: Sequence[Damping], own: Floats) -> list[tuple[Floats, Floats]]:
        """Simulated curves [m] at the recorded times, each with derivatives by its own numbers."""
        curves = []
        for trial, damping, (rest, size, late) in zip(self._trials, dampings, own, strict=True):
            reading, record = trial.reading, trial.experiment.measured
            since = record.times - reading.release - late * reading.step
            off, velocity = trial.run(damping).at(since)
            self.runs += 1
            whole = np.full_like(off, reading.off)
            curve = reading.rest + rest * reading.off + (1 + size) * off
            slopes = np.stack([whole, off, -(1 + size) * velocity * reading.step], axis=1)
            curves.append((curve, slopes))
        if self._progress is not None:
            self._progress(self.runs, self.runs + 1, "simulations")
        return curves

    def _solve(self, dampings: Dampings, start: list[float], spread: list[float]) -> Estimate:
        """The damping parameters, followed by the own numbers of the recordings."""
        k, count = len(start), len(self._trials)
        measured = [each.measured.displacements for each in self._given]

        def evaluate(p: Floats) -> tuple[Floats, Floats]:
            own = p[k:].reshape(count, _OWN)
            curves = self._curves(dampings(p[:k]), own)
            rho = np.concatenate([c - m for (c, _), m in zip(curves, measured, strict=True)])
            J = np.zeros((len(rho), len(p)))
            for j in range(k):
                ahead, behind = (
                    np.concatenate([c for c, _ in self._curves(dampings(p[:k] + h), own)])
                    for h in (_STIR * np.eye(k)[j], -_STIR * np.eye(k)[j])
                )
                J[:, j] = (ahead - behind) / (2 * _STIR)
            row = 0
            for i, (curve, slopes) in enumerate(curves):
                J[row : row + len(curve), k + _OWN * i : k + _OWN * (i + 1)] = slopes
                row += len(curve)
            return rho, J

        known = [_SAMPLES if t.reading.held > 0 else _NO_TIME for t in self._trials]
        own_spread = [value for late in known for value in (_REST, _SIZE, late)]
        return estimate(
            evaluate,
            np.array(start + [0.0] * (_OWN * count)),
            np.array(spread + own_spread),
            noise=None,
            floor=self._floor,
            settled=_SETTLED,
        )

    def at_work(self, found: Estimate) -> tuple[tuple[Floats, ...], tuple[float, ...]]:
        """The simulated curves [m] of an estimate, and their errors over the ranges."""
        curves, misses, row = [], [], 0
        for trial in self._trials:
            x = trial.experiment.measured.displacements
            errors = found.residuals[row : row + len(x)]
            curves.append(x + errors)
            misses.append(float(np.sqrt(np.mean(errors**2))) / abs(trial.reading.off))
            row += len(x)
        return tuple(curves), tuple(misses)

    # -- what is searched ------------------------------------------------------------------

    def best_rayleigh(self) -> tuple[Rayleigh, Estimate, bool]:
        """The best that two constants can do; whether the share of stiffness is determined."""
        count = len(self._trials)

        def made(p: Floats) -> Rayleigh:
            share = share_of(p[1]) if len(p) > 1 else 1.0
            return self._made(self._guess * float(np.exp(p[0])), share)

        found = self._solve(lambda p: [made(p)] * count, [0.0], [_LEVEL])
        self._require_level(found)
        if not self._several:
            return made(found.parameters[:1]), found, False
        start = [float(found.parameters[0]), 0.0]
        both = self._solve(lambda p: [made(p)] * count, start, [_LEVEL, _SHARE])
        if both.errors[1] > _VAGUE_SHARE:
            return made(found.parameters[:1]), found, False
        return made(both.parameters[:2]), both, True

    def _require_level(self, found: Estimate) -> None:
        if found.errors[0] > _VAGUE:
            names = ", ".join(each.name for each in self._given if each.name)
            raise InputError(
                f"the recordings{' ' + names if names else ''} do not determine the damping: with "
                f"noise of {found.noise:.2g} m and a place of rest that is not known it stays open "
                f"by a factor of {np.exp(found.errors[0]):.2g}. Record until the body has come to "
                "rest, with more frames a second or less noise"
            )

    def best_curve(
        self, rayleigh: Rayleigh, points: int
    ) -> tuple[Rayleigh, Curve, Floats, Estimate]:
        """A curve over the best constants, with the relative errors of its strengths.

        Searched are the logarithm at the farthest point and the differences from there on towards
        the rest, which may well be zero: what is not determined is as its neighbour.
        """
        far = max(trial.reach(self._example) for trial in self._trials)
        places = far * np.geomspace(_SMALLEST, 1.0, points)
        inwards = np.triu(np.ones((points, points)))  # log γ = inwards @ p, the farthest is last

        def curve_of(p: Floats) -> Curve:
            gamma = np.exp(inwards @ p)
            return Curve.linear(list(zip(places.tolist(), gamma.tolist(), strict=True)))

        def dampings(p: Floats) -> list[Damping]:
            curve = curve_of(p)
            return [curved(rayleigh, curve, self._example, trial.rest) for trial in self._trials]

        spread = [_SLOPE] * (points - 1) + [_LEVEL]
        found = self._solve(dampings, [0.0] * points, spread)
        p, covariance = found.parameters[:points], found.covariance[:points, :points]
        errors: Floats = np.sqrt(np.diag(inwards @ covariance @ inwards.T))
        return rayleigh, curve_of(p), np.where(errors > _VAGUE, np.inf, errors), found
