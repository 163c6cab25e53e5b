"""Running a scene and writing what it leaves behind; ``run`` and ``demo`` share it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from supple import InputError, Motion, Recorder, Simulation, export_motion
from supple.cli.progress import Reporter
from supple.cli.words import damping_text, obstacle_text, solver_text, spread
from supple.io.scene import Scene
from supple.types import Floats


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
    scene: Scene,
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
    simulation: Simulation = scene.simulation(at_start=not going_on, progress=reporter)
    if going_on:
        with Recorder(path, scene.body.mesh, resume=True) as recorder:
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


def export(scene: Scene, motion: Motion, path: Path, *, quiet: bool) -> None:
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


def facts(scene: Scene) -> list[tuple[str, str]]:
    """What a scene is about, as names and values."""
    body, mesh = scene.body, scene.body.mesh
    size = np.ptp(mesh.bounds, axis=0)
    listed = [
        ("Mesh", f"{mesh.n_vertices:,} vertices, {mesh.n_cells:,} {_cells(mesh.cell_nodes)}"),
        ("Size", f"{size[0]:.3g} × {size[1]:.3g} × {size[2]:.3g} m, {body.total_mass:.3g} kg"),
    ]
    given = body.material
    for name, material in given.items() if isinstance(given, Mapping) else (("", given),):
        label = f"Material, {name}" if name else "Material"
        young = spread(np.asarray(material.young) / 1e3)
        poisson, density = spread(material.poisson), spread(material.density)
        listed.append(
            (
                label,
                f"{type(material).__name__}: Young's modulus {young}\u00a0kPa, "
                f"Poisson ratio {poisson}, density {density}\u00a0kg/m³",
            )
        )
    held = int((~body.free.all(axis=1)).sum())
    led = sum(np.size(support.vertices) for support in body.supports)
    moving = f", {'' if led == held else f'{led:,} of them '}led along a path" if led else ""
    listed.append(("Held", f"{held:,} vertices{moving}" if held else "nothing: the body is free"))
    if any(scene.gravity):
        listed.append(("Gravity", f"({', '.join(f'{g:g}' for g in scene.gravity)}) m/s²"))
    if scene.loads:
        listed.append(("Loads", f"{len(scene.loads)}"))
    for i, obstacle in enumerate(scene.obstacles):
        label = "Obstacle" if len(scene.obstacles) == 1 else f"Obstacle {i + 1}"
        listed.append((label, obstacle_text(obstacle)))
    listed.append(("Starts", _start(scene)))
    listed.append(("Damping", damping_text(scene.dampings)))
    name = type(scene.integrator).__name__
    listed.append(("Solver", solver_text(scene.solver)))
    listed.append(("Time", f"{scene.duration:g} s in steps of {1e3 * scene.dt:.4g} ms, {name}"))
    return listed


def _start(scene: Scene) -> str:
    given = scene.initial
    parts = ["at rest under its loads"] if given.equilibrium else []
    if given.mode is not None:
        parts.append(f"bent into vibration mode {given.mode} by {given.amplitude:g} m")
    if given.example is not None:
        parts.append(f"bent into {given.excitation:g} times the example {given.example!r}")
    if any(given.velocity):
        parts.append(f"with the velocity ({', '.join(f'{v:g}' for v in given.velocity)}) m/s")
    if any(given.rotation):
        parts.append(f"turning at ({', '.join(f'{w:g}' for w in given.rotation)}) rad/s")
    return ", ".join(parts) or "at rest, undeformed"


def _cells(nodes: int) -> str:
    return {4: "tets", 8: "bricks", 10: "quadratic tets"}[nodes]
