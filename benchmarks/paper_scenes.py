"""The scenes of the "dissipative optimization" paper at its sizes: time of a 40 ms frame.

The paper (Table 2, 18 cores) gives nodes, ADMM iterations and time. Each scene here has a body of
at least as many nodes. What residual the plain iteration leaves after the paper's number of them is
measured first; ADMM and Newton are then timed at that residual as tolerance, over the frames of the
whole scene, the first frame left out.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import supple as sp
from benchmarks.timing import table
from supple.solvers.admm import BoundADMM
from supple.types import Floats

DT = 0.04
_PLAIN_WEIGHT = 7 / 3  # makes 2μ the bulk modulus at ν = 0.4: the rule of the paper's solver
DOWN = (0.0, 0.0, -9.81)


@dataclass(frozen=True)
class Scene:
    """A scene of the paper, and how to set it up with a solver."""

    nodes: int
    iterations: int
    milliseconds: float
    make: Callable[[sp.ADMM | sp.Newton], sp.Simulation]
    frames: int = 30


def ball(cells: tuple[int, int, int], radii: tuple[float, float, float]) -> sp.TetMesh:
    """A box of tets drawn out to a ball."""
    box = sp.TetMesh.box(size=(2.0, 2.0, 2.0), cells=cells)
    x = box.vertices - 1.0
    length = np.linalg.norm(x, axis=1)
    largest = np.abs(x).max(axis=1)
    scale = np.divide(largest, length, out=np.ones_like(length), where=length > 0)
    return sp.TetMesh(x * scale[:, None] * radii, box.cells)


def rolling(solver: sp.ADMM | sp.Newton) -> sp.Simulation:
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


def terrain(solver: sp.ADMM | sp.Newton) -> sp.Simulation:
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


def clay(solver: sp.ADMM | sp.Newton) -> sp.Simulation:
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


def shaking(solver: sp.ADMM | sp.Newton) -> sp.Simulation:
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


def spline(solver: sp.ADMM | sp.Newton) -> sp.Simulation:
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


def run(scene: Scene, solver: sp.ADMM | sp.Newton) -> tuple[Floats, Floats]:
    """Milliseconds and residual of every frame but the first."""
    sim = scene.make(solver)
    spans, residuals = [], []
    for _ in range(scene.frames):
        start = time.perf_counter()
        try:
            sim.step()
        except sp.StepFailed:
            if residuals and solver.iterations is not None:
                break  # the plain iteration may come to nothing; what it left before counts
            raise
        spans.append(1e3 * (time.perf_counter() - start))
        if isinstance(sim._solver, BoundADMM):
            residuals.append(max(sim._solver.residuals))
    return np.array(spans[1:]), np.array(residuals[1:])


def measure(name: str, scene: Scene) -> list[object]:
    nodes = scene.make(sp.Newton()).body.n_vertices
    plain = sp.ADMM(
        iterations=scene.iterations, acceleration=0, tolerance=1e-15, weight=_PLAIN_WEIGHT
    )
    _, left = run(scene, plain)
    tolerance = float(np.median(left))
    row: list[object] = [name, nodes, f"{tolerance:.1e}", scene.milliseconds]
    for solver in (sp.ADMM(tolerance=tolerance), sp.Newton(tolerance=min(tolerance, 1e-3))):
        try:
            spans, _ = run(scene, solver)
            row += [f"{np.mean(spans):.0f}", f"{scene.milliseconds / np.mean(spans):.1f}"]
        except sp.StepFailed as error:
            row += [f"failed at {error.time:.2f} s", ""]
    return row


def main() -> None:
    rows = [measure(name, scene) for name, scene in SCENES.items()]
    print(f"{sp.thread_count()} threads; ms a frame, means")
    heads = ["scene", "nodes", "residual of the paper's count", "paper"]
    heads += ["ADMM", "times faster", "Newton", "times faster"]
    print(table(heads, rows))


if __name__ == "__main__":
    main()
