"""Flesh for characters that others made: a man, a fox and a cow."""

from __future__ import annotations

import numpy as np
import pytest
from tests.workflows.enrich.kept import plain, untouched

from supple.io.gltf.document import GltfDocument
from supple.io.gltf.played import PlayedGltf
from supple.workflows.enrich.enrich import enrich
from supple.workflows.enrich.options import Quality

CLIPS = {
    "khronos_CesiumMan.glb": "clip 0",
    "khronos_Fox.glb": "Run",
    "quaternius_Cow.glb": "AnimalArmature|Attack_Headbutt",
}
SMALL = Quality(300, 2, 3, 5, 2, 4, 0.1, False)
pytestmark = [
    pytest.mark.verify,
    pytest.mark.filterwarnings("ignore::supple.reduction.cubature.cubature.CubatureWarning"),
]


@pytest.fixture(scope="module", params=CLIPS)
def source(request, assets):
    return assets / "characters" / request.param


@pytest.fixture(scope="module")
def made(source, tmp_path_factory):
    target = tmp_path_factory.mktemp("soft") / source.name
    return enrich(source, target, clips=[CLIPS[source.name]], quality=SMALL)


def test_flesh_moves_and_all_else_is_kept(source, made):
    (target,), (motion,) = made.files, made.motions
    untouched(source, target, "meshes", "animations", "skins")  # nodes, materials, textures, …
    plain(source, target)
    before, after = GltfDocument(source).json, GltfDocument(target).json
    for old, new in zip(before["animations"], after["animations"], strict=True):
        assert new.get("name") == old.get("name")
        assert new["channels"][: len(old["channels"])] == old["channels"]
        assert new["samplers"][: len(old["samplers"])] == old["samplers"]
    for old, new in zip(before["skins"], after["skins"], strict=True):
        # A "skeleton" that is not above all joints is left out: the validator calls it an error.
        assert new | {"skeleton": None} == old | {"skeleton": None}
    for old, new in zip(before["meshes"], after["meshes"], strict=True):
        for one, other in zip(old["primitives"], new["primitives"], strict=True):
            assert {name: other[name] for name in one} == one
    assert 1e-3 < motion.largest / made.size < 0.2
    moved = PlayedGltf(target).positions(motion.clip, motion.times)
    was = PlayedGltf(source).positions(motion.clip, motion.times)
    scale = made.size / PlayedGltf(source).size  # a fox in centimetres is made one in metres
    far = scale * np.linalg.norm(moved - was, axis=2).max()
    assert far == pytest.approx(motion.largest, abs=1.01 * made.max_error)


def test_other_clips_play_as_before(source, made):
    before, after = PlayedGltf(source), PlayedGltf(made.files[0])
    for name, clip in before.rigged.character.clips.items():
        if name != made.motions[0].clip:
            t = np.linspace(clip.start, clip.end, 25)
            np.testing.assert_array_equal(after.positions(name, t), before.positions(name, t))


def test_no_softness_gives_every_position_back(source, tmp_path):
    rigid = enrich(source, tmp_path / "rigid.glb", soft=0.0)
    assert len(rigid.motions) == len(rigid.rigged.character.clips)
    assert rigid.targets == 0
    before, after = PlayedGltf(source), PlayedGltf(tmp_path / "rigid.glb")
    for motion in rigid.motions:
        np.testing.assert_array_equal(
            after.positions(motion.clip, motion.times), before.positions(motion.clip, motion.times)
        )


def test_khronos_validator_finds_no_error(made, khronos_errors):
    assert not khronos_errors(made.files[0])
