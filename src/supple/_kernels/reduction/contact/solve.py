"""Forces of contacts in a reduced model, and one Newton iteration with them.

A Newton iteration asks for a correction δ and forces λ with

    A δ = g + Σ Jᵀ λ,    0 ≤ λ_n ⊥ n·(u + J δ) − b + ε λ_n ≥ 0

and Coulomb's friction: λ_t takes back the slip unless |λ_t| = μ λ_n. Forces are found one pair
after the other by the projected method of Gauss and Seidel, with δ at hand in place of the matrix
J A⁻¹ Jᵀ of all pairs: a sweep costs 6 r numbers a pair, however many pairs press.
"""

import math

import numpy as np

from supple._kernels.compiling import borrowing_kernel, inlined_kernel
from supple._kernels.linear_algebra.dense import factorize_symmetric, solve_factorized
from supple._kernels.reduction.contact.pairs import EXACT, PAIRS, SOFT, SWEEPS
from supple._kernels.reduction.example_newton import (
    fill_effective_rate,
    overall_scale,
    subtract_examples,
    weigh_examples,
)
from supple._kernels.reduction.newton import (
    ATTEMPTS,
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
from supple._kernels.reduction.polynomial import ONE

CLOSE = 1e-2  # of what may be off: places that move less from sweep to sweep stay
MOST_SWEEPS = 400
FEW_SWEEPS = 60  # with a fixed number of Newton iterations
RIGID = 1e-7  # of the compliance of a vertex: that of a contact, so that forces are unique
STOPPED = 1e-6  # of the mass: what presses keeps so much of its velocity


@borrowing_kernel
def add_contact_forces(pairs, force):
    """``force`` += Σ Jᵀ λ."""
    for p in range(pairs.counts[PAIRS]):
        if pairs.force[p, 0] > 0.0:
            f0, f1, f2 = pairs.force[p, 0], pairs.force[p, 1], pairs.force[p, 2]
            for n in range(np.uint64(len(force))):
                force[n] += f0 * pairs.J[p, 0, n] + f1 * pairs.J[p, 1, n] + f2 * pairs.J[p, 2, n]


@borrowing_kernel
def know_pair(p, A, pairs):
    """Makes Y = A⁻¹ J and T = J Y of a pair, with A factorized."""
    J, Y, T = pairs.J, pairs.Y, pairs.T
    r = np.uint64(len(A))
    rows = 3 if pairs.friction[p] > 0.0 else 1
    for c in range(rows):
        for n in range(r):
            Y[p, c, n] = J[p, c, n]
        for back in range(r):
            k = r - ONE - back
            share = Y[p, c, k] * A[k, k]
            for i in range(k):
                Y[p, c, i] -= share * A[k, i]
        for i in range(r):
            x = Y[p, c, i]
            for j in range(i):
                x -= A[i, j] * Y[p, c, j]
            Y[p, c, i] = x * A[i, i]
    T[p, 0] = T[p, 1] = T[p, 2] = T[p, 3] = 0.0
    for n in range(r):
        T[p, 0] += J[p, 0, n] * Y[p, 0, n]
    if rows == 3:
        for n in range(r):
            T[p, 1] += J[p, 1, n] * Y[p, 1, n]
            T[p, 2] += J[p, 2, n] * Y[p, 2, n]
            T[p, 3] += J[p, 1, n] * Y[p, 2, n]
    pairs.known[p] = 1


@borrowing_kernel
def find_contact_forces(A, pairs, best_effort, delta):
    """Forces of the pairs, and δ with them from δ without; returns whether they were found.

    ``A`` is factorized.
    """
    Y, force = pairs.Y, pairs.force
    r = np.uint64(len(delta))
    for p in range(pairs.counts[PAIRS]):
        if force[p, 0] > 0.0:
            know_pair(p, A, pairs)
            f0, f1, f2 = force[p, 0], force[p, 1], force[p, 2]
            for n in range(r):
                delta[n] += f0 * Y[p, 0, n]
            if pairs.friction[p] > 0.0:
                for n in range(r):
                    delta[n] += f1 * Y[p, 1, n] + f2 * Y[p, 2, n]
    return change_contact_forces(A, pairs, best_effort, delta)


@borrowing_kernel
def change_contact_forces(A, pairs, best_effort, delta):
    """The same from δ with the forces as they are.

    Sweeps are led on by nonlinear conjugate gradients, whose gradient is what a sweep changes
    (Silcowitz et al. 2010): vertices of a face that lies flat would else hand its weight to and
    fro.
    """
    force, swept, along = pairs.force, pairs.swept, pairs.along
    count, close = pairs.counts[PAIRS], CLOSE * pairs.options[EXACT]
    sweeps = FEW_SWEEPS if best_effort else MOST_SWEEPS
    before = 0.0
    for sweep in range(sweeps):
        pairs.counts[SWEEPS] += 1
        for p in range(count):
            for i in range(3):
                swept[p, i] = force[p, i]
        if sweep_pairs(A, pairs, delta) <= close:
            return True
        size = 0.0
        for p in range(count):
            for i in range(3):
                size += (force[p, i] - swept[p, i]) ** 2
        share = 0.0 if sweep == 0 else size / before
        if sweep == 0 or share > 1.0:
            for p in range(count):
                for i in range(3):
                    along[p, i] = 0.0
                if share <= 1.0:
                    for i in range(3):
                        along[p, i] = force[p, i] - swept[p, i]
        else:
            for p in range(count):
                if pairs.known[p] == 1:
                    lead_on(p, share, pairs, delta)
        before = size
    for p in range(count):
        for i in range(3):
            swept[p, i] = force[p, i]
    return sweep_pairs(A, pairs, delta) <= close


@borrowing_kernel
def lead_on(p, share, pairs, delta):
    """A force on along its direction, by a share of it; and the direction of the next sweep."""
    Y, force, swept, along = pairs.Y, pairs.force, pairs.swept, pairs.along
    rows = 3 if pairs.friction[p] > 0.0 else 1
    for i in range(rows):
        step = share * along[p, i]
        along[p, i] = step + force[p, i] - swept[p, i]
        if step != 0.0:
            force[p, i] += step
            for n in range(np.uint64(len(delta))):
                delta[n] += step * Y[p, i, n]


@borrowing_kernel
def sweep_pairs(A, pairs, delta):
    """One sweep over all pairs; returns by how much any of them has moved its vertex [m]."""
    J, Y, force, gap = pairs.J, pairs.Y, pairs.force, pairs.gap
    r = np.uint64(len(delta))
    moved = 0.0
    for p in range(pairs.counts[PAIRS]):
        depth = -gap[p, 0]
        for n in range(r):
            depth -= J[p, 0, n] * delta[n]
        before = force[p, 0]
        if depth <= 0.0 and before == 0.0:
            continue
        if pairs.known[p] == 0:
            know_pair(p, A, pairs)
        T = pairs.T[p, 0]
        if not T > 0.0:
            continue
        soft = RIGID * T + pairs.options[SOFT]
        now = max(before + (depth - soft * before) / (T + soft), 0.0)
        change = now - before
        if change != 0.0:
            force[p, 0] = now
            for n in range(r):
                delta[n] += change * Y[p, 0, n]
            moved = max(moved, abs(change) * T)
        if pairs.friction[p] == 0.0:
            continue
        s1, s2 = gap[p, 1], gap[p, 2]
        for n in range(r):
            s1 += J[p, 1, n] * delta[n]
            s2 += J[p, 2, n] * delta[n]
        coupled = abs(pairs.T[p, 3])
        T = max(pairs.T[p, 1], pairs.T[p, 2]) + coupled
        if not T > 0.0:
            continue
        f1, f2 = force[p, 1] - s1 / T, force[p, 2] - s2 / T
        limit = pairs.friction[p] * now
        size = math.sqrt(f1 * f1 + f2 * f2)
        if size > limit:
            f1, f2 = f1 * limit / size, f2 * limit / size
        c1, c2 = f1 - force[p, 1], f2 - force[p, 2]
        if c1 != 0.0 or c2 != 0.0:
            force[p, 1], force[p, 2] = f1, f2
            for n in range(r):
                delta[n] += c1 * Y[p, 1, n] + c2 * Y[p, 2, n]
            moved = max(moved, math.sqrt(c1 * c1 + c2 * c2) * T)
    return moved


@inlined_kernel
def add_examples_densely(c, F, W, A):
    """The lower triangle of A += c F W Fᵀ, as far as it is symmetric."""
    for m in range(np.uint64(len(F))):
        for n in range(np.uint64(len(F))):
            w = 0.5 * c * (W[m, n] + W[n, m])
            for i in range(np.uint64(len(A))):
                e = w * F[m, i]
                for j in range(i + ONE):
                    A[i, j] += e * F[n, j]


@inlined_kernel
def correct_with_contacts(balance, c_v, c_a, follows, diagonal, best_effort, ex, pairs):
    """One Newton iteration, as ``newton.correct``; and whether the contact forces were found."""
    x, v, A, delta, force = balance.x, balance.v, balance.A, balance.delta, balance.force
    find_rates(balance, c_v, c_a)
    g = 1.0
    if ex is not None:
        g = overall_scale(x, diagonal, balance.M, ex)
        weigh_examples(balance.B, follows, x, v, ex, ex.F, ex.W, ex.V)
    consistent = balance.line[3] != 0.0
    shift = 0.0
    size = -1.0
    found = True
    for attempt in range(ATTEMPTS):
        largest = fill_system(balance, c_v, c_a, follows, g, diagonal, force)
        if ex is not None:
            subtract_examples(g, v, ex.F, ex.W, ex.share, force)
            add_examples_densely(c_v * g, ex.F, ex.V, A)
        for i in range(np.uint64(len(force))):
            delta[i] = force[i]
        add_contact_forces(pairs, force)
        if attempt == 0 and goes_too_far(balance):
            size = SHORTENED
            break
        if not is_finite(force):
            size = np.inf
            break
        for i in range(np.uint64(len(force))):
            force[i] = delta[i]
        if consistent:
            if ex is not None:
                fill_effective_rate(g, v, ex, ex.F, ex.W, delta)
                add_viscous_stress(balance, delta)
            else:
                add_viscous_stress(balance, v)
        if shift > 0.0:
            add_to_diagonal(shift, A)
        if factorize_symmetric(A):
            for i in range(np.uint64(len(force))):
                pairs.rates[0, i] = force[i]
                pairs.rates[1, i] = 0.0
            solve_factorized(A, pairs.rates)
            for i in range(np.uint64(len(force))):
                delta[i] = pairs.rates[0, i]
            found = find_contact_forces(A, pairs, best_effort, delta)
            add_contact_forces(pairs, force)
            begin_line(balance)
            size = apply_correction(delta, x) if is_finite(delta) else np.inf
            break
        shift = max(10.0 * shift, 1e-3 * largest)
    return size, found


@borrowing_kernel
def bring_to_rest(M, pairs, u, history):
    """Rows u + 1 and u + 2 of ``history``, a velocity and an acceleration, after an impact.

    What presses comes to rest along its normals, as by Moreau's law: v' is the nearest to v by mass
    with n·J v' that of the obstacle, as nearly as the basis can have it, and a' with n·J a' = 0.
    """
    H, rates, J = pairs.H, pairs.rates, pairs.J
    r = np.uint64(len(M))
    size, pressed = 0.0, 0
    for p in range(pairs.counts[PAIRS]):
        if pairs.force[p, 0] > 0.0:
            pressed += 1
            for n in range(r):
                size = max(size, J[p, 0, n] * J[p, 0, n])
    if pressed == 0:
        return
    least = 0.0
    for i in range(r):
        rates[0, i] = rates[1, i] = 0.0
        for j in range(r):
            H[i, j] = M[i, j]
            rates[0, i] += M[i, j] * history[u + ONE, j]
            rates[1, i] += M[i, j] * history[u + ONE + ONE, j]
        least = max(least, M[i, i])
    weight = least / (STOPPED * size)
    for p in range(pairs.counts[PAIRS]):
        if pairs.force[p, 0] > 0.0:
            wanted = 0.0
            for i in range(3):
                wanted += pairs.frame[p, 0, i] * pairs.velocity[p, i]
            for i in range(r):
                e = weight * J[p, 0, i]
                rates[0, i] += e * wanted
                for j in range(i + ONE):
                    H[i, j] += e * J[p, 0, j]
    if factorize_symmetric(H):
        solve_factorized(H, rates)
        for i in range(r):
            history[u + ONE, i] = rates[0, i]
            history[u + ONE + ONE, i] = rates[1, i]
