"""The pages of dampings by example, and of their design."""

import re
from dataclasses import replace

import numpy as np
import pytest
from tests.io.pages import assert_needs_no_other_file, in_browser, needs_browser, read
from tests.refusals import refused

import supple as sp
from supple.damping import Curve, Example, ExampleDamping, Measure
from supple.design import Fit, Unloading, design_damping
from supple.design.testbeds import FullTestbed
from supple.design.unloading import UnloadingTest
from supple.io.report import design_pictures
from supple.io.report.design_plots import curve_plots, decay_plots
from supple.io.report.design_report import write_design_report
from supple.io.report.plots import Curve as Line
from supple.io.report.plots import Plot, log_ticks
from supple.io.report.run_report import Run

_TARGETS = [Unloading("bend", 2.0, 1.2), Unloading("bend", 1.0, "80 % left after one cycle")]


@pytest.fixture(scope="module")
def beam():
    mesh = sp.HexMesh.box(size=(1.0, 0.2, 0.2), cells=(4, 1, 1))
    material = sp.StVK(young=1e5, poisson=0.3, density=1000)
    body = sp.Body(mesh, material, fixed=mesh.where(x=0))
    modes = sp.vibration_modes(body, 1)
    bend = Example(modes.shapes[0], name="bend").scaled(0.08)
    omega = 2 * np.pi * modes.frequencies[0]
    before = ExampleDamping(sp.Rayleigh(stiffness=0.02 / omega), [bend])
    return body, before, 1 / modes.frequencies[0] / 16


@pytest.fixture(scope="module")
def fit(beam):
    body, before, dt = beam
    return design_damping(body, before, _TARGETS, dt=dt)


@pytest.fixture(scope="module")
def linear(beam, fit):
    """What a constant strength does."""
    body, before, dt = beam
    damping = before.with_curves([3.0])
    bed = FullTestbed(body, damping, dt=dt)
    tests = [bed.unload(damping, 0, target.start) for target in _TARGETS]
    results = tuple(
        replace(result, after=test, reached=test.residual, met=False)
        for result, test in zip(fit.report.results, tests, strict=True)
    )
    return Fit(damping, replace(fit.report, results=results))


@pytest.fixture(scope="module")
def beyond(beam):
    """A design in which one wish is met and one is not."""
    body, before, dt = beam
    more = "99.99 % left after one cycle"
    return design_damping(body, before, [_TARGETS[1], Unloading("bend", 2.0, more)], dt=dt)


@pytest.fixture
def report(beam, fit, tmp_path, monkeypatch):
    monkeypatch.setattr("supple.io.report.design_report._STILL_SIZE", (58, 69))
    monkeypatch.setattr("supple.io.report.design_report._EXAMPLE_SIZE", (48, 48))
    body, before, _ = beam

    def make(**options):
        path = tmp_path / "report.html"
        given = {"title": "A <beam> & more", "mesh": body.mesh, "before": before, "fit": fit}
        write_design_report(path, **(given | options))
        return path

    return make


def percent(error):
    return f"{100 * error:+.2f} %".replace("-", "−")


def table(path):
    """The cells of the table of targets, by column, of each row that has results."""
    rows = re.findall(r"<tr[^>]*><th>[^<]*</th>(<td data-name.*?)</tr>", path.read_text())
    cells = [re.findall(r'<td data-name="([^"]*)">(.*?)</td>', row) for row in rows]
    return [{name: re.sub("<[^>]*>", "", cell) for name, cell in row} for row in cells]


# -- the page ----------------------------------------------------------------------------


def test_page_is_whole_and_has_every_part(report, fit):
    path = report(
        summary="What <for>", facts=[("Mesh", "4 <bricks>")], timings=[("Page", "2 s")], source="x<"
    )
    page = read(path)
    for text in ("A <beam> & more", "What <for>", "4 <bricks>", "2 s", "x<", "bend"):
        assert text in page.text
    assert fit.report.met
    assert re.search(r"2 of 2 wishes met, within 0\.[1-5] %", page.text)
    assert f"{fit.report.simulations} simulations" in page.text
    assert_needs_no_other_file(path)


def test_page_has_a_picture_and_a_curve_an_example_and_a_decay_a_target(report):
    page = read(report())
    assert page.count("img") == page.count("canvas") == 1
    assert page.count("svg") == 1 + len(_TARGETS)
    assert all(svg["role"] == "img" and svg["aria-label"] for svg in page.attributes("svg"))
    assert all("bend" in seen["alt"] for seen in page.attributes("img"))
    assert all("bend" in seen["aria-label"] for seen in page.attributes("canvas"))


def test_table_holds_the_numbers_of_the_report(report, fit, linear):
    rows = table(report(linear=linear))
    assert len(rows) == len(_TARGETS)
    for row, result, other in zip(rows, fit.report.results, linear.report.results, strict=True):
        assert row["Wanted"] == f"{result.wanted:.4g}"
        assert row["Before"] == f"{result.before.residual:.4g}"
        assert row["Best linear"] == f"{other.reached:.4g} ({percent(other.error)})"
        assert row["Reached"] == f"{result.reached:.4g} ✓"
        assert row["Error"] == percent(result.error)
        assert row["Simulations"] == str(result.simulations)
    assert [row["Asked"] for row in rows] == [
        "from 2: 1.2 left after one cycle",
        "from 1: 80 % left after one cycle",
    ]


def test_linear_damping_is_shown_only_if_given(report, linear):
    worst = max(abs(result.error) for result in linear.report.results)
    says = f"linear damping can do misses by up to {100 * worst:.2g} %"
    assert says in read(report(linear=linear)).text
    text = read(report()).text
    assert "Best linear" not in text
    assert "best linear" not in text


@pytest.mark.verify
def test_targets_out_of_reach_say_why(report, beyond):
    path = report(fit=beyond)
    text = read(path).text
    assert "1 of 2 wishes met, within" in text
    missed = beyond.report.results[1]
    assert f"One misses by {100 * abs(missed.error):.2g} %" in text
    assert missed.reason
    assert f"Not met: {missed.reason}." in text
    assert [row["Reached"][-1] for row in table(path)] == ["✓", "✗"]
    nothing = tuple(replace(missed, reason="too <far> away") for _ in range(2))
    text = read(report(fit=Fit(beyond.damping, replace(beyond.report, results=nothing)))).text
    assert "0 of 2 wishes metTwo miss by up to" in text
    assert text.count("Not met: too <far> away.") == 2


def test_page_plays_runs_side_by_side(report, beam):
    body, before, dt = beam
    sim = sp.Simulation(body, damping=before, dt=dt)
    sim.state.u = before.examples[0].shape
    motion = sim.run(8 * dt)
    page = read(report(runs=[Run("before", motion), Run("after", motion)]))
    assert page.count("canvas") == 2
    linked = [svg for svg in page.attributes("svg") if "data-t0" in svg]
    assert len(linked) == 2  # the player's clock is none of the other plots' business
    assert len(page.attributes("svg")) == 2 + 1 + len(_TARGETS)


@needs_browser
def test_examples_swing_in_a_browser(report):
    look = """setTimeout(() => {
    const c = document.querySelector("#examples canvas"), p = c.getContext("2d");
    const seen = () => p.getImageData(0, 0, c.width, c.height).data.reduce((a, b) => a + b, 0);
    const first = seen();
    const wait = (left) => {  // a busy machine shows few frames
        if (left && seen() === first) setTimeout(() => wait(left - 1), 150);
        else document.title = first + " " + seen(); };
    setTimeout(() => wait(60), 450); }, 500);"""
    shown = in_browser(report(title="open"), look, seconds=12)
    assert re.search(r'<div id="examples"[^>]* class="live"', shown)
    first, second = map(int, re.search(r"<title>(\d+) (\d+)</title>", shown).groups())
    assert first > 100_000
    assert second > 100_000
    assert first != second


def test_page_survives_any_name(report, fit):
    name = '"></script><script>alert(1)</script>'
    named = [Example(e.shape, e.curve, name=name) for e in fit.damping.examples]
    bad = Fit(replace(fit.damping, examples=named), fit.report)
    text = report(fit=bad, facts=[(name, name)], timings=[(name, name)]).read_text()
    assert "<script>alert" not in text
    assert 'aria-label=""' not in text
    unnamed = [Example(e.shape, e.curve) for e in fit.damping.examples]
    bare = Fit(replace(fit.damping, examples=unnamed), fit.report)
    assert "Example 0" in read(report(fit=bare)).text


def test_page_refuses_what_does_not_belong_together(report, beam, linear, tmp_path):
    _, before, _ = beam
    half = replace(linear.report, results=linear.report.results[:1])
    twice = replace(before, examples=[*before.examples] * 2)
    for options, words in (
        ({"mesh": sp.HexMesh.box((1, 1, 1), (1, 1, 1))}, "give the mesh that the examples deform"),
        ({"before": twice}, "before has 2 examples, the fit 1"),
        ({"linear": replace(linear, report=half)}, "linear has 1 targets, the fit 2"),
        ({"colors": np.ones((3, 3))}, "colors have shape"),
        ({"up": "x"}, "up='x'"),
    ):
        refused(words, report, **options)
    assert not list(tmp_path.iterdir())


def test_page_says_how_much_larger_an_example_is_drawn(report, fit):
    small = replace(fit.damping, examples=[e.scaled(1e-3) for e in fit.damping.examples])
    text = read(report(fit=Fit(small, fit.report), before=small)).text
    assert "up to 1 mm at χ = 1" in text
    assert "drawn 50 times as large" in text


def test_bodies_too_large_for_a_page_do_not_move(report, monkeypatch):
    monkeypatch.setattr(design_pictures, "_BUDGET", 100)
    page = read(report())
    assert page.count("img") == 1
    assert page.count("script") == 0


# -- the page of a damping alone -----------------------------------------------------------


def test_page_of_a_damping_has_a_picture_and_a_curve_an_example(beam, tmp_path):
    shapes = sp.vibration_modes(beam[0], 3).shapes
    curve = sp.Curve.bezier([(0.0, 0.3), (0.5, 5.0)])
    examples = [
        sp.Example(shapes[0], curve, name="<b>bend</b>").scaled(0.1),
        sp.Example(shapes[1], 2.0, measure=sp.Measure.RATE).scaled(0.1),
    ]
    overall = sp.Curve.linear([(0.0, 1.0), (0.1, 3.0)])
    damping = sp.ExampleDamping(sp.Rayleigh(mass=0.1), examples, overall=overall)
    path = tmp_path / "damping.html"
    sp.write_damping_page(path, damping, beam[0].mesh)
    read(path)  # well-formed
    assert_needs_no_other_file(path)
    text = path.read_text(encoding="utf-8")
    assert "<b>bend</b>" not in text
    assert text.count('<div class="shot">') == 2
    assert text.count("<svg") == 3
    for words in ("&lt;b&gt;bend&lt;/b&gt;", "0.3 at 0, 5 at 0.5", "All motion"):
        assert words in text


def test_page_of_a_damping_refuses_what_it_cannot_show(beam, tmp_path):
    base = sp.Rayleigh(mass=0.1)
    for damping, words in (
        (sp.ExampleDamping(base, []), "no examples"),
        (sp.ExampleDamping(base, [sp.Example(np.ones((5, 3)))]), "mesh that the examples deform"),
        (base, "ExampleDamping"),
    ):
        refused(words, sp.write_damping_page, tmp_path / "damping.html", damping, beam[0].mesh)
    assert not list(tmp_path.iterdir())


# -- plots -------------------------------------------------------------------------------


def test_decays_end_where_the_tests_did_and_mark_the_wish(fit, linear):
    for plot, result in zip(decay_plots(fit, linear), fit.report.results, strict=True):
        lines = {curve.name: curve for curve in plot.curves}
        assert set(lines) == {"", "before", "best linear", "designed", "wished"}
        for name, test in (("before", result.before), ("designed", result.after)):
            assert lines[name].places[-1] == test.period
            assert lines[name].values[0] == pytest.approx(result.target.start)
            assert lines[name].values[-1] == pytest.approx(test.residual, rel=5e-3)
        assert lines["wished"].values == pytest.approx([result.wanted])
        assert lines["wished"].places == pytest.approx([result.after.period])
        assert plot.places[-1] >= max(result.before.period, result.after.period)


def test_decay_that_never_comes_back_is_drawn(fit):
    times = np.linspace(0, 12, 50)
    crept = UnloadingTest(times, np.exp(-times), 0.0, np.nan)
    results = tuple(replace(r, before=crept, after=crept) for r in fit.report.results)
    (first, _) = decay_plots(Fit(fit.damping, replace(fit.report, results=results)), None)
    assert "nan" not in first.html()
    wished = next(curve for curve in first.curves if curve.name == "wished")
    assert list(wished.values) == [1.2, 1.2]


def test_curves_run_through_their_targets(beam, fit, linear):
    (plot,) = curve_plots(beam[1], fit, linear)
    lines = {curve.name: curve for curve in plot.curves}
    assert np.all(lines["before"].values == 1.0)
    assert lines["best linear"].values == pytest.approx(3.0)
    dots = np.stack([lines["targets"].places, lines["targets"].values], axis=1)
    gammas = {r.target.start: r.gamma for r in fit.report.results}
    assert dots == pytest.approx(np.array([(1.0, gammas[1.0]), (2.0, gammas[2.0])]))
    on_curve = np.interp(dots[:, 0], plot.places, np.log(lines["designed"].values))
    assert on_curve == pytest.approx(np.log(dots[:, 1]), abs=0.02)


def test_curves_of_rates_and_examples_that_were_left_alone(beam, fit):
    _, before, _ = beam
    (bend,) = before.examples
    rate = Example(bend.shape, Curve.linear([(3, 2), (6, 5)]), measure=Measure.RATE)
    other = Example(bend.shape[::-1], 0.0, name="other")
    old = replace(before, examples=[rate.with_curve(1.0), other])
    new = Fit(replace(before, examples=[rate, other]), fit.report)
    first, second = curve_plots(old, new, None)
    assert first.across == "its rate |χ̇| [1/s]"
    assert list(first.curves[-1].places) == [3, 6]
    assert [curve.name for curve in second.curves] == ["as before"]
    assert "inf" not in second.html()


def test_log_axis_gives_every_power_of_ten_the_same_room():
    plot = Plot("γ", "", np.arange(2.0), [Line("a", np.array([0.1, 1000.0]))], across="x", log=True)
    found = re.findall(r'y1="([\d.]+)" y2="\1"/><text[^>]*>([\d.]+)<', plot.html())
    assert [float(label) for _, label in found] == [0.1, 1, 10, 100, 1000]
    assert np.ptp(np.diff([float(y) for y, _ in found])) < 0.21  # a tenth of a unit each
    assert 'class="cursor"' not in plot.html()


@pytest.mark.parametrize(("low", "high"), [(-0.5, 0.5), (-3.2, 3.1), (0.1, 1.2), (-40, 12), (2, 9)])
def test_log_ticks_are_inside_and_few(low, high):
    made = np.log10(log_ticks(low, high))
    assert 2 <= len(made) <= 8
    assert low <= made[0] < made[-1] <= high


def test_motions_that_failed_are_told_and_not_drawn(report, fit, linear):
    """Before the design a step failed, and with the best linear damping too."""
    first, *others = fit.report.results
    lost = UnloadingTest.failed(first.target.start)
    told = replace(fit.report, results=(replace(first, before=lost), *others))
    other, *rest = linear.report.results
    broken = replace(other, after=lost, reached=lost.residual)
    text = report(
        fit=Fit(fit.damping, told),
        linear=Fit(linear.damping, replace(linear.report, results=(broken, *rest))),
    ).read_text(encoding="utf-8")
    assert "the motion could not be computed" in text
