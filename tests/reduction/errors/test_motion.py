"""The error that a model tells of its motion, against the true one."""

import warnings

import numpy as np
import pytest
from tests.helpers import soft
from tests.reduction.conftest import held_body, relative

import supple as sp
from supple.reduction.errors import motion

SWING = 0.27
DAMPING = sp.Rayleigh(mass=0.4)


def bar() -> sp.Body:
    mesh = sp.HexMesh.box((1, 0.15, 0.1), (10, 2, 1))
    return sp.Body(mesh, soft(sp.StVK), fixed=mesh.where(x=0))


def wedge() -> sp.Body:
    """Tetrahedra, thick at the foot and thin at the top, and skew."""
    mesh = sp.TetMesh.box(size=(0.4, 0.3, 1.0), cells=(2, 2, 6))
    x = mesh.vertices.copy()
    x[:, :2] *= 1 - 0.7 * x[:, 2:]
    x[:, 0] += 0.3 * x[:, 2] ** 2
    mesh = sp.TetMesh(x, mesh.cells)
    return sp.Body(mesh, soft(sp.StVK), fixed=mesh.where(z=0))


def push(body: sp.Body, way=(0.3, 1.0, 0.4)) -> np.ndarray:
    """A load on all that is far from the support, which bends the body by about a quarter."""
    X = body.mesh.vertices
    along = int(np.argmax(np.ptp(X, axis=0)))
    f = body.mass_times(np.outer(X[:, along] - X[:, along].min(), way)) * body.free
    u = sp.vibration_modes(body, 12).static_shape(f)
    return f * SWING / np.linalg.norm(u, axis=1).max()


def bases(body: sp.Body) -> dict[str, sp.Basis]:
    modes = sp.vibration_modes(body, 10)
    other = sp.Simulation(body, damping=DAMPING, dt=0.05)
    other.state.v = 2 * modes.shapes[0] / np.abs(modes.shapes[0]).max()
    shapes = other.run(2.0).displacements[1:]
    return {
        "modal derivatives": sp.modal_derivative_basis(body, modes=6, size=10),
        "linear modes": sp.picked_basis(body, modes.shapes),
        "another motion": sp.motion_basis(body, shapes, 6),
        "a few modes": sp.picked_basis(body, modes.shapes[:3]),
    }


def moving(model: sp.ReducedModel, **options) -> sp.ReducedSimulation:
    slow = 1 / sp.vibration_modes(model.body, 1).frequencies[-1]
    solver = sp.DenseNewton(max_iterations=40)
    return model.simulation(damping=DAMPING, dt=slow / 60, solver=solver, **options)


@pytest.mark.filterwarnings("ignore::supple.ModelWarning")
@pytest.mark.parametrize("make", [bar, wedge])
@pytest.mark.parametrize(
    "kind", ["modal derivatives", "linear modes", "another motion", "a few modes"]
)
def test_told_error_is_within_a_factor_of_two_of_the_true_one(make, kind):
    body = make()
    load = push(body)
    sim = moving(sp.reduce(body, bases(body)[kind]))
    on = 18 * sim.dt

    def force(time):
        return load if time < on - 1e-9 else None

    told = sp.motion_error(sim, 90 * sim.dt, force=force)
    true = sp.motion_error(sim, 90 * sim.dt, force=force, against="body")
    assert 0.15 < true.swing < 0.4
    assert 0.5 < told.error / true.error < 2.0
    assert 0.5 < told.distance / true.distance < 2.0
    assert abs(told.worst_time - true.worst_time) < 40 * sim.dt
    assert sim.time == 0.0
    assert not sim.q.any()


@pytest.mark.filterwarnings("ignore::supple.ModelWarning")
def test_the_true_error_is_that_of_two_simulations():
    """Written out: the same steps in full and in reduced space."""
    body = wedge()
    load = push(body)
    sim = moving(sp.reduce(body, bases(body)["a few modes"]), gravity=(0, 0, -1.0))
    told = sp.motion_error(sim, 20 * sim.dt, force=load, against="body")
    full = sp.Simulation(
        body, damping=DAMPING, dt=sim.dt, gravity=(0, 0, -1.0), integrator=sp.Newmark()
    )
    apart, sizes = [0.0], [0.0]
    for _ in range(20):
        full.step(force=load)
        sim.step(force=sim.model.project(load))
        e = full.state.u - sim.displacements()
        apart.append(np.sqrt(np.vdot(e, body.mass_times(e))))
        sizes.append(np.sqrt(np.vdot(full.state.u, body.mass_times(full.state.u))))
    np.testing.assert_allclose(told.errors, np.array(apart) / max(sizes), atol=1e-7)
    assert told.times[-1] == pytest.approx(20 * sim.dt)


@pytest.mark.filterwarnings("ignore::supple.ModelWarning")
def test_a_start_that_is_set_and_other_dampings_are_those_of_the_simulation():
    body = bar()
    model = sp.reduce(body, sp.modal_derivative_basis(body, modes=4, size=8))
    current = sp.Rayleigh(mass=0.2, stiffness=1e-3)
    sim = model.simulation(damping=current, dt=1 / 50, integrator=sp.TRBDF2())
    sim.v = 0.3 * np.eye(8)[0]
    sim.run_steps(5)
    before = sim.q.copy()
    told, true = (sp.motion_error(sim, 2.0, against=kind) for kind in (None, "body"))
    assert 0.5 < told.error / true.error < 2.0
    np.testing.assert_array_equal(sim.q, before)
    assert told.times[0] == sim.time


def test_a_complete_basis_has_no_error(complete, tip):
    load = complete.body.point_force([tip], (0, 0, 5.0))
    sim = complete.simulation(damping=DAMPING, dt=1 / 50)
    told = sp.motion_error(sim, 0.2, force=load)
    assert told.error < 1e-8
    assert len(told.missed) == 0


def test_free_bodies_are_compared_in_the_world():
    mesh = sp.TetMesh.box(size=(1.0, 0.3, 0.2), cells=(6, 2, 1))
    body = sp.Body(mesh, soft(sp.StVK))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sp.ModelWarning)
        model = sp.reduce(body, sp.modal_derivative_basis(body, modes=3, size=4))
    sim = model.simulation(dt=1 / 100)
    sim.spin = (0.3, 3.0, 0.2)
    sim.v = np.array([0.8, 0.4, 0.0, 0.0])
    told, true = (sp.motion_error(sim, 0.5, against=kind) for kind in (None, "body"))
    assert true.error > 0.01
    assert 0.5 < told.error / true.error < 2.0
    np.testing.assert_allclose(sim.spin, (0.3, 3.0, 0.2))


def test_other_materials_are_compared_with_the_body():
    body = held_body("brick", sp.StableNeoHookean)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = sp.reduce(body, sp.modal_derivative_basis(body, modes=2, size=3))
    sim = model.simulation(damping=DAMPING, dt=1 / 100)
    sim.v = np.array([0.2, 0.0, 0.0])
    told = sp.motion_error(sim, 0.1)
    assert told.unsure == 0.0
    assert told.error == sp.motion_error(sim, 0.1, against="body").error
    with pytest.raises(sp.InputError, match="StVK"):
        sp.motion_error(sim, 0.1, against="larger model")


def test_what_is_missed_is_new_and_sorted(model, tip):
    body = model.body
    sim = model.simulation(damping=DAMPING, dt=1 / 50)
    told = sp.motion_error(sim, 0.5, force=body.point_force([tip], (0, 3.0, 5.0)))
    both = np.concatenate([model.vectors, told.missed]).reshape(-1, body.free.size)
    gram = both @ (body.mass @ both.T)
    assert relative(gram, np.eye(len(both))) < 1e-9
    assert told.amounts[0] > 3 * told.amounts[-1]
    assert 0 < told.amounts.max() < 1


def test_questions_that_cannot_be_answered_are_named(model, tmp_path):
    sim = model.simulation(dt=1 / 50)
    with pytest.raises(sp.InputError, match="against='truth'"):
        sp.motion_error(sim, 1.0, against="truth")
    with pytest.raises(sp.InputError, match="sim is"):
        sp.motion_error(model, 1.0)
    with pytest.raises(sp.InputError, match="duration=0"):
        sp.motion_error(sim, 0.0)
    model.save(tmp_path / "a.supple")
    lonely = sp.load_model(tmp_path / "a.supple").simulation(dt=1 / 50)
    lonely.v = np.full(model.size, 0.01)
    with pytest.raises(sp.InputError, match="body=Body"):
        sp.motion_error(lonely, 0.1)
    sim.v = lonely.v
    told = sp.motion_error(lonely, 0.1, body=model.body)
    assert told.error == pytest.approx(sp.motion_error(sim, 0.1).error, rel=1e-9)
    with pytest.raises(sp.InputError, match="that was reduced"):
        sp.motion_error(lonely, 0.1, body=bar())


# -- repairs ---------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::supple.ModelWarning")
def test_a_repaired_basis_is_as_good_as_asked():
    body = bar()
    load = push(body)
    sim = moving(sp.reduce(body, bases(body)["linear modes"]))
    duration = 90 * sim.dt
    assert sp.motion_error(sim, duration, force=load, against="body").error > 0.3
    basis = sp.repaired_basis(sim, duration, force=load, tolerance=0.02)
    np.testing.assert_array_equal(basis.vectors[:10], sim.model.vectors)
    assert basis.size <= 25
    mended = moving(sp.reduce(body, basis))
    assert sp.motion_error(mended, duration, force=load, against="body").error < 0.04


@pytest.mark.filterwarnings("ignore:vibration")
def test_what_cannot_be_repaired_is_told(model, tip):
    sim = model.truncated(2).simulation(damping=DAMPING, dt=1 / 50)
    force = model.body.point_force([tip], (0, 3.0, 5.0))
    with pytest.warns(sp.ModelWarning, match="with 4 vectors the error of this motion is still"):
        basis = sp.repaired_basis(sim, 0.3, force=force, tolerance=1e-6, size=4)
    assert basis.size == 4


@pytest.mark.filterwarnings("ignore::supple.ModelWarning")
def test_a_body_that_leaves_the_larger_models_is_followed_itself(monkeypatch):
    """A larger model that misses what matters tells too little; a step of the body shows it."""
    body = bar()
    load = push(body)
    sim = moving(sp.reduce(body, bases(body)["modal derivatives"]))
    seconds = 40 * sim.dt
    true = sp.motion_error(sim, seconds, force=load, against="body")
    blind = np.zeros((1, *body.free.shape))
    blind[0, -1] = body.free[-1]  # one vertex that moves by itself, which the body never does
    monkeypatch.setattr(motion, "principal_shapes", lambda rest, shapes, known, most: blind)
    with pytest.warns(sp.ModelWarning, match="not certain"):
        low = sp.motion_error(sim, seconds, force=load, against="larger model")
    assert low.error < 0.5 * true.error
    told = sp.motion_error(sim, seconds, force=load)
    np.testing.assert_array_equal(told.errors, true.errors)
    assert told.unsure == 0.0


@pytest.mark.filterwarnings("ignore::supple.ModelWarning")
def test_examples_that_do_not_move_stay_in_larger_models():
    """Larger models leave out what a motion does not use, but not what its damping is made of."""
    body = bar()
    modes = sp.vibration_modes(body, 4)
    damping = sp.ExampleDamping(DAMPING, [sp.Example(shape) for shape in modes.shapes[[0, 3]]])
    model = sp.reduce(body, sp.picked_basis(body, modes.shapes))
    sim = model.simulation(damping=damping, dt=1 / (60 * modes.frequencies[0]))
    sim.q = np.array([0.05 / np.abs(modes.shapes[0]).max(), 0, 0, 0])
    told, true = (sp.motion_error(sim, 60 * sim.dt, against=kind) for kind in (None, "body"))
    assert 0.5 < told.error / true.error < 2.0
