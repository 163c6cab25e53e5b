"""Recoveries: recordings of bodies that creep back to rest without swinging, or hardly so.

Without turning points there is no envelope to compare (example damping, Fig. 12). What counts is
the whole curve: the simulated one, laid over the recording by where it rests, how far it came from
and when it was let go.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from supple.core.errors import InputError
from supple.core.types import Floats
from supple.damping import Damping
from supple.design.ringdown.ringdown import RingDown
from supple.design.ringdown.trial import Experiment, Release

_MOVED, _CLEAR = 0.03, 6.0  # of the range, and standard deviations: it has been let go
_IN_A_ROW = 3  # samples that say so
_STEPS = 60  # in the time after which 1/e is left
_MOST_STEPS = 4000
_END = 0.1  # of the record tells where it comes to rest
_STANDS_OUT = 10.0  # standard deviations of the noise that a recovery must exceed
_LOST = 3.0  # samples in which it may be back by 1 − 1/e


@dataclass(frozen=True)
class Reading:
    """What a recording says at first sight.

    ``release`` [s] when the body was let go, ``held`` [s] how long it had been held before, in the
    recording; ``off`` [m] how far off its ``rest`` [m] it started; ``lasting`` [s] until 1/e of
    that was left; ``noise`` [m] the standard deviation of the noise; ``step`` [s] between samples.
    """

    release: float
    held: float
    off: float
    rest: float
    lasting: float
    noise: float
    step: float


def read_recovery(record: RingDown) -> Reading:
    """The beginning, the size and the pace of a recovery; refused where there is none."""
    t, x = record.times, record.displacements
    noise = _noise(x)
    tail = x[-max(3, round(_END * len(x))) :]
    rest, size = float(np.median(tail)), float(np.ptp(x))
    away = np.abs(x - np.median(x[:_IN_A_ROW])) > max(_MOVED * size, _CLEAR * noise)
    moving = np.convolve(away, np.ones(_IN_A_ROW), mode="valid") == _IN_A_ROW
    if not moving.any() or size < _STANDS_OUT * noise:
        raise InputError(
            f"the recording moves by {size:.3g} m in all, with noise of {noise:.2g} m: it does not "
            "show a body that was let go; give one that begins held, or with the release, and "
            "ends at rest"
        )
    k = int(np.argmax(moving))
    start = max(k - 1, 0) if k > _IN_A_ROW else 0
    held = float(np.median(x[: start + 1])) if start else float(x[0])
    off = held - rest
    within = np.flatnonzero(np.abs(x[start:] - rest) < abs(off) / np.e)
    lasting = float(t[start + int(within[0])] - t[start]) if len(within) else float(t[-1])
    step = float(np.median(np.diff(t)))
    if lasting < _LOST * step:
        raise InputError(
            f"the body is back within {lasting:.2g} s, {lasting / step:.0f} samples of {step:.2g} "
            "s: too quick for this recording to tell its damping; record it with more frames a "
            "second"
        )
    return Reading(
        float(t[start]), float(t[start] - t[0]), off, rest, max(lasting, step), noise, step
    )


def _noise(x: Floats) -> float:
    """Standard deviation of white noise, from second differences: slow motion has small ones."""
    return float(np.median(np.abs(np.diff(x, 2))) / (0.6745 * np.sqrt(6.0)))


@dataclass(frozen=True, eq=False)
class Followed:
    """A simulated recovery: how far off its rest the place is [m], and its velocity [m/s]."""

    times: Floats
    off: Floats
    velocity: Floats

    def at(self, since: Floats) -> tuple[Floats, Floats]:
        """Displacement and velocity ``since`` the release [s]; before it the body is held."""
        from scipy.interpolate import CubicHermiteSpline  # slow to import

        clipped = np.clip(since, 0.0, self.times[-1])
        moving = CubicHermiteSpline(self.times, self.off, self.velocity)
        going = (since > 0) & (since < self.times[-1])
        return moving(clipped), np.where(going, moving.derivative()(clipped), 0.0)


class Recovery(Release):
    """A recovery ready to be simulated with one damping after another."""

    def __init__(self, experiment: Experiment) -> None:
        if experiment.held_by is None:
            experiment = replace(experiment, held_by=experiment.push)
        super().__init__(experiment)
        self.reading = read_recovery(experiment.measured)
        record = experiment.measured
        self._lasts = float(record.times[-1] - self.reading.release + 2 * self.reading.step)
        steps = int(min(_STEPS * self._lasts / self.reading.lasting, _MOST_STEPS))
        self._steps = max(steps, _STEPS)
        self.place(self.reading.off)

    def run(self, damping: Damping | None) -> Followed:
        """The simulated recovery."""
        dt = self._lasts / self._steps
        places = self.follow(damping, dt, self._steps)
        off = places - float(self._along @ self._middle)
        times = dt * np.arange(self._steps + 1, dtype=np.float64)
        velocity: Floats = np.asarray(np.gradient(off, dt, edge_order=2))
        velocity[0] = 0.0
        return Followed(times, off, velocity)
