"""Choosing a few of many terms that, weighted, add up to what all of them add up to.

Terms are cells of a body, or vertices, with the reduced forces that they give in some samples. They
are added in batches, those first that look most like what is missing, and after each batch
non-negative least squares gives all weights anew and drops terms
[An, Kim, James 2008; von Tycowicz et al. 2013].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..types import Floats, Ints, Progress

_LEAST_GAIN = 1e-3  # a batch that lowers the error by a smaller share is the last


class Samples(Protocol):
    """What some terms should add up to, in one or more samples of unit size."""

    @property
    def count(self) -> int:
        """Number of samples."""

    @property
    def whole(self) -> Floats:
        """The sum of all terms there are, (rows,)."""

    def likeness(self, residual: Floats) -> Floats:
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

    def likeness(self, residual: Floats) -> Floats:
        return self.of_terms @ residual

    def squares(self) -> Floats:
        return np.asarray(np.einsum("em,em->e", self.of_terms, self.of_terms))

    def columns(self, which: Ints) -> Floats:
        return self.of_terms[which]


@dataclass(frozen=True, eq=False)
class Selection:
    """Which of the terms to take, and how much they count in each lesson."""

    chosen: Ints
    """(k,)"""
    weights: Floats
    """≥ 0, (lessons, k); each term counts in one lesson or more."""
    errors: Floats
    """RMS over the samples of each lesson of the relative error that is left, (lessons,)."""

    @property
    def error(self) -> float:
        """The largest of the errors."""
        return float(self.errors.max())


def select(
    lessons: Sequence[Sequence[Samples]],
    *,
    most: int,
    tolerance: float,
    step: int,
    what: str = "cells",
    progress: Progress | None = None,
) -> Selection:
    """Terms for one or more lessons; each has weights of its own for the terms that all share.

    ``step`` terms are added at a time, until every error is at most ``tolerance``, there are
    ``most``, or more do not help.
    """
    learnt = [_Lesson(samples) for samples in lessons]
    lengths = np.sqrt(sum(lesson.squares() for lesson in learnt))
    lengths[lengths == 0] = np.inf  # terms that are nothing in any sample
    chosen: Ints = np.zeros(0, dtype=np.int64)
    weights: Floats = np.zeros((len(learnt), 0))
    errors: Floats = np.ones(len(learnt))
    while errors.max() > tolerance and len(chosen) < most:
        likeness = sum(lesson.likeness() for lesson in learnt) / lengths
        likeness[chosen] = 0.0
        best = np.argsort(-likeness, kind="stable")[: min(step, most - len(chosen))]
        tried = np.concatenate([chosen, best[likeness[best] > 0]])
        found = [lesson.fitted(tried) for lesson in learnt]
        now = np.array([error for _, error, _ in found])
        before, after = (float(np.linalg.norm(x)) for x in (errors, now))
        if after >= before:
            break
        given = np.stack([x for x, _, _ in found])
        used = (given > 0).any(axis=0)
        chosen, weights, errors = tried[used], given[:, used], now
        for lesson, (_, _, left) in zip(learnt, found, strict=True):
            lesson.residual = left
        if progress is not None:
            progress(len(chosen), most, f"{what}, error {100 * errors.max():.2g} %")
        if after > (1 - _LEAST_GAIN) * before:
            break
    return Selection(chosen, weights, errors)


def weights_of(samples: Sequence[Samples], which: Ints) -> tuple[Floats, float]:
    """The best weights ≥ 0 of given terms, (k,), and the relative error that is left."""
    weights, error, _ = _Lesson(samples).fitted(which)
    return weights, error


class _Lesson:
    """Samples that share weights, and what is missing in them so far."""

    def __init__(self, samples: Sequence[Samples]) -> None:
        self._samples = samples
        self._target = np.concatenate([each.whole for each in samples])
        self._edges = np.cumsum([len(each.whole) for each in samples])[:-1]
        self._count = sum(each.count for each in samples)
        self.residual = self._target

    def squares(self) -> Floats:
        return np.asarray(sum(each.squares() for each in self._samples))

    def likeness(self) -> Floats:
        parts = zip(self._samples, np.split(self.residual, self._edges), strict=True)
        return np.asarray(sum(each.likeness(part) for each, part in parts))

    def fitted(self, tried: Ints) -> tuple[Floats, float, Floats]:
        """Weights (k,) of terms, the relative error with them, and what is missing (rows,)."""
        from scipy.optimize import nnls  # slow to import

        columns = np.concatenate([each.columns(tried) for each in self._samples], axis=1)
        Q, R = np.linalg.qr(columns.T)
        x, _ = nnls(R, Q.T @ self._target, maxiter=30 * len(tried))
        left: Floats = self._target - x @ columns
        return x, float(np.linalg.norm(left) / np.sqrt(self._count)), left
