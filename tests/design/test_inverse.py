"""Inverse design: what was asked is what one gets."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from tests.refusals import refused

import supple as sp
from supple.design.testbed import Testbed, Watch
from supple.design.testbeds import ReducedTestbed, make_testbed
from supple.design.unloading import cycle_end

pytestmark = pytest.mark.processors

REST = sp.StiffnessAt.REST
BASE = sp.Rayleigh(mass=0.1, stiffness=5e-4, at=REST)


@pytest.fixture
def damping(examples):
    """Of bending alone."""
    return sp.ExampleDamping(BASE, examples[:1])


def left_after_each_cycle(
    solid: sp.Body,
    body: sp.Body | sp.ReducedModel,
    damping: sp.Damping,
    examples: list[sp.Example],
    starts: list[float],
    cycles: int,
) -> list[np.ndarray]:
    """Release examples together, and follow each: its peaks as shares of the one before.

    Measured by itself, from displacements, not by the code that designs.
    """
    root = np.sqrt(solid.mass.diagonal())  # of the lumped mass
    weighted = np.stack([root * example.shape.ravel() for example in examples])
    start = sum(a * e.shape for a, e in zip(starts, examples, strict=True))
    if isinstance(body, sp.ReducedModel):
        sim = body.simulation(damping=damping, integrator=sp.Bathe(), dt=1 / 60)
        sim.q = body.coordinates(start)
    else:
        sim = sp.Simulation(body, damping=damping, integrator=sp.Bathe(), dt=1 / 60)
        sim.state.u = start
    motion = sim.run(cycles * 0.9)
    frames = root * motion.displacements.reshape(len(motion.times), -1)
    chi = np.linalg.lstsq(weighted.T, frames.T)[0]
    shares = []
    for row in chi:
        spline = CubicSpline(motion.times, row)
        turns = spline.derivative().roots(extrapolate=False)
        peaks = np.concatenate([[row[0]], spline(turns[(turns > 0.02) & (spline(turns) > 0)])])
        shares.append(peaks[1 : cycles + 1] / peaks[:cycles])
    return shares


@pytest.mark.parametrize("space", [pytest.param("full", marks=pytest.mark.verify), "reduced"])
def test_eighty_percent_and_thirty_percent(cantilever, reduced, examples, space):
    """80 % left of bending and 30 % of twisting, at small and large amplitudes, 60 Hz steps."""
    body = cantilever if space == "full" else reduced
    damping = sp.ExampleDamping(BASE, examples)
    targets = [sp.Unloading("bend", a, "80 % left") for a in (0.1, 1.0, 2.0)]
    targets += [sp.Unloading("twist", a, "30 % left") for a in (0.1, 1.0)]
    fit = sp.design_damping(body, damping, targets, tolerance=0.003)
    assert fit.report.met, str(fit.report)
    assert all(result.simulations <= 12 for result in fit.report.results)
    # checked by motions of their own: each alone, then both at once
    bend, twist = examples
    alone = [([bend], [a], [0.8]) for a in (0.1, 1.0, 2.0)]
    alone += [([twist], [a], [0.3]) for a in (0.1, 1.0)]
    for released, starts, wanted in (*alone, (examples, [0.1, 0.1], [0.8, 0.3])):
        left = left_after_each_cycle(cantilever, body, fit.damping, released, starts, 1)
        assert [share[0] for share in left] == pytest.approx(wanted, abs=0.005)


def test_a_curve_no_linear_damping_can_follow(reduced, damping):
    """Half of a large swing is lost in a cycle, a tenth of a small one."""
    targets = [sp.Unloading(0, 0.2, "90 % left"), sp.Unloading(0, 1.5, "50 % left")]
    fit = sp.design_damping(reduced, damping, targets)
    assert fit.report.met, str(fit.report)
    (x0, low), (x1, high) = fit.damping.curves[0].points
    assert (x0, x1) == (0.2, 1.5)
    assert high > 5 * low
    linear = sp.best_linear_damping(reduced, damping, targets)
    assert not linear.report.met
    errors = [abs(result.error) for result in linear.report.results]
    assert max(errors) > 0.05
    for factor in (0.8, 1.25):  # no other constant does better
        other = linear.damping.with_curves([linear.damping.curves[0].points[0][1] * factor])
        total = sum(_error(reduced, other, target) ** 2 for target in targets)
        assert total > sum(error**2 for error in errors)


def _error(body: sp.ReducedModel, damping: sp.ExampleDamping, target: sp.Unloading) -> float:
    sim = body.simulation(damping=damping, integrator=sp.Bathe(), dt=1 / 60)
    x = body.coordinates(damping.examples[0].shape)
    sim.q = target.start * x
    q, v = sim.trace(80)
    period, residual = cycle_end(q @ x / (x @ x), v @ x / (x @ x), 1 / 60)
    return residual / target.wanted(period) - 1


def test_the_other_example_is_left_as_it_was(reduced, examples):
    damping = sp.ExampleDamping(BASE, [examples[0], examples[1].with_curve(2.0)])
    fit = sp.design_damping(reduced, damping, [sp.Unloading("bend", 0.5, "half-life 0.5 s")])
    assert fit.report.met
    assert fit.damping.curves[1] == sp.Curve.constant(2.0)
    result = fit.report.results[0]
    assert result.reached == pytest.approx(0.5 * 0.5 ** (result.after.period / 0.5), rel=0.005)


def test_damping_by_rate(reduced, examples):
    """A curve of |χ̇| is designed just so, its points at the rates of the cycle."""
    example = sp.Example(examples[0].shape, measure=sp.Measure.RATE)
    targets = [sp.Unloading(0, 0.2, "90 % left"), sp.Unloading(0, 1.0, "60 % left")]
    fit = sp.design_damping(reduced, sp.ExampleDamping(BASE, [example]), targets)
    assert fit.report.met, str(fit.report)
    (x0, low), (x1, high) = fit.damping.curves[0].points
    assert x1 / x0 == pytest.approx(5, rel=0.1)
    assert high > low


def test_order_of_targets_does_not_matter(reduced, damping):
    targets = [sp.Unloading(0, a, "70 % left") for a in (1.0, 0.2)]
    one = sp.design_damping(reduced, damping, targets)
    other = sp.design_damping(reduced, damping, targets[::-1])
    assert one.damping.curves == other.damping.curves
    assert [r.target for r in one.report.results] == targets


def test_out_of_reach_is_said(reduced, examples):
    """The time step and the rest of the damping take more than the wish allows."""
    damping = sp.ExampleDamping(sp.Rayleigh(stiffness=0.02, at=REST), examples[:1])
    fit = sp.design_damping(reduced, damping, [sp.Unloading(0, 2.0, "99.9 % left")])
    (result,) = fit.report.results
    assert not fit.report.met
    assert result.reached < result.wanted
    assert result.gamma == pytest.approx(0.001, rel=0.01)
    assert "other shapes" in result.reason
    weakest = make_testbed(reduced, damping).unload(damping.with_curves([0.001]), 0, 2.0)
    assert f"{weakest.residual:.3g} is left at most" in result.reason
    assert "not met" in str(fit.report)


def test_too_much_asked_of_small_amplitudes(reduced, damping):
    """What the small amplitudes need is more than the large one may lose."""
    targets = [sp.Unloading(0, 0.8, "5 % left"), sp.Unloading(0, 1.0, "90 % left")]
    fit = sp.design_damping(reduced, damping, targets, rounds=2)
    small, large = fit.report.results
    assert large.reached < large.wanted
    assert f"conflicts with {small.target}" in large.reason
    bed = make_testbed(reduced, damping)
    ends = [bed.unload(damping.with_curves([gamma]), 0, 1.0).residual for gamma in (1e-3, 1e3)]
    assert f"leaves {ends[0]:.3g}, γ = 1000 leaves {ends[1]:.3g}" in large.reason


def test_wishes_that_need_points_below_the_smallest_start(reduced, examples):
    """As dry friction would: points at the starts alone do not do it."""
    damping = sp.ExampleDamping(sp.Rayleigh(mass=0.6), examples[:1])
    targets = [sp.Unloading(0, 0.5, "30 % left"), sp.Unloading(0, 1.0, "55 % left")]
    few = sp.design_damping(reduced, damping, targets, rounds=1, relaxed=True)
    assert not few.report.met
    fit = sp.design_damping(reduced, damping, targets, relaxed=True)
    assert fit.report.met, str(fit.report)
    assert fit.damping.curves[0].points[0][0] < 0.1
    assert fit.damping.curves[0](0.02) > 10 * fit.damping.curves[0](1.0)
    bed = make_testbed(reduced, damping, relaxed=True)
    left = [bed.unload(fit.damping, 0, start).residual for start in (0.5, 1.0)]
    assert left == pytest.approx([0.15, 0.55], rel=0.006)


@pytest.mark.parametrize("simulations", [2, 3])
def test_the_report_is_of_the_damping_that_is_handed_back(reduced, damping, simulations):
    """Also where the search was cut short."""
    targets = [sp.Unloading(0, 0.3, 0.002), sp.Unloading(0, 1.0, 0.9)]
    fit = sp.design_damping(reduced, damping, targets, simulations=simulations, rounds=1)
    assert not fit.report.met
    for result in fit.report.results:
        start = result.target.start
        assert result.gamma == pytest.approx(float(fit.damping.curves[0](start)))
        again = make_testbed(reduced, fit.damping).unload(fit.damping, 0, start)
        assert result.reached == pytest.approx(again.residual, rel=1e-9)


WISHES = (
    "10 % after three cycles", "80 % in each of three cycles", "settles in 1.2 s",
    "settles to 20 % in 1.5 s", "70 % after 0.5 s, 50 % after 1 s, 20 % after 3 s",
)  # fmt: skip


@pytest.mark.parametrize("wish", WISHES)
def test_wishes_over_more_than_a_cycle(cantilever, reduced, examples, wish):
    """Checked by turning points of a motion of its own."""
    bend = examples[0]
    damping = sp.ExampleDamping(sp.Rayleigh(mass=0.1), [bend])
    fit = sp.design_damping(reduced, damping, [sp.Unloading("bend", 1.0, wish)], relaxed=True)
    assert fit.report.met, str(fit.report)
    bed = make_testbed(reduced, damping, relaxed=True)
    sim = reduced.simulation(damping=fit.damping, integrator=sp.Bathe(), dt=1 / 60)
    sim.q = bed.start_shape(0, 1.0)
    q, _ = sim.trace(300)
    x, M = reduced.coordinates(bend.shape), reduced.mass
    chi = q @ M @ x / (x @ M @ x)
    spline = CubicSpline(np.arange(len(chi)) / 60, chi)
    turns = spline.derivative().roots(extrapolate=False)
    tops = turns[(turns > 0.02) & (spline(turns) > 0)]
    heights = np.concatenate([[1.0], spline(tops)])
    for aim in sp.wish(wish).aims(0.9):
        if aim.unit == "s":
            found = np.exp(np.interp(aim.when, [0, *tops], np.log(heights)))
        else:
            found = heights[int(aim.when)] / (heights[int(aim.when) - 1] if aim.each else 1)
        assert found == pytest.approx(aim.share, rel=0.015)


@pytest.mark.parametrize("base", [sp.Rayleigh(mass=0.1), BASE])
def test_later_cycles_go_on_as_the_first(reduced, examples, base):
    """Let go from relaxed shapes, 80 % at three amplitudes is 80 % in each of three cycles."""
    damping = sp.ExampleDamping(base, examples[:1])
    targets = [sp.Unloading(0, a, "80 % left") for a in (0.5, 1.0, 2.0)]
    fit = sp.design_damping(reduced, damping, targets, relaxed=True, tolerance=0.002)
    assert fit.report.met, str(fit.report)
    test = make_testbed(reduced, damping, relaxed=True).unload(fit.damping, 0, 2.0, Watch(3))
    heights = np.concatenate([[2.0], test.turns[:, 1]])
    assert heights[1:] / heights[:-1] == pytest.approx(0.8, abs=0.005)


def test_before_is_never_nan(reduced, examples, monkeypatch):
    """A release that fails costs its own target; the others are met."""
    damping = sp.ExampleDamping(sp.Rayleigh(mass=0.1), examples)
    real = ReducedTestbed.unload

    def unload(self, damping, example, start, watch):
        if example == 1:
            raise sp.StepFailed("it was made to", time=0.1, residual=1.0, advice="")
        return real(self, damping, example, start, watch)

    monkeypatch.setattr(ReducedTestbed, "unload", unload)
    targets = [sp.Unloading("bend", 0.5, "70 % left"), sp.Unloading("twist", 1.0, "30 % left")]
    fit = sp.design_damping(reduced, damping, targets)
    assert [result.met for result in fit.report.results] == [True, False]
    assert "it was made to" in fit.report.results[1].reason
    assert "nan" not in str(fit.report)


def test_steps_that_fail_are_taken_in_parts(reduced, damping, monkeypatch):
    """The release then ends where smaller steps would have ended it."""
    bed = make_testbed(reduced, damping)
    plain = bed.unload(damping, 0, 1.0)
    real, calls = ReducedTestbed._step, []

    def step(self, simulation):
        if simulation.dt == 1 / 60 and 0.2 < simulation.time < 0.24:
            calls.append(simulation.time)
            raise sp.StepFailed("it was made to", time=0.1, residual=1.0, advice="")
        real(self, simulation)

    def trajectory(self, example, steps):
        return Testbed._trajectory(self, example, steps)

    monkeypatch.setattr(ReducedTestbed, "_step", step)
    monkeypatch.setattr(ReducedTestbed, "_trajectory", trajectory)
    # time stands still where a step is taken in parts, so all further ones are
    test = make_testbed(reduced, damping).unload(damping, 0, 1.0)
    assert calls
    assert test.substeps > 0
    assert test.residual == pytest.approx(plain.residual, rel=0.01)


@pytest.mark.parametrize("wish", ["half-life 0.1 ms", "ζ = 0.99999", sp.HalfLife(1e20)])
def test_wishes_beyond_measure(reduced, damping, wish):
    refused("something between", sp.design_damping, reduced, damping, [sp.Unloading(0, 1.0, wish)])


def test_progress(reduced, damping):
    told, wish = [], sp.Unloading("bend", 0.5, "70 % left")
    sp.design_damping(reduced, damping, [wish], progress=lambda *call: told.append(call))
    assert told
    assert all(total == 1 and "bend" in what for _, total, what in told)


ONE = sp.Unloading(0, 1.0, 0.5)


@pytest.mark.parametrize(
    ("targets", "options", "message"),
    [
        ([], {}, "no targets"),
        (ONE, {}, "list"),
        ((each for each in [ONE]), {}, "list"),
        ([sp.Unloading(0.5, 1.0, 0.5)], {}, "numbered from 0"),
        ([ONE], {"gravity": None}, "gravity"),
        ([ONE], {"progress": 3}, "progress"),
        ([ONE, sp.Unloading("bend", 1.0, 0.4)], {}, "two targets"),
        ([sp.Unloading("ear", 1.0, 0.5)], {}, "no example 'ear'"),
        ([ONE], {"damping": BASE}, "ExampleDamping"),
    ],
)
def test_bad_input(reduced, damping, targets, options, message):
    given = {"damping": damping, "targets": targets} | options
    refused(message, sp.design_damping, reduced, **given)
