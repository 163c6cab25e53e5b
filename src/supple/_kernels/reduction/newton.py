"""One Newton iteration on the force balance of a reduced model, and when to stop iterating.

The motion obeys M a + (C₀ + B(q)) v + R(q) = f, with velocity and acceleration of a stage

    v(q) = c_v (q − q̂_v)        a(q) = c_a (q − q̂_a)

A correction may go too far, which shows at the next iteration: the residual along it, which it was
meant to bring to zero, has changed its sign and is large. It is then shortened, by the rule of the
secant, before anything else is done: a backtracking line search on the directional derivative that
costs nothing where no step goes too far.
"""

from typing import NamedTuple

import numpy as np

from supple._kernels.compiling import LARGEST, inlined_kernel
from supple._kernels.linear_algebra.dense import solve_symmetric
from supple._kernels.reduction.polynomial import ONE

NOW = np.uint64(0)

AT_REST = 1e-250  # corrections below this come from numbers too small to be exact

ATTEMPTS = 12  # at a positive definite matrix

OVERSHOOT = (
    0.9  # share of the slope at its start that may be left, turned round, at the end of a step
)
BACKTRACKS = 12.0  # at most, of one correction
SHORTENED = -2.0  # in place of the size of a correction: the last one was too long

DONE = 0
NOT_FINITE = 1
NOT_CONVERGED = 2
NOT_DEFINITE = 3
TOO_FAR = 4
GO_ON = 5
NO_ROOM = 6  # for all contacts: a reason to go on with more
GAINS = 7  # energy from nowhere: a reason to take a step in parts


class Balance(NamedTuple):
    """The force balance of a stage in r coordinates, and room to solve it.

    Units are those of a mass-orthonormal basis, for which M is the identity.
    """

    M: np.ndarray  # (r, r) mass [1]
    C0: np.ndarray  # (r, r) constant part of the damping [1/s]
    B: np.ndarray  # (r, r) part of the damping that follows the shape, at x, lower triangle [1/s]
    grams: np.ndarray  # (k, pairs, r + pairs) of B = 2 JᵀGJ, the lower rows of G as a sum; or empty
    gram_factors: np.ndarray  # (k,) of that sum [J s]
    z_rate: np.ndarray  # (r + pairs,) scratch; of z = (q, all q_i q_j with i ≥ j)
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
    force: np.ndarray  # (r,) what is left of the forces at x [√kg m/s²]
    search: np.ndarray  # (r,) the last correction, as the direction of a line search [√kg m]
    line: (
        np.ndarray
    )  # (4,) slope at its start, share that was taken, backtracks; is B differentiated


@inlined_kernel
def find_rates(balance, c_v, c_a):
    """Velocity and acceleration at x."""
    x, x_v, x_a, v, a = balance.x, balance.x_v, balance.x_a, balance.v, balance.a
    for i in range(np.uint64(len(x))):
        v[i] = c_v * (x[i] - x_v[i])
        a[i] = c_a * (x[i] - x_a[i])


@inlined_kernel
def fill_system(balance, c_v, c_a, follows, g, diagonal, force):
    """A = c_a M + c_v g C + K and force = f − R − g C v − M a, with C = C₀ + B.

    ``follows`` says that there is a B, ``diagonal`` that M and C₀ are. Returns the largest entry on
    the diagonal of A.
    """
    M, C0, K, R, f = balance.M, balance.C0, balance.K, balance.R, balance.f
    v, a, A = balance.v, balance.a, balance.A
    r = np.uint64(len(v))
    c = c_v * g
    for i in range(r):
        total = f[i] - R[i]
        for j in range(i + ONE):
            A[i, j] = K[i, j]
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
    if follows:
        B = balance.B
        for i in range(r):
            vi = g * v[i]
            e = 0.0
            for j in range(i):
                b = B[i, j]
                A[i, j] += c * b
                e += b * v[j]
                force[j] -= b * vi
            b = B[i, i]
            A[i, i] += c * b
            force[i] -= g * e + b * vi
    largest = 0.0
    for i in range(r):
        largest = max(largest, abs(A[i, i]))
    return largest


@inlined_kernel
def add_viscous_stress(balance, z):
    """A += 2 Σ (∂²z/∂q∂q) G ż, of a rate ``z`` of q: how the viscous stress turns with the shape.

    It is to B z what the geometric stiffness is to the elastic force. Where a body is overdamped,
    the two cancel, and none must be left out.
    """
    A, x, z_rate = balance.A, balance.x, balance.z_rate
    grams, factors = balance.grams, balance.gram_factors
    r = np.uint64(len(x))
    place = r
    for i in range(r):
        z_rate[i] = z[i]
        for j in range(i + ONE):
            z_rate[place + j] = z[i] * x[j] + x[i] * z[j]
        z_rate[place + i] = 2.0 * z[i] * x[i]
        place += i + ONE
    row = NOW
    for i in range(r):
        for j in range(i + ONE):
            e = 0.0
            for n in range(np.uint64(len(factors))):
                part = 0.0
                for k in range(np.uint64(len(z_rate))):
                    part += grams[n, row, k] * z_rate[k]
                e += factors[n] * part
            A[i, j] += 4.0 * e if i == j else 2.0 * e
            row += ONE


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
def begin_line(balance):
    """Keeps δ as the direction of a line search, with the slope along it."""
    line, search, delta, force = balance.line, balance.search, balance.delta, balance.force
    slope = 0.0
    for i in range(np.uint64(len(delta))):
        slope -= force[i] * delta[i]
        search[i] = delta[i]
    line[0], line[1], line[2] = slope, 1.0, 0.0


@inlined_kernel
def goes_too_far(balance):
    """Whether x is too far along the last correction; if so, it is moved back."""
    line, search, force, x = balance.line, balance.search, balance.force, balance.x
    slope, share = line[0], line[1]
    if slope >= 0.0 or line[2] >= BACKTRACKS:
        return False
    now = 0.0
    for i in range(np.uint64(len(x))):
        now -= force[i] * search[i]
    finite = abs(now) <= LARGEST
    if finite and now <= -OVERSHOOT * slope:
        return False
    shorter = 0.1 * share
    if finite:  # where the secant is zero
        shorter = min(max(share * slope / (slope - now), shorter), 0.7 * share)
    for i in range(np.uint64(len(x))):
        x[i] -= (share - shorter) * search[i]
    line[1] = shorter
    line[2] += 1.0
    return True


@inlined_kernel
def correct(balance, c_v, c_a, follows, diagonal):
    """One Newton iteration on the force balance: x += δ. Returns the largest |δ|.

    Returns infinity if the forces are not finite, −1 if no positive definite matrix was found, and
    SHORTENED if instead the correction before was. How B changes with the shape is left out unless
    ``line[3]`` asks for it.
    """
    A, delta, force = balance.A, balance.delta, balance.force
    find_rates(balance, c_v, c_a)
    consistent = balance.line[3] != 0.0
    shift = 0.0
    size = -1.0
    for attempt in range(ATTEMPTS):
        largest = fill_system(balance, c_v, c_a, follows, 1.0, diagonal, force)
        if attempt == 0 and goes_too_far(balance):
            size = SHORTENED
            break
        if not is_finite(force):
            size = np.inf
            break
        if consistent:
            add_viscous_stress(balance, balance.v)
        if shift > 0.0:
            add_to_diagonal(shift, A)
        for i in range(np.uint64(len(force))):
            delta[i] = force[i]
        if solve_symmetric(A, delta):
            begin_line(balance)
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
def remaining_error(size, size_before):
    """How large the corrections after this one will be, from the last two, on the safe side.

    Where each is less than a tenth of the one before, the ratio shrinks further or stays.
    """
    left = size
    if size < 0.1 * size_before:
        left = size * min(1.0, 3.0 * size / size_before)
    return left


@inlined_kernel
def assess(size, size_before, options, balance, history):
    """What follows from a correction of this size after one of ``size_before``: stop, or GO_ON."""
    reason = GO_ON
    if size == -1.0:
        reason = NOT_DEFINITE
    elif size == np.inf:
        reason = NOT_FINITE
    elif size >= 0.0:
        left = remaining_error(size, size_before)
        if is_small(left, options.tolerance, balance.x, history):
            reason = DONE
    return reason
