"""Cloth that stiffens past a strain: ψ = k/2 Σ max(0, e_i − ℓ)² over the eigenvalues of E."""

from __future__ import annotations

import math

from supple._kernels.compiling import kernel, pointwise


@pointwise
def add_limit(a, b, c, limit, k, S, T):
    """Add ∂ψ/∂ε to S (3,) and ∂²ψ/∂ε² to T (3, 3) at ε = (a, b, c); returns ψ.

    c is 2 E₀₁. With E = a′ ppᵀ + b′ qqᵀ, a positive part (E − ℓ I)⁺ changes along ppᵀ, qqᵀ and
    pqᵀ + qpᵀ alone.
    """
    mean, half = 0.5 * (a + b) - limit, 0.5 * (a - b)
    radius = math.sqrt(half * half + 0.25 * c * c)
    high, low = mean + radius, mean - radius
    if high <= 0.0:
        return 0.0
    angle = 0.5 * math.atan2(0.5 * c, half)
    p, q = math.cos(angle), math.sin(angle)
    P, Q, M = (p * p, q * q, p * q), (q * q, p * p, -p * q), (-2 * p * q, 2 * p * q, p * p - q * q)
    below = max(low, 0.0)
    bent = 1.0 if low > 0.0 else high / (high - low)  # (high⁺ − low⁺)/(high − low)
    both = 1.0 if low > 0.0 else 0.0
    for s in range(3):
        S[s] += k * (high * P[s] + below * Q[s])
        for t in range(3):
            T[s, t] += k * (P[s] * P[t] + both * Q[s] * Q[t] + 0.5 * bent * M[s] * M[t])
    return 0.5 * k * (high * high + below * below)


@kernel
def add_limits(F, limit, k, weights, S, T):
    """The same for every triangle at its F (3, 2); returns Σ w ψ."""
    energy = 0.0
    for e in range(F.shape[0]):
        a = b = c = 0.0
        for i in range(3):
            a += F[e, i, 0] * F[e, i, 0]
            b += F[e, i, 1] * F[e, i, 1]
            c += F[e, i, 0] * F[e, i, 1]
        a, b = 0.5 * (a - 1.0), 0.5 * (b - 1.0)
        energy += weights[e] * add_limit(a, b, c, limit, k[e], S[e], T[e])
    return energy
