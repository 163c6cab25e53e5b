"""``supple play`` from Python: a reduced model is pulled, let go, and comes to life in a page."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from supple.character.model.file import is_pose_space_file
from supple.core.checks import vector
from supple.core.errors import InputError, Parameter
from supple.core.types import Floats, Progress
from supple.damping import Rayleigh
from supple.dynamics.motion import Motion
from supple.io.export import MOTION_FORMATS, export_motion
from supple.io.gltf.motion import GltfReport
from supple.io.play.page import Play, Record, held_vertices, runs_in_page, write_play_page
from supple.reduction import ReducedModel, load_model
from supple.reduction.model_file import is_model_file
from supple.workflows.outputs import check_file

_FPS = 60.0
_STEP = 1e-3  # [s]
_STEPS_A_PERIOD = 100  # of the first mode, at least
_PULLING = 0.25  # share of the run
_SHORTEST, _LONGEST, _PERIODS = 4.0, 60.0, 4.0  # how long to run it [s]; periods of the first mode
_REACH = 0.25  # how far the default pull goes, of the body's size


@dataclass(frozen=True, eq=False)
class PlayResult:
    """A run of a model, and the page in which it lives."""

    model: ReducedModel
    page: Path
    live: bool
    """Whether the page computes the model; where not, it shows this run."""
    skinned: bool
    """Whether the page draws the skin, if there is one: a large one is left out."""
    forces: tuple[tuple[int, Floats], ...]
    """Vertices that were pulled, and with which forces (3,) [N]."""
    moved: float
    """How far the first of them was when it was let go [m]."""
    dt: float
    every: int
    """Steps from one frame to the next."""
    times: Floats
    """What the steps of each frame took [s]."""
    exported: Path | None = None
    gltf: GltfReport | None = None
    """How close a ``.glb`` is to the motion."""

    @property
    def step_seconds(self) -> float:
        """What a step takes [s], the median: other programs disturb some frames."""
        return float(np.median(self.times)) / self.every


def play(
    model: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    export: str | os.PathLike[str] | None = None,
    size: int | None = None,
    pull: Sequence[float] | None = None,
    seconds: float | None = None,
    dt: float | None = None,
    damping: float = 0.03,
    gravity: float = 0.0,
    up: Literal["y", "z"] | None = None,
    progress: Progress | None = None,
) -> PlayResult:
    """Pulls a reduced model, lets it go, and writes one page in which it lives.

    Args:
        model: The file of the model, ``*.supple``.
        output: The page; ``play.html`` beside the model.
        export: A file for the run, for other programs.
        size: Use only so many coordinates.
        pull: A vertex and a force on it, four numbers [-, N, N, N]; by default where the first mode
            moves most, by about a quarter of the body's size.
        seconds: How long to run it [s]; 4, or four periods of the first mode.
        dt: The step [s]; a millisecond, or less where the first mode needs it.
        damping: Damping ratio of the first mode.
        gravity: Downwards [m/s²].
        up: The axis that points up; by default that of the model.
        progress: Called as ``progress(done, total, what)``.
    """
    source = Path(model)
    page = Path(output) if output else source.with_name("play.html")
    file = None if export is None else Path(export)
    _check(source, page, file)
    loaded = load_model(source, size=size)
    axis = up or loaded.up or _up(loaded)
    poke = default_poke(loaded) if pull is None else given_poke(loaded, pull[0], pull[1:])
    first = float(loaded.frequencies[0])
    step = dt or min(_STEP, 1 / (_STEPS_A_PERIOD * first))
    run = _run(
        loaded,
        poke,
        _options(loaded, damping, step, tuple(-gravity * (each == axis) for each in "xyz")),
        seconds or min(max(_SHORTEST, _PERIODS / first), _LONGEST),
        recording=file is not None,
        progress=progress,
    )
    live = runs_in_page(loaded)
    described = Play(
        title=source.stem,
        poke=run.pulled,
        compliance=poke.compliance,
        dt=step,
        damping=damping,
        gravity=gravity,
        up=axis,
        record=None if live else run.record,
    )
    skinned = write_play_page(page, loaded, described)
    gltf = None
    if file is not None and run.motion is not None:
        skin = loaded.skin_embedding()
        gltf = export_motion(run.motion, file, skin=skin, up=axis, progress=progress)
    return PlayResult(
        model=loaded,
        page=page,
        live=live,
        skinned=skinned,
        forces=poke.forces,
        moved=run.moved,
        dt=step,
        every=run.every,
        times=run.times,
        exported=file,
        gltf=gltf,
    )


def _check(source: Path, page: Path, export: Path | None) -> None:
    """Stops before the work where its results could not be written."""
    if not source.exists():
        raise InputError(f"there is no file {source}; supple reduce makes a model")
    if source.is_file() and is_pose_space_file(source):
        raise InputError(
            f"{source} is a model of flesh, which moves with a character: use supple enrich "
            f"CHARACTER --model {source} --report page.html"
        )
    if source.is_file() and source.suffix.lower() != ".supple" and not is_model_file(source):
        raise InputError(f"{source} is not a reduced model; make one: supple reduce {source}")
    check_file("output", page, (".html", ".htm"), "a page")
    if export is not None:
        check_file("export", export, tuple(MOTION_FORMATS), "a motion")


def _up(model: ReducedModel) -> Literal["y", "z"]:
    """The axis that points up: y where the body stands on its supports along y, else z."""
    held = held_vertices(model)
    if not len(held):
        return "z"
    low, high = model.mesh.bounds
    at = (model.mesh.vertices[held].mean(axis=0) - low) / np.maximum(high - low, 1e-300)
    return "y" if at[1] < 0.2 and at[2] > 0.3 else "z"


@dataclass(frozen=True, eq=False)
class Poke:
    """Forces [N] on vertices, and how far the first vertex gives way [m/N]."""

    forces: tuple[tuple[int, Floats], ...]
    compliance: float

    def load(self, model: ReducedModel) -> Any:
        """As ``run_steps`` takes it."""
        first, *others = (model.pull(vertex, force) for vertex, force in self.forces)
        return sum(others, start=first)


def given_poke(model: ReducedModel, vertex: float, force: ArrayLike) -> Poke:
    """Pulls a vertex with a force (3,) [N]."""
    pulled = vector("pull", force)
    if vertex != int(vertex) or not 0 <= vertex < model.mesh.n_vertices:
        last = model.mesh.n_vertices - 1
        raise InputError(Parameter("pull", f"{vertex:g}"), f": this model has vertices 0 to {last}")
    if not pulled.any():
        zero = " with a force of zero does nothing; give three numbers [N]"
        raise InputError(Parameter("pull"), zero)
    rows = model.vectors[:, int(vertex)]
    if not rows.any():
        raise InputError(Parameter("pull", f"{vertex:g}"), ": this vertex is held; take another")
    give = _compliance(model, rows @ pulled / np.linalg.norm(pulled))
    return Poke(((int(vertex), pulled),), give)


def default_poke(model: ReducedModel) -> Poke:
    """Pulls where the first mode moves most, as far as a quarter of the body's size if linear.

    A free body is pulled apart, so that it stays where it is.
    """
    from scipy.linalg import eigh  # slow to import

    from supple.reduction.modes import canonicalize

    K = model.stiffness(np.zeros(model.size))
    mode = eigh(K, model.mass, subset_by_index=(0, 0))[1][:, 0]
    shape = model.displacements(mode)
    canonicalize(np.zeros(1), shape[None])  # the same end, pulled the same way, on every processor
    reach = np.linalg.norm(shape, axis=1)
    vertex = int(np.argmax(reach >= (1 - 1e-6) * reach.max()))
    along = shape[vertex] / np.linalg.norm(shape[vertex])
    ends = [(vertex, along)]
    if model.floating is not None:
        ends.append((int((shape @ along).argmin()), -along))
    give = _compliance(model, np.sum([model.vectors[:, v] @ d for v, d in ends], axis=0))
    force = _REACH * model.mesh.diagonal / give
    return Poke(tuple((v, force * d) for v, d in ends), give)


def _compliance(model: ReducedModel, load: Floats) -> float:
    """lᵀ K⁻¹ l, how far a unit of this reduced load (r,) moves where it acts [m/N]."""
    return float(load @ np.linalg.solve(model.stiffness(np.zeros(model.size)), load))


class _Run(NamedTuple):
    """What was recorded, where it was let go, and the frames if they are to be exported.

    The others are those of ``PlayResult``; ``pulled`` is q where it is let go, (r,).
    """

    record: Record
    pulled: Floats
    moved: float
    every: int
    times: Floats
    motion: Motion | None


def _options(
    model: ReducedModel, zeta: float, dt: float, gravity: tuple[float, ...]
) -> dict[str, Any]:
    """Those of a simulation with this damping ratio of the first mode."""
    w = 2 * np.pi * float(model.frequencies[0])
    damping = Rayleigh(mass=zeta * w, stiffness=zeta / w)
    if model.floating is not None:
        damping = Rayleigh(stiffness=2 * zeta / w)
    return {"damping": damping, "dt": dt, "gravity": gravity}


def _run(
    model: ReducedModel,
    poke: Poke,
    options: dict[str, Any],
    seconds: float,
    *,
    recording: bool,
    progress: Progress | None,
) -> _Run:
    dt, load = options["dt"], poke.load(model)
    model.simulation(**options).run_steps(2, force=load)  # compiles
    simulation = model.simulation(**options)
    every = max(1, round(1 / (_FPS * dt)))
    frames = max(2, round(seconds / (every * dt)))
    pulling = max(1, round(_PULLING * frames))
    free = model.floating is not None
    q = np.zeros((frames + 1, model.size))
    rotations = np.tile(np.eye(3), (frames + 1, 1, 1)) if free else None
    positions = np.zeros((frames + 1, 3)) if free else None
    recorded = []
    times, moved = [], 0.0
    for frame in range(frames + 1):
        if frame:
            share = min(1.0, frame / (0.8 * pulling)) if frame <= pulling else 0.0
            force = share * share * (3 - 2 * share) * load
            began = time.perf_counter()
            simulation.run_steps(every, force=force)
            times.append(time.perf_counter() - began)
        q[frame] = simulation.q
        if rotations is not None and positions is not None:
            rotations[frame], positions[frame] = simulation.rotation, simulation.position
        if recording:
            recorded.append(simulation.frame())
        if frame == pulling:
            moved = float(np.linalg.norm(simulation.displacements()[poke.forces[0][0]]))
        if progress is not None:
            progress(frame, frames, "frames")
    return _Run(
        record=Record(every * dt, q, rotations, positions),
        pulled=q[pulling],
        moved=moved,
        every=every,
        times=np.array(times),
        motion=Motion.from_frames(model.mesh, recorded) if recorded else None,
    )
