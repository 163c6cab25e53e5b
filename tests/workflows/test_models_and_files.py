"""``sp.workflows``: reduce, play, convert and describe, from Python."""

from pathlib import Path

import numpy as np
import pytest

import supple as sp
from supple.workflows import Filling


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def post():
    sp.write_mesh(sp.TetMesh.box((0.2, 0.2, 1.0), (1, 1, 4)), "post.msh")
    return sp.workflows.reduce("post.msh", modes=4, size=6, fix=["z=min"], young=1e5)


def test_a_model_is_made_and_played(post, capsys):
    assert post.file == Path("post.supple")
    assert post.model.size == 6
    assert post.held_text == "z=min"
    assert len(post.held) == 4
    assert post.stiffness_text == "as said"
    assert post.too_stiff < 0.05
    played = sp.workflows.play(post.file, "page.html", seconds=0.1, export="run.glb")
    assert played.page.is_file()
    assert played.exported == Path("run.glb")
    assert played.gltf.max_error < 0.01
    assert played.moved > 0
    assert len(played.times) == 6
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("options", "parameter"),
    [
        ({"output": "post.txt"}, "output"),
        ({"fix": ["q=3"]}, "fix"),
        ({"fix": ["z=min"], "free": True}, "free"),
        ({"filling": Filling(voxels=3)}, "edge"),
        ({"material": "jelly"}, "material"),
        ({"basis": "modes", "modes": 2, "size": 5}, "size"),
        ({"young": -1.0}, "young"),
    ],
)
def test_what_cannot_be_reduced_names_the_parameter(post, options, parameter):
    with pytest.raises(sp.InputError) as caught:
        sp.workflows.reduce("post.msh", **options)
    assert caught.value.parameter == parameter
    assert "--" not in str(caught.value)


def test_a_pull_at_a_held_vertex_names_the_parameter(post):
    with pytest.raises(sp.InputError, match="is held") as caught:
        sp.workflows.play(post.file, pull=(0, 0.0, 0.0, 1.0))
    assert caught.value.parameter == "pull"


def test_a_motion_is_converted_at_another_rate():
    mesh = sp.TetMesh.box((1.0, 0.2, 0.2), (3, 1, 1))
    body = sp.Body(mesh, sp.StVK(young=1e5, poisson=0.3), fixed=mesh.where(x=0))
    motion = sp.Simulation(body, dt=1 / 60, gravity=(0, 0, -9.81)).run(0.2)
    motion.save("run.motion")
    made = sp.workflows.convert("run.motion", "run.usda", fps=24)
    text = made.file.read_text()
    assert "timeCodesPerSecond = 24" in text
    assert "endTimeCode = 4" in text
    with pytest.raises(sp.InputError) as caught:
        sp.workflows.convert("run.motion", "run.glb", edge=0.1)
    assert str(caught.value) == "edge, epsilon, voxels and scale are for meshes and surfaces"


def test_frames_at_another_rate_are_between_the_recorded_ones():
    mesh = sp.TetMesh.box((1.0, 0.2, 0.2), (1, 1, 1))
    body = sp.Body(mesh, sp.StVK(young=1e5, poisson=0.3))
    motion = sp.Simulation(body, dt=1 / 50, gravity=(0, 0, -9.81)).run(0.1)
    for rate, count in ((50, 6), (100, 11), (24, 3), (1, 1)):
        shown = motion.at_rate(rate)
        assert len(shown) == count
        np.testing.assert_allclose(np.diff(shown.times), 1 / rate, rtol=1e-12)
        for time, u in zip(shown.times, shown.displacements, strict=True):
            np.testing.assert_allclose(u, motion.at(time), atol=1e-15)
    np.testing.assert_allclose(motion.at_rate(50).kinetic, motion.kinetic)


def test_files_are_described():
    sp.write_mesh(sp.TetMesh.box((0.2, 0.2, 1.0), (1, 1, 4)), "post.msh")
    found = sp.workflows.describe("post.msh")
    assert (found["kind"], found["file"]) == ("tets", "post.msh")
    assert found["volume"] == pytest.approx(0.04)
