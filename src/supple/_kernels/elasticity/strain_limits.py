"""A barrier that keeps the principal stretches of triangles below a limit.

With Green's strain E of the eigenvalues e_i, the limit ℓ and the strain o at which the barrier sets
in, each e_i has the energy

    ψ = κ r² B((ℓ − e_i)/r),   r = ℓ − o,   B(x) = −(1 − x)² ln x below x = 1, and 0 above.

It is twice continuously differentiable, grows without bound at the limit, and there is no strain at
all beyond it: the energy is infinite there.
"""

import math

import numpy as np

from supple._kernels.compiling import kernel, pointwise

_BISECTIONS = 30


@pointwise
def _strain(F):
    """(E₀₀, E₁₁, 2 E₀₁) at F (3, 2)."""
    a = F[0, 0] * F[0, 0] + F[1, 0] * F[1, 0] + F[2, 0] * F[2, 0]
    b = F[0, 1] * F[0, 1] + F[1, 1] * F[1, 1] + F[2, 1] * F[2, 1]
    c = F[0, 0] * F[0, 1] + F[1, 0] * F[1, 1] + F[2, 0] * F[2, 1]
    return 0.5 * (a - 1.0), 0.5 * (b - 1.0), c


@pointwise
def _larger(a, b, c):
    """The larger principal strain."""
    half = 0.5 * (a - b)
    return 0.5 * (a + b) + math.sqrt(half * half + 0.25 * c * c)


@pointwise
def _barrier(e, limit, onset):
    """ψ/κ, its first derivative by e and its second, below the limit."""
    if e <= onset:
        return 0.0, 0.0, 0.0
    reach = limit - onset
    x = (limit - e) / reach
    y, log = 1.0 - x, math.log(x)
    first = 2.0 * y * log - y * y / x
    second = -2.0 * log + 4.0 * y / x + y * y / (x * x)
    return -reach * reach * y * y * log, -reach * first, second


@pointwise
def add_limit(a, b, c, limit, onset, k, S, T):
    """Add ∂ψ/∂ε to S (3,) and ∂²ψ/∂ε² to T (3, 3) at ε = (a, b, c); returns ψ.

    c is 2 E₀₁. With E = e₀ ppᵀ + e₁ qqᵀ, a function of the eigenvalues changes along ppᵀ, qqᵀ and
    pqᵀ + qpᵀ alone. T is positive semidefinite.
    """
    high = _larger(a, b, c)
    if high <= onset:
        return 0.0
    if not high < limit:
        return math.inf
    low = a + b - high
    psi, s0, t0 = _barrier(high, limit, onset)
    rest, s1, t1 = _barrier(low, limit, onset)
    angle = 0.5 * math.atan2(0.5 * c, 0.5 * (a - b))
    p, q = math.cos(angle), math.sin(angle)
    # (ψ₀′ − ψ₁′)/(e₀ − e₁), or its limit where the strains are the same
    apart = high - low
    bent = (s0 - s1) / apart if apart > 1e-6 * (limit - onset) else 0.5 * (t0 + t1)
    P, Q, M = (p * p, q * q, p * q), (q * q, p * p, -p * q), (-2 * p * q, 2 * p * q, p * p - q * q)
    for s in range(3):
        S[s] += k * (s0 * P[s] + s1 * Q[s])
        for t in range(3):
            T[s, t] += k * (t0 * P[s] * P[t] + t1 * Q[s] * Q[t] + 0.5 * bent * M[s] * M[t])
    return k * (psi + rest)


@kernel
def add_limits(F, limit, onset, k, weights, S, T):
    """The same for every triangle at its F (3, 2); returns Σ w ψ."""
    energy = 0.0
    for e in range(F.shape[0]):
        a, b, c = _strain(F[e])
        energy += weights[e] * add_limit(a, b, c, limit, onset, k[e], S[e], T[e])
    return energy


@kernel
def largest_strain(F):
    """The largest principal strain of Green of all triangles."""
    most = -0.5
    for e in range(F.shape[0]):
        a, b, c = _strain(F[e])
        strain = _larger(a, b, c)
        if not strain <= most:  # so too if it is no number
            most = strain
    return most


@pointwise
def feasible_share(F, D, limit, share, scratch):
    """How far F + t D may go, t up to 1, using a ``share`` of the room to the limit at most.

    The larger strain is convex along the way: where both ends are below, all between is.
    """
    a, b, c = _strain(F)
    start = _larger(a, b, c)
    target = start + share * (limit - start)
    low, high = 0.0, 1.0
    for trial in range(_BISECTIONS):
        t = high if trial == 0 else 0.5 * (low + high)
        for i in range(3):
            scratch[i, 0] = F[i, 0] + t * D[i, 0]
            scratch[i, 1] = F[i, 1] + t * D[i, 1]
        a, b, c = _strain(scratch)
        if _larger(a, b, c) <= target:
            if trial == 0:
                return 1.0
            low = t
        else:
            high = t
    return low


@kernel
def feasible_step(F, D, limit, share):
    """The least of these shares over all triangles."""
    scratch, least = np.empty((3, 2)), 1.0
    for e in range(F.shape[0]):
        least = min(least, feasible_share(F[e], D[e], limit, share, scratch))
    return least


@kernel
def shrink(F, most):
    """Bring stretches σ of every F with (σ² − 1)/2 above ``most`` down to that, in place."""
    for e in range(F.shape[0]):
        a, b, c = _strain(F[e])
        high = _larger(a, b, c)
        if high <= most:
            continue
        low = a + b - high
        angle = 0.5 * math.atan2(0.5 * c, 0.5 * (a - b))
        p, q = math.cos(angle), math.sin(angle)
        to = math.sqrt(2.0 * most + 1.0)
        along = to / math.sqrt(2.0 * high + 1.0)
        across = to / math.sqrt(2.0 * low + 1.0) if low > most else 1.0
        for i in range(3):
            f, g = (
                along * (F[e, i, 0] * p + F[e, i, 1] * q),
                across * (F[e, i, 1] * p - F[e, i, 0] * q),
            )
            F[e, i, 0], F[e, i, 1] = f * p - g * q, f * q + g * p
