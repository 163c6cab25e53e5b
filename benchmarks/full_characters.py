"""Reduced characters against full simulations of them (pose space paper, Table 3, column "sp").

The bodies are those of ``characters``. Both take one Newton iteration a step, along the same poses,
on one core; the full one is also taken to convergence. Times are of this process alone, means over
a motion, the shortest of several rounds: factorizations are made in some steps only.
"""

from __future__ import annotations

import time

import numpy as np

import supple as sp
from supple.character.full_pose import FullPoseSimulation
from supple.character.live import PoseSimulation

from .characters import ARM, BEAR, GORILLA, Size, X, made, poses_of
from .timing import table

HEADERS = [
    "body",
    "tets",
    "vertices",
    "r",
    "reduced [steps/s]",
    "full [steps/s]",
    "ratio",
    "paper: full [steps/s]",
    "paper: ratio",
    "full, converged [steps/s]",
]
PAPER = {X: (1700, 105), ARM: (1150, 60), BEAR: (700, 40), GORILLA: (750, 125)}
"""Steps a second there, reduced and on eight threads, and how many times as many as in full."""
FRAMES, ROUNDS, DT = 60, 3, 1 / 90
ALPHA, BETA = 0.5, 2e-3


def mean_step(simulation: PoseSimulation | FullPoseSimulation, poses: list[np.ndarray]) -> float:
    """Process time of a step [s]."""
    best = np.inf
    for _ in range(ROUNDS):
        simulation.reset(poses[0])
        start = time.process_time()
        for pose in poses:
            simulation.step(pose)
        best = min(best, (time.process_time() - start) / len(poses))
    return best


def row(body: Size) -> list[object]:
    """One line of the table."""
    model = made(body)
    mesh, poses = model.tet_rig.mesh, poses_of(model, FRAMES)
    material = body.material(young=2e6, poisson=0.45)
    whole = sp.Body(mesh, material, fixed=model.fixed, mass_model=sp.LumpedMass())
    reduced = PoseSimulation(
        model,
        damping=sp.Rayleigh(mass=ALPHA, stiffness=BETA),
        dt=DT,
        solver=sp.DenseNewton(max_iterations=1),
    )
    once, converged = (
        FullPoseSimulation(whole, model.tet_rig, mass=ALPHA, stiffness=BETA, dt=DT, solver=solver)
        for solver in (sp.Newton(iterations=1), sp.Newton(tolerance=1e-6, max_iterations=30))
    )
    steps, ratio = PAPER[body]
    fast, slow, slowest = (mean_step(s, poses) for s in (reduced, once, converged))
    return [
        body.name,
        mesh.n_cells,
        mesh.n_vertices,
        body.size,
        round(1 / fast),
        round(1 / slow),
        f"{slow / fast:.0f}",
        round(steps / ratio),
        ratio,
        round(1 / slowest),
    ]


def main() -> None:
    sp.set_thread_count(1)
    print(table(HEADERS, [row(body) for body in PAPER]))
    sp.set_thread_count(0)
