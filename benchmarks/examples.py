"""A Bathe step in full space with k example deformations against one with none.

The same motion at the same accuracy: the engine's cantilever, released from a bent and twisted
shape. Runs of the two kinds alternate, so that a disturbed minute hits both.
"""

from __future__ import annotations

import time

import numpy as np

import supple as sp

from .cantilever import beam
from .timing import table

COUNTS = (0, 1, 2, 4, 8, 10)
STEPS = 20


def simulation(body: sp.Body, modes: sp.Modes, count: int, at: sp.StiffnessAt) -> sp.Simulation:
    """The cantilever with ``count`` nonlinear examples, released."""
    base = sp.Rayleigh(mass=0.1, stiffness=2e-3, at=at)
    damping: sp.Damping = base
    if count:
        shapes = [shape * 0.2 / np.abs(shape).max() for shape in modes.shapes[:count]]
        curve = sp.Curve.bezier([(0.0, 0.3), (1.0, 5.0)])
        damping = sp.ExampleDamping(base, [sp.Example(shape, curve) for shape in shapes])
    sim = sp.Simulation(body, damping=damping, integrator=sp.Bathe(), dt=1 / 60)
    sim.state.u = sum(
        modes.shapes[i] * amount / np.abs(modes.shapes[i]).max()
        for i, amount in ((0, 0.1), (1, 0.05), (2, 0.02))
    )
    return sim


def seconds(body: sp.Body, modes: sp.Modes, count: int, at: sp.StiffnessAt) -> float:
    """Of one step, in the mean over the motion."""
    sim = simulation(body, modes, count, at)
    sim.step()
    start = time.perf_counter()
    for _ in range(STEPS):
        sim.step()
    return (time.perf_counter() - start) / STEPS


def main() -> None:
    sp.set_thread_count(1)
    body = beam()
    modes = sp.vibration_modes(body, max(COUNTS))
    for at in sp.StiffnessAt:
        seconds(body, modes, 1, at)  # compiles
        spans: dict[int, list[float]] = {count: [] for count in COUNTS}
        for _ in range(5):
            for count in COUNTS:
                spans[count].append(seconds(body, modes, count, at))
        rows = [
            [
                count,
                1e3 * min(spans[count]),
                1e3 * float(np.median(spans[count])),
                min(spans[count]) / min(spans[0]),
            ]
            for count in COUNTS
        ]
        print(f"base proportional to {at.value}; one thread")
        print(table(["examples", "best ms a step", "median", "times none"], rows), end="\n\n")
    sp.set_thread_count(0)
