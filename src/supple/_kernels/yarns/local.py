"""What the energies of yarns share: terms of one length or angle, and where their blocks go.

A node has five unknowns: position (3) and the arc lengths u of its warp and v of its weft yarn. A
term along one yarn sees four of them, position and the arc length of that yarn's family (0 warp,
1 weft).
"""

import numpy as np

from supple._kernels.compiling import pointwise
from supple._kernels.linear_algebra.tensors import cross


@pointwise
def reduced(y, D, strain, k, strain_before, w_rate):
    """Derivatives by (y, D) of D ½ k ε² + ½ k w_r (ε − ε_n)², where ε is y/D up to a constant.

    The first part is elastic with the weight D (Eq. 18), the second a step's dissipation (Eq. 12):
    w_r = w_n β/h. Returned: Φ_y, Φ_D, Φ_yy, Φ_yD, Φ_DD.
    """
    e_y, e_D = 1.0 / D, -y / (D * D)
    e_yD, e_DD = -1.0 / (D * D), 2.0 * y / (D * D * D)
    stress = k * (D * strain + w_rate * (strain - strain_before))
    stiff = k * (D + w_rate)
    return (
        stress * e_y,
        stress * e_D + 0.5 * k * strain * strain,
        stiff * e_y * e_y,
        stiff * e_y * e_D + stress * e_yD + k * strain * e_y,
        stiff * e_D * e_D + stress * e_DD + 2.0 * k * strain * e_D,
    )


@pointwise
def positive_part(a, b, c):
    """The positive semidefinite part of [[a, b], [b, c]]."""
    middle, half = 0.5 * (a + c), 0.5 * (a - c)
    radius = np.sqrt(half * half + b * b)
    if middle - radius >= 0.0:
        return a, b, c
    if middle + radius <= 0.0:
        return 0.0, 0.0, 0.0
    top = middle + radius
    scale = 0.5 * top / radius
    return scale * (radius + half), scale * b, scale * (radius - half)


@pointwise
def angle(a, b, da, db, n):
    """The angle between a and b with ∂/∂a, ∂/∂b and the unit normal n; lengths of a and b too.

    Where a and b are parallel any normal is as good as another: one is chosen.
    """
    la = np.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])
    lb = np.sqrt(b[0] * b[0] + b[1] * b[1] + b[2] * b[2])
    cross(a, b, n)
    sine = np.sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2])
    cosine = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    theta = np.arctan2(sine, cosine)
    if sine <= 1e-14 * la * lb:
        least = 0  # the axis that b is farthest from
        for r in range(1, 3):
            if abs(b[r]) < abs(b[least]):
                least = r
        for r in range(3):
            n[r] = -b[least] * b[r] / (lb * lb)
        n[least] += 1.0
        sine = np.sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2])
    for r in range(3):
        n[r] /= sine
    cross(n, a, da)
    cross(n, b, db)
    for r in range(3):  # ∂θ/∂a = −n × a/|a|², ∂θ/∂b = n × b/|b|²
        da[r] /= -(la * la)
        db[r] /= lb * lb
    return theta, la, lb


@pointwise
def angle_hessian(a, b, la, lb, da, db, n, theta, first, second, definite, H):
    """H[:6, :6] = Φ_θθ ∇θ∇θᵀ + Φ_θ ∇²θ over (a, b), or its positive part.

    Across the plane, ∇²θ is cot θ on the diagonal and −1/sin θ beside it; its eigenvalues are
    cot θ/2 and −tan θ/2. Φ_θ is taken to vanish with θ.
    """
    half = 0.5 * theta
    # on n·(δa/|a| − δb/|b|), and on n·(δa/|a| + δb/|b|)
    apart = second if theta < 1e-7 else 0.5 * first / np.tan(half)
    along = -0.5 * first * np.tan(half)
    if definite:
        apart, along = max(apart, 0.0), max(along, 0.0)
        second = max(second, 0.0)
    aa = (apart + along) / (la * la)
    ab = (along - apart) / (la * lb)
    bb = (apart + along) / (lb * lb)
    for r in range(3):
        for c in range(3):
            nn = n[r] * n[c]
            H[r, c] = second * da[r] * da[c] + aa * nn
            H[r, 3 + c] = second * da[r] * db[c] + ab * nn
            H[3 + r, 3 + c] = second * db[r] * db[c] + bb * nn
    if not definite:
        for r in range(3):
            for c in range(3):
                H[r, c] -= first * (a[r] * da[c] + da[r] * a[c]) / (la * la)
                H[3 + r, 3 + c] -= first * (b[r] * db[c] + db[r] * b[c]) / (lb * lb)
    for r in range(3):
        for c in range(3):
            H[3 + c, r] = H[r, 3 + c]


@pointwise
def add_block(values, slot, block, size, family):
    """Add a local block (size, size) where it belongs; local unknown 3 is the arc length."""
    turned = slot < 0
    if turned:
        slot = ~slot
    for r in range(size):
        i = r if r < 3 else 3 + family
        for c in range(size):
            j = c if c < 3 else 3 + family
            if turned:
                values[slot, j, i] += block[r, c]
            else:
                values[slot, i, j] += block[r, c]


@pointwise
def add_three_nodes(values, slots, H, size, family, block, first, second, third):
    """Add H over (a, b) or (a, b, L) to the six blocks of three nodes.

    Node p has a-coefficient first[p], b-coefficient second[p] and L-coefficient third[p].
    """
    k = 0
    for p in range(3):
        for q in range(p, 3):
            for r in range(3):
                for c in range(3):
                    block[r, c] = (
                        first[p] * first[q] * H[r, c]
                        + first[p] * second[q] * H[r, 3 + c]
                        + second[p] * first[q] * H[3 + r, c]
                        + second[p] * second[q] * H[3 + r, 3 + c]
                    )
            if size == 4:
                for r in range(3):
                    block[r, 3] = (first[p] * H[r, 6] + second[p] * H[3 + r, 6]) * third[q]
                    block[3, r] = (first[q] * H[r, 6] + second[q] * H[3 + r, 6]) * third[p]
                block[3, 3] = third[p] * third[q] * H[6, 6]
            add_block(values, slots[k], block, size, family)
            k += 1
