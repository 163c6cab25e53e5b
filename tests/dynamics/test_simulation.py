"""The Simulation object: the documented code, its state, its runs, what it refuses."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers import EXACT, killed, rotation, small_mesh, soft, stepped
from tests.refusals import refusals, refused

import supple as sp
from supple.bodies import assembly
from supple.integrators import INTEGRATORS

every_rule = pytest.mark.parametrize("rule", [r() for r in INTEGRATORS], ids=repr)
MESH = sp.TetMesh.box((0.4, 0.2, 0.2), (2, 1, 1))
N = MESH.n_vertices
DOWN = (0.0, 0.0, -9.81)
DAMPING = sp.Rayleigh(stiffness=1e-3)


def body(**options) -> sp.Body:
    return sp.Body(MESH, soft(sp.StVK), **({"fixed": MESH.where(x=0)} | options))


def simulation(rule: sp.Integrator | None = None, **options) -> sp.Simulation:
    defaults = {"dt": 2e-3, "gravity": DOWN, "solver": EXACT, "damping": DAMPING}
    return sp.Simulation(body(), integrator=rule, **(defaults | options))


def test_documented_code_runs():
    """The first block of docs and design, as written."""
    beam = sp.TetMesh.box(size=(1.0, 0.2, 0.2), cells=(20, 4, 4))
    body = sp.Body(beam, sp.StVK(young=1e6, poisson=0.4, density=1000), fixed=beam.where(x=0))
    sim = sp.Simulation(body, damping=sp.Rayleigh(mass=0.1, stiffness=1e-3),
                        integrator=sp.Bathe(), dt=1 / 60, gravity=(0, 0, -9.81))  # fmt: skip
    motion = sim.run(0.2)
    n, T = beam.n_vertices, 13
    assert motion.times.shape == motion.kinetic.shape == motion.elastic.shape == (T,)
    assert motion.dissipated.shape == (T,)
    assert motion.displacements.shape == (T, n, 3)
    np.testing.assert_allclose(motion.times, np.arange(T) / 60, rtol=1e-12)
    f = np.zeros((n, 3))
    f[beam.where(x=1.0), 2] = 5.0
    sim.step(force=f)
    u = sim.state.u
    assert u.shape == sim.state.v.shape == (n, 3)
    assert body.mass.shape == body.stiffness(u).shape == (3 * n, 3 * n)
    assert body.force(u).shape == (n, 3)
    assert body.energy(u) > 0
    assert sp.vibration_modes(body, 10).shapes.shape == (10, n, 3)
    assert sp.static_shape(body, forces=f).shape == (n, 3)


# -- state -----------------------------------------------------------------------------------


@every_rule
def test_state_set_by_assignment_or_in_place(rule):
    """Both ways, also in the middle of a run, and history of the old state is forgotten."""
    u, v = 1e-3 * np.random.default_rng(0).normal(size=(2, N, 3)) * body().free
    results = []
    for way in ("assign", "in place", "fresh"):
        sim = simulation(rule)
        if way != "fresh":
            stepped(sim, 2)
        if way == "in place":
            sim.state.u[:] = u
            sim.state.v[:] = v
        else:
            sim.state.u, sim.state.v = u, v
        stepped(sim, 3)
        results.append(sim.state.u.copy())
    for other in results[1:]:
        np.testing.assert_allclose(other, results[0], atol=1e-12)


def test_state_is_independent_of_the_caller():
    sim = simulation()
    u = np.zeros((N, 3))
    sim.state.u = u
    u[:] = 7.0
    assert not sim.state.u.any()
    sim.step()
    kept, before = sim.state.u, sim.state.u.copy()
    sim.step()
    np.testing.assert_array_equal(kept, before)


@pytest.mark.parametrize("name", ["u", "v"])
@pytest.mark.parametrize("bad", [np.zeros(3), np.full((N, 3), np.nan), "still", None], ids=range(4))
def test_bad_state_named(name, bad):
    refused(rf"\b{name}\b", setattr, simulation().state, name, bad)


@every_rule
def test_bad_state_set_in_place_stops_the_step(rule):
    sim = simulation(rule)
    sim.state.u[5, 1] = np.nan
    with pytest.raises((sp.InputError, sp.StepFailed), match=r"state\.u|finite"):
        sim.step()


# -- steps -----------------------------------------------------------------------------------


@every_rule
def test_constant_extra_force_equals_force_function(rule):
    push = body().surface_force(MESH.where(x=0.4), (10.0, 0, 20.0))
    one, two = simulation(rule), simulation(rule, force=lambda t: push)
    for dt in (2e-3, 1e-3, 2e-3, 3e-3):
        one.step(force=push, dt=dt)
        two.step(dt=dt)
    np.testing.assert_allclose(one.state.u, two.state.u, atol=1e-13)
    assert one.state.time == pytest.approx(8e-3)


@every_rule
def test_restart_of_the_clock_changes_nothing(rule):
    """Nothing depends on absolute time but what is given as a function of it."""
    results = []
    for start in (0.0, 100.0):
        sim = simulation(rule)
        sim.state.time = start
        stepped(sim, 5)
        results.append(sim.state.u)
    np.testing.assert_allclose(*results, atol=1e-12)


@pytest.mark.parametrize("attribute", ["gravity", "integrator", "dt", "force"])
def test_attributes_take_effect_or_refuse(attribute):
    """Changing a public attribute between steps is as good as having built it so."""
    values = {"gravity": (0.0, 5.0, 0.0), "integrator": sp.RK4(), "dt": 1e-3,
              "force": lambda t: np.ones((N, 3))}  # fmt: skip
    sim = simulation()
    sim.step()
    option = "rule" if attribute == "integrator" else attribute
    fresh = simulation(**{option: values[attribute]})
    fresh.state.u, fresh.state.v, fresh.state.time = sim.state.u, sim.state.v, sim.state.time
    try:
        setattr(sim, attribute, values[attribute])
    except AttributeError:
        return
    sim.step()
    fresh.step()
    np.testing.assert_allclose(sim.state.v, fresh.state.v, atol=1e-11)


def test_explicit_and_implicit_rules_take_turns():
    sim, reference = (simulation(sp.RK4(), dt=1e-4) for _ in range(2))
    for number in range(6):
        sim.integrator = sp.Trapezoidal() if number % 2 else sp.RK4()
        sim.step()
        reference.step()
    # Both are second order at least: local errors (ω dt)³ ≈ 1e-6.
    assert np.abs(sim.state.v - reference.state.v).max() <= 1e-5 * np.abs(reference.state.v).max()


def test_held_everywhere_stays():
    sim = sp.Simulation(body(fixed=np.arange(N)), gravity=DOWN)
    sim.step()
    assert not sim.state.u.any()


@pytest.mark.parametrize("mesh_name", ["tet", "quadratic", "distorted brick"])
def test_threads_do_not_change_the_motion(mesh_name, monkeypatch):
    """Also with regions and with damping that needs the product of the stiffness."""
    monkeypatch.setattr(assembly, "_CHUNK", 16)
    monkeypatch.setattr(assembly, "_SMALLEST_SHARE", 8)
    mesh = small_mesh(mesh_name)
    half = np.arange(mesh.n_cells) < mesh.n_cells // 2
    mesh = mesh.with_region("a", half).with_region("b", ~half)
    parts = {"a": soft(sp.StableNeoHookean), "b": soft(sp.StVK)}
    block = sp.Body(mesh, parts, fixed=[0, 1, 2, 3])
    damping = sp.Rayleigh(stiffness=np.linspace(0, 1e-3, mesh.n_cells))
    results = []
    try:
        for count in (1, 2, 3):
            sp.set_thread_count(count)
            assert len(assembly.chunks_by_thread(block.parts)) == count
            sim = sp.Simulation(block, damping=damping, dt=0.01, gravity=DOWN, solver=EXACT)
            results.append(sim.run(0.05).displacements)
    finally:
        sp.set_thread_count(0)
    for other in results[1:]:
        np.testing.assert_allclose(other, results[0], atol=1e-11)


def test_thread_count_may_change_between_steps():
    """A factorization analysed with two threads goes on with one, and back."""
    block = sp.TetMesh.box((1, 0.5, 0.5), (10, 5, 5))
    sim = sp.Simulation(sp.Body(block, soft(sp.StVK), fixed=block.where(x=0)), gravity=DOWN,
                        solver=sp.Newton(linear=sp.Cholesky()))  # fmt: skip
    reference = sp.Simulation(sim.body, gravity=DOWN, solver=sp.Newton(linear=sp.Cholesky()))
    try:
        sp.set_thread_count(1)
        stepped(reference, 4)
        for count in (2, 1, 2, 1):
            sp.set_thread_count(count)
            sim.step()
    finally:
        sp.set_thread_count(0)
    size = np.abs(reference.state.u).max()
    # Eight stages, each solved to 1e-6 of the forces at play.
    np.testing.assert_allclose(sim.state.u, reference.state.u, atol=8e-6 * size)


# -- runs ------------------------------------------------------------------------------------


@every_rule
def test_two_runs_equal_one(rule):
    one, two = simulation(rule), simulation(rule)
    whole = one.run(0.02)
    first, second = two.run(0.008), two.run(0.012)
    joined = np.concatenate([first.displacements, second.displacements[1:]])
    np.testing.assert_allclose(joined, whole.displacements, atol=1e-12)
    np.testing.assert_array_equal(second.displacements[0], first.displacements[-1])
    np.testing.assert_allclose(second.times, whole.times[4:], rtol=1e-12)
    np.testing.assert_allclose(second.dissipated[-1], whole.dissipated[-1], rtol=1e-9)


def test_run_records_every_few_steps_and_the_last():
    motion = simulation().run(0.02, every=4)
    np.testing.assert_allclose(motion.times, [0, 0.008, 0.016, 0.02], rtol=1e-12)
    seen = []
    simulation().run(0.006, progress=lambda *call: seen.append(call))
    assert [call[:2] for call in seen] == [(1, 3), (2, 3), (3, 3)]


@every_rule
@pytest.mark.parametrize("stop", [1, 4])
def test_resumed_run_equals_uninterrupted(rule, stop, tmp_path):
    """Killed after any step, the run goes on bit by bit as if nothing had happened."""
    whole = simulation(rule).run(0.02, record=tmp_path / "whole.motion")
    path = killed(simulation(rule), 0.02, tmp_path / "cut.motion", stop)
    resumed = simulation(rule)
    motion = resumed.run(0.02, record=path, resume=True)
    for name in ("displacements", "dissipated", "times"):
        np.testing.assert_array_equal(getattr(motion, name), getattr(whole, name))
    assert resumed.state.time == whole.times[-1]
    # Going on with a finished file changes nothing.
    same = simulation(rule).run(0.02, record=path, resume=True)
    np.testing.assert_array_equal(same.displacements, whole.displacements)


@every_rule
@pytest.mark.parametrize("every", [1, 3])
def test_extended_run_equals_one_that_was_as_long_from_the_start(rule, every, tmp_path):
    """A finished run goes on for longer, also where its last frame was between two others."""
    whole = simulation(rule).run(0.02, every=every, record=tmp_path / "whole.motion")
    path = tmp_path / "short.motion"
    simulation(rule).run(0.01, every=every, record=path)  # 5 steps
    extended = simulation(rule)
    motion = extended.run(0.02, every=every, record=path, resume=True)
    np.testing.assert_array_equal(motion.times, whole.times)
    np.testing.assert_array_equal(motion.displacements, whole.displacements)
    assert path.read_bytes() == (tmp_path / "whole.motion").read_bytes()
    assert extended.state.time == whole.times[-1]


def test_a_killed_extension_goes_on(tmp_path):
    make, path = partial(simulation, sp.BDF2()), tmp_path / "a.motion"
    make().run(0.02, every=3, record=tmp_path / "whole.motion")
    make().run(0.01, every=3, record=path)
    for stop in (6, 7, 9):
        killed(make(), 0.02, path, stop, every=3, resume=True)
    make().run(0.02, every=3, record=path, resume=True)
    assert path.read_bytes() == (tmp_path / "whole.motion").read_bytes()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"dt": 1e-3}, "time step"),
        ({"rule": sp.BackwardEuler()}, "integrator"),
        ({"every": 2}, "steps a frame"),
    ],
)
def test_resume_refuses_other_settings(change, named, tmp_path):
    """Going on with another step would stamp frames with wrong times."""
    path = killed(simulation(), 0.02, tmp_path / "cut.motion", 4)
    every = change.pop("every", 1)
    refused(named, simulation(**change).run, 0.02, every=every, record=path, resume=True)
    assert len(simulation().run(0.02, record=path, resume=True)) == 11


def test_failed_step_keeps_the_history():
    """A step with a force too large fails, and the next goes on as if it had not been tried."""
    newton = sp.Newton(max_iterations=3, linear=sp.Cholesky())
    sim, untried = (simulation(sp.BDF2(), solver=newton) for _ in range(2))
    for each in (sim, untried):
        stepped(each, 3)
    with pytest.raises(sp.StepFailed):
        sim.step(force=np.full((N, 3), 1e9))
    sim.step()
    untried.step()
    np.testing.assert_array_equal(sim.state.u, untried.state.u)


def test_resumed_run_with_default_solver(tmp_path):
    """A kept factor is not in the checkpoint, so solutions differ within Newton's tolerance."""
    make = partial(simulation, solver=None)
    whole = make().run(0.02)
    path = killed(make(), 0.02, tmp_path / "a.motion", 5)
    motion = make().run(0.02, record=path, resume=True)
    # Ten stages after the cut, 1e-6 of the forces each; they sum up at most.
    difference = np.abs(motion.displacements - whole.displacements).max()
    assert difference <= 10 * 1e-6 * np.abs(whole.displacements).max()


def test_resumed_run_with_moving_support_and_force(tmp_path):
    held = MESH.where(x=0)

    def make():
        moving = body(fixed=None, supports=[sp.Support.oscillating(held, (0, 0, 0.01), 5.0)])
        force = moving.surface_force(MESH.where(x=0.4), (0, 5.0, 0))
        return sp.Simulation(moving, integrator=sp.BDF2(), dt=2e-3, solver=EXACT,
                             force=lambda t: np.sin(30 * t) * force)  # fmt: skip

    whole = make().run(0.02)
    path = killed(make(), 0.02, tmp_path / "a.motion", 5)
    motion = make().run(0.02, record=path, resume=True)
    np.testing.assert_array_equal(motion.displacements, whole.displacements)


def test_frame_measures_the_body():
    sim = simulation()
    sim.state.u = (MESH.vertices @ (rotation(0) - np.eye(3)).T) * 0.01 * body().free
    sim.state.v = np.cross([1.0, 2.0, 3.0], MESH.vertices) * body().free
    frame, b = sim.frame(), sim.body
    x, p = MESH.vertices + sim.state.u, b.mass_times(sim.state.v)
    assert frame.kinetic == pytest.approx(0.5 * np.vdot(sim.state.v, p))
    assert frame.elastic == pytest.approx(b.energy(sim.state.u))
    assert frame.gravitational == pytest.approx(-np.vdot(b.weight(DOWN), x))
    np.testing.assert_allclose(frame.linear_momentum, p.sum(axis=0))
    np.testing.assert_allclose(frame.angular_momentum, np.cross(x, p).sum(axis=0))


# -- bad input -------------------------------------------------------------------------------


@given(dt=st.one_of(st.floats(max_value=0.0), st.just(float("nan")), st.just(float("inf")),
                    st.sampled_from(["fast", None, (1, 2), 1j])))  # fmt: skip
@settings(max_examples=25, deadline=None)
def test_bad_time_steps_named(dt):
    refused("dt", sp.Simulation, body(), dt=dt)
    if dt is not None:
        refused("dt", simulation().step, dt=dt)


test_bad_input_names_the_argument = refusals(
    (lambda: sp.Simulation("beam"), "body"),
    (lambda: sp.Simulation(MESH), "body"),
    (lambda: simulation(damping=5), "damping"),
    (lambda: simulation(damping=["soft"]), "damping"),
    (lambda: simulation(damping=sp.Rayleigh), "damping"),
    (lambda: simulation(sp.TRBDF2), "integrator"),
    (lambda: simulation("bathe"), "integrator"),
    (lambda: simulation(solver="newton"), "solver"),
    (lambda: simulation(solver=sp.Cholesky()), "solver"),
    (lambda: simulation(gravity=(0, 9.81)), "gravity"),
    (lambda: simulation(gravity=9.81), "gravity"),
    (lambda: simulation(gravity="down"), "gravity"),
    (lambda: simulation(gravity=(0, 0, np.nan)), "gravity"),
    (lambda: simulation(force=3.0), "force"),
    (lambda: simulation(force=lambda t: np.zeros(3)).step(), "force"),
    (lambda: simulation(force=lambda t: np.full((N, 3), np.nan)).step(), "force"),
    (lambda: simulation().step(force=np.zeros(3)), "force"),
    (lambda: simulation().step(force=np.full((N, 3), np.inf)), "force"),
    (lambda: simulation().step(force="hard"), "force"),
    (lambda: simulation().run(-1.0), "duration"),
    (lambda: simulation().run(np.nan), "duration"),
    (lambda: simulation().run("long"), "duration"),
    (lambda: simulation().run(0.01, every=0), "every"),
    (lambda: simulation().run(0.01, every=1.5), "every"),
    (lambda: simulation().run(0.01, resume=True), "record"),
)


def test_unstable_explicit_rule_is_named_as_the_cause():
    """The state was sound; it is the step that is too long."""
    sim = simulation(sp.RK4(), dt=0.2)
    refused("explicit integrator is unstable", sim.run, 20.0, error=sp.StepFailed)


def test_mask_of_integers_refused():
    """0 and 1 would be read as two vertices."""
    mask = np.zeros(N, dtype=int)
    mask[MESH.where(x=0)] = 1
    refused("boolean", sp.Body, MESH, soft(sp.StVK), fixed=mask)


def test_failure_with_current_damping_names_the_way_out():
    sim = simulation(solver=sp.Newton(max_iterations=1, tolerance=1e-14))
    refused(r"StiffnessAt\.REST", sim.step, force=np.full((N, 3), 1e3), error=sp.StepFailed)
