"""Modes under contact, at the sizes of the pose space paper's Table 1."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import supple as sp
from benchmarks.timing import table
from supple.character.training.contact import PoseContact
from supple.character.training.modes import pose_modes

# name, bricks, contacts, modes, seconds in the paper: unconstrained, thresholded, exact by CG
CASES = [
    ("arm", (20, 9, 10), 54, 20, (0.9, 1.2, 2.6)),
    ("bear", (24, 12, 11), 73, 20, (1.9, 2.2, 7.3)),
    ("gorilla", (23, 12, 11), 114, 20, (1.7, 2.4, 6.2)),
    ("gorilla", (23, 12, 11), 114, 100, (None, None, 18.7)),
]
HEADERS = ["body", "3n", "contacts", "modes", "free [s]", "contact [s]", "paper [s]"]


def block(bricks: tuple[int, int, int], contacts: int) -> tuple[sp.Body, PoseContact]:
    """A block whose top slides on places of its bottom picked at random."""
    mesh = sp.TetMesh.box(size=(1.0, 0.5, 0.5), cells=bricks)
    material = sp.StVK(young=1e5, poisson=0.45, density=1000.0)
    body = sp.Body(mesh, material, fixed=mesh.where(x=0), mass_model=sp.LumpedMass())
    rng = np.random.default_rng(0)
    bottom = mesh.boundary_facets()
    bottom = bottom[np.isin(bottom, mesh.where(z=0)).all(axis=1)]
    top = rng.choice(mesh.where(z=0.5, x=(0.2, None)), contacts, replace=False)
    corners = bottom[rng.choice(len(bottom), contacts)]
    up, shares = np.tile([0.0, 0.0, 1.0], (contacts, 1)), rng.dirichlet(np.ones(3), contacts)
    none = np.zeros(contacts)
    return body, PoseContact(top, up, none, corners, shares, none > 0)


def seconds(call: Callable[[], object]) -> float:
    """Processor time [s] of the best of three calls."""
    best = np.inf
    for _ in range(3):
        start = time.process_time()
        call()
        best = min(best, time.process_time() - start)
    return float(best)


def main() -> None:
    sp.set_thread_count(1)
    rows: list[list[object]] = []
    for name, bricks, contacts, modes, paper in CASES:
        body, contact = block(bricks, contacts)
        free = seconds(lambda body=body, modes=modes: pose_modes(body, modes))
        kept = seconds(
            lambda body=body, modes=modes, contact=contact: pose_modes(body, modes, contact=contact)
        )
        there = " / ".join("–" if value is None else f"{value}" for value in paper)
        rows.append([name, 3 * body.n_vertices, contacts, modes, free, kept, there])
    sp.set_thread_count(0)
    print(table(HEADERS, rows))
