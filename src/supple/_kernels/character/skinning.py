"""Skins on joints: linear and dual quaternion blends of the moves of bones.

A pose is one array: for each of j joints its translation (3), its turn, a quaternion x, y, z, w of
any length (4), and its scale (3), in its parent; parents come before their children.
"""

import math

import numpy as np

from supple._kernels.compiling import kernel, pointwise
from supple._kernels.linear_algebra.rotations import round_to_rotations
from supple._kernels.linear_algebra.svd3 import svd3
from supple._kernels.linear_algebra.tensors import multiply, multiply_by_transpose

JOINT = 10
"""Numbers of a joint in a pose."""
COLLAPSED = 0.1
"""Share of the largest stretch below which a direction counts as lost."""


@kernel
def place_joints(pose, parents, turns, world):
    """From joints to the world: turns (j, 4), quaternions without scales, and world (j, 3, 4).

    Returns the first joint whose turn is no rotation, or −1.
    """
    R = np.empty((3, 3))
    for k in range(len(parents)):
        at, above = JOINT * k, parents[k]
        x, y, z, w = pose[at + 3], pose[at + 4], pose[at + 5], pose[at + 6]
        length = math.sqrt(x * x + y * y + z * z + w * w)
        if not 0.0 < length < np.inf:
            return k
        x, y, z, w = x / length, y / length, z / length, w / length
        _turn_matrix(x, y, z, w, R)
        if above < 0:
            turns[k, 0], turns[k, 1], turns[k, 2], turns[k, 3] = x, y, z, w
            for i in range(3):
                for j in range(3):
                    world[k, i, j] = R[i, j] * pose[at + 7 + j]
                world[k, i, 3] = pose[at + i]
            continue
        _product(turns[above], x, y, z, w, turns[k])
        for i in range(3):
            a, b, c = world[above, i, 0], world[above, i, 1], world[above, i, 2]
            for j in range(3):
                world[k, i, j] = (a * R[0, j] + b * R[1, j] + c * R[2, j]) * pose[at + 7 + j]
            world[k, i, 3] = a * pose[at] + b * pose[at + 1] + c * pose[at + 2] + world[above, i, 3]
    return -1


@kernel
def move_bones(world, joints, inverse_binds, moves):
    """moves (b, 3, 4) = world of the joint of each bone, times its inverse bind (b, 4, 4)."""
    for b in range(len(joints)):
        W, B = world[joints[b]], inverse_binds[b]
        for i in range(3):
            for j in range(4):
                moves[b, i, j] = W[i, 0] * B[0, j] + W[i, 1] * B[1, j] + W[i, 2] * B[2, j]
            moves[b, i, 3] += W[i, 3]


@kernel
def split_moves(moves, duals, stretches):
    """Each move (b, 3, 4) as a stretch (b, 3, 3) and then a unit dual quaternion (b, 8)."""
    F, U, sigma, V = np.empty((3, 3)), np.empty((3, 3)), np.empty(3), np.empty((3, 3))
    for b in range(len(moves)):
        F[:] = moves[b, :, :3]
        svd3(F, U, sigma, V)
        multiply_by_transpose(U, V, F)
        for i in range(3):
            for j in range(3):
                stretches[b, i, j] = (
                    sigma[0] * V[i, 0] * V[j, 0]
                    + sigma[1] * V[i, 1] * V[j, 1]
                    + sigma[2] * V[i, 2] * V[j, 2]
                )
        _quaternion(F, duals[b])
        x, y, z, w = duals[b, 0], duals[b, 1], duals[b, 2], duals[b, 3]
        a, c, d = 0.5 * moves[b, 0, 3], 0.5 * moves[b, 1, 3], 0.5 * moves[b, 2, 3]
        duals[b, 4] = a * w + c * z - d * y  # half the shift, times the turn
        duals[b, 5] = c * w + d * x - a * z
        duals[b, 6] = d * w + a * y - c * x
        duals[b, 7] = -(a * x + c * y + d * z)


@kernel
def blend_linear(moves, bones, weights, which, A, t):
    """The blended move of each vertex of ``which`` (k,): x ↦ A x + t, (k, 3, 3) and (k, 3)."""
    for n in range(len(which)):
        v = which[n]
        A[n] = 0.0
        t[n] = 0.0
        for s in range(bones.shape[1]):
            share = weights[v, s]
            if share == 0.0:
                continue
            M = moves[bones[v, s]]
            for i in range(3):
                A[n, i, 0] += share * M[i, 0]
                A[n, i, 1] += share * M[i, 1]
                A[n, i, 2] += share * M[i, 2]
                t[n, i] += share * M[i, 3]


@kernel
def blend_dual_quaternions(duals, stretches, bones, weights, which, A, t):
    """The same by the dual quaternions of bones, in the sign of the one that counts most.

    Stretches are blended first, as matrices.
    """
    q = np.empty(8)
    S, R = np.empty((3, 3)), np.empty((3, 3))
    for n in range(len(which)):
        v = which[n]
        most = 0
        for s in range(1, bones.shape[1]):
            if weights[v, s] > weights[v, most]:
                most = s
        main = duals[bones[v, most]]
        q[:] = 0.0
        S[:] = 0.0
        for s in range(bones.shape[1]):
            share = weights[v, s]
            if share == 0.0:
                continue
            b = bones[v, s]
            d = duals[b]
            for i in range(3):
                for j in range(3):
                    S[i, j] += share * stretches[b, i, j]
            if d[0] * main[0] + d[1] * main[1] + d[2] * main[2] + d[3] * main[3] < 0.0:
                share = -share
            for i in range(8):
                q[i] += share * d[i]
        length = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
        x, y, z, w = q[0] / length, q[1] / length, q[2] / length, q[3] / length
        a, b_, c, d_ = q[4] / length, q[5] / length, q[6] / length, q[7] / length
        t[n, 0] = 2.0 * (w * a - d_ * x + y * c - z * b_)
        t[n, 1] = 2.0 * (w * b_ - d_ * y + z * a - x * c)
        t[n, 2] = 2.0 * (w * c - d_ * z + x * b_ - y * a)
        _turn_matrix(x, y, z, w, R)
        multiply(R, S, A[n])


@kernel
def move_vertices(A, t, X, x):
    """x (k, 3) = A X + t, each vertex X (k, 3) by its own move."""
    for n in range(len(X)):
        for i in range(3):
            x[n, i] = A[n, i, 0] * X[n, 0] + A[n, i, 1] * X[n, 1] + A[n, i, 2] * X[n, 2] + t[n, i]


@kernel
def times_back(A, back, which, G):
    """G (k, 3, 3) = A (k, 3, 3) times ``back`` (n, 3, 3) at ``which``."""
    for n in range(len(which)):
        B = back[which[n]]
        for i in range(3):
            for j in range(3):
                G[n, i, j] = A[n, i, 0] * B[0, j] + A[n, i, 1] * B[1, j] + A[n, i, 2] * B[2, j]


@kernel
def nearest_rotations(A, back, which, R):
    """R (k, 3, 3): the rotations nearest to A (k, 3, 3) times ``back`` (n, 3, 3) at ``which``."""
    times_back(A, back, which, R)
    round_to_rotations(R)


@kernel
def undo(A, d, out):
    """out (k, 3) with A out = d, for each of k matrices A (k, 3, 3).

    Along a direction that A squeezes to less than ``COLLAPSED`` of its largest stretch, the answer
    falls to 0 as that stretch does, in place of growing without bounds.
    """
    U, sigma, V = np.empty((3, 3)), np.empty(3), np.empty((3, 3))
    for n in range(len(A)):
        svd3(A[n], U, sigma, V)
        least = COLLAPSED * sigma[0]
        out[n] = 0.0
        for s in range(3):
            along = U[0, s] * d[n, 0] + U[1, s] * d[n, 1] + U[2, s] * d[n, 2]
            if abs(sigma[s]) >= least > 0.0:
                along /= sigma[s]
            elif least > 0.0:
                along *= sigma[s] / (least * least)
            else:
                along = 0.0
            for i in range(3):
                out[n, i] += along * V[i, s]


@kernel
def compare_joints(turns, world, rest_turns, pairs, places, length, out):
    """How joints of each pair (p, 2) lie to each other, other than at rest: out (p, 12).

    The first nine: the turn of the second in the frame of the first, less the one at rest, over √2.
    The rest: how far the second has slid at ``places`` (p, 2, 3), which is one place in the frames
    of both, over a ``length``.
    """
    one, two, back = np.empty(4), np.empty(4), np.empty(4)
    R, T = np.empty((3, 3)), np.empty((3, 3))
    gap = np.empty(3)
    root = math.sqrt(0.5)
    for p in range(len(pairs)):
        a, b = pairs[p, 0], pairs[p, 1]
        r, s = rest_turns[a], rest_turns[b]
        _product(turns[a], -r[0], -r[1], -r[2], r[3], one)  # since rest
        _product(turns[b], -s[0], -s[1], -s[2], s[3], two)
        back[0], back[1], back[2], back[3] = -one[0], -one[1], -one[2], one[3]
        _turn_matrix(back[0], back[1], back[2], back[3], T)
        _product(back, two[0], two[1], two[2], two[3], one)
        _turn_matrix(one[0], one[1], one[2], one[3], R)
        for i in range(3):
            there, here = world[b, i, 3], world[a, i, 3]
            for j in range(3):
                out[p, 3 * i + j] = root * (R[i, j] - (1.0 if i == j else 0.0))
                there += world[b, i, j] * places[p, 1, j]
                here += world[a, i, j] * places[p, 0, j]
            gap[i] = (there - here) / length
        for i in range(3):
            out[p, 9 + i] = T[i, 0] * gap[0] + T[i, 1] * gap[1] + T[i, 2] * gap[2]


@pointwise
def _product(p, x, y, z, w, out):
    """out = p (x, y, z, w), quaternions; out may not be p."""
    a, b, c, d = p[0], p[1], p[2], p[3]
    out[0] = d * x + a * w + b * z - c * y
    out[1] = d * y - a * z + b * w + c * x
    out[2] = d * z + a * y - b * x + c * w
    out[3] = d * w - a * x - b * y - c * z


@pointwise
def _turn_matrix(x, y, z, w, R):
    """The matrix of a quaternion of length 1."""
    R[0, 0] = 1.0 - 2.0 * (y * y + z * z)
    R[0, 1] = 2.0 * (x * y - z * w)
    R[0, 2] = 2.0 * (x * z + y * w)
    R[1, 0] = 2.0 * (x * y + z * w)
    R[1, 1] = 1.0 - 2.0 * (x * x + z * z)
    R[1, 2] = 2.0 * (y * z - x * w)
    R[2, 0] = 2.0 * (x * z - y * w)
    R[2, 1] = 2.0 * (y * z + x * w)
    R[2, 2] = 1.0 - 2.0 * (x * x + y * y)


@pointwise
def _quaternion(R, q):
    """The first four of q: the quaternion of a rotation, by its largest part."""
    trace = R[0, 0] + R[1, 1] + R[2, 2]
    k = 3
    largest = trace
    for i in range(3):
        if R[i, i] > largest:
            k, largest = i, R[i, i]
    if k == 3:
        size = 2.0 * math.sqrt(max(1.0 + trace, 0.0))
        q[3] = 0.25 * size
        q[0] = (R[2, 1] - R[1, 2]) / size
        q[1] = (R[0, 2] - R[2, 0]) / size
        q[2] = (R[1, 0] - R[0, 1]) / size
        return
    i, j = (k + 1) % 3, (k + 2) % 3
    size = 2.0 * math.sqrt(max(1.0 + R[k, k] - R[i, i] - R[j, j], 0.0))
    q[k] = 0.25 * size
    q[3] = (R[j, i] - R[i, j]) / size
    q[i] = (R[i, k] + R[k, i]) / size
    q[j] = (R[j, k] + R[k, j]) / size


@kernel
def skin_linear(moves, bones, weights, which, X, x):
    """x (k, 3) = Σ_b w_b M_b X of the vertices X (k, 3), which are those of ``which`` (k,)."""
    for n in range(len(which)):
        v = which[n]
        p0, p1, p2 = X[n, 0], X[n, 1], X[n, 2]
        x0, x1, x2 = 0.0, 0.0, 0.0
        for s in range(bones.shape[1]):
            share = weights[v, s]
            if share == 0.0:
                continue
            M = moves[bones[v, s]]
            x0 += share * (M[0, 0] * p0 + M[0, 1] * p1 + M[0, 2] * p2 + M[0, 3])
            x1 += share * (M[1, 0] * p0 + M[1, 1] * p1 + M[1, 2] * p2 + M[1, 3])
            x2 += share * (M[2, 0] * p0 + M[2, 1] * p1 + M[2, 2] * p2 + M[2, 3])
        x[n, 0], x[n, 1], x[n, 2] = x0, x1, x2


@kernel
def carry_points(moves, starts, bones, spans, x, G):
    """Points between vertices of a linear blend: x (k, 3) and G (k, 3, 3).

    Those of ``spans`` (e, 13) from starts[n] on, each with its bone, make up point n: with a matrix
    B, a place p and a weight s (3 × 4 numbers, rows of B and p in turn, and s), x is the sum of
    M p + s t over the bones' moves (M, t), and G that of M B.
    """
    for n in range(len(x)):
        g00, g01, g02, x0 = 0.0, 0.0, 0.0, 0.0
        g10, g11, g12, x1 = 0.0, 0.0, 0.0, 0.0
        g20, g21, g22, x2 = 0.0, 0.0, 0.0, 0.0
        for e in range(starts[n], starts[n + 1]):
            M, D = moves[bones[e]], spans[e]
            s = D[12]
            x0, x1, x2 = x0 + s * M[0, 3], x1 + s * M[1, 3], x2 + s * M[2, 3]
            for j in range(3):
                a, b, c, p = D[4 * j], D[4 * j + 1], D[4 * j + 2], D[4 * j + 3]
                m0, m1, m2 = M[0, j], M[1, j], M[2, j]
                g00, g01, g02, x0 = g00 + m0 * a, g01 + m0 * b, g02 + m0 * c, x0 + m0 * p
                g10, g11, g12, x1 = g10 + m1 * a, g11 + m1 * b, g12 + m1 * c, x1 + m1 * p
                g20, g21, g22, x2 = g20 + m2 * a, g21 + m2 * b, g22 + m2 * c, x2 + m2 * p
        x[n, 0], x[n, 1], x[n, 2] = x0, x1, x2
        G[n, 0, 0], G[n, 0, 1], G[n, 0, 2] = g00, g01, g02
        G[n, 1, 0], G[n, 1, 1], G[n, 1, 2] = g10, g11, g12
        G[n, 2, 0], G[n, 2, 1], G[n, 2, 2] = g20, g21, g22
