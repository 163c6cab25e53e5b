"""Rigged files: bars whose answers are known, and characters made by others."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pygltflib as gl
import pytest
from tests.character.sample_rigs import (
    BAR,
    FIRST,
    FLAT,
    HALF,
    SHEAR,
    GltfBuilder,
    bar,
    morphed,
    turned_quarter,
)
from tests.refusals import refused

import supple as sp
from supple.character import Character
from supple.io.gltf.character import read_character, read_rigged


def read(made: GltfBuilder, folder, name: str = "bar.glb", **options) -> Character:
    return read_character(made.write(folder / name), **({"up": "y"} | options))


def edited(file: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """A .gltf file whose JSON is changed in place."""
    text = json.loads(file.read_text())
    change(text)
    file.write_text(json.dumps(text))
    return file


def quarter() -> np.ndarray:
    """The bar with its outer bone turned by a quarter about z at (1, 0, 0)."""
    x, y, z = BAR.T
    turned = np.stack([1 - y, x - 1, z], axis=1)
    return FIRST[:, None] * BAR + (1 - FIRST)[:, None] * turned


def assert_bent(file: Path) -> None:
    found = read_character(file, up="y").vertices_at(1.0)
    np.testing.assert_allclose(found, quarter(), atol=1e-6)


@pytest.mark.parametrize("name", ["bar.glb", "bar.gltf"])
def test_two_bones_bend_a_bar(tmp_path, name):
    man = read(turned_quarter(bar()), tmp_path, name)
    assert man.rig.names == ("scene", "holder", "inner", "outer")
    assert man.rig.parents.tolist() == [-1, 0, 1, 2]
    np.testing.assert_allclose(man.surface().vertices, BAR, atol=1e-7)
    np.testing.assert_allclose(man.vertices_at(1.0), quarter(), atol=1e-6)
    half = man.vertices_at([0.5, 7.0])
    np.testing.assert_allclose(half[1], quarter(), atol=1e-6)
    np.testing.assert_allclose(half[0, -3], [1 + HALF, HALF, 0], atol=1e-6)


@pytest.mark.parametrize("joints", ["u1", "u2"])
@pytest.mark.parametrize("weights", ["f4", "u1", "u2"])
def test_weights_of_all_kinds(tmp_path, joints, weights):
    man = read(turned_quarter(bar(joints=joints, weights=weights)), tmp_path)
    np.testing.assert_allclose(man.vertices_at(1.0), quarter(), atol=5e-3)


def test_scale_that_differs_along_the_axes(tmp_path):
    """The inner bone is scaled along x; the outer one turns within the frame it stretches."""
    man = read(turned_quarter(bar(scale=(2.0, 1.0, 3.0))), tmp_path)
    np.testing.assert_allclose(man.vertices_at(1.0), quarter() * [2, 1, 3], atol=1e-5)


def test_up_and_scale(tmp_path):
    man = read(turned_quarter(bar()), tmp_path, up="z", scale=10.0)
    x, y, z = 10 * quarter().T
    np.testing.assert_allclose(man.vertices_at(1.0), np.stack([x, -z, y], axis=1), atol=1e-5)


def test_the_place_of_a_skinned_mesh_does_not_count(tmp_path):
    """As glTF has it: a skin follows its joints alone."""
    made = turned_quarter(bar())
    made.document.nodes[0].children = []
    made.document.nodes.append(gl.Node(name="root", children=[2]))
    made.document.nodes[0].translation = [5.0, 5.0, 5.0]
    np.testing.assert_allclose(read(made, tmp_path).vertices_at(1.0), quarter(), atol=1e-6)


def test_several_parts_each_follow_their_own(tmp_path):
    """A second mesh with a skin of one joint, and a third without one, in the outer node."""
    made = turned_quarter(bar())
    first = made.document.meshes[0].primitives[0]
    again = gl.Primitive(attributes=first.attributes, indices=first.indices)
    made.document.meshes[0].primitives.append(again)
    triangle = np.eye(3)
    plain = gl.Primitive(attributes=gl.Attributes(POSITION=made.add(triangle)))
    made.document.meshes.append(gl.Mesh(primitives=[plain]))
    made.document.nodes[1].mesh = 1  # in the outer node
    single = gl.Primitive(
        attributes=gl.Attributes(
            POSITION=made.add(triangle + np.array([1, 0, 0])),
            JOINTS_0=made.add(np.zeros((3, 4)), "u1"),
            WEIGHTS_0=made.add(np.tile([1.0, 0, 0, 0], (3, 1))),
        )
    )
    bind = np.eye(4)
    bind[0, 3] = -1.0
    made.document.meshes.append(gl.Mesh(primitives=[single]))
    made.document.skins.append(gl.Skin(joints=[1], inverseBindMatrices=made.add(bind[None])))
    made.document.nodes.append(gl.Node(name="patch", mesh=2, skin=1))
    x = read(made, tmp_path).vertices_at(1.0)
    turned = np.stack([1 - triangle[:, 1], triangle[:, 0], triangle[:, 2]], axis=1)
    assert len(x) == 36
    np.testing.assert_allclose(x[:15], x[15:30])
    np.testing.assert_allclose(x[30:], np.tile(turned, (2, 1)), atol=1e-6)


def test_nodes_with_a_matrix(tmp_path):
    """A quarter turn about z, a mirror and a shift, written as one matrix by columns."""
    made = turned_quarter(bar())
    made.document.nodes[0].matrix = [0, -2, 0, 0, -2, 0, 0, 0, 0, 0, 2, 0, 1, 2, 3, 1]
    x, y, z = quarter().T
    expected = np.stack([1 - 2 * y, 2 - 2 * x, 3 + 2 * z], axis=1)
    np.testing.assert_allclose(read(made, tmp_path).vertices_at(1.0), expected, atol=1e-6)


def test_strips_and_fans(tmp_path):
    for mode, expected in (
        (gl.TRIANGLE_STRIP, [[0, 1, 2], [1, 3, 2], [2, 3, 4]]),
        (gl.TRIANGLE_FAN, [[0, 1, 2], [0, 2, 3], [0, 3, 4]]),
    ):
        made = bar()
        primitive = made.document.meshes[0].primitives[0]
        primitive.mode, primitive.indices = mode, made.add(np.arange(5), "u2")
        assert read(made, tmp_path).skin.triangles.tolist() == expected


def test_joints_without_a_name_get_one(tmp_path):
    made = bar()
    made.document.nodes[1].name = None
    assert read(made, tmp_path).rig.names == ("scene", "holder", "inner", "node 1")


def test_clips_that_are_not_there(tmp_path):
    man = read(turned_quarter(bar()), tmp_path)
    refused("no clip 'bent'; there is bend", man.clip, "bent")
    refused("has no clips", read(bar(), tmp_path).clip)
    two = turned_quarter(turned_quarter(bar()))
    refused("give the name of a clip; there is bend, bend 1", read(two, tmp_path).clip)


@pytest.mark.parametrize(
    ("name", "joints", "clips", "height", "closed"),
    [
        ("khronos_CesiumMan", 19, 1, (1.4, 1.6), True),
        ("khronos_Fox", 24, 3, (60.0, 90.0), True),
        ("quaternius_Cow", 42, 12, (4.0, 5.0), False),
    ],
)
def test_characters_made_by_others(assets, name, joints, clips, height, closed):
    man = read_character(assets / "characters" / f"{name}.glb")
    assert len(np.unique(man.skin.joints)) == joints
    assert len(man.clips) == clips
    rest = man.surface().bounds
    assert height[0] < rest[1, 2] - rest[0, 2] < height[1]
    diagonal = np.linalg.norm(rest[1] - rest[0])
    for clip in list(man.clips)[:3]:
        x = man.vertices_at([man.clip(clip).start, man.clip(clip).end], clip)
        assert np.linalg.norm(x.max(axis=(0, 1)) - x.min(axis=(0, 1))) < 2 * diagonal
    played = man.animated_mesh(next(iter(man.clips)), rate=10)
    assert played.surface().welded()[0].is_closed == closed


def test_walk_is_a_loop(assets):
    """48 frames of 1/24 s from the first of them: the last is one frame before the first."""
    man = read_character(assets / "characters" / "khronos_CesiumMan.glb")
    walk = man.clip()
    assert walk.period == pytest.approx(2.0)
    x = man.posed(walk.looped(man.rig, [0.0, 1.0, 2.0, 3.0]))
    np.testing.assert_allclose(x[:2], x[2:], atol=1e-12)
    steps = man.posed(walk.looped(man.rig, np.arange(49) / 24))
    way = np.linalg.norm(np.diff(steps, axis=0), axis=2).max(axis=1)
    assert way[-1] < way[:-1].max()


@pytest.mark.parametrize("cubic", [False, True])
def test_morph_targets_come_before_the_bones(tmp_path, cubic):
    """Swollen along z and then turned by a quarter about z."""
    made = morphed(turned_quarter(bar()), cubic=cubic)
    made.track(1, "rotation", (0.0, 1.0), [(0, 0, 0, 1), (0, 0, HALF, HALF)])
    read = sp.read_character(made.write(tmp_path / "bar.glb"), up="y")
    np.testing.assert_allclose(read.surface().vertices, BAR * [1.05, 1, 1], atol=1e-6)
    half = read.vertices_at(0.5, "swell")
    np.testing.assert_allclose(half[:, 2], 1.1 * BAR[:, 2], atol=1e-6)
    end = read.vertices_at(1.0, "swell")
    x, y, z = (BAR * [1.05, 1, 1.2])[-3:].T
    np.testing.assert_allclose(end[-3:], np.stack([1 - y, x - 1, z], axis=1), atol=1e-6)
    rest = read.vertices_at([0.0, 1.0], "bend")
    np.testing.assert_allclose(rest[0], read.surface().vertices, atol=1e-6)
    mesh = read.animated_mesh("swell", dressing=sp.Dressing(slim=0.5, growing=0.1))
    np.testing.assert_allclose(mesh.surface(mesh.times[-1]).vertices, end, atol=1e-6)


def test_weights_of_a_node_come_before_those_of_its_mesh(tmp_path):
    file = morphed(bar()).write(tmp_path / "bar.gltf")
    edited(file, lambda text: text["nodes"][0].update(weights=[0.0, 0.5]))
    read = sp.read_character(file, up="y")
    np.testing.assert_allclose(read.surface().vertices, BAR * [1, 1, 1.1], atol=1e-6)


def test_parts_have_morph_targets_of_their_own(tmp_path):
    made = morphed(bar())
    at, to = (gl.Attributes(POSITION=made.add(x)) for x in (np.eye(3), np.ones((3, 3))))
    made.document.meshes.append(gl.Mesh(primitives=[gl.Primitive(attributes=at, targets=[to])]))
    made.document.nodes.append(gl.Node(name="hat", mesh=1))
    made.document.nodes[2].children.append(3)
    made.track(3, "weights", (0.0, 1.0), (0.0, 2.0))
    read = sp.read_character(made.write(tmp_path / "bar.glb"), up="y")
    assert read.skin.n_targets == 3
    end = read.vertices_at(1.0, "swell")
    np.testing.assert_allclose(end[:15], BAR * [1.05, 1, 1.2], atol=1e-6)
    np.testing.assert_allclose(end[15:], np.eye(3) + 2, atol=1e-6)


def test_a_vertex_without_weights_follows_the_first_joint(tmp_path):
    made = bar()
    weights = np.eye(4)[np.zeros(15, int)]
    weights[0] = 0.0
    made.document.meshes[0].primitives[0].attributes.WEIGHTS_0 = made.add(weights)
    skin = read_character(made.write(tmp_path / "bare.glb")).skin
    np.testing.assert_array_equal(skin.weights[0], [1.0, 0.0, 0.0, 0.0])


@pytest.mark.parametrize("name", ["my bar ü.bin", "my%20bar%20%C3%BC.bin"])
def test_names_of_files_beside_are_decoded_unless_they_are_meant(tmp_path, name):
    source = turned_quarter(bar()).write(tmp_path / "bar.gltf")
    (tmp_path / "bar.bin").rename(tmp_path / name)
    edited(source, lambda text: text["buffers"][0].update(uri="my%20bar%20%C3%BC.bin"))
    assert_bent(source)


@pytest.mark.parametrize("encoded", [True, False])
def test_arrays_within_the_text_are_read(tmp_path, encoded):
    source = turned_quarter(bar()).write(tmp_path / "bar.gltf")
    data = (tmp_path / "bar.bin").read_bytes()
    held = f";base64,{b64encode(data).decode()}" if encoded else f",{quote(data)}"
    uri = f"data:application/gltf-buffer{held}"
    edited(source, lambda text: text["buffers"][0].update(uri=uri))
    assert_bent(source)


@pytest.mark.parametrize("extras", ["words", [1, 2], 3, True, None, {"keys": 1}])
def test_extras_may_be_anything(tmp_path, extras):
    source = morphed(turned_quarter(bar())).write(tmp_path / "bar.gltf")

    def change(text):
        for held in ("nodes", "meshes", "skins", "animations", "accessors", "buffers"):
            text[held][0]["extras"] = extras
        text["asset"]["extras"] = text["extras"] = extras
        text["meshes"][0]["primitives"][0]["extras"] = extras

    assert read_character(edited(source, change)).skin.n_targets == 2


def test_kind_of_a_file_is_that_of_its_content(tmp_path):
    text = turned_quarter(bar()).write(tmp_path / "a.glb").rename(tmp_path / "b.gltf")
    assert_bent(text)
    marked = turned_quarter(bar()).write(tmp_path / "bar.gltf")
    (tmp_path / "c.glb").write_bytes(b"\xef\xbb\xbf" + marked.read_bytes())
    assert_bent(tmp_path / "c.glb")


@pytest.mark.parametrize("matrix", [SHEAR, FLAT, [0] * 15 + [1]])
def test_matrices_that_no_joint_can_have_move_meshes_without_a_skin(tmp_path, matrix):
    """A triangle in a node below such a matrix, on the outer bone; and an empty node with one."""
    made = turned_quarter(bar())
    plain = gl.Primitive(attributes=gl.Attributes(POSITION=made.add(np.eye(3))))
    made.document.meshes.append(gl.Mesh(primitives=[plain]))
    made.document.nodes[1].children = [3]
    made.document.nodes += [
        gl.Node(name="sheared", matrix=matrix, children=[4]),
        gl.Node(name="hat", mesh=1, translation=[0.0, 0.0, 2.0], scale=[1.0, 3.0, 1.0]),
        gl.Node(name="hidden", matrix=matrix),
    ]
    x = read(made, tmp_path).vertices_at(1.0)
    np.testing.assert_allclose(x[:15], quarter(), atol=1e-6)
    hat = (np.eye(3) * [1, 3, 1] + [0, 0, 2]) @ np.reshape(matrix, (4, 4))[:3, :3]
    np.testing.assert_allclose(x[15:], hat[:, [1, 0, 2]] * [-1, 1, 1] + [1, 0, 0], atol=1e-6)


def test_joint_that_a_matrix_hides_is_a_point(tmp_path):
    made = bar()
    made.document.nodes[1].translation = None
    made.document.nodes[1].matrix = [0.0] * 12 + [1.0, 2.0, 3.0, 1.0]
    x = read(made, tmp_path).surface().vertices
    np.testing.assert_allclose(x[-3:], np.tile([1.0, 2.0, 3.0], (3, 1)), atol=1e-6)


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (["Walk", "Walk 2", "Walk"], ["Walk", "Walk 2", "Walk 3"]),
        (["", None, "clip 0"], ["clip 0 0", "clip 1", "clip 0"]),
        (["a", "a", "a"], ["a", "a 1", "a 2"]),
    ],
)
def test_clips_of_one_name_are_told_apart(tmp_path, given, names):
    made = bar()
    for name in given:
        turned_quarter(made).document.animations[-1].name = name
    found = read_rigged(made.write(tmp_path / "bar.glb"))
    assert found.animations == {name: k for k, name in enumerate(names)}
    assert list(found.character.clips) == names
