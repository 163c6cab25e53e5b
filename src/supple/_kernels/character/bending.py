"""A body bent about an axis."""

import math

from supple._kernels.compiling import kernel


@kernel
def bend(angle, start, coordinates, origin, axes, x, turns):
    """Places x (n, 3) and turns (n, 3, 3), or (0, 3, 3) if unwanted, of a bend by ``angle`` [1/m].

    ``coordinates`` (n, 4) are along the arc, beyond it, above it and to the side; the ``axes`` are
    along, about and the third direction, as rows, and the arc begins at ``start``.
    """
    a0, a1, a2 = axes[1, 0], axes[1, 1], axes[1, 2]
    for n in range(len(x)):
        bent, straight = coordinates[n, 0], coordinates[n, 1]
        high, level = coordinates[n, 2], coordinates[n, 3]
        half = 0.5 * angle * bent
        s, c = math.sin(half), math.cos(half)
        sine, less = 2.0 * s * c, 2.0 * s * s
        cosine = 1.0 - less
        chord = bent * (s / half if half != 0.0 else 1.0)  # of the arc ∫ (cos κs, sin κs) ds
        u = start + chord * c + straight * cosine - high * sine
        w = chord * s + straight * sine + high * cosine
        for i in range(3):
            x[n, i] = origin[i] + u * axes[0, i] + level * axes[1, i] + w * axes[2, i]
        if len(turns) > 0:  # I + sin K + (1 − cos) K², with K v = about × v
            R = turns[n]
            R[0, 0], R[1, 1], R[2, 2] = (
                cosine + less * a0 * a0,
                cosine + less * a1 * a1,
                cosine + less * a2 * a2,
            )
            R[0, 1], R[1, 0] = less * a0 * a1 - sine * a2, less * a0 * a1 + sine * a2
            R[0, 2], R[2, 0] = less * a0 * a2 + sine * a1, less * a0 * a2 - sine * a1
            R[1, 2], R[2, 1] = less * a1 * a2 - sine * a0, less * a1 * a2 + sine * a0
