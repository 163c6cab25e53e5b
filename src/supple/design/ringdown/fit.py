"""From measured ring-downs to a material and a damping: elasticity first, then damping.

One factor on Young's modulus brings the frequencies of all experiments to those measured. Then
Rayleigh damping, and Rayleigh damping scaled by a curve of how far the body is from its rest, are
fitted to the measured envelopes: inverse design, with every experiment repeated in reduced space.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from supple.core.checks import instance, number, whole_number
from supple.core.errors import InputError
from supple.core.types import Floats, Progress
from supple.damping import Damping, Rayleigh
from supple.damping.curve import Curve
from supple.damping.example import Example, ExampleDamping
from supple.design.ringdown.ringdown import (
    RingDown,
    RingDownMatch,
    compare_ring_downs,
    first_cycles,
)
from supple.design.ringdown.trial import Experiment, Trial

_ROUNDS = 8  # of the search for Young's modulus
_MET = 2e-4  # relative error of the frequencies that counts as met
_STIR = 0.05  # change of a parameter that tells its effect on the envelopes
_EVEN = 0.02  # how much a curve dislikes bends, beside the relative errors of the envelopes
_LEVEL = 0.002  # and slopes, which matters only where the recordings say nothing
_WIDEST = 1e3  # γ stays between one over this and this, as in the inverse design by unloading
_SMALLEST = 0.05  # of the largest amplitude: where the curve begins
_SAMPLES = 40  # of an envelope


@dataclass(frozen=True, eq=False)
class FittedDamping:
    """One damping at work in all experiments.

    ``dampings`` has one for each; they differ at most in the shape about which the body swings.
    ``simulated`` are the ring-downs they give, ``matches`` how near these come to those measured.
    """

    dampings: tuple[Damping, ...]
    simulated: tuple[RingDown, ...]
    matches: tuple[RingDownMatch, ...]


@dataclass(frozen=True, eq=False)
class RingDownFit:
    """A material and a damping that repeat measured ring-downs.

    ``young_factor`` is what to multiply Young's modulus by. The damping is ``base``, scaled by
    ``curve``: along ``example`` (n, 3) if one was given, otherwise in all, over the displacement of
    the body from its rest, the root of the mean square over its mass [m]. ``designed`` is this
    damping at work, ``rayleigh`` the best that Rayleigh damping with two constants can do. ``runs``
    counts the simulations.
    """

    young_factor: float
    base: Rayleigh
    curve: Curve
    example: Floats | None
    designed: FittedDamping
    rayleigh: FittedDamping
    runs: int

    def damping(self, about: ArrayLike | None = None) -> ExampleDamping:
        """The damping, for a body that comes to rest in the shape ``about`` (n, 3)."""
        return curved(self.base, self.curve, self.example, about)


def fit_ring_down(
    experiments: Sequence[Experiment],
    *,
    example: ArrayLike | None = None,
    points: int = 6,
    seconds: float = 1.5,
    progress: Progress | None = None,
) -> RingDownFit:
    """One factor on Young's modulus and one damping curve for all ``experiments``.

    The curve gets ``points`` points; envelopes count for ``seconds`` from their first turning
    point. Experiments may differ in what the body carries, or in how it is held. Several
    frequencies tell how much of the damping goes with mass and how much with stiffness; with one
    experiment all of it is taken to go with stiffness.

    With ``example`` (n, 3) the curve scales the damping along this deformation only, and other
    motion keeps the base. Without one it scales all damping, as for a material; so it must be for
    nearly incompressible bodies, where no fixed shape goes with a swing that turns the body.
    """
    given = tuple(experiments)
    if not given:
        raise InputError("no experiments given; give at least one Experiment(measured, body, ...)")
    for each in given:
        instance("an experiment", each, Experiment, "Experiment(measured, body, tip, (0, 0, 1))")
    whole_number("points", points, at_least=2)
    number("seconds", seconds, above=0, unit="s")
    shape = None if example is None else given[0].body.checked("example", example)
    expected = len(given) * (20 + 6 * (points + 3))  # simulations, more or less
    search = _Search(given, shape, seconds, progress, expected)
    search.fit_stiffness()
    rayleigh = search.best_rayleigh()
    linear = search.at_work([rayleigh] * len(given))
    base, curve = search.best_curve(rayleigh, points)
    designed = search.at_work(search.curved(base, curve))
    if progress is not None:
        progress(expected, expected, "simulations")
    return RingDownFit(
        young_factor=search.young_factor,
        base=base,
        curve=curve,
        example=shape,
        designed=designed,
        rayleigh=linear,
        runs=search.runs,
    )


class _Search:
    """Materials and dampings tried out on all experiments."""

    def __init__(
        self,
        experiments: tuple[Experiment, ...],
        example: Floats | None,
        seconds: float,
        progress: Progress | None,
        expected: int,
    ) -> None:
        self._experiments, self._example = experiments, example
        self._seconds, self._progress, self._expected = seconds, progress, expected
        self._trials: list[Trial] = []
        self.young_factor, self.runs = 1.0, 0
        rings = [each.measured for each in experiments]
        self._t = np.linspace(0.0, seconds, _SAMPLES)
        self._wanted = np.array([ring.envelope(ring.start + self._t) for ring in rings])
        starts = [first_cycles(ring, seconds) for ring in rings]
        w = np.array([2 * np.pi * ring.frequency for ring in starts])
        zeta = np.array([ring.ratio for ring in starts])
        # the damping is 2 ζ ω = level (1 − share) + level share (ω / ω₀)²
        self._middle = float(np.exp(np.log(w).mean()))  # ω₀
        if not (zeta > 0).all():
            names = [each.name or str(k) for k, each in enumerate(experiments)]
            grown = names[int(np.argmin(zeta))]
            raise InputError(
                f"the vibration of experiment {grown} does not die away within {seconds:g} s of "
                "its first turning point; check the recording, or give other seconds="
            )
        self._guess = _level_and_share(w / self._middle, 2 * zeta * w)

    def _made(self, level: float, share: float) -> Rayleigh:
        return Rayleigh(mass=level * (1 - share), stiffness=level * share / self._middle**2)

    def curved(self, base: Rayleigh, curve: Curve) -> list[Damping]:
        """The damping of each experiment: the base, scaled by the curve about its own rest."""
        return [curved(base, curve, self._example, trial.rest) for trial in self._trials]

    def _run(self, dampings: Iterable[Damping]) -> list[RingDown]:
        rings = []
        for trial, damping in zip(self._trials, dampings, strict=True):
            rings.append(trial.run(damping))
            self.runs += 1
            if self._progress is not None:
                self._progress(min(self.runs, self._expected - 1), self._expected, "simulations")
        return rings

    def at_work(self, dampings: Sequence[Damping]) -> FittedDamping:
        """What comes of dampings, one for each experiment."""
        rings = self._run(dampings)
        matches = [
            compare_ring_downs(ring, each.measured, seconds=self._seconds)
            for ring, each in zip(rings, self._experiments, strict=True)
        ]
        return FittedDamping(tuple(dampings), tuple(rings), tuple(matches))

    # -- elasticity ------------------------------------------------------------------------

    def fit_stiffness(self) -> None:
        """Scale Young's modulus until the largest error of a frequency is as small as can be."""
        damping = self._made(*self._guess)
        for _ in range(_ROUNDS):
            self._trials = [
                Trial(each.stiffened(self.young_factor), seconds=self._seconds)
                for each in self._experiments
            ]
            tried = self.at_work([damping] * len(self._trials))
            errors = [match.frequency for match in tried.matches]
            error = 0.5 * (min(errors) + max(errors))
            if abs(error) < _MET:
                for trial, simulated in zip(self._trials, tried.simulated, strict=True):
                    trial.calibrate(simulated)
                return
            self.young_factor /= (1 + error) ** 2  # a frequency goes with the root of it
        raise InputError(
            f"after {_ROUNDS} rounds the frequencies are still off by {100 * error:.2g} %; "
            "start from a Young's modulus nearer to that of the body"
        )

    # -- damping ---------------------------------------------------------------------------

    def _errors(self, dampings: Sequence[Damping]) -> Floats:
        """Errors of the envelopes, between relative to what is left and to what there was."""
        rings = self._run(dampings)
        got = np.array([ring.envelope(ring.start + self._t) for ring in rings])
        size = np.sqrt(np.mean(self._wanted**2, axis=1, keepdims=True))
        errors: Floats = (got - self._wanted) / np.sqrt(self._wanted * size * got.size)
        return errors.ravel()

    def best_rayleigh(self) -> Rayleigh:
        """The best that two constants can do."""
        level, share = self._guess
        several = len(self._trials) > 1

        def made(p: Floats) -> Rayleigh:
            return self._made(level * float(np.exp(p[0])), share_of(p[1]) if several else share)

        def errors(p: Floats) -> Floats:
            return self._errors([made(p)] * len(self._trials))

        return made(_least_squares(errors, [0.0] + [_logit(share)] * several))

    def best_curve(self, rayleigh: Rayleigh, points: int) -> tuple[Rayleigh, Curve]:
        """A curve of so many points over the same level of damping, and the share that suits it."""
        alpha, beta = float(rayleigh.mass), float(rayleigh.stiffness)  # type: ignore[arg-type]
        level = alpha + beta * self._middle**2
        far = max(trial.reach(self._example) for trial in self._trials)
        places = far * np.geomspace(_SMALLEST, 1.0, points)
        several = len(self._trials) > 1
        share = 1 - alpha / level

        def made(p: Floats) -> tuple[Rayleigh, Curve]:
            base = self._made(level, share_of(p[-1]) if several else share)
            gamma = np.exp(p[:points])
            return base, Curve.linear(list(zip(places.tolist(), gamma.tolist(), strict=True)))

        def errors(p: Floats) -> Floats:
            bends, slopes = _EVEN * np.diff(p[:points], 2), _LEVEL * np.diff(p[:points])
            habits = np.append(bends, slopes) / np.sqrt(points)
            return np.append(self._errors(self.curved(*made(p))), habits)

        return made(_least_squares(errors, [0.0] * points + [_logit(share)] * several))


def _logit(share: float) -> float:
    """A number from −∞ to ∞ for a share of one; next to none counts as a hundredth."""
    inside = min(max(share, 0.01), 0.99)
    return float(np.log(inside / (1 - inside)))


def share_of(logit: float) -> float:
    """The share of one that a number from −∞ to ∞ stands for."""
    return float(1 / (1 + np.exp(-logit)))


def curved(
    base: Rayleigh, curve: Curve, example: Floats | None, about: ArrayLike | None
) -> ExampleDamping:
    """The base scaled by a curve, along an example or in all, about a shape of rest (n, 3)."""
    place = None if about is None else np.asarray(about, dtype=float)
    if example is None:
        return ExampleDamping(base, [], overall=curve, about=place)
    return ExampleDamping(base, [Example(example, curve)], about=place)


def _level_and_share(w: Floats, rates: Floats) -> tuple[float, float]:
    """What fits rates = level (1 − share) + level share w² best, with neither below zero."""
    from scipy.optimize import nnls  # slow to import

    if len(w) == 1:
        return float(rates[0]), 1.0
    ones = np.ones_like(w)
    (a, b), _ = nnls(np.stack([ones, w**2], axis=1) / rates[:, None], ones)
    return float(a + b), float(b / (a + b))


def _least_squares(errors: Callable[[Floats], Floats], start: list[float]) -> Floats:
    """Where the sum of squares is least, with logarithms as parameters."""
    from scipy.optimize import approx_fprime, least_squares  # slow to import

    found = least_squares(
        errors,
        start,
        jac=lambda p: approx_fprime(p, errors, _STIR),
        bounds=(-np.log(_WIDEST), np.log(_WIDEST)),
        ftol=1e-4,
        xtol=1e-3,
        max_nfev=30,
    )
    best: Floats = found.x
    return best
