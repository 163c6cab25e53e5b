"""Dampings that act on rigid motion by places of the body, on free reduced bodies of worlds."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.helpers import stepped

import supple as sp
from supple.bodies.shape import Shape
from supple.damping.sums import bound_sum

TURN = Rotation.from_rotvec((0.4, -1.1, 0.7)).as_matrix()


@pytest.fixture(scope="module")
def body():
    mesh = sp.TetMesh.box(size=(0.4, 0.1, 0.05), cells=(4, 1, 1))
    mesh = mesh.with_region("half", mesh.centroids[:, 0] < 0.2)
    return sp.Body(mesh, sp.StVK(young=1e5, poisson=0.35, density=1000))


@pytest.fixture(scope="module")
def model(body):
    return sp.reduce(body, sp.modal_derivative_basis(body, modes=3, size=6))


def chain(body):
    """Dashpots from each component to the next one, and to the ground."""
    size = 3 * body.n_vertices
    steps = np.eye(size) - np.eye(size, k=1)
    return sp.Viscous(0.05 * steps.T @ steps)


def dampings(body):
    return {
        "drag": sp.Drag(strength=30.0, wind=(0.5, 0, 0)),
        "fast flow": sp.Drag(strength=30.0, exponent=2.0),
        "matrix": chain(body),
        "mass by region": sp.Rayleigh(mass={"half": 3.0}, stiffness=1e-3),
        "a list": [sp.Drag(strength=5.0), sp.StrainRate(shear=20.0)],
    }


@pytest.mark.parametrize("name", ["drag", "fast flow", "matrix", "mass by region", "a list"])
def test_forces_are_those_of_the_whole_body(body, model, name):
    given = dampings(body)[name]
    listed = given if isinstance(given, list) else [given]
    flier, chance = sp.FloatingBody(model), np.random.default_rng(3)
    q = 0.02 * chance.normal(size=model.size) / np.abs(model.vectors).max()
    u = flier.placed(TURN, (0.3, 2.0, 1.0), q)
    v = flier.velocity((1, 2, 3), (0.3, 4, 1), u, chance.normal(size=model.size))
    mine = bound_sum(flier, [flier.damped_by(each) for each in listed])
    whole = bound_sum(body, [each.bind(body) for each in listed])
    at = Shape(flier, u, order=2)
    weights = flier.weights_of_vertices
    x = weights @ (flier.mesh.vertices + u)
    full = Shape(body, x - body.mesh.vertices, order=2)
    for each in flier.motions(u):  # what a shape of the model may do; ties hold the rest
        power = np.vdot(each, mine.evaluate(at, v)[1])
        wanted = np.vdot(weights @ each, whole.evaluate(full, weights @ v)[1])
        assert power == pytest.approx(wanted, rel=0.02, abs=1e-3)
    # the matrix is the derivative of the force by the velocity
    values = np.zeros((flier.pattern.n_blocks, 3, 3))
    mine.add_matrix(at, v, 1.0, values, definite=False)
    d, h = chance.normal(size=v.shape), 1e-5
    change = (mine.evaluate(at, v + h * d)[1] - mine.evaluate(at, v - h * d)[1]) / (2 * h)
    product = flier.pattern.multiply(values, d)
    np.testing.assert_allclose(product, change, atol=1e-6 * np.abs(change).max())


@pytest.mark.parametrize("rule", [sp.BackwardEuler(), sp.TRBDF2()])
def test_it_falls_as_the_whole_body_does(body, model, rule):
    """Stiff flesh in thick air, thrown with a spin: both lose the same to the air."""
    drag = sp.Drag(strength=200.0)
    options = {"integrator": rule, "dt": 1 / 240, "gravity": (0, 0, -9.81), "damping": drag}
    flier = sp.FloatingBody(model)
    mine, whole = sp.Simulation(flier, **options), sp.Simulation(body, **options)
    arms = body.mesh.vertices - body.mesh.vertices.mean(axis=0)
    mine.state.v = flier.velocity((1, 0, 2), (0, 0, 3.0))
    whole.state.v = np.array((1, 0, 2)) + np.cross((0, 0, 3.0), arms)
    for sim in (mine, whole):
        stepped(sim, 24)
    momenta = [sim.frame().linear_momentum for sim in (mine, whole)]
    thrown = body.total_mass * np.array((1, 0, 2 - 0.981))
    np.testing.assert_allclose(*momenta, rtol=0.02, atol=1e-3 * np.linalg.norm(thrown))
    assert np.linalg.norm(momenta[0] - thrown) > 0.1 * np.linalg.norm(thrown)  # the air counts


def test_models_from_files_and_flights_alone_are_told_what_to_do(body, model, tmp_path):
    with pytest.raises(sp.InputError, match=r"FloatingBody\(model\)"):
        model.simulation(damping=chain(body))
    with pytest.raises(sp.InputError, match=r"FloatingBody\(model\)"):
        model.simulation(damping=sp.Rayleigh(mass={"half": 1.0}))
    model.save(tmp_path / "bar.supple")
    read = sp.FloatingBody(sp.load_model(tmp_path / "bar.supple"))
    with pytest.raises(sp.InputError, match="from a file"):
        sp.Simulation(read, damping=sp.Drag(strength=1.0))
