"""The way of a rig through its last four frames, and whether the last of them is a cut."""

import numpy as np

from .compiling import inlined_kernel, inner_kernel, kernel
from .rotations import round_to_rotations


@inner_kernel
def surprise(new, now, before, ratio, places, masses):
    """How far vertices are from where they would be at the speed they had, RMS by mass [m]."""
    total, mass = 0.0, 0.0
    for k in range(len(places)):
        n = places[k]
        for i in range(3):
            d = new[n, i] - now[n, i] - ratio * (now[n, i] - before[n, i])
            total += masses[k] * d * d
        mass += masses[k]
    return np.sqrt(total / mass) if mass > 0.0 else 0.0


@kernel
def stand(x, places, rig_history):
    """The rig is at rest."""
    for row in range(len(rig_history)):
        for k in range(len(places)):
            for i in range(3):
                rig_history[row, 3 * k + i] = x[places[k], i] if row % 3 == 0 else 0.0


@inner_kernel
def move(now, new, span, h, places, rig_history):
    """The rig has been moving, evenly, from before ``now`` to ``new``, ``span`` [s] later."""
    stand(now, places, rig_history)
    for k in range(len(places)):
        for i in range(3):
            n = 3 * k + i
            v = (new[places[k], i] - now[places[k], i]) / span
            rig_history[1, n] = rig_history[4, n] = v
            rig_history[3, n] -= h * v


@inlined_kernel
def slope(first, last):
    """Weights of the slope at the end of a parabola through three values, so far apart."""
    both = first + last
    return last / (first * both), -both / (first * last), (both + last) / (both * last)


@kernel
def between(path, s, x, frames, features):
    """The rig at a share s of the way from the last frame but one to the last.

    It goes along cubics whose slopes at the frames are those of parabolas through the frame and the
    two before it: smooth, exact for motion at constant acceleration, and it asks for nothing that
    is still to come.
    """
    a, b, c = path.spans
    start, end = slope(a, b), slope(b, c)  # times c, at the last frame but one and at the last
    rising = (3.0 - 2.0 * s) * s * s
    at_start, at_end = s * (1.0 - s) * (1.0 - s) * c, s * (1.0 - s) * s * c
    w0 = at_start * start[0]
    w1 = at_start * start[1] - at_end * end[0]
    w2 = 1.0 - rising + at_start * start[2] - at_end * end[1]
    w3 = rising - at_end * end[2]
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
