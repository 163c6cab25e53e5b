"""Equilibrium paths: examples that are bent as the body bends, and what they hold."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.design.testbed import Watch
from supple.design.testbeds import make_testbed
from supple.reduction.damping.rules import reduced_damping

pytestmark = pytest.mark.processors


@pytest.fixture(scope="module")
def bend(reduced, examples) -> sp.Example:
    """10 cm at excitation 1, bent up to 40 cm."""
    return sp.bent_example(reduced, examples[0], reach=4.0)


def test_its_shapes_are_equilibria_under_forces_along_it(cantilever, examples):
    """The force is along M x, but for what the polynomial is off the path, by 1 ‰ of it."""
    straight = examples[0]
    bent = sp.bent_example(cantilever, straight, reach=2.0)
    free = cantilever.free.ravel()
    l = cantilever.mass_times(straight.shape).ravel()[free]
    assert np.abs(bent.shape - straight.shape).max() < 1e-6 * straight.amplitude  # a mode
    for chi in (-2.0, -0.7, 0.4, 1.3, 2.0):
        force = cantilever.force(bent.at(chi)).ravel()[free]
        rest = force - l * (l @ force) / (l @ l)
        before = cantilever.force(chi * straight.shape).ravel()[free]
        wrong = before - l * (l @ before) / (l @ l)
        assert np.linalg.norm(rest) < 0.02 * np.linalg.norm(wrong)
        assert cantilever.energy(bent.at(chi)) < cantilever.energy(chi * straight.shape)


def test_a_model_finds_what_its_body_does(cantilever, examples, bend):
    full = sp.bent_example(cantilever, examples[0], reach=4.0)
    for chi in (-4.0, 1.0, 2.0):
        assert np.abs(full.at(chi) - bend.at(chi)).max() < 0.01 * abs(chi) * 0.1


@pytest.mark.parametrize("far", [0.2, 1.0, 2.0])
@pytest.mark.parametrize("strength", [0.2, 5.0])
def test_strengths_hold_at_any_swing_over_the_current_stiffness(reduced, bend, far, strength):
    """2, 10 and 20 cm: as in a linear oscillator, within half a point in each of two cycles.

    At ζ = 0.02 γ, exp(−2πζ/√(1 − ζ²)) is left. The straight example leaves 77 % in place of 53 %.
    """
    omega = 2 * np.pi * reduced.frequencies[0]
    base = sp.Rayleigh(stiffness=2 * 0.02 / omega)
    damping = sp.ExampleDamping(base, [bend.with_curve(strength)])
    bed = make_testbed(reduced, damping, dt=1 / 240)
    test = bed.unload(damping, 0, far, Watch(cycles=2))
    zeta = 0.02 * strength
    left = np.exp(-2 * np.pi * zeta / np.sqrt(1 - zeta**2))
    shares = test.turns[:, 1] / np.array([far, test.turns[0, 1]])
    assert shares == pytest.approx([left, left], abs=0.005)


def test_compiled_steps_balance_the_forces_of_the_plain_formula(reduced, examples, bend):
    """M a + Ĉ(q) v + R(q) = 0 at the end of a step, with Ĉ v evaluated by NumPy."""
    damping = sp.ExampleDamping(
        sp.Rayleigh(mass=0.3, stiffness=2e-3), [bend.with_curve(6.0), examples[1].with_curve(0.1)]
    )
    live = reduced.simulation(
        damping=damping,
        integrator=sp.BackwardEuler(),
        dt=1 / 100,
        solver=sp.DenseNewton(tolerance=1e-12, max_iterations=50),
    )
    live.q = reduced.coordinates(bend.at(2.0) + 0.5 * examples[1].shape)
    live.run_steps(5)
    C = reduced_damping(damping, reduced)
    force = C.force(live.q, live.v)
    rest = reduced.mass @ live.a + force + reduced.force(live.q)
    assert np.abs(rest).max() < 1e-6 * np.abs(force).max()


def test_a_crowd_bends_as_one_does(reduced, bend):
    damping = sp.ExampleDamping(sp.Rayleigh(mass=0.3), [bend.with_curve(6.0)])
    start = reduced.coordinates(bend.at(2.0))
    live = reduced.simulation(damping=damping, dt=1 / 100)
    crowd = reduced.simulation(damping=damping, dt=1 / 100, copies=2)
    live.q, crowd.q = start, np.stack([start, 0.5 * start])
    live.run_steps(10)
    crowd.run_steps(10)
    assert np.abs(crowd.q[0] - live.q).max() < 1e-6 * np.abs(start).max()


def test_designs_let_it_go_from_its_path(in_space, examples, bend):
    damping = sp.ExampleDamping(sp.Rayleigh(mass=0.1), [bend])
    bed = make_testbed(in_space, damping)
    start = bed.start_shape(0, 2.0)
    u = in_space.displacements(start) if isinstance(in_space, sp.ReducedModel) else start
    assert np.abs(u - bend.at(2.0)).max() < 1e-9


def test_wishes_are_met_over_the_current_stiffness_at_twenty_centimetres(reduced, bend):
    """80 % in each of three cycles, within half a point."""
    damping = sp.ExampleDamping(sp.Rayleigh(stiffness=2e-3), [bend])
    target = sp.Unloading("bend", 2.0, "80 % left in each of three cycles")
    fit = sp.design_damping(reduced, damping, [target], dt=1 / 120)
    assert fit.report.met
    turns = (
        make_testbed(reduced, fit.damping, dt=1 / 120)
        .unload(fit.damping, 0, 2.0, Watch(cycles=3))
        .turns[:, 1]
    )
    assert turns / np.array([2.0, *turns[:-1]]) == pytest.approx(3 * [0.8], abs=0.005)


def test_a_part_bends_alone(cantilever, modes):
    outer = cantilever.mesh.vertices[:, 0] > 0.5
    shape = sp.shape_within(cantilever, modes.shapes[0], outer, blend=0.3)
    straight = sp.Example(shape, region=outer).scaled(0.05)
    bent = sp.bent_example(cantilever, straight, reach=1.0)
    assert np.abs(bent.bend[:, ~outer]).max() == 0.0
    assert cantilever.energy(bent.at(1.0)) < cantilever.energy(straight.shape)
    sp.ExampleDamping(sp.Rayleigh(mass=1.0), [bent]).bind(cantilever)


def test_where_there_is_no_path_it_says_how_far_it_goes(reduced, examples):
    with pytest.raises(sp.InputError, match=r"no smooth path|no equilibrium was found beyond"):
        sp.bent_example(reduced, examples[0], reach=400.0)


def test_what_is_not_smooth_is_told(cantilever):
    x = np.where(cantilever.free, np.random.default_rng(0).normal(size=cantilever.free.shape), 0.0)
    with pytest.warns(sp.ExampleWarning, match="no smooth deformation"):
        sp.bent_example(cantilever, sp.Example(x).scaled(0.01), reach=1.0)


def test_a_large_static_shape_is_led_through(cantilever):
    """Bent as far, with less energy; and on its other side, where the straight one is stretched."""
    mesh = cantilever.mesh
    pushed = sp.static_shape(cantilever, cantilever.surface_force(mesh.where(x=1), (0, 0, 8e3)))
    bent = sp.bent_example(cantilever, sp.Example(pushed), reach=1.0)
    assert np.abs(pushed).max() > 0.2  # m
    energy = cantilever.energy(pushed)
    assert cantilever.energy(bent.at(1.0)) < energy < 1.2 * cantilever.energy(bent.at(1.0))
    assert cantilever.energy(bent.at(-1.0)) < 1.1 * energy < 0.2 * cantilever.energy(-pushed)


def test_a_free_body_asks_for_its_model(cantilever, examples):
    body = sp.Body(cantilever.mesh, cantilever.material)
    with pytest.raises(sp.InputError, match="reduced model"):
        sp.bent_example(body, examples[0], reach=1.0)
    modes = sp.vibration_modes(body, 9).shapes[6:]
    model = sp.reduce(body, sp.modal_derivative_basis(body, modes=6, size=15))
    example = sp.bent_example(model, sp.Example(modes[0]).scaled(0.05), reach=2.0)
    flown = model.simulation(
        damping=sp.ExampleDamping(sp.MatchedStrainRate(stiffness=1e-3), [example])
    )
    flown.step()


def test_about_a_shape_that_hangs(cantilever, examples):
    down = (0, 0, -4.0)
    hanging = sp.static_shape(cantilever, gravity=down)
    assert np.abs(hanging).max() > 0.05  # m
    bent = sp.bent_example(cantilever, examples[0], reach=1.0, about=hanging, gravity=down)
    weight = cantilever.weight(down)[cantilever.free]
    rest = [
        cantilever.force(hanging + e)[cantilever.free] - weight
        for e in (bent.at(1.0), examples[0].shape)
    ]
    assert np.linalg.norm(rest[0]) < 0.5 * np.linalg.norm(rest[1])
