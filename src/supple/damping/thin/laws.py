"""Dissipation densities of thin bodies: r of the rates x of their stretches at every cell.

x are (σ̇₀, σ̇₁, e) in a sheet, with the rate of shear e = 2 Ė₀₁/√(2 (σ₀² + σ₁²)) between the
principal axes, and (σ̇) in a spring. Each is what solids have, in fewer dimensions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from supple.core.types import Floats
from supple.damping.curve import Curve

SHARPNESS = 16
"""Exponent of the mean that stands for the largest factor, as in solids."""
_LOG_10 = float(np.log(10.0))
_STEP = 1e-5  # of rates, in differences


@dataclass(frozen=True, eq=False)
class Rates:
    """r of every cell (m,), ∂r/∂x (m, d) and ∂²r/∂x² (m, d, d), the last if it was asked for."""

    r: Floats
    slope: Floats
    bend: Floats


class Law(ABC):
    """A density at the cells of a body in one shape."""

    @abstractmethod
    def at(self, x: Floats, *, bend: bool, definite: bool, newton: bool = False) -> Rates:
        """r at rates x (m, d) [1/s]; ``definite`` asks for a stand-in of ∂²r/∂x².

        ``newton`` asks for what Newton's method is told of it.
        """


@dataclass(frozen=True, eq=False)
class Quadratic(Law):
    """r = ½ x·Q x."""

    Q: Floats
    """(m, d, d)"""

    def at(self, x: Floats, *, bend: bool, definite: bool, newton: bool = False) -> Rates:
        slope = times(self.Q, x)
        return Rates(0.5 * (x * slope).sum(axis=1), slope, self.Q)


@dataclass(frozen=True, eq=False)
class Power(Law):
    """r = w ((ρ + e)^q − e^q) with ρ = ½ x·Q x, q = (p + 1)/2."""

    Q: Floats
    """(m, d, d)"""
    w: Floats
    """(m,)"""
    p: float
    e: float
    softening: float
    """Share of the softening along the motion that Newton's method is told of, where p < 1."""

    def at(self, x: Floats, *, bend: bool, definite: bool, newton: bool = False) -> Rates:
        q = 0.5 * (self.p + 1)
        along = times(self.Q, x)
        rho = np.maximum(0.5 * (x * along).sum(axis=1), 0.0) + self.e
        r = self.w * (rho**q - self.e**q)
        moving = rho > 0.0
        steep = np.ones_like(rho) if q == 1 else np.zeros_like(rho)
        steep[moving] = rho[moving] ** (q - 1)
        steep *= self.w * q
        bent = np.zeros_like(rho)
        if self.p >= 1 or not definite:
            share = self.softening if newton and self.p < 1 else 1.0
            bent[moving] = share * (q - 1) * steep[moving] / rho[moving]
        second = steep[:, None, None] * self.Q + bent[:, None, None] * outer(along, along)
        return Rates(r, steep[:, None] * along, second)


@dataclass(frozen=True, eq=False)
class ByRate(Law):
    """r = ŝ ½ x·N x + κ/2 Σ s(|ẋ_j|) ẋ_j², ŝ nearly the largest factor s(|ẋ_j|).

    ẋ_j are the eigenvalues of the rates of stretch, among axes whose stretches coincide. Without κ
    this is any damping times a factor, with it principal strains with a factor each.
    """

    N: Floats
    """(m, d, d)"""
    least: Floats
    """κ, (m,)."""
    root: Floats
    """How close the two stretches of a sheet are, (m,): 1 where they coincide."""
    curve: Curve

    def at(self, x: Floats, *, bend: bool, definite: bool, newton: bool = False) -> Rates:
        r, slope = self._density(x)
        if not bend:
            return Rates(r, slope, np.empty((0, 0, 0)))
        d = x.shape[1]
        size = np.abs(x).max(axis=1)
        h = _STEP * np.where(size > 0, size, 1.0)
        second = np.empty((len(x), d, d))
        for a in range(d):
            step = h[:, None] * np.eye(d)[a]
            ahead, behind = self._density(x + step)[1], self._density(x - step)[1]
            second[:, a] = (ahead - behind) / (2 * h)[:, None]
        second = 0.5 * (second + second.transpose(0, 2, 1))
        return Rates(r, slope, positive(second) if definite else second)

    def _density(self, x: Floats) -> tuple[Floats, Floats]:
        rates, gradients = self._stretch_rates(x)
        s, steep = self.curve(rates), log_slope(self.curve, rates)
        largest = s.max(axis=1, keepdims=True)
        share = np.divide(s, largest, out=np.zeros_like(s), where=largest > 0) ** SHARPNESS
        total = share.sum(axis=1, keepdims=True)
        mean = largest * (total / s.shape[1]) ** (1.0 / SHARPNESS)
        share = np.divide(share, total, out=np.zeros_like(share), where=total > 0)
        along = times(self.N, x)
        rest = 0.5 * (x * along).sum(axis=1, keepdims=True)
        least = self.least[:, None]
        r = mean * rest + 0.5 * least * (s * rates**2).sum(axis=1, keepdims=True)
        by_rates = rest * mean * share * steep * np.sign(rates)
        by_rates += least * s * rates * (1.0 + 0.5 * np.abs(rates) * steep)
        slope: Floats = mean * along + np.einsum("mj,mjd->md", by_rates, gradients)
        return r[:, 0], slope

    def _stretch_rates(self, x: Floats) -> tuple[Floats, Floats]:
        """ẋ_j (m, j), and their derivatives by x (m, j, d)."""
        if x.shape[1] == 1:
            return x, np.ones((len(x), 1, 1))
        A = np.empty((len(x), 2, 2))
        A[:, 0, 0], A[:, 1, 1] = x[:, 0], x[:, 1]
        A[:, 0, 1] = A[:, 1, 0] = self.root * x[:, 2]
        values, V = np.linalg.eigh(A)
        gradients = np.stack(
            [V[:, 0] ** 2, V[:, 1] ** 2, 2 * self.root[:, None] * V[:, 0] * V[:, 1]], axis=2
        )
        return values, gradients


def times(Q: Floats, x: Floats) -> Floats:
    """Q x of every cell, (m, d)."""
    product: Floats = np.einsum("mab,mb->ma", Q, x)
    return product


def outer(a: Floats, b: Floats) -> Floats:
    """a bᵀ of every cell, (m, d, d)."""
    product: Floats = a[:, :, None] * b[:, None, :]
    return product


def positive(A: Floats) -> Floats:
    """The nearest positive semidefinite matrices, (m, d, d)."""
    values, V = np.linalg.eigh(A)
    if not len(values) or values.min() >= 0.0:
        return A
    clamped: Floats = (V * np.maximum(values, 0.0)[:, None, :]) @ V.transpose(0, 2, 1)
    return clamped


def log_slope(curve: Curve, x: Floats) -> Floats:
    """d log s/d|x| of a curve s."""
    breaks, pieces = curve.cubics
    size = np.abs(x)
    k = np.clip(np.searchsorted(breaks, size, side="right") - 1, 0, len(pieces) - 1)
    s, c = size - breaks[k], pieces[k]
    slope = _LOG_10 * (c[..., 1] + s * (2 * c[..., 2] + s * 3 * c[..., 3]))
    inside = (size > breaks[0]) & (size < breaks[-1])
    return np.where(inside, slope, 0.0)
