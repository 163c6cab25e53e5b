"""Local minimisation over singular values: Φ(σ) + w/2 ‖σ − σ̃‖² at quadrature points.

An isotropic energy changes with the singular values of F alone, so the minimum has the singular
vectors of the place it is sought near, and three unknowns are left.
"""

import math
from typing import NamedTuple

import numpy as np

from supple._kernels.compiling import kernel
from supple._kernels.linear_algebra.svd3 import SCRATCH, TOGETHER, svd3, svd3_together
from supple._kernels.linear_algebra.tensors import component

_SHORTEST = 1e-3
_FLAT = 0.02
_LEAST_STRETCH = 0.2  # to start from, where the place is flat or inside out


class Search(NamedTuple):
    """The search for minima at points (c, q)."""

    x: np.ndarray  # (c, q, 3) the stretches found
    trial: np.ndarray  # (c, q, 3) those to look at next
    step: np.ndarray  # (c, q, 3)
    merit: np.ndarray  # (c, q) of x, infinite where there is none yet
    norm: np.ndarray  # (c, q) the residual at x
    length: np.ndarray  # (c, q) share of the step that is tried, 0 for points that are done


@kernel
def to_stretches(s, z, U, sigma, V, search, tolerance):
    """s = U diag(σ̃) Vᵀ, sought from the V given; first trials σ from the diagonal of UᵀzV.

    Where that would be flat or inside out, σ̃ takes its place, well away from collapse.
    """
    x, trial, merit, length = search.x, search.trial, search.merit, search.length
    n = merit.size
    S, U, V = s.reshape(n, 3, 3), U.reshape(n, 3, 3), V.reshape(n, 3, 3)
    values = sigma.reshape(n, 3)
    M = np.empty(SCRATCH)
    for a in range(0, n, TOGETHER):
        b = min(a + TOGETHER, n)
        svd3_together(S[a:b], U[a:b], values[a:b], V[a:b], tolerance, M)
    k = 0
    for e in range(s.shape[0]):
        for q in range(s.shape[1]):
            merit[e, q], length[e, q] = np.inf, 1.0
            least = np.inf
            for a in range(3):
                along = component(U[k], V[k], z[e, q], a, a)
                x[e, q, a] = trial[e, q, a] = along
                if a < 2:  # the third may be flat or inside out, where the material allows it
                    least = min(least, along)
            if not least > _FLAT:
                length[e, q] = 0.5
                for a in range(3):
                    trial[e, q, a] = max(sigma[e, q, a], _LEAST_STRETCH)
            k += 1


@kernel
def advance_stretches(search, sigma, w, psi, p, H, tolerance, by_energy):
    """Judge the trial places and move on; returns how many are not done.

    A trial is better if Φ + w/2 ‖σ − σ̃‖² is lower, or, where forces have no potential, if the
    residual is; one that is not is halved. A place that the material forbids is left for one near
    σ̃ and well away from collapse.
    """
    x, trial, step, merit, norm, length = search
    left = 0
    for e in range(len(w)):
        weight = w[e]
        for q in range(x.shape[1]):
            t = length[e, q]
            if t == 0.0:
                continue
            a0 = trial[e, q, 0] - sigma[e, q, 0]
            a1 = trial[e, q, 1] - sigma[e, q, 1]
            a2 = trial[e, q, 2] - sigma[e, q, 2]
            g0 = p[e, q, 0] + weight * a0
            g1 = p[e, q, 1] + weight * a1
            g2 = p[e, q, 2] + weight * a2
            n = math.sqrt(g0 * g0 + g1 * g1 + g2 * g2)
            value = n
            if by_energy:
                value = psi[e, q] + 0.5 * weight * (a0 * a0 + a1 * a1 + a2 * a2)
            first = merit[e, q] == np.inf
            level = merit[e, q] if first else merit[e, q] + 1e-14 * (abs(merit[e, q]) + weight)
            restart = False
            if n < np.inf and (first or value <= level or n <= 0.5 * norm[e, q]):
                merit[e, q], norm[e, q] = value, n
                for i in range(3):
                    x[e, q, i] = trial[e, q, i]
                done = n <= tolerance * weight
                restarted = first and t < 1.0
                h01, h02, h12 = H[e, q, 1], H[e, q, 2], H[e, q, 4]
                shift = weight
                while True:  # Cholesky, with more weight where it fails, as it does at saddles
                    h00 = H[e, q, 0] + shift
                    h11 = H[e, q, 3] + shift
                    h22 = H[e, q, 5] + shift
                    if h00 > 0.0:
                        l10, l20 = h01 / h00, h02 / h00
                        d1 = h11 - l10 * h01
                        if d1 > 1e-12 * h11:
                            l21 = (h12 - l20 * h01) / d1
                            d2 = h22 - l20 * h02 - l21 * l21 * d1
                            if d2 > 1e-12 * h22:
                                break
                    shift = 4.0 * shift
                if done:
                    if shift == weight or restarted:
                        length[e, q] = 0.0
                        continue
                    restart = True
                else:
                    y1 = g1 - l10 * g0
                    y2 = g2 - l20 * g0 - l21 * y1
                    s2 = y2 / d2
                    s1 = y1 / d1 - l21 * s2
                    step[e, q, 2], step[e, q, 1] = s2, s1
                    step[e, q, 0] = g0 / h00 - l10 * s1 - l20 * s2
                    t = 1.0
            else:
                restart = first
                t *= 0.5
                if t < (0.5 if first else _SHORTEST):  # nor is that place sound
                    length[e, q] = 0.0
                    continue
            left += 1
            if restart:
                merit[e, q], length[e, q] = np.inf, 0.5
                for i in range(3):
                    trial[e, q, i] = max(sigma[e, q, i], _LEAST_STRETCH)
                continue
            length[e, q] = t
            for i in range(3):
                trial[e, q, i] = x[e, q, i] - t * step[e, q, i]
    return left


@kernel
def from_stretches(s, U, sigma, x, V, z):
    """z = s − U diag(σ̃ − x) Vᵀ."""
    for e in range(z.shape[0]):
        for q in range(z.shape[1]):
            d0 = sigma[e, q, 0] - x[e, q, 0]
            d1 = sigma[e, q, 1] - x[e, q, 1]
            d2 = sigma[e, q, 2] - x[e, q, 2]
            for i in range(3):
                a, b, c = U[e, q, i, 0] * d0, U[e, q, i, 1] * d1, U[e, q, i, 2] * d2
                for j in range(3):
                    z[e, q, i, j] = s[e, q, i, j] - (
                        a * V[e, q, j, 0] + b * V[e, q, j, 1] + c * V[e, q, j, 2]
                    )


@kernel
def add_singular_values(F, rate, p, q, sigma):
    """sigma (c, k, 3) += p σ + q σ̇ of F, largest first, the last with the sign of det F."""
    U, values, V = np.empty((3, 3)), np.empty(3), np.empty((3, 3))
    for e in range(F.shape[0]):
        for k in range(F.shape[1]):
            svd3(F[e, k], U, values, V)
            for a in range(3):
                along = 0.0
                for i in range(3):
                    for j in range(3):
                        along += U[i, a] * rate[e, k, i, j] * V[j, a]
                sigma[e, k, a] += p * values[a] + q * along


@kernel
def add_principal_damping(x, before, factor, p, H):
    """Add β c_v K_σ (σ − σ̂) to the gradient by σ, and β c_v K_σ to the Hessian.

    That is the gradient of the effective potential of principal strain damping (dissipative
    optimization, Eq. 53); H holds K_σ = ∂²ψ/∂σ² on entry.
    """
    for e in range(x.shape[0]):
        c = factor[e]
        for q in range(x.shape[1]):
            d0 = x[e, q, 0] - before[e, q, 0]
            d1 = x[e, q, 1] - before[e, q, 1]
            d2 = x[e, q, 2] - before[e, q, 2]
            k00, k11, k22 = H[e, q, 0], H[e, q, 3], H[e, q, 5]
            k01, k02, k12 = H[e, q, 1], H[e, q, 2], H[e, q, 4]
            p[e, q, 0] += c * (k00 * d0 + k01 * d1 + k02 * d2)
            p[e, q, 1] += c * (k01 * d0 + k11 * d1 + k12 * d2)
            p[e, q, 2] += c * (k02 * d0 + k12 * d1 + k22 * d2)
            for s in range(6):
                H[e, q, s] *= 1.0 + c
