"""How soft a character is: by joint, part, material"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.character.posts import POST, post
from tests.refusals import refused

from supple.character.rigs.skeleton import SkeletonRig
from supple.io.gltf.character import Part, RiggedFile, read_rigged
from supple.io.gltf.rigged_creature import write_rigged_creature
from supple.workflows.enrich.options import Quality
from supple.workflows.enrich.soft_character import soft_model
from supple.workflows.enrich.softness import Softness, is_hard, skin_by_name, softness_of

SMALL = Quality(150, 2, 3, 5, 2, 8, 0.02, False)


@pytest.fixture(scope="module")
def creature(tmp_path_factory) -> RiggedFile:
    path = tmp_path_factory.mktemp("creature") / "creature.glb"
    write_rigged_creature(path, resolution=16)
    return read_rigged(path)


@pytest.fixture(scope="module")
def horned(tmp_path_factory) -> RiggedFile:
    """The post, whose last vertices are of another material."""
    found = read_rigged(post(tmp_path_factory.mktemp("post")))
    n = len(POST.vertices)
    fur = Part("post", 0, 0, 0, n - 9, True, "Fur")
    return replace(found, parts=(fur, Part("post", 0, 1, n - 9, 9, True, "Horn")))


@pytest.fixture(scope="module")
def evenly_soft(horned) -> tuple[SkeletonRig, Softness]:
    """The rig of the post, and softness 1 everywhere."""
    rig = SkeletonRig(horned.character)
    return rig, Softness(np.ones(rig.character.rig.n_joints), np.full(rig.n_vertices, np.nan))


def by_name(rigged: RiggedFile, found: Softness) -> dict[str, float]:
    names = rigged.character.rig.names
    return {name: soft for name, soft in zip(names, found.joints, strict=True) if soft != 1}


def test_hard_names():
    hard = ["Horns", "Eye_Black", "LeftShoe", "hooves.001", "mat_METAL"]
    soft = ["Main", "Thornbush", "Eyelid", "Skin", ""]
    assert [name for name in hard + soft if is_hard(name)] == hard


def test_parts_of_the_body_in_the_order_of_the_wishes(creature):
    found = softness_of(creature, {"*": 1, "ears": 3, "left": 2, "legs": 0, "body": 0.5})
    assert by_name(creature, found) == {
        "hips": 0.5, "chest": 0.5, "left ear": 2, "right ear": 3, "left arm": 2, "left foot": 0,
        "right foot": 0,
    }  # fmt: skip


def test_soles_are_hard_unless_named(creature):
    soles = skin_by_name(creature)["soles"]
    height = creature.character.surface().vertices[:, 2]
    assert 0 < soles.sum() < 0.2 * len(soles)
    assert height[soles].max() < 0.05 * np.ptp(height) + height.min()
    found = softness_of(creature, {"*": 2})
    assert found.hard == ("soles",)
    assert (found.skin[soles] == 0).all()
    assert np.isnan(found.skin[~soles]).all()
    named = softness_of(creature, {"soles": 2})
    assert named.hard == ()
    assert (named.skin[soles] == 2).all()


def test_soles_are_those_of_the_body_whatever_lies_below(creature):
    """A vertex that no triangle uses, deep below the ground, is no foot to stand on."""
    skin = creature.character.skin
    deep = skin.vertices[:1] - np.array([0.0, 100.0, 0.0])
    more = replace(
        skin,
        vertices=np.vstack([skin.vertices, deep]),
        bones=np.vstack([skin.bones, skin.bones[:1]]),
        weights=np.vstack([skin.weights, skin.weights[:1]]),
        targets=None,
    )
    last = replace(creature.parts[-1], count=creature.parts[-1].count + 1)
    below = replace(
        creature,
        character=replace(creature.character, skin=more),
        parts=(*creature.parts[:-1], last),
    )
    np.testing.assert_array_equal(
        skin_by_name(below)["soles"][:-1], skin_by_name(creature)["soles"]
    )


def test_hard_materials_are_rigid_unless_named(horned):
    assert softness_of(horned, {}).hard == ("Horn",)
    for name in ("Horn", "horn", "ho*"):
        assert (softness_of(horned, {name: 0.5}).skin[-9:] == 0.5).all()
    again = softness_of(horned, {"Horn": 0.5, "*": 2})  # the last that fits counts
    assert (again.skin[-9:] == 0).all()
    soft = softness_of(horned, {"*": 0, "Fur": 2})
    assert (soft.skin[:-9] == 2).all()
    assert soft.any(horned.character.skin)
    assert not softness_of(horned, {"*": 0}).any(horned.character.skin)


def test_unknown_names_tell_of_materials(horned):
    refused(r"'wheel'; parts are .*; other names are Fur, Horn", softness_of, horned, {"wheel": 2})
    refused("softness of Horn", softness_of, horned, {"Horn": -1})


def test_hard_skin_is_held(evenly_soft):
    rig, softness = evenly_soft
    skin = np.where(rig.character.surface().vertices[:, 2] > 0.8, 0.0, np.nan)
    model = soft_model(rig, SMALL, softness=replace(softness, skin=skin))
    assert model.fixed[model.tet_rig.mesh.vertices[:, 2] > 0.9].all()
    assert not model.bases[:, model.fixed].any()


def test_softer_skin_has_softer_flesh(evenly_soft):
    rig, softness = evenly_soft
    skin = np.where(rig.character.surface().vertices[:, 2] > 0.5, 4.0, np.nan)
    finer = replace(SMALL, vertices=300)  # cells of a coarse one are all near the rim
    model = soft_model(rig, finer, softness=replace(softness, skin=skin))
    height = model.tet_rig.mesh.centroids[model.cells, 2]
    mu = model.lame[0, :, 1]
    top, foot = height > 0.8, height < 0.3
    assert top.any()
    assert foot.any()
    assert mu[top].max() < 0.3 * mu[foot].min()  # a quarter, but for what the rim blends in


def test_softer_flesh_swings_slower(evenly_soft):
    """Also where the slowest vibration, not the push, says how stiff flesh has to be."""
    rig, softness = evenly_soft
    all_of_it = [softness, replace(softness, joints=4.0 * softness.joints)]
    models = [soft_model(rig, SMALL, softness=soft, frequency=4.0) for soft in all_of_it]
    slowest, softer = (np.sqrt(model.squares[0, 0]) / (2 * np.pi) for model in models)
    assert slowest > 2.0 * (1 - 1e-9)  # half of the swing, at least
    assert 1.0 * (1 - 1e-9) < softer < 0.75 * slowest
