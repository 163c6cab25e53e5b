"""One Newton iteration on the force balance of a reduced model, and when to stop iterating.

The motion obeys M a + (C₀ + β K(q)) v + R(q) = f, with velocity and acceleration of a stage

    v(q) = c_v (q − q̂_v)        a(q) = c_a (q − q̂_a)
"""

from typing import NamedTuple

import numpy as np

from supple._kernels.compiling import LARGEST, inlined_kernel
from supple._kernels.linear_algebra.dense import solve_symmetric
from supple._kernels.reduction.polynomial import ONE

NOW = np.uint64(0)

AT_REST = 1e-250  # corrections below this come from numbers too small to be exact

ATTEMPTS = 12  # at a positive definite matrix

DONE = 0
NOT_FINITE = 1
NOT_CONVERGED = 2
NOT_DEFINITE = 3
TOO_FAR = 4
GO_ON = 5


class Balance(NamedTuple):
    """The force balance of a stage in r coordinates, and room to solve it.

    Units are those of a mass-orthonormal basis, for which M is the identity.
    """

    M: np.ndarray  # (r, r) mass [1]
    C0: np.ndarray  # (r, r) damping, but for the part β K [1/s]
    K: np.ndarray  # (r, r) stiffness at x, lower triangle [1/s²]
    R: np.ndarray  # (r,) elastic force at x [√kg m/s²]
    f: np.ndarray  # (r,) force from outside [√kg m/s²]
    x: np.ndarray  # (r,) the coordinates sought [√kg m]
    x_v: np.ndarray  # (r,) q̂_v [√kg m]
    x_a: np.ndarray  # (r,) q̂_a [√kg m]
    v: np.ndarray  # (r,) velocity at x [√kg m/s]
    a: np.ndarray  # (r,) acceleration at x [√kg m/s²]
    A: np.ndarray  # (r, r) matrix of the iteration, then its factors [1/s²]
    delta: np.ndarray  # (r,) correction of x [√kg m]


@inlined_kernel
def find_rates(balance, c_v, c_a):
    """Velocity and acceleration at x."""
    x, x_v, x_a, v, a = balance.x, balance.x_v, balance.x_a, balance.v, balance.a
    for i in range(np.uint64(len(x))):
        v[i] = c_v * (x[i] - x_v[i])
        a[i] = c_a * (x[i] - x_a[i])


@inlined_kernel
def fill_system(balance, c_v, c_a, beta, g, diagonal, force):
    """A = c_a M + c_v g C + K and force = f − R − g C v − M a, with C = C₀ + β K.

    ``diagonal`` says that M and C₀ are. Returns the largest entry on the diagonal of A.
    """
    M, C0, K, R, f = balance.M, balance.C0, balance.K, balance.R, balance.f
    v, a, A = balance.v, balance.a, balance.A
    r = np.uint64(len(v))
    c, b = c_v * g, g * beta
    k_factor = 1.0 + c * beta
    largest = 0.0
    for i in range(r):
        vi = b * v[i]
        e = 0.0
        for j in range(i):
            k = K[i, j]
            A[i, j] = k_factor * k
            e += k * v[j]
            force[j] -= k * vi
        k = K[i, i]
        total = f[i] - R[i] - b * e - k * vi
        A[i, i] = k_factor * k
        if diagonal:
            total -= M[i, i] * a[i] + g * (C0[i, i] * v[i])
            A[i, i] += c_a * M[i, i] + c * C0[i, i]
        else:
            e = 0.0
            for j in range(r):
                e += M[i, j] * a[j] + g * (C0[i, j] * v[j])
            total -= e
            for j in range(i + ONE):
                A[i, j] += c_a * M[i, j] + c * C0[i, j]
        force[i] = total
        largest = max(largest, abs(A[i, i]))
    return largest


@inlined_kernel
def is_finite(x):
    """Whether all of x is; sums may be reordered, so that isfinite cannot be trusted."""
    total = 0.0
    for i in range(np.uint64(len(x))):
        total += x[i]
    return abs(total) <= LARGEST


@inlined_kernel
def apply_correction(delta, x):
    """x += δ; returns the largest |δ|."""
    size = 0.0
    for i in range(np.uint64(len(x))):
        x[i] += delta[i]
        size = max(size, abs(delta[i]))
    return size


@inlined_kernel
def add_to_diagonal(shift, A):
    """A += shift I."""
    for i in range(np.uint64(len(A))):
        A[i, i] += shift


@inlined_kernel
def correct(balance, c_v, c_a, beta, diagonal):
    """One Newton iteration on the force balance: x += δ. Returns the largest |δ|.

    Returns infinity if the forces are not finite, −1 if no positive definite matrix was found.
    """
    A, delta = balance.A, balance.delta
    find_rates(balance, c_v, c_a)
    shift = 0.0
    size = -1.0
    for _ in range(ATTEMPTS):
        largest = fill_system(balance, c_v, c_a, beta, 1.0, diagonal, delta)
        if not is_finite(delta):
            size = np.inf
            break
        if shift > 0.0:
            add_to_diagonal(shift, A)
        if solve_symmetric(A, delta):
            size = apply_correction(delta, balance.x)
            break
        shift = max(10.0 * shift, 1e-3 * largest)
    return size


@inlined_kernel
def is_small(size, tolerance, x, now):
    """Whether a correction is small beside the coordinates, or the way since ``now``."""
    scale = 0.0
    for i in range(np.uint64(len(x))):
        scale = max(scale, abs(x[i]), abs(x[i] - now[NOW, i]))
    return size <= tolerance * scale + AT_REST


@inlined_kernel
def remaining_error(size, size_before, share):
    """How large the corrections after this one will be, from the last two, on the safe side.

    Where each is less than a tenth of the one before, the ratio shrinks further or stays.
    """
    left = size
    if share == 1.0 and size < 0.1 * size_before:
        left = size * min(1.0, 3.0 * size / size_before)
    return left


@inlined_kernel
def shorten(size, size_before, share, delta, x):
    """Damps Newton's method: where corrections do not get smaller, take less of each.

    x has just been moved by ``delta``; returns the share of it that was kept.
    """
    if size_before >= 0.0:
        share = max(0.5 * share, 0.03125) if size > 0.7 * size_before else min(2.0 * share, 1.0)
    if share < 1.0:
        for i in range(np.uint64(len(x))):
            x[i] -= (1.0 - share) * delta[i]
    return share


@inlined_kernel
def assess(size, size_before, share, options, balance, history):
    """What follows from a correction of this size after one of ``size_before``.

    ``share`` is how much of that one was kept. Returns why to stop, or GO_ON, and how much of this
    one was kept.
    """
    reason = GO_ON
    if size < 0.0:
        reason = NOT_DEFINITE
    elif size == np.inf:
        reason = NOT_FINITE
    elif options.max_iterations == 1:
        reason = DONE
    else:
        left = remaining_error(size, size_before, share)
        if is_small(left, options.tolerance, balance.x, history):
            reason = DONE
        else:
            share = shorten(size, size_before, share, balance.delta, balance.x)
    return reason, share
