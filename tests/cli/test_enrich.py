"""``supple enrich``"""

from __future__ import annotations

import re
import shutil
import warnings

import numpy as np
import pytest
from tests.character.posts import post
from tests.cli.helpers import interrupt, raising

from supple.character.model.file import load_pose_space_model
from supple.cli import main
from supple.core.errors import ContactNotKept
from supple.io.gltf.played import PlayedGltf
from supple.io.gltf.source import GltfSource
from supple.workflows.enrich.options import QUALITIES, Quality


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a character, and a quality that takes a second."""
    monkeypatch.setitem(QUALITIES, "draft", Quality(120, 2, 3, 5, 4, 8, 0.02, False))
    monkeypatch.setattr("supple.workflows.enrich.page._STILL_SIZE", (58, 58))
    post(tmp_path)
    return tmp_path


def test_whole_command(folder, refused, tells):
    words = ["--quality", "draft", "--settle", "600ms", "--soft", "upper=2", "--report", "p.html"]
    words += ["--model", "post.supple"]
    parts = "post_soft.glb", "2, of which 1 loop", "settles", "0.6 s", "morph targets"
    told = tells(["enrich", "post.glb", *words], *parts)
    (errors,) = re.findall(r"^  cubature +(elastic forces off .*)$", told, re.MULTILINE)
    assert re.fullmatch(
        r"elastic forces off by up to \S+ % in training, \S+ % between poses; "
        r"inertial forces off by up to \S+ % in training, \S+ % between poses",
        errors,
    )
    page = (folder / "p.html").read_text()
    assert "as it came" in page
    assert errors in page
    assert (folder / "post.supple").stat().st_size > 1000
    t = np.linspace(0, 0.5, 13)
    before, after = PlayedGltf("post.glb"), PlayedGltf("post_soft.glb")
    assert np.abs(after.positions("shake", t) - before.positions("shake", t)).max() > 1e-4
    # The model is there: the next one is quick, and other flesh needs another model.
    again = ["enrich", "post.glb", "-o", "again.glb", "--clips", "sha*", "--model", "post.supple"]
    assert main([*again, "--quality", "draft", "-q"]) == 0
    assert main([*again, "--soft", "upper=2", "-q", "--quality", "draft"]) == 0  # the same as then
    refused([*again, "--soft", "2"], "--soft changes the flesh, which post.supple has made already")
    refused([*again, "--no-skull", "--seed", "3"], "--no-skull and --seed change the flesh")
    refused([*again, "--quality", "good"], "--quality changes the flesh")


def test_interrupted_after_the_model_it_goes_on_from_there(folder, capsys, monkeypatch):
    words = ["enrich", "post.glb", "--quality", "draft", "--soft", "upper=2", "--model", "m.supple"]
    with monkeypatch.context() as patch:
        patch.setattr("supple.workflows.enrich.enrich.secondary_motion", interrupt)
        assert main(words) == 130
    assert "the same command goes on from it" in capsys.readouterr().err
    assert not (folder / "post_soft.glb").exists()
    written = (folder / "m.supple").stat().st_mtime_ns
    assert main(words) == 0
    assert (folder / "m.supple").stat().st_mtime_ns == written


def test_a_contact_that_is_left_out_is_told(folder, capsys, monkeypatch):
    refuse = raising(ContactNotKept("its rows depend on each other"))
    monkeypatch.setattr("supple.character.training.basis.self_contact", refuse)
    assert main(["enrich", "post.glb", "--quality", "draft", "--clips", "bend"]) == 0
    assert "note: without contact: pose 1: its rows depend" in capsys.readouterr().err


def test_without_softness_the_clips_come_back(folder, capsys):
    assert main(["enrich", "post.glb", "--soft", "0"]) == 0
    assert "nothing is soft" in capsys.readouterr().err
    assert (folder / "post_soft.glb").exists()


@pytest.fixture
def read(monkeypatch):
    """Names of the glTF files that are read, each time."""
    found = []

    def counted(source, file, _read=GltfSource._read):
        found.append(file.name)
        _read(source, file)

    monkeypatch.setattr(GltfSource, "_read", counted)
    return found


def test_a_character_is_read_once_from_its_words_to_its_page(folder, read):
    words = ["--clips", "sha*", "--once", "bend", "--length", "2", "--quality", "draft"]
    assert main(["enrich", "post.glb", *words, "--report", "p.html", "-q"]) == 0
    assert read == ["post.glb"]
    assert main(["enrich", "post.glb", "--list"]) == 0
    assert read == ["post.glb"] * 2
    assert main(["info", "post.glb"]) == 0
    assert read == ["post.glb"] * 3


def herd(folder):
    (folder / "herd").mkdir()
    for name in ("a.glb", "b.glb"):
        shutil.copy("post.glb", folder / "herd" / name)
    return folder / "herd"


def test_a_folder_is_enriched_one_by_one_past_what_fails(folder, capsys):
    (herd(folder) / "damaged.glb").write_bytes(b"glTF")
    words = ["--soft", "0", "--clips", "bend"]
    assert main(["enrich", "herd", "-o", "out", *words]) == 1
    told = capsys.readouterr()
    assert "herd/damaged.glb is cut off" in told.err
    assert "2 of 3 files done" in told.out
    assert {file.name for file in (folder / "out").iterdir()} == {"a_soft.glb", "b_soft.glb"}
    # Results beside what they are of are not enriched again.
    (folder / "herd" / "damaged.glb").unlink()
    assert main(["enrich", "herd", "-o", "herd/", *words, "--report", "pages"]) == 0
    assert main(["enrich", "herd", "-o", "herd", *words]) == 0
    assert len(list((folder / "herd").iterdir())) == 4
    assert {file.name for file in (folder / "pages").iterdir()} == {"a.html", "b.html"}


def test_several_characters_need_folders(folder, refused):
    herd(folder)
    for file in ("--output x.glb", "--model x.supple"):
        refused(f"enrich herd/a.glb herd/b.glb {file}", f"{file}: 2 characters need a folder")
    alike = "post.glb, ./post.glb would be written under one name"
    refused("enrich post.glb herd/a.glb ./post.glb", alike)


def test_what_should_be_looked_at_is_told_last_and_is_exit_code_3(folder, capsys, refused):
    words = ["enrich", "post.glb", "--quality", "draft", "--clips", "bend"]
    much = "which is much; make it stiffer by a higher --frequency or less soft by --soft"
    now = "--swing is called --frequency now"
    told = refused([*words, "--swing", "0.25"], now, much, code=3)
    assert told.splitlines()[-1].startswith("look at it: flesh moves by ")
    assert main([*words, "--targets", "1", "--tolerance", "1e-4"]) == 3
    told = capsys.readouterr()
    assert re.search(r"look at it: the file has 1 morph target; .*give more --targets", told.err)
    assert re.search(r"^  error +\S+ mm at most, .* RMS; \S+ mm were asked for", told.out, re.M)


def test_a_frame_that_flesh_cannot_follow_is_looked_at(folder, monkeypatch, refused):
    import supple.workflows.enrich.enrich as workflow

    def unfollowed(*given, moved=workflow.secondary_motion, **options):
        warnings.warn("flesh could not follow bend at 1 of 15 frames", stacklevel=2)
        return moved(*given, **options)

    monkeypatch.setattr(workflow, "secondary_motion", unfollowed)
    words = "enrich post.glb --quality draft --clips bend"
    refused(words, "look at it: flesh could not follow bend", code=3)


def test_list_of_names(folder, tells):
    tells("enrich post.glb --list", "shake  (0.50 s)", "bend  (0.60 s)", "--soft", "lower, upper")
    assert not (folder / "post_soft.glb").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.glb"], "there is no file none.glb"),
        (
            ["post.glb", "-o", "x.fbx"],
            "--output x.fbx: the name of an enriched character ends in .glb, .usd",
        ),
        (["post.glb", "-o", "post.glb"], "--output post.glb would replace post.glb, which is read"),
        (["post.glb", "-o", "none/x.glb"], "there is no folder none"),
        (["post.glb", "--report", "x.txt"], "ends in .html"),
        (["post.glb", "--model", "x.npz"], "ends in .supple"),
        (["post.fbx"], "export it as one, as Blender can"),
        (["soft.glb"], "has flesh already, from an earlier run"),
        (["post.glb", "--clips", ""], "--clips [] names none; there is shake, bend"),
        (["post.glb", "--clips", "run"], "there is no clip 'run'; there is shake, bend"),
        (["post.glb", "--soft", "upprr=2"], "no joint or part is called 'upprr'; there is upper"),
        (["still.glb"], "no clip that moves its joints"),
    ],
)
def test_what_it_cannot_take(folder, refused, words, message):
    post(folder, clips=False, name="still.glb")
    (folder / "post.fbx").write_bytes(b"Kaydara FBX Binary")
    if "soft.glb" in words:
        assert main(["enrich", "post.glb", "-o", "soft.glb", "--quality", "draft"]) == 0
    refused(["enrich", *words], message)
    assert not (folder / "post_soft.glb").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--soft", "a=-1"], "softness is 0 or more"),
        (["--soft", "tail"], "'tail' has no number in it; tail=2 is twice as soft"),
        (["--soft", "tail=very"], "tail=2 is twice as soft, tail=0 rigid"),
        (["--settle", "fast"], "'fast' is not a time above 0; write 0.4s or 400ms"),
        (["--settle", "0s"], "'0s' is not a time above 0"),
        (["--settle", "-1s"], "'-1s' is not a time above 0; write 0.4s or 400ms"),
        (["--settle", "-.5s"], "'-.5s' is not a time above 0"),
        (["--seed", "-1"], "'-1' is not a whole number of 0 or more"),
        (["--quality", "x"], "choose from"),
    ],
)
def test_wrong_words(folder, refused, words, message):
    refused(["enrich", "post.glb", *words], message, code=2)
    assert not (folder / "post_soft.glb.checkpoint").exists()


def test_info_and_convert_know_characters_and_their_flesh(folder, capsys, info, refused):
    words = ["--quality", "draft", "-o", "soft.glb", "--model", "post.supple", "-q"]
    assert main(["enrich", "post.glb", *words]) == 0
    found, told = {}, {}
    for name in ("post.glb", "soft.glb", "post.supple"):
        found[name], told[name] = info(name)
    assert "none yet; supple enrich gives it some" in told["post.glb"]
    assert "shake (0.50 s), bend (0.60 s)" in told["soft.glb"]
    assert "morph targets that clips move" in told["soft.glb"]
    assert "supple enrich CHARACTER --model post.supple" in told["post.supple"]
    assert "elastic forces off by up to" in told["post.supple"]
    assert found["post.supple"]["kind"] == "pose-space model"
    measured = load_pose_space_model("post.supple").measured
    for force in ("elastic", "inertial"):
        largest = found["post.supple"]["cubature errors"][force]["between"]
        assert largest == max(measured[force]["between"]) > 0
    assert main(["convert", "soft.glb", "post.obj"]) == 0
    assert "its joints, clips and flesh stay behind" in capsys.readouterr().err
    for command in (["convert", "post.supple", "x.usd"], ["play", "post.supple"]):
        refused(command, "is a model of flesh")
    refused(["convert", "post.glb", "x.usd"], "supple enrich post.glb --output x.usdc")
