"""A model held at 1 kHz for a minute: the share of deadlines met, and how late the latest were.

The bridge of the subspace StVK paper with 15 coordinates: every millisecond a changing force at one
vertex and a step, and 60 times a second the vertices of its render surface. A tick meets its
deadline if all of that is done before the next one is due. The loop waits on one core without
sleeping, and the same loop that does nothing shows what the machine itself is late by.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

import supple as sp
from benchmarks.timing import table
from supple._kernels.reduction import projection, stepping
from supple.builtin import bridge
from supple.core.types import Floats

RATE, FRAMES, DURATION, SIZE = 1000, 60, 60.0, 15


class Session:
    """What a haptic or game loop does, with all of its memory made beforehand."""

    def __init__(self) -> None:
        solid = bridge()
        hold = next(iter(solid.places.values()))
        body = sp.Body(solid.mesh, solid.material, fixed=hold)
        basis = sp.modal_derivative_basis(body, modes=SIZE, size=SIZE)
        self.model = sp.reduce(body, basis, skin=solid.skin)
        self.live = self.model.simulation(
            damping=sp.Rayleigh(mass=0.1, stiffness=1e-3),
            dt=1 / RATE,
            solver=sp.DenseNewton(iterations=1),
        )
        self.vertex = int(np.abs(self.model.vectors[0]).max(axis=1).argmax())
        weight = sp.Body(solid.mesh, solid.material).total_mass * 9.81
        self.amplitude = 0.2 * weight
        assert self.model.skin is not None
        self.skin: Floats = np.empty_like(self.model.skin.vertices)
        self.pull, self.force = np.zeros(3), np.empty(SIZE)

    def tick(self, k: int) -> None:
        angle = 2 * np.pi * 1.3 * k / RATE
        self.pull[0] = self.amplitude * np.sin(0.37 * angle)
        self.pull[2] = self.amplitude * np.cos(angle)
        self.live.step(force=self.model.pull(self.vertex, self.pull, out=self.force))
        if k * FRAMES // RATE != (k - 1) * FRAMES // RATE:
            self.live.skin_vertices(out=self.skin)


def memory_of_ticks(session: Session, ticks: int) -> int:
    """Most bytes [B] that were in use at once, above those before, in some ticks."""
    for k in range(ticks):
        session.tick(k)
    tracemalloc.start()
    session.tick(1)
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    for k in range(ticks):
        session.tick(k)
    peak = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    return peak


def compiled_versions() -> list[int]:
    """How many versions of each kernel of the loop have been compiled."""
    kernels: tuple[Any, ...] = (stepping.run_steps, projection.project_point)
    return [len(kernel.signatures) for kernel in kernels]


def hold(tick: Callable[[int], None], ticks: int) -> tuple[Floats, Floats]:
    """Latency and work [s] of each tick: from when it was due, and from when it began."""
    latency, work = np.empty(ticks), np.empty(ticks)
    clock = time.perf_counter
    start = clock() + 0.01
    for k in range(ticks):
        due = start + k / RATE
        while clock() < due:
            pass
        begun = clock()
        tick(k)
        done = clock()
        latency[k], work[k] = done - due, done - begun
    return latency, work


def nothing(k: int) -> None:
    """The tick of a loop that has no work."""


def main() -> None:
    """Runs in a process whose libraries were told to use one thread."""
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "SUPPLE_THREADS": "1"}
    subprocess.run([sys.executable, "-m", "benchmarks.held_rate"], env=alone, check=True)


def _report() -> None:
    session = Session()
    memory = memory_of_ticks(session, 200)
    before = compiled_versions()
    ticks = round(DURATION * RATE)
    gc.collect()
    gc.freeze()
    gc.disable()
    latency, work = hold(session.tick, ticks)
    idle, _ = hold(nothing, ticks)
    assert compiled_versions() == before, "something was compiled inside the loop"
    skin = session.model.skin
    assert skin is not None
    print(
        f"bridge, {session.model.mesh.n_cells} bricks, r = {SIZE}, render surface of "
        f"{len(skin.vertices)} vertices; {DURATION:g} s at {RATE} Hz, pictures at {FRAMES} Hz; "
        f"at most {memory} bytes of temporary objects at once, nothing compiled\n"
    )
    rows = []
    for name, times in (
        ("from due to done", latency),
        ("the work itself", work),
        ("an empty loop, from due to done", idle),
    ):
        late = [1e6 * float(np.percentile(times, p)) for p in (50, 99, 99.9)]
        met = 100 * np.count_nonzero(times <= 1 / RATE) / ticks
        rows.append([name, *late, 1e6 * times.max(), f"{met:.3f}"])
    headers = ["latency [µs]", "median", "99 %", "99.9 %", "largest", "within 1 ms [%]"]
    print(table(headers, rows))


if __name__ == "__main__":
    _report()
