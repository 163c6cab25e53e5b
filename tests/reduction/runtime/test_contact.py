"""Reduced models among obstacles: as in full space, never inside, and without energy gained."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
from tests.reduction.conftest import complete_basis, every_cell

import supple as sp

GRAVITY = np.array([0.0, 0.0, -9.81])


def beam(young: float = 1e5) -> sp.Body:
    mesh = sp.TetMesh.box(size=(0.3, 0.1, 0.1), cells=(3, 1, 1))
    return sp.Body(mesh, sp.StVK(young=young, poisson=0.3, density=1000), fixed=mesh.where(x=0))


def beam_model(young: float = 1e5, **options: object) -> sp.ReducedModel:
    body = beam(young)
    return sp.reduce(body, sp.modal_derivative_basis(body, modes=4, size=10), **options)


def skinned(model: sp.ReducedModel, cells: tuple[int, int, int] = (24, 8, 8)) -> sp.ReducedModel:
    """With a skin finer than the mesh."""
    fine = sp.HexMesh.box(size=(0.3, 0.1, 0.1), cells=cells).boundary()
    return model.with_skin(sp.Embedding(model.mesh, fine))


def ball(**options: object) -> sp.Sphere:
    return sp.Sphere(**({"centre": (0.27, 0.05, -0.08), "radius": 0.06} | options))


def depth(live: sp.ReducedSimulation) -> float:
    """How deep any vertex that obstacles touch is inside one of them [m]."""
    skin = live.model.skin is not None
    x = live.skin_vertices() if skin else live.model.mesh.vertices + live.displacements()
    return max(float((-each.at(x, live.time).distance).max()) for each in live.obstacles)


def energy(live: sp.ReducedSimulation) -> float:
    return live.kinetic + live.elastic - live.model.weight(GRAVITY) @ live.q


@pytest.mark.parametrize("rule", [sp.BackwardEuler(), sp.Newmark(), sp.TRBDF2()], ids=repr)
def test_a_complete_basis_meets_planes_as_the_body_does(rule: sp.ImplicitIntegrator) -> None:
    body = beam()
    obstacles = [
        sp.Plane(normal=(0, 0.3, 1), offset=-0.05, friction=0.2),
        sp.Plane(normal=(0, -1, 0), offset=-0.105, friction=0.5),
    ]
    options = {"gravity": (0, 3, -9.81), "obstacles": obstacles, "integrator": rule, "dt": 4e-3}
    live = sp.reduce(body, complete_basis(body)).simulation(
        solver=sp.DenseNewton(tolerance=1e-10, max_iterations=40), **options
    )
    full = sp.Simulation(body, solver=sp.Newton(tolerance=1e-10), **options)
    largest = 0.0
    for _ in range(40):
        live.step()
        full.step()
        largest = max(largest, float(np.abs(full.contact_forces).max()))
        off = live.contact_forces - full.contact_forces
        # full space lets contacts be off by a millionth of an edge, here about 0.01 N
        assert np.abs(off).max() <= max(1e-3 * largest, 0.01)
        assert np.abs(live.displacements() - full.state.u).max() < 1e-6
    assert largest > 1.0


@pytest.mark.parametrize("dt", [1e-3, 1e-2])
@pytest.mark.parametrize("young", [1e4, 1e7])
@pytest.mark.parametrize("solver", [sp.DenseNewton(), sp.DenseNewton(iterations=2)], ids=repr)
def test_energy_never_grows_among_obstacles(
    dt: float, young: float, solver: sp.DenseNewton
) -> None:
    model = skinned(beam_model(young), (12, 4, 4))
    obstacles = [ball(friction=0.4), sp.Plane(offset=-0.04, friction=0.2)]
    for rule in (sp.BackwardEuler(), sp.Newmark(), sp.BDF2(), sp.TRBDF2(), sp.Bathe()):
        live = model.simulation(
            dt=dt, gravity=GRAVITY, obstacles=obstacles, integrator=rule, solver=solver
        )
        live.v = model.coordinates(np.tile([0.0, 0.3, -1.0], (model.mesh.n_vertices, 1)))
        first = energy(live)
        for _ in range(round(0.2 / dt)):
            live.step()
            assert energy(live) <= first * (1 + 1e-3)


def test_no_vertex_of_the_skin_is_inside_and_forces_push_out() -> None:
    model = skinned(beam_model())
    live = model.simulation(
        gravity=5 * GRAVITY, obstacles=[ball()], damping=sp.Rayleigh(mass=5.0, stiffness=2e-3)
    )
    for _ in range(30):
        live.run_steps(20)
        assert depth(live) < 1e-7
    forces = live.contact_forces
    assert forces.shape == model.skin.vertices.shape
    np.testing.assert_allclose(live.obstacle_forces[0], -forces.sum(axis=0), atol=1e-12)
    pressed = np.flatnonzero(forces.any(axis=1))
    away = live.skin_vertices()[pressed] - live.obstacles[0].centre
    pushes = np.einsum("ki,ki->k", away, forces[pressed])
    np.testing.assert_allclose(pushes, 0.06 * np.linalg.norm(forces[pressed], axis=1), rtol=1e-6)
    assert live.obstacle_forces[0, 2] < -0.5


@pytest.mark.parametrize(("mu", "sticks"), [(0.45, False), (0.6, True)])
def test_friction_holds_a_body_above_its_angle(mu: float, sticks: bool) -> None:
    """A plane pressed against the end of a beam, pulled along with tan(30°) = 0.577 of it."""
    mesh = sp.TetMesh.box(size=(0.4, 0.05, 0.05), cells=(6, 1, 1))
    body = sp.Body(mesh, sp.StVK(young=1e6, poisson=0.3, density=1000), fixed=mesh.where(x=0))
    model = sp.reduce(body, sp.modal_derivative_basis(body, modes=4, size=9))
    damping = sp.Rayleigh(mass=30.0, stiffness=5e-3)
    live = model.simulation(
        damping=damping, obstacles=[sp.Plane(normal=(0, 0, 1), offset=0.0, friction=mu)]
    )
    tip = int(np.argmax(mesh.vertices @ [1.0, 0.01, -0.01]))
    live.run_steps(300, force=model.pull(tip, (0, 0, -2.0)))
    before = live.displacements()[tip, 1]
    live.run_steps(300, force=model.pull(tip, (0, 2.0 * np.tan(np.pi / 6), -2.0)))
    moved = live.displacements()[tip, 1] - before
    pushed = live.contact_forces.sum(axis=0)
    assert np.linalg.norm(pushed[:2]) <= mu * pushed[2] * (1 + 1e-6)
    if sticks:
        assert abs(moved) < 3e-5
    else:
        assert moved > 1e-3


def test_every_kind_of_obstacle_keeps_a_body_out() -> None:
    model = skinned(beam_model())
    centre = (0.27, 0.05, -0.08)
    kinds = [
        ball(),
        sp.Box(centre=centre, size=(0.1, 0.1, 0.12), rotation=(0.3, 0.2, 0.1)),
        sp.Capsule(start=(0.2, -0.1, -0.08), end=(0.3, 0.2, -0.08), radius=0.06),
        sp.Plane(normal=(0, 0.1, 1), offset=-0.03),
        sp.Cylinder(start=(0.2, -0.1, -0.08), end=(0.3, 0.2, -0.08), radius=0.06),
        sp.MeshObstacle(ball().surface()),
        sp.HeightField(np.full((8, 8), -0.02), spacing=0.08, origin=(-0.1, -0.2, 0)),
    ]
    for each in kinds:
        live = model.simulation(
            gravity=5 * GRAVITY, obstacles=[each], damping=sp.Rayleigh(mass=5.0, stiffness=2e-3)
        )
        live.run_steps(200)
        assert live.obstacle_forces[0, 2] < -0.1
        # planes of triangles and height fields are those at the guess of a step
        compiled = isinstance(each, sp.Sphere | sp.Box | sp.Capsule | sp.Plane)
        assert depth(live) < (1e-7 if compiled else 1e-4)


def test_moving_obstacles_do_their_work_and_no_more() -> None:
    """What a ball on rails puts in is force times velocity."""
    model = skinned(beam_model(), (12, 4, 4))
    rails = sp.Rails.path(
        position=lambda t: (0, 0, 0.02 * (1 - np.cos(20 * t))),
        velocity=lambda t: (0, 0, 0.4 * np.sin(20 * t)),
    )
    pusher = ball(centre=(0.27, 0.05, -0.061), friction=0.3, motion=rails)
    live = model.simulation(obstacles=[pusher], damping=sp.Rayleigh(stiffness=1e-3))
    work = lost = 0.0
    for _ in range(300):
        live.step()
        work -= 1e-3 * live.obstacle_forces[0] @ rails.pose(live.time).drift
        lost += 1e-3 * live.damping_power
        assert depth(live) < 1e-7
        assert live.kinetic + live.elastic + lost <= 1.05 * max(work, 0.0) + 1e-4
    assert lost > 1e-3


def test_a_snapshot_brings_back_contacts_bit_by_bit() -> None:
    model = skinned(beam_model(), (12, 4, 4))
    rails = sp.Rails.turning(centre=(0.27, 0.05, -0.08), rate=(0, 3.0, 0))
    live = model.simulation(
        gravity=5 * GRAVITY,
        obstacles=[ball(friction=0.5, motion=rails)],
        damping=sp.Rayleigh(stiffness=1e-3),
    )
    live.run_steps(60)
    while not live.contact_forces.any():
        live.step()
    kept, other = live.snapshot(), deepcopy(live)
    forces = live.contact_forces
    live.run_steps(30)
    after = live.q
    live.obstacles = []
    live.run_steps(3)
    live.restore(kept)
    np.testing.assert_array_equal(live.contact_forces, forces)
    for each in (live, other):
        for _ in range(30):
            each.step()
        np.testing.assert_array_equal(each.q, after)


def test_obstacles_change_between_steps() -> None:
    model = skinned(beam_model(), (12, 4, 4))
    live = model.simulation(damping=sp.Rayleigh(mass=5.0, stiffness=2e-3))
    assert live.obstacles == ()
    assert not live.contact_forces.any()
    live.run_steps(5)
    for height in np.linspace(-0.062, -0.05, 50):
        live.obstacles = ball(centre=(0.3, 0.05, height))
        live.step()
        assert depth(live) < 1e-7
    live.run_steps(300)
    assert live.obstacle_forces[0, 2] < -0.05
    live.obstacles = [sp.Plane(offset=-0.2), ball(centre=(0.3, 0.05, -0.05))]
    live.step()
    assert live.obstacle_forces.shape == (2, 3)
    assert not live.obstacle_forces[0].any()
    live.obstacles = ()
    bent = np.abs(live.displacements()).max()
    live.run_steps(2000)  # after which a drag of 5/s leaves exp(-5)
    assert np.abs(live.displacements()).max() < 2 * np.exp(-5) * bent


def test_a_far_obstacle_changes_nothing() -> None:
    model = beam_model()
    alone = model.simulation(gravity=GRAVITY)
    among = model.simulation(gravity=GRAVITY, obstacles=[ball(centre=(0, 0, -5))])
    for live in (alone, among):
        live.run_steps(100)
    np.testing.assert_allclose(alone.q, among.q, rtol=1e-9, atol=1e-12)


def test_edits_and_cubatures_keep_contacts() -> None:
    body = beam()
    basis = sp.modal_derivative_basis(body, modes=4, size=10)
    exact = sp.reduce(body, basis)
    summed = sp.reduce(body, basis, cubature=every_cell(body, exact.vectors))
    options = {"gravity": 5 * GRAVITY, "obstacles": [ball(friction=0.2)]}
    damping = sp.Rayleigh(mass=5.0, stiffness=2e-3, at=sp.StiffnessAt.REST)
    lives = [model.simulation(damping=damping, **options) for model in (exact, summed)]
    for live in lives:
        live.run_steps(60)
        live.edit(young=2e5)
        assert live.contact_forces.any()
        live.run_steps(20)
        assert depth(live) < 1e-7
    np.testing.assert_allclose(lives[0].q, lives[1].q, atol=1e-6 * np.abs(lives[0].q).max())


def test_examples_damp_in_contact_too() -> None:
    model = skinned(beam_model(), (12, 4, 4))
    shape = 0.3 * model.displacements(np.eye(model.size)[0])
    base = sp.Rayleigh(stiffness=1e-3)
    damping = sp.ExampleDamping(base, [sp.Example(shape, 5.0)])
    live = model.simulation(gravity=5 * GRAVITY, obstacles=[ball(friction=0.2)], damping=damping)
    for _ in range(20):
        live.run_steps(10)
        assert depth(live) < 1e-7
    assert live.obstacle_forces[0, 2] < -0.1
    assert live.stats.cut == 0


def test_restitution_of_vertices_is_refused() -> None:
    with pytest.raises(sp.InputError, match="vertex_restitution"):
        beam_model().simulation(obstacles=[ball(vertex_restitution=0.5)])
    with pytest.raises(sp.InputError, match="obstacles"):
        beam_model().simulation(obstacles=[1.0])


def test_a_ball_on_a_spring_thirty_times_as_stiff_is_stable() -> None:
    """As a device holds it that gives force back: moved by what it felt in the step before."""
    model, dt, mass, radius = skinned(beam_model()), 1e-3, 0.5, 0.03
    x = model.skin.vertices
    tip = int(np.argmin(np.linalg.norm(x - [0.27, 0.05, 0.1], axis=1)))
    push = model.pull(tip, (0, 0, 1), at="skin")
    stiffness = 30 / float(push @ np.linalg.solve(model.rest_stiffness, push))
    drag = 2 * 0.7 * np.sqrt(stiffness * mass)
    place, speed = x[tip] + [0, 0, radius], np.zeros(3)
    start = place.copy()

    def held() -> sp.Sphere:
        at, way, when = place.copy(), speed.copy(), live.time + dt
        rails = sp.Rails.path(position=lambda t: at + (t - when) * way, velocity=lambda t: way)
        return sp.Sphere(radius=radius, friction=0.2, motion=rails)

    live = model.simulation(
        dt=dt,
        integrator=sp.BackwardEuler(),
        damping=sp.Rayleigh(mass=5.0, stiffness=1e-3),
        obstacles=[sp.Sphere(centre=place, radius=radius, friction=0.2)],
    )
    felt = []
    for step in range(1000):
        towards = start - [0, 0, 0.01 * np.sin(0.5 * np.pi * min(step / 400, 1.0)) ** 2]
        force = live.obstacle_forces[0]
        speed = mass * speed + dt * (stiffness * (towards - place) + force)
        speed /= mass + dt * drag + dt**2 * stiffness
        place = place + dt * speed
        live.obstacles = [held()]
        live.step()
        felt.append(force)
    late = np.array(felt[800:])
    assert late[:, 2].mean() > 1.0
    assert np.ptp(late, axis=0).max() < 0.01 * late[:, 2].mean()
    pull = stiffness * (towards - place)
    np.testing.assert_allclose(pull, -late[-1], atol=0.01 * late[-1, 2])
    assert depth(live) < 1e-7
