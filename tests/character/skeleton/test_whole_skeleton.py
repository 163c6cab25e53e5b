"""Bones that a rig does not tell of: a skull, and a back."""

from __future__ import annotations

import numpy as np
import pytest
from tests.character.beasts import beast
from tests.character.bodies import ROD, character_of, rig_of, rod

import supple as sp
from supple.character.rigs import SkeletonRig
from supple.character.skeleton.bones import bones_of
from supple.character.skeleton.whole_skeleton import end_joints, held_by_skeleton
from supple.character.tissue.volume import Volume, character_volume


@pytest.fixture(scope="module")
def character():
    return beast()


@pytest.fixture(scope="module")
def volume(character):
    return character_volume(SkeletonRig(character), edge=0.07, method="voxels")


@pytest.fixture(scope="module")
def held(volume, character):
    return held_by_skeleton(volume, character)


def test_ends_are_head_and_feet_but_no_tail(character):
    ends = [character.rig.names[joint] for joint in end_joints(character, bones_of(character))]
    assert ends == ["last", "leg a", "leg b", "leg c", "leg d"]


def test_a_head_with_ears_and_a_hand_with_fingers_are_ends():
    places = [(0, 0, 0), (0.5, 0, 0), (1, 0, 0), (1.5, 0, 0), (1.6, 0.1, 0)]
    near = np.argmin(np.abs(ROD.vertices[:, :1] - np.array(places)[:, 0]), axis=1)
    for names, wanted in (
        (("hips", "arm", "palm", "one", "two"), ["palm", "one", "two"]),
        (("hips", "neck", "head", "left ear", "right ear"), ["head"]),
    ):
        character = character_of(ROD, rig_of(names, [-1, 0, 1, 2, 2], places), np.eye(5)[near])
        assert [names[joint] for joint in end_joints(character, bones_of(character))] == wanted
    one = character_of(ROD, rig_of(("all",), [-1], [(0, 0, 0)]), np.ones((ROD.n_vertices, 1)))
    assert end_joints(one, bones_of(one)) == []
    assert [rod().rig.names[joint] for joint in end_joints(rod(), bones_of(rod()))] == ["lower"]


def test_a_skull_is_inside_and_ears_and_cheeks_are_free(volume, held):
    x, fixed = volume.mesh.vertices, held.fixed
    skin = np.unique(volume.mesh.boundary_facets())
    inner = np.linalg.norm((x - (1.0, 0.0, 1.1)) / (0.3, 0.2, 0.2), axis=1) < 0.5
    assert inner.any()
    assert fixed[inner].all()
    assert not fixed[(x[:, 0] > 0.7) & (x[:, 2] > 1.32)].any()
    assert not fixed[skin][x[skin, 0] > 0.7].any()


def in_the_middle(x: np.ndarray, low: float, high: float) -> np.ndarray:
    """Which places (n, 3) are in the middle of the body, at heights [m]."""
    return (np.abs(x[:, :2]) < (0.3, 0.06)).all(axis=1) & (low < x[:, 2]) & (x[:, 2] < high)


def test_a_back_is_held_and_the_belly_is_free(volume, held):
    x = volume.mesh.vertices
    assert held.fixed[in_the_middle(x, 0.95, 1.06)].mean() > 0.7
    assert not held.fixed[in_the_middle(x, 0.0, 0.68)].any()


def test_an_upright_body_has_no_back(character):
    turn = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    names, parents = character.rig.names, character.rig.parents.tolist()
    places = character.rig.world(character.rig.rest)[:, :3, 3] @ turn.T
    surface = sp.Surface(character.skin.vertices @ turn.T, character.skin.triangles)
    upright = character_of(surface, rig_of(names, parents, places.tolist()), character.skin.weights)
    made = character_volume(SkeletonRig(upright), edge=0.07, method="voxels")
    back = in_the_middle(made.mesh.vertices @ turn, 0.95, 1.06)
    plain, whole = made.held(bones_of(upright)), held_by_skeleton(made, upright)
    np.testing.assert_array_equal(plain.fixed[back], whole.fixed[back])


def moved(volume: Volume) -> np.ndarray:
    """How far a pull of 0.1 m/s² to the side moves flesh [m], (n,)."""
    body = sp.Body(volume.mesh, sp.StVK(young=1e4, poisson=0.4), fixed=volume.fixed)
    return np.linalg.norm(sp.static_shape(body, gravity=(0.0, 0.1, 0.0)), axis=1)


def test_the_head_does_not_wobble_and_ears_and_tail_do(volume, character, held):
    x = volume.mesh.vertices
    before, after = (moved(each) for each in (volume.held(bones_of(character)), held))
    head = (x[:, 0] > 0.95) & (x[:, 2] > 0.9)
    ears, tail = (x[:, 0] > 0.7) & (x[:, 2] > 1.5), x[:, 0] < -1.2
    assert after[head].mean() < 0.2 * before[head].mean()
    assert after[ears].mean() > 2 * after[head].mean()
    assert after[tail].mean() > 0.9 * before[tail].mean()
