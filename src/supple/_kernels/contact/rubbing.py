"""Friction between the sides of stencils, as a dissipation function that no rigid motion feels.

The sides of a stencil slip past each other by

    τ = P (Σ c_a v_a − ω × r)        P = I − n ⊗ n,   r = Σ c_a x_a = d n,

where ω is the angular velocity of a *frame*: a triangle of one of the sides, or where there is
none, what turns the normal of two edges. Without ω the sides would slip as they turn together, and
the forces, which act a distance d apart, would have a torque. So τ = Σ J_a v_a over up to six
vertices, and R = Σ L f₀(|τ|) has forces that sum to nothing and have no torque.
"""

import math

import numpy as np

from supple._kernels.compiling import kernel, pointwise
from supple._kernels.contact.barriers import barrier_slope, mollifier, squared_cross
from supple._kernels.contact.closest import EDGE_EDGE, apart, closest, dot_of, place

SLOTS = 6
NONE = -1
_LEVEL = 0.1
"""Sine of the angle between edges below which their normal is not turned by them."""


@kernel
def lagged_friction(
    kinds, quads, reach, weights, enough, frames, x, friction, first, last, limits, vertices, J
):
    """Fills L [N] (k,), the vertices (k, 6) and J (k, 6, 2, 3) of stencils first to last.

    ``frames`` are (k, 3), −1 where there is none, as are slots that are not needed.
    """
    y, c, e, r = np.empty((4, 3)), np.empty(4), np.empty((2, 4)), np.empty(3)
    along, n = np.empty((2, 3)), np.empty(3)
    for k in range(first, last):
        place(x, quads[k], y)
        closest(kinds[k], y, c, e)
        D = apart(y, c, r)
        d, square = math.sqrt(D), reach[k] * reach[k]
        force = -2.0 * d * weights[k] * barrier_slope(D / square) / square
        if kinds[k] == EDGE_EDGE:
            force *= mollifier(squared_cross(y), enough[k])
        limits[k] = friction * force
        for i in range(3):
            n[i] = r[i] / d
        _tangents(n, along)
        for s in range(SLOTS):
            vertices[k, s] = quads[k, s] if s < 4 else NONE
            for t in range(2):
                for i in range(3):
                    J[k, s, t, i] = c[s] * along[t, i] if s < 4 else 0.0
        if frames[k, 0] != NONE:
            _turned_with_triangle(x, frames[k], d, n, along, vertices[k], J[k])
        elif kinds[k] == EDGE_EDGE:
            _turned_with_edges(y, d, n, along, J[k])


@pointwise
def _tangents(n, along):
    """Two directions (2, 3) that are perpendicular to n and to each other."""
    least = 0
    for i in range(1, 3):
        if abs(n[i]) < abs(n[least]):
            least = i
    length = math.sqrt(1.0 - n[least] * n[least])
    for i in range(3):
        along[0, i] = ((1.0 if i == least else 0.0) - n[least] * n[i]) / length
    for i in range(3):
        j, l = (i + 1) % 3, (i + 2) % 3
        along[1, i] = n[j] * along[0, l] - n[l] * along[0, j]


@pointwise
def _turned_with_triangle(x, frame, d, n, along, vertices, J):
    """Take off P (ω × r), with ω = S⁻¹ Σ ρ_a × v_a of the frame, S = Σ |ρ_a|² I − ρ_a ρ_aᵀ.

    ρ are its vertices from their middle, and t · (ω × r) = ω · (r × t).
    """
    rho, S = np.empty((3, 3)), np.zeros((3, 3))
    for i in range(3):
        mean = (x[frame[0], i] + x[frame[1], i] + x[frame[2], i]) / 3.0
        for a in range(3):
            rho[a, i] = x[frame[a], i] - mean
    for a in range(3):
        whole = rho[a, 0] ** 2 + rho[a, 1] ** 2 + rho[a, 2] ** 2
        for i in range(3):
            S[i, i] += whole
            for j in range(3):
                S[i, j] -= rho[a, i] * rho[a, j]
    det = (
        S[0, 0] * (S[1, 1] * S[2, 2] - S[1, 2] * S[2, 1])
        - S[0, 1] * (S[1, 0] * S[2, 2] - S[1, 2] * S[2, 0])
        + S[0, 2] * (S[1, 0] * S[2, 1] - S[1, 1] * S[2, 0])
    )
    turn, lever = np.empty(3), np.empty(3)
    for t in range(2):
        for i in range(3):
            j, l = (i + 1) % 3, (i + 2) % 3
            lever[i] = d * (n[j] * along[t, l] - n[l] * along[t, j])
        for i in range(3):
            turn[i] = 0.0
            for j in range(3):  # S⁻¹ by its cofactors
                a, b, p, q = (i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3
                turn[i] += (S[a, p] * S[b, q] - S[a, q] * S[b, p]) / det * lever[j]
        for a in range(3):
            slot = 0
            while vertices[slot] != frame[a] and vertices[slot] != NONE:
                slot += 1
            vertices[slot] = frame[a]
            for i in range(3):  # turn · (ρ × v) = (turn × ρ) · v
                j, l = (i + 1) % 3, (i + 2) % 3
                J[slot, t, i] -= turn[j] * rho[a, l] - turn[l] * rho[a, j]


@pointwise
def _turned_with_edges(y, d, n, along, J):
    """Take off d ṅ, where ṅ · u = −n · u̇ of both edges u.

    Where their ways across n are nearly parallel, or one has hardly any, the longer tells it alone.
    """
    u0 = u1 = v0 = v1 = 0.0  # edges across n
    for i in range(3):
        u0 += along[0, i] * (y[1, i] - y[0, i])
        u1 += along[1, i] * (y[1, i] - y[0, i])
        v0 += along[0, i] * (y[3, i] - y[2, i])
        v1 += along[1, i] * (y[3, i] - y[2, i])
    A, B, span = u0 * u0 + u1 * u1, v0 * v0 + v1 * v1, u0 * v1 - u1 * v0
    level = span * span < _LEVEL * _LEVEL * dot_of(y, 0, 1, 0, 1) * dot_of(y, 2, 3, 2, 3)
    for t in range(2):
        if level:
            f, g = 0.0, 0.0
            if A >= B:
                f = (u0 if t == 0 else u1) / A
            else:
                g = (v0 if t == 0 else v1) / B
        else:
            f, g = (v1 if t == 0 else -v0) / span, (-u1 if t == 0 else u0) / span
        for i in range(3):
            J[0, t, i] -= d * f * n[i]
            J[1, t, i] += d * f * n[i]
            J[2, t, i] -= d * g * n[i]
            J[3, t, i] += d * g * n[i]


@pointwise
def _slip(vertices, J, v, tau):
    """Fills τ (2,); returns its length."""
    for t in range(2):
        tau[t] = 0.0
        for s in range(SLOTS):
            if vertices[s] != NONE:
                for i in range(3):
                    tau[t] += J[s, t, i] * v[vertices[s], i]
    return math.sqrt(tau[0] * tau[0] + tau[1] * tau[1])


@pointwise
def _slope(y, sticking):
    """f₁(y)/y: 2/ε − y/ε² below the sticking speed ε, then 1/y."""
    return (2.0 - y / sticking) / sticking if y < sticking else 1.0 / y


@kernel
def friction_forces(limits, vertices, J, v, sticking, total):
    """Adds ∇R to ``total`` (m, 3), stencil by stencil; returns R [W].

    f₀(y) = y²/ε − y³/(3 ε²) + ε/3 below the sticking speed ε, then y.
    """
    dissipation, tau = 0.0, np.empty(2)
    for k in range(len(limits)):
        y = _slip(vertices[k], J[k], v, tau)
        if y < sticking:
            dissipation += limits[k] * (
                y * y / sticking * (1.0 - y / (3.0 * sticking)) + sticking / 3.0
            )
        else:
            dissipation += limits[k] * y
        slope = limits[k] * _slope(y, sticking)
        for s in range(SLOTS):
            if vertices[k, s] != NONE:
                for i in range(3):
                    total[vertices[k, s], i] += slope * (
                        J[k, s, 0, i] * tau[0] + J[k, s, 1, i] * tau[1]
                    )
    return dissipation


@kernel
def friction_curvatures(
    limits, vertices, J, v, sticking, factor, majorized, first, last, curvatures
):
    """Fills H (k, 2, 2) of stencils first to last: ``factor`` ∇²R is Σ J_aᵀ H J_b over their slots.

    Along the slip of what slides, R is level: steps of Newton's method would not notice where it
    would stick, and go past. ``majorized`` ones are of the parabola that touches f₀ at |τ| and lies
    above it elsewhere: f₁(|τ|)/|τ| all round.
    """
    tau = np.empty(2)
    for k in range(first, last):
        y = _slip(vertices[k], J[k], v, tau)
        slope = factor * limits[k] * _slope(y, sticking)
        bend = 0.0
        if not majorized and y > 0.0:  # f₂ − f₁/y over y²
            within = -1.0 / (sticking * sticking * y) if y < sticking else -1.0 / (y * y * y)
            bend = factor * limits[k] * within
        for p in range(2):
            for q in range(2):
                curvatures[k, p, q] = (slope if p == q else 0.0) + bend * tau[p] * tau[q]
