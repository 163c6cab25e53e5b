"""Local examples on the coordinates of reduced models, alone, in crowds and in free flight."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers import rotation
from tests.reduction.conftest import complete_basis, every_cell
from tests.refusals import refused

import supple as sp
from supple.bodies.shape import Shape
from supple.reduction.damping.rules import reduced_damping

MESH = sp.HexMesh.box(size=(1.0, 0.2, 0.2), cells=(5, 1, 1)).tetrahedra()
X = MESH.vertices
TAIL, MIDDLE = X[:, 0] > 0.75, (X[:, 0] > 0.35) & (X[:, 0] < 0.65)
SOFT = sp.StVK(young=3e4, poisson=0.35, density=1000.0)
CURVE = sp.Curve.bezier([(0.0, 0.2), (1.0, 8.0)])
BASE = sp.StrainRate(shear=40.0)


def wag(part: np.ndarray, axis: int = 2) -> np.ndarray:
    shape = np.zeros_like(X)
    ends = X[part, 0]
    shape[part, axis] = 0.1 * (ends - ends.min() + 0.05) ** 2
    return shape


def bend() -> np.ndarray:
    shape = np.zeros_like(X)
    shape[:, 1] = 0.2 * X[:, 0] ** 2
    return shape


def damping(measure: sp.Measure = sp.Measure.EXCITATION, **options: object) -> sp.ExampleDamping:
    examples = [
        sp.Example(wag(TAIL), CURVE, region=TAIL, measure=measure),
        sp.Example(wag(MIDDLE, 1), 5.0, region=MIDDLE),
        sp.Example(wag(TAIL, 1), 3.0, region=TAIL),
        sp.Example(bend(), CURVE),
    ]
    return sp.ExampleDamping(BASE, examples, **options)


@pytest.fixture(scope="module")
def body() -> sp.Body:
    return sp.Body(MESH, SOFT, fixed=MESH.where(x=0))


@pytest.fixture(scope="module")
def model(body: sp.Body) -> sp.ReducedModel:
    basis = complete_basis(body)
    return sp.reduce(body, basis, cubature=every_cell(body, basis.vectors))


def swung(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A bar that is rolled up by more than half a turn, and shaken."""
    rng = np.random.default_rng(seed)
    held = X[:, :1] < 1e-9
    angle = 3.0 * X[:, 0]
    turned = np.column_stack([np.sin(angle) / 3.0, X[:, 1], (1 - np.cos(angle)) / 3.0])
    across = X[:, 2:] * np.column_stack([-np.sin(angle), 0 * angle, np.cos(angle)])
    u = turned + across - X + 0.01 * rng.normal(size=X.shape)
    return np.where(held, 0.0, u), np.where(held, 0.0, rng.normal(size=X.shape))


@pytest.mark.parametrize("measure", sp.Measure)
@pytest.mark.parametrize("about", [False, True])
def test_a_complete_basis_feels_what_the_body_feels(body, model, measure, about):
    far = np.where(X[:, :1] < 1e-9, 0.0, 0.02 * np.sin(5 * X[:, ::-1]))
    given = damping(measure, about=far if about else None)
    reduced, bound = reduced_damping(given, model), given.bind(body)
    u, v = swung()
    q, rate = (np.linalg.solve(model.mass, model.vectors.reshape(model.size, -1)
                               @ body.mass_times(x).ravel()) for x in (u, v))  # fmt: skip
    wanted = bound.evaluate(Shape(body, u, order=2), v)[1]
    wanted = model.vectors.reshape(model.size, -1) @ wanted.ravel()
    scale = np.abs(wanted).max()
    np.testing.assert_allclose(reduced.force(q, rate), wanted, atol=1e-9 * scale)
    chi = given.excitations(body, u)
    np.testing.assert_allclose(reduced.examples.excitations(q), chi, atol=1e-9)
    base = reduced_damping(BASE, model).force(q, rate)
    assert np.abs(reduced.force(q, rate) - base).max() > 0.01 * scale  # they are felt at all


@pytest.mark.parametrize("measure", sp.Measure)
def test_steps_are_those_of_the_body(body, model, measure):
    u, v = swung()
    u, v = 0.5 * u, 0.3 * v
    tight = {"dt": 1 / 200, "integrator": sp.BackwardEuler()}
    full = sp.Simulation(body, damping=damping(measure), solver=sp.Newton(tolerance=1e-11), **tight)
    full.state.u, full.state.v = u, v
    solver = sp.DenseNewton(tolerance=1e-10, max_iterations=200)
    live = model.simulation(damping=damping(measure), solver=solver, **tight)
    copies = sp.CrowdSimulation(model, copies=2, damping=damping(measure), solver=solver, **tight)
    flat = model.vectors.reshape(model.size, -1)
    live.q, live.v = (
        np.linalg.solve(model.mass, flat @ body.mass_times(x).ravel()) for x in (u, v)
    )
    copies.q, copies.v = np.tile(live.q, (2, 1)), np.tile(live.v, (2, 1))
    copies.q = copies.q * [[1.0], [0.5]]
    for _ in range(4):
        for each in (full, live, copies):
            each.step()
    size = np.abs(full.state.u).max()
    np.testing.assert_allclose(live.displacements(), full.state.u, atol=1e-7 * size)
    np.testing.assert_allclose(copies.q[0], live.q, atol=1e-7 * np.abs(live.q).max())


def test_a_body_in_free_flight_takes_them_along():
    """They see the same wherever the body has turned."""
    body = sp.Body(MESH, SOFT)
    modes = sp.vibration_modes(body, 18).shapes[6:]
    model = sp.reduce(body, sp.picked_basis(body, [*modes, wag(TAIL), wag(MIDDLE, 1)]))
    given = sp.ExampleDamping(BASE, damping().examples[:3])
    assert reduced_damping(given, model).examples.local
    found = []
    for turn in (np.eye(3), rotation(3)):
        live = sp.FloatingSimulation(model, damping=given, dt=1 / 500)
        live.q = model.coordinates(0.5 * wag(TAIL) + 0.2 * wag(MIDDLE, 1))
        live.rotation, live.spin = turn, turn @ (0.0, 0.0, 0.5)
        start = live.kinetic + live.elastic
        for _ in range(40):
            live.step()
            assert live.damping_power >= 0
        assert live.kinetic + live.elastic < start
        found.append(live.q)
    np.testing.assert_allclose(found[1], found[0], atol=1e-6 * np.abs(found[0]).max())


def test_models_from_files_have_nothing_to_see_parts_from(model, tmp_path):
    model.save(tmp_path / "bar.model")
    loaded = sp.load_model(tmp_path / "bar.model")
    refused("seen from what carries their part", loaded.simulation, damping=damping())
