"""Local minimisation for power-law damping of the stretch, in closed form but for one unknown.

F = R S, and b ‖S − Ŝ‖^(p+1) + w/2 ‖R S − F̃‖² is minimised by turns over R, a polar decomposition,
and over S, which lies on the line from Ŝ to sym(RᵀF̃) (dissipative optimization, App. B).
"""

import math

import numpy as np

from supple._kernels.compiling import kernel, pointwise, reordering_kernel
from supple._kernels.linear_algebra.svd3 import svd3

_TURNS = 20
_FLAT = 1e-6  # |σ_a| + |σ_b| of a cell crushed along two axes counts as no less
_TOGETHER = 16  # points side by side, so that one instruction works on several of them
_ROUNDS = 12
_SMALL = 2e-8  # the change after this one would be half its square
_UPRIGHT = 0.05  # least volume of matrices of size 1 that Newton's iteration makes orthogonal


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


@reordering_kernel
def _multiply(A, S, C):
    """C = A S, of every pair; entries of S above the diagonal alone: 00, 01, 02, 11, 12, 22."""
    for k in range(_TOGETHER):
        s0, s1, s2, s3, s4, s5 = S[0, k], S[1, k], S[2, k], S[3, k], S[4, k], S[5, k]
        for i in range(3):
            a, b, c = A[3 * i, k], A[3 * i + 1, k], A[3 * i + 2, k]
            C[3 * i, k] = a * s0 + b * s1 + c * s2
            C[3 * i + 1, k] = a * s1 + b * s3 + c * s4
            C[3 * i + 2, k] = a * s2 + b * s4 + c * s5


@reordering_kernel
def _to_size_one(A):
    for k in range(_TOGETHER):
        square = 0.0
        for i in range(9):
            square += A[i, k] * A[i, k]
        share = 1.0 / math.sqrt(max(square / 3.0, 1e-300))
        for i in range(9):
            A[i, k] *= share


@reordering_kernel
def _make_orthogonal(A, change, least):
    """One step R ← (R + R⁻ᵀ)/2 of every matrix that still changes; the least volume so far."""
    for s in range(_TOGETHER):
        a, b, c = A[0, s], A[1, s], A[2, s]
        d, e, f = A[3, s], A[4, s], A[5, s]
        g, h, k = A[6, s], A[7, s], A[8, s]
        p, q, r = e * k - f * h, f * g - d * k, d * h - e * g
        det = a * p + b * q + c * r
        volume = abs(det)
        least[s] = min(least[s], volume)
        going = 1.0 if change[s] > _SMALL else 0.0
        half = going * 0.5 / (det if volume > _UPRIGHT else _UPRIGHT)
        less = going * 0.5
        da, db, dc = half * p - less * a, half * q - less * b, half * r - less * c
        dd, de = half * (c * h - b * k) - less * d, half * (a * k - c * g) - less * e
        df, dg = half * (b * g - a * h) - less * f, half * (b * f - c * e) - less * g
        dh, dk = half * (c * d - a * f) - less * h, half * (a * e - b * d) - less * k
        A[0, s], A[1, s], A[2, s] = a + da, b + db, c + dc
        A[3, s], A[4, s], A[5, s] = d + dd, e + de, f + df
        A[6, s], A[7, s], A[8, s] = g + dg, h + dh, k + dk
        change[s] = (
            (abs(da) + abs(db) + abs(dc)) + (abs(dd) + abs(de) + abs(df)) + (abs(dg) + abs(dh))
        ) + abs(dk)


@reordering_kernel
def _towards(R, F, before, ahead, distance):
    """How far sym(RᵀF̃) is ``ahead`` of Ŝ, and its size."""
    for k in range(_TOGETHER):
        r0, r1, r2, r3, r4 = R[0, k], R[1, k], R[2, k], R[3, k], R[4, k]
        r5, r6, r7, r8 = R[5, k], R[6, k], R[7, k], R[8, k]
        f0, f1, f2, f3, f4 = F[0, k], F[1, k], F[2, k], F[3, k], F[4, k]
        f5, f6, f7, f8 = F[5, k], F[6, k], F[7, k], F[8, k]
        a = r0 * f0 + r3 * f3 + r6 * f6 - before[0, k]
        b = 0.5 * (r0 * f1 + r1 * f0 + r3 * f4 + r4 * f3 + r6 * f7 + r7 * f6) - before[1, k]
        c = 0.5 * (r0 * f2 + r2 * f0 + r3 * f5 + r5 * f3 + r6 * f8 + r8 * f6) - before[2, k]
        d = r1 * f1 + r4 * f4 + r7 * f7 - before[3, k]
        e = 0.5 * (r1 * f2 + r2 * f1 + r4 * f5 + r5 * f4 + r7 * f8 + r8 * f7) - before[4, k]
        f = r2 * f2 + r5 * f5 + r8 * f8 - before[5, k]
        ahead[0, k], ahead[1, k], ahead[2, k] = a, b, c
        ahead[3, k], ahead[4, k], ahead[5, k] = d, e, f
        distance[k] = math.sqrt(a * a + d * d + f * f + 2.0 * (b * b + c * c + e * e))


@reordering_kernel
def _follow(before, ahead, tau, changed, accuracy, S):
    """S = Ŝ + τ (sym(RᵀF̃) − Ŝ) where it has changed by more than the accuracy, and by how much."""
    for k in range(_TOGETHER):
        going = 1.0 if changed[k] > accuracy else 0.0
        largest = 0.0
        for i in range(6):
            change = going * (before[i, k] + tau[k] * ahead[i, k] - S[i, k])
            S[i, k] += change
            largest = max(largest, abs(change))
        changed[k] = largest


@pointwise
def _orthogonal_part(A, k, R, M, U, sigma, V):
    """The same for one of them by singular values: of one that is nearly flat, say."""
    for i in range(3):
        for j in range(3):
            M[i, j] = A[3 * i + j, k]
    svd3(M, U, sigma, V)
    flip = -1.0 if sigma[2] < 0.0 else 1.0
    for i in range(3):
        for j in range(3):
            R[3 * i + j, k] = U[i, 0] * V[j, 0] + U[i, 1] * V[j, 1] + flip * U[i, 2] * V[j, 2]


@kernel
def minimise_power_law(s, before, b, p, w, accuracy, stretch, z):
    """z (c, q, 3, 3) ← argmin near s; ``before`` are the stretches Ŝ, b and w (c,).

    ``stretch`` is the S to begin with and that of z in the end, found when it changes no more than
    by ``accuracy``.
    """
    N, points = _TOGETHER, s.shape[1]
    n = s.shape[0] * points
    flat, past = s.reshape(n, 9), before.reshape(n, 9)
    kept, found = stretch.reshape(n, 9), z.reshape(n, 9)
    F, G, R, A = np.empty((9, N)), np.empty((9, N)), np.empty((9, N)), np.empty((9, N))
    S, given, ahead = np.empty((6, N)), np.empty((6, N)), np.empty((6, N))
    tau, changed, distance = np.ones(N), np.empty(N), np.empty(N)
    change, least = np.empty(N), np.empty(N)
    M, U, sigma, V = np.empty((3, 3)), np.empty((3, 3)), np.empty(3), np.empty((3, 3))
    for first in range(0, n, N):
        count = min(N, n - first)
        for k in range(N):
            e = first + min(k, count - 1)  # the last fills the rest
            for i in range(9):
                F[i, k] = flat[e, i]
            for i in range(3):
                for j in range(i, 3):
                    at = j if i == 0 else i + j + 1
                    S[at, k], given[at, k] = kept[e, 3 * i + j], past[e, 3 * i + j]
        changed[:] = np.inf
        for _ in range(_TURNS):
            # R = argmin ‖R S − F̃‖: the orthogonal part of F̃ S
            _multiply(F, S, G)
            _to_size_one(G)
            R[:] = G
            least[:], change[:] = np.inf, np.inf
            for _ in range(_ROUNDS):
                _make_orthogonal(R, change, least)
                largest = 0.0
                for k in range(N):
                    if least[k] > _UPRIGHT:
                        largest = max(largest, change[k])
                if largest <= _SMALL:
                    break
            for k in range(N):
                if changed[k] > accuracy and not (least[k] > _UPRIGHT and change[k] <= _SMALL):
                    _orthogonal_part(G, k, R, M, U, sigma, V)
            _towards(R, F, given, ahead, distance)
            for k in range(N):
                if changed[k] > accuracy:
                    e = (first + min(k, count - 1)) // points
                    tau[k] = _share_kept(b[e], p, w[e], distance[k])
                    for i in range(9):
                        A[i, k] = R[i, k]
            _follow(given, ahead, tau, changed, accuracy, S)
            largest = 0.0
            for k in range(count):
                largest = max(largest, changed[k])
            if not largest > accuracy:
                break
        _multiply(A, S, G)
        for k in range(count):
            e = first + k
            for i in range(9):
                found[e, i] = G[i, k]
            for i in range(3):
                for j in range(3):
                    at = i + j if min(i, j) == 0 else i + j + 1
                    kept[e, 3 * i + j] = S[at, k]
