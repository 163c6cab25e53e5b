"""Singular values and eigenvalues of 3 × 3 matrices, compiled to run at every quadrature point.

LAPACK would do, at some microseconds of call overhead for each of the hundred thousand points of a
step; a few Jacobi sweeps take a tenth of that.
"""

import math

import numpy as np

from supple._kernels.compiling import pointwise

_SWEEPS = 12
_TINY = 1e-300
TOGETHER = 64
_COSINES, _SCALES, _VOLUMES, _LENGTHS = 18, 19, 20, 21  # rows of scratch after those of F V and V
SCRATCH = 24 * TOGETHER
_ORTHOGONAL = 1e-14  # cosines of axes that count as none, where frames are sought one after another
_THIN = 1e-6  # share of the largest singular value below which a column has lost its direction


@pointwise
def svd3(F, U, sigma, V):
    """F = U diag(σ) Vᵀ with det U = det V = 1, |σ₀| ≥ |σ₁| ≥ |σ₂|; the sign of det F is in σ₂.

    One-sided Jacobi: rotate the columns of F V until they are orthogonal. Small singular values
    keep their relative accuracy, unlike with the eigenvalues of FᵀF.
    """
    B = U
    scale = _size(F)
    for i in range(3):
        for j in range(3):
            V[i, j] = 1.0 if i == j else 0.0
            B[i, j] = F[i, j] / scale
    for _ in range(_SWEEPS):
        rotated = False
        for p in range(2):
            for q in range(p + 1, 3):
                app = B[0, p] * B[0, p] + B[1, p] * B[1, p] + B[2, p] * B[2, p]
                aqq = B[0, q] * B[0, q] + B[1, q] * B[1, q] + B[2, q] * B[2, q]
                apq = B[0, p] * B[0, q] + B[1, p] * B[1, q] + B[2, p] * B[2, q]
                if abs(apq) <= 1e-15 * math.sqrt(app * aqq):
                    continue
                rotated = True
                c, s = _turn_between(app, aqq, apq)
                for i in range(3):
                    b, v = B[i, p], V[i, p]
                    B[i, p] = c * b - s * B[i, q]
                    B[i, q] = s * b + c * B[i, q]
                    V[i, p] = c * v - s * V[i, q]
                    V[i, q] = s * v + c * V[i, q]
        if not rotated:
            break
    _finish(B, sigma, V, scale)


@pointwise
def _turn_between(app, aqq, apq):
    """Cosine and sine of the turn that makes apq vanish in [[app, apq], [apq, aqq]]."""
    tau = (aqq - app) / (2.0 * apq)
    t = 1.0 / (abs(tau) + math.sqrt(1.0 + tau * tau))
    if tau < 0.0:
        t = -t
    c = 1.0 / math.sqrt(1.0 + t * t)
    return c, t * c


@pointwise
def svd3_together(F, U, sigma, V, tolerance, M):
    """The same for up to ``TOGETHER`` matrices, sought from the rotations in V, (k, 3, 3) each.

    Columns are turned until their cosines were below ``tolerance`` before the last sweep. M is
    scratch of ``SCRATCH`` numbers, in which every entry of all matrices is a row of its own, so
    that one instruction works on several of them.
    """
    N, count = TOGETHER, len(F)
    M[:] = 0.0
    for k in range(count):
        for i in range(3):
            for j in range(3):
                M[(3 * i + j) * N + k] = F[k, i, j]
                M[(9 + 3 * i + j) * N + k] = V[k, i, j]
    _multiply(M)
    for _ in range(_SWEEPS):
        M[_COSINES * N : (_COSINES + 1) * N] = 0.0
        _turn(M, 0, 1)
        _turn(M, 0, 2)
        _turn(M, 1, 2)
        largest = 0.0
        for k in range(count):
            largest = max(largest, M[_COSINES * N + k])
        if largest <= tolerance * tolerance:
            break
    _normalise(M)
    for k in range(count):
        a, b, c = M[_LENGTHS * N + k], M[(_LENGTHS + 1) * N + k], M[(_LENGTHS + 2) * N + k]
        scale = M[_SCALES * N + k]
        for i in range(3):
            for j in range(3):
                U[k, i, j] = M[(3 * i + j) * N + k]
                V[k, i, j] = M[(9 + 3 * i + j) * N + k]
        sigma[k, 0], sigma[k, 1], sigma[k, 2] = a * scale, b * scale, c * scale
        if a >= b and b >= c and c > _THIN * a and M[_VOLUMES * N + k] > 0.0:
            continue
        if not a + b + c < np.inf:  # nothing to go on from
            for i in range(3):
                for j in range(3):
                    V[k, i, j] = 1.0 if i == j else 0.0
            continue
        for i in range(3):
            U[k, i, 0], U[k, i, 1], U[k, i, 2] = a * U[k, i, 0], b * U[k, i, 1], c * U[k, i, 2]
        _finish(U[k], sigma[k], V[k], scale)


@pointwise
def frame_of(k, F, frames, values, M):
    """U, σ and V of F[k] = U diag(σ) Vᵀ, from the frames of the matrices around it.

    At the first of ``TOGETHER``, the frames of all of them are filled: U, V (2, TOGETHER, 3, 3) and
    σ (TOGETHER, 3). M is scratch.
    """
    if k % TOGETHER == 0:
        count = min(TOGETHER, len(F) - k)
        for n in range(count):
            for i in range(3):
                for j in range(3):
                    frames[1, n, i, j] = 1.0 if i == j else 0.0
        U, V, sigma = frames[0, :count], frames[1, :count], values[:count]
        svd3_together(F[k : k + count], U, sigma, V, _ORTHOGONAL, M)
    k %= TOGETHER
    return frames[0, k], values[k], frames[1, k]


@pointwise
def _multiply(M):
    """Replace F by F V over its largest entry, so that squares neither underflow nor overflow."""
    N = TOGETHER
    for k in range(N):
        largest = abs(M[k])
        for a in range(1, 9):
            size = abs(M[a * N + k])
            largest = size if size > largest else largest
        scale = largest if largest > 0.0 else 1.0
        M[_SCALES * N + k] = scale
        share = 1.0 / scale
        for i in range(3):
            a0, a1, a2 = M[3 * i * N + k], M[(3 * i + 1) * N + k], M[(3 * i + 2) * N + k]
            f0, f1, f2 = share * a0, share * a1, share * a2
            for j in range(3):
                M[(3 * i + j) * N + k] = (
                    f0 * M[(9 + j) * N + k] + f1 * M[(12 + j) * N + k] + f2 * M[(15 + j) * N + k]
                )


@pointwise
def _normalise(M):
    """Lengths of the columns, columns over them, and the determinant of what that gives."""
    N = TOGETHER
    for k in range(N):
        for j in range(3):
            b0, b1, b2 = M[j * N + k], M[(3 + j) * N + k], M[(6 + j) * N + k]
            length = math.sqrt(b0 * b0 + b1 * b1 + b2 * b2)
            M[(_LENGTHS + j) * N + k] = length
            share = 1.0 / (length + _TINY)
            M[j * N + k] = share * b0
            M[(3 + j) * N + k] = share * b1
            M[(6 + j) * N + k] = share * b2
        M[_VOLUMES * N + k] = (
            M[k] * (M[4 * N + k] * M[8 * N + k] - M[5 * N + k] * M[7 * N + k])
            - M[N + k] * (M[3 * N + k] * M[8 * N + k] - M[5 * N + k] * M[6 * N + k])
            + M[2 * N + k] * (M[3 * N + k] * M[7 * N + k] - M[4 * N + k] * M[6 * N + k])
        )


@pointwise
def _turn(M, p, q):
    """Make columns p and q of every matrix orthogonal; keeps the largest cosine² before that."""
    N = TOGETHER
    for k in range(N):
        a0, a1, a2 = M[p * N + k], M[(3 + p) * N + k], M[(6 + p) * N + k]
        b0, b1, b2 = M[q * N + k], M[(3 + q) * N + k], M[(6 + q) * N + k]
        app = a0 * a0 + a1 * a1 + a2 * a2
        aqq = b0 * b0 + b1 * b1 + b2 * b2
        apq = a0 * b0 + a1 * b1 + a2 * b2
        cosine = apq * apq / (app * aqq + _TINY)
        before = M[_COSINES * N + k]
        M[_COSINES * N + k] = cosine if cosine > before else before
        apart = aqq - app
        t = 2.0 * abs(apq) / (abs(apart) + math.sqrt(apart * apart + 4.0 * apq * apq) + _TINY)
        t = math.copysign(t, apart * apq)
        c = 1.0 / math.sqrt(1.0 + t * t)
        s = t * c
        M[p * N + k], M[q * N + k] = c * a0 - s * b0, s * a0 + c * b0
        M[(3 + p) * N + k], M[(3 + q) * N + k] = c * a1 - s * b1, s * a1 + c * b1
        M[(6 + p) * N + k], M[(6 + q) * N + k] = c * a2 - s * b2, s * a2 + c * b2
        v0, v1, v2 = M[(9 + p) * N + k], M[(12 + p) * N + k], M[(15 + p) * N + k]
        w0, w1, w2 = M[(9 + q) * N + k], M[(12 + q) * N + k], M[(15 + q) * N + k]
        M[(9 + p) * N + k], M[(9 + q) * N + k] = c * v0 - s * w0, s * v0 + c * w0
        M[(12 + p) * N + k], M[(12 + q) * N + k] = c * v1 - s * w1, s * v1 + c * w1
        M[(15 + p) * N + k], M[(15 + q) * N + k] = c * v2 - s * w2, s * v2 + c * w2


@pointwise
def _size(F):
    """The largest entry: what F is divided by, so that squares neither underflow nor overflow."""
    largest = 0.0
    for i in range(3):
        for j in range(3):
            largest = max(largest, abs(F[i, j]))
    return largest if largest > 0.0 else 1.0


@pointwise
def _finish(B, sigma, V, scale):
    """Lengths of the orthogonal columns of B as singular values, in order, and B a rotation."""
    for j in range(3):
        sigma[j] = math.sqrt(B[0, j] * B[0, j] + B[1, j] * B[1, j] + B[2, j] * B[2, j])
    for p in range(2):  # largest first
        for q in range(p + 1, 3):
            if sigma[q] > sigma[p]:
                sigma[p], sigma[q] = sigma[q], sigma[p]
                for i in range(3):
                    B[i, p], B[i, q] = B[i, q], B[i, p]
                    V[i, p], V[i, q] = V[i, q], V[i, p]
    if det3(V) < 0.0:
        for i in range(3):
            V[i, 2] = -V[i, 2]
            B[i, 2] = -B[i, 2]
    _orthonormalise(B, sigma)
    for j in range(3):
        sigma[j] *= scale


@pointwise
def det3(M):
    return (
        M[0, 0] * (M[1, 1] * M[2, 2] - M[1, 2] * M[2, 1])
        - M[0, 1] * (M[1, 0] * M[2, 2] - M[1, 2] * M[2, 0])
        + M[0, 2] * (M[1, 0] * M[2, 1] - M[1, 1] * M[2, 0])
    )


@pointwise
def _orthonormalise(B, sigma):
    """Turn the orthogonal columns of B into a rotation; the last singular value takes the sign."""
    tiny = 1e-14 * sigma[0]
    if sigma[0] <= 0.0:
        for i in range(3):
            for j in range(3):
                B[i, j] = 1.0 if i == j else 0.0
        return
    for i in range(3):
        B[i, 0] /= sigma[0]
    if sigma[1] > tiny:
        for i in range(3):
            B[i, 1] /= sigma[1]
    else:  # any unit vector across the first column
        k = 0
        for i in range(1, 3):
            if abs(B[i, 0]) < abs(B[k, 0]):
                k = i
        along = B[k, 0]
        length = math.sqrt(1.0 - along * along)
        for i in range(3):
            B[i, 1] = ((1.0 if i == k else 0.0) - along * B[i, 0]) / length
    c0 = B[1, 0] * B[2, 1] - B[2, 0] * B[1, 1]
    c1 = B[2, 0] * B[0, 1] - B[0, 0] * B[2, 1]
    c2 = B[0, 0] * B[1, 1] - B[1, 0] * B[0, 1]
    sigma[2] = c0 * B[0, 2] + c1 * B[1, 2] + c2 * B[2, 2]
    B[0, 2], B[1, 2], B[2, 2] = c0, c1, c2


@pointwise
def eigh3(H, W):
    """Diagonalise the symmetric H in place: its diagonal becomes the eigenvalues, W the vectors."""
    for i in range(3):
        for j in range(3):
            W[i, j] = 1.0 if i == j else 0.0
    for _ in range(_SWEEPS):
        off = abs(H[0, 1]) + abs(H[0, 2]) + abs(H[1, 2])
        if off <= 1e-15 * (abs(H[0, 0]) + abs(H[1, 1]) + abs(H[2, 2])):
            break
        for p in range(2):
            for q in range(p + 1, 3):
                if H[p, q] == 0.0:
                    continue
                c, s = _turn_between(H[p, p], H[q, q], H[p, q])
                for i in range(3):
                    h = H[i, p]
                    H[i, p] = c * h - s * H[i, q]
                    H[i, q] = s * h + c * H[i, q]
                for i in range(3):
                    h, w = H[p, i], W[i, p]
                    H[p, i] = c * h - s * H[q, i]
                    H[q, i] = s * h + c * H[q, i]
                    W[i, p] = c * w - s * W[i, q]
                    W[i, q] = s * w + c * W[i, q]


@pointwise
def keep_positive(S, X):
    """Replaces the symmetric S by its nearest positive semidefinite matrix; X is scratch.

    With λ the eigenvalue whose sign is its alone, λ (S − λ₁)(S − λ₂)/((λ − λ₁)(λ − λ₂)) is its part
    of S; the others are needed as a sum and a product only, which are invariants.
    """
    mean = (S[0, 0] + S[1, 1] + S[2, 2]) / 3.0
    a, b, c = S[0, 0] - mean, S[1, 1] - mean, S[2, 2] - mean
    d, e, f = S[0, 1], S[0, 2], S[1, 2]
    spread = math.sqrt((a * a + b * b + c * c + 2.0 * (d * d + e * e + f * f)) / 6.0)
    angle = 0.0
    if spread > 0.0:
        det = a * (b * c - f * f) - d * (d * c - f * e) + e * (d * f - b * e)
        angle = math.acos(min(max(0.5 * det / spread / spread / spread, -1.0), 1.0)) / 3.0
    largest = mean + 2.0 * spread * math.cos(angle)
    smallest = mean + 2.0 * spread * math.cos(angle + 2.0 * math.pi / 3.0)
    if smallest >= 0.0:
        return
    if largest <= 0.0:
        for i in range(3):
            for j in range(3):
                S[i, j] = 0.0
        return
    one_negative = 3.0 * mean - largest - smallest >= 0.0
    alone = smallest if one_negative else largest
    others = 3.0 * mean - alone  # λ₁ + λ₂
    minors = S[0, 0] * S[1, 1] + S[0, 0] * S[2, 2] + S[1, 1] * S[2, 2] - d * d - e * e - f * f
    product = minors - alone * others  # λ₁ λ₂
    share = alone / (alone * alone - alone * others + product)
    for i in range(3):
        for j in range(3):
            X[i, j] = S[i, 0] * S[0, j] + S[i, 1] * S[1, j] + S[i, 2] * S[2, j] - others * S[i, j]
        X[i, i] += product
    for i in range(3):
        for j in range(3):
            S[i, j] = S[i, j] - share * X[i, j] if one_negative else share * X[i, j]
