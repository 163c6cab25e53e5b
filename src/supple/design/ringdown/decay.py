"""How a vibration dies away, from its turning points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.core.types import Floats

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


def decay_of(t: Floats, x: Floats) -> Decay:
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
