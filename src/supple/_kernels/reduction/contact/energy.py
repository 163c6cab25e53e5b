"""The energy of a step among obstacles, which may not grow by more than the work that was put in.

With contact no rule of second order keeps a promise about energy: stress of an impact may become
speed in the step that ends the contact, and ring on. So the balance is looked at in steps in which
something presses, and in a few after these.
"""

import math

import numpy as np

from supple._kernels.compiling import LARGEST, borrowing_kernel
from supple._kernels.reduction.contact.pairs import EXACT, FORMER, KEPT, PAIRS
from supple._kernels.reduction.polynomial import ONE, evaluate

# places in ``Pairs.energy``
GAINED, RECENT, START, NOISE = range(4)

COMES_AND_GOES = 1e-3  # share of the energy at play: no rule keeps it to the last digit
UNSEEN = 1e-5  # of that: what a solver leaves in any step
LOOKED_ON = 8.0  # steps after the last in which something presses


@borrowing_kernel
def stored_energy(q, polynomial, K, R):
    """U at q, from its parts of second, third and fourth degree; fills K and R."""
    evaluate(q, polynomial, K, R)
    first, along, twice = 0.0, 0.0, 0.0
    place = np.uint64(0)
    for i in range(np.uint64(len(q))):
        along += R[i] * q[i]
        twice += K[i, i] * q[i] * q[i]
        for j in range(i):
            twice += 2.0 * K[i, j] * q[i] * q[j]
        for j in range(i + ONE):
            first += polynomial.P[place + j] * q[i] * q[j]
        place += i + ONE
    # q·R = 2 U₂ + 3 U₃ + 4 U₄ and q·Kq = 2 U₂ + 6 U₃ + 12 U₄
    a, b = along - 2.0 * first, twice - 2.0 * first
    fourth = 0.25 * b - 0.5 * a
    return first + (a - 4.0 * fourth) / 3.0 + fourth


@borrowing_kernel
def kinetic_energy(v, M):
    """½ v·Mv"""
    total = 0.0
    for i in range(np.uint64(len(v))):
        e = 0.0
        for j in range(np.uint64(len(v))):
            e += M[i, j] * v[j]
        total += v[i] * e
    return 0.5 * total


@borrowing_kernel
def looks_on(pairs):
    """Whether the energy of a step that has just been solved is to be looked at."""
    return pairs.counts[KEPT] > 0 or pairs.counts[FORMER] > 0 or pairs.energy[RECENT] > 0.0


@borrowing_kernel
def pushed_in(dt, moves, pairs):
    """Work that obstacles put in [J], and how far it may be off, by the forces at the end.

    They are put where the body is, or move; ``velocity`` of the pairs is that of obstacles.
    """
    work = 0.0
    for p in range(pairs.counts[PAIRS]):
        normal = pairs.force[p, 0]
        if normal > 0.0:
            work += normal * max(-pairs.start[p], 0.0)
    if not moves:
        return work, 0.0
    fastest, pressing = 0.0, 0.0
    for p in range(pairs.counts[PAIRS]):
        speed = 0.0
        for i in range(3):
            speed += pairs.velocity[p, i] ** 2
        fastest = max(fastest, math.sqrt(speed))
        if pairs.force[p, 0] > 0.0:
            power, size = 0.0, 0.0
            for i in range(3):
                along = pairs.force[p, 0] * pairs.frame[p, 0, i]
                along += pairs.force[p, 1] * pairs.frame[p, 1, i]
                along += pairs.force[p, 2] * pairs.frame[p, 2, i]
                power += along * pairs.velocity[p, i]
                size += along * along
            work += dt * power
            pressing += math.sqrt(size)
    for n in range(pairs.counts[FORMER]):  # what pressed as the step began
        size = 0.0
        for i in range(3):
            size += pairs.former_force[n, i] ** 2
        pressing += math.sqrt(size)
    if pairs.counts[PAIRS] == 0 and pressing > 0.0:
        return work, LARGEST  # it has gone, who knows how fast
    return work, dt * pressing * fastest


@borrowing_kernel
def is_without_gain(start, end, work, uncertain, pairs):
    """Whether energy has grown by no more than may be between the ends of a step."""
    energy = pairs.energy
    if pairs.counts[KEPT] > 0 or pairs.counts[FORMER] > 0:
        energy[RECENT] = LOOKED_ON
    else:
        energy[RECENT] -= 1.0
    gain = end - start - work
    most = COMES_AND_GOES * (abs(start) + abs(work)) + energy[NOISE]
    for p in range(pairs.counts[PAIRS]):  # by as much as contacts may be off
        most += pairs.force[p, 0] * pairs.options[EXACT]
    # as a body comes to rest less and less is at play; what it has gained before may stay
    gained = max(min(energy[GAINED], most) + gain, 0.0)
    if gained <= most + uncertain or gain <= UNSEEN * most:
        energy[GAINED] = min(gained, most) if uncertain > 0.0 else gained
        return True
    return False
