"""``supple run`` from Python: a scene, from reading it to its motion, exports and report."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from supple.core.checks import number
from supple.core.errors import InputError, StepFailed
from supple.core.types import Floats, Ints, Progress
from supple.dynamics.motion import Motion
from supple.dynamics.recording import Recorder
from supple.dynamics.simulation import Simulation
from supple.io.export import MOTION_FORMATS, export_motion
from supple.io.gltf.motion import GltfReport
from supple.io.obstacle_surfaces import floor_of
from supple.io.report.run_report import Run, write_report
from supple.io.scene.base import AnyScene
from supple.io.scene.scene import YarnScene, load_scene
from supple.workflows.earlier_run import BOTH, kept_frames, recorded_mesh, texts_of
from supple.workflows.outputs import folder_of, make_folder
from supple.workflows.words import facts
from supple.yarns import YarnSimulation

_IN_SCENE_WORDS = (
    "In the scene, that is: [time] substeps = 4 (with fps; or a smaller dt), or [integrator] "
    'name = "BackwardEuler".'
)
_IN_YARN_WORDS = "In the scene, that is: [time] substeps = 4 (with fps; or a smaller dt)."


@dataclass(frozen=True)
class Exported:
    """A file for other programs; ``gltf`` tells how close a ``.glb`` is to the motion."""

    path: Path
    gltf: GltfReport | None = None


@dataclass(frozen=True, eq=False)
class RunResult:
    """A motion, and the files that were made of it."""

    scene: AnyScene
    motion: Motion
    motion_file: Path
    steps: Floats
    """Time [s] and computing time [s] of each step that was made now, (k, 2)."""
    seconds: float
    """Computing time of all of them [s]."""
    contacts: Ints
    """How many contacts there were in each of them, (k,)."""
    exports: tuple[Exported, ...] = ()
    report: Path | None = None

    @property
    def met(self) -> bool:
        """Whether every export is as close to the motion as was asked."""
        return all(each.gltf is None or each.gltf.met for each in self.exports)

    @property
    def files(self) -> tuple[Path, ...]:
        """All that was written, the motion first."""
        others = () if self.report is None else (self.report,)
        return (self.motion_file, *(each.path for each in self.exports), *others)


def run(
    scene: str | os.PathLike[str] | AnyScene,
    output: str | os.PathLike[str] | None = None,
    *,
    duration: float | None = None,
    resume: bool = False,
    overwrite: bool = False,
    changes: Mapping[str, Any] | None = None,
    asked: str = "",
    formats: Sequence[str] | None = None,
    fps: float | None = None,
    report: bool | None = None,
    progress: Progress | None = None,
    found: Callable[[RunResult], None] | None = None,
) -> RunResult:
    """Simulates a scene into a folder: ``motion.motion``, exports and ``report.html``.

    Whatever stops the run, all but the frame at hand is safe, and ``resume=True`` goes on from
    there. A finished run is extended where it should last longer; where not, it is only exported
    anew, and nothing is simulated.

    Args:
        scene: The scene file, or a scene that was read.
        output: The folder; by default the scene's name, in the current folder.
        duration: [s], instead of the scene's.
        resume: Go on with an earlier run in the folder.
        overwrite: Replace an earlier run.
        changes: Tables to take instead of those of the file, as ``load_scene`` has them.
        asked: Those changes in words; kept with the motion, and a run that is resumed must have
            the same.
        formats: What to export, such as ("glb", "usdc"), instead of the scene's.
        fps: Frames a second of the exports [1/s], in place of the recorded ones.
        report: Whether to write the report, instead of what the scene says.
        progress: Called as ``progress(done, total, what)``.
        found: Hears of the result as soon as the motion is there, before exports and report.
    """
    if resume and overwrite:
        raise InputError(BOTH)
    if fps is not None:
        number("fps", fps, above=0, unit="1/s")
    endings = tuple(_ending(each) for each in formats) if formats is not None else None
    scene = open_scene(scene, output, resume=resume, changes=changes, progress=progress)
    folder = folder_of(scene, output)
    make_folder(folder)
    path = folder / "motion.motion"
    texts = texts_of(scene, path, resume=resume, overwrite=overwrite, asked=asked)
    began = time.perf_counter()
    try:
        # A run that goes on has its start behind it.
        at_start = not (resume and path.exists())
        if not at_start:
            with Recorder(path, scene.mesh, resume=True) as recorder:
                at_start = recorder.checkpoint() is None and not recorder.finished
        sim = scene.simulation(at_start=at_start, progress=progress)
        clock = Clock(progress, scene.dt, partial(_contacts, sim))
        motion = sim.run(
            scene.duration if duration is None else duration,
            every=scene.every,
            record=path,
            resume=resume,
            overwrite=overwrite,
            metadata=texts,
            progress=clock,
        )
    except StepFailed as failure:
        failure.add_note(kept_frames(path))
        failure.add_note(_IN_YARN_WORDS if isinstance(scene, YarnScene) else _IN_SCENE_WORDS)
        raise
    seconds = time.perf_counter() - began
    result = RunResult(scene, motion, path, clock.table(), seconds, np.array(clock.contacts, int))
    if found is not None:
        found(result)
    shown = motion if fps is None else motion.at_rate(fps)
    exports = tuple(
        Exported(file, _export(scene, shown, file, progress))
        for ending in (scene.formats if endings is None else endings)
        for file in (folder / f"motion.{ending}",)
    )
    result = replace(result, exports=exports)
    if scene.report if report is None else report:
        result = replace(result, report=folder / "report.html")
        _write_report(result)
    return result


def open_scene(
    scene: str | os.PathLike[str] | AnyScene,
    output: str | os.PathLike[str] | None = None,
    *,
    resume: bool = False,
    changes: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> AnyScene:
    """Reads a scene to run it; one to go on with takes the mesh of its earlier run."""
    if isinstance(scene, AnyScene):
        if changes:
            raise InputError("changes are for a scene file; this scene was read already")
        return scene
    path = folder_of(scene, output) / "motion.motion"
    recorded = recorded_mesh(path, Path(scene)) if resume else None
    return load_scene(scene, recorded=recorded, changes=changes, progress=progress)


def _ending(given: str) -> str:
    ending = str(given).lower().lstrip(".")
    if f".{ending}" not in MOTION_FORMATS:
        known = ", ".join(each[1:] for each in MOTION_FORMATS)
        raise InputError.of("formats", given, f": a motion becomes one of {known}")
    return ending


@dataclass
class Clock:
    """Notes how long each step takes and how many contacts it has, and hands progress on."""

    progress: Progress | None
    dt: float
    count: Callable[[], int] = lambda: 0
    contacts: list[int] = field(default_factory=list)
    steps: list[tuple[float, float]] = field(default_factory=list)
    _last: float = field(default_factory=time.perf_counter)

    def __call__(self, done: int, total: int, what: str) -> None:
        now = time.perf_counter()
        self.steps.append((done * self.dt, now - self._last))
        self.contacts.append(self.count())
        if self.progress is not None:
            self.progress(done, total, what)
        # The file is written between this moment and the next step, and counts as part of it.
        self._last = now

    def table(self) -> Floats:
        """Time [s] and computing time [s] of each step, (k, 2)."""
        return np.array(self.steps, dtype=float).reshape(-1, 2)


def _contacts(sim: Simulation | YarnSimulation) -> int:
    """How many contacts the last step had; yarns do not tell."""
    return sim.stats.contacts if isinstance(sim, Simulation) else 0


def _export(
    scene: AnyScene, motion: Motion, path: Path, progress: Progress | None
) -> GltfReport | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the result tells how close it is
        return export_motion(
            motion, path, skin=scene.skin, obstacles=scene.obstacles, up=scene.up, progress=progress
        )


def _write_report(result: RunResult) -> None:
    assert result.report is not None
    scene, motion = result.scene, result.motion
    floor = floor_of(scene.obstacles, scene.up)
    steps = result.steps if len(result.steps) else None
    told = [(each.path.name, str(each.gltf)) for each in result.exports if each.gltf is not None]
    write_report(
        result.report,
        [Run(scene.title, motion, steps=steps, contacts=result.contacts)],
        title=scene.title,
        summary=f"{motion.duration:.3g} s of motion in {len(motion)} frames.",
        facts=[*facts(scene), *told],
        skin=scene.skin,
        colors=scene.colors,
        free=scene.is_free,
        floor=scene.floor if floor is None else floor,
        up=scene.up,
        source=scene.text,
        obstacles=scene.obstacles,
    )
