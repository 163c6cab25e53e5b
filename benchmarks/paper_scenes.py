"""The scenes of the "dissipative optimization" paper at its sizes: time of a 40 ms frame.

The paper (Table 2, 18 cores) gives nodes, ADMM iterations and time. Each scene here has a body of
at least as many nodes, solved by Newton to two residuals. Beside them stands what residual
the plain iteration leaves after the paper's number of iterations, from the same states, every sixth
frame. Frames in which nothing touches are left out where there are obstacles, and the first always.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import supple as sp
from benchmarks.timing import table
from supple.core.types import Floats

DT = 0.04
TOLERANCES = 1e-2, 1e-3
_SAMPLED = 6  # frames from one look at the plain iteration to the next
_PLAIN_WEIGHT = 7 / 3  # makes 2μ the bulk modulus at ν = 0.4: the rule of the paper's solver
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


def rolling(solver: sp.StageSolver) -> sp.Simulation:
    """Fig. 5: a spinning ball dropped on a rough floor."""
    mesh = ball((8, 8, 7), (0.2, 0.2, 0.2))
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


def spline(solver: sp.StageSolver) -> sp.Simulation:
    """Fig. 12: spline damping, strong when strained, of a body held at one end."""
    mesh = ball((16, 16, 18), (0.15, 0.15, 0.5))
    body = sp.Body(
        mesh,
        sp.NeoHookean(young=2e5, poisson=0.4, density=1000),
        fixed=mesh.vertices[:, 2] < -0.4,
    )
    curve = sp.Curve.monotone([(0.7, 20.0), (1.0, 0.2), (1.3, 20.0)])
    damping = sp.SplineDamping(sp.StrainRate(shear=100), curve)
    return sp.Simulation(body, damping=damping, solver=solver, dt=DT, gravity=(9.81, 0.0, 0.0))


SCENES = {
    "ball": Scene(642, 35, 164, rolling),
    "terrain": Scene(2278, 72, 3050, terrain),
    "power law, p = 0": Scene(2435, 52, 491, clay),
    "power law, p = 2": Scene(2435, 5, 1727, shaking),
    "dragon": Scene(5388, 11, 2622, spline),
}


def left_by_plain_admm(scene: Scene) -> Callable[[sp.Simulation], float]:
    """Gives what residual the paper's count of plain iterations leaves in the next frame."""
    plain = scene.make(
        sp.ADMM(iterations=scene.iterations, acceleration=0, tolerance=1e-15, weight=_PLAIN_WEIGHT)
    )

    def left(sim: sp.Simulation) -> float:
        plain.state.u, plain.state.v, plain.state.time = sim.state.u, sim.state.v, sim.state.time
        try:
            plain.step()
        except sp.StepFailed:
            return np.inf
        return max(plain.stats.residuals)

    return left


def frames(
    scene: Scene, tolerance: float, look: Callable[[sp.Simulation], object] = lambda sim: None
) -> Floats:
    """Milliseconds of the frames that count; ``look`` sees the simulation before some of them."""
    sim = scene.make(sp.Newton(tolerance=tolerance))
    spans, counted = [], []
    for frame in range(scene.frames):
        if frame % _SAMPLED == _SAMPLED - 1:
            look(sim)
        start = time.perf_counter()
        sim.step()
        spans.append(1e3 * (time.perf_counter() - start))
        counted.append(frame > 0 and (not sim.obstacles or sim.contact_forces.any()))
    return np.array(spans)[counted]


def measure(name: str, scene: Scene) -> list[object]:
    left, lefts = left_by_plain_admm(scene), []
    rough = frames(scene, TOLERANCES[0], lambda sim: lefts.append(left(sim)))
    fine = frames(scene, TOLERANCES[1])
    row: list[object] = [name, scene.nodes, f"{np.median(lefts):.2g}", scene.milliseconds]
    for spans in (rough, fine):
        row += [f"{spans.mean():.0f} ({spans.max():.0f})"]
        row += [f"{scene.milliseconds / spans.mean():.1f}"]
    return row


def main() -> None:
    rows = [measure(name, scene) for name, scene in SCENES.items()]
    print(f"{sp.thread_count()} threads; ms a frame, mean (worst), Newton\n")
    heads = ["scene", "nodes", "left by plain ADMM", "paper"]
    for tolerance in TOLERANCES:
        heads += [f"residual {tolerance:g}", "times faster"]
    print(table(heads, rows))


if __name__ == "__main__":
    main()
