"""Changes between two steps of reduced simulations, and moments that are gone back to."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from tests.reduction.conftest import TIGHT, every_rule
from tests.reduction.runtime.floating_bodies import small
from tests.refusals import refused

import supple as sp

KINDS = ("alone", "examples", "regions", "crowd", "free")
every_kind = pytest.mark.parametrize("kind", KINDS)


def simulation(kind: str, model: sp.ReducedModel, **options: Any) -> Any:
    """One of each kind, in motion."""
    options = {"integrator": sp.TRBDF2(), "dt": 2e-3, "gravity": (0.0, 0.0, -9.81)} | options
    if kind == "free":
        sim = small().simulation(damping=sp.Rayleigh(mass=0.3, stiffness=1e-3), **options)
        sim.spin, sim.velocity = (3.0, 1.0, -2.0), (1.0, 0.0, 2.0)
        sim.q = 1e-3 * np.arange(1, sim.model.size + 1)
        return sim
    dampings: dict[str, Any] = {
        "alone": sp.Rayleigh(mass=0.2, stiffness=1e-3),
        "crowd": sp.Rayleigh(mass=0.2, stiffness=1e-3),
        "regions": sp.Rayleigh(mass=0.2, stiffness={"far": 2e-3}),
        "examples": sp.ExampleDamping(
            sp.Rayleigh(mass=0.2, stiffness=1e-3),
            [sp.Example(model.vectors[0], curve=sp.Curve([(0.0, 5.0), (1.0, 0.2)]))],
        ),
    }
    given = {"damping": dampings[kind]} | options
    if kind == "crowd":
        sim = model.simulation(copies=3, **given)
        sim.q = 1e-2 * np.arange(3 * model.size).reshape(3, -1) / model.size
        return sim
    sim = model.simulation(**given)
    sim.q = 1e-2 * np.arange(model.size)
    return sim


def where(sim: Any) -> bytes:
    parts = [sim.q, sim.v, np.array(sim.time)]
    if hasattr(sim, "position"):
        parts += [sim.position, sim.rotation, sim.velocity, sim.spin]
    return b"".join(part.tobytes() for part in parts)


@pytest.fixture
def model(beam, basis):
    return sp.reduce(beam, basis, regions=["far"])


class TestSnapshots:
    @every_rule
    @every_kind
    def test_the_motion_after_it_is_the_same_again(self, model, kind, rule):
        sim, untouched = (simulation(kind, model, integrator=rule()) for _ in range(2))
        for each in (sim, untouched):
            each.run_steps(7)
        kept = sim.snapshot()
        for each in (sim, untouched):
            each.run_steps(5)
        assert where(sim) == where(untouched)  # taking one changes nothing
        for _ in range(3):
            sim.restore(kept)
            sim.run_steps(5)
            assert where(sim) == where(untouched)

    @every_kind
    def test_in_another_simulation(self, model, kind):
        sim = simulation(kind, model)
        sim.run_steps(7)
        kept = sim.snapshot()
        other = simulation(kind, model)
        other.restore(kept)
        assert where(other) == where(sim)
        for each in (sim, other):
            each.run_steps(5)
        assert where(sim) == where(other)

    @every_kind
    def test_settings_come_back(self, model, kind):
        sim, steady = (simulation(kind, model) for _ in range(2))
        kept = [sim.snapshot()]
        sim.dt, sim.integrator, sim.gravity = 1e-3, sp.BackwardEuler(), (1.0, 2.0, 3.0)
        sim.edit(young=3e5)
        sim.damping = None
        sim.run_steps(3)
        kept.append(sim.snapshot())
        sim.restore(kept[0])
        for each in (sim, steady):
            each.run_steps(4)
        assert where(sim) == where(steady)
        assert (sim.dt, sim.integrator) == (2e-3, sp.TRBDF2())
        sim.restore(kept[1])
        assert (sim.dt, sim.integrator, sim.damping) == (1e-3, sp.BackwardEuler(), None)

    @every_rule
    @every_kind
    def test_of_a_rule_with_fewer_or_more_stages(self, model, kind, rule):
        """Rules need room of their own; going back to one, or taking its snapshot elsewhere."""
        sim, steady = (simulation(kind, model, integrator=sp.BackwardEuler()) for _ in range(2))
        for each in (sim, steady):
            each.run_steps(3)
        one = sim.snapshot()
        sim.integrator = rule()
        sim.run_steps(3)
        other, there = sim.snapshot(), where(sim)
        sim.restore(one)
        for each in (sim, steady):
            each.run_steps(4)
        assert where(sim) == where(steady)
        steady.restore(other)
        assert where(steady) == there

    def test_between_steps_of_their_own_length(self, model):
        lengths = 1e-3 * np.random.default_rng(0).uniform(0.5, 2.0, size=6)
        ends = []
        sim = simulation("alone", model, integrator=sp.BDF2())
        sim.step(dt=3e-3)
        kept = sim.snapshot()
        for _ in range(2):
            for dt in lengths:
                sim.step(dt=dt)
            sim.run_steps(2)
            ends.append(where(sim))
            sim.restore(kept)
        assert ends[0] == ends[1]

    def test_written_over(self, model):
        sim = simulation("alone", model)
        room = sim.snapshot()
        sim.run_steps(4)
        there = where(sim)
        assert sim.snapshot(out=room) is room
        sim.run_steps(4)
        sim.restore(room)
        assert where(sim) == there

    def test_many_at_once(self, model):
        """A search: every one of several moments goes on as if the others were not."""
        sim = simulation("alone", model)
        moments, ends = [], []
        for _ in range(4):
            moments.append(sim.snapshot())
            sim.run_steps(3)
            ends.append(where(sim))
        for moment, end in reversed(list(zip(moments, ends, strict=True))):
            sim.restore(moment)
            sim.run_steps(3)
            assert where(sim) == end

    def test_of_something_else(self, model):
        kept = {kind: simulation(kind, model).snapshot() for kind in ("alone", "crowd", "free")}
        refused("of a CrowdSimulation", simulation("alone", model).restore, kept["crowd"])
        refused("of a ReducedSimulation", simulation("crowd", model).restore, kept["alone"])
        refused("snapshot", simulation("alone", model).restore, "yesterday")
        refused("set-up", model.simulation(copies=5).restore, kept["crowd"])
        mesh = sp.TetMesh.box(size=(1, 1, 2), cells=(1, 1, 2))
        body = sp.Body(mesh, sp.StVK(young=1e5, poisson=0.3), fixed=mesh.where(z=0))
        other = sp.reduce(body, sp.modal_derivative_basis(body, modes=3, size=6))
        refused("another body", other.simulation().restore, kept["alone"])


class TestCopies:
    @every_kind
    @pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy], ids=["copy", "deepcopy"])
    def test_are_independent_and_exact(self, model, kind, copied):
        sim = simulation(kind, model)
        sim.run_steps(5)
        other = copied(sim)
        assert other.model is sim.model
        before = where(sim)
        other.run_steps(5)
        assert where(sim) == before
        sim.run_steps(5)
        assert where(sim) == where(other)
        other.q = 0.0 * other.q
        assert np.abs(sim.q).max() > 0

    def test_pickled(self, model):
        sim = simulation("alone", model)
        sim.run_steps(5)
        other = pickle.loads(pickle.dumps(sim))
        for each in (sim, other):
            each.run_steps(5)
        assert where(sim) == where(other)


class TestWhatCanBeSet:
    @every_kind
    def test_a_word_for_what_cannot(self, model, kind):
        sim = simulation(kind, model)
        refused("did you mean gravity", setattr, sim, "gravty", (0, 0, 1))
        refused("no whatever", setattr, sim, "whatever", 1)
        for bad in (0.0, -1.0, np.nan, "long"):
            refused("dt", setattr, sim, "dt", bad)
        refused("integrator", setattr, sim, "integrator", sp.RK4())
        refused("solver", setattr, sim, "solver", sp.Newton())
        sim.step()

    def test_of_a_crowd(self, model):
        refused("start another crowd", setattr, simulation("crowd", model), "copies", 7)
        refused("cannot be set", setattr, simulation("alone", model), "kinetic", 1.0)

    @every_kind
    def test_a_refused_rule_changes_nothing(self, model, kind):
        sim, other = (simulation(kind, model) for _ in range(2))
        refused("integrator", setattr, sim, "integrator", sp.RK4())
        for each in (sim, other):
            each.run_steps(3)
        assert where(sim) == where(other)


class TestSteps:
    @every_rule
    @pytest.mark.parametrize("kind", ["alone", "crowd", "free"])
    def test_of_random_lengths_keep_the_order(self, model, kind, rule):
        duration = 0.05

        def end(count: int, random: bool = True) -> np.ndarray:
            rng = np.random.default_rng(4)
            parts = np.repeat(rng.uniform(0.4, 1.6, size=16), count // 16)
            spread = parts * (1 + 0.3 * np.sin(np.arange(count)))
            lengths = (
                duration * spread / spread.sum() if random else np.full(count, duration / count)
            )
            sim = simulation(kind, model, integrator=rule(), solver=TIGHT, dt=duration / count)
            sim.q = 0.3 * sim.q
            for dt in lengths:
                sim.step(dt=float(dt))
            assert sim.time == pytest.approx(duration)
            return np.concatenate([sim.q.ravel(), sim.v.ravel()])

        gain = 2 ** rule().order
        fine = 1024
        reference = (gain * end(2 * fine, False) - end(fine, False)) / (gain - 1)
        errors = [np.linalg.norm(end(count) - reference) for count in (64, 128)]
        assert np.log2(errors[0] / errors[1]) > rule().order - 0.3

    @every_kind
    def test_a_length_that_was_set_is_one_that_was_given(self, model, kind):
        one, other = (simulation(kind, model, integrator=sp.BDF2()) for _ in range(2))
        for each in (one, other):
            each.run_steps(3)
        one.dt = 1e-3
        for _ in range(4):
            one.step()
            other.step(dt=1e-3)
        assert where(one) == where(other)
        assert one.time == pytest.approx(3 * 2e-3 + 4e-3)
        assert (one.dt, other.dt) == (1e-3, 2e-3)

    def test_in_a_run(self, model):
        sim = simulation("alone", model)
        motion = sim.run(0.01, dt=1e-3)
        assert len(motion) == 11
        assert sim.dt == 2e-3
        other = simulation("alone", model, dt=1e-3)
        assert np.array_equal(other.run(0.01).displacements, motion.displacements)

    @every_rule
    @every_kind
    def test_another_rule_from_now_on(self, model, kind, rule):
        """The rule that was before leaves nothing but the state behind."""
        sim = simulation(kind, model, integrator=sp.BackwardEuler(), solver=TIGHT)
        sim.run_steps(4)
        other = simulation(kind, model, integrator=rule(), solver=TIGHT)
        other.q, other.v, other.time = sim.q, sim.v, sim.time
        if kind == "free":
            other.rotation, other.position = sim.rotation, sim.position
            other.velocity, other.spin = sim.velocity, sim.spin
        sim.integrator = rule()
        for each in (sim, other):
            each.run_steps(6)
        assert np.allclose(sim.q, other.q, rtol=0, atol=1e-8 * np.abs(other.q).max())
        assert sim.time == pytest.approx(other.time)

    def test_a_step_that_fails_can_be_taken_shorter(self, model, tip):
        sim = model.simulation(dt=0.5, solver=sp.DenseNewton(max_iterations=2))
        pull = model.pull(tip, (0.0, 0.0, 5e4))
        with pytest.raises(sp.StepFailed):
            sim.step(force=np.full(model.size, 1e300))
        assert sim.time == 0.0
        sim.step(force=pull, dt=1e-6)
        assert sim.time == 1e-6


class TestDetail:
    @pytest.mark.parametrize("copies", [None, 3])
    def test_down_and_up(self, model, copies):
        sim = model.simulation(copies=copies, dt=2e-3, integrator=sp.TRBDF2())
        rng = np.random.default_rng(5)
        q, v = rng.normal(size=(2, model.size) if copies is None else (2, copies, model.size)) / 50
        sim.q, sim.v = q, v
        fewer = model.detail(6)
        sim.model = fewer
        assert sim.q.shape[-1] == 6
        kept_q, kept_v = sim.q, sim.v
        # the kinetic energy that is lost is that of what was projected out, and no more
        whole = 0.5 * np.einsum("...i,ij,...j->...", v, model.mass, v)
        left = 0.5 * np.einsum("...i,ij,...j->...", kept_v, fewer.mass, kept_v)
        sim.model = model
        out = v - sim.v
        lost = 0.5 * np.einsum("...i,ij,...j->...", out, model.mass, out)
        assert np.allclose(whole - left, lost, rtol=1e-9)
        sim.model = fewer
        assert np.allclose(sim.q, kept_q, rtol=1e-10, atol=1e-14)
        assert np.allclose(sim.v, kept_v, rtol=1e-10, atol=1e-14)
        sim.run_steps(5)

    def test_small_vibrations_go_on(self, model):
        """A motion in slow vibrations is the same at both levels, and across a switch."""
        ends = []
        for switch in (False, True):
            sim = model.simulation(dt=1e-3, solver=TIGHT)
            sim.q = 1e-6 * model.vibrations[1][:, :3].sum(axis=1)
            sim.run_steps(20)
            if switch:
                sim.model = model.detail(4)
                sim.run_steps(20)
                sim.model = model
            else:
                sim.run_steps(20)
            ends.append(sim.q)
        assert np.abs(ends[0] - ends[1]).max() < 1e-4 * np.abs(ends[0]).max()

    def test_of_a_free_body(self):
        sim = simulation("free", small())
        momentum, spin = sim.angular_momentum, sim.spin_momentum
        sim.model = sim.model.detail(2)
        assert np.array_equal(sim.angular_momentum, momentum)
        assert np.array_equal(sim.spin_momentum, spin)
        sim.run_steps(3)

    def test_with_a_force_and_examples(self, model, tip):
        sim = simulation("examples", model)
        sim.run_steps(3)
        sim.model = fewer = model.detail(9)
        sim.step(force=fewer.pull(tip, (0.0, 0.0, 1.0)))
        refused("force", sim.step, force=model.pull(tip, (0.0, 0.0, 1.0)))
