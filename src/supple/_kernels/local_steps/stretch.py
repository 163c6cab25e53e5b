"""Local minimisation for power-law damping of the stretch, in closed form but for one unknown.

F = R S, and b ‖S − Ŝ‖^(p+1) + w/2 ‖R S − F̃‖² is minimised by turns over R, a polar decomposition,
and over S, which lies on the line from Ŝ to sym(RᵀF̃) (dissipative optimization, App. B).
"""

import math

import numpy as np

from supple._kernels.compiling import kernel, pointwise
from supple._kernels.linear_algebra.svd3 import svd3
from supple._kernels.linear_algebra.tensors import multiply

_TURNS = 20
_FLAT = 1e-6  # |σ_a| + |σ_b| of a cell crushed along two axes counts as no less


@pointwise
def _share_kept(b, p, w, distance):
    """τ in [0, 1] with b (p + 1) τ^p D^(p − 1) = w (1 − τ); 0 where dry friction holds it all."""
    if distance == 0.0 or b == 0.0:
        return 1.0
    if p == 0.0:
        return max(0.0, 1.0 - b / (w * distance))
    low, high = 0.0, 1.0
    c = b * (p + 1.0) * distance ** (p - 1.0) / w
    for _ in range(60):
        tau = 0.5 * (low + high)
        if c * tau**p > 1.0 - tau:
            high = tau
        else:
            low = tau
    return 0.5 * (low + high)


@kernel
def add_stretches(F, rate, p, q, S):
    """S += p √(FᵀF) + q times its rate, at every point.

    In the frame of F = U Σ Vᵀ, with B = UᵀḞV, the rate is (σ_a B_ab + σ_b B_ba)/(|σ_a| + |σ_b|).
    """
    U, sigma, V = np.empty((3, 3)), np.empty(3), np.empty((3, 3))
    B, T = np.empty((3, 3)), np.empty((3, 3))
    for e in range(F.shape[0]):
        for k in range(F.shape[1]):
            svd3(F[e, k], U, sigma, V)
            for a in range(3):
                for b in range(3):
                    c = 0.0
                    for i in range(3):
                        for j in range(3):
                            c += U[i, a] * rate[e, k, i, j] * V[j, b]
                    B[a, b] = c
            for a in range(3):
                for b in range(3):
                    both = max(abs(sigma[a]) + abs(sigma[b]), _FLAT)
                    T[a, b] = q * (sigma[a] * B[a, b] + sigma[b] * B[b, a]) / both
                T[a, a] += p * abs(sigma[a])
            for i in range(3):
                for j in range(3):
                    c = 0.0
                    for a in range(3):
                        for b in range(3):
                            c += V[i, a] * T[a, b] * V[j, b]
                    S[e, k, i, j] += c


@kernel
def minimise_power_law(s, before, b, p, w, accuracy, stretch, z):
    """z (c, q, 3, 3) ← argmin near s; ``before`` are the stretches Ŝ, b and w (c,).

    ``stretch`` is the S to begin with and that of z in the end, found when it changes no more than
    by ``accuracy``.
    """
    U, sigma, V = np.empty((3, 3)), np.empty(3), np.empty((3, 3))
    R, G = np.empty((3, 3)), np.empty((3, 3))
    for e in range(s.shape[0]):
        for q in range(s.shape[1]):
            place, S = s[e, q], stretch[e, q]
            for _ in range(_TURNS):
                # R = argmin ‖R S − F̃‖: the orthogonal part of F̃ S
                multiply(place, S, G)
                svd3(G, U, sigma, V)
                flip = -1.0 if sigma[2] < 0.0 else 1.0
                for i in range(3):
                    for j in range(3):
                        R[i, j] = U[i, 0] * V[j, 0] + U[i, 1] * V[j, 1] + flip * U[i, 2] * V[j, 2]
                for i in range(3):  # sym(RᵀF̃)
                    for j in range(3):
                        G[i, j] = 0.5 * (
                            R[0, i] * s[e, q, 0, j] + R[0, j] * s[e, q, 0, i]
                            + R[1, i] * s[e, q, 1, j] + R[1, j] * s[e, q, 1, i]
                            + R[2, i] * s[e, q, 2, j] + R[2, j] * s[e, q, 2, i]
                        )  # fmt: skip
                square = 0.0
                for i in range(3):
                    for j in range(3):
                        d = G[i, j] - before[e, q, i, j]
                        square += d * d
                tau = _share_kept(b[e], p, w[e], math.sqrt(square))
                change = 0.0
                for i in range(3):
                    for j in range(3):
                        c = before[e, q, i, j] + tau * (G[i, j] - before[e, q, i, j])
                        change = max(change, abs(c - S[i, j]))
                        S[i, j] = c
                if change <= accuracy:
                    break
            multiply(R, S, z[e, q])
