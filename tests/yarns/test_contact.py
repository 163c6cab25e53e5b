"""Woven cloth among obstacles and on moving supports."""

from __future__ import annotations

import numpy as np
import pytest
from tests.refusals import refusals

import supple as sp
from supple.yarns import WovenCloth, Yarn, YarnDamping, YarnNet, YarnSimulation

G, RADIUS, SPACING = 9.81, 1e-3, 0.01
YARN = Yarn(radius=RADIUS, linear_density=1e-3, stretch=2.0, bending=1e-6)
DAMPING = YarnDamping(stretch=0.003, bending=0.1)
UP = np.array([0, 0, 1.0])


def sheet(n: int = 7, origin=(0, 0, 0), **options) -> WovenCloth:
    given = {"shear": 1e-5, "friction": 0.3, "slip_speed": 1e-3, **options}
    return WovenCloth(YarnNet.patch(n, n, spacing=SPACING, origin=origin), warp=YARN, **given)


def falling(body: WovenCloth, **options) -> YarnSimulation:
    return YarnSimulation(body, damping=DAMPING, gravity=-G * UP, **options)


def test_cloth_comes_to_rest_on_its_yarns():
    """The floor carries the weight, and crossings are two radii above it."""
    body = sheet(origin=(0, 0, 2.5 * RADIUS))
    sim = falling(body, obstacles=sp.Plane(normal=UP, friction=0.5), dt=2e-3)
    sim.run(0.1)
    np.testing.assert_allclose(sim.q[:, 2], 2 * RADIUS, atol=1e-5 * SPACING)
    weight = body.total_mass * G
    np.testing.assert_allclose(sim.contact_forces.sum(axis=0), weight * UP, atol=1e-4 * weight)
    assert np.abs(sim.v).max() < 1e-4


@pytest.mark.parametrize(("friction", "slides"), [(0.0, True), (0.2, True), (1.0, False)])
def test_cloth_on_a_slope_slides_or_stays_as_coulomb_says(friction, slides):
    slope = 0.5
    normal = np.array([np.sin(slope), 0, np.cos(slope)])
    downhill = np.array([np.cos(slope), 0, -np.sin(slope)])
    body = sheet(5, origin=-sheet(5).net.positions.mean(axis=0))
    along = np.stack([downhill, [0, 1, 0], normal])
    q = body.rest_state
    q[:, :3] = q[:, :3] @ along + 2 * RADIUS * normal
    sim = falling(body, obstacles=sp.Plane(normal=normal, friction=friction), dt=1e-3)
    sim.set_state(q=q)
    sim.run(0.05)
    pull = G * (np.sin(slope) - friction * np.cos(slope))
    speed = (sim.v[:, :3] @ downhill).mean()
    np.testing.assert_allclose(sim.q[:, :3] @ normal, 2 * RADIUS, atol=1e-3 * SPACING)
    if slides:
        assert speed == pytest.approx(0.05 * pull, rel=0.03)
        way = ((sim.q - q)[:, :3] @ downhill).mean()
        taken = friction * body.total_mass * G * np.cos(slope) * way
        assert sim.frame().dissipated == pytest.approx(taken, rel=0.05, abs=1e-9)
    else:
        assert 0 <= speed < body.slip_speed


def test_a_fast_ball_takes_the_cloth_along():
    """It goes more than its own diameter in a step of 1/60 s, and does not come through."""
    body = sheet(7, origin=(-0.03, -0.03, 0))
    rails = sp.Rails.path(position=lambda t: (0, 0, 4.0 * t))
    ball = sp.Sphere(centre=(0, 0, -0.08), radius=0.02, motion=rails)
    sim = YarnSimulation(body, damping=DAMPING, obstacles=ball, dt=1 / 60)
    for _ in range(5):
        sim.step()
        centre = np.array([0, 0, -0.08 + 4.0 * sim.time])
        away = np.linalg.norm(sim.q[:, :3] - centre, axis=1)
        assert away.min() > 0.02 + 2 * RADIUS - 1e-3 * SPACING
    assert sim.q[body.n_nodes // 2, 2] > centre[2]  # still ahead of the ball


def test_a_rising_sheet_of_triangles_carries_the_cloth():
    corners = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], dtype=float)
    t = np.linspace(0, 0.1, 3)
    x = corners + 2.0 * t[:, None, None] * UP
    floor = sp.AnimatedMesh(triangles=[[0, 1, 2], [0, 2, 3]], times=t, positions=x, friction=0.3)
    sim = falling(sheet(5, origin=(0, 0, 2 * RADIUS)), obstacles=[floor], dt=5e-3)
    sim.set_state(v=2.0 * UP)
    sim.run(0.09)
    np.testing.assert_allclose(sim.q[:, 2], 2 * RADIUS + 0.18, atol=1e-3 * SPACING)
    np.testing.assert_allclose(sim.v[:, 2], 2.0, rtol=1e-3)


def test_supports_lead_the_cloth():
    body = sheet()
    edge = np.flatnonzero(body.net.positions[:, 1] == 0)
    leading = sp.Support.oscillating(edge, amplitude=(0, 0, 0.01), frequency=5.0)
    sim = falling(body, supports=leading, dt=1e-3)
    np.testing.assert_allclose(sim.v[edge, 2], 0.01 * 2 * np.pi * 5)
    motion = sim.run(0.06)
    sway = 0.01 * np.sin(2 * np.pi * 5 * motion.times)
    np.testing.assert_allclose(
        motion.positions[:, edge], body.net.positions[edge] + sway[:, None, None] * UP, atol=1e-12
    )
    assert motion.positions[-1, -1, 2] < -0.3 * 6 * SPACING  # the far side hangs


def test_a_cloth_that_moves_with_its_supports_is_at_rest_in_itself():
    body = sheet()
    moved = sp.Support(np.arange(7), lambda t: 0.4 * t * UP, velocity=lambda t: 0.4 * UP)
    sim = YarnSimulation(body, supports=[moved], dt=1e-3)
    sim.set_state(v=0.4 * UP)
    sim.run(0.02)
    np.testing.assert_allclose(sim.q[:, 2], 0.4 * 0.02, rtol=1e-9)
    np.testing.assert_allclose(sim.q[:, 3:], body.net.arc_lengths, atol=1e-12)


def test_one_component_can_be_held():
    body = sheet()
    flat = np.zeros((body.n_nodes, 3), dtype=bool)
    flat[:, 2] = True
    sim = YarnSimulation(body, fixed=flat, gravity=(0, G, -G), dt=1e-3)
    sim.run(0.02)
    assert np.array_equal(sim.q[:, 2], np.zeros(body.n_nodes))
    np.testing.assert_allclose(sim.v[:, 1], 0.02 * G, rtol=1e-6)


test_bad_input_is_named = refusals(
    ({"obstacles": "floor"}, "obstacles='floor'"),
    ({"obstacles": sp.Plane(normal=UP, vertex_restitution=0.5)}, "vertex_restitution"),
    ({"supports": [lambda t: t]}, "supports="),
    ({"fixed": [0], "supports": sp.Support([0], lambda t: UP)}, "vertex 0 is held twice"),
    make=lambda options: YarnSimulation(sheet(), **options),
)
