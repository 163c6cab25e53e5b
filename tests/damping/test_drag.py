"""Drag on the surface: its functions, terminal velocities, and the wind."""

from __future__ import annotations

import numpy as np
import pytest
from tests.damping.derivatives import (
    assert_semidefinite,
    assert_velocity_derivatives,
    matrix_of,
    setting,
)
from tests.helpers import EPS, MESH_NAMES, refused, simulate, soft

import supple as sp
from supple.bodies.shape import Shape

every_mesh = pytest.mark.parametrize("mesh_name", MESH_NAMES)
every_exponent = pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0])


@every_exponent
@every_mesh
def test_derivatives(mesh_name, p):
    body, u, v = setting(mesh_name)
    for wind in ((0, 0, 0), (1.0, -2.0, 0.5)):
        bound = sp.Drag(strength=3.0, exponent=p, wind=wind).bind(body)
        assert_velocity_derivatives(body, bound, u, v)
        assert_semidefinite(matrix_of(body, bound, Shape(body, u), v))
        assert_semidefinite(matrix_of(body, bound, Shape(body, u), 0 * v + wind))


@every_exponent
def test_takes_power_in_still_air(p):
    body, u, v = setting()
    R, force = sp.Drag(strength=3.0, exponent=p).bind(body).evaluate(Shape(body, u), v)
    assert np.vdot(v, force) == pytest.approx((p + 1) * R, rel=1e-12)
    assert R > 0


@every_mesh
def test_force_on_a_body_that_travels(mesh_name):
    """d times area times velocity, on surface vertices alone."""
    body, u, _ = setting(mesh_name)
    velocity = np.array([1.0, 2.0, -2.0])
    v = np.broadcast_to(velocity, u.shape).copy()
    area = body.mesh.boundary().area
    for p in (1.0, 2.0):
        force = sp.Drag(strength=3.0, exponent=p).bind(body).evaluate(Shape(body, u), v)[1]
        expected = 3.0 * area * 3.0 ** (p - 1) * velocity
        # the boundary of bricks is drawn as triangles: not quite their bilinear faces
        close = 1e-2 if mesh_name == "distorted brick" else 1e-12
        np.testing.assert_allclose(force.sum(axis=0), expected, rtol=close)
        inner = np.setdiff1d(np.arange(body.n_vertices), body.mesh.boundary_facets())
        assert len(inner)
        assert not force[inner].any()


def test_wind_is_a_change_of_frame():
    body, u, v = setting()
    wind = np.array([1.0, 2.0, 3.0])
    for p in (1.0, 2.0):
        blown = sp.Drag(strength=3.0, exponent=p, wind=wind).bind(body)
        still = sp.Drag(strength=3.0, exponent=p).bind(body)
        one, two = blown.evaluate(Shape(body, u), v + wind), still.evaluate(Shape(body, u), v)
        assert one[0] == pytest.approx(two[0], rel=1e-12)
        np.testing.assert_allclose(one[1], two[1], atol=100 * EPS * np.abs(two[1]).max())
        assert not blown.evaluate(Shape(body, u), 0 * v + wind)[1].any()


@pytest.mark.parametrize("p", [1.0, 2.0])
def test_terminal_velocity(p):
    """A falling body: m g = d A v^p in the end, whatever the start."""
    mesh = sp.TetMesh.box((0.2, 0.2, 0.2), (1, 1, 1))
    body = sp.Body(mesh, soft(sp.StVK, young=1e6, density=100.0))
    g, d = 9.81, 40.0
    terminal = (body.total_mass * g / (d * 6 * 0.04)) ** (1 / p)
    sim = simulate(body, sp.BackwardEuler(), np.full(60, 0.05), gravity=(0, 0, -g),
                   damping=sp.Drag(strength=d, exponent=p))  # fmt: skip
    momentum = body.mass_times(sim.state.v).sum(axis=0) / body.total_mass
    np.testing.assert_allclose(momentum, [0, 0, -terminal], rtol=2e-3, atol=1e-6)


test_bad_drag_named = refused(
    (lambda: sp.Drag(strength=-1), "strength"),
    (lambda: sp.Drag(strength=np.nan), "strength"),
    (lambda: sp.Drag(strength=1, exponent=0.5), "exponent"),
    (lambda: sp.Drag(strength=1, wind=(1, 2)), "wind"),
    (lambda: sp.Drag(strength=1, wind=(1, 2, np.inf)), "wind"),
)
