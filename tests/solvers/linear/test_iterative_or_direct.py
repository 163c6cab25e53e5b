"""Conjugate gradients where pairs come and go, and a direct solver where they take too long."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import supple as sp
from supple.core.sparse import BlockPattern
from supple.solvers.interface import NotPositiveDefinite
from supple.solvers.linear.conjugate_gradients import BlockJacobi
from supple.solvers.linear.iterative_or_direct import IterativeOrDirect
from supple.solvers.linear.lagged_cholesky import LaggedCholesky

N = 600


def chain() -> BlockPattern:
    return BlockPattern.of_cells(np.array(list(pairwise(range(N)))), N)[0]


def springs(mass: float) -> tuple[BlockPattern, np.ndarray, np.ndarray, np.ndarray]:
    """A chain of springs with masses: pattern, blocks, what is free and a force."""
    pattern = chain()
    values = np.where((pattern.rows == pattern.cols)[:, None, None], 2 + mass, -1.0) * np.eye(3)
    return pattern, values, np.ones((N, 3), bool), np.random.default_rng(0).normal(size=(N, 3))


def residual(pattern, values, x, rhs) -> float:
    return float(np.linalg.norm(pattern.multiply(values, x) - rhs) / np.linalg.norm(rhs))


def bound(pattern, free) -> IterativeOrDirect:
    return IterativeOrDirect(pattern, free, LaggedCholesky().bind)


def test_only_what_is_crowded_by_pairs_is_iterated_on():
    pattern, *_ = springs(1.0)
    free = np.ones((N, 3), bool)
    for passing, iterates in ((0, False), (100, False), (600, True)):
        solver = sp.AutomaticSolver().bind(replace(pattern, passing=passing), free)
        assert isinstance(solver, IterativeOrDirect) is iterates
    few = BlockPattern.of_cells(np.array(list(pairwise(range(50)))), 50)[0]
    small = sp.AutomaticSolver().bind(replace(few, passing=40), np.ones((50, 3), bool))
    assert not isinstance(small, IterativeOrDirect)


def test_easy_matrices_are_never_factorized():
    pattern, values, free, rhs = springs(1.0)
    solver = bound(pattern, free)
    for _ in range(3):
        solver.take(values)
        assert residual(pattern, values, solver.solve(rhs, 1e-8), rhs) < 1e-8
    assert solver.factorizations == 0


def test_hard_ones_go_to_the_direct_solver_for_a_while():
    pattern, values, free, rhs = springs(1e-6)
    tried: list[int] = []
    solver = bound(pattern, free)
    known = solver._iterative.try_solve
    solver._iterative.try_solve = lambda *given: tried.append(1) or known(*given)  # type: ignore
    for count in range(1, 15):
        solver.take(values)
        assert residual(pattern, values, solver.solve(rhs, 1e-6), rhs) < 1e-6
        assert len(tried) == (1 if count <= 5 else 2 if count <= 14 else 3)
    assert solver.factorizations > 0


def test_what_was_learnt_lasts_from_pattern_to_pattern():
    pattern, values, free, rhs = springs(1e-6)
    first = bound(pattern, free)
    first.take(values)
    first.solve(rhs, 1e-6)
    second = bound(pattern, free)
    second.follow(first)
    second.take(values)
    assert second.factorizations == 1  # at once
    second.follow(LaggedCholesky().bind(pattern, free))  # from which nothing is learnt


def test_what_is_remembered_gives_the_same_bytes():
    pattern, values, free, rhs = springs(1e-6)
    solver = bound(pattern, free)
    for mass in (1.0, 1e-6, 1e-5):
        solver.take(springs(mass)[1])
        solver.solve(rhs, 1e-6)
    memory, solutions = solver.memory(), []
    for again in (solver, bound(pattern, free), solver):
        again.recall(memory)
        found = []
        for scale in (1.0, 1.01, 1.02, 1.03, 1.04, 1.05):
            again.take(scale * values)
            found.append(again.solve(rhs, 1e-6))
        solutions.append(np.array(found))
    np.testing.assert_array_equal(solutions[0], solutions[1])
    np.testing.assert_array_equal(solutions[0], solutions[2])


def test_negative_curvature_is_told():
    pattern, values, free, rhs = springs(-2.0)
    solver = bound(pattern, free)
    with pytest.raises(NotPositiveDefinite):
        solver.take(values)
    values[pattern.indptr[:-1]] += 1.9 * np.eye(3)  # now along waves alone
    solver.take(values)
    with pytest.raises(NotPositiveDefinite):
        solver.solve(rhs, 1e-6)


def test_iterations_know_whether_they_got_there():
    pattern, values, free, rhs = springs(1e-6)
    solver = BlockJacobi(pattern, free, 5)
    solver.take(values)
    assert not solver.try_solve(rhs, 1e-6)[1]
