"""The inertia of a free body that deforms in a frame of its own (subspace StVK, App. D).

    x = p + R y,    y = X − X̄ + Σ q_i φ_i

p is the centre of mass and R turns the frame. The basis is mass-orthogonal to rigid motions, so
that Σ m φ_i = 0 and Σ m (X − X̄) × φ_i = 0: deformation at rest carries no momentum (the mean axes
of Tisserand). What is left of inertia are second moments Σ m y ⊗ y, quadratic in q.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple._kernels.reduction.frame import Moments
from supple.bodies.solid import Body
from supple.core.checks import number, numbers
from supple.core.errors import InputError
from supple.core.types import Floats, Ints

_RIGID = 1e-8  # a shape that moves rigidly by less than this share of itself does not


@dataclass(frozen=True, eq=False, repr=False)
class FloatingLoad:
    """World forces on vertices of a free body, as they act whatever its pose and shape are.

    ``force`` (3,) is their sum [N]; ``moments`` (1 + r, 3, 3) are Σ (X − X̄) ⊗ f and Σ φ_i ⊗ f, from
    which the reduced force φ_i · Rᵀf and the torque R y × f follow exactly. Loads may be added, and
    multiplied by numbers.
    """

    force: Floats
    moments: Floats

    def __repr__(self) -> str:
        return f"FloatingLoad(force={self.force.tolist()} N)"

    def __add__(self, other: FloatingLoad) -> FloatingLoad:
        if not isinstance(other, FloatingLoad):
            return NotImplemented
        if self.moments.shape != other.moments.shape:
            raise InputError(
                f"these loads are of models with {len(self.moments) - 1} and "
                f"{len(other.moments) - 1} coordinates; add loads of the same model"
            )
        return FloatingLoad(self.force + other.force, self.moments + other.moments)

    def __mul__(self, factor: float) -> FloatingLoad:
        return FloatingLoad(factor * self.force, factor * self.moments)

    __rmul__ = __mul__

    def __neg__(self) -> FloatingLoad:
        return -1.0 * self

    def __sub__(self, other: FloatingLoad) -> FloatingLoad:
        return self + -other


@dataclass(frozen=True, eq=False, repr=False)
class FloatingInertia:
    """What the motion of a free body in its frame needs to know of its mass.

    ``moments`` (1 + r, 1 + r, 3, 3) are Σ m ψ_i ⊗ ψ_j of ψ = X − X̄, φ_1, …, φ_r, with the mass
    matrix of the body.
    """

    mass: float
    """Of the whole body [kg]."""
    centre: Floats
    """Centre of mass X̄ at rest [m], (3,)."""
    arms: Floats
    """The vertices at rest as seen from it, X − X̄ [m], (n, 3)."""
    moments: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "mass", number("mass", self.mass, above=0, unit="kg"))
        shapes = {
            "centre": (3,),
            "arms": (len(self.arms), 3),
            "moments": (len(self.moments), len(self.moments), 3, 3),
        }
        for name, shape in shapes.items():
            array = np.ascontiguousarray(numbers(name, getattr(self, name), (shape,)))
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    def __repr__(self) -> str:
        return f"FloatingInertia({self.mass:g} kg, {self.size} coordinates)"

    @classmethod
    def of(cls, body: Body, vectors: Floats) -> FloatingInertia:
        """The inertia of a body without supports in the basis ``vectors`` (r, n, 3)."""
        X = body.mesh.vertices
        weights = body.mass_times(np.ones_like(X))[:, 0]
        mass = float(weights.sum())
        centre = weights @ X / mass
        shapes = np.concatenate([(X - centre)[None], vectors])
        momenta = np.array([body.mass_times(u) for u in shapes])
        # Σ m ψ_i,a ψ_j,b
        flat = momenta.transpose(1, 0, 2).reshape(len(X), -1)
        products = shapes.transpose(0, 2, 1).reshape(-1, len(X)) @ flat
        r = len(vectors)
        moments = products.reshape(1 + r, 3, 1 + r, 3).transpose(0, 2, 1, 3)
        _check_not_rigid(mass, momenta[1:].sum(axis=1), moments)
        return cls(mass, centre, X - centre, moments)

    @property
    def size(self) -> int:
        """Number of coordinates r."""
        return len(self.moments) - 1

    def scaled(self, factor: float) -> FloatingInertia:
        """The inertia of the body with every density multiplied by ``factor``."""
        return replace(self, mass=factor * self.mass, moments=factor * self.moments)

    def truncated(self, size: int) -> FloatingInertia:
        """The inertia in the first ``size`` coordinates."""
        kept = self.moments[: size + 1, : size + 1]
        return FloatingInertia(self.mass, self.centre, self.arms, kept)

    def transformed(self, T: Floats) -> FloatingInertia:
        """The inertia in coordinates p with q = T p, for T (r, s)."""
        wide = np.zeros((T.shape[0] + 1, T.shape[1] + 1))  # the shape at rest comes first
        wide[0, 0] = 1.0
        wide[1:, 1:] = T
        moments = np.einsum("ia,ijkl,jb->abkl", wide, self.moments, wide, optimize=True)
        return FloatingInertia(self.mass, self.centre, self.arms, moments)

    def load(self, vectors: Floats, vertices: Ints, forces: Floats) -> FloatingLoad:
        """Forces (k, 3) [N] of the world on vertices (k,) of a body with basis (r, n, 3)."""
        moments = np.empty((1 + len(vectors), 3, 3))
        moments[0] = self.arms[vertices].T @ forces
        moments[1:] = vectors[:, vertices].transpose(0, 2, 1) @ forces
        return FloatingLoad(forces.sum(axis=0), moments)

    def inertia(self, q: Floats) -> Floats:
        """Moments of inertia J(q) about the centre of mass, in the body's frame [kg m²], (3, 3)."""
        y = np.concatenate([[1.0], q])
        A = np.tensordot(y, np.tensordot(y, self.moments, 1), 1)  # Σ m y ⊗ y
        A = 0.5 * (A + A.T)
        return np.asarray(np.trace(A) * np.eye(3) - A)

    def inner_momentum(self, q: Floats, v: Floats) -> Floats:
        """Angular momentum h = Σ m y × Σ φ_j q̇_j of the deformation in the body's frame, (3,)."""
        return np.asarray(self.inner_momenta(q) @ v)

    def inner_momenta(self, q: Floats) -> Floats:
        """H (3, r) with h = H q̇."""
        A = np.tensordot(q, self.moments[1:, 1:], 1)
        turns = (A[:, 1, 2] - A[:, 2, 1], A[:, 2, 0] - A[:, 0, 2], A[:, 0, 1] - A[:, 1, 0])
        return np.array(turns)

    @cached_property
    def reduced_mass(self) -> Floats:
        """M̃, (r, r)."""
        return np.asarray(np.einsum("ijaa->ij", self.moments[1:, 1:]))

    @cached_property
    def compiled(self) -> Moments:
        """The moments as compiled loops take them."""
        mixed = self.moments[0, 1:].transpose(1, 2, 0).reshape(9, -1)
        inner = self.moments[1:, 1:].transpose(0, 2, 3, 1).reshape(self.size, 9, self.size)
        return Moments(self.moments[0, 0].copy(), *map(np.ascontiguousarray, (mixed, inner)))

    # -- for files -------------------------------------------------------------------------

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays that a file keeps."""
        return {"mass": np.array(self.mass)} | {name: getattr(self, name) for name in _ARRAYS}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> FloatingInertia:
        """The inertia with these arrays; InputError where they do not fit together."""
        try:
            given = {name: arrays[name] for name in _ARRAYS}
            mass = float(arrays["mass"])
            return cls(mass=mass, **given)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"this is not the inertia of a free body, or a damaged one ({error}); make the "
                "model anew"
            ) from error


_ARRAYS = ("centre", "arms", "moments")


def _check_not_rigid(mass: float, momenta: Floats, moments: Floats) -> None:
    """Stop at a basis whose vectors carry momentum: Σ m φ_i (r, 3) or Σ m (X − X̄) × φ_i."""
    size = np.sqrt(np.einsum("iiaa->i", moments))
    mixed = moments[0, 1:]
    turning = np.abs(mixed - mixed.transpose(0, 2, 1)).max(axis=(1, 2)) / size[0]
    share = np.maximum(np.abs(momenta).max(axis=1) / np.sqrt(mass), turning) / size[1:]
    if share.max() > _RIGID:
        worst = int(share.argmax())
        raise InputError(
            f"vector {worst} of the basis moves the body rigidly, by {share[worst]:.2g} of itself, "
            "which is the part of its frame; make the basis with picked_basis(body, shapes), or "
            "any other of this package"
        )
