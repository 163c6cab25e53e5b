"""``supple`` when things go wrong."""

import errno
import json
import os
import re
from importlib.util import find_spec

import numpy as np
import pytest
from tests.cli.helpers import SCENE, raising

import supple as sp
from supple.cli import main
from supple.workflows.running import Clock


def _stop_after(monkeypatch, frames, error):
    inner = Clock.__call__

    def call(self, done, total, what):
        if done > frames:
            raise error
        inner(self, done, total, what)

    monkeypatch.setattr(Clock, "__call__", call)


@pytest.mark.skipif(find_spec("pytetwild") is None, reason="needs the extra meshing")
@pytest.mark.parametrize("more", ["", "quadratic = true\nregions = { half = { x = [0, 0.5] } }\n"])
def test_resume_takes_the_recorded_filling_of_a_surface(scene, monkeypatch, capsys, more):
    sp.write_surface(sp.TetMesh.box((1.0, 0.2, 0.2), (3, 1, 1)).boundary(), "bar.obj")
    box = "box = { size = [1.0, 0.2, 0.2], cells = [3, 1, 1] }\n"
    text = SCENE.replace(box, f"surface = 'bar.obj'\nedge = 0.2\n{more}")
    (scene / "bar.toml").write_text(text.replace("x = 0\n", "x = 0\ntolerance = 0.03\n"))
    with monkeypatch.context() as patch:
        _stop_after(patch, 2, KeyboardInterrupt())
        assert main(["run", "bar.toml"]) == 130
    before = sp.read_motion("bar/motion.motion").mesh
    monkeypatch.setattr(sp.TetMesh, "from_surface", raising(AssertionError("meshed again")))
    assert main(["run", "bar.toml", "--resume"]) == 0, capsys.readouterr().err
    motion = sp.read_motion("bar/motion.motion")
    assert len(motion) == 7
    np.testing.assert_array_equal(motion.mesh.vertices, before.vertices)
    assert set(motion.mesh.regions) == set(before.regions)


def test_resume_with_nothing_to_resume_starts(scene, tells):
    tells(["run", "bar.toml", "--resume"], "nothing to resume; starting")


def test_y_up_scene_stands_upright(scene):
    def turned(name):
        data = (scene / name).read_bytes()
        length = int.from_bytes(data[12:16], "little")
        return "rotation" in json.loads(data[20 : 20 + length])["nodes"][0]

    (scene / "bar.toml").write_text(SCENE.replace("[0, 0, -9.81]", "[0, -9.81, 0]"))
    assert main(["run", "bar.toml", "-q"]) == 0
    assert not turned("bar/motion.glb")
    assert main(["convert", "bar/motion.motion", "a.glb", "-q"]) == 0
    assert not turned("a.glb")
    assert main(["convert", "bar/motion.motion", "b.glb", "--up", "z", "-q"]) == 0
    assert turned("b.glb")


def test_unfinished_motion_says_so(scene, monkeypatch, capsys):
    with monkeypatch.context() as patch:
        _stop_after(patch, 2, KeyboardInterrupt())
        main(["run", "bar.toml"])
    capsys.readouterr()
    assert main(["info", "bar/motion.motion"]) == 0
    assert re.search(r"unfinished: it has \d frames", capsys.readouterr().out)
    assert main(["convert", "bar/motion.motion", "a.glb"]) == 0
    assert re.search(r"unfinished: it has \d frames", capsys.readouterr().err)


def test_full_disk_tells_what_is_kept_and_how_to_go_on(scene, monkeypatch, refused):
    _stop_after(monkeypatch, 2, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    refused(["run", "bar.toml"], "no space is left", "disk of bar", "frames", "kept", "--resume")


@pytest.mark.parametrize("command", [["run", "bar.toml"], ["demo"]])
def test_output_that_is_a_file_is_named(scene, refused, command):
    (scene / "taken").write_text("")
    refused([*command, "-o", "taken"], "taken is a file")


def test_forbidden_folder_is_named_not_the_temporary_file(scene, monkeypatch, refused):
    name = str(scene / "closed" / ".a-12ab.glb")
    forbidden = PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)
    main(["run", "bar.toml", "-q"])
    monkeypatch.setattr("supple.workflows.converting.export_motion", raising(forbidden))
    closed = "may not be written in closed;"
    assert "12ab" not in refused("convert bar/motion.motion closed/a.glb", closed)


def test_too_little_memory_is_one_line(scene, monkeypatch, refused):
    greedy = raising(MemoryError("Unable to allocate 9 TiB"))
    monkeypatch.setattr("supple.workflows.running.load_scene", greedy)
    message = refused("run bar.toml")
    assert message.startswith("supple: not enough memory (Unable to allocate 9 TiB)")
    assert message.count("\n") == 1


@pytest.mark.parametrize("command", [["info"], ["convert", "-q"]])
def test_damaged_motion_says_so(tmp_path, refused, command):
    (tmp_path / "a.motion").write_bytes(b"\0" * 100)
    extra = ["a.glb"] if command[0] == "convert" else []
    refused([*command, "a.motion", *extra], "a.motion is damaged")


def test_info_lists_what_it_takes(tmp_path, refused):
    (tmp_path / "a.csv").write_text("1")
    told = refused("info a.csv", ".csv", ".msh", ".obj", ".motion", ".toml")
    assert "read_mesh" not in told
