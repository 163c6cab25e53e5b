"""Motions of surfaces as a few shapes that are mixed.

Many programs take no weight below 0 or above 1: Blender and Unity cut them off. So the principal
components d_k of a motion about its mean are scaled, and what that leaves is moved into one more
target d_0, whose weight is always 1, until every weight is in 0…1:

    x(t) ≈ x_0 + d_0 + Σ w_k(t) d_k

x_0, which shows where nothing plays, thus stays what it should be.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from supple.core.types import Floats

_AT_ONCE = 32  # frames
_TOGETHER = 4  # components, and
_BLOCK = 128  # vertices, in all frames: what stays in the cache
_FINEST = float(np.finfo(np.float32).eps)  # of the largest coordinate: what single precision keeps
_NOISE = 1e-15  # of the largest eigenvalue: what is less is rounding


@dataclass(frozen=True, eq=False)
class Morph:
    """A motion as ``base`` (s, 3) [m] + ``weights`` (T, K) · ``shapes`` (K, s, 3) [m].

    Weights lie in 0…1, and all numbers are of single precision.
    """

    base: Floats
    weights: Floats
    shapes: Floats

    @property
    def first_weights(self) -> list[float]:
        """Those of the first frame, which shows where nothing plays."""
        return [float(weight) for weight in self.weights[0]]

    def errors(self, positions: Floats, times: Floats | None = None) -> Floats:
        """How far each vertex is off (T, s) [m] where frames (T, s, 3) [m] should be.

        With ``times`` (T,) [s] as a player has it whose keys are of single precision. Between
        frames vertices and weights both go straight, so that it is nowhere farther off.
        """
        weights = self.weights if times is None else _at_keys(times, self.weights)
        flat = self.shapes.reshape(len(self.shapes), self.base.size)
        found = np.empty(positions.shape[:2])
        for first in range(0, len(positions), _AT_ONCE):
            some = slice(first, first + _AT_ONCE)
            off = (weights[some] @ flat).reshape(-1, *self.base.shape) + self.base
            off -= positions[some]
            found[some] = np.sqrt(np.einsum("tsi,tsi->ts", off, off))
        return found


def compress(
    positions: Floats,
    *,
    tolerance: float | Floats,
    targets: int | None = None,
    base: Floats | None = None,
) -> Morph:
    """Finds few shapes that keep every vertex of (T, s, 3) within ``tolerance`` [m].

    The tolerance is that of all frames, or (T,) of each. At most ``targets`` are used, if given;
    ``errors`` of the answer tells what was reached. ``base`` (s, 3) [m] is what shows without any
    weight; unless given it is what needs no target of its own.
    """
    count, vertices = positions.shape[:2]
    far = max(float(positions.max(initial=0.0)), -float(positions.min(initial=0.0)))
    finest = max(_FINEST * far, np.finfo(float).tiny)
    near = np.maximum(np.broadcast_to(np.asarray(tolerance, dtype=float), (count,)), finest)
    if base is not None:
        alone = Morph(_single(base), np.zeros((count, 0)), np.zeros((0, vertices, 3)))
        if (alone.errors(positions) <= near[:, None]).all():
            return alone
    mean = positions.mean(axis=0)
    # Divided by what is near enough, the same error is near enough in every frame.
    # All x come before all y and all z, so that lengths are sums of long rows.
    left = np.empty((count, 3, vertices))
    for axis in range(3):
        np.subtract(positions[..., axis], mean[:, axis], out=left[:, axis])
    left /= near[:, None, None]
    most = None if targets is None else targets - (base is not None)
    components = _Components(left.reshape(count, -1), most)
    weights, shapes = np.empty((0, count)), np.empty((0, vertices, 3))
    offs, used = [_largest(left)], 0
    while True:
        if used == len(offs):
            more = components(slice(used - 1, used - 1 + _TOGETHER))
            found = more[1].reshape(-1, 3, vertices)
            offs += _take_out(left, more[0], found)
            weights = np.concatenate([weights, more[0]])
            shapes = np.concatenate([shapes, found.swapaxes(1, 2)])
        # Below half of it only rounding is left, which no shape mends.
        done = offs[used] <= 0.5 or used == components.count
        if offs[used] <= 1.0 or done:
            morph = _within_bounds(
                positions,
                near,
                mean,
                near * weights[:used],
                shapes[:used],
                base,
            )
            if done or (morph.errors(positions) <= near[:, None]).all():
                return morph
        used += 1


def _take_out(left: Floats, weights: Floats, shapes: Floats) -> list[float]:
    """Takes components (k, T) and (k, 3, s) out of frames (T, 3, s), in place.

    The length of the longest vector that is left after each of them.
    """
    longest = np.zeros(len(weights))
    room = np.empty((len(left), 3, _BLOCK))
    for first in range(0, left.shape[2], _BLOCK):
        some, part = left[..., first : first + _BLOCK], shapes[..., first : first + _BLOCK]
        product = room[..., : some.shape[2]]
        for k, weight in enumerate(weights):
            np.multiply(weight[:, None, None], part[k], out=product)
            some -= product
            longest[k] = max(longest[k], _largest(some))
    return longest.tolist()


class _Components:
    """Principal components of rows (T, d), the largest first: weights (k, T), shapes (k, d)."""

    def __init__(self, rows: Floats, most: int | None) -> None:
        self._rows = rows.copy()
        # The eigenvectors of the smaller of the two Gram matrices are the principal components.
        self._by_time = len(rows) <= rows.shape[1]
        gram = rows @ rows.T if self._by_time else rows.T @ rows
        size = len(gram)
        # All that is left out together is less than 1, the tolerance, if each is less than 1/size.
        least = max(1.0 / size, _NOISE * float(np.trace(gram)))
        if most == 0 or least >= np.trace(gram):
            self._vectors = np.zeros((size, 0))
        elif most is None:
            self._vectors = eigh(gram, subset_by_value=(least, np.inf))[1][:, ::-1]
        else:
            values, vectors = eigh(gram, subset_by_index=(max(0, size - most), size - 1))
            self._vectors = vectors[:, values > least][:, ::-1]
        self.count = self._vectors.shape[1]

    def __call__(self, which: slice) -> tuple[Floats, Floats]:
        vectors = self._vectors[:, which].T
        if self._by_time:
            return vectors, vectors @ self._rows
        return vectors @ self._rows.T, vectors


def _within_bounds(
    positions: Floats,
    near: Floats,
    mean: Floats,
    weights: Floats,
    shapes: Floats,
    base: Floats | None,
) -> Morph:
    """``mean`` + Σ weights (K, T) · shapes (K, s, 3) as a morph whose weights are in 0…1."""
    # Each shape has that sign with which the base, or the first frame, is near its lower end:
    # motions to one side then need nothing to make up for the base.
    start = (positions[0] if base is None else base) - mean
    there = np.einsum("ksi,si->k", shapes, start) / np.einsum("ksi,ksi->k", shapes, shapes)
    sign = np.where(there > (weights.min(axis=1) + weights.max(axis=1)) / 2, -1.0, 1.0)
    weights, shapes = sign[:, None] * weights, sign[:, None, None] * shapes
    least = weights.min(axis=1)
    span = weights.max(axis=1) - least
    rows = (weights - least[:, None]) / span[:, None]
    shapes = span[:, None, None] * shapes
    still = mean + np.einsum("k,ksi->si", least / span, shapes)
    if base is None:
        return Morph(_single(still), _single(rows.T), _single(shapes))
    without = Morph(_single(base), _single(rows.T), _single(shapes))
    if len(shapes) and (without.errors(positions) <= near[:, None]).all():
        return without
    shapes = np.concatenate([(still - base)[None], shapes])
    rows = np.concatenate([np.ones((1, weights.shape[1])), rows])
    return Morph(_single(base), _single(rows.T), _single(shapes))


def _at_keys(times: Floats, values: Floats) -> Floats:
    """Rows of keys (T, K) that a player finds at ``times`` (T,) [s]; its own are rounded."""
    return interpolated(times, _single(times), values)


def interpolated(times: Floats, keys: Floats, values: Floats) -> Floats:
    """Values (t, K) at ``times`` (t,) of rows (T, K) at ``keys`` (T,), straight between them."""
    found = np.empty((len(times), values.shape[1]))
    for k, column in enumerate(values.T):
        found[:, k] = np.interp(times, keys, column)
    return found


def _largest(offsets: Floats) -> float:
    """Length of the longest vector in (T, 3, s)."""
    x, y, z = offsets.swapaxes(0, 1)
    squares: Floats = x * x
    squares += y * y
    squares += z * z
    return float(np.sqrt(squares.max(initial=0.0)))


def _single(array: Floats) -> Floats:
    """The array as single precision keeps it."""
    return array.astype(np.float32).astype(np.float64)
