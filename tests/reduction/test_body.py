"""Reduced models as bodies of worlds."""

import numpy as np
import pytest

import supple as sp
from supple.bodies.group import BodyGroup
from supple.bodies.shape import Shape
from supple.dynamics.problem import BodyProblem
from supple.dynamics.terms import terms_of
from supple.dynamics.terms.attachments import AttachmentTerm
from supple.integrators import Stage
from supple.solvers.interface import Tangent

GRAVITY = (0.0, 0.0, -9.81)


@pytest.fixture(scope="module")
def model():
    mesh = sp.TetMesh.box(size=(0.6, 0.1, 0.04), cells=(8, 2, 1))
    body = sp.Body(
        mesh,
        sp.StVK(young=2e6, poisson=0.3, density=1000),
        fixed=np.concatenate([mesh.where(x=0), mesh.where(x=0.6)]),
    )
    return sp.reduce(body, sp.modal_derivative_basis(body, modes=3, size=8))


@pytest.mark.parametrize(
    "damping",
    [sp.Rayleigh(mass=1.0, stiffness=1e-3), [sp.StrainRate(shear=50), sp.Rayleigh(mass=2.0)]],
    ids=["one", "two"],
)
def test_alone_it_moves_as_the_model_does(model, damping):
    rule = sp.BackwardEuler()
    live = model.simulation(dt=1 / 200, integrator=rule, damping=damping)
    body = sp.ReducedBody(model)
    sim = sp.Simulation(
        [body], dt=1 / 200, integrator=rule, damping={body: damping}, gravity=GRAVITY
    )
    for _ in range(20):
        live.step(force=model.weight(GRAVITY))
        sim.step()
    q = body.coordinates(sim.state_of(body).u)
    np.testing.assert_allclose(q, live.q, atol=1e-4 * np.abs(live.q).max())
    assert sim.frame().kinetic == pytest.approx(live.kinetic, rel=1e-3)
    assert body.energy(sim.state_of(body).u) == pytest.approx(model.energy(q))


def test_states_and_coordinates_are_each_other(model):
    body = sp.ReducedBody(model)
    q = np.random.default_rng(0).normal(size=model.size) * 1e-3
    u = body.displaced(q)
    np.testing.assert_allclose(body.coordinates(u), q)
    skin = model.mesh.boundary()
    places = (model.mesh.vertices + model.displacements(q))[skin.vertex_ids]
    np.testing.assert_allclose(body.positions(u), places, atol=1e-12)
    assert np.vdot(body.push(model.force(q)), u) == pytest.approx(model.force(q) @ q)
    h = 1e-6 * np.abs(q).max()
    way = body.displaced(np.eye(model.size)[2])
    slope = (body.force(u + h * way) - body.force(u - h * way)) / (2 * h)
    along = (body.stiffness(u) @ way.ravel()).reshape(-1, 3)
    np.testing.assert_allclose(along, slope, rtol=1e-6, atol=1e-6 * np.abs(slope).max())


def test_a_ball_is_borne_by_the_bridge_and_an_obstacle_stops_it(model):
    body = sp.ReducedBody(model)
    place = (0.3, 0.05, 0.04 + 0.0205)
    ball = sp.RigidBody(sp.Sphere(centre=place, radius=0.02).surface(), density=3000)
    sim = sp.Simulation(
        {"bridge": body, "ball": ball},
        integrator=sp.BackwardEuler(),
        damping={"bridge": sp.Rayleigh(mass=50.0)},
        self_contact=sp.SelfContact(friction=0.5),
        gravity=GRAVITY,
        dt=1 / 100,
    )
    sim.run(0.2)
    weight = ball.total_mass * 9.81
    forces = [sim.self_contact_forces[rows] for rows in sim.body.rows]
    assert forces[1].sum(axis=0)[2] == pytest.approx(weight, rel=0.05)
    # what the coordinates feel is the opposite force, where the ball lies
    spot = np.linalg.norm(
        body.positions(sim.state_of(body).u) - ball.pose(sim.state_of(ball).u)[1], axis=1
    ).argmin()
    felt = forces[0].ravel()[: model.size]
    sent = -body.mesh.shapes[:, spot] @ forces[1].sum(axis=0)
    assert np.linalg.norm(felt - sent) < 0.2 * np.linalg.norm(sent)


def test_it_lies_on_obstacles(model):
    body = sp.ReducedBody(model)
    floor = sp.Plane(offset=-0.002, friction=0.3)
    sim = sp.Simulation(
        body, obstacles=floor, gravity=GRAVITY, dt=1 / 100, damping=sp.Rayleigh(mass=5.0)
    )
    sim.run(0.3)
    places = body.positions(sim.state.u)
    assert places[:, 2].min() > -0.002 - 1e-5
    assert sim.stats.contacts > 0


def test_a_motion_of_it_is_kept_in_a_file(model, tmp_path):
    body = sp.ReducedBody(model)
    sim = sp.Simulation({"bridge": body}, gravity=GRAVITY)
    motion = sim.run(0.05, record=tmp_path / "bridge.motion")
    again = sp.read_motion(tmp_path / "bridge.motion")
    part = again.mesh.parts[0]
    np.testing.assert_allclose(
        part.points.moved(again.displacements), body.mesh.points.moved(motion.displacements)
    )


def test_free_models_and_bare_models_are_refused(model):
    mesh = sp.TetMesh.box(size=(0.3, 0.1, 0.1), cells=(3, 1, 1))
    free = sp.Body(mesh, sp.StVK(young=1e6, poisson=0.3))
    floating = sp.reduce(free, sp.modal_derivative_basis(free, modes=2, size=4))
    with pytest.raises(sp.InputError, match=r"FloatingBody\(model\)"):
        sp.ReducedBody(floating)
    with pytest.raises(sp.InputError, match=r"ReducedBody\(model\)"):
        sp.Simulation([model])


def test_attachments_hold_any_point_of_it(model):
    """Forces on what it carries are Bᵀ f, equal and opposite to those on the other body."""
    body, chance = sp.ReducedBody(model), np.random.default_rng(4)
    ball = sp.RigidBody(sp.Sphere(centre=(0.3, 0.05, -0.05), radius=0.02).surface(), density=3000)
    ties = [
        sp.Pin(body, 7, ball, (0.3, 0.05, -0.03)),
        sp.Pin(body, (0.31, 0.04, 0.013)),  # a place inside
        sp.Spring(ball, 3, body, (0.2, 0.05, 0.0), stiffness=80.0, length=0.05),
        sp.Glue(ball, body, within=0.05),
    ]
    group = BodyGroup([body, ball])
    problem = BodyProblem(group, terms_of(group, attachments=ties))
    term = next(each for each in problem.terms if isinstance(each, AttachmentTerm))
    none, h = np.zeros((group.n_vertices, 3)), 1e-6
    stage = Stage(0.0, 0.0, none, 0.0, none, none)
    u, d = 0.02 * chance.normal(size=(2, *none.shape))

    def share(u):
        return term.evaluate(problem.linearize(stage, u).at)

    slope = (share(u + h * d).potential - share(u - h * d).potential) / (2 * h)
    assert slope == pytest.approx(float(np.vdot(share(u).force, d)), rel=1e-6)
    keys, blocks = term.pair_blocks(problem.linearize(stage, u).at, Tangent(definite=False))
    row, col = np.divmod(keys, group.n_vertices)
    product, off = np.zeros_like(u), row != col
    np.add.at(product, row, np.einsum("kij,kj->ki", blocks, d[col]))
    np.add.at(product, col[off], np.einsum("kji,kj->ki", blocks[off], d[row[off]]))
    change = (share(u + h * d).force - share(u - h * d).force) / (2 * h)
    np.testing.assert_allclose(product, change, atol=1e-6 * np.abs(change).max())
    # the work on a shift of all that is not held is that of the force on the ball
    alone = AttachmentTerm(group, ties[:1])
    at = Shape(group, u)
    force, shift = alone.free_force(at, none), np.array([0.1, 0.2, 0.3])
    on_ball = force[group.rows[1]].sum(axis=0)
    point = body.points.one(7)
    felt = (
        force[group.rows[0]].ravel()
        @ np.hstack(list(point.maps)).T
        @ np.linalg.pinv(np.hstack(list(point.maps)) @ np.hstack(list(point.maps)).T)
    )
    np.testing.assert_allclose(felt @ shift, -on_ball @ shift, rtol=1e-9)


def test_a_marble_on_a_pin_pulls_it_down_as_the_whole_beam():
    mesh = sp.TetMesh.box(size=(0.6, 0.1, 0.04), cells=(8, 2, 1))
    beam = sp.Body(mesh, sp.StVK(young=2e6, poisson=0.3, density=1000), fixed=mesh.where(x=0))
    small = sp.ReducedBody(sp.reduce(beam, sp.modal_derivative_basis(beam, modes=5, size=15)))
    end, sags = np.array([0.6, 0.05, 0.0]), []
    for body in (beam, small):
        marble = sp.RigidBody(
            sp.Sphere(centre=end - (0, 0, 0.06), radius=0.02).surface(), density=1500
        )
        sim = sp.Simulation(
            [body, marble],
            attachments=sp.Pin(body, end, marble, end),
            self_contact=False,
            gravity=GRAVITY,
            integrator=sp.BackwardEuler(),
            dt=0.1,
        )
        for _ in range(20):
            sim.step()
        sags.append(marble.pose(sim.state_of(marble).u)[1] - end)
    assert sags[0][2] < -0.16  # 6 cm below an end that sags by more than 10
    np.testing.assert_allclose(sags[1], sags[0], atol=2e-3)
