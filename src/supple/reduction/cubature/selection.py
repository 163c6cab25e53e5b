"""Choosing a few of many terms that, weighted, add up to what all of them add up to.

Terms are cells of a body, or vertices, with the reduced forces that they give in some samples. They
are added in batches, those first that look most like what is missing, and after each batch
non-negative least squares gives all weights anew and drops terms
[An, Kim, James 2008; von Tycowicz et al. 2013].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from supple.core.types import Floats, Ints, Progress

_LEAST_GAIN = 1e-3  # a batch that lowers the error by a smaller share is the last
_PRUNED = 0.05  # the share of the terms that is given up at a time
_EXCHANGED = 0.5  # the share that is chosen anew in a round, and given up again
_ROUNDS = 8
_LEAST_EXCHANGE = 5e-3  # a round that lowers the error by a smaller share is the last
_KEPT = 1.5  # terms that are kept in memory, over those that are tried
_DEPENDENT = 1e-12  # added to the diagonal of products of unit terms
_ROUNDED = 1e-5  # a unit term nearer to the span of others drowns in the rounding of products
_DIGITS = 10  # decimals of shares that tell what is missed, or is like what is missing, apart
_CHUNK = 256  # points whose products are in flight
_SPARE = 1.25  # terms of which those that are missed least are given up, over those that do


Good = Callable[[Ints, Floats], bool]
"""Whether terms (k,) with weights (sets, k) do."""


class Samples(Protocol):
    """What some terms should add up to, in one or more samples of unit size."""

    @property
    def count(self) -> int:
        """Number of samples."""

    @property
    def whole(self) -> Floats:
        """The sum of all terms there are, (rows,)."""

    def correlations(self, residual: Floats) -> Floats:
        """Product of each of c terms with a residual (rows,), (c,)."""

    def squares(self) -> Floats:
        """Product of each of c terms with itself, (c,)."""

    def columns(self, which: Ints) -> Floats:
        """Some terms, (k, rows)."""


@dataclass(frozen=True, eq=False)
class DenseSamples:
    """Samples whose terms are kept with all of their rows, ``of_terms`` (c, rows)."""

    count: int
    of_terms: Floats
    whole: Floats

    def correlations(self, residual: Floats) -> Floats:
        return self.of_terms @ residual

    def squares(self) -> Floats:
        return np.asarray(np.einsum("em,em->e", self.of_terms, self.of_terms))

    def columns(self, which: Ints) -> Floats:
        return self.of_terms[which]


@dataclass(frozen=True, eq=False)
class PointSamples:
    """Samples of c points in T poses, whose terms P G are kept as stresses and gradients.

    That is 9 (T + r) numbers a point in place of T r: far more points can be chosen from.
    """

    count: int
    P: Floats
    """Stresses, (c, T, 9)."""
    G: Floats
    """Gradients of the basis, (c, 9, r)."""
    whole: Floats

    def correlations(self, residual: Floats) -> Floats:
        left = residual.reshape(self.count, -1).T  # (r, T)
        found = np.empty(len(self.P))
        for cut in self._chunks():
            found[cut] = np.einsum("ctk,ckt->c", self.P[cut], self.G[cut] @ left, optimize=False)
        return found

    def squares(self) -> Floats:
        found = np.empty(len(self.P))
        for cut in self._chunks():
            G, P = self.G[cut], self.P[cut]
            found[cut] = np.einsum("ctk,ctk->c", P @ (G @ G.swapaxes(1, 2)), P)
        return found

    def columns(self, which: Ints) -> Floats:
        return np.asarray((self.P[which] @ self.G[which]).reshape(len(which), -1))

    def _chunks(self) -> Iterator[slice]:
        for a in range(0, len(self.P), _CHUNK):
            yield slice(a, a + _CHUNK)


@dataclass(frozen=True, eq=False)
class Selection:
    """Which of the terms to take, and how much they count in each training set."""

    chosen: Ints
    """(k,)"""
    weights: Floats
    """≥ 0, (sets, k); each term counts in one training set or more."""
    errors: Floats
    """RMS over the samples of each training set of the relative error that is left, (sets,)."""

    @property
    def error(self) -> float:
        """The largest of the errors."""
        return float(self.errors.max())


def select(
    training_sets: Sequence[Sequence[Samples]],
    *,
    most: int,
    tolerance: float,
    step: int,
    surplus: float = 1.0,
    good: Good | None = None,
    what: str = "cells",
    progress: Progress | None = None,
) -> Selection:
    """Terms for one or more training sets; each has weights of its own for terms that all share.

    ``step`` terms are added at a time, until every error is at most ``tolerance``, there are
    ``most``, or more do not help. With a ``surplus`` above 1, so many times more are chosen first,
    those that are missed least are given up again, and then some are exchanged for better ones:
    slower, and better.

    ``good`` tells whether terms (k,) with weights (sets, k) do, beyond the errors. Which terms
    the last batch brings is chance; with it a few more are taken, and as many as are not needed for
    it given up again.
    """
    search = _Search([_TrainingSet(samples) for samples in training_sets])
    limit = int(surplus * most)

    def do(chosen: Ints, weights: Floats) -> bool:
        return good is None or good(chosen, weights)

    def tell(count: int, of: int) -> None:
        if progress is not None:
            progress(count, of, f"{what}, error {100 * search.error:.2g} %")

    while len(search.chosen) < limit:
        if search.error <= tolerance and do(search.chosen, search.weights):
            break
        before = search.total
        if not search.improved(search.grown(min(step, limit - len(search.chosen)))):
            break
        tell(len(search.chosen), limit)
        if search.total > (1 - _LEAST_GAIN) * before:
            break
    if good is not None and search.error <= tolerance and do(search.chosen, search.weights):
        spare = min(most, int(_SPARE * len(search.chosen)))
        while len(search.chosen) < spare:
            if not search.improved(search.grown(min(step, spare - len(search.chosen)))):
                break
        search.prune(most, tolerance, do)
    if surplus > 1:
        search.prune(most, tolerance, do)
        for k in range(_ROUNDS if search.error > tolerance else 0):
            better = search.exchanged(most, step)
            tell(k + 1, _ROUNDS)
            if not better or search.error <= tolerance:
                break
    return Selection(search.chosen, search.weights, search.errors)


def weights_of(samples: Sequence[Samples], which: Ints) -> tuple[Floats, float]:
    """The best weights ≥ 0 of given terms, (k,), and the relative error that is left."""
    fit = _TrainingSet(samples).fitted(which)
    return fit.weights, fit.error


@dataclass(frozen=True, eq=False)
class _Fit:
    """Weights (k,) of terms in a training set, the relative error left, what is missing (rows,)."""

    weights: Floats
    error: float
    residual: Floats


class _Search:
    """Terms chosen so far, and how well they do."""

    def __init__(self, training_sets: list[_TrainingSet]) -> None:
        self._training_sets = training_sets
        self._lengths = np.sqrt(sum(training_set.squares() for training_set in training_sets))
        self._lengths[self._lengths == 0] = np.inf  # terms that are nothing in any sample
        self._residuals = [training_set.target for training_set in training_sets]
        self.chosen: Ints = np.zeros(0, dtype=np.int64)
        self.weights: Floats = np.zeros((len(training_sets), 0))
        self.errors: Floats = np.ones(len(training_sets))

    @property
    def error(self) -> float:
        return float(self.errors.max())

    @property
    def total(self) -> float:
        return float(np.linalg.norm(self.errors))

    def grown(self, step: int) -> Ints:
        """Those chosen, and the best of the others."""
        parts = zip(self._training_sets, self._residuals, strict=True)
        total = sum(training_set.correlations(left) for training_set, left in parts)
        correlations = total / self._lengths
        correlations[self.chosen] = 0.0
        best = _ascending(-correlations)[:step]
        return np.concatenate([self.chosen, best[correlations[best] > 0]])

    def improved(self, tried: Ints) -> bool:
        """Takes these terms if they do better than those so far."""
        fits = [training_set.fitted(tried) for training_set in self._training_sets]
        if np.linalg.norm([fit.error for fit in fits]) >= self.total:
            return False
        self._take(tried, fits)
        return True

    def exchanged(self, most: int, step: int) -> bool:
        """Chooses more than ``most`` terms and gives up as many; whether that was worth it."""
        kept = self.chosen, self.weights, self.errors, self._residuals
        before = self.total
        limit = int((1 + _EXCHANGED) * most)
        while len(self.chosen) < limit:
            if not self.improved(self.grown(min(step, limit - len(self.chosen)))):
                break
        self.prune(most, 0.0)
        if self.total >= before:
            self.chosen, self.weights, self.errors, self._residuals = kept
        return self.total < (1 - _LEAST_EXCHANGE) * before

    def prune(self, most: int, tolerance: float, good: Good | None = None) -> None:
        """Gives up terms until there are ``most``, and further while the errors allow it."""
        while len(self.chosen) > 1:
            excess = len(self.chosen) - most
            if excess <= 0 and tolerance == 0:
                return
            fewer = max(1, int(_PRUNED * len(self.chosen)))
            fewer = min(fewer, excess) if excess > 0 else fewer
            order = _ascending(self._missed())
            tried = self.chosen[np.sort(order[fewer:])]
            fits = [training_set.fitted(tried) for training_set in self._training_sets]
            if excess <= 0 and max(fit.error for fit in fits) > tolerance:
                return
            if excess <= 0 and good is not None and not good(*_used(tried, fits)):
                return
            self._take(tried, fits)

    def _missed(self) -> Floats:
        """By how much the squared errors grow if a term is given up and the rest fitted, (k,)."""
        parts = zip(self._training_sets, self.weights, strict=True)
        return np.asarray(sum(x.costs(self.chosen, weights) for x, weights in parts))

    def _take(self, tried: Ints, fits: list[_Fit]) -> None:
        self.chosen, self.weights = _used(tried, fits)
        self.errors = np.array([fit.error for fit in fits])
        self._residuals = [fit.residual for fit in fits]


def _ascending(values: Floats) -> Ints:
    """The order of values (k,); those that are equal but for rounding as they come."""
    largest = float(np.abs(values).max(initial=0.0)) or 1.0
    return np.argsort(np.round(values / largest, _DIGITS), kind="stable")


def _used(tried: Ints, fits: list[_Fit]) -> tuple[Ints, Floats]:
    """The terms that have a weight in some training set (k,), and their weights (sets, k)."""
    given = np.stack([fit.weights for fit in fits])
    used = (given > 0).any(axis=0)
    return tried[used], given[:, used]


class _TrainingSet:
    """Samples that share weights. Terms that were tried are kept, with their products."""

    def __init__(self, samples: Sequence[Samples]) -> None:
        self._samples = samples
        self.target = np.concatenate([each.whole for each in samples])
        self._edges = np.cumsum([len(each.whole) for each in samples])[:-1]
        self._count = sum(each.count for each in samples)
        self._tried: Ints = np.zeros(0, dtype=np.int64)
        self._columns: Floats = np.zeros((0, len(self.target)))
        self._products: Floats = np.zeros((0, 0))

    def squares(self) -> Floats:
        return np.asarray(sum(each.squares() for each in self._samples))

    def correlations(self, residual: Floats) -> Floats:
        parts = zip(self._samples, np.split(residual, self._edges), strict=True)
        return np.asarray(sum(each.correlations(part) for each, part in parts))

    def fitted(self, tried: Ints) -> _Fit:
        """The best weights ≥ 0 of some terms."""
        from scipy.linalg import qr, solve_triangular  # slow to import
        from scipy.optimize import nnls

        rows = self._look_at(tried)
        A, products = self._columns, self._products[np.ix_(rows, rows)]
        lengths = np.sqrt(np.diagonal(products))
        lengths = np.where(lengths > 0, lengths, 1.0)
        try:
            R = np.linalg.cholesky(products / np.outer(lengths, lengths)).T
            if np.diagonal(R).min() < _ROUNDED:
                raise np.linalg.LinAlgError("terms that nearly depend on each other")
            goal = solve_triangular(R, (A @ self.target)[rows] / lengths, trans="T")
        except np.linalg.LinAlgError:  # terms that depend on each other
            Q, R = qr(A[rows].T / lengths, mode="economic")
            goal = Q.T @ self.target
        x, _ = nnls(R, goal, maxiter=30 * len(tried))
        x = x / lengths
        every = np.zeros(len(A))
        every[rows] = x
        left: Floats = self.target - every @ A
        return _Fit(x, float(np.linalg.norm(left) / np.sqrt(self._count)), left)

    def costs(self, chosen: Ints, weights: Floats) -> Floats:
        """w_e² / (A Aᵀ)⁻¹_ee of terms with weights w: what least squares lose without them, (k,).

        Those of weight zero cost nothing.
        """
        rows = self._look_at(chosen)
        found = np.zeros(len(chosen))
        used = np.flatnonzero(weights > 0)
        products = self._products[np.ix_(rows[used], rows[used])]
        lengths = np.sqrt(np.diagonal(products))
        unit = products / np.outer(lengths, lengths)
        inverse = np.linalg.inv(unit + _DEPENDENT * np.eye(len(used)))
        found[used] = (weights[used] * lengths) ** 2 / np.diagonal(inverse)
        return found

    def _look_at(self, tried: Ints) -> Ints:
        """Where terms are among those kept, (k,); those that are not yet are computed."""
        new = tried[~np.isin(tried, self._tried)]
        if len(new):
            if len(self._tried) + len(new) > _KEPT * len(tried):
                rows = np.flatnonzero(np.isin(self._tried, tried))
                self._tried, self._columns = self._tried[rows], self._columns[rows]
                self._products = self._products[np.ix_(rows, rows)]
            found = np.concatenate([each.columns(new) for each in self._samples], axis=1)
            beside = found @ self._columns.T
            self._products = np.block([[self._products, beside.T], [beside, found @ found.T]])
            self._columns = np.concatenate([self._columns, found])
            self._tried = np.concatenate([self._tried, new])
        order = np.argsort(self._tried)
        return np.asarray(order[np.searchsorted(self._tried, tried, sorter=order)])
