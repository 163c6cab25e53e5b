"""The exact reduced energy of StVK bodies: a quartic polynomial of the reduced coordinates.

The Green strain is linear plus quadratic in q, and the energy is quadratic in the strain
(subspace StVK, §4). ``strain_polynomials`` finds the coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple._kernels.reduction.polynomial import (
    Polynomial,
    evaluate_nested,
    evaluate_paired,
    lay_out,
    mirror,
)
from supple._kernels.reduction.strain import gather_monomials
from supple.core.memory import aligned, aligned_room, rooms_apart
from supple.core.types import Floats, Ints

PADDING = 8  # numbers; blocks of coefficients are filled up to a multiple of this
PAIRED_SIZE = 30
"""Up to this many coordinates the paired layout is faster than the nested one."""


def pair_count(r: Any) -> Any:
    """How many pairs a ≥ b of r numbers there are."""
    return r * (r + 1) // 2


def triple_count(r: Any) -> Any:
    return r * (r + 1) * (r + 2) // 6


def quadruple_count(r: Any) -> Any:
    return r * (r + 1) * (r + 2) * (r + 3) // 24


def coefficient_count(r: int) -> int:
    """Of a polynomial in r coordinates with terms of second to fourth degree."""
    return int(pair_count(r) + triple_count(r) + quadruple_count(r))


@dataclass(frozen=True, eq=False)
class Quartic:
    """U(q) = Σ P_ab q_a q_b + Σ Q_abc q_a q_b q_c + Σ S_abcd q_a q_b q_c q_d, a ≥ b ≥ c ≥ d.

    ``coefficients`` holds P, Q and S one after the other, each in lexicographic order, so that the
    polynomial in the first coordinates is the first part of each.
    """

    size: int
    coefficients: Floats

    @cached_property
    def P(self) -> Floats:
        return self.coefficients[: pair_count(self.size)]

    @cached_property
    def Q(self) -> Floats:
        first = pair_count(self.size)
        return self.coefficients[first : first + triple_count(self.size)]

    @cached_property
    def S(self) -> Floats:
        return self.coefficients[pair_count(self.size) + triple_count(self.size) :]

    def truncated(self, size: int) -> Quartic:
        """The polynomial with the coordinates from ``size`` on left at zero (§6.5)."""
        parts = (
            self.P[: pair_count(size)],
            self.Q[: triple_count(size)],
            self.S[: quadruple_count(size)],
        )
        return Quartic(size, np.concatenate(parts))

    @property
    def stiffness_at_rest(self) -> Floats:
        """K at q = 0, (r, r)."""
        K = np.zeros((self.size, self.size))
        K[np.tril_indices(self.size)] = self.P
        return K + K.T

    @cached_property
    def _K0(self) -> Floats:
        return self.stiffness_at_rest

    def transformed(self, T: Floats) -> Quartic:
        """The polynomial of p, where q = T p with T (r, s)."""
        r, s = T.shape
        i, j = np.tril_indices(r)
        m, n = np.tril_indices(s)
        # q_i q_j by the products p_m p_n, m ≥ n
        both: Floats = T[i][:, m] * T[j][:, n]
        both += np.where(m == n, 0.0, T[i][:, n] * T[j][:, m])
        gram = np.zeros((s + pair_count(s), s + pair_count(s)))
        gram[:s, :s] = 0.5 * T.T @ self.stiffness_at_rest @ T
        gram[:s, s:] = 0.5 * T.T @ _by_leading(self.Q, np.arange(r), len(i)) @ both
        products = both.T @ _by_leading(self.S, j, len(i)) @ both
        gram[s:, s:] = 0.5 * (products + products.T)
        result = Quartic(s, np.zeros(coefficient_count(s)))
        gather_monomials(gram, s, result.P, result.Q, result.S)
        return result

    @cached_property
    def compiled(self) -> CompiledQuartic:
        return CompiledQuartic(self)

    def evaluate(self, q: Floats) -> tuple[float, Floats, Floats]:
        """U [J], R = ∇U (r,) and K = ∇²U (r, r) at q."""
        R, K = self.compiled.evaluate(q)
        # of its parts, R·q = 2 U₂ + 3 U₃ + 4 U₄ and qᵀKq = 2 U₂ + 6 U₃ + 12 U₄
        with np.errstate(over="ignore", invalid="ignore"):  # as in the kernel
            energy = 0.5 * float(R @ q) - float(q @ (K - self._K0) @ q) / 12
        return energy, R, K


class CompiledQuartic:
    """A quartic polynomial laid out for the compiled kernels."""

    def __init__(self, quartic: Quartic) -> None:
        r = quartic.size
        self.size = r
        self.P = quartic.P
        self.starts = _block_starts(r)
        self.Q: Floats = np.zeros(0)
        self.S: Floats = np.zeros(0)
        self.rows: Floats = np.zeros(0)
        if r <= PAIRED_SIZE:
            self.rows = _paired(quartic)
        else:
            self.Q = aligned(_in_padded_blocks(quartic.Q, np.arange(r)))
            self.S = aligned(_in_padded_blocks(quartic.S, np.tril_indices(r)[1]))

    def arrays(self, instead: Polynomial | None = None) -> Polynomial:
        """The polynomial with room to evaluate it; one for each thread.

        The room is that of the one which it is used ``instead`` of, if that is as large. It is zero
        where padding is: zero times what stands there must not be NaN.
        """
        pairs = pair_count(self.size)
        n = padded(pairs, 4) if len(self.rows) else padded(pairs)
        shapes = (n,), (len(self.Q),), (n,), (n,)
        room = [] if instead is None else [instead.qq, instead.F, instead.G2, instead.G3]
        if [each.shape for each in room] != [*shapes]:
            room = rooms_apart(*shapes)
        return Polynomial(self.P, self.Q, self.S, self.starts, self.rows, *room)

    def evaluate(self, q: Floats) -> tuple[Floats, Floats]:
        """R (r,) and K (r, r) at q."""
        R, K = np.empty(self.size), np.empty((self.size, self.size))
        P, Q, S, starts, rows, qq, F, G2, G3 = self.arrays()
        if len(rows):
            evaluate_paired(q, P, rows, qq, G2, G3, K, R)
        else:
            evaluate_nested(q, P, Q, S, starts, qq, F, G2, K, R)
        mirror(K)
        return R, K


NO_POLYNOMIAL = Polynomial(
    **{name: np.zeros(0) for name in Polynomial._fields if name != "starts"},
    starts=np.zeros(1, dtype=np.uint64),
)
"""For kernels that are given forces and stiffness."""


def _by_leading(coefficients: Floats, last: Ints, pairs: int) -> Floats:
    """Coefficients by their leading factors, of which ``last`` is the last, and the pair after it.

    After b come the pairs (c, d) with c ≤ b, which are the first ones: (leading, pairs).
    """
    leading = np.zeros((len(last), pairs))
    leading[np.arange(pairs) < pair_count(last + 1)[:, None]] = coefficients
    return leading


def padded(lengths: Any, multiple: int = PADDING) -> Any:
    """Filled up to a multiple."""
    return -(-lengths // multiple) * multiple


@lru_cache(maxsize=4)
def _block_starts(r: int) -> NDArray[np.uint64]:
    """Where the blocks of Q begin, (r + 1,)."""
    lengths = padded(pair_count(np.arange(1, r + 1)))
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint64)


def _in_padded_blocks(coefficients: Floats, blocks: Ints) -> Floats:
    """Blocks of the pairs c ≤ b, for each b in ``blocks``, each filled up with zeros."""
    lengths = pair_count(blocks + 1)
    room = padded(lengths)
    filled = np.zeros(int(room.sum()))
    starts = np.cumsum(room) - room
    places = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths) + np.arange(lengths.sum())
    filled[places] = coefficients
    return filled


@dataclass(frozen=True, eq=False)
class Layout:
    """Numbers that are each a multiple of one coefficient of Q and S: ``factors · c[places]``.

    The same for all polynomials of a size, so that another one is laid out in no time.
    """

    places: NDArray[np.int32]
    factors: NDArray[np.float32]  # small numbers and halves of them: exact

    def of(self, quartic: Quartic, out: Floats) -> Floats:
        """The numbers of one polynomial, into ``out``."""
        lay_out(quartic.coefficients, self.places.ravel(), self.factors.ravel(), out.ravel())
        return out


@lru_cache(maxsize=4)
def _stiffness_layout(r: int) -> Layout:
    """Of the coefficients of K in q and in the products q_c q_d, c ≥ d, (r + pairs, pairs)."""
    pairs = pair_count(r)
    places = np.empty((r + pairs, pairs), dtype=np.int32)
    factors = np.empty((r + pairs, pairs), dtype=np.float32)
    i, j = np.tril_indices(r)
    others: list[tuple[Any, ...]] = [*((k,) for k in range(r)), *zip(i, j, strict=True)]
    for row, more in enumerate(others):
        numbers = np.sort(np.stack([i, j, *(np.full(pairs, k) for k in more)]), axis=0)[::-1]
        first = pairs if len(more) == 1 else pairs + triple_count(r)
        places[row] = first + _place(numbers)
        factors[row] = _second_derivative(numbers, i, j)
    return Layout(places, factors)


@lru_cache(maxsize=4)
def _paired_layout(r: int) -> Layout:
    """Of the paired layout that the kernel describes."""
    pairs = pair_count(r)
    i, j = np.tril_indices(r)
    wide = padded(pairs, 4)
    rows = _stiffness_layout(r)
    places = np.zeros((r + wide, wide), dtype=np.int32)
    # nothing of a coefficient, where padding is
    factors = np.zeros((r + wide, wide), dtype=np.float32)
    places[: r + pairs, :pairs] = rows.places
    factors[:r, :pairs] = rows.factors[:r]
    # with each product of two different coordinates counted twice, the matrix is symmetric
    factors[r : r + pairs, :pairs] = rows.factors[r:] / np.where(i == j, 1.0, 2.0)[:, None]
    return Layout(_blocks_of_four(places, r), _blocks_of_four(factors, r))


def paired_rows(rows: Floats, r: int) -> Floats:
    """The same of any rows such as ``stiffness_rows`` gives, (r + pairs, pairs)."""
    pairs = pair_count(r)
    i, j = np.tril_indices(r)
    full = np.zeros((r + padded(pairs, 4), padded(pairs, 4)))
    full[:r, :pairs] = rows[:r]
    full[r : r + pairs, :pairs] = rows[r:] / np.where(i == j, 1.0, 2.0)[:, None]
    blocks: Floats = _blocks_of_four(full, r)
    return blocks


def _blocks_of_four(full: Any, r: int) -> Any:
    """r rows, then those of a symmetric matrix four at a time, up to the diagonal block."""
    square = full[r:]
    parts = [full[:r].ravel()]
    for p in range(0, len(square), 4):
        parts += [square[p : p + 4, :p].ravel(), square[p : p + 4, p : p + 4].ravel()]
    return np.concatenate(parts)


def stiffness_rows(quartic: Quartic) -> Floats:
    """Coefficients of K in q and in the products q_c q_d, c ≥ d, (r + pairs, pairs)."""
    layout = _stiffness_layout(quartic.size)
    return layout.of(quartic, np.empty(layout.places.shape))


def _paired(quartic: Quartic) -> Floats:
    layout = _paired_layout(quartic.size)
    return layout.of(quartic, aligned_room(layout.places.size))


def _place(numbers: Ints) -> Ints:
    """Place of the monomial with these numbers, decreasing along the first axis, among its kind."""
    place: Ints = np.zeros(numbers.shape[1], dtype=np.int64)
    counts = pair_count, triple_count, quadruple_count
    for count, number in zip(counts, numbers[-2::-1], strict=False):
        place += count(number)
    place += numbers[-1]
    return place


def _second_derivative(numbers: Ints, i: Ints, j: Ints) -> Ints:
    """The factor that ∂²/∂q_i∂q_j takes down from the powers of a monomial."""
    power_i = (numbers == i).sum(axis=0)
    power_j = (numbers == j).sum(axis=0)
    return np.asarray(power_i * np.where(i == j, power_j - 1, power_j))
