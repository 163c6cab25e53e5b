"""``sp.workflows.run`` and ``design``: what the commands do, from Python."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from tests.cli.helpers import BODY, DAMPING, HELD, QUICK, SCENE
from tests.refusals import refused

import supple as sp
from supple.damping import load_damping

QUIET = {"formats": (), "report": False}


@pytest.fixture(autouse=True)
def scene(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("supple.io.report.run_report._STILL_SIZE", (58, 69))
    (tmp_path / "bar.toml").write_text(SCENE)
    return tmp_path


def test_a_run_returns_its_motion_and_what_it_wrote(capsys):
    heard = []
    result = sp.workflows.run("bar.toml", "out", progress=lambda *call: heard.append(call))
    assert len(result.motion) == 7
    np.testing.assert_array_equal(
        result.motion.displacements, sp.read_motion(result.motion_file).displacements
    )
    names = [path.name for path in result.files]
    assert names == ["motion.motion", "motion.glb", "report.html"]
    assert all(path.parent == Path("out") and path.is_file() for path in result.files)
    assert result.exports[0].gltf.max_error < 1e-3
    assert result.steps.shape == (6, 2)
    assert (6, 6, "steps") in heard
    assert capsys.readouterr() == ("", "")  # the library never prints
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.seconds = 0.0


def test_the_motion_is_known_before_exports_and_report(monkeypatch):
    heard = []

    def found(result):
        heard.append(result)
        assert result.motion_file.is_file()
        assert not (result.motion_file.parent / "motion.glb").exists()

    result = sp.workflows.run("bar.toml", found=found)
    assert heard[0].motion is result.motion
    assert heard[0].exports == ()
    assert heard[0].report is None


def test_changes_are_tables_of_the_scene_and_asked_for_again():
    damped = {"damping": {"mass": 50.0}}
    first = sp.workflows.run("bar.toml", changes=damped, asked="damped", **QUIET)
    assert isinstance(first.scene.damping, sp.Rayleigh)
    same = sp.workflows.run("bar.toml", changes=damped, asked="damped", resume=True, **QUIET)
    assert len(same.steps) == 0
    refused("was recorded with damped", sp.workflows.run, "bar.toml", resume=True, **QUIET)
    refused("was read already", sp.workflows.run, first.scene, changes=damped)


@pytest.mark.parametrize(
    ("options", "words", "parameter"),
    [
        ({}, "resume=True goes on with it, overwrite=True replaces it", "resume"),
        ({"resume": True, "overwrite": True}, "give one", "resume"),
        ({"overwrite": True, "fps": 0}, "fps=0: give a finite number", "fps"),
        ({"overwrite": True, "formats": ["fbx"]}, "formats='fbx': a motion becomes", "formats"),
        ({"overwrite": True, "duration": -1.0}, "duration=-1.0", "duration"),
    ],
)
def test_errors_speak_of_python_and_name_their_parameter(options, words, parameter):
    sp.workflows.run("bar.toml", **QUIET)
    with pytest.raises(sp.InputError) as caught:
        sp.workflows.run("bar.toml", **options)
    assert words in str(caught.value)
    assert caught.value.parameter == parameter
    assert "--" not in str(caught.value)


def test_scenes_that_were_read_run_as_well():
    scene = sp.load_scene("bar.toml")
    result = sp.workflows.run(scene, duration=0.05, fps=30.0, formats=["usda"], report=False)
    assert result.scene is scene
    assert result.motion_file == Path("bar/motion.motion")
    assert [each.path.name for each in result.exports] == ["motion.usda"]
    assert "timeCodesPerSecond = 30" in result.exports[0].path.read_text()


# -- design ----------------------------------------------------------------------------------

TARGET = "[[targets]]\nexample = 'bend'\nstart = 0.5\nsettle = 0.9\n"
REST = "[time]\nduration = 0.2\nfps = 60\n[output]\nreport = false\n"


@pytest.fixture
def wish(scene):
    parts = BODY, HELD, DAMPING, TARGET, QUICK.replace("false", "true"), REST
    (scene / "bar.toml").write_text("".join(parts))


def test_a_design_settles_in_the_time_that_was_wished(wish, capsys):
    heard = []
    result = sp.workflows.design("bar.toml", found=heard.append)
    assert result.met
    (target,) = result.fit.report.results
    assert target.wanted == pytest.approx(0.5 * 0.05)
    assert result.damping_file == Path("bar_design/damping.toml")
    assert load_damping(result.damping_file).curves == result.fit.damping.curves
    # The damping is told before it is checked in full space; nothing is made for a report.
    assert [len(each.checks) for each in heard] == [0, 1]
    assert result.report is None
    assert result.runs == ()
    assert result.linear is None
    assert capsys.readouterr() == ("", "")


def test_an_earlier_design_is_protected(wish):
    first = sp.workflows.design("bar.toml", "out")
    with pytest.raises(sp.InputError, match="overwrite=True replaces it") as caught:
        sp.workflows.design("bar.toml", "out")
    assert caught.value.parameter == "overwrite"
    again = sp.workflows.design(sp.load_scene("bar.toml"), "out", overwrite=True)
    assert again.fit.damping.curves == first.fit.damping.curves
