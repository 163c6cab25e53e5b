"""Reduced characters against full simulations of them (pose space paper, Table 3, column "sp").

The bodies are those of ``characters``. Both take one Newton iteration a step, along the same poses,
on one core; the full one is also taken to convergence. Times are of this process alone, means over
a motion, as factorizations are made in some steps only; of each step the shortest of several rounds
counts, for others slow it down too.
"""

from __future__ import annotations

import time

import numpy as np

import supple as sp
from benchmarks.characters import ARM, BEAR, GORILLA, Size, X, made, poses_of
from benchmarks.timing import table
from supple.character.runtime.simulation import PoseSimulation
from supple.character.tissue.full_pose import FullPoseSimulation

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
FRAMES, DT = 60, 1 / 90
ALPHA, BETA = 0.5, 2e-3


def mean_step(
    simulation: PoseSimulation | FullPoseSimulation, poses: list[np.ndarray], least: float = 2.0
) -> float:
    """Process time of a step [s], from three rounds and ``least`` seconds at least."""
    rounds: list[list[float]] = []
    while len(rounds) < 3 or np.sum(rounds) < least:
        simulation.reset(poses[0])
        rounds.append([])
        for pose in poses:
            start = time.process_time()
            simulation.step(pose)
            rounds[-1].append(time.process_time() - start)
    return float(np.min(rounds, axis=0).mean())


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
        solver=sp.DenseNewton(iterations=1),
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
