"""What is read to be enriched and what is refused; names of files, and vertex caches."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from tests.character.posts import built_post, post, with_floor
from tests.character.sample_rigs import bar
from tests.refusals import refused

from supple.core.errors import InputError, MeshError
from supple.io.surfaces import write_vertex_cache
from supple.workflows.enrich.enrich import enrich


@pytest.fixture
def source(tmp_path):
    return post(tmp_path)


def test_a_clip_of_too_many_frames_is_named_before_the_work(tmp_path):
    stray = built_post()
    stray.clip("stray")
    stray.track(2, "rotation", [0.0, 3600.0], [(0, 0, 0, 1), (0, 0, 0, 1)])
    file = stray.write(tmp_path / "stray.glb")
    refused("'stray' lasts 3600 s", enrich, file, tmp_path / "x.glb", checkpoint=tmp_path / "parts")
    assert not (tmp_path / "parts").exists()


def test_every_clip_has_a_file_of_its_own(tmp_path):
    many = built_post(clips=False)
    names = ["A!", "A?", "Walk", "walk", "Run fast"]
    for k, name in enumerate(names):
        many.clip(name)
        many.track(2, "translation", [0.0, 0.1], [(0, 0.5, 0), (0.1 * k, 0.5, 0)])
    made = enrich(many.write(tmp_path / "post.glb"), tmp_path / "x.npz", soft=0.0)
    folded = {file.name.casefold() for file in made.files}  # as some file systems see them
    assert len(folded) == len(names)
    assert (tmp_path / "x_Run fast.npz").exists()
    tops = [np.load(file)["positions"][-1, :, 0].max() for file in made.files]
    np.testing.assert_allclose(tops, [0.1 * k + 0.1 for k in range(len(names))], atol=1e-6)


def test_vertex_caches(tmp_path):
    times = np.array([0.5, 0.6, 0.7])
    x = np.arange(36.0).reshape(3, 4, 3)
    none = np.zeros((0, 3), int)
    write_vertex_cache(tmp_path / "a.pc2", times, x, none)
    data = (tmp_path / "a.pc2").read_bytes()
    head = struct.unpack_from("<12siiffi", data)
    assert (*head[:3], head[5]) == (b"POINTCACHE2\0", 1, 4, 3)
    assert head[3:5] == pytest.approx((0.5, 0.1))
    np.testing.assert_array_equal(np.frombuffer(data[32:], "<f4"), x.ravel())
    write_vertex_cache(tmp_path / "a.mdd", times, x, none)
    data = (tmp_path / "a.mdd").read_bytes()
    assert struct.unpack_from(">ii", data) == (3, 4)
    np.testing.assert_array_equal(np.frombuffer(data[8 + 12 :], ">f4"), x.ravel())
    refused("evenly spaced", write_vertex_cache, tmp_path / "b.pc2", times**2, x, none)
    refused("ends in", write_vertex_cache, tmp_path / "b.abc", times, x, none)


def test_lengths(source, tmp_path):
    long = enrich(source, tmp_path / "long.glb", soft=0.0, length=2.0)
    assert np.ptp(long.rigged.character.surface().vertices[:, 2]) == pytest.approx(2.0)
    assert long.size == pytest.approx(2.0 * np.sqrt(1.08))  # 0.2 x 0.2 x 1, twice as long


@pytest.mark.parametrize(
    ("unit", "tall", "words"),
    [
        (29.0, 29.0, ""),
        (31.0, 0.31, "31 long, which is taken for centimetres"),
        (180.0, 1.8, "180 long, which is taken for centimetres"),
        (0.051, 0.051, ""),
        (0.0124, 1.24, "0.0124 long, which is taken for 1.24 m"),
        (0.00124, 1.24, "0.00124 long, which is taken for 1.24 m"),
    ],
)
def test_units_are_told_by_the_longest_side(tmp_path, unit, tall, words):
    file = built_post(unit=unit).write(tmp_path / "post.glb")
    made = enrich(file, tmp_path / "x.glb", soft=0.0)
    assert np.ptp(made.rigged.character.surface().vertices[:, 2]) == pytest.approx(tall)
    assert (words in made.notes[0]) if words else ("taken for" not in "".join(made.notes))


@pytest.mark.parametrize("length", [None, 2.0])
def test_scenery_and_strays_are_no_part_of_the_body(source, tmp_path, length):
    file = with_floor(built_post(strays=2)).write(tmp_path / "scene.glb")
    plain = enrich(source, tmp_path / "x.glb", soft=0.0, length=length)
    scene = enrich(file, tmp_path / "y.glb", soft=0.0, length=length)
    assert scene.size == pytest.approx(plain.size)
    assert scene.notes == plain.notes


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"source": "none.glb"}, MeshError, "there is no file"),
        ({"source": "plain.glb"}, MeshError, "no skin"),
        ({"source": "lines.glb"}, MeshError, "no triangles"),
        ({"source": "cut.glb"}, MeshError, "cut off"),
        ({"regions": 0}, InputError, "regions"),
        ({"seed": -1}, InputError, "seed=-1"),
        ({"quality": "superb"}, InputError, "quality"),
    ],
)
def test_what_cannot_be_taken(source, tmp_path, monkeypatch, options, error, message):
    monkeypatch.chdir(tmp_path)
    plain, lines = bar(), bar()
    plain.document.nodes[0].skin = None
    plain.write(tmp_path / "plain.glb")
    lines.document.meshes[0].primitives[0].mode = 1
    lines.write(tmp_path / "lines.glb")
    (tmp_path / "cut.glb").write_bytes(source.read_bytes()[:500])
    refused(message, enrich, error=error, **{"source": "post.glb", "output": "x.glb"} | options)
    assert not (tmp_path / "x.glb").exists()
