"""Where a record turns: its tops and bottoms, finer than its samples."""

from __future__ import annotations

import numpy as np

from ..errors import InputError
from ..types import Floats

_MOVING = 0.02  # of the range; a body that moved less is still being held


def turning_points(t: Floats, x: Floats, smallest: float) -> tuple[Floats, Floats]:
    """Tops and bottoms by turns, without those of a body that is still held."""
    from scipy.signal import find_peaks  # slow to import

    far = np.flatnonzero(np.abs(x - x[0]) > _MOVING * np.ptp(x))
    held = int(far[0]) if len(far) else len(x)
    least = smallest * np.ptp(x[held:]) if held < len(x) else 0.0
    sides = [find_peaks(side * x[held:], prominence=least)[0] + held for side in (1, -1)]
    found = sorted((int(k), side) for side, ks in zip((1, -1), sides, strict=True) for k in ks)
    turns: list[tuple[int, int]] = []
    for k, side in found:  # of two tops in a row, the higher one
        if turns and turns[-1][1] == side:
            if side * x[k] > side * x[turns[-1][0]]:
                turns[-1] = k, side
        else:
            turns.append((k, side))
    if len(turns) >= 3:
        places = np.array([k for k, _ in turns])
        quarter = float(np.median(np.diff(t[places]))) / 2
        points = [_vertex(t, x, k, 0.4 * quarter) for k in places]
        at_start = _vertex(t, x, 1, 0.0)
        at_rest = abs(at_start[0] - t[0]) <= t[1] - t[0] and places[0] > 2
        if t[held] - t[0] < quarter and at_rest and abs(at_start[1] - points[0][1]) > least:
            points.insert(0, at_start)  # released at the very start
        if len(points) >= 5:
            times, values = np.array(points).T
            return times, values
    raise InputError(
        f"{len(turns)} turning points found in the ring-down from {t[0]:g} s to {t[-1]:g} s, at "
        "least 5 are needed; give a longer or finer record, or a smaller smallest= if the swings "
        "are small"
    )


def _vertex(t: Floats, x: Floats, k: int, reach: float) -> tuple[float, float]:
    """Time and value of the parabola's vertex around sample k, from all samples within reach."""
    low = min(k - 1, int(np.searchsorted(t, t[k] - reach)))
    high = max(k + 2, int(np.searchsorted(t, t[k] + reach, side="right")))
    a, b, c = np.polyfit(t[low:high] - t[k], x[low:high], 2)
    if a == 0 or abs(b) > 2 * abs(a) * (t[high - 1] - t[low]):  # flat: no vertex in sight
        return float(t[k]), float(x[k])
    return float(t[k] - b / (2 * a)), float(c - b * b / (4 * a))
