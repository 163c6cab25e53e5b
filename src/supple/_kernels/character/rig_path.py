"""The way of a rig through its last four frames, and whether the last of them is a cut."""

import numpy as np

from supple._kernels.compiling import inlined_kernel, inner_kernel, kernel
from supple._kernels.linear_algebra.rotations import round_to_rotations


@inner_kernel
def prediction_error(new, now, before, ratio, places, masses):
    """How far vertices are from where they would be at the speed they had, RMS by mass [m].

    Also the part of it that is not the same all over: a body that starts or stops as a whole has
    none.
    """
    total, mass = 0.0, 0.0
    a, b, c = 0.0, 0.0, 0.0
    for k in range(len(places)):
        n, m = places[k], masses[k]
        d0 = new[n, 0] - now[n, 0] - ratio * (now[n, 0] - before[n, 0])
        d1 = new[n, 1] - now[n, 1] - ratio * (now[n, 1] - before[n, 1])
        d2 = new[n, 2] - now[n, 2] - ratio * (now[n, 2] - before[n, 2])
        total += m * (d0 * d0 + d1 * d1 + d2 * d2)
        a, b, c, mass = a + m * d0, b + m * d1, c + m * d2, mass + m
    if mass == 0.0:
        return 0.0, 0.0
    together = (a * a + b * b + c * c) / mass
    return np.sqrt(total / mass), np.sqrt(max(total - together, 0.0) / mass)


@kernel
def rest_rig(x, places, rig_history):
    """The rig is at rest."""
    for row in range(len(rig_history)):
        for k in range(len(places)):
            for i in range(3):
                rig_history[row, 3 * k + i] = x[places[k], i] if row % 3 == 0 else 0.0


@inner_kernel
def move(now, new, span, h, places, rig_history):
    """The rig has been moving, evenly, from before ``now`` to ``new``, ``span`` [s] later."""
    rest_rig(now, places, rig_history)
    for k in range(len(places)):
        for i in range(3):
            n = 3 * k + i
            v = (new[places[k], i] - now[places[k], i]) / span
            rig_history[1, n] = rig_history[4, n] = v
            rig_history[3, n] -= h * v


@inner_kernel
def excess_velocity(path, most, places, excess):
    """How much faster each vertex gets at the last frame than by ``most`` [m/s], (3 s,)."""
    _, b, c = path.spans
    before, now, new = path.samples[1].x, path.samples[2].x, path.samples[3].x
    for k in range(len(places)):
        n = places[k]
        square = 0.0
        for i in range(3):
            jump = (new[n, i] - now[n, i]) / c - (now[n, i] - before[n, i]) / b
            excess[3 * k + i] = jump
            square += jump * jump
        size = np.sqrt(square)
        share = 1.0 - most / size if size > most else 0.0
        for i in range(3):
            excess[3 * k + i] *= share


@inner_kernel
def absorb_velocity_jump(excess, h, rig_history):
    """As if the rig had been so much faster all along: that part of its jump is not felt.

    Every rule is exact for even motion, so that nothing else changes; ``h`` is that of the steps.
    """
    for i in range(len(excess)):
        rig_history[1, i] += excess[i]
        rig_history[4, i] += excess[i]
        rig_history[3, i] -= h * excess[i]


@inlined_kernel
def slope(first, last):
    """Weights of the slope at the end of a parabola through three values, so far apart."""
    both = first + last
    return last / (first * both), -both / (first * last), (both + last) / (both * last)


@inlined_kernel
def hermite_weights(spans, s):
    """Weights of the four frames at a share s of the way from the last but one to the last.

    They are of cubics whose slopes at the frames are those of parabolas through the frame and the
    two before it: smooth, exact for motion at constant acceleration, and nothing is asked for that
    is still to come.
    """
    a, b, c = spans
    start, end = slope(a, b), slope(b, c)  # times c, at the last frame but one and at the last
    rising = (3.0 - 2.0 * s) * s * s
    at_start, at_end = s * (1.0 - s) * (1.0 - s) * c, s * (1.0 - s) * s * c
    return (
        at_start * start[0],
        at_start * start[1] - at_end * end[0],
        1.0 - rising + at_start * start[2] - at_end * end[1],
        rising - at_end * end[2],
    )


@inlined_kernel
def curvature(spans, s):
    """Weights of the four frames in the acceleration of the cubic through all of them [1/s²]."""
    a, b, c = spans
    t = s * c
    one, two, four = -a - b, -b, c  # the third is at 0
    return (
        2.0 * (3.0 * t - two - four) / ((one - two) * one * (one - four)),
        2.0 * (3.0 * t - one - four) / ((two - one) * two * (two - four)),
        2.0 * (3.0 * t - one - two - four) / (-one * two * four),
        2.0 * (3.0 * t - one - two) / ((four - one) * (four - two) * four),
    )


@inner_kernel
def effective_motion(path, s, path_acceleration, places, excess, lag, effective):
    """What to change in how the rig goes on at a share s of the frame, (3 s,).

    That is where its vertices are felt to be beside their places [m], as the two frames before have
    caught up, the first of them by ``lag`` [m] already; or with ``path_acceleration`` the
    acceleration of the path, with them [m/s²].
    """
    a, b, _ = path.spans
    w0, w1, w2, w3 = (
        curvature(path.spans, s) if path_acceleration else hermite_weights(path.spans, s)
    )
    behind = w0 * (a + b) + w1 * b
    one, two, three, four = path.samples
    for k in range(len(places)):
        n = places[k]
        for i in range(3):
            moved = w0 * lag[3 * k + i] - behind * excess[3 * k + i]
            if path_acceleration:
                moved += (
                    w0 * one.x[n, i] + w1 * two.x[n, i] + w2 * three.x[n, i] + w3 * four.x[n, i]
                )
            effective[3 * k + i] = moved


@kernel
def between(path, s, x, frames, features):
    """The rig at a share s of the way from the last frame but one to the last."""
    w0, w1, w2, w3 = hermite_weights(path.spans, s)
    one, two, three, four = path.samples
    for n in range(len(x)):
        for i in range(3):
            x[n, i] = w0 * one.x[n, i] + w1 * two.x[n, i] + w2 * three.x[n, i] + w3 * four.x[n, i]
    for n in range(len(features)):
        features[n] = (
            w0 * one.features[n] + w1 * two.features[n]
            + w2 * three.features[n] + w3 * four.features[n]
        )  # fmt: skip
    for n in range(len(frames)):
        for i in range(3):
            for j in range(3):
                frames[n, i, j] = (
                    w0 * one.frames[n, i, j] + w1 * two.frames[n, i, j]
                    + w2 * three.frames[n, i, j] + w3 * four.frames[n, i, j]
                )  # fmt: skip
    round_to_rotations(frames)
