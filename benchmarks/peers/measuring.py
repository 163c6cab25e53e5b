"""What a run of an engine has in common with the other engines' runs: timing and recording.

Needs NumPy only: peers may live in an interpreter without Supple.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from math import ceil
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.problem import Problem

CYCLES = 5
"""Cycles after which the amplitude is measured."""


class Motion(Protocol):
    """A body in motion in some engine."""

    def advance(self) -> None:
        """Move on by one frame."""

    def state(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Displacements [m] and velocities [m/s], (n, 3) each."""


def arguments(description: str) -> argparse.ArgumentParser:
    """A parser with the arguments that every engine's script takes."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("problem", help="the .npz file of the problem")
    parser.add_argument("output", type=Path, help="the .json file to write")
    parser.add_argument("--repeats", type=int, default=3, help="how often to time one second")
    return parser


def measure(
    options: argparse.Namespace,
    problem: Problem,
    release: Callable[[], Motion],
    *,
    engine: str,
    settings: str,
    steps_per_frame: int,
    note: Callable[[Motion], str] = lambda motion: "",
) -> None:
    """Time one second of motion, follow the first run for five cycles and write what was seen.

    ``release`` makes a motion from scratch, at rest in the release shape; making it is not timed. A
    short motion before the first warms up whatever is compiled or cached. ``note`` may say more
    about the long motion when it is over.
    """
    rate = problem.frame_rate
    _follow(problem, release(), 2)
    frames = max(5 * rate, ceil((CYCLES + 0.3) / problem.frequency * rate))
    motion = release()
    spent, samples = _follow(problem, motion, frames)
    seconds = [spent[rate]]
    for _ in range(options.repeats - 1):
        seconds.append(_follow(problem, release(), rate)[0][rate])
    result = {
        "engine": engine,
        "settings": settings,
        "note": note(motion),
        "steps_per_second": steps_per_frame * rate,
        "wall": [wall for wall, _ in seconds],
        "cpu": [cpu for _, cpu in seconds],
        "times": (np.arange(len(samples)) / rate).tolist(),
        "q": [q for q, _ in samples],
        "q_rate": [q_rate for _, q_rate in samples],
    }
    options.output.write_text(json.dumps(result))


def _follow(
    problem: Problem, motion: Motion, frames: int
) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Wall and processor seconds spent until each frame, and modal coordinates (q, q̇) at each."""
    wall = cpu = 0.0
    spent, samples = [], []
    for number in range(frames + 1):
        if number:
            wall_before, cpu_before = time.perf_counter(), time.process_time()
            motion.advance()
            wall += time.perf_counter() - wall_before
            cpu += time.process_time() - cpu_before
        spent.append((wall, cpu))
        u, v = motion.state()
        samples.append((problem.project(u), problem.project(v)))
        if not np.isfinite(samples[-1]).all() or abs(samples[-1][0]) > 100 * problem.release:
            raise SystemExit(f"unstable: the motion blew up in frame {number}")
    return spent, samples
