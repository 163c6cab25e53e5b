"""``supple play``: a reduced model is pulled and let go, and comes to life in a page."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

import supple as sp
from supple.character.model.file import is_pose_space_file
from supple.cli.progress import Reporter, say
from supple.core.types import Floats
from supple.io.export import MOTION_FORMATS
from supple.io.play.page import Play, Record, held_vertices, runs_in_page, write_play_page
from supple.reduction.model_file import is_model_file

_FPS = 60.0
_STEP = 1e-3  # [s]
_STEPS_A_PERIOD = 100  # of the first mode, at least
_PULLING = 0.25  # share of the run
_SHORTEST, _LONGEST, _PERIODS = 4.0, 60.0, 4.0  # how long to run it [s]; periods of the first mode
_REACH = 0.25  # how far the default pull goes, of the body's size


def command(given: argparse.Namespace) -> int:
    if given.threads is not None:
        sp.set_thread_count(given.threads)
    source = Path(given.model)
    page = Path(given.output) if given.output else source.with_name("play.html")
    _check_targets(source, page, given)
    model = sp.load_model(source, size=given.size)
    say(f"{source}: {model!r}", quiet=given.quiet)
    up = given.up or model.up or _up(model)
    poke = _given_poke(model, given.pull) if given.pull else _default_poke(model)
    first = float(model.frequencies[0])
    dt = given.dt or min(_STEP, 1 / (_STEPS_A_PERIOD * first))
    seconds = given.seconds or min(max(_SHORTEST, _PERIODS / first), _LONGEST)
    with Reporter("playing", quiet=given.quiet) as reporter:
        run = _run(model, poke, up, dt, seconds, given, reporter)
    _tell(run, poke, given)
    live = runs_in_page(model)
    play = Play(
        title=source.stem,
        poke=run.pulled,
        compliance=poke.compliance,
        dt=dt,
        damping=given.damping,
        gravity=given.gravity,
        up=up,
        record=None if live else run.record,
    )
    if not write_play_page(page, model, play):
        note = "the skin is too large for a page; it draws the boundary of the mesh instead"
        print(f"note: {note}", file=sys.stderr)
    if given.export is not None:
        with Reporter(f"writing {given.export}", quiet=given.quiet) as reporter:
            _export(model, run, Path(given.export), up, reporter)
        say(f"  {given.export}", quiet=given.quiet)
    how = "drag it with the mouse" if live else "it shows this run"
    say(f"Look: open {page} in a browser; {how}.", quiet=given.quiet)
    return 0


def _check_targets(source: Path, page: Path, given: argparse.Namespace) -> None:
    """Stops before the work where its results could not be written."""
    if page.suffix.lower() not in (".html", ".htm"):
        raise sp.InputError(f"--output {page}: the name of a page ends in .html")
    if given.export is not None and Path(given.export).suffix.lower() not in MOTION_FORMATS:
        raise sp.InputError(
            f"--export {given.export}: a motion becomes one of {', '.join(MOTION_FORMATS)}"
        )
    if not source.exists():
        raise sp.InputError(f"there is no file {source}; supple reduce makes a model")
    if source.is_file() and is_pose_space_file(source):
        raise sp.InputError(
            f"{source} is a model of flesh, which moves with a character: use supple enrich "
            f"CHARACTER --model {source} --report page.html"
        )
    if source.is_file() and source.suffix.lower() != ".supple" and not is_model_file(source):
        raise sp.InputError(f"{source} is not a reduced model; make one: supple reduce {source}")
    for target in (page, Path(given.export) if given.export else page):
        if not target.parent.is_dir():
            raise sp.InputError(f"cannot write {target}: there is no folder {target.parent}")


def _up(model: sp.ReducedModel) -> Literal["y", "z"]:
    """The axis that points up: y where the body stands on its supports along y, else z."""
    held = held_vertices(model)
    if not len(held):
        return "z"
    low, high = model.mesh.bounds
    at = (model.mesh.vertices[held].mean(axis=0) - low) / np.maximum(high - low, 1e-300)
    return "y" if at[1] < 0.2 and at[2] > 0.3 else "z"


# -- the poke ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Poke:
    """Forces [N] on vertices, and how far the first vertex gives way [m/N]."""

    forces: tuple[tuple[int, Floats], ...]
    compliance: float

    def load(self, model: sp.ReducedModel) -> Any:
        """As ``run_steps`` takes it."""
        first, *others = (model.pull(vertex, force) for vertex, force in self.forces)
        for other in others:
            first = first + other
        return first


def _given_poke(model: sp.ReducedModel, pull: list[float]) -> _Poke:
    vertex, force = int(pull[0]), np.array(pull[1:])
    if vertex != pull[0] or not 0 <= vertex < model.mesh.n_vertices:
        raise sp.InputError(
            f"--pull {pull[0]:g}: this model has vertices 0 to {model.mesh.n_vertices - 1}"
        )
    if not force.any():
        raise sp.InputError("--pull with a force of zero does nothing; give three numbers [N]")
    rows = model.vectors[:, vertex]
    if not rows.any():
        raise sp.InputError(f"--pull {vertex}: this vertex is held; take another")
    return _Poke(((vertex, force),), _compliance(model, rows @ force / np.linalg.norm(force)))


def _default_poke(model: sp.ReducedModel) -> _Poke:
    """Pulls where the first mode moves most, as far as a quarter of the body's size if linear.

    A free body is pulled apart, so that it stays where it is.
    """
    from scipy.linalg import eigh  # slow to import

    from supple.reduction.modes import settle

    K = model.stiffness(np.zeros(model.size))
    mode = eigh(K, model.mass, subset_by_index=(0, 0))[1][:, 0]
    shape = model.displacements(mode)
    settle(np.zeros(1), shape[None])  # the same end, pulled the same way, on every processor
    reach = np.linalg.norm(shape, axis=1)
    vertex = int(np.argmax(reach >= (1 - 1e-6) * reach.max()))
    along = shape[vertex] / np.linalg.norm(shape[vertex])
    ends = [(vertex, along)]
    if model.floating is not None:
        ends.append((int((shape @ along).argmin()), -along))
    give = _compliance(model, np.sum([model.vectors[:, v] @ d for v, d in ends], axis=0))
    force = _REACH * model.mesh.diagonal / give
    return _Poke(tuple((v, force * d) for v, d in ends), give)


def _compliance(model: sp.ReducedModel, load: Floats) -> float:
    """lᵀ K⁻¹ l, how far a unit of this reduced load (r,) moves where it acts [m/N]."""
    return float(load @ np.linalg.solve(model.stiffness(np.zeros(model.size)), load))


# -- the run -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Run:
    record: Record
    pulled: Floats
    """q where it is let go, (r,)."""
    moved: float
    """How far the pulled vertex was then [m]."""
    dt: float
    every: int
    """Steps from one frame to the next."""
    times: Floats
    """What the steps of each frame took [s]."""
    motion: sp.Motion | None
    """The frames, if they are to be exported."""


def _run(
    model: sp.ReducedModel,
    poke: _Poke,
    up: str,
    dt: float,
    seconds: float,
    given: argparse.Namespace,
    reporter: Reporter,
) -> _Run:
    w = 2 * np.pi * float(model.frequencies[0])
    zeta = given.damping
    options: dict[str, Any] = {
        "damping": sp.Rayleigh(mass=zeta * w, stiffness=zeta / w)
        if model.floating is None
        else sp.Rayleigh(stiffness=2 * zeta / w),
        "dt": dt,
        "gravity": tuple(-given.gravity * (axis == up) for axis in "xyz"),
    }
    load = poke.load(model)
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
        if given.export:
            recorded.append(simulation.frame())
        if frame == pulling:
            moved = float(np.linalg.norm(simulation.displacements()[poke.forces[0][0]]))
        reporter(frame, frames, "frames")
    return _Run(
        record=Record(every * dt, q, rotations, positions),
        pulled=q[pulling],
        moved=moved,
        dt=dt,
        every=every,
        times=np.array(times),
        motion=sp.Motion.from_frames(model.mesh, recorded) if recorded else None,
    )


def _tell(run: _Run, poke: _Poke, given: argparse.Namespace) -> None:
    for vertex, force in poke.forces:
        x, y, z = force
        say(f"  pulled  vertex {vertex} with ({x:.3g}, {y:.3g}, {z:.3g}) N", quiet=given.quiet)
    micro = 1e6 * float(np.median(run.times)) / run.every  # other programs disturb some frames
    lines = [
        f"  moved   {run.moved:.3g} m, then let go",
        f"  ran     {len(run.times) * run.every:,} steps of {1e3 * run.dt:.3g} ms in "
        f"{run.times.sum():.3g} s",
        f"  rate    {micro:.3g} µs a step, {1e6 / micro:,.0f} steps a second, "
        f"{1e6 * run.dt / micro:,.0f} × real time",
    ]
    for line in lines:
        say(line, quiet=given.quiet)


def _export(model: sp.ReducedModel, run: _Run, path: Path, up: str, reporter: Reporter) -> None:
    assert run.motion is not None
    options: dict[str, Any] = {} if path.suffix.lower() == ".pvd" else {"up": up}
    sp.export_motion(run.motion, path, skin=model.skin_embedding(), progress=reporter, **options)
