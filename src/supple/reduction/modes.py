"""Vibration modes: the shapes in which a body vibrates freely, and how fast."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator, eigsh

from .._kernels.blocks import add_scaled_identity_blocks
from ..body import Body
from ..checks import whole_number
from ..errors import InputError
from ..solvers.cholesky import Factorization
from ..solvers.interface import NotPositiveDefinite
from ..types import Floats


@dataclass(frozen=True, eq=False)
class Modes:
    """Free vibrations, slowest first: K φ = ω² M φ with φᵀ M φ = 1.

    ``frequencies`` ω/2π [Hz], (k,); ``shapes`` φ, (k, n, 3). A free body's rigid motions come
    first, with frequency zero.
    """

    frequencies: Floats
    shapes: Floats


def vibration_modes(body: Body, count: int, *, at: ArrayLike | None = None) -> Modes:
    """The ``count`` slowest vibrations of the body about its rest shape, or about ``at`` (n, 3)."""
    free = int(body.free.sum())
    if whole_number("count", count, at_least=1) >= free:
        raise InputError(
            f"count={count}: this body has {free} free components; give less than that"
        )
    u = np.zeros_like(body.mesh.vertices) if at is None else body.checked("at", at)
    stiffness = body.evaluate(u, order=2).stiffness
    mass = body.mass_values
    factorization = Factorization(body.pattern, body.free)
    rigid = body.free_rigid_motions
    # A free body's stiffness is singular: shift by a small negative ω².
    shift = (
        -1e-7 * np.abs(np.einsum("bii->b", stiffness)).max() / (3 * mass.max()) if rigid else 0.0
    )
    shifted = stiffness.copy()
    add_scaled_identity_blocks(shifted, mass, -shift)
    try:
        factorization.factorize(shifted)
    except NotPositiveDefinite as error:
        raise InputError(
            "the stiffness is not positive definite here. Either the shape is not an equilibrium "
            "that a body vibrates about: give at= a stable static shape, or none for the rest "
            "shape. Or a part of the body hangs on a single vertex or edge and turns on it like a "
            "hinge: join its cells by whole faces."
        ) from error
    shape = body.free.shape

    def operator(product: object) -> LinearOperator:
        return LinearOperator((free, free), matvec=product, dtype=float)

    def spread(x: Floats) -> Floats:
        field = np.zeros(shape)
        field[body.free] = x.ravel()
        return field

    values, vectors = eigsh(
        operator(lambda x: body.pattern.multiply(stiffness, spread(x))[body.free]),
        k=count,
        M=operator(lambda x: body.mass_times(spread(x))[body.free]),
        sigma=shift,
        OPinv=operator(lambda x: factorization.solve(spread(x))[body.free]),
        which="LM",
        v0=np.random.default_rng(0).normal(size=free),
    )
    order = np.argsort(values)
    squares = values[order]
    squares[:rigid] = 0.0  # exactly, not up to rounding
    shapes = np.zeros((count, *shape))
    shapes[:, body.free] = vectors.T[order]
    for k, phi in enumerate(shapes):
        phi /= np.sqrt(np.vdot(phi, body.mass_times(phi)))
        largest = phi.reshape(-1)[np.abs(phi).argmax()]
        shapes[k] = phi if largest > 0 else -phi  # the same sign on every machine
    return Modes(np.sqrt(np.maximum(squares, 0.0)) / (2 * np.pi), shapes)
