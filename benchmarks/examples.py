"""A Bathe step in full space with k example deformations against one with none.

The same motion at the same accuracy: the engine's cantilever, released from a bent and twisted
shape. Runs of the two kinds alternate, so that a disturbed minute hits both, and the processor's
time is taken, which others on the machine disturb least.
"""

from __future__ import annotations

import time
from itertools import product
from typing import Any

import numpy as np

import supple as sp
from benchmarks.cantilever import beam
from benchmarks.timing import table

Base = sp.Damping | tuple[sp.Damping, ...]

COUNTS = (0, 4, 10)
STEPS = 10
BASES: dict[str, Base] = {
    "stiffness of the rest shape": sp.Rayleigh(mass=0.1, stiffness=2e-3, at=sp.StiffnessAt.REST),
    "stiffness of the current shape": sp.Rayleigh(mass=0.1, stiffness=2e-3),
    "strain rate": (sp.Rayleigh(mass=0.1), sp.StrainRate(shear=700.0, bulk=2800.0)),
}
CURVES = {
    "constant scales": (sp.Curve.constant(2.0), sp.Curve.constant(0.5)),
    "curves": (
        sp.Curve.bezier([(0.0, 0.3), (1.0, 5.0)]),
        sp.Curve.bezier([(0.0, 3.0), (1.0, 0.2)]),
    ),
}
"""In turn for one example and the next, so that the motion stays much the same."""


def simulation(
    body: sp.Body, modes: sp.Modes, count: int, base: Base, curves: tuple[sp.Curve, ...]
) -> sp.Simulation:
    """The cantilever with ``count`` examples, released."""
    shapes = [shape * 0.2 / np.abs(shape).max() for shape in modes.shapes[:count]]
    examples = [sp.Example(shape, curves[i % 2]) for i, shape in enumerate(shapes)]
    damping = sp.ExampleDamping(base, examples) if count else base
    sim = sp.Simulation(body, damping=damping, integrator=sp.Bathe(), dt=1 / 60)
    sim.state.u = sum(
        modes.shapes[i] * amount / np.abs(modes.shapes[i]).max()
        for i, amount in ((0, 0.1), (1, 0.05), (2, 0.02))
    )
    return sim


def seconds(*setting: Any) -> float:
    """Of one step, in the mean over the motion."""
    sim = simulation(*setting)
    sim.step()
    start = time.process_time()
    for _ in range(STEPS):
        sim.step()
    return (time.process_time() - start) / STEPS


def main() -> None:
    sp.set_thread_count(1)
    body = beam()
    modes = sp.vibration_modes(body, max(COUNTS))
    for (base_name, base), (curve_name, curves) in product(BASES.items(), CURVES.items()):
        seconds(body, modes, 1, base, curves)  # compiles
        spans: dict[int, list[float]] = {count: [] for count in COUNTS}
        for _ in range(5):
            for count in COUNTS:
                spans[count].append(seconds(body, modes, count, base, curves))
        rows = [
            [
                count,
                1e3 * min(spans[count]),
                1e3 * float(np.median(spans[count])),
                min(spans[count]) / min(spans[0]),
                float(np.median(spans[count]) / np.median(spans[0])),
            ]
            for count in COUNTS
        ]
        print(f"{base_name}, {curve_name}; one thread")
        headers = ["examples", "best ms of CPU a step", "median", "times none", "of medians"]
        print(table(headers, rows), end="\n\n")
    sp.set_thread_count(0)
