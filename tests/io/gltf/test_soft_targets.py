"""Soft motion beside morph targets that a file came with."""

from __future__ import annotations

import json

import numpy as np
import pygltflib as gl
import pytest
from tests.character.sample_rigs import BAR, GltfBuilder, bar, morphed, turned_quarter
from tests.io.gltf.soft_bars import TIMES, soft

from supple.core.errors import InputError
from supple.io.gltf.document import GltfDocument
from supple.io.gltf.played import PlayedGltf
from supple.io.gltf.soft import soft_target_count
from supple.io.gltf.source import GltfSource
from supple.workflows.enrich.source import read_to_enrich

KEYS, VALUES = [0.0, 0.5, 1.0], np.array([0.0, 1.0, 0.5])
SLOPES = np.array([3.0, -2.0, 4.0])  # [1/s], from and to each key


def smiling(between: str) -> GltfBuilder:
    """A bar with one target, which two of three clips move; the first one bends the bar, too."""
    made = turned_quarter(bar())
    smile = np.zeros_like(BAR)
    smile[:, 1] = 0.3
    made.document.meshes[0].primitives[0].targets = [gl.Attributes(POSITION=made.add(smile))]
    made.document.meshes[0].weights = [0.25]
    cubic = np.stack([SLOPES, VALUES, SLOPES], axis=1).ravel()
    values = cubic if between == "CUBICSPLINE" else VALUES
    made.track(0, "weights", KEYS, values, between)
    made.clip("smile only")
    made.track(1, "translation", [0.0, 1.0], [(1, 0, 0), (1.5, 0, 0)])
    made.track(0, "weights", KEYS, values, between)
    made.clip("neither")
    made.track(1, "translation", [0.0, 1.0], [(1, 0, 0), (1.5, 0, 0)])
    return made


@pytest.mark.parametrize("between", ["LINEAR", "STEP", "CUBICSPLINE"])
def test_targets_that_were_there_still_play(tmp_path, between):
    made = soft(smiling(between), tmp_path)
    source, report, played = made.source, made.report, made.played
    document = played.document.json
    names = document["meshes"][0]["extras"]["targetNames"]
    assert names == ["target 1", *(f"soft {k + 1}" for k in range(report.targets))]
    assert document["meshes"][0]["weights"] == [0.25] + [0.0] * report.targets
    assert np.abs(made.off).max() < 1e-5
    old = PlayedGltf(source)
    for clip in ("smile only", "neither"):
        np.testing.assert_allclose(
            played.positions(clip, TIMES), old.positions(clip, TIMES), atol=1e-6
        )


@pytest.mark.parametrize("between", ["LINEAR", "STEP", "CUBICSPLINE"])
def test_weights_between_few_frames_go_as_they_went(tmp_path, between):
    """Frames that are not at the keys; weights of soft motion go straight from frame to frame."""
    times = np.array([0.0, 0.3, 0.7, 1.0])
    source, _, _, report, played = soft(smiling(between), tmp_path, times=times)
    dense = np.union1d(np.linspace(-0.1, 1.2, 400), [0.5 - 2e-5, 0.5])

    def weights(file: PlayedGltf, at):
        character = file.rigged.character
        return character.clip("bend").poses(character.rig, at).weights

    found = weights(played, dense)
    assert found.shape == (len(dense), 1 + report.targets)
    np.testing.assert_allclose(found[:, :1], weights(PlayedGltf(source), dense), atol=1e-6)
    frames = weights(played, times)[:, 1:]
    straight = np.stack([np.interp(dense, times, each) for each in frames.T], axis=1)
    np.testing.assert_allclose(found[:, 1:], straight, atol=1e-6)
    assert np.ptp(frames, axis=0).max() == pytest.approx(1.0)


@pytest.mark.parametrize("skinned", [True, False])
def test_node_without_flesh_keeps_the_mesh_that_it_shares(tmp_path, skinned):
    made = morphed(turned_quarter(bar()))
    made.document.nodes.append(gl.Node(name="twin", mesh=0, skin=0 if skinned else None))
    found = soft(made, tmp_path, change=np.repeat([1.0, 0.0], 15)[:, None], targets=9)
    json_ = found.played.document.json
    assert [json_["nodes"][k]["mesh"] for k in (0, 3)] == [1, 0]
    assert json_["meshes"][0] == GltfDocument(found.source).json["meshes"][0]
    assert np.abs(found.off).max() < 1e-5


def with_extras(folder, extras):
    """A file with two morph targets whose mesh has these extras."""
    source = morphed(turned_quarter(bar())).write(folder / "bar.gltf")
    document = json.loads(source.read_text())
    document["meshes"][0]["extras"] = extras
    source.write_text(json.dumps(document))
    return source


@pytest.mark.parametrize(
    ("extras", "names"),
    [
        (None, ["target 1", "target 2"]),
        ({"targetNames": None, "mine": 1}, ["target 1", "target 2"]),
        ({"targetNames": ["smile"]}, ["smile", "target 2"]),
        ({"targetNames": ["smile", "frown", "none"]}, ["smile", "frown"]),
    ],
)
def test_names_of_targets_are_as_many_as_targets(tmp_path, extras, names):
    report, out = (
        soft(with_extras(tmp_path, extras), tmp_path, targets=9).report,
        tmp_path / "soft.glb",
    )
    found = GltfDocument(out).json["meshes"][0]["extras"]
    assert found["targetNames"] == [*names, *(f"soft {k + 1}" for k in range(report.targets))]
    assert found.get("mine") == (extras or {}).get("mine")
    assert soft_target_count(GltfSource(out)) == report.targets
    with pytest.raises(InputError, match="flesh already"):
        read_to_enrich(out, None)


@pytest.mark.parametrize("extras", ["words", [1, 2], 3])
def test_extras_without_room_for_names_stay(tmp_path, extras):
    played = soft(with_extras(tmp_path, extras), tmp_path, targets=9).played
    assert played.document.json["meshes"][0]["extras"] == extras


@pytest.mark.parametrize(
    ("names", "count"),
    [
        (["soft frown", "soft smile"], 0),
        (["soft 1", "blink"], 0),
        (["blink", "soft 2"], 0),
        (["blink", "soft 1"], 1),
        (["soft 1", "soft 2"], 2),
    ],
)
def test_targets_are_flesh_only_where_all_their_names_are(tmp_path, names, count):
    assert soft_target_count(GltfSource(with_extras(tmp_path, {"targetNames": names}))) == count
