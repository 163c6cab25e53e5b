"""How the momentum of yarns changes by their motion alone."""

from __future__ import annotations

import numpy as np

from supple.core.types import Floats
from supple.yarns.cloth import WovenCloth


def momentum_rate(cloth: WovenCloth, q: Floats, v: Floats) -> Floats:
    """Ṁ v at rates v that do not change, (n, 5): d/dt (M(q) v) − M a.

    Of a segment p₀ = ρ Δs/6 (2 w₀ + w₁) and −p₀·x′ at its start, with w = ẋ − x′ṡ.
    """
    nodes, family = cloth.net.segments
    i, j, column = nodes[:, 0], nodes[:, 1], 3 + family
    density = np.array([cloth.warp.linear_density, cloth.weft.linear_density])[family]
    D = (q[j, column] - q[i, column])[:, None]
    D_rate = (v[j, column] - v[i, column])[:, None]
    slope = (q[j, :3] - q[i, :3]) / D
    slope_rate = (v[j, :3] - v[i, :3]) / D - slope * D_rate / D
    share = density[:, None] / 6.0
    total = np.zeros_like(q)
    for this, other in ((i, j), (j, i)):
        slides = 2 * v[this, column] + v[other, column]
        w = 2 * v[this, :3] + v[other, :3] - slope * slides[:, None]
        w_rate = -slope_rate * slides[:, None]
        p_rate = share * (D_rate * w + D * w_rate)
        np.add.at(total[:, :3], this, p_rate)
        sliding = p_rate * slope + share * D * w * slope_rate
        np.add.at(total, (this, column), -sliding.sum(axis=1))
    return total
