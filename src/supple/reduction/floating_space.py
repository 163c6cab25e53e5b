"""The places that carry a free reduced body, in a space that turns with it.

The shapes x = c + R (X − X̄ + Σ q_i φ_i) of a free reduced body lie in the space

    x(X) = Σ_j f_j(X) y_j,    f = 1, X − X̄ and all components of φ_1, …, φ_r, one by one,

with y_j in space, which turns and moves with them. There the kinetic energy is that of a constant
mass G ⊗ I, with the Gram matrix G_ij = ∫ ρ f_i f_j. In place of f we take functions ψ_a that are
orthogonal, ∫ ρ ψ_a ψ_b = μ δ_ab, and add up to one. Then x = Σ ψ_a x_a is a mean of places x_a with
equal masses μ = m/n, which have together the momentum and the angular momentum of the body, and
the body's weight. A rigid body is the case of no φ: four places.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.core.types import Floats, Ints
from supple.reduction.runtime.floating import FloatingInertia

_DEPENDENT = 1e-5  # of its shape: a component that is less beside the others is not one of its own


@dataclass(frozen=True, eq=False)
class FloatingSpace:
    """n places x_a with equal masses, and what the shapes of a model are there."""

    mass: float
    """μ, of each place [kg]."""
    rest: Floats
    """X − X̄ there [m], (n, 3)."""
    shapes: Floats
    """φ_i there, (r, n, 3)."""
    _kept: Ints
    """Which of the components of f are independent, (n − 1,)."""
    _to_functions: Floats
    """ψ from those, (n − 1, n)."""
    _size: Floats
    """What X − X̄ and φ_i are divided by, (1 + r,)."""

    @classmethod
    def of(cls, inertia: FloatingInertia) -> FloatingSpace:
        """That of a model, from the second moments of its mass."""
        r = inertia.size
        gram = inertia.moments.transpose(0, 2, 1, 3).reshape(3 * (1 + r), -1)
        size = np.sqrt(np.einsum("iiaa->i", inertia.moments))
        scale = np.repeat(size, 3)
        kept, L = _orthonormal(0.5 * (gram + gram.T) / np.outer(scale, scale))
        n = 1 + len(kept)
        mu = inertia.mass / n
        H = _mirror(n)[:, 1:]  # the first function is constant
        places = (scale[:, None] * L @ H.T / np.sqrt(mu)).reshape(1 + r, 3, n)
        places = np.ascontiguousarray(places.transpose(0, 2, 1))
        to_functions = np.sqrt(mu) * np.linalg.solve(L[kept].T, H.T)
        return cls(mu, places[0], places[1:], kept, to_functions, size)

    @property
    def n(self) -> int:
        """Number of places."""
        return len(self.rest)

    def weights(self, arms: Floats, shapes: Floats) -> Floats:
        """ψ (p, n) of points at X − X̄ = ``arms`` (p, 3), where φ are ``shapes`` (r, p, 3)."""
        f = np.concatenate([arms[None], shapes]) / self._size[:, None, None]
        flat = f.transpose(1, 0, 2).reshape(len(arms), -1)
        return np.asarray(1.0 / self.n + flat[:, self._kept] @ self._to_functions)

    def forces(self, total: Floats, moments: Floats) -> Floats:
        """Σ ψ_a f (n, 3) of forces f, from Σ f (3,) and Σ (X − X̄) ⊗ f, Σ φ_i ⊗ f (1 + r, 3, 3)."""
        flat = (moments / self._size[:, None, None]).reshape(-1, 3)[self._kept]
        return np.asarray(total / self.n + self._to_functions.T @ flat)


def _orthonormal(gram: Floats) -> tuple[Ints, Floats]:
    """Which of functions are independent (k,), and all of them by orthonormal ones of these.

    Cholesky's factorization in order, which passes over what the ones before it make up.
    """
    L, kept = np.zeros((len(gram), 0)), []
    for i in range(len(gram)):
        rest = gram[:, i] - L @ L[i]
        if rest[i] > _DEPENDENT**2:
            L = np.column_stack([L, rest / np.sqrt(rest[i])])
            L[:i, -1] = 0.0
            kept.append(i)
    return np.array(kept), L


def _mirror(n: int) -> Floats:
    """The reflection (n, n) that takes the first axis to the one along which all are equal."""
    w = -np.full(n, 1.0 / np.sqrt(n))
    w[0] += 1.0
    return np.asarray(np.eye(n) - 2.0 * np.outer(w, w) / (w @ w))
