"""Free reduced bodies among obstacles: thrown, sliding, at rest, and never with energy gained."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

import supple as sp

DOWN = np.array([0.0, 0.0, -9.81])
FLOOR = sp.Plane(friction=0.4)


@lru_cache
def block(young: float = 1e5) -> sp.ReducedModel:
    mesh = sp.TetMesh.box(size=(0.3, 0.2, 0.1), cells=(3, 2, 1))
    body = sp.Body(mesh, sp.StVK(young=young, poisson=0.3, density=1000))
    return sp.reduce(body, sp.modal_derivative_basis(body, modes=3, size=6))


def places(live: sp.FloatingSimulation) -> np.ndarray:
    return live.model.mesh.vertices + live.displacements()


def depth(live: sp.FloatingSimulation) -> float:
    x = places(live)
    return max(-float(each.at(x, live.time).distance.min()) for each in live.obstacles)


def energy(live: sp.FloatingSimulation) -> float:
    weight = live.model.floating.mass * 9.81
    return live.kinetic + live.elastic + weight * live.position[2]


def dropped(young: float = 1e5, **options: object) -> sp.FloatingSimulation:
    """Tumbling, a little above the floor."""
    options = {"gravity": DOWN, "obstacles": FLOOR, "dt": 4e-3} | options
    live = block(young).simulation(**options)
    live.position = (0.0, 0.0, 0.3)
    live.spin, live.velocity = (3.0, 5.0, 1.0), (0.5, 0.0, -1.0)
    return live


@pytest.mark.parametrize("dt", [1 / 60, 1 / 500])
@pytest.mark.parametrize("young", [1e5, 1e7])
@pytest.mark.parametrize(
    "rule", [sp.BackwardEuler(), sp.Newmark(), sp.TRBDF2(), sp.BDF2()], ids=repr
)
def test_a_thrown_body_stays_out_and_gains_nothing(
    dt: float, young: float, rule: sp.ImplicitIntegrator
) -> None:
    live = dropped(young, dt=dt, integrator=rule, obstacles=[FLOOR, sp.Sphere(radius=0.1)])
    first = least = energy(live)
    deepest = 0.0
    for _ in range(round(0.5 / dt)):
        live.step()
        now = energy(live)
        least = min(least, now)
        assert now <= first + 1e-3 * live.model.floating.mass * 9.81 * 0.3
        deepest = max(deepest, depth(live))
    assert deepest < 1e-6
    assert least < 0.9 * first  # it has hit something


def test_it_comes_to_rest_and_weighs_what_it_weighs() -> None:
    live = dropped(integrator=sp.BackwardEuler(), damping=sp.Rayleigh(stiffness=2e-3))
    live.run_steps(500)
    assert live.kinetic < 1e-6
    weight = live.model.floating.mass * 9.81
    np.testing.assert_allclose(live.obstacle_forces[0], [0, 0, -weight], atol=1e-3 * weight)
    np.testing.assert_allclose(live.contact_forces.sum(axis=0), [0, 0, weight], atol=1e-3 * weight)
    assert abs(places(live)[:, 2].min()) < 1e-7


@pytest.mark.parametrize(("mu", "slides"), [(0.3, True), (0.7, False)])
def test_friction_on_an_incline(mu: float, slides: bool) -> None:
    """tan 30° = 0.577; what slides gets faster by g (sin α − μ cos α)."""
    angle = np.pi / 6
    slope = sp.Plane(normal=(-np.sin(angle), 0, np.cos(angle)), friction=mu)
    live = block(1e6).simulation(
        gravity=DOWN,
        obstacles=slope,
        dt=2e-3,
        integrator=sp.BackwardEuler(),
        damping=sp.Rayleigh(stiffness=2e-3),
    )
    turn = np.array(
        [[np.cos(angle), 0, -np.sin(angle)], [0, 1, 0], [np.sin(angle), 0, np.cos(angle)]]
    )
    live.rotation = turn
    live.position = 0.05 * turn[:, 2]
    live.run_steps(50)
    before = live.velocity[0]
    live.run_steps(100)
    along = np.array([-np.cos(angle), 0, -np.sin(angle)])
    gained = float((live.velocity - [before, 0, before * np.tan(angle)]) @ along)
    if slides:
        wanted = 0.2 * 9.81 * (np.sin(angle) - mu * np.cos(angle))
        assert gained == pytest.approx(wanted, rel=0.02)
    else:
        assert np.linalg.norm(live.velocity) < 1e-3


def test_a_belt_takes_it_along() -> None:
    belt = sp.Box(
        centre=(0, 0, -0.5),
        size=(50, 50, 1),
        friction=0.5,
        motion=sp.Rails.path(position=lambda t: (t, 0.0, 0.0), velocity=lambda t: (1.0, 0.0, 0.0)),
    )
    live = block(1e6).simulation(
        gravity=DOWN, obstacles=belt, dt=4e-3, integrator=sp.BackwardEuler()
    )
    live.position = (0.0, 0.0, 0.05)
    live.run_steps(10)
    live.run_steps(15)
    assert live.velocity[0] == pytest.approx(0.5 * 9.81 * 0.1, rel=0.1)
    live.run_steps(100)
    np.testing.assert_allclose(live.velocity, [1.0, 0, 0], atol=1e-3)


@pytest.mark.parametrize(
    "floor",
    [
        sp.Box(centre=(0, 0, -0.5), size=(9, 9, 1), friction=0.4),
        sp.Cylinder(start=(-2, 0.1, -0.5), end=(2, 0.1, -0.5), radius=0.5, friction=0.4),
        sp.HeightField(np.zeros((9, 9)), spacing=0.5, origin=(-2, -2, 0), friction=0.4),
    ],
    ids=lambda each: type(each).__name__,
)
def test_every_kind_of_obstacle_keeps_it_out(floor: sp.contact.Obstacle) -> None:
    live = dropped(obstacles=floor, integrator=sp.BackwardEuler(), dt=2e-3)
    pressed = 0.0
    for _ in range(200):
        live.step()
        pressed = max(pressed, -float(live.obstacle_forces[0, 2]))
    # planes of what kernels do not know are those at the guess of a step
    assert depth(live) < (1e-7 if isinstance(floor, sp.Box) else 1e-3)
    assert pressed > 10.0


def test_a_snapshot_brings_contacts_back_bit_by_bit() -> None:
    live = dropped()
    live.run_steps(60)
    kept = live.snapshot()
    live.run_steps(20)
    q, x, force = live.q, live.position, live.contact_forces
    assert force.any()
    for again in (live, dropped()):
        again.restore(kept)
        again.run_steps(20)
        assert (again.q == q).all()
        assert (again.position == x).all()
        assert (again.contact_forces == force).all()


def test_what_touches_nothing_moves_as_without_obstacles() -> None:
    far = dropped(obstacles=sp.Plane(offset=-50.0))
    free = dropped(obstacles=())
    far.run_steps(40)
    free.run_steps(40)
    np.testing.assert_allclose(far.q, free.q, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(far.rotation, free.rotation, atol=1e-12)
    assert not far.contact_forces.any()


def test_obstacles_come_and_go() -> None:
    live = dropped(obstacles=())
    live.run_steps(20)
    live.obstacles = FLOOR
    live.run_steps(100)
    assert depth(live) < 1e-6
    live.obstacles = ()
    live.run_steps(100)
    assert live.position[2] < -0.5


def test_damping_at_points_and_cubatures_fly_too() -> None:
    slow = dropped(integrator=sp.BackwardEuler())
    slow._is_compiled = False  # as for forces that kernels do not know
    fast = dropped(integrator=sp.BackwardEuler())
    fast.run_steps(80)
    slow.run_steps(80)
    np.testing.assert_allclose(slow.position, fast.position, atol=1e-9)
    live = dropped(damping=sp.PowerLaw(exponent=0.5, strength=50.0), dt=8e-3)
    live.run_steps(60)
    assert depth(live) < 1e-6


def test_hundreds_of_vertices_lie_flat() -> None:
    """More than there is room for at first."""
    model = block(1e6)
    fine = sp.HexMesh.box(size=(0.3, 0.2, 0.1), cells=(24, 16, 2)).boundary()
    live = model.with_skin(sp.Embedding(model.mesh, fine)).simulation(
        gravity=DOWN,
        obstacles=FLOOR,
        dt=4e-3,
        integrator=sp.BackwardEuler(),
        damping=sp.Rayleigh(stiffness=2e-3),
    )
    live.position = (0.0, 0.0, 0.05)
    live.run_steps(60)
    weight = model.floating.mass * 9.81
    np.testing.assert_allclose(live.obstacle_forces[0], [0, 0, -weight], atol=1e-3 * weight)
    assert live.skin_vertices()[:, 2].min() > -1e-7
    assert live.contacts is not None
    assert live.contacts.counts()[1] > 256
