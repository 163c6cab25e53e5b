"""A record at equal steps, smoothed by what its own spectrum says: its cycle and its noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.core.types import Floats

_WINDOW, _ORDER = 0.4, 4  # cycles that share one polynomial, and its order: exact to 1e-4
_FINEST = 8  # as many equal steps for each sample at most
_CHANCE = 14.0  # times the noise: white noise has no such peak among a million
_STEEP = 0.75  # of its power that a peak must rise out of its surroundings
_BESIDE = 0.02  # of the power of the highest peak: lower ones are ripples beside it


@dataclass(frozen=True)
class Smoothed:
    """Displacements (T,) [m] at equally spaced ``times`` (T,) [s]; ``given`` are not smoothed.

    ``period`` [s] is that of the strongest vibration; ``noise`` [m] the standard deviation of the
    noise that is left.
    """

    times: Floats
    given: Floats
    values: Floats
    period: float
    noise: float

    @property
    def step(self) -> float:
        """Time between samples [s]."""
        return float(self.times[1] - self.times[0])


def smoothed(t: Floats, x: Floats) -> Smoothed | None:
    """The record without most of its noise; None where no vibration stands out of the noise."""
    from scipy.interpolate import Akima1DInterpolator  # slow to import
    from scipy.signal import savgol_coeffs, savgol_filter

    count = round(float((t[-1] - t[0]) / np.median(np.diff(t)))) + 1
    times = np.linspace(t[0], t[-1], min(max(count, len(t)), _FINEST * len(t)))
    even: Floats = Akima1DInterpolator(t, x)(times)
    dt = float(times[1] - times[0])
    noise = _white_noise(even)
    frequency = _strongest(even, noise)
    if frequency is None:
        return None
    window = 2 * int(_WINDOW / frequency / 2) + 1  # [samples], odd
    if window <= _ORDER + 1 or window > len(even):
        return Smoothed(times, even, even, dt / frequency, noise)
    left = float(noise * np.linalg.norm(savgol_coeffs(window, _ORDER)))
    return Smoothed(times, even, savgol_filter(even, window, _ORDER), dt / frequency, left)


def _white_noise(x: Floats) -> float:
    """Standard deviation of white noise, from the upper half of the spectrum."""
    from scipy.signal import periodogram  # slow to import

    _, power = periodogram(x, window="hann", detrend="linear")
    # a median of exponentials is log 2 of their mean
    return float(np.sqrt(np.median(power[len(power) // 2 :]) / np.log(2) / 2))


def _strongest(x: Floats, noise: float) -> float | None:
    """Cycles a sample of the strongest vibration, by displacement times velocity.

    Peaks are those of the spectrum of velocity: a step, where a body was held, makes none there.
    """
    from scipy.signal import find_peaks, periodogram  # slow to import

    f, velocity = periodogram(np.diff(x), nfft=4 * len(x), detrend=False)
    steps = 4 * np.sin(np.pi * f) ** 2  # what differences make of the power of displacements
    peaks, shapes = find_peaks(velocity, prominence=0)
    clear = velocity[peaks] > _CHANCE * 2 * noise**2 * steps[peaks]
    peaks = peaks[clear & (shapes["prominences"] > _STEEP * velocity[peaks])]
    if not len(peaks):
        return None
    peaks = peaks[velocity[peaks] >= _BESIDE * velocity[peaks].max()]
    return float(f[peaks[np.argmax(velocity[peaks] / np.sqrt(steps[peaks]))]])
