"""Inside and outside of any triangles, by their winding number.

Jacobson, Kavan and Sorkine-Hornung, Robust Inside-Outside Segmentation Using Generalized Winding
Numbers (2013); what is far away counts as one dipole, as in Barill, Dickson, Schmidt, Levin and
Jacobson, Fast Winding Numbers for Soups and Clouds (2018).
"""

import math

import numpy as np

from supple._kernels.compiling import kernel, pointwise

INSIDE = 0.5  # of a turn: more than this is inside
_FAR = 3.0  # radii of a box: farther away its triangles count as one dipole
_DEEPEST = 64  # levels of a tree of boxes
_MOST = 64  # crossings of one segment
_TOGETHER = 1e-7  # of a segment: sheets that lie as near to each other leave no gap
_HALVINGS = 40


@pointwise
def solid_angle(corners, t, x, y, z):
    """Solid angle of a triangle seen from a point, positive from behind it."""
    ax, ay, az = corners[t, 0, 0] - x, corners[t, 0, 1] - y, corners[t, 0, 2] - z
    bx, by, bz = corners[t, 1, 0] - x, corners[t, 1, 1] - y, corners[t, 1, 2] - z
    cx, cy, cz = corners[t, 2, 0] - x, corners[t, 2, 1] - y, corners[t, 2, 2] - z
    a = math.sqrt(ax * ax + ay * ay + az * az)
    b = math.sqrt(bx * bx + by * by + bz * bz)
    c = math.sqrt(cx * cx + cy * cy + cz * cz)
    det = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
    # tan(Ω/2) = a·(b × c) / (abc + (a·b) c + (b·c) a + (c·a) b), van Oosterom and Strackee (1983)
    under = (
        a * b * c
        + (ax * bx + ay * by + az * bz) * c
        + (bx * cx + by * cy + bz * cz) * a
        + (cx * ax + cy * ay + cz * az) * b
    )
    return 2.0 * math.atan2(det, under)


@pointwise
def winding_number(starts, corners, dipoles, nodes, x, y, z):
    """Turns of the surface about a point: 1 inside, 0 outside, in between near holes."""
    leaves = len(starts) - 1
    total, depth = 0.0, 1
    nodes[0] = 1
    while depth > 0:
        depth -= 1
        node = nodes[depth]
        dx, dy, dz = dipoles[node, 0] - x, dipoles[node, 1] - y, dipoles[node, 2] - z
        length2 = dx * dx + dy * dy + dz * dz
        reach = _FAR * dipoles[node, 6]
        if length2 > reach * reach:
            flux = dx * dipoles[node, 3] + dy * dipoles[node, 4] + dz * dipoles[node, 5]
            total += flux / (length2 * math.sqrt(length2))
        elif node < leaves:
            nodes[depth], nodes[depth + 1] = 2 * node, 2 * node + 1
            depth += 2
        else:
            for t in range(starts[node - leaves], starts[node - leaves + 1]):
                total += solid_angle(corners, t, x, y, z)
    return total / (4.0 * math.pi)


@kernel
def winding_numbers(points, starts, corners, dipoles, found):
    """Winding number (k,) of a surface about points (k, 3).

    ``starts`` and ``corners`` are those of a tree of boxes, a heap with its root at 1; ``dipoles``
    (2 L, 7) of its boxes are the middle, the area times the normal, and the radius about the
    middle.
    """
    nodes = np.empty(_DEEPEST, dtype=np.int64)
    for k in range(len(points)):
        x, y, z = points[k, 0], points[k, 1], points[k, 2]
        found[k] = winding_number(starts, corners, dipoles, nodes, x, y, z)


@pointwise
def segment_crosses(boxes, node, p, d):
    """Whether a segment p + t d, 0 ≤ t ≤ 1, reaches into a box."""
    low, high = 0.0, 1.0
    for i in range(3):
        below, above = boxes[node, i] - p[i], boxes[node, i + 3] - p[i]
        if d[i] == 0.0:
            if below > 0.0 or above < 0.0:
                return False
            continue
        near, far = below / d[i], above / d[i]
        low, high = max(low, min(near, far)), min(high, max(near, far))
    return low <= high * (1.0 + 1e-12) + 1e-12


@pointwise
def crossing(corners, t, p, d):
    """Where a segment p + t d goes through a triangle, or −1."""
    ax, ay, az = corners[t, 0, 0] - p[0], corners[t, 0, 1] - p[1], corners[t, 0, 2] - p[2]
    bx, by, bz = corners[t, 1, 0] - p[0], corners[t, 1, 1] - p[1], corners[t, 1, 2] - p[2]
    cx, cy, cz = corners[t, 2, 0] - p[0], corners[t, 2, 1] - p[1], corners[t, 2, 2] - p[2]
    ab = d[0] * (ay * bz - az * by) + d[1] * (az * bx - ax * bz) + d[2] * (ax * by - ay * bx)
    bc = d[0] * (by * cz - bz * cy) + d[1] * (bz * cx - bx * cz) + d[2] * (bx * cy - by * cx)
    ca = d[0] * (cy * az - cz * ay) + d[1] * (cz * ax - cx * az) + d[2] * (cx * ay - cy * ax)
    if (ab < 0.0 or bc < 0.0 or ca < 0.0) and (ab > 0.0 or bc > 0.0 or ca > 0.0):
        return -1.0
    total = ab + bc + ca
    if total == 0.0:
        return -1.0
    det = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
    found = det / total
    return found if 0.0 <= found <= 1.0 else -1.0


@kernel
def ends_of_material(starts_at, ends_at, inside, boxes, starts, corners, dipoles, found):
    """How far material goes along segments from either end, (k, 2) in parts of the segment.

    ``inside`` (k, 2) tells which ends are in it. 2 where it goes on to the other end, and where
    the end is outside. Where material ends at no triangle, at a hole, the place is that where the
    winding number goes through a half.
    """
    leaves = len(starts) - 1
    nodes = np.empty(_DEEPEST, dtype=np.int64)
    hits = np.empty(_MOST)
    p, d = np.empty(3), np.empty(3)
    state = np.empty(_MOST + 1, dtype=np.bool_)
    for k in range(len(starts_at)):
        for i in range(3):
            p[i] = starts_at[k, i]
            d[i] = ends_at[k, i] - p[i]
        found[k, 0] = found[k, 1] = 2.0
        count, depth = 0, 1
        nodes[0] = 1
        while depth > 0:
            depth -= 1
            node = nodes[depth]
            if not segment_crosses(boxes, node, p, d):
                continue
            if node < leaves:
                nodes[depth], nodes[depth + 1] = 2 * node, 2 * node + 1
                depth += 2
                continue
            for t in range(starts[node - leaves], starts[node - leaves + 1]):
                at = crossing(corners, t, p, d)
                if at >= 0.0 and count < _MOST:
                    place = count
                    while place > 0 and hits[place - 1] > at:
                        hits[place] = hits[place - 1]
                        place -= 1
                    hits[place] = at
                    count += 1
        state[0], state[count] = inside[k, 0], inside[k, 1]
        for i in range(count - 1):
            if hits[i + 1] - hits[i] < _TOGETHER:
                state[i + 1] = state[i]
                continue
            at = 0.5 * (hits[i] + hits[i + 1])
            x, y, z = p[0] + at * d[0], p[1] + at * d[1], p[2] + at * d[2]
            turns = winding_number(starts, corners, dipoles, nodes, x, y, z)
            state[i + 1] = turns > INSIDE
        if count == 0:
            if inside[k, 0] == inside[k, 1]:
                continue
            low, high = 0.0, 1.0
            for _ in range(_HALVINGS):
                at = 0.5 * (low + high)
                x, y, z = p[0] + at * d[0], p[1] + at * d[1], p[2] + at * d[2]
                turns = winding_number(starts, corners, dipoles, nodes, x, y, z)
                if (turns > INSIDE) == inside[k, 0]:
                    low = at
                else:
                    high = at
            at = 0.5 * (low + high)
            if inside[k, 0]:
                found[k, 0] = at
            else:
                found[k, 1] = 1.0 - at
            continue
        if inside[k, 0]:
            for i in range(count):
                if not state[i + 1]:
                    found[k, 0] = hits[i]
                    break
        if inside[k, 1]:
            for i in range(count - 1, -1, -1):
                if not state[i]:
                    found[k, 1] = 1.0 - hits[i]
                    break
