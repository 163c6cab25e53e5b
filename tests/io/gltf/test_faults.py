"""Rigged files that are damaged, or are none: messages that say what, where and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.character.sample_rigs import BAR, FLAT, SHEAR, GltfBuilder, bar, turned_quarter
from tests.refusals import refused

import supple as sp
from supple.character import Character
from supple.io.gltf.character import read_character

DRACO = {"KHR_draco_mesh_compression": {}}
HOLED = np.where(BAR == 1.5, np.nan, BAR)


def read(made: GltfBuilder, folder, **options) -> Character:
    return read_character(made.write(folder / "bar.glb"), **options)


@pytest.mark.parametrize(
    ("part", "name", "value", "words"),
    [
        (lambda file: file.nodes[0], "matrix", SHEAR, "'holder' cannot carry.*its matrix shears"),
        (lambda file: file.nodes[2], "matrix", FLAT, "'inner' cannot carry.*its matrix flattens"),
        (lambda file: file.nodes[1], "rotation", [0] * 4, "'outer' cannot carry.*of length 0"),
        (lambda file: file.nodes[1], "children", [2], "circle"),
        (lambda file: file.accessors[0], "count", 10**6, "view 0 ends at byte 12000000"),
        (lambda file: file.bufferViews[0], "extensions", {"EXT_meshopt": {}}, "EXT_meshopt"),
        (lambda file: file.meshes[0].primitives[0].attributes, "WEIGHTS_0", None, "no weights"),
        (lambda file: file.meshes[0].primitives[0], "extensions", DRACO, "Draco"),
    ],
)
def test_damaged_files(tmp_path, part, name, value, words):
    made = turned_quarter(bar())
    setattr(part(made.document), name, value)
    refused(words, read, made, tmp_path, error=sp.MeshError)


def test_files_without_a_skin_say_what_they_hold(tmp_path):
    made = bar()
    made.document.nodes[0].skin = None
    with pytest.raises(sp.MeshError, match="no skin, and so no character; it holds holder"):
        read(made, tmp_path)


def test_other_files(tmp_path):
    path = tmp_path / "man.fbx"
    path.write_text("x")
    refused(r"read from \.glb and \.gltf", read_character, path, error=sp.MeshError)
    refused("must be 'z' or 'y'", read, bar(), tmp_path, up="x")


def test_a_file_that_is_not_beside_its_character_is_named(tmp_path):
    source = turned_quarter(bar()).write(tmp_path / "bar.gltf")
    (tmp_path / "bar.bin").unlink()
    refused(r"there is no file bar\.bin, which", read_character, source, error=sp.MeshError)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"hello\n", "begins neither with 'glTF'"),
        (b"glTF\2\0\0\0", "cut off after 8 bytes"),
        (b"glTF\1\0\0\0" + bytes(12), "holds glTF 1; export it as glTF 2.0"),
        (b'{"asset": {', "its JSON cannot be read.*cut off"),
        (b"[1]", "its JSON is a list"),
        (b"{}", "has no skin, and so no character; it holds no mesh at all"),
    ],
)
@pytest.mark.parametrize("name", ["a.glb", "a.gltf"])
def test_files_that_hold_no_character_say_why(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    refused(rf"{name}.*{words}", read_character, tmp_path / name, error=sp.MeshError)


def test_arrays_that_are_cut_off_are_told(tmp_path):
    source = turned_quarter(bar()).write(tmp_path / "bar.glb")
    source.write_bytes(source.read_bytes()[:-8])
    with pytest.raises(sp.MeshError, match=r"bar\.glb: of the \d+ bytes of buffer 0, it has only"):
        read_character(source)
    apart = turned_quarter(bar()).write(tmp_path / "bar.gltf")
    (tmp_path / "bar.bin").write_bytes((tmp_path / "bar.bin").read_bytes()[:-8])
    refused(r"buffer 0, bar\.bin has only", read_character, apart, error=sp.MeshError)


@pytest.mark.parametrize(
    ("times", "values", "words"),
    [
        ((0, 0.5, 1), [(0, 0, 0, 1), (0, 0, 0, 0), (0, 0, 0, 1)], r"0\.5 s is a quat.* length 0"),
        ((0, 0.5, 0.5), [(0, 0, 0, 1)] * 3, r"key 2 is at 0\.5 s and the one before at 0\.5 s"),
        ((0, 0.5), [(0, 0, 0, 1), (0, 0, 0, np.nan)], r"values\[1, 3\] is nan"),
        ((0, 0.5), [(0, 0, 0, 1)] * 3, r"shape \(2, 6\); give \(2, 4\)"),
    ],
)
def test_faulty_keys_name_clip_and_joint(tmp_path, times, values, words):
    made = bar()
    made.clip("nod")
    made.track(1, "rotation", times, values)
    told = rf"bar\.glb: the clip 'nod'.*rotation of 'outer': .*{words}"
    refused(told, read, made, tmp_path, error=sp.MeshError)


def replaced(attribute: str, values: Any, kind: str = "f4") -> Callable[[GltfBuilder], None]:
    """Gives the vertices of the bar other values."""

    def change(made: GltfBuilder) -> None:
        (primitive,) = made.document.meshes[0].primitives
        held = primitive if attribute == "indices" else primitive.attributes
        setattr(held, attribute, made.add(values, kind))

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (replaced("POSITION", HOLED), r"vertex 9 at \[nan, 0\.0, 0\.0\]"),
        (replaced("indices", [0, 1, 99], "u2"), "triangle with vertex 99, but there are only 15"),
        (replaced("JOINTS_0", np.full((15, 4), 7), "u1"), "joint 7, but there are only 2"),
    ],
)
def test_faulty_arrays_name_file_and_mesh(tmp_path, change, words):
    made = bar()
    change(made)
    refused(rf"bar\.glb: the mesh 'bar' .*{words}", read, made, tmp_path, error=sp.MeshError)
