"""The squared rate of stretch ‖Ṡ‖² at quadrature points, S = √(FᵀF) of the polar decomposition.

In the frame of F = U diag(σ) Vᵀ with B = UᵀḞV it is Ṡ_ab = (σ_a B_ab + σ_b B_ba)/(|σ_a| + |σ_b|):
never more than Ḟ, however flat or inside out a cell is.
"""

import math

import numpy as np

from supple._kernels.compiling import kernel, pointwise
from supple._kernels.linear_algebra.svd3 import SCRATCH, TOGETHER, frame_of, keep_positive
from supple._kernels.linear_algebra.tensors import (
    add_isotropic,
    add_outers,
    component,
    turn_symmetric,
)

_FLAT = 1e-6  # |σ_a| + |σ_b| of a cell crushed along two axes counts as no less


@pointwise
def _stretch_rate(D, U, sigma, V, d, T):
    """Fills d_ab = |σ_a| + |σ_b| and Ṡ in the frame of V; returns ‖Ṡ‖²."""
    for a in range(3):
        for b in range(3):
            T[a, b] = component(U, V, D, a, b)
            d[a, b] = max(abs(sigma[a]) + abs(sigma[b]), _FLAT)
    square = 0.0
    for a in range(3):
        if sigma[a] < 0.0:
            T[a, a] = -T[a, a]
        square += T[a, a] * T[a, a]
        for b in range(a + 1, 3):
            T[a, b] = (sigma[a] * T[a, b] + sigma[b] * T[b, a]) / d[a, b]
            T[b, a] = T[a, b]
            square += 2.0 * T[a, b] * T[a, b]
    return square


@pointwise
def _fill_by_rate(U, sigma, V, d, T, Q, B):
    """B = ∂ρ/∂Ḟ where ρ = T:T, T the rate of stretch in the frame of V; Q is scratch."""
    for a in range(3):  # ∂ρ/∂(UᵀḞV)
        for b in range(3):
            Q[a, b] = 4.0 * sigma[a] * T[a, b] / d[a, b]
        Q[a, a] = -2.0 * T[a, a] if sigma[a] < 0.0 else 2.0 * T[a, a]
    for i in range(3):
        for j in range(3):
            B[i, j] = 0.0
        for b in range(3):
            c = U[i, 0] * Q[0, b] + U[i, 1] * Q[1, b] + U[i, 2] * Q[2, b]
            for j in range(3):
                B[i, j] += c * V[j, b]


@pointwise
def _to_frame(X, V, factor, T):
    """T = factor · VᵀX V."""
    for a in range(3):
        for b in range(3):
            T[a, b] = factor * component(V, V, X, a, b)


@pointwise
def _slope(rho, w, p, e):
    """∂r/∂ρ of r = w ((ρ + e)^q − e^q), q = (p + 1)/2."""
    if p == 0.0:
        return 0.5 * w / math.sqrt(rho + e)
    if p == 1.0:
        return w
    return 0.5 * (p + 1.0) * w * (rho + e) ** (0.5 * (p - 1.0))


@kernel
def add_power_law(F, D, w, p, e, bend, dual, sums, stress):
    """r = w ((‖Ṡ‖² + e)^q − e^q), q = (p + 1)/2, added to ``Sums``.

    ``bend`` is the share of how the slope changes with ‖Ṡ‖² that the second derivative has. With
    ``stress``, A gets δ_ik 4 (Z ∂r/∂ρ)⁺_jl too: Z S + S Z = Ṡ, and ∂‖Ṡ‖²/∂Ḟ is 4 F Z.
    """
    r, P, A, order, factor = sums
    frames, values = np.empty((2, TOGETHER, 3, 3)), np.empty((TOGETHER, 3))
    M, Fs = np.empty(SCRATCH), F.reshape(F.shape[0] * F.shape[1], 3, 3)
    d, T, Q, B = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    Y, Z = np.empty((3, 3)), np.empty((3, 3))
    left, right, product = np.empty((8, 9)), np.empty((8, 9)), np.empty((9, 9))
    still = e ** (0.5 * (p + 1.0))
    for n in range(len(F)):
        for q in range(F.shape[1]):
            U, sigma, V = frame_of(F.shape[1] * n + q, Fs, frames, values, M)
            rho = _stretch_rate(D[n, q], U, sigma, V, d, T)
            slope = _slope(rho, w[n], p, e)
            r[n, q] += 2.0 / (p + 1.0) * slope * (rho + e) - w[n] * still
            if order == 0:
                continue
            _fill_by_rate(U, sigma, V, d, T, Q, B)
            for i in range(3):
                for j in range(3):
                    P[n, q, i, j] += slope * B[i, j]
            if order == 1:
                continue
            c = 0.0
            if rho + e > 0.0:
                c = factor * bend * 0.25 * (p - 1.0) * slope / (rho + e)
            if len(dual):
                _to_frame(dual[n, q], V, math.sqrt(rho + e), Y)
                _fill_by_rate(U, sigma, V, d, Y, Q, Z)
            for i in range(3):
                for j in range(3):
                    along = Z[i, j] if len(dual) else B[i, j]
                    left[6, 3 * i + j], right[6, 3 * i + j] = c * B[i, j], along
                    left[7, 3 * i + j], right[7, 3 * i + j] = c * along, B[i, j]
            t = 0
            for a in range(3):
                for b in range(a, 3):
                    # Ṡ_ab = Q : Ḟ, once on the diagonal and twice beside it
                    m, l = sigma[a] / d[a, b], sigma[b] / d[a, b]
                    if a == b:
                        m, l = 1.0, 0.0
                    c = (2.0 if a == b else 4.0) * factor * slope
                    for i in range(3):
                        for j in range(3):
                            x = m * U[i, a] * V[j, b] + l * U[i, b] * V[j, a]
                            left[t, 3 * i + j], right[t, 3 * i + j] = c * x, x
                    t += 1
            add_outers(A[n, q], left, right, product)
            if stress:
                for a in range(3):
                    for b in range(3):
                        Q[a, b] = 4.0 * slope * T[a, b] / d[a, b]
                turn_symmetric(Q, V, B)
                keep_positive(B, T)
                add_isotropic(B, A[n, q])


@kernel
def add_power_law_by_shape(F, D, w, p, e, G, factor):
    """factor · ∂r/∂F = 4 factor ∂r/∂ρ (Ḟ Z − F Y), added to G; Y S + S Y = Z Ṡ + Ṡ Z."""
    frames, values = np.empty((2, TOGETHER, 3, 3)), np.empty((TOGETHER, 3))
    M, Fs = np.empty(SCRATCH), F.reshape(F.shape[0] * F.shape[1], 3, 3)
    d, T, Z, Y = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    for n in range(len(F)):
        for q in range(F.shape[1]):
            U, sigma, V = frame_of(F.shape[1] * n + q, Fs, frames, values, M)
            rho = _stretch_rate(D[n, q], U, sigma, V, d, T)
            scale = 4.0 * factor * _slope(rho, w[n], p, e)
            for a in range(3):
                for b in range(3):
                    Z[a, b] = T[a, b] / d[a, b]
            for a in range(3):
                for b in range(3):
                    Y[a, b] = 0.0
                    for c in range(3):
                        Y[a, b] += (Z[a, c] * T[c, b] + T[a, c] * Z[c, b]) / d[a, b]
            for i in range(3):
                for b in range(3):
                    total = 0.0
                    for a in range(3):
                        along = D[n, q, i, 0] * V[0, a] + D[n, q, i, 1] * V[1, a]
                        along += D[n, q, i, 2] * V[2, a]
                        total += along * Z[a, b] - U[i, a] * sigma[a] * Y[a, b]
                    for j in range(3):
                        G[n, q, i, j] += scale * total * V[j, b]


@kernel
def lead_directions(F, D, step, e, length, dual):
    """Lead directions of flow, Ṡ/√(‖Ṡ‖² + e) in material axes, along a share of a step of Ḟ.

    To first order, from ``dual`` as it is, and to no more than length one.
    """
    frames, values = np.empty((2, TOGETHER, 3, 3)), np.empty((TOGETHER, 3))
    M, Fs = np.empty(SCRATCH), F.reshape(F.shape[0] * F.shape[1], 3, 3)
    d, T, X, W = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    for n in range(len(F)):
        for q in range(F.shape[1]):
            U, sigma, V = frame_of(F.shape[1] * n + q, Fs, frames, values, M)
            rho = _stretch_rate(D[n, q], U, sigma, V, d, T)
            eta = math.sqrt(rho + e)
            _to_frame(dual[n, q], V, 1.0, W)
            _stretch_rate(step[n, q], U, sigma, V, d, X)
            along = 0.0
            for a in range(3):
                for b in range(3):
                    along += T[a, b] * X[a, b] / (eta * eta)
            square = 0.0
            for a in range(3):
                for b in range(3):
                    promised = (T[a, b] + X[a, b]) / eta - W[a, b] * along
                    W[a, b] += length * (promised - W[a, b])
                    square += W[a, b] * W[a, b]
            if square > 1.0:
                for a in range(3):
                    for b in range(3):
                        W[a, b] /= math.sqrt(square)
            turn_symmetric(W, V, dual[n, q])
