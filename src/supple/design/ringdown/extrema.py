"""Where a record turns: its tops and bottoms, finer than its samples."""

from __future__ import annotations

import warnings

import numpy as np

from supple.core.errors import InputError
from supple.core.types import Floats
from supple.design.ringdown.smooth import Smoothed, smoothed

_MOVING = 0.02  # of the range; a body that moved less is still being held
_CLEAR = 10.0  # standard deviations of the noise that a swing must exceed
_REACH = 0.1  # cycles to both sides of a turning point that tell where it is
_SWING = 0.3  # cycles that tell whether the record starts at a turning point
_EARLY, _LATE = 0.05, 0.12  # cycles before and after the start where its turning point may be
_APART = 0.25  # cycles between samples at most
_LONGER = 1.6  # times the half cycles before: no longer the same swing
_SPREAD = 0.3  # standard deviation of half cycles, relative to the one before
_GROWN, _UNSURE = 1.15, 3.0  # times an amplitude, and standard deviations: it grew again
_LARGE = 3.0  # times the least swing: too large to be left out


class RingDownWarning(UserWarning):
    """A record that can be read, though not all that is read from it means something."""


class TooFewTurns(InputError):
    """A record that does not swing to and fro often enough to be read by its turning points."""


def turning_points(t: Floats, x: Floats, smallest: float) -> tuple[Floats, Floats]:
    """Tops and bottoms by turns, without those of a body that is still held or only trembles."""
    record = smoothed(t, x)
    if record is None:
        raise _too_few(0, t)
    s = record.values
    least = max(smallest * np.ptp(s), _CLEAR * record.noise)
    held = int(np.argmax(np.abs(s - s[0]) > max(_MOVING * np.ptp(s), least)))
    turns = _alternating(s, held, least)
    if len(turns) < 3:
        raise _too_few(len(turns), t)
    reach = max(1, int(_REACH * record.period / record.step))
    points = [_vertex(record, k, reach) for k, _ in turns]
    if held * record.step < record.period / 4:
        first = _at_start(record, np.array(points[:3]))
        if first is not None and turns[0][1] * (points[0][1] - first[1]) > least:
            points.insert(0, first)
    times, values = np.array(points).T
    _require_samples(t, times[0], times[-1], record.period)
    count = _even(times, values, _LARGE * least)
    if count < 5:
        raise _too_few(count, t)
    _warn_of_beats(times[:count], values[:count], record.noise)
    return times[:count], values[:count]


def _alternating(s: Floats, held: int, least: float) -> list[tuple[int, int]]:
    """Samples at tops (1) and bottoms (−1) of swings of at least ``least``, by turns."""
    from scipy.signal import find_peaks  # slow to import

    sides = [find_peaks(side * s[held:], prominence=least)[0] + held for side in (1, -1)]
    found = sorted((int(k), side) for side, ks in zip((1, -1), sides, strict=True) for k in ks)
    turns: list[tuple[int, int]] = []
    for k, side in found:  # of two tops in a row, the higher one
        if turns and turns[-1][1] == side:
            if side * s[k] > side * s[turns[-1][0]]:
                turns[-1] = k, side
        else:
            turns.append((k, side))
    return turns


def _vertex(record: Smoothed, k: int, reach: int) -> tuple[float, float]:
    """Time and value of the turning point of the sinusoid through the samples around sample k."""
    around = slice(max(k - reach, 0), k + reach + 1)
    t, x = record.times[around] - record.times[k], record.values[around]
    w = 2 * np.pi / record.period
    parts = np.stack([np.cos(w * t), np.sin(w * t), np.ones(len(t))], axis=1)
    p, q, rest = np.linalg.lstsq(parts, x, rcond=None)[0]
    off = float(np.arctan2(q, p) if p > 0 else np.arctan2(-q, -p)) / w
    if not t[0] <= off <= t[-1]:  # flat
        return float(record.times[k]), float(record.values[k])
    return float(record.times[k] + off), float(rest + np.copysign(np.hypot(p, q), p))


def _at_start(record: Smoothed, turns: Floats) -> tuple[float, float] | None:
    """The turning point of a body released at the very start, None if it moved there already.

    Its swing up to the next one is taken to have the period and the damping of the two that follow.
    """
    (t1, t2, t3), (x1, x2, x3) = turns.T
    w = 2 * np.pi / (t3 - t1)
    rate = np.log(abs((x1 - x2) / (x2 - x3))) / (t2 - t1)
    count = max(5, int(_SWING * record.period / record.step))
    s = -rate + 1j * w
    swing = np.exp(s * (record.times[:count] - record.times[0]))
    parts = np.stack([swing.real, swing.imag, np.ones(len(swing))], axis=1)
    p, q, rest = np.linalg.lstsq(parts, record.given[:count], rcond=None)[0]
    # x = rest + Re (p − iq) exp(s t), whose velocity vanishes where its phase is a right angle
    t = np.remainder(np.pi / 2 - np.angle(s * (p - 1j * q)) + np.pi / 2, np.pi) - np.pi / 2
    if not -_EARLY < t / (2 * np.pi) < _LATE:
        return None
    top = rest + ((p - 1j * q) * np.exp(s * t / w)).real
    return float(record.times[0] + t / w), float(top)


def _even(times: Floats, values: Floats, large: float) -> int:
    """How many turning points follow each other evenly; small swings after that are left out."""
    halves = np.diff(times)
    count = len(times)
    for k in range(2, len(halves)):
        usual = float(np.median(halves[max(k - 5, 0) : k]))
        if not 1 / _LONGER < halves[k] / usual < _LONGER:
            count = k + 1
            break
    large_later = (np.abs(np.diff(values[count:])) > large).any()
    even = halves[: count - 1]
    if not large_later and (even > 0).all() and np.std(np.diff(np.log(even))) < _SPREAD:
        return count
    raise InputError(
        f"the record does not swing evenly: {len(times)} turning points follow each other after "
        f"{halves.min():.3g} s to {halves.max():.3g} s; if that is noise or a second, quicker "
        "vibration, have swings left out that are smaller, such as smallest=0.2 (of the largest), "
        "or filter the record; between(start, stop) takes a part of it"
    )


def _require_samples(t: Floats, start: float, stop: float, period: float) -> None:
    """Samples at most a quarter of a cycle apart wherever it swings."""
    low, high = np.searchsorted(t, start), np.searchsorted(t, stop)
    k = int(low + np.argmax(np.diff(t[low : high + 1])))
    if t[k + 1] - t[k] > _APART * period:
        raise InputError(
            f"there is no sample between {t[k]:g} s and {t[k + 1]:g} s, where the record swings "
            f"with a cycle of {period:.3g} s; samples must be at most a quarter of a cycle apart: "
            "take a part without gaps by between(start, stop), or a finer record"
        )


def _warn_of_beats(times: Floats, values: Floats, noise: float) -> None:
    """A swing that dies away and grows again is more than one vibration."""
    A = np.abs(values[:-2] - 2 * values[1:-1] + values[2:]) / 4
    before, after = np.maximum.accumulate(A), np.maximum.accumulate(A[::-1])[::-1]
    ebbs = np.minimum(before, after) - _GROWN * A - _UNSURE * noise
    k = int(np.argmax(ebbs))
    if ebbs[k] > 0:
        warnings.warn(
            f"the swing dies away to {A[k]:.3g} m at {times[k + 1]:.3g} s and grows again to "
            f"{after[k]:.3g} m: several vibrations at once, or a push; its damping ratios say "
            "little. Take a part by between(start, stop), or filter the record",
            RingDownWarning,
            stacklevel=2,
        )


def _too_few(found: int, t: Floats) -> TooFewTurns:
    return TooFewTurns(
        f"{found} turning points found in the ring-down from {t[0]:g} s to {t[-1]:g} s, at least 5 "
        "that stand out of the noise are needed; give a longer, finer or cleaner record, or a "
        "smaller smallest= if the swings are small"
    )
