"""What the tests of free reduced bodies share: a bar, its models, and throwing it."""

from functools import lru_cache

import numpy as np
from tests.reduction.conftest import mixed_basis

import supple as sp

EXACT = sp.DenseNewton(max_iterations=30, tolerance=1e-11)
STATE = ("q", "v", "rotation", "spin", "position")
SPIN, THROW = (3.0, 1.0, 5.0), (1.0, 2.0, 3.0)
NEWMARK = sp.Newmark(), sp.Newmark(beta=0.3, gamma=0.5)
IMPLICIT = (*NEWMARK, sp.TRBDF2(), sp.Bathe(), sp.BDF2(), sp.BackwardEuler())


@lru_cache
def bar(young: float = 2e5) -> sp.Body:
    mesh = sp.TetMesh.box(size=(1.0, 0.3, 0.2), cells=(2, 1, 1))
    return sp.Body(mesh, sp.StVK(young=young, poisson=0.3, density=1000))


@lru_cache
def complete(young: float = 2e5) -> sp.ReducedModel:
    """Every deformation that the bar has."""
    body = bar(young)
    n = body.n_vertices
    shapes = np.random.default_rng(0).normal(size=(3 * n - 6, n, 3))
    return sp.reduce(body, sp.picked_basis(body, shapes))


@lru_cache
def small(size: int = 8) -> sp.ReducedModel:
    mesh = sp.TetMesh.box(size=(1.0, 0.3, 0.2), cells=(5, 2, 1))
    body = sp.Body(mesh, sp.StVK(young=2e5, poisson=0.3, density=1000))
    return sp.reduce(body, mixed_basis(body, 5, size))


def thrown(
    model: sp.ReducedModel, *, strength: float = 1.0, **options: object
) -> sp.FloatingSimulation:
    """Bent, wobbling, spinning and flying."""
    sim = sp.FloatingSimulation(model, **({"solver": EXACT} | options))  # type: ignore[arg-type]
    q, v = wobble(model)
    sim.q, sim.v = strength * q, strength * v
    sim.spin, sim.velocity = SPIN, THROW
    return sim


def wobble(model: sp.ReducedModel) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and rates that excite the slowest three vibrations of the model."""
    squares, modes = np.linalg.eigh(model.stiffness(np.zeros(model.size)))
    amounts = np.array([0.5, 0.3, -0.3])
    return modes[:, :3] @ amounts, modes[:, :3] @ (0.5 * np.sqrt(squares[:3]) * amounts[::-1])


def momenta(sim: sp.FloatingSimulation) -> tuple[np.ndarray, np.ndarray]:
    """Linear and angular momentum summed over the vertices of the mesh."""
    body = sim.model.body
    assert body is not None
    x, mv = body.mesh.vertices + sim.displacements(), body.mass_times(sim.velocities())
    return mv.sum(axis=0), np.cross(x, mv).sum(axis=0)
