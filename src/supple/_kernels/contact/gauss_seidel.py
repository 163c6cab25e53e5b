"""Contacts of vertices that press on one body together: projected block Gauss–Seidel.

A force f_c at the vertex of contact c moves that of contact j by T_cj f_c + G_jᵀ H G_c f_c; the
latter is the body that turns as a whole, by θ = H Σ G_c f_c. Each contact in turn finds its force
with those of the others given, in closed form, as in ``vertices``.
"""

import math

import numpy as np

from supple._kernels.compiling import kernel


@kernel
def solve_contacts(T, G, H, normal, offset, origin, friction, places, forces, tolerance, sweeps):
    """Forces (k, 3) [N] and places (k, 3) [m] with them; returns how far places moved at last [m].

    ``T`` is (k, k, p, m): 3 × 3 blocks, or p numbers on their diagonals if m = 1, of which there
    may be one for all coordinates. ``G`` is (3, k, 3), or (0, k, 3) where the body does not turn,
    and ``H`` (3, 3). ``places`` are those with the ``forces`` given; both change.
    """
    k = len(forces)
    p, m = T.shape[2], T.shape[3]
    turns = G.shape[0] > 0
    weight = np.zeros(k)
    turn = np.zeros(3)  # since the beginning: places take it in when they are looked at
    torque = np.empty(3)
    own = np.empty((3, 3))
    for c in range(k):
        own[:] = 0.0
        for a in range(3):
            for b in range(3):
                if m == 3:
                    own[a, b] = T[c, c, a, b]
                elif a == b:
                    own[a, b] = T[c, c, a if p == 3 else 0, 0]
                if turns:
                    for i in range(3):
                        for j in range(3):
                            own[a, b] += G[i, c, a] * H[i, j] * G[j, c, b]
        most = 0.0
        for a in range(3):
            most = max(most, abs(own[a, 0]) + abs(own[a, 1]) + abs(own[a, 2]))
        weight[c] = 1.0 / most if most > 0.0 else 0.0
    change = np.empty(3)
    s = np.empty(3)
    at = np.empty((3, k))  # places, each coordinate by itself: sums over contacts are then fast
    for i in range(3):
        for c in range(k):
            at[i, c] = places[c, i]
    moved = 0.0
    for _ in range(sweeps):
        moved = 0.0
        for c in range(k):
            w = weight[c]
            if w == 0.0:  # supports hold it
                continue
            n0, n1, n2 = normal[c, 0], normal[c, 1], normal[c, 2]
            for i in range(3):
                s[i] = at[i, c] - forces[c, i] / w
                if turns:
                    s[i] += G[0, c, i] * turn[0] + G[1, c, i] * turn[1] + G[2, c, i] * turn[2]
            depth = max(offset[c] - (n0 * s[0] + n1 * s[1] + n2 * s[2]), 0.0)
            limit = friction[c] * depth
            t0, t1, t2 = s[0] - origin[c, 0], s[1] - origin[c, 1], s[2] - origin[c, 2]
            along = n0 * t0 + n1 * t1 + n2 * t2
            t0, t1, t2 = t0 - along * n0, t1 - along * n1, t2 - along * n2
            slip = math.sqrt(t0 * t0 + t1 * t1 + t2 * t2)
            back = 0.0
            if limit > 0.0:
                back = 1.0 if slip <= limit else limit / slip
            square = 0.0
            for i in range(3):
                t_i = t0 if i == 0 else (t1 if i == 1 else t2)
                change[i] = w * (depth * normal[c, i] - back * t_i) - forces[c, i]
                square += change[i] * change[i]
            if square == 0.0:
                continue
            moved = max(moved, math.sqrt(square) / w)
            for i in range(3):
                forces[c, i] += change[i]
            if turns:
                for a in range(3):
                    torque[a] = 0.0
                    for i in range(3):
                        torque[a] += G[a, c, i] * change[i]
                for a in range(3):
                    turn[a] += H[a, 0] * torque[0] + H[a, 1] * torque[1] + H[a, 2] * torque[2]
            if m == 1 and p == 1:
                row = T[c, :, 0, 0]
                for i in range(3):
                    x = change[i]
                    for j in range(k):
                        at[i, j] += row[j] * x
            elif m == 1:
                for i in range(3):
                    for j in range(k):
                        at[i, j] += T[c, j, i, 0] * change[i]
            else:
                for j in range(k):
                    for i in range(3):
                        at[i, j] += (
                            T[c, j, i, 0] * change[0]
                            + T[c, j, i, 1] * change[1]
                            + T[c, j, i, 2] * change[2]
                        )
        if moved <= tolerance:
            break
    for c in range(k):
        for i in range(3):
            places[c, i] = at[i, c]
            if turns:
                places[c, i] += G[0, c, i] * turn[0] + G[1, c, i] * turn[1] + G[2, c, i] * turn[2]
    return moved
