"""Drag on solids and on cloth: its functions, terminal velocities, and the wind."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.bodies.cloth.sheets import ISOTROPIC, crumpled, shaken_grid
from tests.damping.derivatives import (
    assert_semidefinite,
    assert_velocity_derivatives,
    matrix_of,
    setting,
)
from tests.helpers import EPS, MESH_NAMES, rotation, simulate, soft
from tests.refusals import refusals

import supple as sp
from supple.bodies.shape import Shape

WIND = (1.0, -2.0, 0.5)
OF_SOLIDS = [sp.Drag(strength=3.0, exponent=p) for p in (1.0, 1.5, 2.0, 3.0)]
OF_CLOTH = [
    sp.ClothDrag(tangential=0.0),
    sp.ClothDrag(normal=0.0, tangential=0.3),
    sp.ClothDrag(tangential=0.3),
]
MODELS = [(model, name) for model in OF_SOLIDS for name in MESH_NAMES]
MODELS += [(model, "cloth") for model in OF_CLOTH]
every_model = pytest.mark.parametrize(("model", "mesh_name"), MODELS, ids=str)


def the_setting(mesh_name: str) -> tuple[sp.ElasticBody, np.ndarray, np.ndarray]:
    """A body, a large deformation of it, and a velocity."""
    if mesh_name != "cloth":
        return setting(mesh_name)
    body = sp.Cloth(shaken_grid(), ISOTROPIC)
    v = np.random.default_rng(1).normal(size=body.mesh.vertices.shape)
    return body, crumpled(body.mesh), v


@every_model
def test_derivatives(model, mesh_name):
    body, u, v = the_setting(mesh_name)
    shape = Shape(body, u)
    for wind in ((0, 0, 0), WIND):
        bound = replace(model, wind=wind).bind(body)
        assert_velocity_derivatives(body, bound, u, v)
        assert_semidefinite(matrix_of(body, bound, shape, v))
        still = 0 * v + wind
        assert not bound.evaluate(shape, still)[1].any()
        if mesh_name == "cloth":
            assert not matrix_of(body, bound, shape, still).any()
        else:
            assert_semidefinite(matrix_of(body, bound, shape, still))


@every_model
def test_takes_power_in_still_air(model, mesh_name):
    body, u, v = the_setting(mesh_name)
    R, force = model.bind(body).evaluate(Shape(body, u), v)
    power = 3 if mesh_name == "cloth" else model.exponent + 1
    assert np.vdot(v, force) == pytest.approx(power * R, rel=1e-12)
    assert R > 0


@every_model
def test_wind_is_a_change_of_frame(model, mesh_name):
    body, u, v = the_setting(mesh_name)
    shape = Shape(body, u)
    blown = replace(model, wind=WIND).bind(body).evaluate(shape, v + WIND)
    still = model.bind(body).evaluate(shape, v)
    assert blown[0] == pytest.approx(still[0], rel=1e-12)
    np.testing.assert_allclose(blown[1], still[1], atol=100 * EPS * np.abs(still[1]).max())


# -- solids ------------------------------------------------------------------------------------


@pytest.mark.parametrize("mesh_name", MESH_NAMES)
def test_force_on_a_body_that_travels(mesh_name):
    """d times area times velocity, on surface vertices alone."""
    body, u, _ = setting(mesh_name)
    velocity = np.array([1.0, 2.0, -2.0])
    v = np.broadcast_to(velocity, u.shape).copy()
    for p in (1.0, 2.0):
        force = sp.Drag(strength=3.0, exponent=p).bind(body).evaluate(Shape(body, u), v)[1]
        expected = 3.0 * body.mesh.boundary().area * 3.0 ** (p - 1) * velocity
        # the boundary of bricks is drawn as triangles: not quite their bilinear faces
        close = 1e-2 if mesh_name == "distorted brick" else 1e-12
        np.testing.assert_allclose(force.sum(axis=0), expected, rtol=close)
        inner = np.setdiff1d(np.arange(body.n_vertices), body.mesh.boundary_facets())
        assert len(inner)
        assert not force[inner].any()


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


# -- cloth -------------------------------------------------------------------------------------


def square(turn: np.ndarray) -> tuple[sp.Cloth, np.ndarray]:
    """A square metre of cloth, turned, and its unit normal."""
    mesh = sp.SheetMesh.grid((1, 1), (3, 3))
    turned = sp.SheetMesh(mesh.vertices @ turn.T, mesh.cells)
    return sp.Cloth(turned, ISOTROPIC), turn[:, 2]


def test_is_what_the_formula_says():
    """½ ρ C w² on a square metre, across and along, however it is turned."""
    w = 3.0
    for seed in range(3):
        body, n = square(rotation(seed))
        t = np.cross(n, [0.3, 0.1, 0.7])
        t /= np.linalg.norm(t)
        shape = Shape(body, np.zeros_like(body.mesh.vertices))
        bound = sp.ClothDrag(normal=1.1, tangential=0.05, air_density=1.3).bind(body)
        for direction, C in ((n, 1.1), (-n, 1.1), (t, 0.05)):
            v = np.broadcast_to(w * direction, body.mesh.vertices.shape).copy()
            R, force = bound.evaluate(shape, v)
            expected = 0.5 * 1.3 * C * w**2 * direction
            np.testing.assert_allclose(force.sum(axis=0), expected, atol=20 * EPS * w**2)
            assert pytest.approx(expected @ direction * w / 3, rel=1e-12) == R


def test_stretched_cloth_meets_more_air():
    body, _ = square(np.eye(3))
    v = np.broadcast_to([0, 0, 1.0], body.mesh.vertices.shape).copy()
    bound = sp.ClothDrag().bind(body)
    rest = bound.evaluate(Shape(body, 0 * v), v)[0]
    wider = bound.evaluate(Shape(body, 0.2 * body.mesh.vertices), v)[0]
    assert wider == pytest.approx(1.44 * rest, rel=1e-12)


def test_collapsed_triangles_are_left_out():
    body, _ = square(np.eye(3))
    u = -body.mesh.vertices
    R, force = sp.ClothDrag().bind(body).evaluate(Shape(body, u), np.ones_like(u))
    assert R == 0
    assert not force.any()


@pytest.mark.parametrize(("turned", "C"), [(False, 1.2), (True, 0.1)], ids=["flat", "edge on"])
def test_terminal_velocity_of_a_sheet(turned, C):
    """ρ_A g = ½ ρ C v² in the end."""
    turn = np.array([(1, 0, 0), (0, 0, -1), (0, 1, 0)], float) if turned else np.eye(3)
    body, _ = square(turn)
    g = 9.81
    terminal = np.sqrt(body.total_mass * g / (0.5 * 1.2 * C))
    sim = simulate(
        body, sp.BackwardEuler(), np.full(80, 0.05 * terminal / g * 2), gravity=(0, 0, -g),
        damping=sp.ClothDrag(tangential=0.1),
    )  # fmt: skip
    np.testing.assert_allclose(sim.state.v[:, 2], -terminal, rtol=1e-3)


@pytest.mark.parametrize(
    "solver",
    [
        pytest.param(sp.Newton(), id="newton"),
        pytest.param(sp.ADMM(iterations=200), id="admm", marks=pytest.mark.verify),
    ],
)
def test_flag_streams_in_the_wind(solver):
    """Hung up by one edge in a gale it stands out level; in still air it hangs down."""
    mesh = sp.SheetMesh.grid((0.6, 0.4), (6, 4))
    cloth = sp.IsotropicCloth(young=1e5, thickness=5e-4, areal_density=0.1, bending_stiffness=1e-4)
    body = sp.Cloth(mesh, cloth, fixed=mesh.where(x=0))
    lowest = {}
    for speed in (0.0, 30.0):
        sim = sp.Simulation(
            body, damping=sp.ClothDrag(tangential=0.1, wind=(speed, 0, 0)), solver=solver,
            integrator=sp.BackwardEuler(), gravity=(0, 0, -9.81), dt=1 / 60,
        )  # fmt: skip
        lowest[speed] = sim.run(1.5).positions[60:, :, 2].min(axis=1).mean()
    assert lowest[0.0] < -0.5
    assert lowest[30.0] > -0.15


test_bad_drag_named = refusals(
    (lambda: sp.Drag(strength=-1), "strength"),
    (lambda: sp.Drag(strength=np.nan), "strength"),
    (lambda: sp.Drag(strength=1, exponent=0.5), "exponent"),
    (lambda: sp.Drag(strength=1, wind=(1, 2)), "wind"),
    (lambda: sp.Drag(strength=1, wind=(1, 2, np.inf)), "wind"),
    (lambda: sp.ClothDrag(normal=-1), "normal"),
    (lambda: sp.ClothDrag(tangential=np.nan), "tangential"),
    (lambda: sp.ClothDrag(air_density=-1.0), "air_density"),
    (lambda: sp.ClothDrag(wind=(1, 2)), "wind"),
)
