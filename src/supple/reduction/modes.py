"""Vibration modes: the shapes in which a body vibrates freely, and how fast."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator, eigsh

from supple._kernels.linear_algebra.blocks import add_scaled_identity_blocks
from supple.bodies.solid import Body
from supple.core.checks import numbers, whole_number
from supple.core.errors import InputError
from supple.core.types import Bools, Floats
from supple.solvers.interface import NotPositiveDefinite
from supple.solvers.linear.cholesky import Factorization

_SAME = 1e-7  # vibrations whose ω² differ by less than this share are found in any combination
_TIED = 1e-6  # shares by which what is equal by symmetry may differ
_MORE = 2  # vibrations to look for beyond those asked for, lest equally fast ones be parted
_SLIPPERY = 1e-6  # a support that holds a motion by less than this share does not hold it


@dataclass(frozen=True, eq=False)
class Modes:
    """Free vibrations, slowest first: K φ = ω² M φ with φᵀ M φ = 1.

    ``frequencies`` ω/2π [Hz], (k,); ``shapes`` φ, (k, n, 3). A free body's rigid motions come
    first, with frequency zero.
    """

    frequencies: Floats
    shapes: Floats

    @cached_property
    def squares(self) -> Floats:
        """ω² [1/s²], (k,)."""
        return (2 * np.pi * self.frequencies) ** 2

    @property
    def rigid(self) -> int:
        """How many of the modes are rigid motions."""
        return int((self.frequencies == 0.0).sum())

    def static_shape(self, forces: ArrayLike) -> Floats:
        """Displacements (n, 3) [m] at which the linear body rests under ``forces`` (n, 3) [N].

        A free body has such a shape in its own frame: forces that would move it rigidly do nothing.
        """
        f = numbers("forces", forces, (self.shapes.shape[1:],))
        phi, squares = self.shapes[self.rigid :], self.squares[self.rigid :]
        # u = Σ φ φᵀf / ω²
        return np.tensordot(np.tensordot(phi, f, 2) / squares, phi, 1)


def vibration_modes(body: Body, count: int, *, at: ArrayLike | None = None) -> Modes:
    """The ``count`` slowest vibrations of the body about its rest shape, or about ``at`` (n, 3)."""
    free = int(body.free.sum())
    if whole_number("count", count, at_least=1) >= free:
        raise InputError(
            f"count={count}: this body has {free} free components; give less than that"
        )
    u = np.zeros_like(body.mesh.vertices) if at is None else body.checked("at", at)
    return SmallVibrations(body, u).modes(count)


class SmallVibrations:
    """A body's small vibrations about one shape, with the stiffness factorized.

    ``rigid`` (k, n, 3) are the mass-orthonormal rigid motions that the supports leave free. Where
    there are any the stiffness is singular, and ``solve`` is the inverse of K + ``shift`` M on the
    shapes that are mass-orthogonal to them. ``definite`` takes the positive definite stand-in for K
    about shapes that are not at rest.
    """

    def __init__(self, body: Body, u: Floats, *, definite: bool = False) -> None:
        if not body.has_constant_mass:
            raise InputError(
                "the mass of woven cloth follows its yarns, and vibrations want one that stays; "
                "release the cloth in a Simulation, or take a Cloth of triangles"
            )
        self.body = body
        self.stiffness = body.evaluate(u, order=2, definite=definite).stiffness
        self.rigid = rigid_motions(body, u)
        self.shift = 0.0
        if len(self.rigid):
            largest = np.abs(np.einsum("bii->b", self.stiffness)).max()
            self.shift = 1e-7 * float(largest / (3 * body.mass_values.max()))
        shifted = self.stiffness.copy()
        add_scaled_identity_blocks(shifted, body.mass_values, self.shift)
        self._factorization = Factorization(body.pattern, body.free)
        try:
            self._factorization.factorize(shifted)
        except NotPositiveDefinite as error:
            raise InputError(
                "the stiffness is not positive definite here. Either the shape is not an "
                "equilibrium that a body vibrates about: give at= a stable static shape, or none "
                "for the rest shape. Or a part of the body hangs on a single vertex or edge and "
                "turns on it like a hinge: join its cells by whole faces."
            ) from error

    @cached_property
    def rigid_momenta(self) -> Floats:
        """M times the rigid motions, (k, n, 3)."""
        return mass_times(self.body, self.rigid)

    def times(self, shapes: Floats) -> Floats:
        """K x for each of x (k, n, 3), zero where the body is held."""
        products = [self.body.pattern.multiply(self.stiffness, x) for x in shapes]
        return np.where(self.body.free, np.stack(products), 0.0)

    def solve(self, forces: Floats) -> Floats:
        """x (k, n, 3) with (K + shift M) x = f for each of f, but for their rigid parts."""
        balanced = without(forces, self.rigid_momenta, self.rigid)
        return without(self._factorization.solve(balanced), self.rigid, self.rigid_momenta)

    def modes(self, count: int) -> Modes:
        """The ``count`` slowest modes, the rigid ones first."""
        known = self.rigid[:count]
        squares = np.zeros(count)
        shapes = np.empty((count, *self.body.free.shape))
        shapes[: len(known)] = known
        if count > len(known):
            squares[len(known) :], shapes[len(known) :] = self._vibrations(count - len(known))
        return Modes(np.sqrt(squares) / (2 * np.pi), shapes)

    def _vibrations(self, count: int) -> tuple[Floats, Floats]:
        """ω² (count,), ascending, and the shapes (count, n, 3) of the slowest that strain."""
        body, free = self.body, int(self.body.free.sum())

        def operator(product: object) -> LinearOperator:
            return LinearOperator((free, free), matvec=product, dtype=float)

        def spread(x: Floats) -> Floats:
            field = np.zeros(body.free.shape)
            field[body.free] = x.ravel()
            return field

        sought = max(count, min(count + _MORE, free - len(self.rigid) - 1))
        values, vectors = eigsh(
            operator(lambda x: body.pattern.multiply(self.stiffness, spread(x))[body.free]),
            k=sought,
            M=operator(lambda x: body.mass_times(spread(x))[body.free]),
            sigma=-self.shift,
            OPinv=operator(lambda x: self.solve(spread(x)[None])[0][body.free]),
            which="LM",
            v0=np.random.default_rng(0).normal(size=free),
        )
        order = np.argsort(values)
        shapes = np.zeros((sought, *body.free.shape))
        shapes[:, body.free] = vectors.T[order]
        shapes = orthonormalized(body, without(shapes, self.rigid, self.rigid_momenta))
        canonicalize(values[order], shapes)
        return np.maximum(values[order[:count]], 0.0), shapes[:count]


def canonicalize(values: Floats, shapes: Floats, *followers: Floats) -> None:
    """Makes shapes (k, n, 3) the same on every processor, in place; ``followers`` turn with them.

    The sign of an eigenvector, and which ones are found where eigenvalues are equal, come from the
    last bits. Here the component that moves most is positive, the first of those that move equally
    far by symmetry. Of shapes with equal ``values`` (k,), in order, the first is the combination
    that moves most in a component, the next that of those orthogonal to it, and so on.
    """
    apart = np.abs(np.diff(values)) > _SAME * np.maximum(np.abs(values[1:]), np.abs(values[:-1]))
    edges = [0, *(np.flatnonzero(apart) + 1), len(values)]
    for start, end in pairwise(edges):
        for k in range(start, end):
            flat = shapes[k:end].reshape(end - k, -1)
            reach = np.linalg.norm(flat, axis=0)
            moved = flat[:, np.argmax(reach >= (1 - _TIED) * reach.max())]
            turn = _rotation_to(moved / np.linalg.norm(moved))
            for each in (shapes, *followers):
                each[k:end] = np.tensordot(turn, each[k:end], 1)


def _rotation_to(first: Floats) -> Floats:
    """An orthogonal matrix with the unit vector ``first`` (k,) as first row."""
    if len(first) == 1:
        return np.sign(first)[None]
    v = np.eye(len(first))[0] - first
    square = float(v @ v)
    return np.eye(len(first)) - (2 / square * np.outer(v, v) if square > 0 else 0.0)


def rigid_motions(body: Body, u: Floats | None = None) -> Floats:
    """The mass-orthonormal rigid motions (k, n, 3) that the supports leave free.

    They are those of the body displaced by ``u`` (n, 3). A free body has six; a held one none; each
    loose piece of a mesh has its own.
    """
    if not body.free_rigid_motions:
        return np.empty((0, body.n_vertices, 3))
    from scipy.sparse.csgraph import connected_components  # slow to import

    x = body.mesh.vertices if u is None else body.mesh.vertices + u
    pieces, label = connected_components(body.pattern.graph(), directed=False)
    motions = []
    for piece in range(pieces):
        mine = label == piece
        for motion in _of_piece(x[mine], body.free[mine]):
            whole = np.zeros_like(x)
            whole[mine] = motion
            motions.append(whole)
    return orthonormalized(body, np.reshape(motions, (-1, body.n_vertices, 3)))


def _of_piece(x: Floats, free: Bools) -> Floats:
    """Independent rigid motions (k, m, 3) of points x (m, 3) that move no held component."""
    arm = x - x.mean(axis=0)
    arm /= np.abs(arm).max(initial=0.0) or 1.0
    shifts = [np.broadcast_to(axis, arm.shape) for axis in np.eye(3)]
    turns = [np.cross(axis, arm) for axis in np.eye(3)]
    six = np.stack(shifts + turns)
    sizes, spanned = np.linalg.svd(six.reshape(6, -1), full_matrices=False)[1:]
    if sizes[-1] <= _SLIPPERY * sizes[0]:  # points on one line do not move as they turn about it
        six = spanned[sizes > _SLIPPERY * sizes[0]].reshape(-1, *arm.shape)
    held = six[:, ~free]
    if not held.size:
        return six
    grip, combinations = np.linalg.eigh(held @ held.T)
    loose = grip <= _SLIPPERY**2 * held.shape[1]
    motions = np.where(free, np.tensordot(combinations.T[loose], six, 1), 0.0)
    canonicalize(np.zeros(len(motions)), motions)
    return motions


# -- many shapes (k, n, 3) at once in the mass product ⟨u, v⟩ = uᵀ M v --------------------


def mass_times(body: Body, shapes: Floats) -> Floats:
    """M u for each of u (k, n, 3), zero where the body is held: supports take what comes there."""
    momenta = np.empty_like(shapes)
    for k, u in enumerate(shapes):
        momenta[k] = body.mass_times(u)
    momenta *= body.free
    return momenta


def products(first: Floats, second: Floats) -> Floats:
    """All sums first[i] · second[j], (k, l)."""
    return np.tensordot(first, second, ((1, 2), (1, 2)))


def combined(weights: Floats, shapes: Floats) -> Floats:
    """Σ_j weights[i, j] shapes[j], (k, n, 3)."""
    return np.tensordot(weights, shapes, 1)


def without(shapes: Floats, directions: Floats, duals: Floats) -> Floats:
    """Each shape less its part along the directions, which the duals measure: dual · direction = δ.

    For shapes the duals are M times the mass-orthonormal directions; for forces it is the other
    way round.
    """
    if not len(directions):
        return shapes
    return shapes - combined(products(shapes, duals), directions)


def orthonormalized(body: Body, shapes: Floats) -> Floats:
    """Independent shapes made mass-orthonormal to rounding; the span of the first k stays.

    They should be nearly so already, or well conditioned: condition numbers up to 1e7 are mended.
    """
    for _ in range(2):  # what the first pass leaves of a bad condition, the second mends
        gram = products(shapes, mass_times(body, shapes))
        lower = np.linalg.cholesky(gram)
        flat = shapes.reshape(len(shapes), -1)
        flat = scipy.linalg.solve_triangular(lower, flat, lower=True)
        shapes = np.ascontiguousarray(flat).reshape(shapes.shape)
    return shapes
