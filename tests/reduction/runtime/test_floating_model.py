"""Free reduced bodies: other materials, what models keep, setting states, bad input."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from tests.helpers import rotation
from tests.reduction.conftest import interpreted
from tests.reduction.runtime.floating_bodies import (
    EXACT,
    SPIN,
    STATE,
    bar,
    momenta,
    small,
    thrown,
    wobble,
)
from tests.refusals import refusals, refused

import supple as sp
from supple.damping import Damping
from supple.integrators import ImplicitIntegrator, Stage
from supple.reduction.runtime.floating import FloatingInertia

# -- the interpreted loop, other materials ------------------------------------------------------


@pytest.mark.parametrize("integrator", [sp.Newmark(), sp.BDF2()], ids=repr)
def test_compiled_and_interpreted_steps_agree(integrator):
    options = {"damping": sp.Rayleigh(mass=0.3, stiffness=1e-3), "integrator": integrator}
    compiled = thrown(small(), **options)
    compiled.run_steps(50)
    other = thrown(interpreted(small()), **options)
    other.run_steps(50)
    for name in STATE:
        np.testing.assert_allclose(getattr(other, name), getattr(compiled, name), atol=1e-10)


def test_other_materials_float_too():
    body = sp.Body(small().mesh, sp.StableNeoHookean(young=2e5, poisson=0.3, density=1000))
    model = sp.reduce(body, sp.Basis(small().vectors[:4], np.ones(4)))
    assert model.cubature is not None
    sim = thrown(model)
    before = momenta(sim)
    sim.run_steps(100)
    for old, new in zip(before, momenta(sim), strict=True):
        assert np.abs(new - old).max() < 1e-12 * np.linalg.norm(old)


# -- dampings of one's own -----------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Foreign(Damping):
    """Strain rate damping, as another package would have it."""

    spares_rigid_motion: ClassVar[bool] = True

    def bind(self, body):
        return sp.StrainRate(shear=30.0).bind(body)


class Rooted(Foreign):
    spares_rigid_motion: ClassVar[bool] = False


def test_dampings_from_outside_say_whether_they_spare_rigid_motion():
    ours, theirs = (
        thrown(small(), damping=each) for each in (sp.StrainRate(shear=30.0), Foreign())
    )
    for sim in (ours, theirs):
        sim.run_steps(20)
    for name in STATE:
        np.testing.assert_allclose(getattr(theirs, name), getattr(ours, name), atol=1e-9)
    for each in (Rooted(), sp.PowerLaw(exponent=2, of=Rooted(), scale=1.0)):
        refused("MomentumConserving", thrown, small(), damping=each)
    thrown(small(), damping=sp.MomentumConserving(Rooted())).step()


def test_examples_over_the_drag_never_feed_energy():
    """All coordinates are examples that are hardly damped, and the body does not turn."""
    model, chance = small(), np.random.default_rng(3)
    examples = [sp.Example(shape, 1e-3) for shape in model.vectors]
    sim = model.simulation(damping=sp.ExampleDamping(sp.Rayleigh(mass=2.0), examples))
    for _ in range(20):
        sim.q, sim.v = 0.1 * chance.normal(size=(2, model.size))
        h = model.floating.inner_momentum(sim.q, sim.v)
        sim.spin = -np.linalg.solve(model.floating.inertia(sim.q), h)
        assert np.linalg.norm(sim.spin_momentum) < 1e-9 * np.linalg.norm(h)
        assert 0 < sim.damping_power < 0.01 * sim.kinetic


# -- best effort -------------------------------------------------------------------------------


def test_best_effort_says_what_it_gave_up():
    sim = thrown(small(), dt=1e-2, solver=sp.DenseNewton(iterations=1))
    sim.run_steps(30)
    assert sim.stats.steps == sim.stats.unsolved == sim.stats.iterations == 30
    interpreted_ = thrown(interpreted(small()), dt=1e-2, solver=sp.DenseNewton(iterations=1))
    interpreted_.run_steps(30)
    assert interpreted_.stats == sim.stats


def test_best_effort_never_raises():
    """A spin that no step can follow stops the body where it was."""
    sim = thrown(small(), dt=0.1, solver=sp.DenseNewton(iterations=1))
    sim.spin, q, position = (900.0, 300.0, -400.0), sim.q, sim.position
    sim.step()
    assert sim.stats.stopped == 1
    assert not sim.v.any()
    assert not sim.spin.any()
    assert not sim.velocity.any()
    np.testing.assert_array_equal(sim.q, q)
    np.testing.assert_array_equal(sim.position, position)
    sim.run_steps(3)
    assert sim.stats.stopped == 1
    assert sim.time == pytest.approx(0.4)


def test_few_iterations_are_made_up_for_in_parts():
    sim = thrown(small(), dt=2e-2, solver=sp.DenseNewton(max_iterations=2))
    sim.run_steps(20)
    assert sim.stats.cut > 0
    assert sim.stats.unsolved == sim.stats.stopped == 0


# -- the pieces ------------------------------------------------------------------------------


def test_stiffness_of_rest_and_of_now_agree_for_small_wobbles():
    left = []
    for at in sp.StiffnessAt:
        sim = thrown(small(), strength=1e-5, damping=sp.Rayleigh(stiffness=2e-3, at=at))
        sim.spin = np.zeros(3)
        start = sim.q
        sim.run_steps(100)
        left.append(sim.q / np.linalg.norm(start))
    np.testing.assert_allclose(left[0], left[1], atol=1e-4)
    assert np.linalg.norm(left[0]) < 0.9


def test_damping_by_region_acts_as_one_number_where_all_have_it():
    mesh = small().mesh
    near = np.flatnonzero(mesh.vertices[mesh.cells].mean(axis=1)[:, 0] < 0.5)
    mesh = replace(mesh, regions={"near": near, "far": np.setdiff1d(np.arange(mesh.n_cells), near)})
    body = sp.Body(mesh, sp.StVK(young=2e5, poisson=0.3, density=1000))
    model = sp.reduce(body, sp.Basis(small().vectors[:4], np.ones(4)), regions=["near", "far"])
    beta = 2e-3
    flights = []
    for given in (beta, {"near": beta, "far": beta * (1 + 1e-12)}, {"near": beta, "far": 0.0}):
        sim = thrown(model, damping=sp.Rayleigh(stiffness=given))
        sim.run_steps(100)
        flights.append(sim.q)
    np.testing.assert_allclose(flights[0], flights[1], atol=1e-8)
    assert np.abs(flights[0] - flights[2]).max() > 1e-3


def test_truncated_inertia_is_that_of_the_truncated_basis():
    model = small()
    fewer = model.truncated(3)
    for name, array in FloatingInertia.of(model.body, model.vectors[:3]).arrays().items():
        np.testing.assert_allclose(fewer.floating.arrays()[name], array, atol=1e-12)
    thrown(fewer).run_steps(10)


def test_inertia_goes_through_arrays_unchanged():
    inertia = small().floating
    again = FloatingInertia.from_arrays(inertia.arrays())
    for name, array in inertia.arrays().items():
        np.testing.assert_array_equal(again.arrays()[name], array)
    one, other = thrown(small()), thrown(replace(small(), floating=again))
    one.run_steps(20)
    other.run_steps(20)
    np.testing.assert_array_equal(one.displacements(), other.displacements())


@pytest.mark.parametrize(
    "change",
    [
        {"moments": np.zeros((3, 2, 3, 3))},
        {"moments": np.zeros(5)},
        {"centre": np.full(3, np.nan)},
        {"mass": np.array(-1.0)},
        {"mass": np.zeros(3)},
        {"arms": np.zeros((4, 2))},
        {"arms": None},
    ],
)
def test_damaged_arrays_are_refused(change):
    arrays = small().floating.arrays() | change
    with pytest.raises(sp.InputError, match="make the model anew"):
        FloatingInertia.from_arrays({k: v for k, v in arrays.items() if v is not None})


def test_a_loaded_model_flies_bit_for_bit(tmp_path):
    model = small()
    model.save(tmp_path / "free.supple")
    ends = []
    for each in (model, sp.load_model(tmp_path / "free.supple")):
        flying = thrown(each)
        flying.run_steps(50)
        ends.append(np.concatenate([flying.q, flying.v, flying.spin, flying.position]))
    assert np.array_equal(*ends)


def test_an_edit_in_flight_is_a_model_made_anew():
    model = small()
    flying, anew = thrown(model), thrown(model.edited(young=3e5, poisson=0.2))
    flying.run_steps(20)
    for name in STATE:
        setattr(anew, name, getattr(flying, name))
    flying.edit(young=3e5, poisson=0.2)
    for simulation in (flying, anew):
        simulation.run_steps(50)
    assert np.allclose(flying.q, anew.q, rtol=1e-10, atol=1e-12)
    assert np.allclose(flying.spin, anew.spin, rtol=1e-10)


def test_the_density_of_all_can_be_edited_in_flight():
    body = bar()
    light = sp.Body(body.mesh, replace(body.material, density=250.0))
    basis = sp.modal_derivative_basis(body, modes=4, size=6)
    flying, anew = thrown(sp.reduce(body, basis)), thrown(sp.reduce(light, basis))
    flying.run_steps(20)
    for name in (*STATE, "velocity"):
        setattr(anew, name, getattr(flying, name))
    spin = flying.spin
    flying.edit(density=250.0)
    assert np.allclose(flying.spin, spin, rtol=1e-12)
    for simulation in (flying, anew):
        simulation.run_steps(50, force=flying.model.pull(0, (0.0, 5.0, 0.0)))
    for name in STATE:
        assert np.allclose(getattr(flying, name), getattr(anew, name), rtol=1e-8, atol=1e-10)


def test_the_density_of_a_part_of_a_free_body_stays():
    body = bar()
    half = body.mesh.with_region("half", body.mesh.cells_where(x=(0.0, 0.5)))
    free = sp.Body(half, body.material)
    model = sp.reduce(free, sp.modal_derivative_basis(free, modes=4, size=6), regions=["half"])
    refused("as a whole only", model.edited, "half", density=500.0)


@pytest.mark.parametrize("strength", [1e160, 1e200])
def test_a_load_that_fails_leaves_no_trace(strength):
    model = small()
    tried, calm = thrown(model), thrown(model)
    for simulation in (tried, calm):
        simulation.run_steps(5)
    with pytest.raises(sp.StepFailed):
        tried.step(force=model.pull(0, (0.0, 0.0, strength)))
    for simulation in (tried, calm):
        simulation.run_steps(20, force=model.pull(0, (0.0, 1.0, 0.0)))
    for name in STATE:
        assert np.array_equal(getattr(tried, name), getattr(calm, name))


def test_a_skin_moves_with_the_body():
    mesh = small().mesh
    embedding = sp.Embedding(mesh, mesh.boundary())
    sim = thrown(small().with_skin(embedding))
    sim.run_steps(50)
    out = np.empty_like(embedding.surface.vertices)
    assert sim.skin_vertices(out=out) is out
    np.testing.assert_allclose(out, embedding.deform(sim.displacements()), atol=1e-12)
    into = np.empty_like(mesh.vertices)
    assert sim.displacements(out=into) is into
    np.testing.assert_array_equal(into, sim.displacements())


def test_a_state_that_is_set_leaves_the_rest_as_it_is():
    sim = sp.FloatingSimulation(small())
    np.testing.assert_allclose(sim.position, [0.5, 0.15, 0.1], atol=1e-12)
    assert np.abs(sim.displacements()).max() < 1e-15
    sim.spin = SPIN
    sim.q, sim.v = wobble(sim.model)
    sim.rotation = rotation(2)
    np.testing.assert_allclose(sim.spin, SPIN, atol=1e-12)
    sim.time = 3.0
    sim.run_steps(4)
    assert sim.time == pytest.approx(3.004)
    with pytest.raises(ValueError, match="read-only"):
        sim.q[0] = 1.0


# -- bad input and failed steps --------------------------------------------------------------


def test_a_failed_step_leaves_the_state():
    sim = thrown(small())
    sim.run_steps(3)
    before = {name: getattr(sim, name) for name in STATE}
    sim.solver = sp.DenseNewton(tolerance=1e-60)
    with pytest.raises(sp.StepFailed, match="did not converge") as failure:
        sim.run_steps(10)
    assert failure.value.time == pytest.approx(0.004)
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(sim, name), value)
    sim.solver = EXACT
    sim.step()
    far = thrown(small())
    far.q = np.full(8, 1e150)
    refused("not finite", far.step, error=sp.StepFailed)


class Drifting(ImplicitIntegrator):
    """A rule in which velocities depend on displacements by more than their differences."""

    @property
    def order(self) -> int:
        return 1

    def stages(self, now, before, dt):
        yield Stage(now.time + dt, 1 / dt, now.u, 1 / dt**2, 0.9 * now.u + dt * now.v, now.u)


test_bad_options_are_refused = refusals(
    ({"dt": 0.0}, "dt=0.0"),
    ({"gravity": (0, 0)}, "gravity"),
    ({"damping": sp.Rayleigh(mass={"all": 1.0})}, "one number"),
    ({"damping": sp.Rayleigh(mass=[1.0, 2.0])}, "one number"),
    ({"damping": 3.0}, "Rayleigh"),
    ({"integrator": sp.RK4()}, "implicit"),
    ({"integrator": Drifting()}, "momentum drifts"),
    ({"solver": sp.Newton()}, "DenseNewton"),
    ({"model": "model"}, "reduce"),
    make=lambda options: sp.FloatingSimulation(**{"model": small()} | options),
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("q", np.zeros(3)),
        ("v", np.full(8, np.nan)),
        ("position", (0, 0)),
        ("velocity", (0, 0, np.inf)),
        ("spin", 3.0),
        ("rotation", 2 * np.eye(3)),
        ("rotation", np.diag([1.0, 1.0, -1.0])),
        ("time", "now"),
    ],
)
def test_bad_states_are_refused(name, value):
    refused(name, setattr, sp.FloatingSimulation(small()), name, value)


def test_bad_forces_and_models_are_refused():
    sim = sp.FloatingSimulation(small())
    refused("pull", sim.step, force=np.zeros(8))
    refused("3 coordinates", sim.step, force=small().truncated(3).pull(0, (1, 0, 0)))
    refused("steps", sim.run_steps, -1)
    refused("no skin", sim.skin_vertices)
    held = sp.Body(bar().mesh, bar().material, fixed=bar().mesh.where(x=0))
    with pytest.raises(sp.InputError, match="is held"):
        sp.FloatingSimulation(sp.reduce(held, sp.modal_derivative_basis(held, modes=2, size=3)))
    refused("moves the body rigidly", FloatingInertia.of, bar(), np.ones((1, bar().n_vertices, 3)))
