"""One Newton iteration of a reduced model whose damping is designed by example.

The motion obeys M a + Ĉ v + R(q) = f with (example damping, Eqs. 9 and 17)

    Ĉ = g (C + F W Fᵀ)        C = C₀ + B(q)        F = C X

where X are k examples, W their coupling and g scales all of it. Ĉ is taken as constant, but for
B, and the k factors F are dealt with by the Woodbury identity.
"""

from typing import NamedTuple

import numpy as np

from supple._kernels.compiling import LARGEST, inlined_kernel
from supple._kernels.damping.examples import couple
from supple._kernels.linear_algebra.dense import (
    factorize_symmetric,
    solve_factorized,
    solve_general,
)
from supple._kernels.reduction.newton import (
    ATTEMPTS,
    NOW,
    SHORTENED,
    add_to_diagonal,
    add_viscous_stress,
    apply_correction,
    begin_line,
    fill_system,
    find_rates,
    goes_too_far,
    is_finite,
)
from supple._kernels.reduction.polynomial import ONE, TWO

LOG_10 = np.log(10.0)


class Curves(NamedTuple):
    """Curves as Curve.cubics gives them, one a row, filled up to m pieces."""

    breaks: np.ndarray  # (k, m + 1) of |χ| [1] or |χ̇| [1/s]
    pieces: np.ndarray  # (k, m, 4) of log₁₀ γ
    counts: np.ndarray  # (k,) how many pieces each curve has


class Examples(NamedTuple):
    """k examples in r coordinates, and room for what changes with the state.

    Units are those of ``newton.Balance``.
    """

    X: np.ndarray  # (k, r) the examples at the state: s'(χ) [√kg m]
    straight: np.ndarray  # (k, r) the examples at χ = 0 [√kg m]
    bends: np.ndarray  # (k, p, r) y₂, y₃, … of s(χ) = χ x + χ² y₂ + …; p = 0 if straight [√kg m]
    reach: np.ndarray  # (k,) |χ| up to which they bend [1]
    C0: np.ndarray  # (r, r) constant part of the base [1/s]
    D: np.ndarray  # (k, r) their duals: excitations are D (q − about) [1/(√kg m)]
    about: np.ndarray  # (r,) [√kg m]
    by_rate: np.ndarray  # (k,) whether a curve is one of the rate
    symmetric: bool  # whether Π is replaced by its symmetric part
    definite: bool  # whether Π is the non-negative part of Π̄, or Π̄ itself
    scaled: bool  # whether there is a curve for all damping, the last one
    total_mass: float  # of the body [kg]
    curves: Curves  # k + 1, the last one that of all damping
    C0X: np.ndarray  # (k, r) C₀ X [√kg m/s]; made anew where examples bend
    F: np.ndarray  # (k, r) C X [√kg m/s]
    solved: np.ndarray  # (k + 1, r) A⁻¹ times the force and times F
    gamma: np.ndarray  # (k,) γ; then scratch
    share: np.ndarray  # (k,) scratch
    G: np.ndarray  # (k, k) XᵀCX [kg m²/s]
    W: np.ndarray  # (k, k) coupling of the force [s/(kg m²)]
    V: np.ndarray  # (k, k) coupling of its derivative by the velocity [s/(kg m²)]
    S: np.ndarray  # (k, k) scratch
    T: np.ndarray  # (k, k) scratch


@inlined_kernel
def curve_at(row, x, curves):
    """γ at |x|."""
    breaks, pieces, last = curves.breaks, curves.pieces, curves.counts[row]
    size = min(max(abs(x), breaks[row, 0]), breaks[row, last])
    k = 0
    while k + 1 < last and size >= breaks[row, k + 1]:
        k += 1
    s = size - breaks[row, k]
    log = pieces[row, k, 2] + s * pieces[row, k, 3]
    return np.exp(LOG_10 * (pieces[row, k, 0] + s * (pieces[row, k, 1] + s * log)))


@inlined_kernel
def slope_at(row, x, curves):
    """The derivative of log γ by |x|, at |x|."""
    breaks, pieces, last = curves.breaks, curves.pieces, curves.counts[row]
    size = abs(x)
    slope = 0.0
    if size > breaks[row, 0] and size < breaks[row, last]:
        k = 0
        while k + 1 < last and size >= breaks[row, k + 1]:
            k += 1
        s = size - breaks[row, k]
        slope = pieces[row, k, 1] + s * (2.0 * pieces[row, k, 2] + s * 3.0 * pieces[row, k, 3])
    return LOG_10 * slope


@inlined_kernel
def overall_scale(x, diagonal, M, ex):
    """g, from the root of the mean square of the displacement (Eq. 17)."""
    g = 1.0
    if ex.scaled:
        about = ex.about
        total = 0.0
        for i in range(np.uint64(len(x))):
            xi = x[i] - about[i]
            if diagonal:
                total += xi * M[i, i] * xi
            else:
                for j in range(np.uint64(len(x))):
                    total += xi * M[i, j] * (x[j] - about[j])
        size = np.sqrt(max(total, 0.0) / ex.total_mass)
        g = curve_at(len(ex.X), size, ex.curves)
    return g


@inlined_kernel
def bend_examples(x, ex):
    """X = s'(χ) = x + 2 χ y₂ + 3 χ² y₃ + … and C₀ X, each at its own excitation."""
    X, C0X, C0, D, about, bends = ex.X, ex.C0X, ex.C0, ex.D, ex.about, ex.bends
    r = np.uint64(len(x))
    for m in range(np.uint64(len(X))):
        chi = 0.0
        for i in range(r):
            chi += D[m, i] * (x[i] - about[i])
            X[m, i] = ex.straight[m, i]
        chi = min(max(chi, -ex.reach[m]), ex.reach[m])
        power = 1.0
        for p in range(np.uint64(bends.shape[1])):
            power *= chi
            slope = np.float64(p + TWO) * power
            for i in range(r):
                X[m, i] += slope * bends[m, p, i]
        for i in range(r):
            e = 0.0
            for j in range(r):
                e += C0[i, j] * X[m, j]
            C0X[m, i] = e


@inlined_kernel
def weigh_examples(B, follows, x, v, ex, F, W, V):
    """F = C X and the couplings at the state, from the lower triangle of B.

    W is that of the force and V, about, that of its derivative: along an example with a curve of
    the rate, γ(|χ̇|) χ̇ has the derivative γ + γ' |χ̇|.
    """
    if ex.bends.shape[1] > 0:
        bend_examples(x, ex)
    r = np.uint64(len(x))
    k = np.uint64(len(F))
    X, D, C0X, about, gamma = ex.X, ex.D, ex.C0X, ex.about, ex.gamma
    by_rate, curves, G = ex.by_rate, ex.curves, ex.G
    total = 0.0
    for m in range(k):
        for i in range(r):
            F[m, i] = C0X[m, i]
        if follows:
            for i in range(r):
                xi = X[m, i]
                e = 0.0
                for j in range(i):
                    e += B[i, j] * X[m, j]
                    F[m, j] += B[i, j] * xi
                F[m, i] += e + B[i, i] * xi
        chi = 0.0
        if by_rate[m]:
            for i in range(r):
                chi += D[m, i] * v[i]
        else:
            for i in range(r):
                chi += D[m, i] * (x[i] - about[i])
        gamma[m] = curve_at(m, chi, curves)
        total += gamma[m]
    for m in range(k):
        for n in range(m + ONE):
            e = 0.0
            for i in range(r):
                e += X[n, i] * F[m, i] + X[m, i] * F[n, i]
            G[m, n] = G[n, m] = 0.5 * e
            W[m, n] = W[n, m] = 0.0
            total += e
    if abs(total) <= LARGEST:  # else the forces are not finite either
        couple(G, gamma, ex.symmetric, ex.definite, W, ex.S, ex.T)
    steeper = False
    for m in range(k):
        if by_rate[m]:
            chi = 0.0
            for i in range(r):
                chi += D[m, i] * v[i]
            factor = 1.0 + abs(chi) * slope_at(m, chi, curves)
            gamma[m] *= max(factor, 0.1)  # a drag that falls is kept definite
            steeper = steeper or factor != 1.0
    if steeper and abs(total) <= LARGEST:
        couple(G, gamma, ex.symmetric, ex.definite, V, ex.S, ex.T)
    else:
        for m in range(k):
            for n in range(k):
                V[m, n] = W[m, n]


@inlined_kernel
def fill_effective_rate(g, v, ex, F, W, z):
    """z = g (v + X W Fᵀ v), for which Ĉ v = C z."""
    r = np.uint64(len(v))
    k = np.uint64(len(F))
    X, along, amount = ex.X, ex.share, ex.gamma
    for m in range(k):
        e = 0.0
        for i in range(r):
            e += F[m, i] * v[i]
        along[m] = e
    for m in range(k):
        e = 0.0
        for n in range(k):
            e += W[m, n] * along[n]
        amount[m] = e
    for i in range(r):
        e = v[i]
        for m in range(k):
            e += X[m, i] * amount[m]
        z[i] = g * e


@inlined_kernel
def subtract_examples(g, v, F, W, share, force):
    """``force`` −= g F W Fᵀ v."""
    r = np.uint64(len(v))
    k = np.uint64(len(F))
    for m in range(k):
        e = 0.0
        for i in range(r):
            e += F[m, i] * v[i]
        share[m] = e
    for m in range(k):
        e = 0.0
        for n in range(k):
            e += W[m, n] * share[n]
        e *= g
        for i in range(r):
            force[i] -= e * F[m, i]


@inlined_kernel
def add_examples(c, F, W, S, T, b, share, solved, delta):
    """δ = (A + c F W Fᵀ)⁻¹ b from A⁻¹ b and A⁻¹ F, the rows of ``solved`` (Eq. 26)."""
    r = np.uint64(len(delta))
    k = np.uint64(len(F))
    for m in range(k):
        for n in range(k):
            e = 0.0
            for i in range(r):
                e += F[m, i] * solved[n + ONE, i]
            T[m, n] = e
        e = 0.0
        for i in range(r):
            e += F[m, i] * solved[NOW, i]
        b[m] = e
    for m in range(k):  # (I + c W Fᵀ A⁻¹ F) share = c W Fᵀ A⁻¹ b
        e = 0.0
        for n in range(k):
            e += W[m, n] * b[n]
        share[m] = c * e
        for n in range(k):
            e = 0.0
            for p in range(k):
                e += W[m, p] * T[p, n]
            S[m, n] = c * e
        S[m, m] += 1.0
    solve_general(S, share)
    for i in range(r):
        delta[i] = solved[NOW, i]
    for m in range(k):
        e = share[m]
        for i in range(r):
            delta[i] -= e * solved[m + ONE, i]


@inlined_kernel
def correct_with_examples(balance, c_v, c_a, follows, diagonal, ex):
    """One Newton iteration, as ``newton.correct``."""
    x, v, A, delta, force = balance.x, balance.v, balance.A, balance.delta, balance.force
    r = np.uint64(len(x))
    F, W, V, solved, share = ex.F, ex.W, ex.V, ex.solved, ex.share
    find_rates(balance, c_v, c_a)
    g = overall_scale(x, diagonal, balance.M, ex)
    weigh_examples(balance.B, follows, x, v, ex, F, W, V)
    consistent = balance.line[3] != 0.0
    shift = 0.0
    size = -1.0
    for attempt in range(ATTEMPTS):
        largest = fill_system(balance, c_v, c_a, follows, g, diagonal, force)
        subtract_examples(g, v, F, W, share, force)
        if attempt == 0 and goes_too_far(balance):
            size = SHORTENED
            break
        if not is_finite(force):
            size = np.inf
            break
        if consistent:
            fill_effective_rate(g, v, ex, F, W, delta)
            add_viscous_stress(balance, delta)
        add_to_diagonal(shift, A)
        if factorize_symmetric(A):  # c_v g F W Fᵀ is added by Woodbury
            for i in range(r):
                solved[NOW, i] = force[i]
                for m in range(np.uint64(len(F))):
                    solved[m + ONE, i] = F[m, i]
            solve_factorized(A, solved)
            add_examples(c_v * g, F, V, ex.S, ex.T, ex.gamma, share, solved, delta)
            begin_line(balance)
            size = apply_correction(delta, x) if is_finite(delta) else np.inf
            break
        shift = max(10.0 * shift, 1e-3 * largest)
    return size
