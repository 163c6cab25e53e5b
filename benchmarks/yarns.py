"""Woven cloth: time and memory of a step of 1 ms, as the cloth grows to a million crossings.

``python -m benchmarks yarns`` takes each size in a process of its own, so that its memory can be
told. The largest needs 8 GB.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from statistics import median

import numpy as np

from benchmarks.timing import table
from supple.yarns import WovenCloth, Yarn, YarnDamping, YarnNet, YarnSimulation

# Warps × wefts; the last three are about the paper's 20,402, 136,741 and 1,053,175 crossings.
SIZES = ((20, 40), (45, 67), (101, 202), (307, 445), (1025, 1027))
PAPER = {136_615: 9.85, 1_052_675: 86.0}
"""Seconds a step on a GPU, as the strain rate paper has them."""
STEPS = 5


def sheet(warps: int, wefts: int) -> YarnSimulation:
    """A cloth held flat by one edge, let go; damping between the paper's low and medium."""
    yarn = Yarn(radius=1.2e-4, linear_density=5e-5, stretch=0.5, bending=2e-9)
    net = YarnNet.patch(warps, wefts, spacing=5e-4)
    cloth = WovenCloth(net, warp=yarn, shear=1e-7, friction=0.3)
    y = net.positions[:, 1]
    damping = YarnDamping(stretch=3e-3, bending=0.1)
    return YarnSimulation(cloth, damping=damping, gravity=(0, 0, -9.81), fixed=y >= y.max())


def measure(warps: int, wefts: int) -> None:
    """Print crossings, seconds a step by the clock and of all cores, iterations, memory [GB]."""
    sim = sheet(warps, wefts)
    sim.step()
    spans, worked, iterations = [], [], []
    for _ in range(STEPS):
        start, began = time.perf_counter(), time.process_time()
        sim.step()
        spans.append(time.perf_counter() - start)
        worked.append(time.process_time() - began)
        iterations.append(sim.newton_iterations)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(sim.cloth.n_nodes, median(spans), median(worked), float(np.mean(iterations)), memory)


def growth(sizes: tuple[tuple[int, int], ...] = SIZES) -> list[list[float]]:
    """What ``measure`` prints for each size."""
    rows = []
    for size in sizes:
        code = f"from benchmarks.yarns import measure; measure(*{size})"
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
        rows.append([float(word) for word in done.stdout.split()])
    return rows


def main() -> None:
    rows: list[list[object]] = []
    for nodes, *rest in growth():
        rows.append([f"{int(nodes):,}", *rest, PAPER.get(int(nodes), "")])
    headers = ["crossings", "s by the clock", "s of all cores", "Newton iterations", "memory [GB]"]
    print(table([*headers, "the paper, GPU [s]"], rows))
