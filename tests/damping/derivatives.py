"""What tests of dissipation functions share: a setting, derivatives, matrices, motions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from tests.helpers import EPS, large_deformation, small_mesh, soft

import supple as sp
from supple.bodies.shape import Shape
from supple.damping.base import BoundDamping
from supple.damping.cells import BoundCellDamping

STEPS = np.array([2e-2, 1e-2, 5e-3, 2.5e-3])


def setting(
    mesh_name: str = "tet", *, inverted: bool = False
) -> tuple[sp.Body, np.ndarray, np.ndarray]:
    """A soft block, a large deformation of it, and a velocity."""
    mesh = small_mesh(mesh_name)
    v = np.random.default_rng(1).normal(size=mesh.vertices.shape)
    body = sp.Body(mesh, soft(sp.StableNeoHookean))
    return body, large_deformation(mesh, inverted=inverted), v


def assert_derivative(
    function: Callable[[float], np.ndarray | float], slope: np.ndarray | float
) -> None:
    """Central differences of ``function`` at 0 go to ``slope`` with order 2, down to rounding."""
    value = np.abs(function(0.0)).max()
    errors = np.array([np.abs((function(h) - function(-h)) / (2 * h) - slope).max() for h in STEPS])
    rounding = 100 * EPS * (value + np.abs(slope).max()) / STEPS
    orders = np.log2(np.maximum(errors[:-1], 1e-300) / np.maximum(errors[1:], 1e-300))
    fine = (orders > 1.8) | (errors[1:] <= rounding[1:])
    assert fine.all(), (errors, orders, np.abs(slope).max())


def matrix_of(
    body: sp.Body, bound: BoundDamping, shape: Shape, v: np.ndarray, *, definite: bool = False
) -> np.ndarray:
    """∂∇₂R/∂v as a dense matrix (3n, 3n), its low-rank part included."""
    pattern = bound.pattern or body.pattern
    values = np.zeros((pattern.n_blocks, 3, 3))
    bound.add_matrix(shape, v, 2.0, values, definite=definite)
    matrix = pattern.full(values / 2.0).toarray()
    extra = bound.low_rank(shape, v)
    if extra is not None:
        factors = extra.factors.reshape(len(extra.factors), -1)
        matrix += extra.weight * factors.T @ extra.coupling @ factors
    return matrix


def assert_velocity_derivatives(
    body: sp.Body, bound: BoundDamping, u: np.ndarray, v: np.ndarray
) -> None:
    """∇₂R is the derivative of R, where it is one at all, and the matrix that of ∇₂R."""
    shape = Shape(body, u)
    d = np.random.default_rng(5).normal(size=v.shape)
    force = bound.evaluate(shape, v)[1]
    if bound.is_gradient:
        assert_derivative(lambda h: bound.evaluate(shape, v + h * d)[0], np.vdot(force, d))
    change = (matrix_of(body, bound, shape, v) @ d.ravel()).reshape(d.shape)
    assert_derivative(lambda h: bound.evaluate(shape, v + h * d)[1], change)


def assert_shape_derivative(
    body: sp.Body, bound: BoundCellDamping, u: np.ndarray, v: np.ndarray
) -> None:
    """∇₁R is the derivative of R by the positions."""
    d = np.random.default_rng(6).normal(size=v.shape) * 0.05
    slope = np.vdot(bound.shape_gradient(Shape(body, u), v), d)
    assert_derivative(lambda h: bound.evaluate(Shape(body, u + h * d), v)[0], slope)


def assert_semidefinite(matrix: np.ndarray) -> None:
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-12 * np.abs(matrix).max())
    values = np.linalg.eigvalsh(matrix)
    assert values[0] >= -100 * len(values) * EPS * values[-1]


def rigid_velocity(x: np.ndarray, seed: int = 3) -> np.ndarray:
    t, w = np.random.default_rng(seed).normal(size=(2, 3))
    return t + np.cross(w, x)


def assert_no_net_force_or_torque(x: np.ndarray, force: np.ndarray) -> None:
    size = np.abs(force).sum()
    assert np.abs(force.sum(axis=0)).max() <= 1e3 * EPS * size
    assert np.abs(np.cross(x, force).sum(axis=0)).max() <= 1e3 * EPS * size * np.abs(x).max()


def assert_no_momentum(body: sp.ElasticBody, shape: Shape, force: np.ndarray) -> None:
    """Neither a resultant nor a moment, of the size of the largest force."""
    size = np.abs(force).max()
    assert np.abs(force.sum(axis=0)).max() <= 1e3 * EPS * size
    moment = np.cross(body.mesh.vertices + shape.u, force).sum(axis=0)
    assert np.abs(moment).max() <= 1e3 * EPS * size


def assembled(body: sp.ElasticBody, add: Callable[..., None], *given: object, **options: object):
    """What ``add(shape, v, factor, values)`` adds for a factor of one, dense (3n, 3n)."""
    values = np.zeros((body.pattern.n_blocks, 3, 3))
    add(*given, 2.0, values, **options)
    return body.pattern.full(values / 2.0).toarray()


def assert_series_ends(
    body: sp.ElasticBody, bound: BoundDamping, shape: Shape, v: np.ndarray, d: np.ndarray
) -> None:
    """R is quadratic in v, so its Taylor series ends: R(v + d) = R + ∇₂R·d + ½ d·C d exactly."""
    C = assembled(body, bound.add_matrix, shape, v, definite=False)
    curved = (C @ d.ravel()).reshape(d.shape)
    R, force = bound.evaluate(shape, v)
    R_after, force_after = bound.evaluate(shape, v + d)
    size = np.abs(C).sum()
    series = R + np.vdot(force, d) + 0.5 * np.vdot(d, curved)
    assert abs(R_after - series) <= 20 * EPS * size
    assert np.abs(force_after - force - curved).max() <= 20 * EPS * size
    assert np.allclose(bound.multiply(shape, np.stack([v, d]))[1], curved, atol=20 * EPS * size)
