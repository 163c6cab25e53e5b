"""``supple enrich``"""

from __future__ import annotations

import numpy as np
import pytest

from supple.character.soft_character import QUALITIES, Quality
from supple.cli import main
from supple.io.played_gltf import PlayedGltf

from ..character.posts import post


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a character, and a quality that takes a second."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(QUALITIES, "draft", Quality(120, 2, 3, 5, 4, 8, 0.02, False))
    monkeypatch.setattr("supple.io.enrich_page._STILL_SIZE", (58, 58))
    post(tmp_path)
    return tmp_path


def test_help(capsys):
    assert main(["enrich", "--help"]) == 0
    text = capsys.readouterr().out
    assert "example:" in text
    assert "Exit codes" in text


def test_whole_command(folder, capsys):
    words = ["--quality", "draft", "--settle", "300ms", "--soft", "upper=2", "--report", "p.html"]
    assert main(["enrich", "post.glb", *words, "--model", "post.supple"]) == 0
    told = capsys.readouterr().out
    for part in ("post_soft.glb", "2, of which 1 loop", "settles", "0.3 s", "morph targets"):
        assert part in told
    assert "as it came" in (folder / "p.html").read_text()
    assert (folder / "post.supple").stat().st_size > 1000
    t = np.linspace(0, 0.5, 13)
    before, after = PlayedGltf("post.glb"), PlayedGltf("post_soft.glb")
    assert np.abs(after.positions("shake", t) - before.positions("shake", t)).max() > 1e-4
    # The model is there: the next one is quick, and other flesh needs another model.
    again = ["enrich", "post.glb", "-o", "again.glb", "--clips", "sha*", "--model", "post.supple"]
    assert main([*again, "--quality", "draft", "-q"]) == 0
    assert main([*again, "--soft", "2"]) == 1
    assert "--soft changes the flesh" in capsys.readouterr().err


def test_without_softness_the_clips_come_back(folder, capsys):
    assert main(["enrich", "post.glb", "--soft", "0"]) == 0
    assert "nothing is soft" in capsys.readouterr().err
    t = np.linspace(0, 0.5, 13)
    before, after = PlayedGltf("post.glb"), PlayedGltf("post_soft.glb")
    np.testing.assert_array_equal(after.positions("shake", t), before.positions("shake", t))


def test_list_of_names(folder, capsys):
    assert main(["enrich", "post.glb", "--list"]) == 0
    told = capsys.readouterr().out
    for part in ("shake  (0.50 s)", "bend  (0.60 s)", "--soft", "lower, upper"):
        assert part in told
    assert not (folder / "post_soft.glb").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.glb"], "there is no file none.glb"),
        (["post.glb", "-o", "x.fbx"], "the name must end in .glb"),
        (["post.glb", "-o", "post.glb"], "would replace the character"),
        (["post.glb", "-o", "none/x.glb"], "there is no folder none"),
        (["post.glb", "--report", "x.txt"], "ends in .html"),
        (["post.glb", "--model", "x.npz"], "ends in .supple"),
        (["post.glb", "--clips", "run"], "there is no clip 'run'; there is shake, bend"),
        (["post.glb", "--soft", "upprr=2"], "no joint or part is called 'upprr'; there is upper"),
        (["still.glb"], "no clip that moves its joints"),
    ],
)
def test_what_it_cannot_take(folder, capsys, words, message):
    post(folder, clips=False, name="still.glb")
    assert main(["enrich", *words]) == 1
    assert message in capsys.readouterr().err
    assert not (folder / "post_soft.glb").exists()


@pytest.mark.parametrize("words", [["--soft", "a=-1"], ["--settle", "soon"], ["--quality", "x"]])
def test_wrong_words(folder, capsys, words):
    assert main(["enrich", "post.glb", *words]) == 2
