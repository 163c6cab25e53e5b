"""Reduced models in motion: against the full simulation, and against themselves."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tests.reduction.conftest import TIGHT, every_rule, relative, two_part_beam
from tests.refusals import refused

import supple as sp
from supple._kernels.reduction.newton import Balance, correct
from supple.reduction import polynomial


class TestSteps:
    @every_rule
    def test_many_steps_are_single_steps(self, model, tip, rule):
        pull = model.pull(tip, (0, 0, -3.0))
        together = model.simulation(integrator=rule(), gravity=(0, 0, -1))
        alone = model.simulation(integrator=rule(), gravity=(0, 0, -1))
        for force in (pull, None, -pull):
            together.run_steps(20, force=force)
            for _ in range(20):
                alone.step(force=force)
        assert np.array_equal(together.q, alone.q)
        assert np.array_equal(together.v, alone.v)

    @every_rule
    @pytest.mark.parametrize("by_region", [False, True])
    def test_sampled_forces_keep_the_order(self, model, tip, rule, by_region):
        """A force of time given at the ends of steps; with damping by region, in Python."""
        beta = {"far": 2e-3} if by_region else 2e-3
        pull = model.pull(tip, (0.0, 2.0, -5.0))
        duration, steps = 0.2, (100, 200)

        def end(count: int) -> np.ndarray:
            times = np.arange(1, count + 1) * duration / count
            live = model.simulation(
                dt=duration / count,
                integrator=rule(),
                damping=sp.Rayleigh(stiffness=beta),
                solver=TIGHT,
            )
            live.run_steps(count, force=np.sin(15 * times)[:, None] * pull)
            return np.concatenate([live.q, live.v])

        gain, fine = 2 ** rule().order, 8 * steps[1]
        reference = (gain * end(2 * fine) - end(fine)) / (gain - 1)
        errors = [np.linalg.norm(end(count) - reference) for count in steps]
        assert np.log2(errors[0] / errors[1]) == pytest.approx(rule().order, abs=0.2)

    def test_layouts_move_alike(self, beam, basis, tip, monkeypatch):
        ends = []
        for limit in (0, 1000):
            monkeypatch.setattr(polynomial, "PAIRED_SIZE", limit)
            model = sp.reduce(beam, basis)
            live = model.simulation(dt=1 / 100, solver=TIGHT)
            live.run_steps(100, force=model.pull(tip, (0, 0, -5.0)))
            ends.append(live.q)
        assert relative(*ends) < 1e-8

    @pytest.mark.parametrize("rule", [sp.Newmark, sp.TRBDF2, sp.BDF2, sp.BackwardEuler])
    @pytest.mark.parametrize("solver", [sp.DenseNewton(), sp.DenseNewton(iterations=1)])
    def test_order_of_accuracy(self, model, rule, solver):
        """One Newton iteration keeps the order, too (App. C)."""
        start = 0.2 * np.eye(model.size)[0]
        damping = sp.Rayleigh(mass=0.2, stiffness=5e-3)

        def end(dt: float, solver: sp.DenseNewton) -> np.ndarray:
            live = model.simulation(damping=damping, integrator=rule(), dt=dt, solver=solver)
            live.q = start
            live.run_steps(round(0.4 / dt))
            return np.concatenate([live.q, live.v])

        fine, finer = end(0.4 / 51200, TIGHT), end(0.4 / 102400, TIGHT)
        gain = 2 ** rule().order
        reference = (gain * finer - fine) / (gain - 1)  # Richardson's extrapolation
        # one iteration has more to lose at long steps, many stop at their tolerance at short ones
        counts = (6400, 12800) if solver.max_iterations == 1 else (1600, 3200)
        errors = [np.linalg.norm(end(0.4 / n, solver) - reference) for n in counts]
        assert np.log2(errors[0] / errors[1]) == pytest.approx(rule().order, abs=0.15)

    @every_rule
    @pytest.mark.parametrize("iterations", [1, 20])
    @pytest.mark.parametrize("copies", [None, 2])
    def test_bodies_that_are_stiff_for_the_step(self, tip, rule, iterations, copies):
        """A thousand times as fast as the step: a pull must give about its static shape."""
        body = two_part_beam(sp.StVK(young=2e11, poisson=0.3, density=7800))
        model = sp.reduce(body, sp.modal_derivative_basis(body, modes=5, size=12))
        push = body.point_force([tip], (0.0, 0.0, -7e6))
        static = np.abs(sp.static_shape(body, push)).max()
        live = model.simulation(
            copies=copies,
            dt=0.01,
            integrator=rule(),
            damping=sp.Rayleigh(stiffness=1e-3),
            solver=sp.DenseNewton(max_iterations=iterations),
        )
        live.run_steps(200, force=model.project(push))
        moved = live.displacements() if copies is None else live.displacements(1)
        assert 0.02 < static < 0.1
        assert np.abs(moved).max() == pytest.approx(static, rel=0.1)

    def test_energy_stays_without_damping(self, model):
        live = model.simulation(integrator=sp.Trapezoidal(), dt=5e-4, solver=TIGHT)
        live.q = 0.2 * np.eye(model.size)[0]
        start = live.elastic
        totals = []
        for _ in range(40):
            live.run_steps(100)
            totals.append(live.kinetic + live.elastic)
        assert np.allclose(totals, start, rtol=2e-3)

    def test_energy_falls_with_damping(self, model):
        live = model.simulation(damping=sp.Rayleigh(mass=0.1, stiffness=2e-3))
        live.q = 0.2 * np.eye(model.size)[0]
        totals = [live.elastic]
        for _ in range(40):
            live.run_steps(25)
            totals.append(live.kinetic + live.elastic)
        assert (np.diff(totals) < 0).all()

    def test_comes_to_rest_at_the_static_shape(self, beam, complete, tip):
        push = beam.point_force([tip], (0.0, 0.0, -4.0))
        damping = sp.Rayleigh(mass=8.0, stiffness=0.05)
        live = complete.simulation(damping=damping, dt=0.05, integrator=sp.BackwardEuler())
        live.run_steps(2000, force=complete.project(push))
        assert relative(live.displacements(), sp.static_shape(beam, push)) < 1e-6

    @pytest.mark.parametrize("limit", [0, 1000], ids=["nested", "paired"])
    def test_simulations_of_one_model_in_threads(self, beam, basis, tip, limit, monkeypatch):
        monkeypatch.setattr(polynomial, "PAIRED_SIZE", limit)
        model = sp.reduce(beam, basis)

        def end(strength: float) -> np.ndarray:
            live = model.simulation()
            live.run_steps(3000, force=model.pull(tip, (0, 0, strength)))
            return live.q

        strengths = [-4.0, -1.0, 2.0, 5.0]
        alone = [end(strength) for strength in strengths]
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(end, strengths))
        assert np.array_equal(alone, together)

    @every_rule
    @pytest.mark.parametrize(("copies", "dtype"), [(None, None), (2, np.float64), (2, np.float32)])
    def test_a_body_at_rest_stays(self, model, rule, copies, dtype):
        """Also with tiny steps, where weights of 1/dt² meet rounded displacements."""
        options = {} if copies is None else {"copies": copies, "dtype": dtype}
        loads = {"gravity": (0, 0, -2.0), "damping": sp.Rayleigh(mass=20.0, stiffness=0.05)}
        settling = model.simulation(**loads, dt=0.05, integrator=sp.BackwardEuler())
        settling.run_steps(1000)
        live = model.simulation(**options, **loads, dt=1e-5, integrator=rule())
        live.q = settling.q
        live.run_steps(2000)
        bound = 1e-5 if dtype is np.float32 else 1e-12
        assert np.abs(live.q - settling.q).max() < bound * np.abs(settling.q).max()

    @pytest.mark.parametrize("copies", [None, 2])
    def test_motion_that_dies_away_ends_quietly(self, model, copies):
        live = model.simulation(
            copies=copies, damping=sp.Rayleigh(mass=300.0), dt=0.02, integrator=sp.TRBDF2()
        )
        live.v = np.full(model.size, 1e-290)  # numbers this small have few digits left
        live.run_steps(500)
        assert np.abs(live.q).max() < 1e-280

    def test_no_steps_change_nothing(self, model):
        live = model.simulation(gravity=(0, 0, -9.81))
        live.run_steps(0)
        assert live.time == 0.0
        assert not live.q.any()

    def test_state_is_not_shared(self, model):
        live = model.simulation(gravity=(0, 0, -9.81))
        live.step()
        for array in (live.q, live.v, model.simulation(copies=2).q):
            with pytest.raises(ValueError, match="read-only"):
                array[:] = 1.0
        other = model.simulation(gravity=(0, 0, -9.81))
        other.q, other.v, other.time = live.q, live.v, 3.0
        other.step()
        assert other.time == pytest.approx(3.001)

    def test_steps_leave_no_memory_behind(self, model, tip):
        live = model.simulation(damping=sp.Rayleigh(stiffness=1e-3))
        force, room = np.empty(model.size), np.empty_like(model.mesh.vertices)
        pull = np.array([0.0, 0.0, -1.0])

        def frame() -> None:
            for _ in range(10):
                live.step(force=model.pull(tip, pull, out=force))
            live.displacements(out=room)

        for _ in range(60):  # until what is kept for use again has grown to its size
            frame()
        gc.collect()
        blocks = sys.getallocatedblocks()
        for _ in range(300):
            frame()
        gc.collect()
        assert sys.getallocatedblocks() - blocks < 600  # of 3,000 steps
        tracemalloc.start()
        try:
            frame()
            before = tracemalloc.get_traced_memory()[0]
            tracemalloc.reset_peak()
            frame()
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak - before < 16384


class TestFailures:
    def test_a_failed_step_leaves_the_state(self, model):
        live = model.simulation(dt=0.02)
        live.q = 0.3 * np.eye(model.size)[0]
        q, v = live.q, live.v
        with pytest.raises(sp.StepFailed, match="cut into up to 1024") as failure:
            live.run_steps(5, force=np.full(model.size, 1e300))
        assert failure.value.time == pytest.approx(0.02)
        assert np.array_equal(live.q, q)
        assert np.array_equal(live.v, v)
        assert live.time == 0.0

    def test_infinite_forces(self, model):
        live = model.simulation()
        live.run_steps(3)
        refused("not finite", live.step, force=np.full(model.size, 1e308), error=sp.StepFailed)
        assert live.time == pytest.approx(0.003)
        assert np.isfinite(live.q).all()
        live.run_steps(3)

    @pytest.mark.parametrize("copies", [None, 3])
    def test_a_failed_force_leaves_no_trace(self, model, copies):
        live = model.simulation(copies=copies)
        with pytest.raises(sp.StepFailed):
            live.step(force=np.full(model.size, 1e200))
        live.step()  # at rest and without a force
        assert not live.q.any()

    def test_huge_coordinates(self, model):
        live = model.simulation()
        live.q = np.full(model.size, 1e200)
        refused("at the start of the step", live.step, error=sp.StepFailed)

    def test_indefinite_matrices_are_shifted(self):
        """A pressed StVK body has a negative stiffness; a large step must still be solvable."""
        K, x = np.diag([1.0, -5.0, 2.0]), np.ones(3)
        matrices = dict.fromkeys(("C0", "B", "A"), (3, 3)) | {"grams": (0, 0, 0), "line": (4,)}
        room = {name: np.zeros(matrices.get(name, (3,))) for name in Balance._fields}
        balance = Balance(**(room | {"K": K, "R": K @ x, "x": x, "M": np.eye(3)}))
        size = correct(balance, 0.0, 1.0, False, True)
        assert 0 < size < np.inf
        assert np.isfinite(x).all()

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"dt": 0.0}, "dt=0.0"),
            ({"integrator": sp.RK4()}, "implicit rule"),
            ({"damping": 0.1}, "Rayleigh"),
            ({"damping": sp.Rayleigh(stiffness=np.ones(21))}, "21"),
            ({"damping": sp.Rayleigh(mass={"elsewhere": 1.0})}, "elsewhere"),
            ({"solver": 3}, "DenseNewton"),
            ({"gravity": (1, 2)}, "gravity"),
            ({"copies": 0}, "copies=0"),
        ],
    )
    def test_bad_options(self, model, options, message):
        refused(message, model.simulation, **options)

    def test_bad_steps(self, model):
        live = model.simulation()
        for force in (np.zeros(3), np.full(model.size, np.nan), "push"):
            refused("force", live.step, force=force)
        refused("steps", live.run_steps, -1)
        refused("force", live.run_steps, 4, force=np.zeros((3, model.size)))
        refused("max_iterations", sp.DenseNewton, max_iterations=0)


class TestOptionsWhileItRuns:
    @pytest.mark.parametrize("copies", [None, 2])
    def test_gravity_and_damping_can_change(self, model, copies):
        changed = model.simulation(copies=copies)
        changed.gravity = (0, 0, -9.81)
        changed.damping = sp.Rayleigh(mass=2.0)
        anew = model.simulation(copies=copies, gravity=(0, 0, -9.81), damping=sp.Rayleigh(mass=2.0))
        for live in (changed, anew):
            live.run_steps(50)
        assert np.array_equal(changed.q, anew.q)
        assert np.abs(changed.q).max() > 0

    def test_a_bad_damping_changes_nothing(self, model):
        live = model.simulation(damping=sp.Rayleigh(mass=2.0))
        refused("elsewhere", setattr, live, "damping", sp.Rayleigh(mass={"elsewhere": 1.0}))
        assert live.damping == sp.Rayleigh(mass=2.0)

    @pytest.mark.parametrize("copies", [None, 2])
    def test_models_that_do_not_fit(self, beam, model, copies):
        body = sp.Body(beam.mesh, beam.material)
        free = sp.reduce(body, sp.modal_derivative_basis(body, modes=4, size=model.size))
        live = model.simulation(copies=copies)
        refused("body that is free", setattr, live, "model", free)
        refused("body that is free", sp.ReducedSimulation, free)
        refused("body that is held", setattr, free.simulation(), "model", model)
        live.step()
