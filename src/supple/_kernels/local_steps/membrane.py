"""Newton's method for each triangle of a sheet: ∂Φ/∂F + w (F − s) = 0, six unknowns."""

import math

import numpy as np

from supple._kernels.compiling import kernel, pointwise
from supple._kernels.elasticity.strain_limits import add_limit, feasible_share

_MOST_TRIALS = 30
_MOST_AT_LIMIT = 200  # where a barrier is to be climbed
_ROOM = 0.9  # share of what is left to the limit that a step may use up
_SHORTEST = 1e-3  # of a Newton step, after which a triangle stays where it is


@pointwise
def _tensions(F, before, C, viscosity, c_v, limit, onset, k, S, T):
    """S = C ε + C_d ε̇ at F (3, 2), with Ḟ = c_v (F − F̂), and T = ∂S/∂ε + c_v ∂S/∂ε̇.

    Strains are those of membranes; near a limit there is more stress.
    """
    a = b = c = p = q = r = 0.0
    for i in range(3):
        f, g = F[i, 0], F[i, 1]
        x, y = c_v * (f - before[i, 0]), c_v * (g - before[i, 1])
        a += f * f
        b += g * g
        c += f * g
        p += f * x
        q += g * y
        r += f * y + g * x
    a, b = 0.5 * (a - 1.0), 0.5 * (b - 1.0)
    for s in range(3):
        S[s] = C[s, 0] * a + C[s, 1] * b + C[s, 2] * c
        S[s] += viscosity[s, 0] * p + viscosity[s, 1] * q + viscosity[s, 2] * r
        for t in range(3):
            T[s, t] = C[s, t] + c_v * viscosity[s, t]
    if k > 0.0:
        add_limit(a, b, c, limit, onset, k, S, T)


@pointwise
def _stress(F, S, i):
    """Row i of F S."""
    return F[i, 0] * S[0] + F[i, 1] * S[2], F[i, 0] * S[2] + F[i, 1] * S[1]


@pointwise
def _left(F, s, w, S, g):
    """Fill g (6,) with F S + w (F − s); returns its norm."""
    square = 0.0
    for i in range(3):
        p, q = _stress(F, S, i)
        g[2 * i] = p + w * (F[i, 0] - s[i, 0])
        g[2 * i + 1] = q + w * (F[i, 1] - s[i, 1])
        square += g[2 * i] * g[2 * i] + g[2 * i + 1] * g[2 * i + 1]
    return math.sqrt(square)


@pointwise
def _fill(F, S, T, shift, B, H):
    """H (6, 6) = Bᵀ T B + I ⊗ S + shift · I, with B = ∂ε/∂F."""
    for i in range(3):
        f, g = F[i, 0], F[i, 1]
        B[0, 2 * i], B[0, 2 * i + 1] = f, 0.0
        B[1, 2 * i], B[1, 2 * i + 1] = 0.0, g
        B[2, 2 * i], B[2, 2 * i + 1] = g, f
    H[:] = 0.0
    for s in range(3):
        for t in range(3):
            for a in range(6):
                for b in range(6):
                    H[a, b] += B[s, a] * T[s, t] * B[t, b]
    for i in range(3):
        H[2 * i, 2 * i] += S[0] + shift
        H[2 * i + 1, 2 * i + 1] += S[1] + shift
        H[2 * i, 2 * i + 1] += S[2]
        H[2 * i + 1, 2 * i] += S[2]


@pointwise
def _solve(H, g):
    """g ← H⁻¹ g by Cholesky, in place; whether all pivots were clearly positive."""
    for j in range(6):
        d = H[j, j]
        for k in range(j):
            d -= H[j, k] * H[j, k]
        if not d > 1e-12 * abs(H[j, j]):
            return False
        d = math.sqrt(d)
        H[j, j] = d
        for i in range(j + 1, 6):
            c = H[i, j]
            for k in range(j):
                c -= H[i, k] * H[j, k]
            H[i, j] = c / d
    for i in range(6):
        for k in range(i):
            g[i] -= H[i, k] * g[k]
        g[i] /= H[i, i]
    for i in range(5, -1, -1):
        for k in range(i + 1, 6):
            g[i] -= H[k, i] * g[k]
        g[i] /= H[i, i]
    return True


@kernel
def warm_start(z, before, C, viscosity, c_v, limit, onset, k, w, s):
    """s = z + F S/w: the place whose local minimum is z."""
    S, T = np.empty(3), np.empty((3, 3))
    for e in range(z.shape[0]):
        _tensions(z[e], before[e], C[e], viscosity[e], c_v, limit, onset, k[e], S, T)
        for i in range(3):
            p, q = _stress(z[e], S, i)
            s[e, i, 0], s[e, i, 1] = z[e, i, 0] + p / w[e], z[e, i, 1] + q / w[e]


@kernel
def minimise(s, before, C, viscosity, c_v, limit, onset, k, w, tolerance, z):
    """z with F S + w (F − s) = 0 at F = z, from the z given, which is below the limit."""
    S, T, g, best = np.empty(3), np.empty((3, 3)), np.empty(6), np.empty(6)
    B, H, trial, way = np.empty((3, 6)), np.empty((6, 6)), np.empty((3, 2)), np.empty((3, 2))
    for e in range(z.shape[0]):
        _tensions(z[e], before[e], C[e], viscosity[e], c_v, limit, onset, k[e], S, T)
        norm, t, shortest = _left(z[e], s[e], w[e], S, best), 0.0, _SHORTEST
        for _ in range(_MOST_AT_LIMIT if k[e] > 0.0 else _MOST_TRIALS):
            if norm <= tolerance * w[e]:
                break
            if t == 0.0:  # a new step, by a matrix that is surely positive
                _tensions(z[e], before[e], C[e], viscosity[e], c_v, limit, onset, k[e], S, T)
                shift = w[e]
                while True:
                    g[:] = best
                    _fill(z[e], S, T, shift, B, H)
                    if _solve(H, g):
                        break
                    shift *= 2.0
                step = g.copy()
                t = 1.0
                if k[e] > 0.0:
                    for i in range(3):
                        way[i, 0], way[i, 1] = -step[2 * i], -step[2 * i + 1]
                    t = feasible_share(z[e], way, limit, _ROOM, trial)
                shortest = _SHORTEST * t
            for i in range(3):
                trial[i, 0] = z[e, i, 0] - t * step[2 * i]
                trial[i, 1] = z[e, i, 1] - t * step[2 * i + 1]
            _tensions(trial, before[e], C[e], viscosity[e], c_v, limit, onset, k[e], S, T)
            n = _left(trial, s[e], w[e], S, g)
            if n <= (1.0 - 1e-4 * t) * norm:
                norm, t = n, 0.0
                z[e], best[:] = trial, g
            else:
                t *= 0.5
                if t < shortest:
                    break
