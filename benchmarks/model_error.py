"""The error that a reduced model tells of its motion against the true one.

Bodies made by others, scaled to a size of 1 m, are held at one end, pushed by a load on all of
their mass so that they swing by a quarter of their size, let go, and compared with the full body
over one and a half of its slowest periods, in four kinds of bases and five sizes.

``python -m benchmarks model_error FOLDER [BODY …]``, where the folder has ``tets`` and
``surfaces``; all bodies if none is named.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import supple as sp
from benchmarks.timing import table
from supple.core.types import Floats
from supple.reduction.sketch import sketch_shapes
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
    filling = Filling() if file.startswith("tets") else Filling(voxels=_VOXELS)
    mesh = load_solid(folder / file, filling).mesh
    extent = np.ptp(mesh.vertices, axis=0)
    X = (mesh.vertices - mesh.vertices.min(axis=0)) / extent.max()
    along = int(np.argmax(extent)) if axis is None else axis
    mesh = type(mesh)(X, mesh.cells)
    material = sp.StVK(young=1e5, poisson=0.4, density=1000)
    low = np.flatnonzero(X[:, along] <= held * X[:, along].max())
    return sp.Body(mesh, material, fixed=low), along


def case_of(folder: Path, name: str) -> Case:
    """The body of that name, with a load that makes a model of it swing as far as it should."""
    body, along = held_body(folder, name)
    X = body.mesh.vertices
    modes = sp.vibration_modes(body, 10)
    period = 1 / modes.frequencies[0]
    way = np.array([0.4, 0.6, 0.7])
    way[along] = 0.1
    load = body.mass_times(np.outer(X[:, along], way)) * body.free
    load *= SWING / np.linalg.norm(modes.static_shape(load), axis=1).max()
    damping = sp.Rayleigh(
        mass=0.2 * np.pi / period, stiffness=3e-3 * period, at=sp.StiffnessAt.REST
    )
    model = sp.reduce(body, sp.modal_derivative_basis(body, modes=modes, size=20), compare=False)
    for _ in range(4):
        case = Case(body, load, damping, period / STEPS_A_PERIOD)
        swing = np.linalg.norm(case.moved(model), axis=2).max()
        if abs(swing / SWING - 1) < 0.05:
            break
        load = load * SWING / swing
    return case


def bases(case: Case) -> Iterator[tuple[str, sp.Basis]]:
    body = case.body
    modes = sp.vibration_modes(body, max(SIZES))
    other = sp.Simulation(body, damping=case.damping, dt=4 * case.dt)
    other.state.v = modes.shapes[1] / np.abs(modes.shapes[1]).max() * modes.frequencies[1]
    motion = other.run(3 * STEPS_A_PERIOD * case.dt).displacements[1:]
    sketch = sp.Sketch(body, modes=modes)
    X = body.mesh.vertices
    for tip in np.unique(np.concatenate([X.argmax(axis=0), X.argmin(axis=0)])):
        if body.free[tip].all():
            for way in 0.15 * np.concatenate([np.eye(3), -np.eye(3)]):
                sketch.drag(int(tip), X[tip] + np.outer((0.25, 0.5, 0.75, 1.0), way))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of forces that were skipped
        drawn = sketch_shapes(body, sketch)
    for size in SIZES:
        yield f"modal derivatives {size}", sp.modal_derivative_basis(body, modes=10, size=size)
        yield f"linear modes {size}", sp.picked_basis(body, modes.shapes[:size])
        yield f"another motion {size}", sp.motion_basis(body, motion, size)
        yield f"sketch {size}", sp.sketch_basis(body, drawn, size)


def rows_of(folder: Path, name: str) -> Iterator[list[str]]:
    """Of one body: what every model tells, and what is true."""
    case = case_of(folder, name)
    start = time.process_time()
    full = case.moved_in_full()
    seconds = time.process_time() - start
    swing = case.sizes(full).max()
    for label, basis in bases(case):
        model = sp.reduce(case.body, basis, compare=False)
        start = time.process_time()
        try:
            true = case.sizes(case.moved(model) - full).max() / swing
            told = sp.motion_error(case.simulation(model), case.steps * case.dt, force=case.force)
        except sp.StepFailed:
            yield [name, label, "cannot be stepped", "", "", "", ""]
            continue
        yield [
            name,
            label,
            f"{100 * true:.2f} %",
            f"{100 * told.error:.2f} %",
            f"{told.error / true:.2f}",
            f"{time.process_time() - start:.1f} s",
            f"{seconds:.1f} s",
        ]


def main(arguments: list[str]) -> int:
    if not arguments or not Path(arguments[0]).is_dir():
        print("give the folder of bodies: python -m benchmarks model_error FOLDER [BODY …]")
        return 2
    warnings.simplefilter("ignore", sp.ModelWarning)
    warnings.simplefilter("ignore", sp.MeshWarning)
    names = arguments[1:] or list(BODIES)
    rows: list[list[str]] = []
    for name in names:
        for row in rows_of(Path(arguments[0]), name):
            print("  ".join(row), file=sys.stderr, flush=True)
            rows.append(row)
    head = ["body", "basis", "true error", "told error", "told/true", "to tell", "full motion"]
    print(table(head, rows))
    ratios = np.array([float(row[4]) for row in rows if row[4]])
    print(
        f"\ntold/true: {ratios.min():.2f} to {ratios.max():.2f}, "
        f"{((ratios > 0.5) & (ratios < 2)).sum()} of {len(ratios)} within a factor of two"
    )
    return 0
