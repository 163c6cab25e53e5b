"""One cell at a deformation gradient and a rate of it, and what its material says there."""

from __future__ import annotations

import numpy as np
from tests.helpers import affine, evaluate, rotation, soft

import supple as sp
from supple.bodies.shape import Shape

TET = sp.TetMesh(
    np.array([[0.1, 0, 0], [1.2, 0.1, 0], [0, 0.9, 0.2], [0.1, 0.2, 1.0]]), [[0, 1, 2, 3]]
)
VOLUME = float(TET.quadrature().weights.sum())


def body_of(material: type[sp.Material]) -> sp.Body:
    return sp.Body(TET, soft(material))


def density(damping: sp.Damping, material: type[sp.Material], F, rate) -> float:
    """r(F, Ḟ) [W/m³]."""
    body = body_of(material)
    R, _ = damping.bind(body).evaluate(
        Shape(body, affine(TET, F)), TET.vertices @ np.asarray(rate).T
    )
    return R / VOLUME


def elasticity(material: type[sp.Material], F) -> tuple[np.ndarray, np.ndarray]:
    """P (3, 3) and ∂P/∂F (3, 3, 3, 3) [Pa]."""
    lam, mu = (float(x[0]) for x in soft(material).lame(np.arange(1)))
    _, P, A = evaluate(material, np.asarray(F)[None], lam, mu)
    return P[0], A[0].reshape(3, 3, 3, 3)


def stretched(*sigma: float, seed: int = 0) -> np.ndarray:
    """A deformation gradient with these singular values, in general directions."""
    return rotation(seed) @ np.diag(sigma) @ rotation(seed + 1)


def rates(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, 3, 3))


def moving(sigmas) -> list[tuple[np.ndarray, np.ndarray]]:
    """Deformation gradients with these singular values, and four rates of each."""
    return [
        (stretched(*sigma, seed=seed), rate)
        for seed, sigma in enumerate(sigmas)
        for rate in rates(4, seed)
    ]
