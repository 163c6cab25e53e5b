"""``supple demo``"""

import supple as sp
from supple.cli import main

from .helpers import SCENE


def test_demo_writes_a_scene_to_play_with(tmp_path, monkeypatch, capsys):
    from supple.cli import demo

    monkeypatch.chdir(tmp_path)
    small = SCENE.replace("duration = 0.1", "duration = 0.05")
    monkeypatch.setattr(demo, "_SCENE", small + "[damping]\nmass = 0.1\n")
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    assert "report.html" in out
    made = {path.name for path in (tmp_path / "demo").iterdir()}
    assert made == {
        "scene.toml", "light.motion", "light.glb", "strong.motion", "strong.glb", "report.html",
    }  # fmt: skip
    assert "Side by side" in (tmp_path / "demo" / "report.html").read_text()
    assert main(["demo", "--quiet"]) == 0
    (tmp_path / "demo" / "scene.toml").write_text(SCENE)
    assert main(["demo"]) == 1
    assert "was changed" in capsys.readouterr().err


def test_demo_ships_a_scene_that_is_right(tmp_path):
    from supple.cli.demo import _SCENE
    from supple.io import load_scene

    (tmp_path / "scene.toml").write_text(_SCENE)
    scene = load_scene(tmp_path / "scene.toml")
    assert set(scene.body.material) == {"belly", "ears", "everything else"}
    assert scene.skin is not None
    assert scene.damping == sp.Rayleigh(mass=0.1, stiffness=0.003)
