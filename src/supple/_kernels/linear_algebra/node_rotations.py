"""How the surroundings of each node of a body have turned: rotations that follow it along.

The rotation R nearest to Σ_j (x_j − x_i)(X_j − X_i)ᵀ/|X_j − X_i|² over the neighbours j of i is
found by turning an earlier one until no torque is left on it, which after a short way is a turn or
two.
"""

import math

import numpy as np

from supple._kernels.compiling import kernel, pointwise
from supple._kernels.linear_algebra.tensors import multiply_by_transpose

_MAX_ITERATIONS = 20
_SMALL = 1e-3  # [rad]: a turn after which the error is its square
_LARGE = 1.0  # [rad]: more is not turned at once
_FLAT = 1e-9  # of the size of a determinant that is no different from 0
_TINY = 1e-30


@pointwise
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@pointwise
def _turn(A, R):
    """Turn R towards A, by Newton's step for the largest tr(RᵀA); returns the angle [rad].

    With B = A Rᵀ, of symmetric part S and axial vector t, the step is (tr S − S)⁻¹ t.
    """
    b00, b11, b22 = _dot(A[0], R[0]), _dot(A[1], R[1]), _dot(A[2], R[2])
    b01, b10 = _dot(A[0], R[1]), _dot(A[1], R[0])
    b02, b20 = _dot(A[0], R[2]), _dot(A[2], R[0])
    b12, b21 = _dot(A[1], R[2]), _dot(A[2], R[1])
    t0, t1, t2 = b21 - b12, b02 - b20, b10 - b01
    a, b, c = b11 + b22, b00 + b22, b00 + b11
    d, e, f = -0.5 * (b01 + b10), -0.5 * (b02 + b20), -0.5 * (b12 + b21)
    det = a * (b * c - f * f) - d * (d * c - f * e) + e * (d * f - b * e)
    size = abs(a) + abs(b) + abs(c)
    w0, w1, w2 = t0 / (size + _TINY), t1 / (size + _TINY), t2 / (size + _TINY)
    if a > 0.0 and a * b - d * d > 0.0 and det > _FLAT * size * size * size:
        w0 = ((b * c - f * f) * t0 + (e * f - d * c) * t1 + (d * f - b * e) * t2) / det
        w1 = ((e * f - d * c) * t0 + (a * c - e * e) * t1 + (d * e - a * f) * t2) / det
        w2 = ((d * f - b * e) * t0 + (d * e - a * f) * t1 + (a * b - d * d) * t2) / det
    angle = math.sqrt(w0 * w0 + w1 * w1 + w2 * w2)
    if not 0.0 < angle < np.inf:
        return 0.0
    w0, w1, w2 = w0 / angle, w1 / angle, w2 / angle
    angle = min(angle, _LARGE)
    sine, cosine = math.sin(angle), math.cos(angle)
    for k in range(3):
        r0, r1, r2 = R[0, k], R[1, k], R[2, k]
        along = (1.0 - cosine) * (w0 * r0 + w1 * r1 + w2 * r2)
        R[0, k] = cosine * r0 + sine * (w1 * r2 - w2 * r1) + along * w0
        R[1, k] = cosine * r1 + sine * (w2 * r0 - w0 * r2) + along * w1
        R[2, k] = cosine * r2 + sine * (w0 * r1 - w1 * r0) + along * w2
    return angle


@kernel
def update_rotations(indptr, cols, X, x, R):
    """Turn R (n, 3, 3) along from where it was to the body at x (n, 3); X (n, 3) is its rest."""
    n = len(X)
    spans = np.zeros((n, 3, 3))
    for i in range(n):
        for s in range(indptr[i] + 1, indptr[i + 1]):
            j = cols[s]
            a, b, c = X[j, 0] - X[i, 0], X[j, 1] - X[i, 1], X[j, 2] - X[i, 2]
            weight = 1.0 / max(a * a + b * b + c * c, _TINY)
            a, b, c = weight * a, weight * b, weight * c
            for k in range(3):
                d = x[j, k] - x[i, k]
                for end in (i, j):
                    spans[end, k, 0] += d * a
                    spans[end, k, 1] += d * b
                    spans[end, k, 2] += d * c
    for i in range(n):
        for _ in range(_MAX_ITERATIONS):
            angle = _turn(spans[i], R[i])
            if not angle > _SMALL:
                break


@kernel
def back(old, new, whole, out):
    """out = old newᵀ for each node, by which what has turned is turned back; (n, 3, 3) all.

    Nodes of which a part is held, and so not ``whole`` (n,), are left as they are.
    """
    for i in range(len(old)):
        if whole[i]:
            multiply_by_transpose(old[i], new[i], out[i])
        else:
            for r in range(3):
                for c in range(3):
                    out[i, r, c] = 1.0 if r == c else 0.0
