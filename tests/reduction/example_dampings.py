"""What the tests of reduced damping by example share: the printed formula, and some examples."""

from __future__ import annotations

import numpy as np

import supple as sp
from supple.damping import Curve, Example, ExampleDamping, Measure
from supple.damping.caughey import Caughey
from supple.reduction.damping.rules import reduced_damping

TIGHT = sp.DenseNewton(tolerance=1e-13, max_iterations=60)
BASE = sp.Rayleigh(mass=0.4, stiffness=2e-3)
BASES = {
    "current": BASE,
    "rest": sp.Rayleigh(mass=0.3, stiffness=2e-3, at=sp.StiffnessAt.REST),
    "by region": sp.Rayleigh(mass={"far": 0.5}, stiffness={"far": 3e-3}),
    "caughey": Caughey((0.5, 1e-3, 1e-10)),
}
RISING = Curve.bezier([(0.0, 0.2), (0.6, 2.0), (1.5, 12.0)])
FALLING = Curve.monotone([(0.1, 6.0), (0.5, 1.0), (1.0, 0.1)])


def printed(C: np.ndarray, X: np.ndarray, gamma: np.ndarray, symmetric: bool) -> np.ndarray:
    """Ĉ as the paper prints it: App. A, Eq. 8, App. B, Eq. 9. ``X`` has an example a row."""
    k = len(X)
    Q, R = np.zeros((k, len(C))), np.zeros((k, k))
    for i, x in enumerate(X):
        y = x.copy()
        for j in range(i):
            R[j, i] = Q[j] @ C @ y
            y -= R[j, i] * Q[j]
        R[i, i] = np.sqrt(y @ C @ y)
        Q[i] = y / R[i, i]
    Pi = R @ np.diag(gamma) @ np.linalg.inv(R)
    values, vectors = np.linalg.eigh(0.5 * (Pi + Pi.T))
    for value, vector in zip(values, vectors.T, strict=True):
        Pi -= min(value, 0.0) * np.outer(vector, vector)
    if symmetric:
        Pi = 0.5 * (Pi + Pi.T)
    U = C @ Q.T
    return C + U @ (Pi - np.eye(k)) @ U.T


def shapes_of(model: sp.ReducedModel, coordinates: np.ndarray) -> list[np.ndarray]:
    return [model.displacements(q) for q in coordinates]


def examples(model: sp.ReducedModel, *curves: Curve | float, seed: int = 0) -> list[Example]:
    """Examples that are not orthogonal in any product, all of about the same energy."""
    rng = np.random.default_rng(seed)
    k = np.diag(model.stiffness(np.zeros(model.size)))
    size = 0.4 * np.sqrt(k[0] / k)
    q = (0.15 * rng.normal(size=(len(curves), model.size)) + np.eye(len(curves), model.size)) * size
    return [Example(u, curve) for u, curve in zip(shapes_of(model, q), curves, strict=True)]


def force(damping: sp.Damping, model: sp.ReducedModel, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return reduced_damping(damping, model).force(q, v)


def base_matrix(base: sp.Damping, model: sp.ReducedModel, q: np.ndarray) -> np.ndarray:
    return reduced_damping(base, model).matrix(q)


def full_damping(model: sp.ReducedModel, base: sp.Damping, **options: object) -> ExampleDamping:
    """Everything at once: curves of excitation and of rate, not orthogonal, about a shape."""
    one, two, three = examples(model, RISING, FALLING, 3.0)
    two = Example(two.shape, Curve.linear([(0.0, 0.3), (3.0, 5.0)]), measure=Measure.RATE)
    about = 0.05 * one.shape
    overall = Curve.monotone([(0.0, 0.7), (0.1, 2.0)])
    return ExampleDamping(base, [one, two, three], overall=overall, about=about, **options)


RULES = [sp.Newmark, sp.Bathe, sp.TRBDF2, sp.BDF2, sp.BackwardEuler]
