"""The barrier between the sides of stencils: energy, gradient and Hessian.

Of a stencil with distance d, reach d̂ and weight K [J]

    B = K m(x) b(d²/d̂²)        b(s) = −(s − 1)² ln s  for s < 1

(Li et al., Incremental Potential Contact, 2020, Eq. 6), where m is 1 but for edges that are nearly
parallel (Eq. 24): it takes away the kink that B would have there.
"""

import math

import numpy as np

from supple._kernels.compiling import kernel, pointwise
from supple._kernels.contact.closest import (
    EDGE_EDGE,
    apart,
    closest,
    distance,
    dot_of,
    nearing,
    place,
)

_SWEEPS = 30
_R2 = math.sqrt(2.0)
ROUNDED_UP = 1.0 + 1e-9


@pointwise
def barrier(s):
    """b(s)."""
    return -((s - 1.0) ** 2) * math.log(s) if s < 1.0 else 0.0


@pointwise
def barrier_slope(s):
    """b'(s)."""
    return (1.0 - s) * (2.0 * math.log(s) + 1.0 - 1.0 / s) if s < 1.0 else 0.0


@pointwise
def barrier_curvature(s):
    """b''(s)."""
    return (1.0 / s + 2.0) / s - 2.0 * math.log(s) - 3.0 if s < 1.0 else 0.0


@pointwise
def squared_cross(y):
    """|u × v|² of the edges u = y₁ − y₀ and v = y₃ − y₂."""
    total = 0.0
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        w = (y[1, j] - y[0, j]) * (y[3, k] - y[2, k]) - (y[1, k] - y[0, k]) * (y[3, j] - y[2, j])
        total += w * w
    return total


@pointwise
def mollifier(cross, enough):
    """m of a squared cross product; 1 from ``enough`` on."""
    y = cross / enough
    return (2.0 - y) * y if y < 1.0 else 1.0


@kernel
def squared_distances(kinds, quads, x, first, last, squares):
    """Fills D (k,) of the stencils first to last [m²]."""
    y, c, e, r = np.empty((4, 3)), np.empty(4), np.empty((2, 4)), np.empty(3)
    for k in range(first, last):
        place(x, quads[k], y)
        closest(kinds[k], y, c, e)
        squares[k] = apart(y, c, r)


@kernel
def squares_in_reach(kinds, quads, reach, distances, moved, x, first, last, squares):
    """Fills D (k,) [m²] of the stencils first to last, infinite where that is out of reach.

    They had ``distances`` (k,) before vertices ``moved`` (m,) [m] to x.
    """
    y, c, e, r = np.empty((4, 3)), np.empty(4), np.empty((2, 4)), np.empty(3)
    for k in range(first, last):
        squares[k] = np.inf
        if distances[k] - nearing(kinds[k], quads[k], moved) < ROUNDED_UP * reach[k]:
            place(x, quads[k], y)
            closest(kinds[k], y, c, e)
            D = apart(y, c, r)
            squares[k] = np.inf if reach[k] * reach[k] <= D else D


@kernel
def side_distances(kind, prims, others, sides, x, room, skins, other_skins, first, last, distances):
    """Fills d [m] (k,) of sides first to last, infinite from their room and skins on.

    ``sides`` (k, 2) are of primitives and of others, whose skins are (p,) and (o,); the room (m,)
    is that of the first vertex.
    """
    quad, split = np.empty(4, dtype=np.int64), prims.shape[1]
    y, c, e, r = np.empty((4, 3)), np.empty(4), np.empty((2, 4)), np.empty(3)
    for k in range(first, last):
        p, o = sides[k, 0], sides[k, 1]
        for a in range(4):
            quad[a] = prims[p, a] if a < split else others[o, a - split]
        place(x, quad, y)
        d = distance(kind, y, c, e, r)
        within = d < room[quad[0]] + skins[p] + other_skins[o]
        distances[k] = d if within else np.inf


@kernel
def barrier_forces(kinds, quads, reach, weights, enough, x, first, last, energies, forces):
    """Fills B (k,) and ∇B (k, 4, 3) of the stencils first to last."""
    y, c, e, r = np.empty((4, 3)), np.empty(4), np.empty((2, 4)), np.empty(3)
    gu, gv = np.empty(3), np.empty(3)
    for k in range(first, last):
        place(x, quads[k], y)
        closest(kinds[k], y, c, e)
        D = apart(y, c, r)
        square = reach[k] * reach[k]
        b = weights[k] * barrier(D / square)
        slope = weights[k] * barrier_slope(D / square) / square
        m, turned = 1.0, 0.0
        if kinds[k] == EDGE_EDGE:
            cross = squared_cross(y)
            if cross < enough[k]:
                m = mollifier(cross, enough[k])
                turned = b * 2.0 * (1.0 - cross / enough[k]) / enough[k]
        energies[k] = m * b
        for a in range(4):
            for i in range(3):
                forces[k, a, i] = 2.0 * m * slope * c[a] * r[i]
        if turned != 0.0:
            _cross_slopes(y, gu, gv)
            for i in range(3):
                forces[k, 0, i] -= turned * gu[i]
                forces[k, 1, i] += turned * gu[i]
                forces[k, 2, i] -= turned * gv[i]
                forces[k, 3, i] += turned * gv[i]


@kernel
def add_forces(quads, forces, total):
    """Adds forces of stencils (k, 4, 3) to those of vertices (m, 3), one after the other."""
    for k in range(len(quads)):
        for a in range(4):
            for i in range(3):
                total[quads[k, a], i] += forces[k, a, i]


@kernel
def barrier_blocks(kinds, quads, reach, weights, enough, x, definite, first, last, blocks):
    """Fills ∇²B of stencils first to last as blocks (k, 10, 3, 3) over a ≤ b.

    ``definite`` leaves out its negative eigenvalues.
    """
    y, c, e, r = np.empty((4, 3)), np.empty(4), np.empty((2, 4)), np.empty(3)
    T, A, V = np.empty((2, 3)), np.empty((9, 9)), np.empty((9, 9))
    gu, gv, Z, z = np.empty(3), np.empty(3), _zero_sums(), np.empty((3, 3))
    slope_D, slope_c = np.empty(9), np.empty(9)
    for k in range(first, last):
        place(x, quads[k], y)
        parameters = closest(kinds[k], y, c, e)
        D = apart(y, c, r)
        _perpendicular(y, e, T, parameters)
        square = reach[k] * reach[k]
        b = weights[k] * barrier(D / square)
        b1 = weights[k] * barrier_slope(D / square) / square
        b2 = weights[k] * barrier_curvature(D / square) / (square * square)
        for i in range(3):  # shares in the basis Z
            z[0, i] = z[1, i] = z[2, i] = 0.0
            for a in range(4):
                z[0, i] += Z[a, i] * c[a]
                for j in range(parameters):
                    z[1 + j, i] += Z[a, i] * e[j, a]
        cross = squared_cross(y) if kinds[k] == EDGE_EDGE else 0.0
        if kinds[k] == EDGE_EDGE and cross < enough[k]:
            _mollified(
                y, r, z, T, parameters, cross, enough[k], b, b1, b2, A, gu, gv, slope_D, slope_c
            )
            if definite:
                without_negative(A, V, 9)
            _spread_all(A, Z, blocks[k])
        else:
            _in_normal_and_tangents(D, z, parameters, b1, b2, A)
            if definite:
                without_negative(A, V, 3 + parameters)
            _spread(A, Z, z[0], c, r, math.sqrt(D), T, parameters, blocks[k])
            if not definite:
                _add_rest(b1, c, r, D, T, parameters, blocks[k])


@pointwise
def _zero_sums():
    """An orthonormal basis (4, 3) of the shares that sum to nothing."""
    Z = np.zeros((4, 3))
    Z[0, 0], Z[1, 0] = -1.0 / _R2, 1.0 / _R2
    Z[2, 1], Z[3, 1] = -1.0 / _R2, 1.0 / _R2
    Z[0, 2] = Z[1, 2] = 0.5
    Z[2, 2] = Z[3, 2] = -0.5
    return Z


@pointwise
def _perpendicular(y, e, T, parameters):
    """T_j = Σ e_ja y_a, made orthonormal, and e_j with them."""
    for j in range(parameters):
        for i in range(3):
            T[j, i] = 0.0
            for a in range(4):
                T[j, i] += e[j, a] * y[a, i]
        if j == 1:
            common = T[0, 0] * T[1, 0] + T[0, 1] * T[1, 1] + T[0, 2] * T[1, 2]
            for i in range(3):
                T[1, i] -= common * T[0, i]
            for a in range(4):
                e[1, a] -= common * e[0, a]
        length = math.sqrt(T[j, 0] ** 2 + T[j, 1] ** 2 + T[j, 2] ** 2)
        for i in range(3):
            T[j, i] /= length
        for a in range(4):
            e[j, a] /= length


@pointwise
def _in_normal_and_tangents(D, z, parameters, b1, b2, A):
    """∇²B in the 3 + k directions Z ⊗ n and ĉ ⊗ t_j; in the others it is negative or nothing.

    Of D = min |r|², the Hessian is that with the closest points held still less what their moving
    saves (the Schur complement): ½ ∇²D = c cᵀ ⊗ I − Σ_j m_j m_jᵀ, m_j = c ⊗ t_j + d e_j ⊗ n.
    """
    across = 4.0 * D * b2 + 2.0 * b1  # ∂²B/∂d²
    length = math.sqrt(z[0, 0] ** 2 + z[0, 1] ** 2 + z[0, 2] ** 2)
    d = math.sqrt(D)
    for p in range(3):
        for q in range(3):
            A[p, q] = across * z[0, p] * z[0, q]
            for j in range(parameters):
                A[p, q] -= 2.0 * b1 * D * z[1 + j, p] * z[1 + j, q]
        for j in range(parameters):
            A[p, 3 + j] = A[3 + j, p] = -2.0 * b1 * d * length * z[1 + j, p]
    for i in range(parameters):
        for j in range(parameters):
            A[3 + i, 3 + j] = 0.0


@pointwise
def _spread(A, Z, zc, c, r, d, T, parameters, blocks):
    """Blocks over a ≤ b of a matrix on Z ⊗ n and ĉ ⊗ t_j."""
    length = math.sqrt(zc[0] ** 2 + zc[1] ** 2 + zc[2] ** 2)
    s = 0
    for a in range(4):
        for b in range(a, 4):
            normal = 0.0
            for p in range(3):
                for q in range(3):
                    normal += Z[a, p] * A[p, q] * Z[b, q]
            for i in range(3):
                for j in range(3):
                    blocks[s, i, j] = normal * r[i] * r[j] / (d * d)
            for l in range(parameters):
                left = right = 0.0
                for p in range(3):
                    left += Z[a, p] * A[p, 3 + l]
                    right += Z[b, p] * A[p, 3 + l]
                left *= c[b] / (length * d)
                right *= c[a] / (length * d)
                for i in range(3):
                    for j in range(3):
                        blocks[s, i, j] += left * r[i] * T[l, j] + right * T[l, i] * r[j]
                for m in range(parameters):
                    both = A[3 + l, 3 + m] * c[a] * c[b] / (length * length)
                    for i in range(3):
                        for j in range(3):
                            blocks[s, i, j] += both * T[l, i] * T[m, j]
            s += 1


@pointwise
def _add_rest(b1, c, r, D, T, parameters, blocks):
    """2 ∂B/∂D c cᵀ in the directions that are neither the normal nor tangents."""
    s = 0
    for a in range(4):
        for b in range(a, 4):
            size = 2.0 * b1 * c[a] * c[b]
            for i in range(3):
                for j in range(3):
                    rest = (1.0 if i == j else 0.0) - r[i] * r[j] / D
                    for l in range(parameters):
                        rest -= T[l, i] * T[l, j]
                    blocks[s, i, j] += size * rest
            s += 1


@pointwise
def _cross_slopes(y, gu, gv):
    """The derivatives of |u × v|² = |u|²|v|² − (u·v)²."""
    uu, vv, uv = dot_of(y, 0, 1, 0, 1), dot_of(y, 2, 3, 2, 3), dot_of(y, 0, 1, 2, 3)
    for i in range(3):
        u, v = y[1, i] - y[0, i], y[3, i] - y[2, i]
        gu[i], gv[i] = 2.0 * (vv * u - uv * v), 2.0 * (uu * v - uv * u)


@pointwise
def _mollified(y, r, z, T, parameters, cross, enough, b, b1, b2, A, gu, gv, slope_D, slope_c):
    """∇²(m B) of two edges in the nine directions Z ⊗ I."""
    ratio = cross / enough
    m, m1, m2 = (2.0 - ratio) * ratio, 2.0 * (1.0 - ratio) / enough, -2.0 / (enough * enough)
    uu, vv, uv = dot_of(y, 0, 1, 0, 1), dot_of(y, 2, 3, 2, 3), dot_of(y, 0, 1, 2, 3)
    _cross_slopes(y, gu, gv)
    for p in range(3):
        for i in range(3):
            slope_D[3 * p + i] = 2.0 * z[0, p] * r[i]
            slope_c[3 * p + i] = _R2 * (gu[i] if p == 0 else (gv[i] if p == 1 else 0.0))
    for p in range(3):
        for i in range(3):
            row = 3 * p + i
            for q in range(3):
                for j in range(3):
                    col, same = 3 * q + j, 1.0 if i == j else 0.0
                    bent = z[0, p] * z[0, q] * same
                    for l in range(parameters):
                        bent -= (z[0, p] * T[l, i] + z[1 + l, p] * r[i]) * (
                            z[0, q] * T[l, j] + z[1 + l, q] * r[j]
                        )
                    u_i, v_i = y[1, i] - y[0, i], y[3, i] - y[2, i]
                    u_j, v_j = y[1, j] - y[0, j], y[3, j] - y[2, j]
                    turned = 0.0  # second derivatives of |u × v|², halved
                    if p == 0 and q == 0:
                        turned = vv * same - v_i * v_j
                    elif p == 1 and q == 1:
                        turned = uu * same - u_i * u_j
                    elif p == 0 and q == 1:
                        turned = 2.0 * u_i * v_j - v_i * u_j - uv * same
                    elif p == 1 and q == 0:
                        turned = 2.0 * v_i * u_j - u_i * v_j - uv * same
                    A[row, col] = (
                        m * (b2 * slope_D[row] * slope_D[col] + 2.0 * b1 * bent)
                        + m1 * b1 * (slope_c[row] * slope_D[col] + slope_D[row] * slope_c[col])
                        + b * (m2 * slope_c[row] * slope_c[col] + 4.0 * m1 * turned)
                    )


@pointwise
def _spread_all(A, Z, blocks):
    """Blocks over a ≤ b of a matrix on Z ⊗ I."""
    s = 0
    for a in range(4):
        for b in range(a, 4):
            for i in range(3):
                for j in range(3):
                    total = 0.0
                    for p in range(3):
                        for q in range(3):
                            total += Z[a, p] * A[3 * p + i, 3 * q + j] * Z[b, q]
                    blocks[s, i, j] = total
            s += 1


@pointwise
def without_negative(A, V, size):
    """A (size, size), symmetric, without its negative eigenvalues, by Jacobi's rotations."""
    largest = 0.0
    for p in range(size):
        for q in range(size):
            V[p, q] = 1.0 if p == q else 0.0
            largest = max(largest, abs(A[p, q]))
    if largest == 0.0:
        return
    tiny = 1e-17 * largest
    for _ in range(_SWEEPS):
        turned = False
        for p in range(size - 1):
            for q in range(p + 1, size):
                if abs(A[p, q]) <= tiny:
                    continue
                turned = True
                theta = (A[q, q] - A[p, p]) / (2.0 * A[p, q])
                t = (1.0 if theta >= 0.0 else -1.0) / (abs(theta) + math.sqrt(theta * theta + 1.0))
                cosine = 1.0 / math.sqrt(t * t + 1.0)
                sine = t * cosine
                for i in range(size):
                    first, second = A[i, p], A[i, q]
                    A[i, p] = cosine * first - sine * second
                    A[i, q] = sine * first + cosine * second
                for i in range(size):
                    first, second = A[p, i], A[q, i]
                    A[p, i] = cosine * first - sine * second
                    A[q, i] = sine * first + cosine * second
                    first, second = V[i, p], V[i, q]
                    V[i, p] = cosine * first - sine * second
                    V[i, q] = sine * first + cosine * second
        if not turned:
            break
    for i in range(size):  # the rotated diagonal is no longer needed once it is in V
        root = math.sqrt(max(A[i, i], 0.0))
        for p in range(size):
            V[p, i] *= root
    for p in range(size):
        for q in range(size):
            total = 0.0
            for i in range(size):
                total += V[p, i] * V[q, i]
            A[p, q] = total
