"""The error that a reduced model tells of its motion against the true one.

Bodies made by others, scaled to a size of 1 m, are held at one end, pushed by a load on all of
their mass so that they swing by a quarter of their size, let go, and compared with the full body
over one and a half of its slowest periods, in four kinds of bases and five sizes.

``python -m benchmarks model_error FOLDER [BODY …] [--keep CACHE]``, where the folder has ``tets``,
``surfaces`` and ``characters``; all bodies if none is named. What was found is kept in the folder
CACHE, motions of full bodies and finished rows, so that it can be interrupted; rows are measured
again where the code of reduced models has changed.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import supple as sp
from benchmarks.keeping import Kept, fingerprint, told_rows
from supple.core.types import Floats
from supple.reduction.sketch import SketchShapes, sketch_shapes
from supple.workflows.solids import Filling, load_solid

SWING, STEPS_A_PERIOD, PUSHED, PERIODS = 0.27, 80, 0.3, 1.5
SIZES = (5, 10, 15, 20, 30)
BODIES = {  # file, the axis along which it is held at its low end, and how much of it
    "bar, 186 tets": ("tets/bar_bar-186.msh", None, 0.05),
    "turtle": ("tets/turtle-volumetric-heterogeneous.veg", 1, 0.1),
    "bunny": ("tets/bunny_1124.node", 1, 0.1),
    "sphere": ("tets/sphere.node", 1, 0.1),
    "torus": ("tets/torus.node", 1, 0.1),
    "bar, 2,523 tets": ("tets/bar_bar-2523.msh", None, 0.05),
    "bridge": ("tets/simpleBridge_resol92-b1.155_enlarged.veg", 1, 0.1),
    "spot": ("surfaces/spot.obj", 1, 0.1),
    "bob": ("surfaces/bob.obj", 1, 0.1),
    "bear": ("surfaces/newton_bear.usd", 1, 0.1),
    "octocat": ("tets/octocat.msh", 1, 0.2),
    "elephant": ("tets/fcd_elephant.msh", 1, 0.1),
    "character": ("characters/elephant_tetrig/elephant.mesh", 1, 0.1),
}
_VOXELS = 16


@dataclass(frozen=True, eq=False)
class Case:
    """A body, what pushes it, and how it moves."""

    body: sp.Body
    load: Floats
    damping: sp.Rayleigh
    dt: float

    def force(self, time: float) -> Floats | None:
        return self.load if time < self.pushed - 0.5 * self.dt else None

    @property
    def pushed(self) -> float:
        """For how long [s]."""
        return round(PUSHED * STEPS_A_PERIOD) * self.dt

    @property
    def steps(self) -> int:
        return round(PERIODS * STEPS_A_PERIOD)

    def simulation(self, model: sp.ReducedModel) -> sp.ReducedSimulation:
        live: sp.ReducedSimulation = model.simulation(
            damping=self.damping,
            integrator=sp.TRBDF2(),
            dt=self.dt,
            solver=sp.DenseNewton(max_iterations=40),
        )
        return live

    def moved(self, model: sp.ReducedModel) -> Floats:
        """Displacements of a model, (T, n, 3)."""
        live = self.simulation(model)
        on = round(PUSHED * STEPS_A_PERIOD)
        first, _ = live.trace(on, force=model.project(self.load))
        second, _ = live.trace(self.steps - on)
        return np.tensordot(np.concatenate([first, second[1:]]), model.vectors, 1)

    def moved_in_full(self) -> Floats:
        sim = sp.Simulation(self.body, damping=self.damping, integrator=sp.TRBDF2(), dt=self.dt)
        frames = [sim.state.u.copy()]
        for step in range(self.steps):
            sim.step(force=self.force(step * self.dt))
            frames.append(sim.state.u.copy())
        return np.array(frames)

    def sizes(self, shapes: Floats) -> Floats:
        return np.sqrt([np.vdot(u, self.body.mass_times(u)) for u in shapes])


def held_body(folder: Path, name: str) -> tuple[sp.Body, int]:
    """The body of that name, 1 m in size and held at one end, and along which axis that is."""
    file, axis, held = BODIES[name]
    filling = Filling(voxels=_VOXELS) if file.startswith("surfaces") else Filling()
    mesh = load_solid(folder / file, filling).mesh
    extent = np.ptp(mesh.vertices, axis=0)
    X = (mesh.vertices - mesh.vertices.min(axis=0)) / extent.max()
    along = int(np.argmax(extent)) if axis is None else axis
    mesh = type(mesh)(X, mesh.cells)
    material = sp.StVK(young=1e5, poisson=0.4, density=1000)
    low = np.flatnonzero(X[:, along] <= held * X[:, along].max())
    return sp.Body(mesh, material, fixed=low), along


def body_of(
    folder: Path, name: str
) -> tuple[sp.Body, sp.Rayleigh, float, tuple[sp.Modes, Floats, int]]:
    """That body, its damping, the time step, and modes, places and axis."""
    body, along = held_body(folder, name)
    modes = sp.vibration_modes(body, 10)
    period = float(1 / modes.frequencies[0])
    damping = sp.Rayleigh(
        mass=0.2 * np.pi / period, stiffness=3e-3 * period, at=sp.StiffnessAt.REST
    )
    return body, damping, period / STEPS_A_PERIOD, (modes, body.mesh.vertices, along)


def case_of(folder: Path, name: str) -> Case:
    """That body, with a load that makes a model of it swing as far as it should."""
    body, damping, dt, (modes, X, along) = body_of(folder, name)
    way = np.array([0.4, 0.6, 0.7])
    way[along] = 0.1
    load = body.mass_times(np.outer(X[:, along], way)) * body.free
    load *= SWING / np.linalg.norm(modes.static_shape(load), axis=1).max()
    model = sp.reduce(body, sp.modal_derivative_basis(body, modes=modes, size=20), compare=False)
    for _ in range(4):
        case = Case(body, load, damping, dt)
        swing = np.linalg.norm(case.moved(model), axis=2).max()
        if abs(swing / SWING - 1) < 0.05:
            break
        load = load * SWING / swing
    return case


def kept_case(folder: Path, name: str, kept: Kept) -> tuple[Case, Floats, float]:
    """The case of that name, how its body moves in full, and the seconds that this took."""
    mark = fingerprint(BODIES[name], SWING, STEPS_A_PERIOD, PUSHED, PERIODS, _VOXELS)
    named = f"{name.replace(', ', '-').replace(' ', '-').replace(',', '')}-{mark}"

    def found() -> dict[str, Floats]:
        case = case_of(folder, name)
        start = time.process_time()
        full = case.moved_in_full()
        return {"load": case.load, "full": full, "seconds": np.array(time.process_time() - start)}

    arrays = kept.arrays(named, found)
    body, damping, dt = body_of(folder, name)[:3]
    return Case(body, arrays["load"], damping, dt), arrays["full"], float(arrays["seconds"])


def bases(case: Case, kept: Kept, named: str) -> Iterator[tuple[str, Callable[[], sp.Basis]]]:
    """The kinds in all sizes; made when asked for."""
    body = case.body

    @cache
    def modes() -> sp.Modes:
        return sp.vibration_modes(body, max(SIZES))

    @cache
    def motion() -> Floats:
        other = sp.Simulation(body, damping=case.damping, dt=4 * case.dt)
        shape = modes().shapes[1]
        other.state.v = shape / np.abs(shape).max() * modes().frequencies[1]
        made = lambda: {"u": other.run(3 * STEPS_A_PERIOD * case.dt).displacements[1:]}  # noqa: E731
        return kept.arrays(f"{named}-another", made)["u"]

    @cache
    def drawn() -> SketchShapes:
        sketch = sp.Sketch(body, modes=modes())
        X = body.mesh.vertices
        for tip in np.unique(np.concatenate([X.argmax(axis=0), X.argmin(axis=0)])):
            if body.free[tip].all():
                for way in 0.15 * np.concatenate([np.eye(3), -np.eye(3)]):
                    sketch.drag(int(tip), X[tip] + np.outer((0.25, 0.5, 0.75, 1.0), way))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of forces that were skipped
            return sketch_shapes(body, sketch)

    for size in SIZES:
        yield (
            f"modal derivatives {size}",
            lambda n=size: sp.modal_derivative_basis(body, modes=10, size=n),
        )
        yield f"linear modes {size}", lambda n=size: sp.picked_basis(body, modes().shapes[:n])
        yield f"another motion {size}", lambda n=size: sp.motion_basis(body, motion(), n)
        yield f"sketch {size}", lambda n=size: sp.sketch_basis(body, drawn(), n)


def measured(case: Case, full: Floats, make: Callable[[], sp.Basis]) -> dict[str, Any]:
    """What a model tells, and what is true."""
    try:
        model = sp.reduce(case.body, make(), compare=False)
    except sp.InputError as too_few:  # shapes, of a sketch
        return {"failed": str(too_few), "why": "no such basis"}
    start = time.process_time()
    try:
        moved = case.moved(model)
        run = time.process_time() - start
        true = case.sizes(moved - full).max() / case.sizes(full).max()
        start = time.process_time()
        with warnings.catch_warnings(record=True) as told_more:
            warnings.simplefilter("always", sp.ModelWarning)
            told = sp.motion_error(case.simulation(model), case.steps * case.dt, force=case.force)
    except sp.StepFailed as failed:
        return {"failed": str(failed)}
    return {
        "true": float(true),
        "told": told.error,
        "unsure": told.unsure,
        "warned": len(told_more),
        "run": run,
        "telling": time.process_time() - start,
    }


def rows_of(folder: Path, name: str, kept: Kept) -> Iterator[dict[str, Any]]:
    """Of one body: what every model tells, and what is true."""
    case, full, seconds = kept_case(folder, name, kept)
    code = Path(sp.__file__).parent / "reduction"
    mark = fingerprint(BODIES[name], files=[*code.rglob("*.py"), Path(__file__)])
    for label, make in bases(case, kept, name):
        row = kept.row(
            "model_error", f"{name} · {label} · {mark}", lambda m=make: measured(case, full, m)
        )
        yield {**row, "body": name, "basis": label, "full": seconds}


def cells(row: dict[str, Any]) -> list[str]:
    """A row as it is shown."""
    if "failed" in row:
        return [row["body"], row["basis"], row.get("why", "cannot be stepped"), *5 * [""]]
    return [
        row["body"],
        row["basis"],
        f"{100 * row['true']:.2f} %",
        f"{100 * row['told']:.2f} %",
        f"{row['told'] / row['true']:.2f}{' (unsure)' if row['warned'] else ''}",
        f"{row['run']:.2f} s",
        f"{row['telling']:.1f} s",
        f"{row['full']:.1f} s",
    ]


def main(arguments: list[str]) -> int:
    head = ["body", "basis", "true error", "told error", "told/true", "run", "to tell", "full"]
    rows = told_rows(
        arguments,
        of="model_error",
        about=__doc__,
        bodies=BODIES,
        rows_of=rows_of,
        cells=cells,
        head=head,
    )
    ratios = np.array([row["told"] / row["true"] for row in rows if "told" in row])
    costs = np.array([row["telling"] / row["full"] for row in rows if "told" in row])
    print(
        f"\ntold/true: {ratios.min():.2f} to {ratios.max():.2f}, "
        f"{((ratios > 0.5) & (ratios < 2)).sum()} of {len(ratios)} within a factor of two; "
        f"{len(rows) - len(ratios)} not measured; telling takes {np.median(costs):.2g} of "
        "the time of the full motion in the median"
    )
    return 0
