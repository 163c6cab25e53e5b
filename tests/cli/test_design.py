"""``supple design``: what it writes, what it says, and that scenes then move as was asked."""

import warnings
from html import escape

import numpy as np
import pytest
from tests.cli.helpers import BODY, DAMPING, HELD, QUICK, interrupt, raising

import supple as sp
from supple.cli import main
from supple.damping import load_damping, save_damping
from supple.design.testbeds import ReducedTestbed
from supple.io.scene.scene import load_scene
from supple.reduction.errors.told import error_text, known_of
from supple.workflows.designing import design
from supple.workflows.words import damping_text, facts, options_text

REST = "[time]\nduration = 1.5\nfps = 60\n[output]\nformats = []\n"
TARGET = '[[targets]]\nexample = "bend"\nstart = 0.5\nwish = "60 % left after one cycle"\n'
KEYS = "keyframes = { times = [0, 1], displacements = [[0.1, 0, 0], [0, 0, 0]] }\n"
FULL = '[design]\nspace = "full"\ncompare_linear = false\n'
AT_REST = (HELD, DAMPING.replace("mass", 'about = "rest"\nmass'), TARGET, QUICK)
HANGING = ("title", "gravity = [0, 0, -2]\ntitle")


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr("supple.io.report.design_report._STILL_SIZE", (58, 69))
    monkeypatch.setattr("supple.io.report.design_report._EXAMPLE_SIZE", (40, 40))


@pytest.fixture
def write(tmp_path):
    def save(*parts, changes=()):
        text = BODY + REST + "".join(parts)
        for old, new in changes:
            text = text.replace(old, new)
        (tmp_path / "bar.toml").write_text(text, encoding="utf-8")
        return tmp_path

    return save


def after_one_cycle(motion, body, example):
    """χ at the end of the first cycle of a motion."""
    x = np.where(body.free, example.shape, 0.0)
    dual = body.mass_times(x) / np.vdot(x, body.mass_times(x))
    chi = np.einsum("tna,na->t", motion.displacements, dual)
    crossings = np.flatnonzero(np.diff(np.sign(chi)))
    return chi[crossings[1] : crossings[2]].max()


def test_design_is_written_and_scenes_then_move_as_asked(write, tells):
    folder = write(HELD, DAMPING, TARGET, FULL)
    words = ["1 target for 1 example, full space", "wanted", "0.3", "report.html"]
    words += ['file = "bar_design/damping.toml"', "supple run bar.toml"]
    tells("design bar.toml", *words)
    assert "bend" in (folder / "bar_design" / "report.html").read_text(encoding="utf-8")
    damping = load_damping("bar_design/damping.toml")
    assert [example.name for example in damping.examples] == ["bend"]

    release = '[initial]\nexample = "bend"\nexcitation = 0.5\n'
    write(HELD, '[damping]\nfile = "bar_design/damping.toml"\n', release, TARGET)
    assert main(["run", "bar.toml", "-q"]) == 0
    motion, body = sp.read_motion("bar/motion.motion"), load_scene("bar.toml").body
    assert after_one_cycle(motion, body, damping.examples[0]) == pytest.approx(0.3, rel=0.01)
    write(HELD, DAMPING, release)
    assert main(["run", "bar.toml", "-q", "--overwrite"]) == 0
    before = sp.read_motion("bar/motion.motion")
    assert after_one_cycle(before, body, damping.examples[0]) > 0.33


def test_reduced_design_is_checked_in_full_space_and_compared(write, tells):
    folder = write(HELD, DAMPING, TARGET, QUICK.replace("false", "true"))
    out = tells(["design", "bar.toml", "-o", "out"], "reduced space")
    lines = [line.split() for line in out.splitlines() if line.startswith(("target", "bend"))]
    (_, row, head, checked) = lines
    assert float(row[-5]) == pytest.approx(0.3, rel=0.01)
    assert head[-2:] == ["full", "space"]
    assert float(checked[-1]) == pytest.approx(0.3, rel=0.01)
    page = (folder / "out" / "report.html").read_text(encoding="utf-8")
    assert "In full space" in page
    assert "Best linear damping" in page
    assert "The motion is the release from the largest start" in page


def test_report_tells_how_near_the_reduced_model_is(write):
    asked = "[design]\nmodes = 4\nsize = 8\ncompare_linear = false\nverify = false\n"
    folder = write(HELD, DAMPING, TARGET, asked + "motion_error = true\n")
    result = design("bar.toml")
    page = (folder / "bar_design" / "report.html").read_text(encoding="utf-8")
    for name, text in known_of(result.subject):
        assert f"<th>{name}, reduced</th><td>{escape(text)}</td>" in page
    assert 0.0 < result.motion_error.error < 0.5
    assert error_text(result.motion_error) in page
    write(HELD, DAMPING, TARGET, asked)
    assert design("bar.toml", overwrite=True).motion_error is None


def test_hanging_and_shaken_bodies_are_designed_about_their_equilibrium(write):
    shaken = HELD + "oscillation = { amplitude = [0, 0.02, 0], frequency = 2, duration = 0.4 }\n"
    folder = write(shaken, DAMPING, TARGET, QUICK, changes=[HANGING, ("1.5", "0.2")])
    assert main(["design", "bar.toml", "-q"]) == 0
    assert load_damping("bar_design/damping.toml").about is not None
    page = (folder / "bar_design" / "report.html").read_text(encoding="utf-8")
    assert "The motion is that of the scene" in page


def test_saved_damping_can_be_designed_again(write):
    write(HELD, DAMPING, TARGET, FULL)
    assert main(["design", "bar.toml", "-q"]) == 0
    first = load_damping("bar_design/damping.toml")
    changed = TARGET.replace("60 %", "40 %").replace('"bend"', "1")
    write(HELD, '[damping]\nfile = "bar_design/damping.toml"\n', changed, FULL)
    assert main(["design", "bar.toml", "-q", "--overwrite"]) == 0
    assert load_damping("bar_design/damping.toml").curves[0](0.5) > 1.5 * first.curves[0](0.5)


def test_earlier_design_is_protected_and_quiet_says_nothing(write, capsys, refused):
    folder = write(HELD, DAMPING, TARGET, FULL)
    (folder / "bar_design").mkdir()
    (folder / "bar_design" / "damping.toml").write_text("mine")
    refused("design bar.toml", "bar_design/damping.toml exists", "--overwrite")
    assert (folder / "bar_design" / "damping.toml").read_text() == "mine"
    assert main(["design", "bar.toml", "--quiet", "--overwrite", "--threads", "1"]) == 0
    sp.set_thread_count(0)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""
    load_damping("bar_design/damping.toml")


def test_unmet_target_is_3_with_its_reason_and_files(write, capsys):
    target = TARGET.replace("60", "20")
    folder = write(
        HELD, DAMPING, TARGET.replace("0.5", "0.1"), target, FULL, "simulations = 2\nrounds = 1\n"
    )
    assert main(["design", "bar.toml"]) == 3
    captured = capsys.readouterr()
    assert "of 2 targets not met" in captured.err
    assert "not closer in" in captured.err
    assert "Traceback" not in captured.err
    assert "supple run bar.toml" in captured.out
    assert (folder / "bar_design" / "report.html").exists()
    load_damping("bar_design/damping.toml")


def test_motions_and_comparison_are_made_for_a_report_alone(write, monkeypatch):
    folder = write(HELD, DAMPING, TARGET, QUICK)
    for part in ("motions", "best_linear_damping", "write_design_report"):
        monkeypatch.setattr(f"supple.workflows.designing.{part}", interrupt)
    assert main(["design", "bar.toml", "--no-report"]) == 0
    write(HELD, DAMPING, TARGET, QUICK, changes=[("formats = []", "report = false")])
    assert main(["design", "bar.toml", "--overwrite"]) == 0
    assert [path.name for path in (folder / "bar_design").iterdir()] == ["damping.toml"]


# -- stopping ------------------------------------------------------------------------------


@pytest.mark.parametrize("mine", [[], ["damping.toml", "report.html"]])
def test_interrupted_design_leaves_the_folder_as_it_was(write, monkeypatch, refused, mine):
    folder = write(HELD, DAMPING, TARGET, FULL)
    for name in mine:
        (folder / "bar_design").mkdir(exist_ok=True)
        (folder / "bar_design" / name).write_text("mine")
    monkeypatch.setattr("supple.design.inverse.make_testbed", interrupt)
    refused("design bar.toml --overwrite", "Nothing was written", code=130)
    there = ["bar.toml", "bar_design"] if mine else ["bar.toml"]
    assert sorted(path.name for path in folder.iterdir()) == there
    for name in mine:
        assert (folder / "bar_design" / name).read_text() == "mine"


@pytest.mark.parametrize(("part", "space"), [("verified", QUICK), ("motions", FULL)])
def test_damping_is_told_and_written_before_all_else(write, monkeypatch, capsys, part, space):
    """Killed while it is checked or reported, the table has been shown."""
    folder = write(HELD, DAMPING, TARGET, space)
    with monkeypatch.context() as patched:
        patched.setattr(f"supple.workflows.designing.{part}", interrupt)
        assert main(["design", "bar.toml"]) == 130
    captured = capsys.readouterr()
    assert "wanted" in captured.out
    assert "The damping is whole" in captured.err
    found = (folder / "bar_design" / "damping.toml").read_bytes()
    load_damping("bar_design/damping.toml")
    assert main(["design", "bar.toml", "--resume"]) == 0  # the rest, and the same
    assert (folder / "bar_design" / "damping.toml").read_bytes() == found
    there = sorted(path.name for path in (folder / "bar_design").iterdir())
    assert there == ["damping.toml", "report.html"]


def test_contradictions_are_told_in_words_alone(write, refused, monkeypatch):
    def fails(*_, **__):
        warnings.warn("two wishes contradict each other", sp.DesignWarning, stacklevel=2)
        raise sp.InputError("no more")

    write(HELD, DAMPING, TARGET)
    monkeypatch.setattr("supple.cli.design.design", fails)
    said = refused("design bar.toml", "note: two wishes contradict each other", "supple: no more")
    assert "DesignWarning" not in said


def test_motion_that_fails_leaves_a_report_without_it(write, monkeypatch, capsys):
    write(HELD, DAMPING, TARGET, FULL)
    failure = sp.StepFailed("no", time=0.0, residual=1.0, advice="Try.")
    monkeypatch.setattr("supple.workflows.designing.motions", raising(failure))
    assert main(["design", "bar.toml"]) == 0
    assert "note: the report has no motion" in capsys.readouterr().err


# -- what is missing -----------------------------------------------------------------------


def test_scene_without_examples_is_told_what_to_add(write, refused, tmp_path):
    write(HELD)
    lines = refused("design bar.toml", "no examples").partition("instance:\n")[2]
    write(HELD, lines, FULL)
    assert main(["design", "bar.toml", "-q"]) == 0, "the advice works"


def test_scene_without_targets_is_told_what_to_add(write, refused):
    write(HELD, DAMPING)
    refused("design bar.toml", "no targets", 'example = "bend"')
    write(HELD, "[damping]\nmass = 1\n")
    assert "[damping]" not in refused("design bar.toml", "[[damping.examples]]")


@pytest.mark.parametrize(
    ("parts", "changes", "words"),
    [
        ((DAMPING.replace("= 1", "= 7"), TARGET), [], ["must be held", "[[supports]]"]),
        ((HELD, DAMPING, TARGET, "[design]\nsize = 4000\n"), [], ["[design]", "size=4000"]),
        ((HELD, DAMPING, TARGET.replace("bend", "bond")), [], ["targets[0].example", "bend"]),
        ((HELD, KEYS, DAMPING, TARGET), [], ["displaced at time 0"]),
        (AT_REST, [("fps = 60", "fps = 2")], ["bend from 0.5", "less than 4 steps of 500 ms"]),
        (AT_REST, [HANGING], ['about = "equilibrium"']),
    ],
)
def test_what_cannot_be_designed_says_why(write, refused, parts, changes, words):
    folder = write(*parts, changes=changes)
    refused("design bar.toml", *words)
    assert not (folder / "bar_design").exists()


def test_release_that_fails_costs_its_own_target(write, monkeypatch, refused):
    """The other is met, and the damping is written."""
    targets = TARGET.replace("0.5", "0.01"), TARGET.replace("0.5", "2")
    write(HELD, DAMPING, *targets, QUICK)
    real = ReducedTestbed.unload

    def unload(self, damping, example, start, watch):
        if start == 2:
            raise sp.StepFailed("it was made to", time=0.1, residual=1.0, advice="")
        return real(self, damping, example, start, watch)

    monkeypatch.setattr(ReducedTestbed, "unload", unload)
    words = "bend from 2: 60 % left after one cycle: a step fails instead of 1.2", "it was made to"
    told = refused("design bar.toml --no-report -q", *words, code=3)
    assert "bend from 0.01" not in told
    assert "nan" not in told
    curve = load_damping("bar_design/damping.toml").curves[0]
    assert curve(0.01) > 1.2


def test_surface_that_is_filled_anew_by_each_run_is_refused(write, monkeypatch, refused):
    mesh = sp.TetMesh.box((1.0, 0.2, 0.1), (4, 1, 1))
    sp.write_surface(mesh.boundary(), "bar.obj")
    monkeypatch.setattr(sp.TetMesh, "from_surface", lambda *_, **__: mesh)
    box = next(line for line in BODY.splitlines() if line.startswith("box"))
    changes = [(box, 'surface = "bar.obj"\nedge = 0.2')]
    write(HELD, DAMPING, TARGET, changes=changes)
    refused("design bar.toml", "supple convert")
    save_damping(load_scene("bar.toml").damping, "damping.toml")
    write(HELD, '[damping]\nfile = "damping.toml"\n', TARGET, changes=changes)
    refused(["run", "bar.toml"], "damping.file", "supple convert")


def test_output_that_is_a_file_is_named(write, refused):
    (write(HELD, DAMPING, TARGET) / "taken").write_text("")
    refused("design bar.toml -o taken", "taken is a file")


# -- in words ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[damping]\nmass = 0.5\n", ["Rayleigh: mass 0.5 1/s"]),
        ("[damping]\nmodel = 'Caughey'\ncoefficients = [0.5, 1e-3]\n", ["Caughey: 0.5, 0.001"]),
        (DAMPING + "curve = 3\n", ["Rayleigh: mass 0.5", "bend: γ = 3"]),
        (DAMPING + "measure = 'rate'\ncurve = { linear = [[0, 1], [1, 2]] }\n",
         ["γ = 1 at 0, 2 at 1 (linear) by rate"]),
        ("[damping]\nmass = 1\noverall = 2\n", ["all of it by the displacement [m]: γ = 2"]),
    ],
)  # fmt: skip
def test_damping_of_every_kind_is_told_in_words(write, text, words):
    write(HELD, text)
    scene = load_scene("bar.toml")
    for word in words:
        assert word in damping_text(scene.dampings)
        assert word in dict(facts(scene))["Damping"]


def test_matrix_from_a_file_is_told_in_words(write):
    write(HELD)
    n = 3 * load_scene("bar.toml").body.n_vertices
    save_damping(sp.Viscous(np.eye(n)), "matrix.toml")
    write(HELD, '[damping]\nfile = "matrix.toml"\n')
    assert damping_text(load_scene("bar.toml").dampings).startswith("Viscous")


@pytest.mark.parametrize(
    ("thing", "words"),
    [
        (sp.SelfContact(stiffness=2e5), "stiffness 2e+05 Pa"),
        (sp.MatchedStrainRate(stiffness=2e-3), "stiffness 0.002 s"),
        (sp.HingeBending(rest_angles=0.5), "rest angles 0.5 rad"),
        (sp.ClothStrainRate(shear=0.1), "shear 0.1 N s/m"),
    ],
)
def test_options_have_the_units_of_their_parameters(thing, words):
    assert words in options_text(thing)


# -- going on, and more kinds of wishes ----------------------------------------------------


def test_interrupted_design_keeps_the_best_and_goes_on(write, monkeypatch, refused, tells):
    """To the same bytes as one that was not interrupted."""
    other = TARGET.replace("0.5", "0.2").replace("60", "45")
    folder = write(HELD, DAMPING, TARGET, other, QUICK)
    assert main(["design", "bar.toml", "-q", "--no-report", "-o", "whole"]) == 0
    real, made = ReducedTestbed.unload, []

    def unload(self, *given):
        made.append(given)
        if len(made) == 6:
            raise KeyboardInterrupt
        return real(self, *given)

    with monkeypatch.context() as patched:
        patched.setattr(ReducedTestbed, "unload", unload)
        words = "The best so far", "of 2 targets met", "--resume"
        refused("design bar.toml --no-report", *words, code=130)
    best = load_damping("bar_design/damping.toml")
    assert best.wishes is not None
    refused("design bar.toml --no-report", "was interrupted", "--resume", "--overwrite")
    refused("design bar.toml --resume --overwrite", "give one")
    made.clear()
    tells("design bar.toml --no-report --resume", "wanted")
    there = sorted(path.name for path in (folder / "bar_design").iterdir())
    assert there == ["damping.toml"]
    whole = (folder / "whole" / "damping.toml").read_bytes()
    assert (folder / "bar_design" / "damping.toml").read_bytes() == whole


def test_envelopes_and_recordings_of_scenes(write, tells, refused):
    t = np.linspace(0, 3, 900)
    drawn = TARGET.replace(
        'wish = "60 % left after one cycle"', "envelope = [[0.3, 0.7], [0.9, 0.4]]"
    )
    folder = write(HELD, DAMPING, drawn, QUICK)
    x = np.exp(-0.9 * t) * np.cos(18 * t)
    np.savetxt(folder / "ring.csv", np.stack([t, x], axis=1))
    (target,) = load_scene("bar.toml").targets
    assert target.residual == sp.Envelope([(0.3, 0.7), (0.9, 0.4)])
    for goal in ('recording = "ring.csv"', 'wish = "like ring.csv"'):
        write(HELD, DAMPING, TARGET.replace('wish = "60 % left after one cycle"', goal), QUICK)
        (target,) = load_scene("bar.toml").targets
        for when, share in target.residual.points:
            assert share == pytest.approx(np.exp(-0.9 * when), rel=0.02)
    write(HELD, DAMPING, TARGET.replace("60 % left after one cycle", "soon"), QUICK)
    refused("design bar.toml", "targets[0].wish", "10 % after three cycles")
    three = TARGET.replace("60 % left after one cycle", "60 % in each of two cycles")
    write(HELD, DAMPING, three, QUICK + "relaxed = true\n")
    tells("design bar.toml --no-report", "60 % left in each of 2 cycles")
