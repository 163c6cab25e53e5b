"""A quartic energy in a few coordinates q: its gradient R and its Hessian K.

    U = Σ_{a≥b} P_ab q_a q_b + Σ_{a≥b≥c} Q_abc q_a q_b q_c + Σ_{a≥b≥c≥d} S_abcd q_a q_b q_c q_d

Each monomial is stored once. Two layouts of the same numbers:

Nested. The pairs (c, d) are numbered c (c + 1)/2 + d, so that those with c ≤ b are the first ones.
Q is one block of pairs for each b, and S one for each (a, b), in lexicographic order; the blocks
are padded with zeros to a multiple of 8, and ``starts`` says where block b begins among those of
b = 0, 1, … . Every coefficient of S is read once and used three times:

    F_b += q_a S_ab      F_a += q_b S_ab      e_ab = Σ_cd S_ab,cd q_c q_d

and K follows from the much smaller F and e.

Paired, for few coordinates. K is linear in q and in the products q_c q_d, each taken twice where c
and d differ. ``rows`` holds r rows of the linear coefficients of all entries (i, j) of K, i ≥ j,
filled up to a multiple of four; then the quadratic ones, a symmetric matrix on the pairs, of which
four rows at a time are stored up to the diagonal, followed by the four by four block on it. There
are up to three times as many numbers as in the nested layout, in loops that are much longer.

Indices are unsigned, which spares the test for negative ones and lets the loops be vectorised.
"""

from typing import NamedTuple

import numpy as np

from supple._kernels.compiling import inlined_kernel, kernel, reordering_kernel

ZERO = np.uint64(0)
ONE = np.uint64(1)
TWO = np.uint64(2)
THREE = np.uint64(3)
FOUR = np.uint64(4)


class Polynomial(NamedTuple):
    """A quartic energy in r coordinates in one of the two layouts, and room to evaluate it.

    Arrays of the other layout are empty. Units are those of a mass-orthonormal basis, with q in
    √kg m and the energy in J.
    """

    P: np.ndarray  # (pairs,) [1/s²]
    Q: np.ndarray  # nested: blocks of pairs, padded [1/(√kg m s²)]
    S: np.ndarray  # nested: blocks of pairs, padded [1/(kg m² s²)]
    starts: np.ndarray  # (r + 1,) where the blocks of Q begin
    rows: np.ndarray  # paired: the rows of q, then the matrix of the pairs
    qq: np.ndarray  # (pairs,) padded; products of coordinates, zero where padding is [kg m²]
    F: np.ndarray  # the size of Q; scratch
    G2: np.ndarray  # (pairs,) padded; scratch
    G3: np.ndarray  # (pairs,) padded; scratch


class RateForm(NamedTuple):
    """A damping matrix B(q) in r coordinates, of second degree, in the paired layout.

    The constant part of an entry is in ``P``, also of those on the diagonal. Without ``rows`` there
    is none. Units are those of a mass-orthonormal basis.
    """

    P: np.ndarray  # (pairs,) [1/s]
    rows: np.ndarray  # the rows of q, then the matrix of the pairs
    qq: np.ndarray  # (pairs,) padded; products of coordinates, zero where padding is [kg m²]
    B2: np.ndarray  # (pairs,) padded; scratch
    B3: np.ndarray  # (pairs,) padded; scratch


@kernel
def lay_out(coefficients, places, factors, out):
    """out[k] = factors[k] · coefficients[places[k]]."""
    for k in range(len(out)):
        out[k] = factors[k] * coefficients[places[k]]


@inlined_kernel
def evaluate_rate(q, form, B):
    """The lower triangle of B at q."""
    P, rows, qq, B2, B3 = form.P, form.rows, form.qq, form.B2, form.B3
    fill_doubled_pairs(q, qq)
    add_rows(q, rows, B2)
    multiply_symmetric(rows, np.uint64(len(q)) * np.uint64(len(B2)), qq, B3)
    row = ZERO
    for i in range(np.uint64(len(q))):
        for j in range(i + ONE):
            B[i, j] = P[row + j] + B2[row + j] + B3[row + j]
        row += i + ONE


@inlined_kernel
def evaluate(q, polynomial, K, R):
    """R = ∇U and the lower triangle of K = ∇²U at q."""
    P, rows, qq, G2 = polynomial.P, polynomial.rows, polynomial.qq, polynomial.G2
    if len(rows) > 0:
        evaluate_paired(q, P, rows, qq, G2, polynomial.G3, K, R)
    else:
        evaluate_nested(
            q, P, polynomial.Q, polynomial.S, polynomial.starts, qq, polynomial.F, G2, K, R
        )


@inlined_kernel
def fill_pairs(q, qq):
    """The products q_c q_d, c ≥ d, in the order of the pairs."""
    place = ZERO
    for c in range(np.uint64(len(q))):
        for d in range(c + ONE):
            qq[place + d] = q[c] * q[d]
        place += c + ONE


@inlined_kernel
def fill_doubled_pairs(q, qq):
    """The same with the products of two different coordinates twice."""
    place = ZERO
    for c in range(np.uint64(len(q))):
        twice = q[c] + q[c]
        for d in range(c):
            qq[place + d] = twice * q[d]
        qq[place + c] = q[c] * q[c]
        place += c + ONE


@reordering_kernel
def evaluate_nested(q, P, Q, S, starts, qq, F, G, K, R):
    """R = ∇U and the lower triangle of K = ∇²U at q; qq, F and G are scratch."""
    r = np.uint64(len(q))
    fill_pairs(q, qq)
    for t in range(np.uint64(len(Q))):
        F[t] = Q[t]
    for t in range(np.uint64(len(P))):
        G[t] = P[t]
    for a in range(r):
        R[a] = 0.0
    # Derivatives with respect to the leading two factors of each monomial, and to one of them.
    s = ZERO
    for a in range(r):
        qa, fa = q[a], starts[a]
        ra = 0.0
        for b in range(a):
            qb, fb = q[b], starts[b]
            n = starts[b + ONE] - fb
            e = 0.0
            for t in range(n):
                x = S[s + t]
                F[fb + t] += qa * x
                F[fa + t] += qb * x
                e += x * qq[t]
            s += n
            K[a, b] = e
            R[b] += qa * e
            ra += qb * e
        n = starts[a + ONE] - fa
        twice = qa + qa
        e = 0.0
        for t in range(n):
            x = S[s + t]
            F[fa + t] += twice * x
            e += x * qq[t]
        s += n
        K[a, a] = e
        R[a] += ra + twice * e
    # The quartic part of Σ q_a F_a is twice that of G = P + Σ q_b (∂/∂b)(cubic and quartic).
    for b in range(r):
        fb = starts[b]
        half = 0.5 * q[b]
        e = 0.0
        for t in range(starts[b + ONE] - fb):
            y = Q[fb + t]
            G[t] += half * (F[fb + t] + y)
            e += y * qq[t]
        R[b] += e
    # Derivatives with respect to one leading and one trailing factor: rows of K from the forms F_a.
    for a in range(r):
        place = starts[a]
        for c in range(a + ONE):
            qc = q[c]
            e = 0.0
            for d in range(c):
                x = F[place + d]
                e += x * q[d]
                K[a, d] += x * qc
            K[a, c] += e + 2.0 * F[place + c] * qc
            place += c + ONE
    # Derivatives with respect to the trailing two.
    row = ZERO
    for c in range(r):
        qc = q[c]
        e = 0.0
        for d in range(c):
            x = G[row + d]
            K[c, d] += x
            e += x * q[d]
            R[d] += x * qc
        x = G[row + c]
        R[c] += e + 2.0 * x * qc
        K[c, c] = 2.0 * (K[c, c] + x)
        row += c + ONE


@inlined_kernel
def evaluate_paired(q, P, rows, qq, K2, K3, K, R):
    """The same from the paired layout; qq, K2 and K3 are scratch, filled up like the rows."""
    r = np.uint64(len(q))
    fill_doubled_pairs(q, qq)
    add_rows(q, rows, K2)
    multiply_symmetric(rows, r * np.uint64(len(K2)), qq, K3)
    # Each homogeneous part of the force is its Jacobian times q over its degree.
    third = 1.0 / 3.0
    row = ZERO
    for i in range(r):
        qi = q[i]
        e = 0.0
        for j in range(i):
            k1, k2, k3 = P[row + j], K2[row + j], K3[row + j]
            K[i, j] = k1 + k2 + k3
            w = k1 + 0.5 * k2 + third * k3
            e += w * q[j]
            R[j] += w * qi
        k1, k2, k3 = 2.0 * P[row + i], K2[row + i], K3[row + i]
        K[i, i] = k1 + k2 + k3
        R[i] = e + (k1 + 0.5 * k2 + third * k3) * qi
        row += i + ONE


@inlined_kernel
def add_rows(x, rows, y):
    """y = Σ_k x_k times row k, for rows that stand one after the other."""
    n = np.uint64(len(y))
    count = np.uint64(len(x))
    for t in range(n):
        y[t] = 0.0
    o0 = ZERO
    k = ZERO
    while k + FOUR <= count:
        x0, x1, x2, x3 = x[k], x[k + ONE], x[k + TWO], x[k + THREE]
        o1 = o0 + n
        o2 = o1 + n
        o3 = o2 + n
        for t in range(n):
            y[t] += (x0 * rows[o0 + t] + x1 * rows[o1 + t]) + (
                x2 * rows[o2 + t] + x3 * rows[o3 + t]
            )
        o0 += FOUR * n
        k += FOUR
    while k < count:
        xk = x[k]
        for t in range(n):
            y[t] += xk * rows[o0 + t]
        o0 += n
        k += ONE


@inlined_kernel
def multiply_symmetric(B, o0, x, y):
    """y = B x for a symmetric matrix stored from place o0 on, four rows at a time."""
    n = np.uint64(len(y))
    p = ZERO
    while p < n:
        x0, x1, x2, x3 = x[p], x[p + ONE], x[p + TWO], x[p + THREE]
        y0, y1, y2, y3 = 0.0, 0.0, 0.0, 0.0
        o1 = o0 + p
        o2 = o1 + p
        o3 = o2 + p
        for t in range(p):
            b0, b1, b2, b3 = B[o0 + t], B[o1 + t], B[o2 + t], B[o3 + t]
            z = x[t]
            y0 += b0 * z
            y1 += b1 * z
            y2 += b2 * z
            y3 += b3 * z
            y[t] += (x0 * b0 + x1 * b1) + (x2 * b2 + x3 * b3)
        o0 = o3 + p
        o1 = o0 + FOUR
        o2 = o1 + FOUR
        o3 = o2 + FOUR
        y[p] = y0 + (B[o0] * x0 + B[o1] * x1) + (B[o2] * x2 + B[o3] * x3)
        y[p + ONE] = (
            y1 + (B[o0 + ONE] * x0 + B[o1 + ONE] * x1) + (B[o2 + ONE] * x2 + B[o3 + ONE] * x3)
        )
        y[p + TWO] = (
            y2 + (B[o0 + TWO] * x0 + B[o1 + TWO] * x1) + (B[o2 + TWO] * x2 + B[o3 + TWO] * x3)
        )
        y[p + THREE] = (
            y3
            + (B[o0 + THREE] * x0 + B[o1 + THREE] * x1)
            + (B[o2 + THREE] * x2 + B[o3 + THREE] * x3)
        )
        o0 = o3 + FOUR
        p += FOUR


@inlined_kernel
def mirror(K):
    """Fills the upper triangle of a symmetric matrix from the lower one."""
    for i in range(np.uint64(len(K))):
        for j in range(i):
            K[j, i] = K[i, j]
