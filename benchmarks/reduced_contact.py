"""A ball in contact with a reduced bridge at 1 kHz, for 60 s (subspace StVK, Fig. 1).

14,118 skin vertices in 15 coordinates, friction, steps of a millisecond. The ball goes to and fro
along the road on rails and is pressed into it. Times are those of the processor, of whole calls of
``step``, on one thread.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np

import supple as sp
from benchmarks.timing import table
from supple.builtin import bridge
from supple.core.types import Floats

DT, SECONDS, RADIUS = 1e-3, 60.0, 0.04
COPIES = 256
ROAD = 0.03  # height of the road in the middle [m]


def main() -> None:
    """Runs in a process whose libraries were told to use one thread."""
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "SUPPLE_THREADS": "1"}
    subprocess.run([sys.executable, "-m", "benchmarks.reduced_contact"], env=alone, check=True)


def _path(t: float) -> Floats:
    """Of the ball on rails."""
    w = 2 * np.pi * t
    pressed = 0.003 * (1 - np.cos(0.5 * w))
    return np.array([0.15 * np.sin(0.3 * w), 0.02 * np.sin(0.2 * w), ROAD + RADIUS - pressed])


def _spent(live: sp.ReducedSimulation) -> tuple[Floats, Floats, float]:
    """Seconds of the processor of each step, forces on the obstacles, and the deepest vertex."""
    live.step()
    steps = round(SECONDS / DT)
    spent, force, deepest = np.empty(steps), np.zeros(steps), 0.0
    for step in range(steps):
        begin = time.thread_time()
        live.step()
        spent[step] = time.thread_time() - begin
        if live.obstacles:
            force[step] = np.linalg.norm(live.obstacle_forces[0])
            if step % 100 == 0:
                touch = live.obstacles[0].at(live.skin_vertices(), live.time)
                deepest = max(deepest, -float(touch.distance.min()))
    return spent, force, deepest


def _report() -> None:
    made = bridge()
    body = sp.Body(made.mesh, made.material, fixed=made.places["ground"])
    model = sp.reduce(body, sp.modal_derivative_basis(body, modes=5, size=15), skin=made.skin)
    far = sp.Sphere(centre=(0, 0, 5), radius=RADIUS)
    moving = sp.Sphere(radius=RADIUS, friction=0.2, motion=sp.Rails.path(position=_path))
    rows = []
    for name, obstacles in (("none", []), ("far away", [far]), ("in contact", [moving])):
        for rule in (sp.Newmark(), sp.BackwardEuler()):
            live = model.simulation(
                dt=DT,
                damping=sp.Rayleigh.from_ratios((3.0, 30.0), (0.02, 0.04)),
                integrator=rule,
                obstacles=obstacles,
            )
            spent, force, deepest = _spent(live)
            late = np.percentile(spent, 99)
            rows.append(
                [name, type(rule).__name__, 1e6 * np.median(spent), 1e6 * late,
                 float(np.mean(force > 0)), float(force.max()), 1e9 * deepest]
            )  # fmt: skip
    head = ["obstacle", "rule", "median [µs]", "99 % [µs]", "in contact", "most force [N]"]
    print(f"{len(model.skin.vertices)} vertices, {model.size} coordinates, {SECONDS:g} s")
    print(table([*head, "deepest [nm]"], rows))
    _report_crowd(model, far)


def _report_crowd(model: sp.ReducedModel, far: sp.Obstacle) -> None:
    """What obstacles out of reach cost a crowd: best of rounds that alternate."""
    options = {"dt": DT, "damping": sp.Rayleigh(mass=1.0), "integrator": sp.Newmark()}
    crowds = [model.simulation(copies=COPIES, obstacles=o, **options) for o in ((), far)]
    best = [np.inf, np.inf]
    for _ in range(15):
        for n, crowd in enumerate(crowds):
            begin = time.process_time()
            crowd.run_steps(40)
            best[n] = min(best[n], time.process_time() - begin)
    each = [1e6 * spent / (40 * COPIES) for spent in best]
    ratio = best[1] / best[0]
    print(f"crowd of {COPIES}, µs a copy and step: {each[0]:.2f} alone, {each[1]:.2f} with an "
          f"obstacle out of reach, {ratio:.3f} times")  # fmt: skip


if __name__ == "__main__":
    _report()
