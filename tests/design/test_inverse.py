"""Inverse design: what was asked is what one gets."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from tests.refusals import refused

import supple as sp
from supple.design.testbeds import make_testbed
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
    assert result.gamma == pytest.approx(0.001)
    assert "other shapes" in result.reason
    assert "not met" in str(fit.report)


def test_too_much_asked_of_small_amplitudes(reduced, damping):
    """What the small amplitudes need is more than the large one may lose."""
    targets = [sp.Unloading(0, 0.8, "5 % left"), sp.Unloading(0, 1.0, "90 % left")]
    fit = sp.design_damping(reduced, damping, targets)
    assert [result.met for result in fit.report.results] == [True, False]
    assert "smaller amplitudes" in fit.report.results[1].reason


@pytest.mark.parametrize("simulations", [2, 3, 4])
def test_the_report_is_of_the_damping_that_is_handed_back(reduced, damping, simulations):
    """Also where the search was cut short."""
    target = sp.Unloading(0, 1.0, 0.002)
    fit = sp.design_damping(reduced, damping, [target], simulations=simulations)
    (result,) = fit.report.results
    assert not result.met
    assert result.gamma == fit.damping.curves[0].points[0][1]
    again = make_testbed(reduced, fit.damping).unload(fit.damping, 0, 1.0)
    assert result.reached == pytest.approx(again.residual, rel=1e-9)


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
