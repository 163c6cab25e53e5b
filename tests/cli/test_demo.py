"""``supple demo``"""

import numpy as np
import pytest
from tests.cli.helpers import BODY, HELD

import supple as sp
from supple.cli import main
from supple.io import load_scene
from supple.workflows import demonstration

_SMALL = (
    BODY
    + HELD
    + "[damping]\nmass = 0.5\n"
    + "".join(f"[[damping.examples]]\nname = 'mode {k}'\nmode = {k}\n" for k in (1, 2, 3, 4))
    + "[[targets]]\nexample = 'mode 1'\nstart = 0.5\nwish = '80 % left'\n"
    + "[design]\nmodes = 4\nsize = 6\ncompare_linear = false\n"
    + "[time]\nduration = 0.1\nfps = 60\n"
)


def test_demo_writes_a_scene_to_play_with(tmp_path, monkeypatch, refused, tells):
    monkeypatch.setattr(demonstration, "_SCENE", _SMALL)
    monkeypatch.setattr(demonstration, "_PULLED", (0.1, 0.1, 0.1, 0.1))
    tells(["demo"], "report.html")
    folder = tmp_path / "demo"
    made = {path.name for path in folder.iterdir()}
    assert made == {"scene.toml", "by_hand.toml", "designed.toml", "report.html"}
    page = (folder / "report.html").read_text()
    assert all(name in page for name in ("Before", "By hand", "Designed", "Asked and got"))
    by_hand, designed = (sp.load_damping(f"demo/{name}.toml") for name in ("by_hand", "designed"))
    assert by_hand.curves[1] == sp.Curve.constant(10.0)
    assert len(designed.curves[0].points) == 1
    assert main(["demo", "--quiet"]) == 0
    (folder / "scene.toml").write_text(_SMALL + "# mine\n")
    refused(["demo"], "was changed")


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
