"""Damping of a character: constant matrices of a pose, and laws at its cubature cells.

C = C₀ + B(q) is what examples scale, if there are any; what is beside them is C₁ and more laws.
"""

from typing import NamedTuple

import numpy as np

from supple._kernels.character.forces import gather, strain_cells
from supple._kernels.compiling import inlined_kernel, inner_kernel
from supple._kernels.damping.law_call import add_law_at
from supple._kernels.damping.matched import add_matched
from supple._kernels.damping.principal import Sums
from supple._kernels.linear_algebra.dense import factorize_symmetric, solve_factorized
from supple._kernels.reduction.example_newton import overall_scale
from supple._kernels.reduction.polynomial import ONE

BASE, BESIDE = 0, 1


class Constants(NamedTuple):
    """What the matrices C₀ and C₁ of a pose are made of, a row each."""

    alpha: np.ndarray  # (2,) times M̃ [1/s]
    gap: np.ndarray  # (2,) times D, where cells have β K̃ [s]
    at_rest: np.ndarray  # (2,) times K̃(0) [s]
    series: np.ndarray  # (2, k) times K̃ (M̃⁻¹K̃)^j from j = 1 on [s³, s⁵, …]
    forms: np.ndarray  # (2, pairs of poses, entries) U_iᵀ C U_j + U_jᵀ C U_i, lower triangle
    needs_stiffness: bool  # that at rest
    has_forms: bool
    has_beside: bool  # whether there is a C₁


class Laws(NamedTuple):
    """Densities of dissipation at c cells; ``law_call`` says what a law is."""

    addresses: np.ndarray  # (l,)
    in_base: np.ndarray  # (l,) whether examples scale it: then it is linear in the velocity
    coefficients: np.ndarray  # (l, 6, c)
    numbers: np.ndarray  # (l, k)
    fibred: np.ndarray  # (l,) whether coefficients 3 to 5 are a direction, to go with the rig
    directions: np.ndarray  # (l, c, 3) in the neutral pose


class LawRoom(NamedTuple):
    """For laws at c cells."""

    P: np.ndarray  # (c, 1, 3, 3) elastic stress
    A: np.ndarray  # (c, 1, 6, 3, 3) its derivative
    stress: np.ndarray  # (c, 1, 3, 3)
    derivative: np.ndarray  # (c, 1, 6, 3, 3)
    C1: np.ndarray  # (r, r)


@inner_kernel
def fill_constant(row, constants, M, K, gap, w, scale, C):
    """C₀ or C₁ of a pose, K its stiffness at rest."""
    r = np.uint64(len(M))
    alpha, by_gap = constants.alpha[row], constants.gap[row]
    for i in range(r):
        for j in range(r):
            C[i, j] = alpha * M[i, j] + by_gap * gap[i, j]
    if constants.needs_stiffness:
        for i in range(r):
            for j in range(r):
                C[i, j] += constants.at_rest[row] * K[i, j]
        if len(constants.series[row]) > 0:
            add_series(constants.series[row], M, K, C)
    if constants.has_forms:
        add_form(constants.forms[row], w, scale, C)


@inner_kernel
def add_series(series, M, K, C):
    """C += Σ_j a_j K (M⁻¹K)^j from j = 1 on (example damping, Eq. 13)."""
    r = len(M)
    factors, power = M.copy(), K.copy()
    if not factorize_symmetric(factors):
        return
    for j in range(len(series)):
        solve_factorized(factors, power)  # its rows: K (M⁻¹K)ʲ⁻¹ M⁻¹
        power = np.dot(power, K)
        for a in range(r):
            for b in range(r):
                C[a, b] += 0.5 * series[j] * (power[a, b] + power[b, a])


@inner_kernel
def add_form(form, w, scale, C):
    """C += Υ Σ_ij w_i w_j U_iᵀ C U_j Υ, with C in the frames of the vertices."""
    r = np.uint64(len(C))
    pair = 0
    for i in range(len(w)):
        for j in range(i + 1):
            share = w[i] * w[j]
            entry = np.uint64(0)
            for a in range(r):
                for b in range(a + ONE):
                    e = share * form[pair, entry] * scale[a] * scale[b]
                    C[a, b] += e
                    if a != b:
                        C[b, a] += e
                    entry += ONE
            pair += 1


@inner_kernel
def carry_fibres(x, model, laws):
    """Directions of fibres in a pose: J a, J what the rig does to a cell."""
    corners, back = model.corners, model.back
    for l in range(len(laws.addresses)):
        if not laws.fibred[l]:
            continue
        to, a = laws.coefficients[l], laws.directions[l]
        for e in range(len(corners)):
            o = corners[e, 0]
            length = 0.0
            for i in range(3):
                total = 0.0
                for k in range(3):
                    edge = x[corners[e, k + 1], i] - x[o, i]
                    along = back[e, k, 0] * a[e, 0] + back[e, k, 1] * a[e, 1]
                    total += edge * (along + back[e, k, 2] * a[e, 2])
                to[3 + i, e] = total
                length += total * total
            length = np.sqrt(length)
            for i in range(3):
                to[3 + i, e] = to[3 + i, e] / length if length > 0.0 else a[e, i]


@inlined_kernel
def find_rate(v, model, workspace):
    """Ḟ = Σ_k Υ_k v_k ∂U_k/∂X in each cell."""
    columns, rate = workspace.room.columns, workspace.cells.rate
    strain_cells(v, workspace.scale, model.cells, workspace.G, columns, rate)
    for e in range(len(rate)):
        for i in range(3):
            rate[e, 0, i, i] -= 1.0


@inner_kernel
def keep_elastic(cells, room):
    """A copy of the elastic stress and its derivative."""
    for e in range(len(cells.P)):
        for i in range(3):
            for j in range(3):
                room.P[e, 0, i, j] = cells.P[e, 0, i, j]
        for s in range(6):
            for i in range(3):
                for j in range(3):
                    room.A[e, 0, s, i, j] = cells.A[e, 0, s, i, j]


@inner_kernel
def add_laws(c_v, g, stress, in_base, beside, laws, workspace):
    """The stresses of laws, and c_v times their derivatives, to those of the cells.

    Of laws in the base g times, if they are asked for; of those beside it if these are.
    """
    cells, room = workspace.cells, workspace.law_room
    for l in range(len(laws.addresses)):
        if not (in_base if laws.in_base[l] else beside):
            continue
        share = g if laws.in_base[l] else 1.0
        room.stress[:] = 0.0
        room.derivative[:] = 0.0
        add_law_at(
            laws.addresses[l], cells.F, cells.rate, room.P, room.A, laws.coefficients[l],
            laws.numbers[l], cells.power, room.stress, room.derivative, 2, c_v, stress,
        )  # fmt: skip
        for e in range(len(cells.P)):
            for i in range(3):
                for j in range(3):
                    cells.P[e, 0, i, j] += share * room.stress[e, 0, i, j]
            for s in range(6):
                for i in range(3):
                    for j in range(3):
                        cells.A[e, 0, s, i, j] += share * room.derivative[e, 0, s, i, j]


@inner_kernel
def add_linear_stress(beta, cells, stress):
    """β times the stress of a linear material at Ḟ: λ tr(Ḟ) 1 + μ (Ḟ + Ḟᵀ)."""
    for e in range(len(stress)):
        D, lam, mu = cells.rate[e, 0], beta * cells.lam[e], beta * cells.mu[e]
        trace = lam * (D[0, 0] + D[1, 1] + D[2, 2])
        for i in range(3):
            for j in range(3):
                stress[e, 0, i, j] += mu * (D[i, j] + D[j, i])
            stress[e, 0, i, i] += trace


@inner_kernel
def add_linear_derivative(beta, cells):
    """β times its derivative, λ δ_ij δ_kl + μ (δ_ik δ_jl + δ_il δ_jk), to that of the cells."""
    for e in range(len(cells.A)):
        A, lam, mu = cells.A[e, 0], beta * cells.lam[e], beta * cells.mu[e]
        s = 0
        for j in range(3):
            for l in range(j, 3):
                A[s, j, l] += lam
                A[s, l, j] += mu
                if j == l:
                    for i in range(3):
                        A[s, i, i] += mu
                s += 1


@inner_kernel
def overall(examples, balance):
    """g, what all of the base is scaled by (example damping, Eq. 17)."""
    if examples is None:
        return 1.0
    return overall_scale(balance.x, False, balance.M, examples)


@inner_kernel
def damp_examples(C, examples):
    """What the base C of the damping is to the examples, if there are any."""
    if examples is not None:
        X, C0X = examples.X, examples.C0X
        for m in range(len(X)):
            for i in range(len(C)):
                total = 0.0
                for j in range(len(C)):
                    total += X[m, j] * C[j, i]
                C0X[m, i] = total


@inner_kernel
def damp_examples_in_cells(examples, beta, beta_at_rest, laws, model, workspace):
    """The same for what of it is in the cells: C X += B X."""
    if examples is not None:
        cells, columns, room = workspace.cells, workspace.room.columns, workspace.law_room
        cells.beta[:] = beta
        for m in range(len(examples.X)):
            find_rate(examples.X[m], model, workspace)
            cells.stress[:] = 0.0
            if beta != 0.0:
                sums = Sums(cells.power, cells.stress, cells.A, 1, 1.0)
                add_matched(cells.F, cells.rate, cells.P, cells.A, cells.beta, sums, False)
            if beta_at_rest != 0.0:
                add_linear_stress(beta_at_rest, cells, cells.stress)
            for l in range(len(laws.addresses)):
                if laws.in_base[l]:
                    add_law_at(
                        laws.addresses[l], cells.F, cells.rate, cells.P, cells.A,
                        laws.coefficients[l], laws.numbers[l], cells.power, cells.stress,
                        room.derivative, 1, 1.0, False,
                    )  # fmt: skip
            gather(
                cells.stress, workspace.volumes, workspace.scale, model.cells, workspace.G,
                columns, examples.C0X[m],
            )  # fmt: skip


@inlined_kernel
def add_beside(v, c_v, room, balance):
    """C₁ v to the forces, and c_v C₁ to their derivative."""
    C, R, K = room.C1, balance.R, balance.K
    for i in range(len(R)):
        for j in range(len(R)):
            R[i] += C[i, j] * v[j]
            K[i, j] += c_v * C[i, j]
