"""Anderson acceleration of fixed-point iterations."""

from __future__ import annotations

import numpy as np
import pytest

from supple.solvers.anderson import Anderson

pytestmark = pytest.mark.processors


def contraction(n: int, radius: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A symmetric matrix of spectral radius ``radius``, and a vector: g(s) = A s + b."""
    rng = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    return (Q * np.linspace(-0.3, radius, n)) @ Q.T, rng.normal(size=n)


def residuals(A: np.ndarray, b: np.ndarray, window: int, count: int) -> np.ndarray:
    """‖g(s) − s‖ of so many iterations; a window of 0 is the plain iteration."""
    s, found = np.zeros(len(b)), []
    anderson = Anderson(window, len(b)) if window else None
    for _ in range(count):
        image = A @ s + b
        found.append(np.linalg.norm(image - s))
        s = image if anderson is None else anderson.next(s, image)
    return np.array(found)


@pytest.mark.parametrize("n", [1, 2, 4, 6])
def test_linear_iteration_solved_in_its_dimension(n):
    """n differences span everything: what is left then is the rounding of differences."""
    A, b = contraction(n, 0.99)
    found = residuals(A, b, window=n, count=n + 2)
    single = float(np.finfo(np.float32).eps)  # in which they are kept; 1/(1 − 0.99) amplifies
    assert found[n + 1] < 1e3 * single * found[0]
    assert found[n] > 1e3 * single * found[0]  # and not before
    assert residuals(A, b, window=n, count=4 * n + 8)[-1] < 1e-11 * found[0]


def test_faster_than_the_plain_iteration():
    """A window far below the dimension; plain, some 0.99^200 of a share is left."""
    A, b = contraction(60, 0.99)
    plain, accelerated = residuals(A, b, 0, 200), residuals(A, b, 6, 200)
    assert plain[-1] > 1e-3 * plain[0]
    assert accelerated[-1] < 1e-6 * accelerated[0]


def test_longer_windows_do_no_harm():
    A, b = contraction(40, 0.99)
    left = [residuals(A, b, window, 60)[-1] for window in (1, 4, 12)]
    assert left[2] < left[1] < left[0]


def test_window_forgets():
    """With a window of one, the outcome is that of the last difference alone."""
    A, b = contraction(5, 0.9, seed=2)
    anderson = Anderson(1, 5)
    s = np.zeros(5)
    history = []
    for _ in range(4):
        image = A @ s + b
        history.append((image, image - s))
        s = anderson.next(s, image)
    (g0, f0), (g1, f1) = history[-2:]
    theta = np.vdot(f1, f1 - f0) / np.vdot(f1 - f0, f1 - f0)
    np.testing.assert_allclose(s, g1 - theta * (g1 - g0), rtol=1e-6)


def test_same_as_least_squares():
    """θ minimises ‖f − ΔF θ‖ over the whole window, also after it has gone round."""
    A, b = contraction(12, 0.95, seed=3)
    window, anderson, s = 3, Anderson(3, 12), np.zeros(12)
    images, fs = [], []
    for _ in range(8):
        image = A @ s + b
        images.append(image)
        fs.append(image - s)
        s = anderson.next(s, image)
    dF = np.diff(np.array(fs[-window - 1 :]), axis=0).T
    dG = np.diff(np.array(images[-window - 1 :]), axis=0).T
    theta = np.linalg.lstsq(dF, fs[-1], rcond=None)[0]
    np.testing.assert_allclose(s, images[-1] - dG @ theta, rtol=1e-6)


def test_riders_are_extrapolated_with_the_iterates():
    """A linear function of s, from iterate to iterate: at the end, it is that of the solution."""
    A, b = contraction(6, 0.99, seed=5)
    C = np.random.default_rng(6).normal(size=(2, 6))
    alone, laden = Anderson(6, 6), Anderson(6, 6, auxiliary=2)
    s = np.zeros(6)
    for _ in range(8):
        image = A @ s + b
        found = laden.next(s, np.concatenate([image, C @ s]))
        s = alone.next(s, image)
        # in single precision, in which rows of another length may be summed in another order
        np.testing.assert_allclose(found[:6], s, rtol=1e-6)
    np.testing.assert_allclose(found[6:], C @ np.linalg.solve(np.eye(6) - A, b), rtol=1e-4)


def test_falls_back_where_the_residual_grows():
    """Past ``growth_limit`` the last image is taken after all, and nothing is remembered."""
    anderson = Anderson(3, 2, growth_limit=2.0)
    s = np.zeros(2)
    first = np.array([1.0, 0.0])
    assert (anderson.next(s, first) == first).all()
    second = first + np.array([0.5, 0.1])
    anderson.next(first, second)
    wild = np.array([10.0, -7.0])
    assert (anderson.next(wild, wild + 100.0) == second).all()
    fresh = np.array([3.0, 4.0])
    assert (anderson.next(second, fresh) == fresh).all()  # as at a start


def test_falls_back_on_not_a_number():
    anderson = Anderson(2, 2)
    image = np.ones(2)
    anderson.next(np.zeros(2), image)
    assert (anderson.next(image, np.full(2, np.nan)) == image).all()


def test_reset_starts_anew():
    A, b = contraction(4, 0.9)
    used = Anderson(4, 4)
    s = np.ones(4)
    for _ in range(7):
        s = used.next(s, A @ s - 3 * b)
    used.reset()
    fresh, s, t = Anderson(4, 4), np.zeros(4), np.zeros(4)
    for _ in range(6):
        s, t = used.next(s, A @ s + b), fresh.next(t, A @ t + b)
        np.testing.assert_array_equal(s, t)


def test_repeated_iterates_do_no_harm():
    """At the fixed point all differences vanish, and the outcome stays finite and there."""
    A, b = contraction(3, 0.5)
    fixed = np.linalg.solve(np.eye(3) - A, b)
    anderson, s = Anderson(5, 3), np.zeros(3)
    for _ in range(30):
        s = anderson.next(s, A @ s + b)
    np.testing.assert_allclose(s, fixed, rtol=1e-12)
    assert np.isfinite(anderson.next(fixed, fixed)).all()


def test_leaves_its_arguments_alone():
    anderson, s, image = Anderson(2, 3), np.zeros(3), np.ones(3)
    for _ in range(4):
        s_before, image_before = s.copy(), image.copy()
        found = anderson.next(s, image)
        np.testing.assert_array_equal(s, s_before)
        np.testing.assert_array_equal(image, image_before)
        s, image = found.copy(), 0.5 * found + 1.0
