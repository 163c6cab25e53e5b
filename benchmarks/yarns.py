"""Woven cloth: time and memory of a step of 1 ms, as the cloth grows.

``python -m benchmarks yarns`` takes the two smaller sizes, each in a process of its own so that its
memory can be told.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from statistics import median

import numpy as np

from supple.cloth.yarns import WovenCloth, Yarn, YarnDamping, YarnNet, YarnSimulation

from .timing import table

# Warps × wefts of about the paper's 20,402, 136,741 and 1,053,175 crossings.
SIZES = ((101, 202), (307, 445), (1025, 1027))
STEPS = 6


def sheet(warps: int, wefts: int) -> YarnSimulation:
    """A cloth held flat by one edge, let go; damping between the paper's low and medium."""
    yarn = Yarn(radius=1.2e-4, linear_density=5e-5, stretch=0.5, bending=2e-9)
    net = YarnNet.patch(warps, wefts, spacing=5e-4)
    cloth = WovenCloth(net, warp=yarn, shear=1e-7, friction=0.3)
    y = net.positions[:, 1]
    damping = YarnDamping(stretch=3e-3, bending=0.1)
    return YarnSimulation(cloth, damping=damping, gravity=(0, 0, -9.81), fixed=y >= y.max())


def measure(warps: int, wefts: int) -> None:
    """Print crossings, seconds a step, Newton iterations a step and memory [GB]."""
    sim = sheet(warps, wefts)
    sim.step()
    spans, iterations = [], []
    for _ in range(STEPS):
        start = time.perf_counter()
        sim.step()
        spans.append(time.perf_counter() - start)
        iterations.append(sim.newton_iterations)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(sim.cloth.n_nodes, median(spans), float(np.mean(iterations)), memory)


def main(sizes: tuple[tuple[int, int], ...] = SIZES[:2]) -> None:
    rows = []
    for size in sizes:
        code = f"from benchmarks.yarns import measure; measure(*{size})"
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
        nodes, seconds, iterations, memory = done.stdout.split()
        rows.append([f"{int(nodes):,}", float(seconds), float(iterations), float(memory)])
    print(table(["crossings", "s a step of 1 ms", "Newton iterations", "memory [GB]"], rows))
