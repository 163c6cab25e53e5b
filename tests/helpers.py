"""What the tests of the physics share: small generic bodies, Taylor remainders, NumPy twins."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import supple as sp
from supple.materials import MATERIALS

EPS = np.finfo(float).eps
EXACT = sp.Newton(tolerance=1e-13, linear=sp.Cholesky())
"""A solver whose own error is rounding, so that what is left is the integrator's."""

MATERIAL_NAMES = {material.__name__: material for material in MATERIALS}
MESH_NAMES = ("tet", "quadratic", "brick", "distorted brick")


@lru_cache
def small_mesh(name: str) -> sp.VolumeMesh:
    """A block of 1 × 0.8 × 0.6 m with inner and surface vertices in general position."""
    size, cells = (1.0, 0.8, 0.6), (2, 2, 2)
    if name == "brick":
        return sp.HexMesh.box(size, cells)
    if name == "distorted brick":
        return shaken(sp.HexMesh.box(size, cells))
    tets = shaken(sp.TetMesh.box(size, cells))
    return tets.quadratic() if name == "quadratic" else tets


def shaken(mesh: sp.VolumeMesh, size: float = 0.06, seed: int = 1) -> sp.VolumeMesh:
    """The mesh with every vertex moved at random by up to ``size`` [m] a component."""
    shift = np.random.default_rng(seed).uniform(-size, size, mesh.vertices.shape)
    return type(mesh)(mesh.vertices + shift, mesh.cells)


def soft(material: type[sp.Material], **changes: object) -> sp.Material:
    """One set of moderate constants for every material."""
    constants = {"young": 1e4, "poisson": 0.3, "density": 1000.0}
    return material(**(constants | changes))  # type: ignore[arg-type]


def entries(bound: float) -> st.SearchStrategy[float]:
    """Numbers up to ±bound; below 1e-70, where squares of squares vanish, zero stands for them."""
    return st.floats(-bound, bound).map(lambda x: 0.0 if abs(x) < 1e-70 else x)


def rotation(seed: int) -> np.ndarray:
    return Rotation.random(rng=np.random.default_rng(seed)).as_matrix()


def affine(mesh: sp.VolumeMesh, F: np.ndarray, shift: tuple[float, ...] = (0, 0, 0)) -> np.ndarray:
    """Displacements that take X to F X + shift."""
    return mesh.vertices @ (np.asarray(F) - np.eye(3)).T + np.asarray(shift)


def deformation_gradients(mesh: sp.VolumeMesh, u: np.ndarray) -> np.ndarray:
    """F at every quadrature point, in plain NumPy, (cells, points, 3, 3)."""
    return np.eye(3) + np.einsum("eai,eqaj->eqij", u[mesh.cells], mesh.quadrature().gradients)


def large_deformation(mesh: sp.VolumeMesh, *, inverted: bool, seed: int = 0) -> np.ndarray:
    """Random displacements: a rotation and stretches of 0.7 … 1.4, and noise on top.

    The noise turns some cells inside out if ``inverted``, else none; both are checked.
    """
    rng = np.random.default_rng(seed)
    stretch = rotation(seed + 1) @ np.diag([0.7, 1.1, 1.4]) @ rotation(seed + 2)
    noise = rng.normal(size=mesh.vertices.shape)
    u = affine(mesh, stretch) + (0.25 if inverted else 0.02) * noise
    volumes = np.linalg.det(deformation_gradients(mesh, u))
    assert (volumes.min() < 0) == inverted
    return u


def remainder_slopes(remainder: Callable[[float], float], steps: np.ndarray) -> np.ndarray:
    """Observed orders of ``remainder(h)`` between neighbouring steps h."""
    values = np.array([remainder(h) for h in steps])
    return np.log(values[:-1] / values[1:]) / np.log(steps[:-1] / steps[1:])


def evaluate(
    material: type[sp.Material], F: np.ndarray, lam: float, mu: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """ψ (m,), P (m, 3, 3) and ∂P/∂F (m, 9, 9) at deformation gradients (m, 3, 3)."""
    F = np.ascontiguousarray(F, dtype=float)[:, None]
    m = len(F)
    psi, P, A = np.empty((m, 1)), np.empty((m, 1, 3, 3)), np.empty((m, 1, 6, 3, 3))
    material.evaluate(F, np.full(m, lam), np.full(m, mu), psi, P, A, 2)
    return psi[:, 0], P[:, 0], unpacked(A[:, 0])


def unpacked(A: np.ndarray) -> np.ndarray:
    """The six stored blocks (m, 6, 3, 3) as the matrix ∂P_ij/∂F_kl, (m, 9, 9)."""
    full = np.empty((len(A), 3, 3, 3, 3))
    for s, (j, l) in enumerate(((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))):
        full[:, :, j, :, l] = A[:, s]
        full[:, :, l, :, j] = A[:, s].transpose(0, 2, 1)
    return full.reshape(len(A), 9, 9)


def stepped(sim: sp.Simulation, count: int) -> sp.Simulation:
    """The simulation after so many steps."""
    for _ in range(count):
        sim.step()
    return sim


def killed(sim: sp.Simulation, duration: float, path: Path, step: int, **options: object) -> Path:
    """The file of a run that ends after some steps, as by Ctrl-C."""

    def progress(done: int, total: int, what: str) -> None:
        if done == step:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sim.run(duration, record=path, progress=progress, **options)  # type: ignore[arg-type]
    return path


def simulate(
    body: sp.Body,
    integrator: sp.Integrator,
    steps: np.ndarray,
    *,
    u: np.ndarray | None = None,
    v: np.ndarray | None = None,
    **options: object,
) -> sp.Simulation:
    """A simulation after the given time steps [s], solved to rounding."""
    sim = sp.Simulation(body, integrator=integrator, **({"solver": EXACT} | options))  # type: ignore[arg-type]
    if u is not None:
        sim.state.u = u
    if v is not None:
        sim.state.v = v
    for dt in steps:
        sim.step(dt=float(dt))
    return sim


def material_part(body: sp.Body, u: np.ndarray) -> np.ndarray:
    """K(u) less its geometric part Σ w ∇N_a·S ∇N_b, S = F⁻¹ P, dense."""
    K, rule = body.stiffness(u).toarray(), body.mesh.quadrature()
    n = body.n_vertices
    whole = np.zeros((n, n))
    for part in body.parts:
        nodes, gradients = body.mesh.cells[part.cells], rule.gradients[part.cells]
        F = np.eye(3) + np.einsum("eak,epal->epkl", u[nodes], gradients)
        shape = F.shape[:2]
        psi, P, A = np.empty(shape), np.empty((*shape, 3, 3)), np.empty((*shape, 6, 3, 3))
        part.evaluate(slice(None), F, psi, P, A, 2)
        S = rule.weights[part.cells][..., None, None] * np.linalg.solve(F, P)
        blocks = np.einsum("epaj,epjl,epbl->eab", gradients, S, gradients, optimize=True)
        for cell, block in zip(nodes, blocks, strict=True):
            whole[np.ix_(cell, cell)] += block
    return np.asarray(K - np.kron(whole, np.eye(3)))
