"""A search that takes no derivatives, for strengths whose valley is too rough to follow them.

CMA-ES: N. Hansen, *The CMA Evolution Strategy: A Tutorial* (2016), with its symbols.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from supple.core.types import Floats

_ALIKE = 0.7  # log of a quotient of places within which strengths differ alike


def evolved(
    rate: Callable[[Floats], Any],
    begin: Floats,
    spread: Floats,
    *,
    tries: int,
    seed: int,
    low: float,
    high: float,
    enough: Any = None,
) -> Floats:
    """The best of about ``tries`` points that were rated; the smaller a rating the better.

    ``begin`` (n,) is the first; ``spread`` (n, n) the covariance of those around it. All are kept
    between ``low`` and ``high``. A rating that is ``enough`` ends it.
    """
    n = len(begin)
    chance = np.random.default_rng(seed)
    count = 4 + int(3 * np.log(n))
    mu = max(count // 2, 1)
    w = np.log(mu + 0.5) - np.log(np.arange(1, mu + 1))
    w /= w.sum()
    mu_eff = 1 / float(w @ w)
    c_c, c_s = (4 + mu_eff / n) / (n + 4 + 2 * mu_eff / n), (mu_eff + 2) / (n + mu_eff + 5)
    c_1 = 2 / ((n + 1.3) ** 2 + mu_eff)
    c_mu = min(1 - c_1, 2 * (mu_eff - 2 + 1 / mu_eff) / ((n + 2) ** 2 + mu_eff))
    d_s = 1 + 2 * max(0.0, np.sqrt((mu_eff - 1) / (n + 1)) - 1) + c_s
    chi_n = np.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n))
    m, C, sigma = begin.copy(), spread.copy(), 1.0
    p_c, p_s = np.zeros(n), np.zeros(n)
    best, least = begin, rate(begin)
    for made in range(count, tries + count, count):
        if enough is not None and least <= enough:
            break
        values, B = np.linalg.eigh(C)
        D = np.sqrt(np.maximum(values, 1e-20))
        points = np.clip(m + sigma * (chance.normal(size=(count, n)) * D) @ B.T, low, high)
        ratings = [rate(point) for point in points]
        order = sorted(range(count), key=ratings.__getitem__)
        if ratings[order[0]] < least:
            best, least = points[order[0]], ratings[order[0]]
        y = (points[order[:mu]] - m) / sigma
        y_w = w @ y
        m = m + sigma * y_w
        p_s = (1 - c_s) * p_s + np.sqrt(c_s * (2 - c_s) * mu_eff) * (B @ ((B.T @ y_w) / D))
        length = float(np.linalg.norm(p_s))
        early = length / np.sqrt(1 - (1 - c_s) ** (2 * made / count))
        h_s = early < (1.4 + 2 / (n + 1)) * chi_n
        p_c = (1 - c_c) * p_c + h_s * np.sqrt(c_c * (2 - c_c) * mu_eff) * y_w
        C = (1 - c_1 - c_mu) * C + c_1 * np.outer(p_c, p_c) + c_mu * (y.T * w) @ y
        sigma *= float(np.exp(c_s / d_s * (length / chi_n - 1)))
    return best


def smooth_spread(places: Floats, decades: float) -> Floats:
    """The covariance of strengths at ``places`` that differ by so many decades, smoothly."""
    apart = np.log(places[:, None] / places)
    covariance: Floats = np.exp(-0.5 * (apart / _ALIKE) ** 2) + 0.1 * np.eye(len(places))
    return decades**2 * covariance
