"""Bodies for examples that turn: held, carried, free; and turns of all of it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial.transform import Rotation
from tests.helpers import small_mesh, soft

import supple as sp
from supple.bodies.shape import Shape

EQUIVARIANT = {
    "mass": sp.Rayleigh(mass=0.7),
    "strain rate": sp.StrainRate(shear=3.0, bulk=2.0),
    "current": sp.Rayleigh(mass=0.1, stiffness=0.02),
    "matched": sp.MatchedStrainRate(stiffness=0.02),
    "both": [sp.Rayleigh(mass=0.3), sp.MatchedStrainRate(stiffness=0.02)],
    "conserving": sp.MomentumConserving(sp.Rayleigh(mass=0.7), by=sp.Conserving.BODY),
}
"""Bases for which a turned body is as good as an unturned one."""


def block(*, regions: bool = False) -> sp.TetMesh:
    mesh = small_mesh("tet")
    assert isinstance(mesh, sp.TetMesh)
    right = mesh.centroids[:, 0] > 0.5
    parts = {"left": np.flatnonzero(~right), "right": np.flatnonzero(right)} if regions else {}
    return sp.TetMesh(mesh.vertices, mesh.cells, regions=parts)


def carried(mesh: sp.TetMesh, R: np.ndarray | None = None, shift: tuple = (0, 0, 0)) -> sp.Body:
    """The block on supports that have turned by R and travelled."""
    ids = mesh.where(x=(None, 0.1))
    R = np.eye(3) if R is None else R
    gone = mesh.vertices[ids] @ (R - np.eye(3)).T + np.asarray(shift)
    still = np.zeros_like(gone)
    support = sp.Support(ids, lambda t: gone, lambda t: still, lambda t: still)
    return sp.Body(mesh, soft(sp.StVK), supports=[support])


def free(mesh: sp.TetMesh) -> sp.Body:
    return sp.Body(mesh, soft(sp.StVK))


def moved(mesh: sp.TetMesh, u: np.ndarray, R: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Displacements of the shape u, turned and shifted as a whole."""
    return (mesh.vertices + u) @ R.T + shift - mesh.vertices


def quarter_turn(axis: tuple[float, float, float] = (0, 1, 0)) -> np.ndarray:
    return Rotation.from_rotvec(0.5 * np.pi * np.asarray(axis)).as_matrix()


def forces(
    body: sp.Body, damping: sp.Damping, u: np.ndarray, v: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """∇₂R, and the scale of what it is made of."""
    force = damping.bind(body).evaluate(Shape(body, u, order=2), v)[1]
    return force, np.abs(force).max()


def energy(sim: sp.Simulation) -> float:
    v = sim.state.v
    return sim.body.energy(sim.state.u) + 0.5 * float(np.vdot(v, sim.body.mass_times(v)))


def run(
    sim: sp.Simulation, seconds: float, look: Callable[[sp.Simulation], float] = energy
) -> tuple[np.ndarray, float]:
    """What ``look`` sees after each step, and the mean number of iterations of a step."""
    seen, iterations = [], 0
    for _ in range(round(seconds / sim.dt)):
        sim.step()
        seen.append(look(sim))
        iterations += sim.stats.iterations
    return np.array(seen), iterations / len(seen)
