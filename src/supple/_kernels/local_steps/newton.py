"""Newton's method for small problems at quadrature points: g(F) + w (F − s) = 0."""

import math

import numpy as np

from supple._kernels.compiling import kernel, pointwise
from supple._kernels.linear_algebra.svd3 import svd3
from supple._kernels.linear_algebra.tensors import expand

_SHORTEST = 1e-3  # of a Newton step, after which a point stays where it is
_LEAST_STRETCH = 0.2  # to start from, where s is flat or inside out


@pointwise
def _fill(A, e, q, shift, H):
    """H (9, 9) = ∂P/∂F + shift · I, rows and columns numbered 3 i + j for F_ij."""
    expand(1.0, A[e, q], H)
    for i in range(9):
        H[i, i] += shift


@pointwise
def _factorize(H):
    """The lower Cholesky factor of H in place; whether all pivots are clearly positive."""
    for j in range(9):
        d = H[j, j]
        for k in range(j):
            d -= H[j, k] * H[j, k]
        if not d > 1e-12 * abs(H[j, j]):
            return False
        d = math.sqrt(d)
        H[j, j] = d
        for i in range(j + 1, 9):
            c = H[i, j]
            for k in range(j):
                c -= H[i, k] * H[j, k]
            H[i, j] = c / d
    return True


@pointwise
def _solve(H, g):
    for i in range(9):
        c = g[i]
        for k in range(i):
            c -= H[i, k] * g[k]
        g[i] = c / H[i, i]
    for i in range(8, -1, -1):
        c = g[i]
        for k in range(i + 1, 9):
            c -= H[k, i] * g[k]
        g[i] = c / H[i, i]


@kernel
def count_doublings(A, w, share, most, doublings):
    """Raise ``doublings`` (c,) of weights until ∂P/∂F + share · w · 2^doublings is definite.

    w (c,) are the weights without them. Returns how many cells have more of them now.
    """
    H = np.empty((9, 9))
    grown = 0
    for e in range(len(w)):
        before = doublings[e]
        for q in range(A.shape[1]):
            while doublings[e] < most:
                _fill(A, e, q, share * w[e] * 2.0 ** doublings[e], H)
                if _factorize(H):
                    break
                doublings[e] += 1
        if doublings[e] > before:
            grown += 1
    return grown


@kernel
def advance(z, trial, s, w, P, A, norm, step, length, tolerance):
    """Judge the trial places by their forces P and move on; returns how many are not done.

    ``norm`` (c, q) is the residual at z, infinite before the first trial; ``length`` the share of
    ``step`` tried, 0 for points that are done. A trial that does not lower the residual is halved.
    From a saddle, or where nothing helps, a point starts once more near s, with negative length.
    """
    H, g = np.empty((9, 9)), np.empty(9)
    U, sigma, V = np.empty((3, 3)), np.empty(3), np.empty((3, 3))
    left = 0
    for e in range(len(w)):
        for q in range(z.shape[1]):
            t = abs(length[e, q])
            if t == 0.0:
                continue
            sign = math.copysign(1.0, length[e, q])
            square = 0.0
            for i in range(3):
                for j in range(3):
                    c = P[e, q, i, j] + w[e] * (trial[e, q, i, j] - s[e, q, i, j])
                    g[3 * i + j] = c
                    square += c * c
            n = math.sqrt(square)
            restart = False
            if n <= (1.0 - 1e-4 * t) * norm[e, q] and n < np.inf:
                norm[e, q] = n
                for i in range(3):
                    for j in range(3):
                        z[e, q, i, j] = trial[e, q, i, j]
                shift = w[e]
                _fill(A, e, q, shift, H)
                sound = _factorize(H)
                if n <= tolerance * w[e]:
                    if sound or sign < 0.0:
                        length[e, q] = 0.0
                        continue
                    restart = True  # a saddle
                else:
                    while not sound:
                        shift *= 4.0
                        _fill(A, e, q, shift, H)
                        sound = _factorize(H)
                    _solve(H, g)
                    for i in range(3):
                        for j in range(3):
                            step[e, q, i, j] = g[3 * i + j]
                    t = 1.0
            else:
                t *= 0.5
                if norm[e, q] == np.inf or t < _SHORTEST:
                    if sign < 0.0:
                        length[e, q] = 0.0
                        continue
                    restart = True
            left += 1
            if restart:
                svd3(s[e, q], U, sigma, V)
                for i in range(3):
                    for j in range(3):
                        c = 0.0
                        for k in range(3):
                            c += U[i, k] * max(sigma[k], _LEAST_STRETCH) * V[j, k]
                        trial[e, q, i, j] = c
                norm[e, q], length[e, q] = np.inf, -1.0
                continue
            length[e, q] = sign * t
            for i in range(3):
                for j in range(3):
                    trial[e, q, i, j] = z[e, q, i, j] - t * step[e, q, i, j]
    return left
