"""Recorded ring-downs: a body that was let go and swings until it rests.

A ring-down is read from its turning points. The amplitude at one of them is half its distance from
the middle of its two neighbours, which a slow drift of the place of rest (creep) does not change.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from supple.core.checks import number, numbers, vector, vertex_indices
from supple.core.errors import InputError
from supple.core.types import Floats
from supple.design.ringdown.csv import read_columns
from supple.design.ringdown.extrema import TooFewTurns, turning_points
from supple.dynamics.motion import Motion

_SHARED = 5  # turning points that share one damping ratio
_ROUNDS = 2  # amplitudes and how they change tell each other
_STEEPEST = 10.0  # times the amplitude next to it


@dataclass(frozen=True, eq=False)
class Decay:
    """How a vibration dies away, turning point by turning point.

    Attributes: ``times`` [s]; ``amplitudes`` [m]; ``frequencies`` [Hz], each over the cycle around
    its turning point; ``ratios`` ζ, each from the slope of log amplitude over five of them; all
    (k,). ζ over amplitude is the measured damping curve. ``ends`` are the amplitudes [m] at the
    turning points before the first and after the last of these.
    """

    times: Floats
    amplitudes: Floats
    frequencies: Floats
    ratios: Floats
    ends: tuple[float, float]


@dataclass(frozen=True)
class DampedSinusoid:
    """rest + amplitude · exp(−ζ ω t) cos(ω √(1 − ζ²) t + phase), t from ``start`` [s].

    ``frequency`` is ω / 2π [Hz]; ``ratio`` is ζ; lengths are in metres.
    """

    start: float
    amplitude: float
    frequency: float
    ratio: float
    phase: float
    rest: float

    def __call__(self, times: ArrayLike) -> Floats:
        """Displacements [m] at ``times`` [s]."""
        t = np.asarray(times, dtype=float) - self.start
        given = self.amplitude, self.frequency, self.ratio, self.phase, self.rest
        return _damped_sinusoid(t, *given)


@dataclass(frozen=True, eq=False, repr=False)
class RingDown:
    """The displacement of one place along one direction while it rings down.

    ``times`` [s] and ``displacements`` [m] are (T,). The record may begin while the body is held
    still; everything before its first turning point in motion is left out. It is smoothed over less
    than half a cycle to find where it turns, and ends for that purpose where its noise takes over.
    Swings of less than ``smallest`` times the largest count as noise in any case.
    """

    times: Floats
    displacements: Floats
    smallest: float = 0.01

    def __post_init__(self) -> None:
        times = numbers("times", self.times)
        if times.ndim != 1 or len(times) < 8:
            raise InputError(
                f"times has shape {times.shape}; a ring-down needs (T,) with at least 8 samples"
            )
        values = numbers("displacements", self.displacements, (times.shape,))
        back = np.flatnonzero(np.diff(times) <= 0)
        if len(back):
            k = int(back[0])
            raise InputError(
                f"times goes from {times[k]:g} s to {times[k + 1]:g} s at sample {k + 1}; times "
                "must increase from sample to sample"
            )
        number("smallest", self.smallest, above=0, below=0.5)
        for name, array in (("times", times), ("displacements", values)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    def __repr__(self) -> str:
        start, stop = self.times[[0, -1]]
        return f"RingDown({len(self.times)} samples from {start:g} s to {stop:g} s)"

    # -- making one ----------------------------------------------------------------------

    @classmethod
    def read_csv(
        cls,
        path: str | os.PathLike[str],
        *,
        time: str | None = None,
        value: str | None = None,
        scale: float = 1.0,
        smallest: float = 0.01,
    ) -> RingDown:
        """A recording from a table of numbers, with or without a line of column names.

        ``time`` and ``value`` name the columns, the first and the second if not given. ``scale``
        turns values into metres, e.g. 1e-3 for millimetres.
        """
        if number("scale", scale) == 0:
            raise InputError(
                "scale is 0, which leaves no motion; 1e-3 turns millimetres into metres"
            )
        times, values = read_columns(path, time, value)
        try:
            return cls(times, scale * values, smallest)
        except InputError as error:
            raise InputError(f"{path}: {error}") from error

    @classmethod
    def from_motion(
        cls, motion: Motion, vertices: ArrayLike, direction: ArrayLike, *, smallest: float = 0.01
    ) -> RingDown:
        """The mean displacement of some vertices of a simulated motion along ``direction`` (3,)."""
        chosen = vertex_indices("vertices", vertices, motion.mesh.n_vertices)
        along = vector("direction", direction)
        if not len(chosen) or not along.any():
            raise InputError("give at least one vertex, and a direction that is not zero")
        moved = motion.displacements[:, chosen].mean(axis=1)
        return cls(motion.times, moved @ (along / np.linalg.norm(along)), smallest)

    def between(self, start: float, stop: float) -> RingDown:
        """The part from ``start`` to ``stop`` [s]."""
        inside = (self.times >= start) & (self.times <= stop)
        if inside.sum() < 8:
            raise InputError(
                f"{int(inside.sum())} samples lie between {start:g} s and {stop:g} s of a record "
                f"from {self.times[0]:g} s to {self.times[-1]:g} s; take at least 8"
            )
        return RingDown(self.times[inside], self.displacements[inside], self.smallest)

    def first(self, seconds: float) -> RingDown:
        """What happens within ``seconds`` of the first turning point."""
        number("seconds", seconds, above=0, unit="s")
        k = int(np.searchsorted(self.times, self.start, side="right")) - 1
        return self.between(self.times[max(k, 0)], self.start + seconds)

    # -- reading it ----------------------------------------------------------------------

    @cached_property
    def turns(self) -> tuple[Floats, Floats]:
        """The turning points: times [s] and displacements [m], (k,), tops and bottoms by turns."""
        return turning_points(self.times, self.displacements, self.smallest)

    @cached_property
    def swings(self) -> bool:
        """Whether it swings to and fro, five turning points at least; else it creeps back."""
        try:
            _ = self.turns
        except TooFewTurns:
            return False
        return True

    @property
    def reach(self) -> float:
        """How far it gets from where it comes to rest [m], about."""
        return self.amplitude if self.swings else float(np.ptp(self.displacements))

    @property
    def start(self) -> float:
        """Time of the first turning point [s]: from here on the body swings freely."""
        return float(self.turns[0][0])

    @cached_property
    def decay(self) -> Decay:
        """Amplitude, frequency and damping ratio at each inner turning point."""
        return _decay_of(*self.turns)

    def envelope(self, times: ArrayLike) -> Floats:
        """Amplitude [m] at ``times`` [s], exponential between turning points and beyond them."""
        at = np.asarray(times, dtype=float)
        decay = self.decay
        first, last = decay.ends
        t, log = self.turns[0], np.log(np.concatenate([[first], decay.amplitudes, [last]]))
        rates = 2 * np.pi * decay.ratios * decay.frequencies / np.sqrt(1 - decay.ratios**2)
        inner = np.interp(at, t, log)
        before, after = np.minimum(at - t[0], 0), np.maximum(at - t[-1], 0)
        grown: Floats = np.exp(inner - rates[0] * before - rates[-1] * after)
        return grown

    @property
    def amplitude(self) -> float:
        """Amplitude at the first turning point [m]."""
        return float(self.envelope(self.start))

    @cached_property
    def frequency(self) -> float:
        """Frequency of the vibration [Hz], the mean over all its turning points."""
        t = self.turns[0]
        return float(0.5 / np.polyfit(np.arange(len(t)), t, 1)[0])

    @cached_property
    def ratio(self) -> float:
        """Damping ratio ζ of the whole, from the slope of log amplitude over the cycles."""
        log = np.log(self.decay.amplitudes)
        lost = -np.polyfit(np.arange(len(log)), log, 1)[0]
        return float(lost / np.hypot(np.pi, lost))

    @cached_property
    def rest(self) -> float:
        """Where the body comes to rest [m]: the settled end, or the middle of the last swings."""
        t, x = self.turns
        settled = self.times > t[-1] + 2 / self.frequency
        if settled.sum() >= 8:
            return float(self.displacements[settled].mean())
        return float((x[-3] + 2 * x[-2] + x[-1]) / 4)

    def fit(self, start: float | None = None, stop: float | None = None) -> DampedSinusoid:
        """The damped sinusoid nearest in the least squares to the record in a window [s].

        The window runs from the first turning point to the end unless told otherwise.
        """
        from scipy.optimize import curve_fit  # slow to import

        begin = self.start if start is None else start
        part = self.between(begin, self.times[-1] if stop is None else stop)
        t, x = part.times - begin, part.displacements
        w = 2 * np.pi * self.frequency
        phase = w * (begin - self.start)
        sign = np.sign(self.turns[1][0] - self.turns[1][1])
        guess = sign * self.envelope(begin), self.frequency, self.ratio, phase, self.rest
        try:
            best, _ = curve_fit(_damped_sinusoid, t, x, p0=guess)
        except RuntimeError as error:
            raise InputError(
                f"no damped sinusoid fits the record from {begin:g} s on; take a window in which "
                "it swings, with stop= before it has settled"
            ) from error
        A, f, zeta, phi, rest = (float(value) for value in best)
        if A < 0:
            A, phi = -A, phi + np.pi
        if f < 0:  # the same motion
            f, zeta, phi = -f, -zeta, -phi
        return DampedSinusoid(begin, A, f, zeta, float(np.remainder(phi, 2 * np.pi)), rest)


@dataclass(frozen=True)
class RingDownMatch:
    """How near a simulated ring-down comes to a measured one.

    ``frequency`` is the simulated frequency over the measured one, minus one. ``envelope`` is the
    root mean square of the difference of the envelopes over that of the measured envelope;
    ``pointwise`` the root mean square of the quotient of the envelopes minus one, which gives the
    small amplitudes of the end as much weight as the large ones of the start.
    """

    frequency: float
    envelope: float
    pointwise: float


def compare_ring_downs(
    simulated: RingDown, measured: RingDown, *, seconds: float = 1.5
) -> RingDownMatch:
    """The two compared over ``seconds`` from the first turning point of each."""
    t = np.linspace(0.0, number("seconds", seconds, above=0, unit="s"), 301)
    ours, theirs = (ring.envelope(ring.start + t) for ring in (simulated, measured))
    return RingDownMatch(
        first_cycles(simulated, seconds).frequency / first_cycles(measured, seconds).frequency - 1,
        float(np.sqrt(np.mean((ours - theirs) ** 2) / np.mean(theirs**2))),
        float(np.sqrt(np.mean((ours / theirs - 1) ** 2))),
    )


def first_cycles(ring: RingDown, seconds: float) -> RingDown:
    """``ring.first(seconds)``, if that is long enough to be read."""
    turns = ring.turns[0]
    count = int(np.sum(turns <= ring.start + seconds - 0.1 / ring.frequency))
    if count < 5 <= len(turns):
        enough = turns[4] - turns[0] + 0.2 / ring.frequency
        raise InputError(
            f"{count} turning points lie well within {seconds:g} s of the first turning point of a "
            f"ring-down of {ring.frequency:.3g} Hz, at least 5 are needed; give seconds= of "
            f"{enough:.2g} or more"
        )
    return ring.first(seconds)


def _damped_sinusoid(
    t: Floats, amplitude: float, frequency: float, zeta: float, phase: float, rest: float
) -> Floats:
    w = 2 * np.pi * frequency
    swing = np.cos(w * np.sqrt(np.maximum(1 - zeta**2, 0.0)) * t + phase)
    value: Floats = rest + amplitude * np.exp(-zeta * w * t) * swing
    return value


def _decay_of(t: Floats, x: Floats) -> Decay:
    """The decay at all turning points (k,) but the first and the last, k ≥ 5."""
    from scipy.signal import savgol_filter  # slow to import

    sides = np.sign(x[0] - x[1]) * (-1.0) ** np.arange(len(x))
    means = np.abs(x[:-2] - 2 * x[1:-1] + x[2:]) / 4  # (A_k−1 + 2 A_k + A_k+1) / 4
    steady = np.polyfit(np.arange(len(means)), np.log(means), 1)[0]
    if len(means) >= _SHARED:
        steady = savgol_filter(np.log(means), _SHARED, 2, deriv=1)
    A = means * 2 / (1 + np.cosh(steady))  # as if log A were straight
    for _ in range(_ROUNDS):
        rest = x[1:-1] - sides[1:-1] * A
        first = _next(sides[0] * x[0], sides[0] * rest[:3], A[0])
        last = _next(sides[-1] * x[-1], sides[-1] * rest[:-4:-1], A[-1])
        log = np.log(np.concatenate([[first], A, [last]]))
        slope, bend = (savgol_filter(log, _SHARED, 2, deriv=n)[1:-1] for n in (1, 2))
        # log A_k±1 = log A_k ± slope + bend / 2
        A = means * 2 / (1 + np.exp(bend / 2) * np.cosh(slope))
    # −slope is log A_k − log A_k+1, what half a cycle takes
    ratios = -slope / np.hypot(np.pi, slope)
    return Decay(t[1:-1], A, 1 / (t[2:] - t[:-2]), ratios, (first, last))


def _next(place: float, rest: Floats, amplitude: float) -> float:
    """Amplitude at the outermost turning point, off the place of rest as it drifts before it."""
    ahead = rest @ (4 / 3, 1 / 3, -2 / 3)  # the straight line of least squares
    return float(np.clip(place - ahead, amplitude / _STEEPEST, amplitude * _STEEPEST))
