"""Wishes that a damping keeps, designs that go on, and wishes that contradict each other."""

from __future__ import annotations

import numpy as np
import pytest
from tests.refusals import refused

import supple as sp
from supple.damping import load_damping, save_damping
from supple.design.conflicts import felt, strengths_for
from supple.design.kept_wishes import wishes_of
from supple.design.testbeds import ReducedTestbed, make_testbed

pytestmark = pytest.mark.processors

BASE = sp.Rayleigh(mass=0.3)
WISHES = [sp.Unloading("bend", 0.5, "40 % left"), sp.Unloading("bend", 1.0, 0.55)]


@pytest.fixture
def damping(examples):
    return sp.ExampleDamping(BASE, examples[:1])


@pytest.mark.parametrize("ending", ["toml", "json"])
def test_a_file_keeps_the_wishes(reduced, damping, tmp_path, ending):
    options = {"integrator": sp.Bathe(gamma=0.55), "dt": 1 / 90, "relaxed": True}
    fit = sp.design_damping(reduced, damping, WISHES, **options)
    save_damping(fit.damping, tmp_path / f"designed.{ending}")
    kept = load_damping(tmp_path / f"designed.{ending}")
    targets, found = wishes_of(kept)
    assert targets == WISHES
    assert {name: found[name] for name in options} == options
    assert kept.curves == fit.damping.curves


def test_redesign_for_a_stiffer_body(reduced, damping):
    """Four times as stiff, half as much time for damping to act: 40 % becomes 60 and more."""
    fit = sp.design_damping(reduced, damping, WISHES)
    stiffer = reduced.edited(young=4e6)
    bed = make_testbed(stiffer, damping)
    assert bed.unload(fit.damping, 0, 0.5).residual > 0.25
    again = sp.redesign(fit, stiffer)
    assert again.report.met, str(again.report)
    assert [result.target for result in again.report.results] == WISHES
    assert bed.unload(again.damping, 0, 0.5).residual == pytest.approx(0.2, rel=0.006)
    assert bed.unload(again.damping, 0, 1.0).residual == pytest.approx(0.55, rel=0.006)


def test_no_wishes_to_meet_anew(reduced, damping):
    refused("keeps no wishes", sp.redesign, damping, reduced)
    refused("design_damping writes these", sp.ExampleDamping, BASE, [], wishes={})


# -- going on ------------------------------------------------------------------------------


def interrupted(monkeypatch, after):
    """Lets so many releases be made, and then interrupts."""
    real, made = ReducedTestbed.unload, []

    def unload(self, *given):
        if len(made) == after:
            raise KeyboardInterrupt
        made.append(given)
        return real(self, *given)

    monkeypatch.setattr(ReducedTestbed, "unload", unload)
    return made


@pytest.mark.parametrize("after", [1, 5, 9])
def test_interrupted_designs_go_on_to_the_same_bytes(
    reduced, damping, tmp_path, monkeypatch, after
):
    whole = sp.design_damping(reduced, damping, WISHES, relaxed=True)
    file = tmp_path / "design.journal"
    with monkeypatch.context() as patched:
        interrupted(patched, after)
        with pytest.raises(sp.DesignInterrupted) as stopped:
            sp.design_damping(reduced, damping, WISHES, relaxed=True, checkpoint=file)
    best = stopped.value.fit
    assert (best is None) == (after < 2)
    if best is not None:
        assert "interrupted" in str(best.report)
        assert len(best.report.results) == 2
    with file.open("a") as journal:
        journal.write("half a line that was not")
    with monkeypatch.context() as patched:
        made = interrupted(patched, 10**9)
        fit = sp.design_damping(reduced, damping, WISHES, relaxed=True, checkpoint=file)
    assert len(made) == whole.report.simulations - after
    assert not file.exists()
    assert fit.damping.curves == whole.damping.curves
    save_damping(whole.damping, tmp_path / "whole.toml")
    save_damping(fit.damping, tmp_path / "fit.toml")
    assert (tmp_path / "whole.toml").read_bytes() == (tmp_path / "fit.toml").read_bytes()
    for one, other in zip(whole.report.results, fit.report.results, strict=True):
        assert one.reached == other.reached
        assert np.array_equal(one.after.excitations, other.after.excitations)
        assert one.simulations == other.simulations


def test_a_journal_of_another_design_is_refused(reduced, damping, tmp_path, monkeypatch):
    file = tmp_path / "design.journal"
    interrupted(monkeypatch, 3)
    with pytest.raises(KeyboardInterrupt):
        sp.design_damping(reduced, damping, WISHES, checkpoint=file)
    other = {"checkpoint": file, "dt": 1 / 70}
    refused("of another design", sp.design_damping, reduced, damping, WISHES, **other)
    file.write_text("mine")
    refused("no journal", sp.design_damping, reduced, damping, WISHES, checkpoint=file)
    assert file.read_text() == "mine"


# -- contradictions ------------------------------------------------------------------------


@pytest.mark.parametrize("angle", [5.0, 30.0, 60.0, 90.0])
def test_felt_strengths(angle):
    """Against Ĉ made from its definition, in the plane of two examples."""
    a = np.radians(angle)
    X = np.array([[1.0, 0.0], [np.cos(a), np.sin(a)]])
    gamma = np.array([0.1, 10.0])
    Q, R = np.linalg.qr(X.T)
    pi = R @ np.diag(gamma) @ np.linalg.inv(R)
    values, vectors = np.linalg.eigh(0.5 * (pi + pi.T))
    pi = pi - (vectors * np.minimum(values, 0)) @ vectors.T
    C = Q @ pi @ Q.T
    assert felt(X @ X.T, gamma) == pytest.approx(np.einsum("ki,ij,kj->k", X, C, X), rel=1e-9)


def test_strengths_that_are_felt_as_wished():
    """Where examples have little in common there are such; where they are alike there are none."""
    apart = np.array([[1.0, 0.3], [0.3, 1.0]])
    wanted = np.array([0.5, 2.0])
    assert felt(apart, strengths_for(apart, wanted)) == pytest.approx(wanted, rel=1e-3)
    alike = np.array([[1.0, 0.99], [0.99, 1.0]])
    got = felt(alike, strengths_for(alike, np.array([0.1, 10.0])))
    assert got[0] > 0.5


def test_contradictions_are_told_before_anything_is_simulated(reduced, examples, monkeypatch):
    """Two examples 10° apart, one to go on and one to stop."""
    bend, twist = examples
    scale = np.sqrt(
        (reduced.coordinates(bend.shape) @ reduced.mass @ reduced.coordinates(bend.shape))
        / (reduced.coordinates(twist.shape) @ reduced.mass @ reduced.coordinates(twist.shape))
    )
    near = sp.Example(bend.shape + np.tan(np.radians(10)) * scale * twist.shape, name="near")
    damping = sp.ExampleDamping(BASE, [bend, near])
    targets = [sp.Unloading("bend", 1.0, "90 % left"), sp.Unloading("near", 1.0, "10 % left")]

    def never(*_):
        raise AssertionError("it was simulated")

    with monkeypatch.context() as patched:
        patched.setattr(ReducedTestbed, "unload", never)
        with (
            pytest.warns(sp.DesignWarning, match="bend.* 10° apart"),
            pytest.raises(AssertionError),
        ):
            sp.design_damping(reduced, damping, targets)
    orthogonal = sp.ExampleDamping(BASE, examples)
    targets = [sp.Unloading("bend", 1.0, "90 % left"), sp.Unloading("twist", 1.0, "30 % left")]
    assert sp.design_damping(reduced, orthogonal, targets).report.notes == ()


@pytest.mark.parametrize("seed", range(4))
def test_large_swings_lose_at_least_as_much(reduced, damping, seed):
    """Whatever the curve: the bound that wishes are checked against, for small swings."""
    chance = np.random.default_rng(seed)
    places = np.geomspace(2e-4, 1e-2, 8)
    curve = sp.Curve.linear(
        list(zip(places.tolist(), 10.0 ** chance.uniform(-2, 1.5, 8), strict=True))
    )
    designed = damping.with_curves([curve])
    bed = make_testbed(reduced, designed, dt=1 / 2000)
    starts = np.array([4e-3, 6e-3, 1e-2])
    lost = starts - [bed.unload(designed, 0, start).residual for start in starts]
    assert (np.diff(lost) > -0.02 * lost[:-1]).all()


def test_wishes_for_less_of_large_swings_need_a_curve_of_the_rate(reduced, examples):
    targets = [sp.Unloading(0, 1.0, 0.35), sp.Unloading(0, 2.0, 1.5)]
    bend = examples[0].scaled(0.02)
    damping = sp.ExampleDamping(BASE, [bend])
    words = "is to lose 0.5 .*1.35 is left at most.*Measure.RATE"
    with pytest.warns(sp.DesignWarning, match=words):
        fit = sp.design_damping(reduced, damping, targets, dt=1 / 240, rounds=1)
    assert not fit.report.met
    assert "Measure.RATE" in str(fit.report)
    by_rate = sp.Example(bend.shape, measure=sp.Measure.RATE)
    for start, dt in ((0.02, 1 / 240), (0.4, 1 / 120)):  # m
        damping = sp.ExampleDamping(BASE, [by_rate.scaled(start)])
        fit = sp.design_damping(reduced, damping, targets, dt=dt, relaxed=True)
        assert fit.report.met, str(fit.report)
        assert fit.report.notes == ()


# -- beginning with curves -----------------------------------------------------------------


@pytest.mark.parametrize("first", [0.0, 0.1])
def test_designs_begin_with_curves_as_they_are(in_space, damping, first):
    """What a curve with a band between the starts leaves is met by it, and nothing else is tried.

    A point at zero is moved to 3 % of the smallest start, which changes what is left by less than
    the tolerance.
    """
    curve = sp.Curve.linear([(first, 1.0), (0.25, 8.0), (0.6, 0.5), (0.8, 6.0)])
    bed = make_testbed(in_space, damping)
    given = damping.with_curves([curve])
    wishes = [sp.Unloading("bend", a, bed.unload(given, 0, a).residual) for a in (0.5, 1.0)]
    fit = sp.design_damping(in_space, given, wishes)
    assert fit.report.met, str(fit.report)
    assert fit.report.rounds == 1
    # before, a trial, and in smaller steps
    assert [result.simulations for result in fit.report.results] == [3, 3]
    x = np.linspace(0.05, 1.0, 20)
    np.testing.assert_allclose(fit.damping.curves[0](x), curve(x), rtol=0.05)
