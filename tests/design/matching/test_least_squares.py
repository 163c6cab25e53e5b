"""Least squares with a prior: against closed forms, and with what goes wrong on the way."""

from __future__ import annotations

import numpy as np
import pytest

from supple.core.errors import StepFailed
from supple.design.matching.least_squares import estimate

RNG = np.random.default_rng(5)
A = RNG.normal(size=(40, 3))
TRUE = np.array([0.4, -0.7, 1.1])
ZERO, WIDE = np.zeros(3), np.full(3, 50.0)


def test_linear_estimate_is_the_closed_form():
    sigma = 0.03
    b = A @ TRUE + sigma * RNG.normal(size=40)
    spread = np.array([0.5, 2.0, 1.0])
    found = estimate(lambda p: (A @ p - b, A), ZERO, spread, noise=sigma, floor=1e-9)
    H = A.T @ A / sigma**2 + np.diag(spread**-2)
    np.testing.assert_allclose(found.parameters, np.linalg.solve(H, A.T @ b / sigma**2), rtol=1e-7)
    np.testing.assert_allclose(found.covariance, np.linalg.inv(H), rtol=1e-9)
    values, directions = found.singular
    np.testing.assert_allclose(values, np.linalg.svd(A, compute_uv=False))
    np.testing.assert_allclose(directions @ directions.T, np.eye(3), atol=1e-12)


def test_noise_is_found_and_errors_are_as_large_as_told():
    """Over many samples, errors in units of standard errors have a variance of one."""
    sigma, off, noises = 0.05, [], []
    for seed in range(60):
        b = A @ TRUE + sigma * np.random.default_rng(seed).normal(size=40)
        found = estimate(lambda p, b=b: (A @ p - b, A), ZERO, WIDE, noise=None, floor=1e-9)
        off.append((found.parameters - TRUE) / found.errors)
        noises.append(found.noise)
    assert np.mean(noises) == pytest.approx(sigma, rel=0.05)
    assert np.mean(np.square(off)) == pytest.approx(1.0, rel=0.2)


def test_what_is_not_determined_stays_where_it_was():
    blind = A.copy()
    blind[:, 2] = 0.0
    b = A[:, :2] @ TRUE[:2] + 0.01 * RNG.normal(size=40)
    start = np.array([0.0, 0.0, 0.3])
    spread = np.array([2.0, 2.0, 1.5])
    found = estimate(lambda p: (blind @ p - b, blind), start, spread, noise=None, floor=1e-9)
    assert found.parameters[2] == pytest.approx(0.3)
    assert found.errors[2] == pytest.approx(1.5)
    np.testing.assert_allclose(found.parameters[:2], TRUE[:2], atol=4 * found.errors[:2].max())


def test_places_that_cannot_be_evaluated_are_walked_round():
    """exp(p) from far away, with nothing to be had beyond a wall just behind the answer."""
    failed = []

    def evaluate(p):
        if p[0] > 1.2:
            failed.append(p[0])
            raise StepFailed("no shape", time=0.0, residual=1.0, advice="")
        return np.exp(p) - np.e, np.exp(p)[:, None]

    start, spread = np.array([-3.5]), np.array([20.0])
    found = estimate(evaluate, start, spread, noise=1e-6, floor=1e-9)
    assert found.parameters[0] == pytest.approx(1.0, abs=1e-6)
    assert failed
