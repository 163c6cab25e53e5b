"""Deformation bases: a few shapes whose combinations stand for the motion of a body.

Every basis here is mass-orthonormal, zero where the body is held, and mass-orthogonal to the rigid
motions that the supports leave free: those belong to the frame of a free body, not to its
deformation.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.solid import Body
from supple.core.checks import instance, numbers, whole_number
from supple.core.errors import InputError
from supple.core.types import Floats, Progress
from supple.dynamics.motion import Motion
from supple.dynamics.recording import read_motion
from supple.reduction.derivatives import checked_modes, derivative_pairs, derivatives_of, reach
from supple.reduction.modes import (
    Modes,
    SmallVibrations,
    canonicalize,
    combined,
    mass_times,
    orthonormalized,
    products,
    rigid_motions,
    without,
)

_NOISE = 1e-13  # shapes below this share of the largest one are rounding
_SPAN = 1e-6  # singular values that one eigenproblem, of their squares, tells well
_MORE = 2  # vectors to find beyond those asked for, lest equally important ones be parted
_SETTLED = 1e-7  # singular values so much smaller turn a direction by their square
_DEPENDENT = 1e-9  # a shape of which less than this share is new depends on the others
_EVERY = 5  # vectors of a basis of shapes of which one is a mode
_VANISHING = 1e-9  # derivatives below this share of the largest one vanish by symmetry


@dataclass(frozen=True, eq=False, repr=False)
class Basis:
    """Shapes U that span the deformations of a body, u = Σ U_i q_i.

    ``vectors`` (r, n, 3), mass-orthonormal [1/√kg]; ``importance`` (r,), how much each one carries
    relative to the first, decreasing: singular values where mass-PCA made the basis, and 1 for
    vectors picked by hand.
    """

    vectors: Floats
    importance: Floats

    def __post_init__(self) -> None:
        vectors = np.ascontiguousarray(numbers("vectors", self.vectors))
        if vectors.ndim != 3 or vectors.shape[2] != 3 or not len(vectors):
            raise InputError(f"vectors has shape {vectors.shape}; give (r, n, 3) with r at least 1")
        importance = numbers("importance", self.importance, ((len(vectors),),))
        for name, array in (("vectors", vectors), ("importance", importance)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    def __repr__(self) -> str:
        return f"Basis({self.size} vectors for {self.vectors.shape[1]} vertices)"

    @property
    def size(self) -> int:
        """Number of vectors r."""
        return len(self.vectors)

    def truncated(self, size: int) -> Basis:
        """The first ``size`` vectors."""
        if whole_number("size", size, at_least=1) > self.size:
            raise InputError(f"size={size}: this basis has {self.size} vectors; give at most that")
        return Basis(self.vectors[:size], self.importance[:size])


def modal_derivative_basis(
    body: Body, *, modes: int | Modes = 20, size: int = 30, progress: Progress | None = None
) -> Basis:
    """The slowest vibration modes as they are, and the most important of their derivatives.

    ``modes`` is how many modes that are not rigid, or the modes themselves. Two of five vectors are
    modes, the slowest first, so that small vibrations keep their frequencies however few vectors
    there are; between them come those that mass-PCA finds in the other modes and the derivatives,
    beside the modes that are there. Weights are those of Eq. 16, with λ_1 that of the first mode
    that is not rigid. Of a free body's derivatives only what is new beside all the modes is taken,
    since modes of nearly equal frequency turn into each other quickly.
    """
    whole_number("size", size, at_least=1)
    rest = SmallVibrations(body, np.zeros_like(body.mesh.vertices))
    more = None
    if isinstance(modes, Modes):
        checked_modes(rest, modes)
    else:
        most = int(body.free.sum()) - len(rest.rigid) - 1
        if whole_number("modes", modes, at_least=1) > most:
            raise InputError(f"modes={modes}: this body has no more than {most}; give at most that")
        count = len(rest.rigid) + modes
        more = rest.modes(reach(rest, modes) if len(rest.rigid) else count)
        modes = Modes(more.frequencies[:count], more.shapes[:count])
    derivatives = derivatives_of(rest, modes, more=more, progress=progress)
    i, j = derivative_pairs(body, modes).T
    deforming, squares = modes.shapes[modes.rigid :], modes.squares
    if len(rest.rigid):
        derivatives = without(derivatives, deforming, mass_times(body, deforming))
    norms = _mass_norms(body, derivatives)
    present = norms > _VANISHING * norms.max()
    derivatives[present] /= norms[present, None, None]
    derivatives[~present] = 0.0
    first = squares[modes.rigid]
    weights = first / squares[modes.rigid :]
    kept = min(_modes_among(size), len(deforming))
    others = np.concatenate(  # Eq. 16
        [
            weights[kept:, None, None] * deforming[kept:],
            (first**2 / (squares[i] * squares[j]))[:, None, None] * derivatives,
        ]
    )
    known = np.concatenate([rest.rigid, deforming[:kept]])
    found, values = _principal(body, others, size, known, "take more modes", beside=kept)
    return _interleaved((deforming[:kept], weights[:kept]), (found, values), _modes_among)


def _modes_among(size: int) -> int:
    """How many of the first ``size`` vectors are modes.

    Mass-PCA of all together would mix slow modes with stiff derivatives, which have more weight
    than all but the first modes, and give the mixtures as vectors: cut off among these, a basis has
    its slowest frequencies wrong by any factor. More modes than this leave too few derivatives to
    bend without stretching.
    """
    return max(1, (4 * size + 5) // 10)


def _interleaved(
    modes: tuple[Floats, Floats], others: tuple[Floats, Floats], among: Callable[[int], int]
) -> Basis:
    """Vectors and what they carry, ``among(k)`` of the first k modes, as truncation keeps them."""
    count, rest = len(modes[0]), len(others[0])
    sizes = np.arange(1, count + rest + 1)
    counts = np.minimum([among(int(k)) for k in sizes], count)
    counts = np.maximum(counts, sizes - rest)  # when those have run out
    is_mode = np.diff(counts, prepend=0) > 0
    vectors = np.empty((count + rest, *modes[0].shape[1:]))
    importance = np.empty(count + rest)
    for places, (shapes, carried) in ((is_mode, modes), (~is_mode, others)):
        vectors[places], importance[places] = shapes, carried
    # a vector is worth as much as any that comes after it
    importance = np.maximum.accumulate(importance[::-1])[::-1]
    return Basis(vectors, importance / importance[0])


def shape_basis(body: Body, shapes: Floats, size: int, modes: Modes) -> Basis:
    """The ``size`` vectors that fit shapes best, every fifth of them the body's next slowest mode.

    Where shapes hold all of a slow mode but a little, the little is missing at all speeds: the
    modes keep slow vibrations at their frequencies.
    """
    whole_number("size", size, at_least=1)
    kept = modes.shapes[modes.rigid :][: size // _EVERY]
    checked = _checked_shapes(body, "shapes", shapes)
    known = np.concatenate([rigid_motions(body), kept])
    found, values = _principal(body, checked, size, known, "give more shapes", beside=len(kept))
    carried = np.full(len(kept), values.min(initial=1.0))
    return _interleaved((kept, carried), (found, values), lambda k: k // _EVERY)


def motion_basis(
    body: Body, motion: Motion | ArrayLike | str | os.PathLike[str], size: int
) -> Basis:
    """The ``size`` vectors that fit a recorded motion best: mass-PCA about the rest shape.

    ``motion`` is a Motion, a motion file, or displacements [m], (T, n, 3). Where the body is free
    to move, each frame is first seen from the body's own frame: the rigid motion, turns of any size
    included, that fits it best in the mass product is taken out.
    """
    if isinstance(motion, str | os.PathLike):
        motion = read_motion(motion)
    if isinstance(motion, Motion):
        if not np.array_equal(motion.mesh.vertices, body.mesh.vertices):
            raise InputError(
                f"the motion is of {motion.mesh!r}, which is not the mesh of this body, "
                f"{body.mesh!r}; record one of this body"
            )
        motion = motion.displacements
    shapes = _checked_shapes(body, "motion", motion)
    rigid = rigid_motions(body)
    if body.free.all() and len(rigid) == 6:
        shapes = np.stack([in_own_frame(body, u) for u in shapes])
    return _pca(body, shapes, size, rigid, "record more of it, or more varied")


def mass_pca(body: Body, shapes: ArrayLike, size: int) -> Basis:
    """The ``size`` mass-orthonormal vectors that fit the shapes (k, n, 3) best, App. A.

    The sum of squared distances ‖u − UUᵀMu‖²_M over the shapes is the smallest possible.
    """
    checked = _checked_shapes(body, "shapes", shapes)
    return _pca(body, checked, size, rigid_motions(body), "give more shapes")


def picked_basis(body: Body, shapes: ArrayLike) -> Basis:
    """Shapes picked by hand (k, n, 3), mass-orthonormalized in order: the first k span the same."""
    checked = _checked_shapes(body, "shapes", shapes)
    vectors, kept = _in_order(body, checked)
    if not kept.all():
        k = int(np.argmin(kept))
        raise InputError(
            f"shapes[{k}] adds nothing to those before it (or moves the body rigidly); leave it out"
        )
    return Basis(vectors, np.ones(len(vectors)))


def joined_basis(body: Body, *bases: Basis, size: int | None = None) -> Basis:
    """One basis for what several span: all vectors in order, or the ``size`` most important.

    Without ``size``, vectors that depend on those before them are dropped and the others keep their
    importance. With it, vectors count by their importance in a mass-PCA.
    """
    if not bases:
        raise InputError("no bases given; give at least one, e.g. joined_basis(body, one, two)")
    for basis in bases:
        instance("a basis", basis, Basis, "modal_derivative_basis(body)")
    shapes = np.concatenate([_checked_shapes(body, "a basis", basis.vectors) for basis in bases])
    importance = np.concatenate([basis.importance for basis in bases])
    if size is not None:
        weighted = importance[:, None, None] * shapes
        return _pca(body, weighted, size, rigid_motions(body), "join more bases")
    vectors, kept = _in_order(body, shapes)
    return Basis(vectors, importance[kept])


# -- what they share -------------------------------------------------------------------------


def _checked_shapes(body: Body, name: str, shapes: ArrayLike) -> Floats:
    """Shapes (k, n, 3), k at least 1, that keep the supports."""
    array = np.ascontiguousarray(numbers(name, shapes))
    if array.ndim != 3 or array.shape[1:] != body.free.shape or not len(array):
        raise InputError(
            f"{name} has shape {array.shape}; give (k, {body.n_vertices}, 3) with k at least 1"
        )
    moved = np.abs(array) * ~body.free
    if moved.max() > 1e-12 * np.abs(array).max():
        k, vertex, axis = (int(i) for i in np.unravel_index(moved.argmax(), moved.shape))
        raise InputError(
            f"{name}[{k}] moves vertex {vertex} along {'xyz'[axis]} by {array[k, vertex, axis]:.3g}"
            ", where the body is held; give shapes that are zero there, or a body without that "
            "support"
        )
    return np.where(body.free, array, 0.0)


def _mass_norms(body: Body, shapes: Floats) -> Floats:
    return np.asarray(np.sqrt(np.einsum("kna,kna->k", shapes, mass_times(body, shapes))))


def _pca(body: Body, shapes: Floats, size: int, rigid: Floats, advice: str) -> Basis:
    whole_number("size", size, at_least=1)
    vectors, values = _principal(body, shapes, size, rigid, advice)
    return Basis(vectors, values / values[0])


def _principal(
    body: Body, shapes: Floats, size: int, known: Floats, advice: str, *, beside: int = 0
) -> tuple[Floats, Floats]:
    """Principal vectors of shapes beside the ``known`` directions, and their singular values.

    They make up for ``size`` vectors together with those ``beside`` them, the last of the known.
    """
    wanted = size - beside
    Q, parts = _factors(body, shapes, known, wanted) if wanted else (shapes[:0], np.empty((0, 1)))
    there = beside + len(Q)
    if not there:
        raise InputError(f"no shape here deforms the body: all are zero or rigid; {advice}")
    if size > there:
        raise InputError(
            f"size={size}: there are only {there} independent deformations here; {advice}, or "
            f"give size={there} or less"
        )
    if not wanted:
        return Q, np.empty(0)
    turns, values, _ = np.linalg.svd(parts, full_matrices=False)
    more = min(wanted + _MORE, len(Q))
    vectors = orthonormalized(body, _without_rigid(body, combined(turns.T[:more], Q), known))
    canonicalize(values[:more], vectors)
    return vectors[:wanted], values[:wanted]


def _factors(body: Body, shapes: Floats, rigid: Floats, size: int) -> tuple[Floats, Floats]:
    """Mass-orthonormal Q (r, n, 3) with the span of the shapes, and its products with them (r, k).

    The eigenvalues of the shapes' mass products are squares of singular values, in which small ones
    drown: take the large ones, remove them from the shapes, and look at what is left again. It ends
    where all is found, or where what is left no longer turns the first ``size`` directions.
    """
    noise = _NOISE * _mass_norms(body, shapes).max()
    shapes = _without_rigid(body, shapes, rigid)
    known, momenta, left = rigid, mass_times(body, rigid), shapes
    parts = np.empty((0, len(shapes)))
    while True:
        squares, turns = np.linalg.eigh(products(left, mass_times(body, left)))
        sizes = np.sqrt(np.maximum(squares, 0.0))
        kept = np.flatnonzero(sizes > max(noise, _SPAN * sizes[-1]))[::-1]
        found = np.linalg.svd(parts, compute_uv=False)
        settled = len(found) >= size and sizes[-1] <= _SETTLED * found[size - 1]
        if settled or not len(kept):
            return known[len(rigid) :], parts
        new = combined(turns.T[kept] / sizes[kept, None], left)
        new = orthonormalized(body, without(without(new, known, momenta), known, momenta))
        known = np.concatenate([known, new])
        momenta = np.concatenate([momenta, mass_times(body, new)])
        parts = np.concatenate([parts, products(momenta[-len(new) :], shapes)])
        left = without(left, new, momenta[-len(new) :])
        left = without(left, known, momenta)


def _without_rigid(body: Body, shapes: Floats, rigid: Floats) -> Floats:
    """``shapes`` less their parts along mass-orthonormal rigid motions, to rounding."""
    momenta = mass_times(body, rigid)
    left = without(without(shapes, rigid, momenta), rigid, momenta)
    return np.where(body.free, left, 0.0)


def _in_order(body: Body, shapes: Floats) -> tuple[Floats, np.ndarray]:
    """Mass-orthonormal vectors of the same span, one by one, and which shapes added one, (k,)."""
    rigid = rigid_motions(body)
    known = np.empty((len(rigid) + len(shapes), *body.free.shape))
    momenta = np.empty_like(known)
    known[: len(rigid)], momenta[: len(rigid)] = rigid, mass_times(body, rigid)
    kept = np.zeros(len(shapes), dtype=bool)
    count = len(rigid)
    for k, norm in enumerate(_mass_norms(body, shapes)):
        new = shapes[k : k + 1]
        for _ in range(2):
            new = without(new, known[:count], momenta[:count])
        length = _mass_norms(body, new)[0]
        kept[k] = length > _DEPENDENT * norm
        if kept[k]:
            new = without(new / length, known[:count], momenta[:count])
            known[count] = new[0] / _mass_norms(body, new)[0]
            momenta[count] = body.mass_times(known[count])
            count += 1
    return np.where(body.free, known[len(rigid) : count], 0.0), kept


def in_own_frame(body: Body, u: Floats) -> Floats:
    """Displacements (n, 3) of a free body as seen from the frame that fits it best."""
    X = body.mesh.vertices
    weights = body.mass_times(np.ones_like(X))[:, 0] / body.total_mass
    arm, x = X - weights @ X, X + u - weights @ (X + u)
    left, _, right = np.linalg.svd(body.mass_times(arm).T @ x)
    left[:, -1] *= np.linalg.det(left) * np.linalg.det(right)  # a turn, not a mirror
    return np.ascontiguousarray(x @ (left @ right).T - arm)
