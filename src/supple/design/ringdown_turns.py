"""Where a record turns: its tops and bottoms, finer than its samples."""

from __future__ import annotations

import numpy as np

from ..errors import InputError
from ..types import Floats
from .ringdown_smooth import Smoothed, smoothed

_MOVING = 0.02  # of the range; a body that moved less is still being held
_CLEAR = 10.0  # standard deviations of the noise that a swing must exceed
_REACH = 0.1  # cycles to both sides of a top that tell where it is
_EARLY, _LATE = 0.05, 0.12  # cycles before and after the start where its turning point may be
_APART = 0.25  # cycles between samples at most
_LONGER = 1.6  # times the half cycles before: no longer the same swing
_SPREAD = 0.2  # standard deviation of half cycles against their neighbours
_LARGE = 3.0  # times the least swing: too large to be left out


def turning_points(t: Floats, x: Floats, smallest: float) -> tuple[Floats, Floats]:
    """Tops and bottoms by turns, without those of a body that is still held or only trembles."""
    record = smoothed(t, x)
    if record is None:
        raise _too_few(0, t)
    s = record.values
    least = max(smallest * np.ptp(s), _CLEAR * record.noise)
    held = int(np.argmax(np.abs(s - s[0]) > max(_MOVING * np.ptp(s), least / 2)))
    turns = _alternating(s, held, least)
    if len(turns) < 3:
        raise _too_few(len(turns), t)
    reach = max(1, int(_REACH * record.period / record.step))
    points = [_vertex(record, k - reach, k + reach + 1) for k, _ in turns]
    first = _vertex(record, 0, 2 * reach + 1)
    early, late = record.times[0] + record.period * np.array([-_EARLY, _LATE])
    moves_soon = held * record.step < record.period / 4
    if moves_soon and early <= first[0] <= late and turns[0][1] * (points[0][1] - first[1]) > least:
        points.insert(0, first)  # released at the very start
    times, values = np.array(points).T
    count = _even(times, values, _LARGE * least)
    if count < 5:
        raise _too_few(count, t)
    _require_samples(t, times[0], times[count - 1], record.period)
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


def _vertex(record: Smoothed, low: int, high: int) -> tuple[float, float]:
    """Time and value of the vertex of the parabola through the samples from low to high.

    The middle sample where they are as good as straight.
    """
    t, s = record.times[max(low, 0) : high], record.values[max(low, 0) : high]
    middle = t[len(t) // 2]
    a, b, c = np.polyfit(t - middle, s, 2)
    if a == 0 or abs(b) > 2 * abs(a) * (t[-1] - t[0]):
        return float(middle), float(s[len(s) // 2])
    return float(middle - b / (2 * a)), float(c - b * b / (4 * a))


def _even(times: Floats, values: Floats, large: float) -> int:
    """How many turning points follow each other evenly; small swings after that are left out."""
    halves = np.diff(times)
    count = len(times)
    for k in range(2, len(halves)):
        usual = float(np.median(halves[max(k - 5, 0) : k]))
        if not 1 / _LONGER < halves[k] / usual < _LONGER:
            count = k + 1
            break
    uneven = float(np.std(np.diff(np.log(halves[: count - 1]))) / np.sqrt(2))
    rest = np.abs(np.diff(values[count:]))
    if uneven < _SPREAD and not (rest > large).any():
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


def _too_few(found: int, t: Floats) -> InputError:
    return InputError(
        f"{found} turning points found in the ring-down from {t[0]:g} s to {t[-1]:g} s, at least 5 "
        "that stand out of the noise are needed; give a longer, finer or cleaner record, or a "
        "smaller smallest= if the swings are small"
    )
