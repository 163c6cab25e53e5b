"""Dissipation densities as laws that are called by address; ``law_call`` says what a law is.

Laws of laws have in their first number the address of the other one, whose numbers follow theirs.
"""

import numpy as np

from supple._kernels.compiling import kernel
from supple._kernels.damping.law_call import add_law_at
from supple._kernels.damping.matched import add_matched
from supple._kernels.damping.nonrigid import add_nonrigid, nonrigid_rates
from supple._kernels.damping.principal import Sums, add_clamped_stress
from supple._kernels.damping.principal_strain import (
    Law,
    add_principal_strain,
    factors_by_rate,
    factors_by_stretch,
)
from supple._kernels.damping.strain_rate import add_strain_rate
from supple._kernels.damping.stretch_rate import add_power_law
from supple._kernels.linear_algebra.tensors import add_outer
from supple._kernels.reduction.example_newton import Curves


@kernel
def curves_of(numbers):
    """The one curve that begins with its number of pieces, then breaks and cubics."""
    count = int(numbers[0])
    breaks = numbers[1 : count + 2].reshape((1, count + 1))
    pieces = numbers[count + 2 : 5 * count + 2].reshape((1, count, 4))
    return Curves(breaks, pieces, np.full(1, count))


@kernel
def strain_rate_law(F, D, P0, A0, coefficients, numbers, r, P, A, order, factor, stress):
    """Coefficients ψ, φ, η and the direction of fibres."""
    axis = np.ascontiguousarray(coefficients[3:6].T)
    shear, bulk, fibre = coefficients[0], coefficients[1], coefficients[2]
    add_strain_rate(F, D, shear, bulk, fibre, axis, Sums(r, P, A, order, factor), stress)


@kernel
def matched_law(F, D, P0, A0, coefficients, numbers, r, P, A, order, factor, stress):
    """Coefficient β."""
    add_matched(F, D, P0, A0, coefficients[0], Sums(r, P, A, order, factor), stress)


@kernel
def stretch_power_law(F, D, P0, A0, coefficients, numbers, r, P, A, order, factor, stress):
    """Coefficient w, numbers p, e and the share of the softening that is in A."""
    p, e, bend = numbers[0], numbers[1], numbers[2]
    dual = np.empty((0, 0, 3, 3))
    add_power_law(
        F, D, coefficients[0], p, e, bend, dual, Sums(r, P, A, order, factor), stress
    )  # fmt: skip


@kernel
def principal_law(F, D, P0, A0, coefficients, numbers, r, P, A, order, factor, stress):
    """Coefficient β, numbers: the width, what the factors follow, their curve."""
    law = Law(numbers[0], int(numbers[1]), curves_of(numbers[2:]))
    T = np.zeros_like(F)
    add_principal_strain(F, D, A0, coefficients[0], law, Sums(r, T, A, order, factor), True)
    if order >= 1:
        P += T
    if order >= 2 and stress:
        add_clamped_stress(F, T, A)


@kernel
def factored_law(F, D, P0, A0, coefficients, numbers, r, P, A, order, factor, stress):
    """Another law times a factor s (dissipative optimization, Eq. 57).

    Numbers: its address, whether s is of the rate, the width, the curve, and the numbers of it.
    """
    inner, by_rate, width = int(numbers[0]), numbers[1] != 0.0, numbers[2]
    curves, rest = curves_of(numbers[3:]), numbers[5 + 5 * int(numbers[3]) :]
    own_r, own_P, own_A = np.zeros_like(r), np.zeros_like(P), np.zeros_like(A)
    add_law_at(inner, F, D, P0, A0, coefficients, rest, own_r, own_P, own_A, order, factor, False)
    s, growth, slopes = np.empty_like(r), np.empty_like(r), np.empty_like(F)
    if by_rate:
        factors_by_rate(F, D, width, curves, s, slopes, growth, np.empty((0, 0, 6, 3, 3)))
    else:
        factors_by_stretch(F, curves, s, slopes)
        growth[:] = s
    turning = np.zeros_like(A)
    if stress and order >= 2:
        unused_r, unused_P = np.zeros_like(r), np.zeros_like(P)
        add_law_at(
            inner, F, D, P0, A0, coefficients, rest, unused_r, unused_P, turning, 2, 0.0, True
        )  # fmt: skip
    for e in range(len(F)):
        for q in range(F.shape[1]):
            r[e, q] += s[e, q] * own_r[e, q]
            if order >= 1:
                P[e, q] += s[e, q] * own_P[e, q]
                if by_rate:
                    P[e, q] += own_r[e, q] * slopes[e, q]
            if order >= 2:
                A[e, q] += growth[e, q] * own_A[e, q] + s[e, q] * turning[e, q]


@kernel
def power_of_law(F, D, P0, A0, coefficients, numbers, r, P, A, order, factor, stress):
    """w ((ρ + e)^q − e^q) of another law's density ρ (dissipative optimization, Eq. 54).

    Numbers: its address, w, q, e, the share of the softening that is in A, and its numbers.
    """
    inner, w, power, least, bend = int(numbers[0]), numbers[1], numbers[2], numbers[3], numbers[4]
    rest = numbers[5:]
    rho, own_P, own_A = np.zeros_like(r), np.zeros_like(P), np.zeros_like(A)
    add_law_at(inner, F, D, P0, A0, coefficients, rest, rho, own_P, own_A, order, 1.0, False)
    turning = np.zeros_like(A)
    if stress and order >= 2:
        unused_r, unused_P = np.zeros_like(r), np.zeros_like(P)
        add_law_at(
            inner, F, D, P0, A0, coefficients, rest, unused_r, unused_P, turning, 2, 0.0, True
        )  # fmt: skip
    for n in range(len(F)):
        for m in range(F.shape[1]):
            density = max(rho[n, m], 0.0) + least
            r[n, m] += w * (density**power - least**power)
            slope = 0.0
            if rho[n, m] >= 0.0 and density > 0.0:
                slope = w * power * density ** (power - 1.0)
            if order >= 1:
                P[n, m] += slope * own_P[n, m]
            if order >= 2:
                A[n, m] += slope * (factor * own_A[n, m] + turning[n, m])
                if density > 0.0:
                    change = factor * bend * (power - 1.0) * slope / density
                    add_outer(A[n, m], change, own_P[n, m], own_P[n, m])


@kernel
def nonrigid_law(F, D, P0, A0, coefficients, numbers, r, P, A, order, factor, stress):
    """Another law at the nonrigid part of Ḟ (dissipative optimization, §6).

    Numbers: its address, whether that is along the velocity gradient, and its numbers.
    """
    inner, by_gradient, rest = int(numbers[0]), numbers[1] != 0.0, numbers[2:]
    rate, own_P, own_A = np.empty_like(D), np.zeros_like(P), np.zeros_like(A)
    nonrigid_rates(F, D, by_gradient, rate)
    add_law_at(inner, F, rate, P0, A0, coefficients, rest, r, own_P, own_A, order, factor, False)
    if order >= 1:
        add_nonrigid(F, own_P, own_A, by_gradient, P, A, order)
    if order >= 2 and stress:
        unused_r, unused_P = np.zeros_like(r), np.zeros_like(P)
        add_law_at(
            inner, F, rate, P0, A0, coefficients, rest, unused_r, unused_P, A, 2, 0.0, True
        )  # fmt: skip
