"""Nearest places on triangle meshes and height fields."""

import math

import numpy as np

from supple._kernels.compiling import kernel, pointwise

_DEEPEST = 64  # levels of a tree of boxes
_TOUCHING = 1e-9  # share of a mesh's size below which the arm to a crease has no direction
_SAMPLES = 32  # to each side, among which the search for a height field's nearest place starts
_STEPS = 50  # of Newton's method on a height field
_CONVEX = 0.1  # and the least curvature that it goes by; on flat ground it is 1
_CLOSE = 1e-16  # its last step, squared and against the spacing


@pointwise
def box_distance2(boxes, node, x, y, z):
    """Squared distance of a point from a box, 0 inside it."""
    dx = max(boxes[node, 0] - x, x - boxes[node, 3], 0.0)
    dy = max(boxes[node, 1] - y, y - boxes[node, 4], 0.0)
    dz = max(boxes[node, 2] - z, z - boxes[node, 5], 0.0)
    return dx * dx + dy * dy + dz * dz


@pointwise
def nearest_on_triangle(corners, t, x, y, z):
    """Weights of corners b and c at the nearest place on a triangle, and the feature it is on.

    Features: 0 the face, 1 to 3 the edges ab, bc, ca, 4 to 6 the corners a, b, c. By regions, as in
    Ericson, Real-Time Collision Detection, §5.1.5.
    """
    ax, ay, az = corners[t, 0, 0], corners[t, 0, 1], corners[t, 0, 2]
    abx, aby, abz = corners[t, 1, 0] - ax, corners[t, 1, 1] - ay, corners[t, 1, 2] - az
    acx, acy, acz = corners[t, 2, 0] - ax, corners[t, 2, 1] - ay, corners[t, 2, 2] - az
    px, py, pz = x - ax, y - ay, z - az
    d1 = abx * px + aby * py + abz * pz
    d2 = acx * px + acy * py + acz * pz
    if d1 <= 0.0 and d2 <= 0.0:
        return 0.0, 0.0, 4
    bb = abx * abx + aby * aby + abz * abz
    bc = abx * acx + aby * acy + abz * acz
    cc = acx * acx + acy * acy + acz * acz
    d3, d4 = d1 - bb, d2 - bc  # the same products for the arm from b, and from c
    if d3 >= 0.0 and d4 <= d3:
        return 1.0, 0.0, 5
    d5, d6 = d1 - bc, d2 - cc
    if d6 >= 0.0 and d5 <= d6:
        return 0.0, 1.0, 6
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        return d1 / bb, 0.0, 1
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        return 0.0, d2 / cc, 3
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 >= d3 and d5 >= d6:
        w = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        return 1.0 - w, w, 2
    total = va + vb + vc
    return vb / total, vc / total, 0


@kernel
def mesh_distances(
    points, within, boxes, starts, corners, pseudonormals, rims, clearance, solid,
    distance, normal, triangle,
):  # fmt: skip
    """Signed distance (k,) and its gradient (k, 3) of points from triangles in a tree of boxes.

    ``triangle`` (k,) tells which is the nearest, −1 beyond ``within``.

    ``boxes`` (2 L, 6) are a binary heap with its root at 1 and L leaves; leaf i holds triangles
    starts[i] to starts[i + 1]. ``pseudonormals`` (t, 7, 3) and ``rims`` (t, 7) are by feature.
    ``clearance`` (a, b, c) is a distance that no point in a part of the root's box is nearer than;
    ``solid`` tells that all that is out of it is outside.
    """
    leaves = len(starts) - 1
    nodes = np.empty(_DEEPEST, dtype=np.int64)
    bounds = np.empty(_DEEPEST)
    sx, sy, sz = boxes[1, 3] - boxes[1, 0], boxes[1, 4] - boxes[1, 1], boxes[1, 5] - boxes[1, 2]
    cells_x, cells_y = clearance.shape[0] / sx, clearance.shape[1] / sy
    cells_z = clearance.shape[2] / sz
    touching = _TOUCHING * math.sqrt(sx * sx + sy * sy + sz * sz)
    for k in range(len(points)):
        x, y, z = points[k, 0], points[k, 1], points[k, 2]
        triangle[k] = -1
        missing = 0.0 * (x + y + z)
        if math.isnan(missing):
            distance[k] = normal[k, 0] = normal[k, 1] = normal[k, 2] = missing
            continue
        away = math.sqrt(box_distance2(boxes, 1, x, y, z))
        if away == 0.0 and clearance.size > 0:
            i = min(int((x - boxes[1, 0]) * cells_x), clearance.shape[0] - 1)
            j = min(int((y - boxes[1, 1]) * cells_y), clearance.shape[1] - 1)
            m = min(int((z - boxes[1, 2]) * cells_z), clearance.shape[2] - 1)
            away = clearance[i, j, m]
        elif not solid:
            away = 0.0
        if 0.0 < away >= within:
            distance[k] = away
            normal[k, 0] = normal[k, 1] = 0.0
            normal[k, 2] = 1.0
            continue
        best, nearest, feature, share_b, share_c = math.inf, -1, 0, 0.0, 0.0
        nodes[0], bounds[0], depth = 1, 0.0, 1
        while depth > 0:
            depth -= 1
            if bounds[depth] >= best:
                continue
            node = nodes[depth]
            while node < leaves:  # down to a leaf, the nearer child first
                first = 2 * node
                there = first + 1
                near = box_distance2(boxes, first, x, y, z)
                far = box_distance2(boxes, there, x, y, z)
                if far < near:
                    first, there = there, first
                    near, far = far, near
                if far < best:
                    nodes[depth], bounds[depth] = there, far
                    depth += 1
                node = first
                if near >= best:
                    node = -1
                    break
            if node < 0:
                continue
            for t in range(starts[node - leaves], starts[node - leaves + 1]):
                b, c, f = nearest_on_triangle(corners, t, x, y, z)
                a = 1.0 - b - c
                length2 = 0.0
                for i in range(3):
                    place = a * corners[t, 0, i] + b * corners[t, 1, i] + c * corners[t, 2, i]
                    length2 += (points[k, i] - place) ** 2
                if length2 < best:
                    best, nearest, feature, share_b, share_c = length2, t, f, b, c
        length = math.sqrt(best)
        triangle[k] = nearest
        a, at = 1.0 - share_b - share_c, corners[nearest]
        height = 0.0  # above the face, or along the pseudonormal: its sign tells the side
        for i in range(3):
            place = a * at[0, i] + share_b * at[1, i] + share_c * at[2, i]
            normal[k, i] = points[k, i] - place
            height += normal[k, i] * pseudonormals[nearest, feature, i]
        if feature == 0 or length <= touching:
            distance[k] = height
            for i in range(3):
                normal[k, i] = pseudonormals[nearest, feature, i]
            continue
        side = 1.0 if height >= 0.0 or rims[nearest, feature] else -1.0
        distance[k] = side * length
        for i in range(3):
            normal[k, i] /= distance[k]


@pointwise
def field_at(field, u, v, out):
    """Height, its two slopes and three second derivatives by the indices u, v, into out (6,).

    ``field`` (nx, ny, 4): at each node the height, ∂/∂u, ∂/∂v and ∂²/∂u∂v. Beyond the rim the
    height is that at the rim.
    """
    nx, ny = field.shape[0], field.shape[1]
    p, q = min(max(u, 0.0), nx - 1.0), min(max(v, 0.0), ny - 1.0)
    i, j = min(int(p), nx - 2), min(int(q), ny - 2)
    s, t = p - i, q - j
    for k in range(6):
        out[k] = 0.0
    for a in range(2):
        # Hermite's cubics of a node: those that carry its value and its slope, mirrored for a = 1.
        m, r = (1.0 - s, -1.0) if a == 1 else (s, 1.0)
        f0, f1, f2 = (1.0 + 2.0 * m) * (1.0 - m) ** 2, 6.0 * r * m * (m - 1.0), 12.0 * m - 6.0
        g0, g1 = r * m * (1.0 - m) ** 2, (1.0 - m) * (1.0 - 3.0 * m)
        g2 = r * (6.0 * m - 4.0)
        for b in range(2):
            m, r = (1.0 - t, -1.0) if b == 1 else (t, 1.0)
            d0, d1, d2 = (1.0 + 2.0 * m) * (1.0 - m) ** 2, 6.0 * r * m * (m - 1.0), 12.0 * m - 6.0
            e0, e1 = r * m * (1.0 - m) ** 2, (1.0 - m) * (1.0 - 3.0 * m)
            e2 = r * (6.0 * m - 4.0)
            h, hu = field[i + a, j + b, 0], field[i + a, j + b, 1]
            hv, huv = field[i + a, j + b, 2], field[i + a, j + b, 3]
            value, slope = h * d0 + hv * e0, hu * d0 + huv * e0
            out[0] += f0 * value + g0 * slope
            out[1] += f1 * value + g1 * slope
            out[3] += f2 * value + g2 * slope
            value, slope = h * d1 + hv * e1, hu * d1 + huv * e1
            out[2] += f0 * value + g0 * slope
            out[4] += f1 * value + g1 * slope
            value, slope = h * d2 + hv * e2, hu * d2 + huv * e2
            out[5] += f0 * value + g0 * slope
    if p != u:
        out[1] = out[3] = out[4] = 0.0
    if q != v:
        out[2] = out[4] = out[5] = 0.0


@kernel
def field_heights(field, places, heights):
    """Heights (k,) at places (k, 2), in indices."""
    out = np.empty(6)
    for k in range(len(places)):
        field_at(field, places[k, 0], places[k, 1], out)
        heights[k] = out[0]


@kernel
def field_distances(points, within, field, samples, spacing, highest, distance, normal):
    """Signed distance (k,) and its gradient (k, 3) of points from a height field.

    Points are relative to the field's origin; ``samples`` (r (nx - 1) + 1, r (ny - 1) + 1) are
    heights on a grid r times as fine; ``spacing`` (2,); ``highest`` is no less than any height. The
    nearest of the samples around, then Newton's method with a line search.
    """
    a, b = spacing[0], spacing[1]
    nx, ny = samples.shape
    c, d = a * (field.shape[0] - 1.0) / (nx - 1.0), b * (field.shape[1] - 1.0) / (ny - 1.0)
    out = np.empty(6)
    for k in range(len(points)):
        x, y, z = points[k, 0], points[k, 1], points[k, 2]
        missing = 0.0 * (x + y + z)
        if math.isnan(missing):
            distance[k] = normal[k, 0] = normal[k, 1] = normal[k, 2] = missing
            continue
        if z - highest >= within:
            distance[k] = z - highest
            normal[k, 0] = normal[k, 1] = 0.0
            normal[k, 2] = 1.0
            continue
        px, py = x, y
        field_at(field, px / a, py / b, out)
        gap = z - out[0]
        best = gap * gap
        reach = min(gap, within) if gap > 0.0 else -gap
        m, n = int(reach / c) + 1, int(reach / d) + 1
        skip_m, skip_n = 1 + m // _SAMPLES, 1 + n // _SAMPLES
        ci, cj = round(x / c), round(y / d)
        for i in range(ci - m, ci + m + 1, skip_m):
            across = (i * c - x) ** 2
            if across >= best:
                continue
            for j in range(cj - n, cj + n + 1, skip_n):
                h = samples[min(max(i, 0), nx - 1), min(max(j, 0), ny - 1)]
                length2 = across + (j * d - y) ** 2 + (z - h) ** 2
                if length2 < best:
                    best, px, py = length2, i * c, j * d
        field_at(field, px / a, py / b, out)
        for _ in range(_STEPS):
            # Minimise ½ |x − p|² over p = (px, py, h(px, py)).
            hx, hy, rise = out[1] / a, out[2] / b, out[0] - z
            gx, gy = px - x + rise * hx, py - y + rise * hy
            kxx = 1.0 + hx * hx + rise * out[3] / (a * a)
            kxy = hx * hy + rise * out[4] / (a * b)
            kyy = 1.0 + hy * hy + rise * out[5] / (b * b)
            lowest = 0.5 * (kxx + kyy) - math.hypot(0.5 * (kxx - kyy), kxy)
            if lowest < _CONVEX:
                shift = max(abs(lowest), _CONVEX) - lowest
                kxx, kyy = kxx + shift, kyy + shift
            det = kxx * kyy - kxy * kxy
            dx, dy = (kxy * gy - kyy * gx) / det, (kxy * gx - kxx * gy) / det
            if dx * dx + dy * dy <= _CLOSE * (a * a + b * b):  # one step more is exact to rounding
                px, py = px + dx, py + dy
                field_at(field, px / a, py / b, out)
                best = (px - x) ** 2 + (py - y) ** 2 + (out[0] - z) ** 2
                break
            slope = gx * dx + gy * dy
            scale, lower = 1.0, False
            while scale > 1e-6 and not lower:
                qx, qy = px + scale * dx, py + scale * dy
                field_at(field, qx / a, qy / b, out)
                length2 = (qx - x) ** 2 + (qy - y) ** 2 + (out[0] - z) ** 2
                lower = length2 <= best + 1e-4 * scale * slope
                scale *= 0.5
            if not lower:  # as near as rounding allows
                field_at(field, px / a, py / b, out)
                break
            px, py, best = qx, qy, length2
        hx, hy = out[1] / a, out[2] / b
        upright = 1.0 / math.sqrt(1.0 + hx * hx + hy * hy)
        distance[k] = math.copysign(math.sqrt(best), gap)
        normal[k, 0], normal[k, 1], normal[k, 2] = -hx * upright, -hy * upright, upright
