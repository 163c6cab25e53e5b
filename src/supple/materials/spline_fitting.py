"""Curves of a spline material that come near to another material."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.core.checks import number, numbers, whole_number
from supple.core.errors import InputError
from supple.core.types import Floats
from supple.materials.base import Material
from supple.materials.spline_curves import CURVES, Curve, spline_slopes

_SMALL = 1e-9  # what of the knots' size the fit gives away to find one of several answers


def fitted_curves(
    material: Material, knots: ArrayLike, reach: float
) -> tuple[dict[str, Any], float]:
    """Knots of the three curves whose stress is nearest, and the relative error (RMS) that is left.

    The stress p_a = f′(a) + b g′(ab) + c g′(ac) + bc h′(abc) is linear in the values at the knots:
    least squares over stretches within the knots, with no stress and the same λ and μ at rest.
    """
    x = _places(knots, reach)
    if not material.is_isotropic:
        raise InputError(
            f"a {type(material).__name__} with fibres is no function of stretches; give an "
            "isotropic material"
        )
    for name in ("young", "poisson"):
        if np.ndim(getattr(material, name)):
            raise InputError(f"{name} differs from cell to cell; give a material with one")
    samples = _samples(x)
    lam, mu = (float(constant[0]) for constant in material.lame(np.arange(1)))
    expected = _stresses(material, samples) / mu
    rows = _stress_rows(x, samples)
    weights = 1 / (1 + np.abs(expected))  # relative where stresses are large
    A, b = rows * weights[..., None], expected * weights
    A, b = A.reshape(-1, A.shape[-1]), b.ravel()
    at_rest, wanted = _rest_rows(x), np.array([0.0, lam / mu, lam / mu + 2])
    # Some of each curve may move to the others (Σ ln σ_i = ln J): of all answers, a small one.
    start = np.linalg.lstsq(at_rest, wanted, rcond=None)[0]
    others = np.linalg.svd(at_rest)[2][len(wanted) :].T  # what leaves the rest shape as it is
    size = A.shape[1]
    damped = _SMALL * np.linalg.norm(A) / np.sqrt(size) * np.eye(size)
    full = np.concatenate([A, damped])
    aim = np.concatenate([b, np.zeros(size)])
    values = start + others @ np.linalg.lstsq(full @ others, aim - full @ start, rcond=None)[0]
    error = float(np.sqrt(np.mean((A @ values - b) ** 2) / np.mean(b**2)))
    by_curve = mu * values.reshape(3, -1)
    found = {
        name: list(zip(x.tolist(), y.tolist(), strict=True))
        for name, y in zip(CURVES, by_curve, strict=True)
    }
    return found, error


def _places(knots: ArrayLike, reach: float) -> Floats:
    if np.ndim(knots) == 0:
        reach = number("reach", reach, above=1.0)
        count = whole_number("knots", knots, at_least=3)
        return np.geomspace(1 / reach, reach, count)
    x = numbers("knots", knots)
    if x.ndim != 1 or len(x) < 3 or not (np.diff(x) > 0).all() or not x[0] < 1 < x[-1] or x[0] <= 0:
        raise InputError(
            f"knots={x.tolist()}: give how many, or three stretches or more from left to right, "
            "on both sides of 1"
        )
    return x


def _samples(x: Floats) -> Floats:
    """Stretches (m, 3) whose products are within the knots too, the rest shape among them."""
    levels = np.unique(np.concatenate([x, np.sqrt(x[:-1] * x[1:]), [1.0]]))
    every = np.array(list(combinations_with_replacement(levels, 3)))
    products = np.stack([every[:, i] * every[:, j] for i, j in ((0, 1), (0, 2), (1, 2))], axis=1)
    products = np.concatenate([products, every.prod(axis=1, keepdims=True)], axis=1)
    slack = 1 + 1e-9
    inside = (products >= x[0] / slack) & (products <= x[-1] * slack)
    return np.asarray(every[inside.all(axis=1)])


def _stresses(material: Material, x: Floats) -> Floats:
    """∂ψ/∂σ [Pa] of the material, (m, 3)."""
    m = len(x)
    lam, mu = (np.full(m, float(constant[0])) for constant in material.lame(np.arange(1)))
    psi, p, H = np.empty((m, 1)), np.empty((m, 1, 3)), np.empty((m, 1, 6))
    extra = material.extra(np.arange(1))
    material.evaluate_stretches(np.ascontiguousarray(x[:, None]), lam, mu, psi, p, H, *extra)
    return p[:, 0]


def _stress_rows(x: Floats, samples: Floats) -> Floats:
    """∂ψ/∂σ (m, 3, 3n) of spline materials with one of the knots at one and all others at zero."""
    n = len(x)
    slopes = spline_slopes(x)
    units = [Curve(x, np.eye(n)[k], slopes[:, k]) for k in range(n)]
    rows = np.zeros((len(samples), 3, 3, n))
    volume = samples.prod(axis=1)
    for k, unit in enumerate(units):
        h = unit.at(volume)[0]
        for a in range(3):
            b, c = (a + 1) % 3, (a + 2) % 3
            rows[:, a, 0, k] = unit.at(samples[:, a])[0]
            g = unit.at(samples[:, b] * samples[:, c])[0]
            rows[:, b, 1, k] += samples[:, c] * g
            rows[:, c, 1, k] += samples[:, b] * g
            rows[:, a, 2, k] = samples[:, b] * samples[:, c] * h
    return rows.reshape(len(samples), 3, 3 * n)


def _rest_rows(x: Floats) -> Floats:
    """Stress, λ and λ + 2μ at rest from the values at the knots, (3, 3n)."""
    n = len(x)
    slopes = spline_slopes(x)
    found = [Curve(x, np.eye(n)[k], slopes[:, k]).at(np.array(1.0)) for k in range(n)]
    value, slope = np.array(found, dtype=float).T
    none = np.zeros(n)
    return np.stack(
        [
            np.concatenate([value, 2 * value, value]),
            np.concatenate([none, value + slope, value + slope]),
            np.concatenate([slope, 2 * slope, slope]),
        ]
    )
