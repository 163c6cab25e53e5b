"""Newton's method on a stage of a model whose forces come from points, with tangents kept.

A matrix costs ten times a force or more, and changes little from step to step. So its factors are
kept, for each stage of the rule, and corrections solved with them, which Broyden's method improves
by what the forces did after each [Deuflhard 2011, Alg. QNERR]. A new matrix is made where this
converges too slowly, and nearer to what is sought. All forces are those of the state: what is
converged to is the same.
"""

from typing import NamedTuple

import numpy as np

from supple._kernels.compiling import LARGEST, inlined_kernel, inner_kernel
from supple._kernels.damping.examples import couple
from supple._kernels.linear_algebra.dense import (
    factorize_symmetric,
    solve_factorized,
    solve_general,
)
from supple._kernels.reduction.example_newton import (
    bend_examples,
    curve_at,
    overall_scale,
    slope_at,
)
from supple._kernels.reduction.laws import (
    add_base_laws,
    add_forces_beside,
    add_tangent_beside,
    strain_laws,
)
from supple._kernels.reduction.newton import ATTEMPTS, find_rates
from supple._kernels.reduction.points import (
    add_example_forces,
    add_forces,
    assemble_tangent,
    strain_examples,
    strain_points,
    use_examples,
)
from supple._kernels.reduction.polynomial import ONE, ZERO, evaluate_rate

UNLIKE = 0.5  # share of a correction left along it at which Broyden's method begins anew
FORGETTING = 0.98  # what old tangents cost is tried again after some steps with new ones
SAFETY = 3.0  # what is left after a correction is at most so many times the next one, as foreseen

# columns of ``Kept.made``: of the tangent, and of the factors of each stage
VERSION, C_V, C_A = 0, 1, 2
SHARE, STEPS, EXTRA, LAST, FRESH, STALE = 2, 3, 4, 5, 6, 7


class Kept(NamedTuple):
    """What is kept of the matrices of a model in r coordinates with k examples.

    A part of the state: the bytes of the next step depend on it. The tangent without mass and
    constant damping is kept in ``Points``.
    """

    made: np.ndarray  # (1 + stages, 8) the tangent: its version, c_v g, share of damping, steps
    # since, iterations beyond FRESH in these, in the last, of a step with a new tangent, and of one
    # with an old one, as far as is known; then by stage: version, 0 for none, c_v, c_a
    factors: np.ndarray  # (stages, r, r)
    F: np.ndarray  # (stages, k, r) C X
    solved: np.ndarray  # (stages, k, r) A⁻¹ C X
    T: np.ndarray  # (stages, k, k) (C X)ᵀ A⁻¹ C X
    BX: np.ndarray  # (k, r) what of C X is at points, with the tangent


class Secants(NamedTuple):
    """Corrections of a stage, from which Broyden's method learns; and room."""

    steps: np.ndarray  # (most, r)
    squares: np.ndarray  # (most,)
    right: np.ndarray  # (1, r)
    amount: np.ndarray  # (k,)
    along: np.ndarray  # (k,)


@inner_kernel
def couple_examples(balance, points, rate, v, g, ex, BX, secants):
    """The couplings W and V of examples at the state; ``amount`` = g W (CX)ᵀ v.

    Of C X, the parts C₀ X and B X are vectors, what is at points stays there.
    """
    x, X, D, about, gamma = balance.x, ex.X, ex.D, ex.about, ex.gamma
    G, W, V, amount, along = ex.G, ex.W, ex.V, secants.amount, secants.along
    viscous, X_blocks = points.viscous, points.X_blocks
    r, k = np.uint64(len(x)), np.uint64(len(X))
    damped = len(points.beta) > 0 or len(points.shear) > 0
    total = 0.0
    for m in range(k):
        chi = 0.0
        if ex.by_rate[m]:
            for i in range(r):
                chi += D[m, i] * v[i]
        else:
            for i in range(r):
                chi += D[m, i] * (x[i] - about[i])
        gamma[m] = curve_at(m, chi, ex.curves)
        e = 0.0
        for i in range(r):
            e += BX[m, i] * v[i]
        if damped:
            for t in range(np.uint64(X_blocks.shape[1])):
                e += X_blocks[m, t] * viscous[ZERO, t]
        along[m] = e
        total += gamma[m] + e
    for m in range(k):
        for n in range(m + ONE):
            e = 0.0
            for i in range(r):
                e += 0.5 * (X[n, i] * BX[m, i] + X[m, i] * BX[n, i])
            if damped:
                for t in range(np.uint64(X_blocks.shape[1])):
                    e += X_blocks[n, t] * viscous[m + ONE, t]
            G[m, n] = G[n, m] = e
            W[m, n] = W[n, m] = 0.0
            total += e
    sound = abs(total) <= LARGEST  # else the forces are not finite either
    if sound:
        couple(G, gamma, ex.symmetric, ex.definite, W, ex.S, ex.T)
    for m in range(k):
        e = 0.0
        for n in range(k):
            e += W[m, n] * along[n]
        amount[m] = g * e
    steeper = False
    for m in range(k):
        if ex.by_rate[m]:
            chi = 0.0
            for i in range(r):
                chi += D[m, i] * v[i]
            factor = 1.0 + abs(chi) * slope_at(m, chi, ex.curves)
            gamma[m] *= max(factor, 0.1)  # a drag that falls is kept definite
            steeper = steeper or factor != 1.0
    if steeper and sound:
        couple(G, gamma, ex.symmetric, ex.definite, V, ex.S, ex.T)
    else:
        for m in range(k):
            for n in range(k):
                V[m, n] = W[m, n]


@inner_kernel
def multiply_lower(B, x, y):
    """y += B x from the lower triangle of B."""
    for i in range(np.uint64(len(x))):
        e = 0.0
        for j in range(i):
            e += B[i, j] * x[j]
            y[j] += B[i, j] * x[i]
        y[i] += e + B[i, i] * x[i]


@inner_kernel
def find_residual(c_v, c_a, balance, points, rate, laws, ex, secants):
    """``balance.force`` = f − M a − Ĉ v − R at x; returns g, which scales all damping."""
    find_rates(balance, c_v, c_a)
    M, C0, v, a, f, force = balance.M, balance.C0, balance.v, balance.a, balance.f, balance.force
    R = balance.R
    r = np.uint64(len(v))
    follows = len(rate.rows) > 0
    damped = len(points.beta) > 0 or len(points.shear) > 0
    g = 1.0
    strain_points(balance.x, c_v, points)
    if follows:
        evaluate_rate(balance.x, rate, balance.B)
    for i in range(r):
        R[i] = 0.0
    if laws is not None:
        strain_laws(balance.x, v, laws)
        if laws.base > 0:
            add_base_laws(laws, follows, balance.B)
            follows = True
        add_forces_beside(laws, R)
    if ex is not None:
        g = overall_scale(balance.x, False, M, ex)
        if ex.bends.shape[1] > 0:
            bend_examples(balance.x, ex)
            if damped:
                use_examples(ex.X, points)
        F = ex.F
        for m in range(np.uint64(len(F))):
            for i in range(r):
                F[m, i] = ex.C0X[m, i]
            if follows:
                multiply_lower(balance.B, ex.X[m], F[m])
        if damped:
            strain_examples(points)
        couple_examples(balance, points, rate, v, g, ex, F, secants)
        for m in range(np.uint64(len(F))):
            share = secants.amount[m]
            for i in range(r):
                R[i] += share * F[m, i]
    add_forces(points, g, secants.amount, damped, R)
    z = balance.delta  # scratch
    for i in range(r):
        e = 0.0
        for j in range(r):
            e += C0[i, j] * v[j]
        z[i] = e
    if follows:
        multiply_lower(balance.B, v, z)
    for i in range(r):
        e = 0.0
        for j in range(r):
            e += M[i, j] * a[j]
        force[i] = f[i] - R[i] - e - g * z[i]
    return g


@inner_kernel
def make_tangent(c_v, g, points, laws, kept, secants, exactly):
    """The sum over points at x, where forces have just been found."""
    whole, after = assemble_tangent(points, c_v * g, g, secants.amount, exactly)
    if laws is not None:
        after += add_tangent_beside(c_v, laws, points.tangent)
    BX = kept.BX
    damped = len(points.beta) > 0 or len(points.shear) > 0
    BX[:] = 0.0
    if damped and len(BX) > 0:
        add_example_forces(points, BX)
    made = kept.made[0]
    made[VERSION] += 1.0
    made[C_V] = c_v * g
    made[SHARE] = 1.0 - whole / after if after > 0.0 and whole > 0.0 else 0.0
    made[STEPS] = made[EXTRA] = made[LAST] = 0.0


@inner_kernel
def factorize_tangent(s, c_v, c_a, g, balance, points, rate, laws, kept, ex, secants):
    """The factors of stage s from the tangent; whether they could be made positive definite.

    Where the tangent was made for another c_v, the share of damping in it is scaled.
    """
    M, C0, B, S = balance.M, balance.C0, balance.B, points.tangent
    A, of = kept.factors[s], kept.made[0]
    r = np.uint64(len(A))
    c = c_v * g
    scale = 1.0
    if of[C_V] > 0.0:
        scale += of[SHARE] * (c / of[C_V] - 1.0)
    follows = len(rate.rows) > 0
    if laws is not None:
        follows = follows or laws.base > 0
    shift = 0.0
    definite = False
    for _ in range(ATTEMPTS):
        largest = 0.0
        for i in range(r):
            for j in range(i + ONE):
                A[i, j] = scale * S[i, j] + c_a * M[i, j] + c * C0[i, j]
            if follows:
                for j in range(i + ONE):
                    A[i, j] += c * B[i, j]
            largest = max(largest, abs(A[i, i]))
            A[i, i] += shift
        definite = factorize_symmetric(A)
        if definite:
            break
        shift = max(10.0 * shift, 1e-3 * largest)
    made = kept.made[s + 1]
    made[VERSION] = of[VERSION] if definite else 0.0
    made[C_V], made[C_A] = c_v, c_a
    if definite and ex is not None:
        F, solved, T = kept.F[s], kept.solved[s], kept.T[s]
        for m in range(len(F)):
            for i in range(r):
                F[m, i] = solved[m, i] = ex.F[m, i] + kept.BX[m, i]
        solve_factorized(A, solved)
        for m in range(len(F)):
            for n in range(len(F)):
                e = 0.0
                for i in range(r):
                    e += F[m, i] * solved[n, i]
                T[m, n] = e
    return definite


@inner_kernel
def solve_kept(s, c, balance, kept, ex, secants):
    """δ = (A + c F V Fᵀ)⁻¹ force with the factors kept (Eq. 26)."""
    force, delta, right = balance.force, balance.delta, secants.right
    r = np.uint64(len(force))
    for i in range(r):
        right[ZERO, i] = force[i]
    solve_factorized(kept.factors[s], right)
    for i in range(r):
        delta[i] = right[ZERO, i]
    if ex is not None:
        F, solved, T = kept.F[s], kept.solved[s], kept.T[s]
        V, S, share, b = ex.V, ex.S, ex.share, secants.along
        k = len(F)
        for m in range(k):
            e = 0.0
            for i in range(r):
                e += F[m, i] * delta[i]
            b[m] = e
        for m in range(k):  # (I + c V Fᵀ A⁻¹ F) share = c V Fᵀ A⁻¹ b
            e = 0.0
            for n in range(k):
                e += V[m, n] * b[n]
            share[m] = c * e
            for n in range(k):
                e = 0.0
                for p in range(k):
                    e += V[m, p] * T[p, n]
                S[m, n] = c * e
            S[m, m] += 1.0
        solve_general(S, share)
        for m in range(k):
            e = share[m]
            for i in range(r):
                delta[i] -= e * solved[m, i]


@inlined_kernel
def learn(count, secants, delta):
    """Broyden's correction of δ by ``count`` corrections before it; how many of them to keep."""
    steps, squares = secants.steps, secants.squares
    r = np.uint64(len(delta))
    for j in range(np.uint64(count)):
        e = 0.0
        for i in range(r):
            e += steps[j, i] * delta[i]
        e /= squares[j]
        if j + ONE < np.uint64(count):
            for i in range(r):
                delta[i] += e * steps[j + ONE, i]
        elif e < UNLIKE:
            for i in range(r):
                delta[i] /= 1.0 - e
        else:
            count = 0
    return count


@inlined_kernel
def remember(count, secants, delta):
    """Keeps δ among the corrections; how many there are."""
    steps, squares = secants.steps, secants.squares
    if count == len(steps):
        return count
    total = 0.0
    for i in range(np.uint64(len(delta))):
        steps[count, i] = delta[i]
        total += delta[i] * delta[i]
    squares[count] = total
    return count + 1


@inlined_kernel
def has_factors(s, c_v, c_a, kept):
    """Whether there are factors for stage s of a rule with these rates."""
    made = kept.made[s + 1]
    return made[VERSION] > 0.0 and made[C_V] == c_v and made[C_A] == c_a


@inlined_kernel
def is_due(matrix_cost, kept):
    """Whether a step should begin with a new tangent, which costs as much as so many iterations.

    It should where steps with an old one took more than that beyond those with a new one; or where
    the last one took more than steps have on average since, with the cost: while steps take the
    more iterations the older the tangent is, that is where the average is least.
    """
    made = kept.made[0]
    return made[STEPS] > 0.0 and (
        made[STALE] > made[FRESH] + matrix_cost
        or made[STEPS] * made[LAST] > matrix_cost + made[EXTRA]
    )


@inlined_kernel
def count_step(iterations, began_anew, matrix_cost, kept):
    """Notes what a step took that began with a new tangent, or with what was kept."""
    made = kept.made[0]
    if began_anew:
        made[FRESH] = iterations
        made[STALE] *= FORGETTING
    else:
        made[FRESH] = min(made[FRESH], iterations)
        made[STALE] = iterations
        if made[STEPS] == 0.0:  # it did not do without: the next one begins with a new one
            made[STALE] = max(iterations, made[FRESH] + matrix_cost + 1.0)
    made[LAST] = max(iterations - made[FRESH], 0.0)
    made[EXTRA] += made[LAST]
    made[STEPS] += 1.0
