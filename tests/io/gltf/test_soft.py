"""Soft motion in rigged files: positions that players compute, and all the rest as it was."""

from __future__ import annotations

import copy
import json
from functools import partial

import numpy as np
import pygltflib as gl
import pytest
from tests.character.posts import post
from tests.character.sample_rigs import BAR, SIDES, GltfBuilder, bar, morphed, turned_quarter
from tests.io.gltf.soft_bars import TIMES, soft
from tests.refusals import refused
from tests.workflows.enrich.kept import plain, untouched

from supple.character.runtime.soft_motion import SoftMotion
from supple.core.errors import MeshError
from supple.io.gltf.character import read_rigged
from supple.io.gltf.document import GltfDocument
from supple.io.gltf.played import PlayedGltf
from supple.io.gltf.soft import soft_target_count, write_soft_gltf
from supple.io.gltf.source import GltfSource
from supple.workflows.enrich.source import read_to_enrich


def test_players_put_vertices_where_the_flesh_is(tmp_path):
    made = soft(turned_quarter(bar()), tmp_path)
    assert np.abs(made.off).max() < 1e-5
    assert made.report.max_error < 1e-5
    assert made.report.bytes == (tmp_path / "soft.glb").stat().st_size
    untouched(made.source, tmp_path / "soft.glb", "meshes", "animations")
    plain(made.source, tmp_path / "soft.glb")


def test_weights_are_within_0_and_1(tmp_path):
    *_, report, played = soft(turned_quarter(bar()), tmp_path)
    document = played.document.json
    animation = document["animations"][0]
    (channel,) = [c for c in animation["channels"] if c["target"]["path"] == "weights"]
    sampler = animation["samplers"][channel["sampler"]]
    weights = played.document.array(sampler["output"]).reshape(len(TIMES), report.targets)
    assert weights.min() == 0.0
    assert weights.max() == 1.0
    assert sampler["interpolation"] == "LINEAR"
    np.testing.assert_allclose(played.document.array(sampler["input"]), TIMES, atol=1e-7)
    mesh = document["meshes"][0]
    assert mesh["weights"] == [0.0] * report.targets
    assert mesh["extras"]["targetNames"][0] == "soft 1"


def test_number_of_targets_is_bounded_and_the_error_told(tmp_path):
    made = soft(turned_quarter(bar()), tmp_path, targets=2)
    assert made.report.targets == 2
    off = np.linalg.norm(made.off, axis=2).max()
    assert made.report.max_error == pytest.approx(off, rel=1e-3)
    assert made.report.max_error > 1e-3
    assert soft(turned_quarter(bar()), tmp_path, targets=1).report.targets == 1


def test_a_quiet_clip_is_kept_beside_a_wild_one(tmp_path):
    """Within a share of its own motion, not of that of the wild one."""
    source = post(tmp_path)
    rigged = read_rigged(source)
    height = rigged.character.surface().vertices[:, 2]
    times, way = np.linspace(0.0, 0.5, 13), np.array([1.0, 0.3, 0.0])
    wild, quiet = (
        SoftMotion(clip, times, np.sin(k * height[:, None] + 9 * times[:, None, None]) * far * way)
        for clip, far, k in (("shake", 0.1, 2.0), ("bend", 1e-3, 7.0))
    )
    near = [0.04 * motion.largest for motion in (wild, quiet)]
    report = write_soft_gltf(
        rigged, tmp_path / "soft.glb", [wild, quiet], tolerance=near, targets=12
    )
    before, after = PlayedGltf(source), PlayedGltf(tmp_path / "soft.glb")
    turned = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]])  # z up to y up
    for motion, most in zip((wild, quiet), near, strict=True):
        at = motion.clip, motion.times
        moved = after.positions(*at) - before.positions(*at)
        off = np.linalg.norm(moved - motion.displacements @ turned.T, axis=2).max()
        assert off <= 1.05 * most
    assert report.max_error <= 1.05 * near[0]
    assert report.targets < 12


def test_no_softness_gives_the_file_back(tmp_path):
    made = soft(turned_quarter(bar()), tmp_path, height=0.0)
    assert made.report.targets == 0
    assert made.report.max_error == 0.0
    untouched(made.source, tmp_path / "soft.glb")
    assert not made.off.any()


def test_scaled_joints_and_file_units(tmp_path):
    """A file in which lengths before the skin are not those of the world."""
    made = soft(turned_quarter(bar(scale=(50.0, 50.0, 50.0))), tmp_path)
    assert np.abs(made.off).max() < 1e-4


def test_unknown_entries_survive(tmp_path):
    source = turned_quarter(bar()).write(tmp_path / "bar.gltf")
    document = json.loads(source.read_text())
    document["nodes"][0] |= {"extras": {"tag": [1, 2]}, "futureThing": 7}
    document["nodes"][1]["extras"], document["skins"][0]["extras"] = "words", [1, None]
    document["extensionsUsed"] = ["EXT_unheard_of"]
    document["extensions"] = {"EXT_unheard_of": {"deep": {"er": None}}}
    document["materials"] = [{"name": "m", "extensions": {"EXT_unheard_of": {}}}]
    document["images"] = [{"uri": "my%20skin.png"}]
    (tmp_path / "my skin.png").write_bytes(b"not really a picture")
    source.write_text(json.dumps(document))
    soft(source, tmp_path, targets=9)
    untouched(source, tmp_path / "soft.glb", "meshes", "animations")
    found = GltfSource(tmp_path / "soft.glb")
    image = found.json["images"][0]
    view = found.json["bufferViews"][image["bufferView"]]
    held = found.binary[view["byteOffset"] : view["byteOffset"] + view["byteLength"]]
    assert held == b"not really a picture"
    assert image["mimeType"] == "image/png"


def with_sword(made: GltfBuilder) -> GltfBuilder:
    """The bar holds a triangle that has no skin, on its outer bone."""
    blade = gl.Primitive(attributes=gl.Attributes(POSITION=made.add(np.eye(3))))
    made.document.meshes.append(gl.Mesh(name="sword", primitives=[blade]))
    made.document.nodes.append(gl.Node(name="sword", mesh=1))
    made.document.nodes[1].children = [3]
    return made


def test_mesh_without_a_skin_is_left_alone(tmp_path):
    made = soft(with_sword(turned_quarter(bar())), tmp_path)
    before = GltfDocument(made.source).json
    assert made.played.document.json["meshes"][1] == before["meshes"][1]
    assert np.abs(made.off).max() < 1e-5
    assert (~made.played.skinned).sum() == 3


def test_mesh_in_two_nodes_becomes_two(tmp_path):
    made = turned_quarter(bar())
    made.document.nodes.append(gl.Node(name="twin", mesh=0, skin=0))
    found = soft(made, tmp_path, change=np.repeat([1.0, -1.0], 15)[:, None], targets=9)
    assert [found.played.document.json["nodes"][k]["mesh"] for k in (0, 3)] == [0, 1]
    assert np.abs(found.off).max() < 1e-5


def test_primitives_that_share_vertices_share_targets(tmp_path):
    made = turned_quarter(bar())
    (primitive,) = made.document.meshes[0].primitives
    other = copy.deepcopy(primitive)
    primitive.indices, other.indices = (
        made.add(part.ravel(), "u2") for part in (SIDES[:3], SIDES[3:])
    )
    made.document.meshes[0].primitives.append(other)
    *_, played = soft(made, tmp_path)
    first, second = played.document.json["meshes"][0]["primitives"]
    assert first["targets"] == second["targets"]


def test_sparse_and_quantized_vertices(tmp_path):
    made = turned_quarter(bar())
    primitive = made.document.meshes[0].primitives[0]
    primitive.attributes.POSITION = made.add(np.round(1000 * BAR), "i2")
    made.document.extensionsUsed = ["KHR_mesh_quantization"]
    made.document.extensionsRequired = ["KHR_mesh_quantization"]
    binds = np.tile(np.diag([1e-3, 1e-3, 1e-3, 1.0]), (2, 1, 1))
    binds[1, 0, 3] = -1.0
    made.document.skins[0].inverseBindMatrices = made.add(binds)
    assert np.abs(soft(made, tmp_path).off).max() < 1e-5


def test_normals_turn_along(tmp_path):
    made = turned_quarter(bar())
    attributes = made.document.meshes[0].primitives[0].attributes
    attributes.NORMAL = made.add(np.tile([0.0, 0.0, 1.0], (15, 1)))
    *_, played = soft(made, tmp_path)
    targets = played.document.json["meshes"][0]["primitives"][0]["targets"]
    assert all(set(target) == {"POSITION", "NORMAL"} for target in targets)
    changes = np.stack([played.document.array(target["NORMAL"]) for target in targets])
    assert np.abs(changes).max() > 0.01
    *_, without = soft(made, tmp_path, normals=False)
    (primitive,) = without.document.json["meshes"][0]["primitives"]
    assert all(set(target) == {"POSITION"} for target in primitive["targets"])


def test_root_that_is_none_is_left_out(tmp_path):
    for root, kept in ((1, None), (0, 0)):  # the inner joint does not hang on the outer one
        made = turned_quarter(bar())
        made.document.skins[0].skeleton = root
        *_, played = soft(made, tmp_path)
        assert played.document.json["skins"][0].get("skeleton") == kept


def test_packed_files_are_refused(tmp_path):
    made = turned_quarter(bar())
    made.document.extensionsUsed = ["EXT_meshopt_compression"]
    with pytest.raises(MeshError, match=r"packed by EXT_meshopt_compression.*without compression"):
        GltfDocument(made.write(tmp_path / "bar.glb"))
    (tmp_path / "cut.glb").write_bytes((tmp_path / "bar.glb").read_bytes()[:60])
    refused("cut off", GltfDocument, tmp_path / "cut.glb", error=MeshError)


def test_wrong_motions_are_refused(tmp_path):
    rigged = read_rigged(turned_quarter(bar()).write(tmp_path / "bar.glb"))
    write = partial(write_soft_gltf, rigged, tmp_path / "soft.glb", targets=3)
    few = SoftMotion("bend", TIMES, np.zeros((11, 3, 3)))
    refused("3 vertices; the character has 15", write, [few], tolerance=1)
    close = SoftMotion("bend", [0.5, 0.5 + 1e-9], np.ones((2, 15, 3)))
    refused("too close", write, [close], tolerance=1e-9)
    refused("each later", SoftMotion, "bend", [1.0, 0.0], np.zeros((2, 15, 3)))
    refused(r"\(2, n, 3\)", SoftMotion, "bend", [0.0, 1.0], np.zeros((3, 15, 3)))
    assert not (tmp_path / "soft.glb").exists()


def test_pictures_that_are_cut_off_are_refused(tmp_path):
    """New arrays would be written over the part that is missing."""
    made = turned_quarter(bar())
    view = len(made.document.bufferViews)
    made.document.images = [gl.Image(mimeType="image/png", bufferView=view)]
    made.add(np.arange(999))
    source = made.write(tmp_path / "bar.glb")
    source.write_bytes(source.read_bytes()[:-100])
    for reading in (read_rigged, GltfDocument):
        refused("has only", reading, source, error=MeshError)


# -- beside morph targets that a file came with ---------------------------------------------

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
    report = soft(with_extras(tmp_path, extras), tmp_path, targets=9).report
    out = tmp_path / "soft.glb"
    found = GltfDocument(out).json["meshes"][0]["extras"]
    assert found["targetNames"] == [*names, *(f"soft {k + 1}" for k in range(report.targets))]
    assert found.get("mine") == (extras or {}).get("mine")
    assert soft_target_count(GltfSource(out)) == report.targets
    refused("flesh already", read_to_enrich, out, None)


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
