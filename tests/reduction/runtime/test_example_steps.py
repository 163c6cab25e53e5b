"""Reduced models damped by example, in motion: against full space, and in time."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from tests.reduction.conftest import every_cell, interpreted, pushed, relative
from tests.reduction.example_dampings import (
    BASE,
    BASES,
    FALLING,
    RISING,
    RULES,
    TIGHT,
    base_matrix,
    examples,
    full_damping,
    printed,
)
from tests.refusals import refused

import supple as sp
from supple.bodies.shape import Shape
from supple.damping import Curve, Example, ExampleDamping, Measure
from supple.reduction.damping.rules import reduced_damping


class TestSteps:
    @pytest.mark.parametrize("symmetric", [False, True])
    @pytest.mark.parametrize("rule", RULES)
    @pytest.mark.parametrize("base", ["current", "rest", "caughey"])
    def test_compiled_and_interpreted_agree(self, model, tip, base, rule, symmetric):
        damping = full_damping(model, BASES[base], symmetric=symmetric)
        options = {"damping": damping, "dt": 1 / 60, "integrator": rule(), "solver": TIGHT}
        pull = model.pull(tip, (0.0, 10.0, -20.0))
        fast = model.simulation(**options)
        slow = interpreted(model).simulation(**options)
        q_fast, v_fast = fast.trace(15, force=pull)
        q_slow, v_slow = slow.trace(15, force=pull)
        assert relative(q_fast, q_slow) < 1e-10
        assert relative(v_fast, v_slow) < 1e-10
        plain = model.simulation(**options | {"damping": BASES[base]}).trace(15, force=pull)[0]
        assert relative(q_fast, plain) > 1e-2

    def test_a_step_balances_the_printed_forces(self, model):
        """Each backward Euler step solves M (v − v₀)/h + Ĉ(q, v) v + R(q) = 0."""
        h = 1 / 60
        damping = full_damping(model, BASE)
        X = np.array([model.coordinates(e.shape) for e in damping.examples])
        D = np.linalg.solve(X @ model.mass @ X.T, X @ model.mass)
        about = model.coordinates(damping.about)
        live = model.simulation(damping=damping, dt=h, integrator=sp.BackwardEuler(), solver=TIGHT)
        live.q = model.coordinates(damping.examples[0].shape) * 1.2
        before = 0 * live.q
        for q, v in zip(*(x[1:] for x in live.trace(20)), strict=True):
            u = q - about
            gamma = [RISING(D[0] @ u), damping.curves[1](D[1] @ v), 3.0]
            C = printed(base_matrix(BASE, model, q), X, np.array(gamma), False)
            g = damping.overall(np.sqrt(u @ model.mass @ u / model.total_mass))
            terms = [model.mass @ (v - before) / h, g * C @ v, model.force(q)]
            assert np.abs(sum(terms)).max() < 1e-6 * max(np.abs(term).max() for term in terms)
            before = v

    @pytest.mark.parametrize("rule", RULES)
    def test_a_complete_basis_is_the_full_simulation(self, beam, complete, tip, rule):
        modes = sp.vibration_modes(beam, 3).shapes
        listed = [
            Example(shape * (0.3 / np.abs(shape).max()), curve)
            for shape, curve in zip(modes, (RISING, FALLING, 4.0), strict=True)
        ]
        listed[1] = Example(listed[1].shape + 0.4 * listed[0].shape, FALLING, measure=Measure.RATE)
        overall = Curve.monotone([(0.0, 0.5), (0.1, 2.0)])
        push = beam.point_force([tip], (0.0, 9.0, -30.0))
        for base in (BASE, BASES["by region"]):
            damping = ExampleDamping(base, listed, overall=overall)
            full, live = pushed(complete, push, 12, damping=damping, integrator=rule(), dt=1 / 60)
            assert np.abs(full.state.u).max() > 0.05
            assert relative(live.displacements(), full.state.u) < 1e-7
            R, _ = damping.bind(beam).evaluate(Shape(beam, full.state.u, order=2), full.state.v)
            assert live.damping_power == pytest.approx(2 * R, rel=1e-6)

    @pytest.mark.parametrize("rule", [sp.Newmark, sp.Bathe, sp.TRBDF2, sp.BDF2])
    def test_order_of_accuracy(self, model, rule):
        small = model.truncated(4)
        one, two = examples(small, RISING, Curve.bezier([(0.0, 3.0), (4.0, 0.3)]))
        two = Example(two.shape, two.curve, measure=Measure.RATE)
        damping = ExampleDamping(sp.Rayleigh(mass=1.5, stiffness=3e-4), [one, two])
        start = small.coordinates(one.shape) * 0.8
        twin = reduced_damping(damping, small)
        inverse = np.linalg.inv(small.mass)

        def rates(t: float, y: np.ndarray) -> np.ndarray:
            q, v = y[:4], y[4:]
            R = small.evaluate(q)[1]
            return np.concatenate([v, -inverse @ (R + twin.force(q, v))])

        span = 0.4
        exact = solve_ivp(
            rates, (0, span), np.concatenate([start, 0 * start]), method="DOP853",
            rtol=1e-11, atol=1e-13,
        ).y[:4, -1]  # fmt: skip
        errors = []
        for n in (400, 800):
            live = small.simulation(damping=damping, dt=span / n, integrator=rule(), solver=TIGHT)
            live.q = start
            live.run_steps(n)
            errors.append(np.abs(live.q - exact).max())
        assert abs(np.log2(errors[0] / errors[1]) - 2) <= 0.15

    def test_damping_can_be_changed_between_steps(self, model):
        one, two = examples(model, 0.1, 5.0)
        first, second = (ExampleDamping(BASE, [e]) for e in (one, two))
        live = model.simulation(damping=first, dt=1 / 100, integrator=sp.Bathe(), solver=TIGHT)
        live.q = model.coordinates(one.shape)
        live.run_steps(10)
        q, v, time = live.q, live.v, live.time
        live.damping = second
        assert np.array_equal(live.q, q)
        assert np.array_equal(live.v, v)
        assert live.time == time
        live.run_steps(10)
        anew = model.simulation(damping=second, dt=1 / 100, integrator=sp.Bathe(), solver=TIGHT)
        anew.q, anew.v = q, v
        anew.run_steps(10)
        assert relative(live.q, anew.q) < 1e-9
        live.damping = None
        refused("no examples", live.excitations)

    @pytest.mark.parametrize("rule", RULES)
    @pytest.mark.parametrize("designed", [False, True])
    @pytest.mark.parametrize("slowly", [False, True])
    def test_a_trace_is_what_single_steps_give(self, model, tip, rule, designed, slowly):
        damping = full_damping(model, BASE) if designed else BASE
        options = {"damping": damping, "integrator": rule(), "dt": 1 / 60, "solver": TIGHT}
        pull = model.pull(tip, (0.0, 0.0, -5.0))
        live = (interpreted(model) if slowly else model).simulation(**options)
        other = model.simulation(**options)
        live.q = other.q = 0.3 * model.coordinates(examples(model, 1.0)[0].shape)
        q, v = live.trace(6, force=pull)
        assert q.shape == v.shape == (7, model.size)
        assert live.time == pytest.approx(0.1)
        for step in range(7):
            if step:
                other.step(force=pull)
            np.testing.assert_allclose(q[step], other.q, rtol=0, atol=1e-9)
            np.testing.assert_allclose(v[step], other.v, rtol=0, atol=1e-6)
        assert live.trace(0)[0].shape == (1, model.size)

    def test_cubature_models_take_it_too(self, beam, basis, tip):
        model = sp.reduce(beam, basis)
        sampled = sp.reduce(beam, basis, cubature=every_cell(beam, basis.vectors))
        options = {"damping": full_damping(model, BASE), "dt": 1 / 60, "solver": TIGHT}
        pull = model.pull(tip, (0.0, 10.0, -20.0))
        exact = model.simulation(**options).trace(10, force=pull)[0]
        assert relative(sampled.simulation(**options).trace(10, force=pull)[0], exact) < 1e-9

    def test_nonsense_is_named_not_crashed_on(self, model):
        failed = 0
        for power in range(20, 160, 10):
            live = model.simulation(damping=full_damping(model, BASE))
            live.q = np.full(model.size, 10.0**power)
            try:
                with np.errstate(all="ignore"):
                    live.run_steps(3)
            except sp.StepFailed:
                failed += 1
            assert np.isfinite(live.q).all()
        assert failed > 3


@pytest.mark.parametrize("rule", [sp.Bathe(), sp.Newmark(), sp.BDF2()], ids=repr)
def test_curves_that_rise_steeply_with_the_rate(rule):
    """Drag that grows ten thousandfold over the rates of a swing, in both spaces."""
    mesh = sp.HexMesh.box(size=(1, 0.2, 0.1), cells=(6, 1, 1))
    body = sp.Body(mesh, sp.StVK(young=1e6, poisson=0.4, density=1000), fixed=mesh.where(x=0))
    shape = sp.vibration_modes(body, 1).shapes[0]
    model = sp.reduce(body, sp.modal_derivative_basis(body, modes=4, size=10))
    curve = sp.Curve.linear([(0.1, 0.01), (1.0, 100.0)])
    example = sp.Example(shape, curve, measure=sp.Measure.RATE).scaled(0.05)
    damping = sp.ExampleDamping(sp.Rayleigh(mass=0.5), [example])
    live = model.simulation(damping=damping, integrator=rule, dt=1 / 60)
    live.q = model.coordinates(example.shape)
    live.run_steps(60)
    sim = sp.Simulation(body, damping=damping, integrator=rule, dt=1 / 60)
    sim.state.u = example.shape
    sim.run(1.0)
    tip = np.argmax(np.abs(example.shape[:, 2]))
    assert live.displacements()[tip, 2] == pytest.approx(sim.state.u[tip, 2], rel=0.2)
    assert abs(sim.state.u[tip, 2]) < 0.5 * np.abs(example.shape).max()
