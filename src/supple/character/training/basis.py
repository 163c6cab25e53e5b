"""The basis of a body in one pose: modes and derivatives, region by region."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from supple.bodies.solid import Body
from supple.character.training.contact import PoseContact
from supple.character.training.modes import ConstrainedRest, checked_regions
from supple.core.checks import instance, whole_number
from supple.core.errors import ContactNotKept, InputError
from supple.core.types import Bools, Floats, Ints, Progress
from supple.reduction.basis import mass_pca
from supple.reduction.modes import mass_times, products

_VANISHING = 1e-9  # derivatives below this share of the largest one vanish by symmetry


@dataclass(frozen=True, eq=False, repr=False)
class PoseBasis:
    """Shapes that span the deformations of a body in one pose, u = Σ U_k q_k.

    They are mass-orthonormal within a region.
    """

    vectors: Floats
    """(r, n, 3) [1/√kg]"""
    regions: Ints
    """The region that each of them lives in, (r,)."""
    members: Bools
    """Which vertices are in each region, (regions, n)."""
    squares: Floats
    """ω² of the reduced body [1/s²], ascending, (r,)."""

    def __repr__(self) -> str:
        r, n = self.vectors.shape[:2]
        return f"PoseBasis({r} vectors in {len(self.members)} regions, {n} vertices)"


def pose_basis(
    body: Body,
    *,
    modes: int | Sequence[int] = 20,
    size: int | Sequence[int] = 30,
    regions: ArrayLike | None = None,
    contact: PoseContact | None = None,
    driven: Floats | None = None,
    progress: Progress | None = None,
) -> PoseBasis:
    """The most important combinations of modes and derivatives in each region.

    ``regions`` (d, n) are weights in [0, 1], 1 where a region is free to move, 0 outside; without
    them there is one of all vertices. ``modes`` is how many linear modes each of them has.
    ``size`` is how many vectors, for each region (d,), or altogether: then they are shared out.
    ``contact`` is kept by all vectors. ``driven`` are accelerations (k, n, 3) [m/s²], the
    strongest of which counts as much as the slowest mode: what the body does under them is spanned
    as well.
    """
    instance("body", body, Body, "posed_body(body, vertices)")
    weights = checked_regions(np.ones(body.n_vertices) if regions is None else regions, body)
    counts = _one_each("modes", modes, len(weights))
    sizes = shared_sizes(body, size, weights)
    vectors = []
    for k, (region, count, share) in enumerate(zip(weights, counts, sizes, strict=True)):
        vectors.append(_of_region(body, region, contact, driven, count, share))
        if progress is not None:
            progress(k + 1, len(weights), "regions")
    U = np.concatenate(vectors)
    numbers = np.repeat(np.arange(len(weights)), sizes)
    return PoseBasis(U, numbers, weights > 0, _squares(body, U))


def shared_sizes(body: Body, size: int | Sequence[int], regions: Floats) -> list[int]:
    """How many vectors each region (d, n) has, if ``size`` is for all of them together.

    They get the same number, but none more than half of its free components.
    """
    if not isinstance(size, int | np.integer):
        return _one_each("size", size, len(regions))
    most = np.array([(body.free & (w > 0)[:, None]).sum() // 2 for w in regions])
    if whole_number("size", size, at_least=len(regions)) > most.sum():
        raise InputError(f"size={size}: the free vertices carry no more than {most.sum()}")
    sizes = np.zeros(len(regions), dtype=np.int64)
    while (left := size - sizes.sum()) > 0:
        room = np.flatnonzero(sizes < most)
        room = room[np.lexsort((-most[room], sizes[room]))][:left]  # the emptiest, then the largest
        sizes[room] += 1
    return [int(share) for share in sizes]


def _one_each(name: str, given: int | Sequence[int], count: int) -> list[int]:
    each = [given] * count if isinstance(given, int | np.integer) else list(given)
    if len(each) != count:
        raise InputError(f"{name} has {len(each)} numbers for {count} regions; give one for each")
    return [whole_number(name, one, at_least=1) for one in each]


def _of_region(
    body: Body,
    region: Floats,
    contact: PoseContact | None,
    driven: Floats | None,
    modes: int,
    size: int,
) -> Floats:
    """Mass-orthonormal vectors (size, n, 3)."""
    rest = ConstrainedRest(body, region, contact)
    if rest.size < size <= rest.free:
        raise ContactNotKept(
            f"size={size}: the contact leaves only {rest.size} displacements; give at most that"
        )
    found, fields = rest.modes(min(modes, rest.size))
    derivatives = rest.derivatives(found, fields)
    norms = np.sqrt(np.einsum("kna,kna->k", derivatives, mass_times(body, derivatives)))
    present = norms > _VANISHING * norms.max()
    derivatives[~present] = 0.0
    norms[~present] = 1.0
    # The weights of subspace StVK, Eq. 16; where there are both ψ^ij and ψ^ji, each counts half.
    squares, (i, j) = found.squares, rest.pairs(len(fields)).T
    scale = squares[0] ** 2 / (squares[i] * squares[j])
    if (i > j).any():
        scale[i != j] *= np.sqrt(0.5)
    shapes = [
        (squares[0] / squares)[:, None, None] * found.shapes,
        (scale / norms)[:, None, None] * derivatives,
    ]
    if driven is not None:
        static_responses = rest.static_responses(driven)
        shapes.append(static_responses / np.sqrt(np.linalg.norm(_gram(body, static_responses), 2)))
    return mass_pca(body, np.concatenate(shapes), size).vectors


def _gram(body: Body, shapes: Floats) -> Floats:
    """Products by mass of shapes (k, n, 3), (k, k)."""
    return products(shapes, mass_times(body, shapes))


def _squares(body: Body, U: Floats) -> Floats:
    """ω² (r,) of the body in the span of U (r, n, 3), ascending."""
    rest = body.evaluate(np.zeros_like(body.mesh.vertices), order=2).stiffness
    stiff = products(U, body.pattern.multiply_many(rest, U))
    heavy = _gram(body, U)
    try:
        squares: Floats = scipy.linalg.eigh(stiff, heavy, eigvals_only=True)
    except np.linalg.LinAlgError as error:
        raise InputError(
            "regions overlap so much that their vectors depend on each other; give regions of "
            "which each has vertices of its own, or fewer vectors"
        ) from error
    return squares
