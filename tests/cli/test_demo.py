"""``supple demo``"""

import numpy as np
import pytest

import supple as sp
from supple.cli import main
from supple.io import load_scene
from supple.workflows import demonstration

_SMALL = """\
title = "A small design"

[mesh]
box = { size = [1.0, 0.2, 0.1], cells = [4, 1, 1], bricks = true }

[material]
model = "StVK"
young = 1e6
poisson = 0.3

[[supports]]
x = 0

[damping]
mass = 0.5

[[damping.examples]]
name = "one"
mode = 1

[[damping.examples]]
name = "two"
mode = 2

[[damping.examples]]
name = "three"
mode = 3

[[damping.examples]]
name = "four"
mode = 4

[[targets]]
example = "one"
start = 0.5
wish = "80 % left"

[design]
modes = 4
size = 6
compare_linear = false

[time]
duration = 0.1
fps = 60
"""


def test_demo_writes_a_scene_to_play_with(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(demonstration, "_SCENE", _SMALL)
    monkeypatch.setattr(demonstration, "_PULLED", (0.1, 0.1, 0.1, 0.1))
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    assert "report.html" in out
    folder = tmp_path / "demo"
    made = {path.name for path in folder.iterdir()}
    assert made == {"scene.toml", "by_hand.toml", "designed.toml", "report.html"}
    page = (folder / "report.html").read_text()
    assert all(name in page for name in ("Before", "By hand", "Designed", "Asked and got"))
    by_hand, designed = (
        sp.load_damping(folder / f"{name}.toml") for name in ("by_hand", "designed")
    )
    assert isinstance(by_hand, sp.ExampleDamping)
    assert isinstance(designed, sp.ExampleDamping)
    assert by_hand.curves[1] == sp.Curve.constant(10.0)
    assert len(designed.curves[0].points) == 1
    assert main(["demo", "--quiet"]) == 0
    (folder / "scene.toml").write_text(_SMALL + "# mine\n")
    assert main(["demo"]) == 1
    assert "was changed" in capsys.readouterr().err


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    path = tmp_path_factory.mktemp("demo") / "scene.toml"
    path.write_text(demonstration._SCENE, encoding="utf-8")
    return load_scene(path)


def test_demo_ships_a_scene_that_is_right(shipped):
    assert set(shipped.body.material) == {"belly", "ears", "everything else"}
    assert shipped.skin is not None
    names = [example.name for example in shipped.damping.examples]
    assert names == ["belly left-right", "belly up-down", "left ear", "right ear"]
    asked = [(target.start, target.residual) for target in shipped.targets]
    assert asked == [(0.8, 0.2), (1.6, 0.75), (0.8, 0.25), (1.6, 0.65)]


def test_examples_of_the_demo_move_what_they_say(shipped):
    """The numbers of the modes are those of the belly, the ears bend on their own sides."""
    mesh = shipped.body.mesh
    belly = np.unique(mesh.cells[mesh.region("belly")])
    sideways, upwards, left, right = (np.abs(e.shape) for e in shipped.damping.examples)
    assert sideways[belly, 0].mean() > 1.5 * sideways[belly, 1:].mean(axis=0).max()
    assert upwards[belly, 2].mean() > upwards[belly, :2].mean(axis=0).max()
    for shape, side in ((left, 1), (right, -1)):  # it looks towards −y: its left is at +x
        mine, other = (shape[side * sign * mesh.vertices[:, 0] > 0.02].max() for sign in (1, -1))
        assert other < 0.05 * mine
