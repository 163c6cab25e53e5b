"""Running a scene and writing what it leaves behind; ``run`` and ``demo`` share it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from supple import InputError, Motion, Recorder, export_motion
from supple.cli.progress import Reporter
from supple.core.types import Floats
from supple.io.scene.scene import Scene, YarnScene


@dataclass
class Clock:
    """Notes how long each step takes, and hands progress on."""

    reporter: Reporter
    dt: float
    steps: list[tuple[float, float]] = field(default_factory=list)
    _last: float = field(default_factory=time.perf_counter)

    def start(self) -> None:
        self._last = time.perf_counter()

    def __call__(self, done: int, total: int, what: str) -> None:
        now = time.perf_counter()
        self.steps.append((done * self.dt, now - self._last))
        self.reporter(done, total, what)
        # The file is written between this moment and the next step, and counts as part of it.
        self._last = now

    def table(self) -> Floats:
        """Time [s] and computing time [s] of each step, (k, 2)."""
        return np.array(self.steps, dtype=float).reshape(-1, 2)


def record(
    scene: Scene | YarnScene,
    path: Path,
    reporter: Reporter,
    *,
    metadata: Mapping[str, str],
    duration: float,
    resume: bool = False,
    overwrite: bool = False,
) -> tuple[Motion, Floats]:
    """Runs a scene into a motion file; the motion, and (k, 2) how long each step took."""
    going_on = resume and path.exists()
    simulation = scene.simulation(at_start=not going_on, progress=reporter)
    if going_on:
        with Recorder(path, scene.mesh, resume=True) as recorder:
            fresh = recorder.checkpoint() is None and not recorder.finished
        if fresh:
            simulation = scene.simulation(progress=reporter)
    clock = Clock(reporter, scene.dt)
    clock.start()
    motion = simulation.run(
        duration,
        every=scene.every,
        record=path,
        resume=resume,
        overwrite=overwrite,
        metadata=metadata,
        progress=clock,
    )
    return motion, clock.table()


def export(scene: Scene | YarnScene, motion: Motion, path: Path, *, quiet: bool) -> None:
    """Writes one of the formats that the scene asks for."""
    with Reporter(f"writing {path.name}", quiet=quiet) as reporter, warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        options = {} if path.suffix == ".pvd" else {"up": scene.up}
        export_motion(
            motion,
            path,
            skin=scene.skin,
            obstacles=scene.obstacles,
            progress=reporter,
            **options,
        )


def make_folder(folder: Path) -> None:
    """Makes the folder to write to, or says what stands in its way."""
    for place in (folder, *folder.parents):
        if place.exists():
            if not place.is_dir():
                raise InputError(f"{place} is a file; --output needs the name of a folder")
            break
    folder.mkdir(parents=True, exist_ok=True)
