"""The scenes of the "dissipative optimization" paper at its sizes: time of a 40 ms frame.

The paper (Table 2, 18 cores) gives nodes, ADMM iterations and time. Each scene here has a body of
at least as many nodes, solved by Newton to two residuals, and by ADMM with the paper's number of
iterations, beside which stands the residual that these leave. Frames in which nothing touches are
left out where there are obstacles, and the first always. Times are of the processor, of all threads
together, or with ``--clock`` by the clock, for a machine that has nothing else to do.

``python -m benchmarks paper_scenes [FOLDER] [--threads N] [--clock] [--scenes NAME ...]``: with a
folder of ``tets`` and ``surfaces``, a bunny rolls in place of the ball, and a gorilla's bust is in
that of the dragon, too. Scenes are those whose names begin with one of the names given.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import supple as sp
from benchmarks.timing import table
from supple.core.types import Floats

DT = 0.04
TOLERANCES = 1e-2, 1e-3
DOWN = (0.0, 0.0, -9.81)


@dataclass(frozen=True)
class Scene:
    """A scene of the paper, and how to set it up with a solver."""

    nodes: int
    iterations: int
    milliseconds: float
    make: Callable[[sp.StageSolver], sp.Simulation]
    frames: int = 30


def ball(cells: tuple[int, int, int], radii: tuple[float, float, float]) -> sp.TetMesh:
    """A box of tets drawn out to a ball."""
    box = sp.TetMesh.box(size=(2.0, 2.0, 2.0), cells=cells)
    x = box.vertices - 1.0
    length = np.linalg.norm(x, axis=1)
    largest = np.abs(x).max(axis=1)
    scale = np.divide(largest, length, out=np.ones_like(length), where=length > 0)
    return sp.TetMesh(x * scale[:, None] * radii, box.cells)


def rolling(solver: sp.StageSolver, mesh: sp.TetMesh | None = None) -> sp.Simulation:
    """Fig. 5: a spinning ball, or another mesh, dropped on a rough floor."""
    mesh = ball((8, 8, 7), (0.2, 0.2, 0.2)) if mesh is None else mesh
    body = sp.Body(mesh, sp.NeoHookean(young=2e5, poisson=0.4, density=1000))
    sim = sp.Simulation(
        body,
        obstacles=sp.Plane(offset=-0.3, friction=0.5),
        damping=sp.StrainRate(shear=50),
        solver=solver,
        dt=DT,
        gravity=DOWN,
    )
    sim.state.v = np.cross((0.0, 10.0, 0.0), mesh.vertices)
    return sim


def terrain(solver: sp.StageSolver) -> sp.Simulation:
    """Fig. 1: a soft body sliding down a hilly slope, with friction."""
    mesh = ball((12, 12, 13), (0.5, 0.3, 0.3))
    body = sp.Body(mesh, sp.NeoHookean(young=2e5, poisson=0.4, density=1000))
    x, y = np.meshgrid(np.linspace(-2, 10, 61), np.linspace(-3, 3, 31), indexing="ij")
    hills = -0.4 * x + 0.15 * np.sin(2.5 * x) * np.cos(2 * y) - 0.9
    slope = sp.HeightField(heights=hills, origin=(-2.0, -3.0, 0.0), spacing=0.2, friction=0.15)
    return sp.Simulation(
        body,
        obstacles=slope,
        damping=sp.StrainRate(shear=100, bulk=50),
        solver=solver,
        dt=DT,
        gravity=DOWN,
    )


def clay(solver: sp.StageSolver) -> sp.Simulation:
    """Fig. 11 above: a very soft body with dry damping falls on a floor."""
    mesh = ball((12, 12, 14), (0.25, 0.25, 0.3))
    body = sp.Body(mesh, sp.NeoHookean(young=2e4, poisson=0.4, density=1000))
    return sp.Simulation(
        body,
        obstacles=sp.Plane(offset=-0.5, friction=0.5),
        damping=sp.PowerLaw(exponent=0, strength=1000),
        solver=solver,
        dt=DT,
        gravity=DOWN,
    )


def shaking(solver: sp.StageSolver) -> sp.Simulation:
    """Fig. 11 below: an elastic body shaken by its base, with p = 2."""
    mesh = ball((12, 12, 14), (0.25, 0.25, 0.3))
    base = np.flatnonzero(mesh.vertices[:, 2] < -0.22)
    times = np.linspace(0, 2, 81)
    shake = 0.1 * np.sin(4 * np.pi * times) * np.minimum(times / 0.25, 1.0) ** 2
    body = sp.Body(
        mesh,
        sp.NeoHookean(young=1e5, poisson=0.4, density=1000),
        supports=[sp.Support.keyframes(base, times, shake[:, None] * (1.0, 0.0, 0.0))],
    )
    damping = sp.PowerLaw(exponent=2, strength=30)
    return sp.Simulation(body, damping=damping, solver=solver, dt=DT, gravity=DOWN)


def spline(solver: sp.StageSolver, mesh: sp.TetMesh | sp.HexMesh | None = None) -> sp.Simulation:
    """Fig. 12: spline damping, strong when strained, of a body of 1 m held at one end."""
    mesh = ball((16, 16, 18), (0.15, 0.15, 0.5)) if mesh is None else mesh
    body = sp.Body(
        mesh,
        sp.NeoHookean(young=2e5, poisson=0.4, density=1000),
        fixed=mesh.vertices[:, 2] < -0.4,
    )
    curve = sp.Curve.monotone([(0.7, 20.0), (1.0, 0.2), (1.3, 20.0)])
    damping = sp.SplineDamping(sp.StrainRate(shear=100), curve)
    return sp.Simulation(body, damping=damping, solver=solver, dt=DT, gravity=(9.81, 0.0, 0.0))


def centred(vertices: Floats, size: float) -> Floats:
    """Vertices around the origin, as large as asked for [m]."""
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    return np.asarray((vertices - 0.5 * (low + high)) * (size / np.max(high - low)))


def bunny(folder: Path) -> sp.TetMesh:
    """777 nodes, 40 cm large as the ball is."""
    mesh = sp.read_mesh(folder / "tets" / "bunny_1124.node")
    assert isinstance(mesh, sp.TetMesh)
    return sp.TetMesh(centred(mesh.vertices, 0.4), mesh.cells)


def gorilla(folder: Path) -> sp.HexMesh:
    """A bust in bricks, 1 m large, the z axis up."""
    surface = sp.read_surface(folder / "surfaces" / "cipc_kingkong.obj")
    mesh = sp.HexMesh.voxelize(surface, resolution=26)
    return sp.HexMesh(centred(mesh.vertices[:, [2, 0, 1]], 1.0), mesh.cells)


SCENES = {
    "ball": Scene(642, 35, 164, rolling),
    "terrain": Scene(2278, 72, 3050, terrain),
    "power law, p = 0": Scene(2435, 52, 491, clay),
    "power law, p = 2": Scene(2435, 5, 1727, shaking),
    "dragon": Scene(5388, 11, 2622, spline),
}


def with_bodies(folder: Path) -> dict[str, Scene]:
    """The ball and the dragon with bodies by others."""
    rabbit, bust = bunny(folder), gorilla(folder)
    return {
        f"ball: a bunny of {rabbit.n_vertices}": Scene(642, 35, 164, lambda s: rolling(s, rabbit)),
        f"dragon: a gorilla of {bust.n_vertices}": Scene(5388, 11, 2622, lambda s: spline(s, bust)),
    }


Timer = Callable[[], float]


def frames(scene: Scene, solver: sp.StageSolver, now: Timer) -> tuple[Floats, float]:
    """Milliseconds of the frames that count, and the median of what residual they leave."""
    sim = scene.make(solver)
    spans, lefts, counted = [], [], []
    for frame in range(scene.frames):
        start = now()
        sim.step()
        spans.append(1e3 * (now() - start))
        lefts.append(max(sim.stats.residuals))
        counted.append(frame > 0 and (not sim.obstacles or sim.contact_forces.any()))
    return np.array(spans)[counted], float(np.median(np.array(lefts)[counted]))


def measure(name: str, scene: Scene, now: Timer) -> list[object]:
    row: list[object] = [name, scene.nodes, scene.milliseconds]
    for tolerance in TOLERANCES:
        spans, _ = frames(scene, sp.Newton(tolerance=tolerance), now)
        row.append(f"{spans.mean():.0f} ({spans.max():.0f})")
    spans, left = frames(scene, sp.ADMM(iterations=scene.iterations), now)
    return [*row, scene.iterations, f"{spans.mean():.0f} ({spans.max():.0f})", f"{left:.2g}"]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks paper_scenes")
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--threads", type=int, default=0, help="all cores unless given")
    parser.add_argument("--clock", action="store_true", help="time by the clock")
    parser.add_argument("--scenes", nargs="+", default=[""], metavar="NAME")
    asked = parser.parse_args(arguments or [])
    if asked.threads:
        sp.set_thread_count(asked.threads)
    now = time.perf_counter if asked.clock else time.process_time
    of = "by the clock" if asked.clock else "of the processor"
    scenes = SCENES if asked.folder is None else SCENES | with_bodies(asked.folder)
    scenes = {k: v for k, v in scenes.items() if k.startswith(tuple(asked.scenes))}
    heads = ["scene", "nodes", "paper"]
    heads += [f"Newton to {tolerance:g}" for tolerance in TOLERANCES]
    heads += ["ADMM iterations", "ADMM", "which leaves"]
    rows = []
    for name, scene in scenes.items():
        rows.append(measure(name, scene, now))
        print(*rows[-1], file=sys.stderr, flush=True)
    count = sp.thread_count()
    print(f"{count} thread{'s' * (count > 1)}; ms {of} a frame, mean (worst)\n")
    print(table(heads, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
