"""Levels of detail: a reduced model in fewer coordinates, and a motion carried from one to another.

With q = T p the energy stays a polynomial, and mass, weight and inertia are congruence transforms:
a model of fewer coordinates is made from the larger one alone, without the body (subspace StVK,
§6.5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from supple.core.checks import whole_number
from supple.core.errors import InputError
from supple.core.types import Floats

if TYPE_CHECKING:
    from supple.reduction.model import ReducedModel

_SAME = 1e-9  # share of vectors that may be left out by others that are said to hold them
_NEARBY = 1e-4  # of the unit of a vibration: where the stiffness is looked at beside rest


def slowest_vibrations(model: ReducedModel, size: int, modes: int | None) -> Floats:
    """T (r, size): the slowest vibrations at rest, and from ``modes`` on where these lead to."""
    if not 1 <= whole_number("size", size, at_least=1) <= model.size:
        raise InputError(f"size={size}: this model has {model.size} coordinates; give at most that")
    squares, shapes = model.vibrations
    count = size if modes is None else whole_number("modes", modes, at_least=1)
    if count > size:
        raise InputError(f"modes={count}: these are more than size={size}; give at most that")
    kept = shapes[:, :count]
    if count == size:
        return kept
    return np.column_stack([kept, _leading_derivatives(model, squares, shapes, count, size)])


def _leading_derivatives(
    model: ReducedModel, squares: Floats, shapes: Floats, modes: int, size: int
) -> Floats:
    """Directions in which large vibrations lead, M̃-orthogonal to them, most important first.

    The modal derivatives Φ_ij of the reduced model, K Φ_ij = −(∂K/∂q ψ_j) ψ_i (subspace StVK,
    Eq. 14), weighted as in its §5.1.
    """
    K, M = model.rest_stiffness, model.mass
    kept = shapes[:, :modes]
    found = []
    for j in range(modes):
        # K is a quadratic polynomial: a difference of any length is its derivative
        step = _NEARBY * kept[:, j]
        slope = (model.evaluate(step)[2] - model.evaluate(-step)[2]) / (2 * _NEARBY)
        derivatives = -np.linalg.solve(K, slope @ kept[:, : j + 1])
        found.append(derivatives * squares[0] / np.sqrt(squares[: j + 1] * squares[j]))
    S: Floats = np.column_stack(found)
    S -= kept @ (kept.T @ M @ S)
    # principal components by mass (App. A), then what they leave of the space, slowest first
    L = np.linalg.cholesky(M)
    U, sizes, _ = np.linalg.svd(L.T @ S, full_matrices=False)
    main = np.linalg.solve(L.T, U[:, sizes > _SAME * sizes[0]])[:, : size - modes]
    rest = shapes[:, modes:] - main @ (main.T @ M @ shapes[:, modes:])
    missing = size - modes - main.shape[1]
    if not missing:
        return main
    U, _, _ = np.linalg.svd(L.T @ rest[:, : missing + main.shape[1]], full_matrices=False)
    return np.column_stack([main, np.linalg.solve(L.T, U[:, :missing])])


def all_but(size: int, dropped: int | Sequence[int]) -> Floats:
    """T (r, s): the vectors that are left where some of r are dropped."""
    listed = [dropped] if isinstance(dropped, int | np.integer) else list(dropped)
    for each in listed:
        if whole_number("vectors", each, at_least=0) >= size:
            raise InputError(f"vectors={dropped!r}: this model has vectors 0 to {size - 1}")
    kept = np.setdiff1d(np.arange(size), listed)
    if not len(kept):
        raise InputError(f"vectors={dropped!r}: these are all vectors of the model; keep some")
    return np.eye(size)[:, kept]


def transformed(model: ReducedModel, T: Floats) -> ReducedModel:
    """The model in coordinates p with q = T p, for T (r, s)."""
    skin, cubature, floating, swings = model.skin, model.cubature, model.floating, model.swings

    def turned(vectors: Floats) -> Floats:
        return np.ascontiguousarray(np.tensordot(T.T, vectors, 1))

    return replace(
        model,
        vectors=turned(model.vectors),
        groups=tuple(group.transformed(T) for group in model.groups),
        cubature=None if cubature is None else cubature.transformed(T),
        floating=None if floating is None else floating.transformed(T),
        skin=None if skin is None else replace(skin, vectors=turned(skin.vectors)),
        swings=None if swings is None else swings.transformed(T),
        origin=_part(model, T),
    )


def truncated(model: ReducedModel, size: int) -> ReducedModel:
    """The model with the first ``size`` vectors: what ``transformed`` gives, without products."""
    skin, cubature, floating, swings = model.skin, model.cubature, model.floating, model.swings
    return replace(
        model,
        vectors=model.vectors[:size].copy(),
        groups=tuple(group.truncated(size) for group in model.groups),
        cubature=None if cubature is None else cubature.truncated(size),
        floating=None if floating is None else floating.truncated(size),
        skin=None if skin is None else replace(skin, vectors=skin.vectors[:size].copy()),
        swings=None if swings is None else swings.truncated(size),
        origin=_part(model, np.eye(model.size)[:, :size]),
    )


def _part(model: ReducedModel, T: Floats) -> tuple[Floats, Floats]:
    """Where vectors T (r, s) of a model come from."""
    vectors, own = _in_common(model)
    return vectors, T if model.origin is None else own @ T


def change_of_coordinates(old: ReducedModel, new: ReducedModel) -> Floats:
    """X (new r, old r): the coordinates X q in ``new`` of a shape with coordinates q in ``old``.

    Where ``new`` holds all shapes of ``old``, the shape stays. Where it is the other way round, it
    is the nearest by mass, which no motion gains energy by.
    """
    if old.mesh is not new.mesh and not np.array_equal(old.mesh.vertices, new.mesh.vertices):
        raise InputError("the new model is of another mesh; start a new simulation")
    A, B = _in_common(old), _in_common(new)
    if A[0] is B[0]:
        ours, theirs = A[1], B[1]
    else:
        ours, theirs = (m.vectors.reshape(m.size, -1).T for m in (old, new))
    X = np.linalg.lstsq(theirs, ours, rcond=None)[0]
    if _within(theirs @ X - ours, ours):
        return np.asarray(X)
    Y = np.linalg.lstsq(ours, theirs, rcond=None)[0]
    if _within(ours @ Y - theirs, theirs):
        return np.asarray(np.linalg.solve(Y.T @ old.mass @ Y, Y.T @ old.mass))
    return np.asarray(X)


def _within(left: Floats, whole: Floats) -> bool:
    return bool((np.linalg.norm(left, axis=0) <= _SAME * np.linalg.norm(whole, axis=0)).all())


def _in_common(model: ReducedModel) -> tuple[Floats, Floats]:
    """The vectors of the model that a model comes from, and its own by these."""
    return model.origin if model.origin is not None else (model.vectors, np.eye(model.size))
