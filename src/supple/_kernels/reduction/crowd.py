"""Steps of many copies of a reduced model at once: the last axis of every array is the copy."""

from typing import NamedTuple

import numpy as np

from supple._kernels.compiling import LARGEST, reordering_kernel
from supple._kernels.reduction.example_newton import overall_scale, weigh_examples
from supple._kernels.reduction.laws import strain_laws, sum_laws
from supple._kernels.reduction.polynomial import ONE, ZERO


class Matrices(NamedTuple):
    """What all copies share, in the precision of the crowd; units as in ``newton.Balance``."""

    M: np.ndarray  # (r, r) mass [1]
    C0: np.ndarray  # (r, r) constant part of the damping [1/s]


class Parts(NamedTuple):
    """The parts of a matrix of second degree in q, for every copy, i ≥ j pair by pair."""

    P: np.ndarray  # (pairs,) constant
    linear: np.ndarray  # (pairs, copies)
    quadratic: np.ndarray  # (pairs, copies)


@reordering_kernel
def fill_pairs(x, qq):
    """The products x_c x_d, c ≥ d, of every copy."""
    n = np.uint64(x.shape[1])
    t = ZERO
    for c in range(np.uint64(len(x))):
        for d in range(c + ONE):
            for l in range(n):
                qq[t, l] = x[c, l] * x[d, l]
            t += ONE


@reordering_kernel
def fill_system(stiffness, f, matrices, c_v, c_a, x, v, a, A, b):
    """Matrix and right-hand side of a Newton iteration, for every copy.

    A = c_a M + c_v C₀ + K in the upper triangle and b = f − R − C₀ v − M a, with K from ``Parts``.
    """
    P, K2, K3 = stiffness
    M, C0 = matrices
    r = np.uint64(len(x))
    n = np.uint64(x.shape[1])
    half = x.dtype.type(0.5)
    third = x.dtype.type(1.0) / x.dtype.type(3.0)
    for i in range(r):
        for l in range(n):
            b[i, l] = f[i, l]
    t = ZERO
    for i in range(r):
        for j in range(i + ONE):
            k1 = P[t]
            mass, damping = M[i, j], C0[i, j]
            constant = c_a * mass + c_v * damping
            # each homogeneous part of the force is its Jacobian times q over its degree
            if i == j:
                k1 = k1 + k1
                for l in range(n):
                    w = k1 + half * K2[t, l] + third * K3[t, l]
                    A[i, j, l] = constant + (k1 + K2[t, l] + K3[t, l])
                    b[i, l] -= w * x[i, l] + damping * v[i, l] + mass * a[i, l]
            else:
                for l in range(n):
                    w = k1 + half * K2[t, l] + third * K3[t, l]
                    A[j, i, l] = constant + (k1 + K2[t, l] + K3[t, l])
                    b[i, l] -= w * x[j, l] + damping * v[j, l] + mass * a[j, l]
                    b[j, l] -= w * x[i, l] + damping * v[i, l] + mass * a[i, l]
            t += ONE


@reordering_kernel
def add_rate(rate, c_v, v, A, b):
    """A += c_v B and b −= B v, with B from ``Parts``."""
    P, B2, B3 = rate
    n = np.uint64(v.shape[1])
    t = ZERO
    for i in range(np.uint64(len(v))):
        for j in range(i + ONE):
            if i == j:
                for l in range(n):
                    c = P[t] + B2[t, l] + B3[t, l]
                    A[i, j, l] += c_v * c
                    b[i, l] -= c * v[i, l]
            else:
                for l in range(n):
                    c = P[t] + B2[t, l] + B3[t, l]
                    A[j, i, l] += c_v * c
                    b[i, l] -= c * v[j, l]
                    b[j, l] -= c * v[i, l]
            t += ONE


@reordering_kernel
def fill_general_system(K, R, f, matrices, c_v, c_a, x, v, a, A, b):
    """As ``fill_system``, from forces R (copies, r) and stiffnesses K (copies, r, r)."""
    M, C0 = matrices
    r = np.uint64(len(x))
    n = np.uint64(x.shape[1])
    for i in range(r):
        for l in range(n):
            b[i, l] = f[i, l] - R[l, i]
        for j in range(r):
            mass, damping = M[i, j], C0[i, j]
            for l in range(n):
                A[i, j, l] = c_a * mass + c_v * damping + K[l, i, j]
                b[i, l] -= damping * v[j, l] + mass * a[j, l]


@reordering_kernel
def add_laws(laws, C, c_v, x, v, A, b):
    """A += c_v N and b −= n for every copy, with the force n of laws and its derivative N by v.

    N of those that examples scale is added to C (copies, r, r) as well.
    """
    r, count = len(x), len(laws.addresses)
    q, rate, force = np.empty(r), np.empty(r), np.empty(r)
    for l in range(x.shape[1]):
        for i in range(r):
            q[i], rate[i], force[i] = x[i, l], v[i, l], 0.0
        strain_laws(q, rate, laws)
        if laws.base > 0:
            sum_laws(0, laws.base, laws, force)
            for i in range(r):
                for j in range(i + 1):
                    A[j, i, l] += c_v * laws.C[i, j]
                    C[l, i, j] += laws.C[i, j]
                    if j < i:
                        C[l, j, i] += laws.C[i, j]
        if laws.base < count:
            sum_laws(laws.base, count, laws, force)
            for i in range(r):
                for j in range(i + 1):
                    A[j, i, l] += c_v * laws.C[i, j]
        for i in range(r):
            b[i, l] -= force[i]


@reordering_kernel
def add_examples(C, examples, M, c_v, x, v, A, b):
    """A += c_v (Ĉ − C) and b −= (Ĉ − C) v, with Ĉ of examples over C (copies, r, r).

    The matrix takes the symmetric part of Ĉ − C.
    """
    F, W, V = examples.F, examples.W, examples.V
    r, k = len(x), len(F)
    q, rate = np.empty(r), np.empty(r)
    along = np.empty(k)
    for l in range(x.shape[1]):
        for i in range(r):
            q[i], rate[i] = x[i, l], v[i, l]
        g = overall_scale(q, False, M, examples)
        weigh_examples(C[l], True, q, rate, examples, F, W, V)
        for m in range(k):
            e = 0.0
            for i in range(r):
                e += F[m, i] * rate[i]
            along[m] = e
        for i in range(r):
            e = 0.0
            for j in range(r):
                e += (g - 1.0) * C[l, i, j] * rate[j]
            for m in range(k):
                for n in range(k):
                    e += g * F[m, i] * W[m, n] * along[n]
            b[i, l] -= e
            for j in range(i, r):
                e = (g - 1.0) * C[l, i, j]
                for m in range(k):
                    for n in range(k):
                        e += 0.5 * g * V[m, n] * (F[m, i] * F[n, j] + F[m, j] * F[n, i])
                A[i, j, l] += c_v * e


@reordering_kernel
def solve(A, b, inverse):
    """b = A⁻¹ b for every copy, from upper triangles A (r, r, copies); ``inverse`` is scratch.

    A negative pivot is taken as positive, which turns that copy's step downhill.
    """
    one = b.dtype.type(1.0)
    r = np.uint64(len(b))
    n = np.uint64(b.shape[1])
    for k in range(r):
        for l in range(n):
            inverse[l] = one / abs(A[k, k, l])
            A[k, k, l] = inverse[l]
        for i in range(k + ONE, r):
            for l in range(n):
                A[i, k, l] = A[k, i, l] * inverse[l]
                b[i, l] -= A[i, k, l] * b[k, l]
            for m in range(i, r):
                for l in range(n):
                    A[i, m, l] -= A[i, k, l] * A[k, m, l]
    for back in range(r):
        j = r - ONE - back
        for l in range(n):
            b[j, l] *= A[j, j, l]
        for i in range(j + ONE, r):
            for l in range(n):
                b[j, l] -= A[i, j, l] * b[i, l]


@reordering_kernel
def add_correction(delta, c_v, c_a, x, v, a, now, at_rest, error, total):
    """x += δ, v += c_v δ, a += c_a δ for every copy.

    ``error`` is filled with the largest |δ| over the largest coordinate, or way since ``now``, of
    each copy, with zero where it is below ``at_rest``, and with infinity where δ is not finite;
    ``total`` is scratch.
    """
    n = np.uint64(x.shape[1])
    nothing = x.dtype.type(0.0)
    for l in range(n):
        error[l] = nothing
        total[l] = nothing
    for i in range(np.uint64(len(x))):
        for l in range(n):
            d = delta[i, l]
            x[i, l] += d
            v[i, l] += c_v * d
            a[i, l] += c_a * d
            error[l] = max(error[l], abs(d))
            total[l] += a[i, l]
            delta[i, l] = max(abs(x[i, l]), abs(x[i, l] - now[i, l]))
    for i in range(ONE, np.uint64(len(x))):
        for l in range(n):
            delta[ZERO, l] = max(delta[ZERO, l], delta[i, l])
    for l in range(n):
        if not abs(total[l]) <= LARGEST:
            error[l] = np.inf
        elif error[l] <= at_rest:
            error[l] = nothing
        else:
            error[l] /= delta[ZERO, l]
