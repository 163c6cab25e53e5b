"""The problem: a rubber-like beam, clamped at one end, in its first bending mode."""

from __future__ import annotations

from math import pi, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import expm
from scipy.optimize import brentq
from scipy.sparse.linalg import eigsh

import supple as sp
from benchmarks.peers.problem import Problem

LENGTH, WIDTH = 1.0, 0.2  # [m]
YOUNG, POISSON, DENSITY = 1e6, 0.4, 1000.0  # [Pa], -, [kg/m³]
TIP = 0.02  # deflection of the tip at the release [m]
FRAME_RATE = 60  # [Hz]

# A brick as six tets around its main diagonal; corner 4i + 2j + k is at (i, j, k).
_SIX = np.array(
    [(0, 4, 6, 7), (0, 6, 2, 7), (0, 2, 3, 7), (0, 3, 1, 7), (0, 1, 5, 7), (0, 5, 4, 7)]
)


def make_problem(cells: tuple[int, int, int]) -> Problem:
    """The cantilever, cut into ``cells`` bricks along its axes and each brick into six tets.

    Masses are lumped, since the peers lump them: so all engines solve the same equations.
    """
    vertices, tets = _grid(cells)
    mesh = sp.TetMesh(vertices, tets)
    material = sp.StVK(young=YOUNG, poisson=POISSON, density=DENSITY)
    body = sp.Body(mesh, material, fixed=mesh.where(x=0), mass_model=sp.LumpedMass())
    masses = body.mass_times(np.ones_like(vertices))[:, 0]
    modes = sp.vibration_modes(body, 1)
    mode = modes.shapes[0]
    tip = np.linalg.norm(mode[mesh.vertices[:, 0] > LENGTH * (1 - 1e-9)].mean(axis=0))
    return Problem(
        vertices=mesh.vertices,
        tets=mesh.cells,
        fixed=np.flatnonzero(~body.free.all(axis=1)),
        masses=masses,
        mode=mode,
        release=TIP / float(tip),
        frequency=float(modes.frequencies[0]),
        beam_frequency=_timoshenko_frequency(),
        explicit_step=_explicit_step(body, masses),
        young=YOUNG,
        poisson=POISSON,
        density=DENSITY,
        frame_rate=FRAME_RATE,
    )


def _grid(cells: tuple[int, int, int]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    counts = np.array(cells) + 1
    steps = np.indices(counts).reshape(3, -1).T
    lowest = steps[(steps < cells).all(axis=1)]
    corners = lowest[:, None] + np.indices((2, 2, 2)).reshape(3, -1).T
    bricks = np.ravel_multi_index(tuple(corners.reshape(-1, 3).T), tuple(counts)).reshape(-1, 8)
    return steps / cells * (LENGTH, WIDTH, WIDTH), bricks[:, _SIX].reshape(-1, 4)


def _explicit_step(body: sp.Body, masses: NDArray[np.float64]) -> float:
    """2/ω [s] of the fastest vibration."""
    free = body.free.ravel()
    scale = np.repeat(masses, 3)[free] ** -0.5
    stiffness = body.stiffness(np.zeros_like(body.mesh.vertices)).tocsr()[free][:, free]
    scaled = stiffness.multiply(scale[:, None]).multiply(scale).tocsr()
    start = np.random.default_rng(0).normal(size=len(scale))
    square = eigsh(scaled, 1, which="LA", return_eigenvectors=False, v0=start, tol=1e-4)
    return 2 / sqrt(float(square[0]))


def _timoshenko_frequency() -> float:
    """First frequency [Hz] of a Timoshenko cantilever, with Cowper's shear coefficient.

    Along the beam, (w, ψ, m, s)' = A (w, ψ, m, s) for deflection, rotation, moment and shear force;
    at a natural frequency the clamped end can have (m, s) ≠ 0 that leave the free end without load.
    """
    area, inertia = WIDTH**2, WIDTH**4 / 12
    bending = YOUNG * inertia
    shear = 10 * (1 + POISSON) / (12 + 11 * POISSON) * YOUNG / (2 * (1 + POISSON)) * area

    def load_left(omega: float) -> float:
        A = np.zeros((4, 4))
        A[0, 1], A[0, 3] = 1, 1 / shear
        A[1, 2] = 1 / bending
        A[2, 1], A[2, 3] = -DENSITY * inertia * omega**2, -1
        A[3, 0] = -DENSITY * area * omega**2
        return float(np.linalg.det(expm(LENGTH * A)[2:, 2:]))

    slender = 1.8751**2 * sqrt(bending / (DENSITY * area)) / LENGTH**2  # Euler and Bernoulli
    return float(brentq(load_left, 0.5 * slender, 1.01 * slender)) / (2 * pi)
