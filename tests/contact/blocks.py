"""Small blocks on and above obstacles, solved by Newton's method and by ADMM."""

from __future__ import annotations

import numpy as np

import supple as sp

G = 9.81
SOLVERS: dict[str, sp.StageSolver] = {
    "Newton": sp.Newton(),
    "ADMM": sp.ADMM(tolerance=1e-6, max_iterations=3000),
}
DAMPING = sp.StrainRate(shear=100.0, bulk=50.0)


def block(
    size: tuple[float, float, float] = (0.2, 0.2, 0.1),
    cells: tuple[int, int, int] = (2, 2, 1),
    *,
    at: tuple[float, float, float] | np.ndarray = (0.0, 0.0, 0.0),
    young: float = 1e6,
    **options: object,
) -> sp.Body:
    """A block of rubber about ``at`` in x and y, standing on its height [m]."""
    mesh = sp.TetMesh.box(size, cells)
    middle = np.array([size[0] / 2, size[1] / 2, 0.0])
    mesh = sp.TetMesh(mesh.vertices - middle + np.asarray(at), mesh.cells)
    material = sp.Corotational(young=young, poisson=0.3, density=1000.0)
    return sp.Body(mesh, material, **options)  # type: ignore[arg-type]


def simulation(body: sp.Body, solver: str, obstacles: object, **options: object) -> sp.Simulation:
    options = {"dt": 0.02, "gravity": (0, 0, -G), "damping": DAMPING} | options
    return sp.Simulation(body, solver=SOLVERS[solver], obstacles=obstacles, **options)  # type: ignore[arg-type]


def on_slope(angle: float) -> tuple[float, float, float]:
    """Gravity on a floor that leans by so much [rad], downhill along x."""
    return G * np.sin(angle), 0.0, -G * np.cos(angle)


def depth(sim: sp.Simulation, obstacle: sp.Obstacle) -> float:
    """How deep the deepest vertex is in an obstacle [m]."""
    x = sim.body.mesh.vertices + sim.state.u
    return float(-obstacle.at(x, sim.state.time).distance.min())


def edge(body: sp.Body) -> float:
    """The mean length of edges [m]."""
    return float(body.mesh.edge_lengths().mean())
