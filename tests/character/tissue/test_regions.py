"""Overlapping regions from bounded biharmonic weights, and from a skeleton."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from tests.character.bodies import ROD, character_of, rig_of, rod, rod_mesh, with_box
from tests.refusals import refused

import supple as sp
from supple.character.tissue.regions import (
    local_regions,
    region_functions,
    region_weights,
    regions_from_skeleton,
)

needs_igl = pytest.mark.skipif(importlib.util.find_spec("igl") is None, reason="needs libigl")
MESH = rod_mesh((12, 4, 4))
HANDLES = {"left": [(0.0, 0.0, 0.0)], "middle": [((0.8, 0, 0), (1.2, 0, 0))], "right": [(2, 0, 0)]}


@needs_igl
def test_weights_are_one_at_their_handle_and_between_zero_and_one():
    weights = region_weights(MESH, HANDLES)
    assert weights.shape == (3, MESH.n_vertices)
    assert weights.min() >= 0
    assert weights.max() <= 1
    assert weights.sum(axis=0) == pytest.approx(np.ones(MESH.n_vertices))
    for k, place in enumerate([(0, 0, 0), (1, 0, 0), (2, 0, 0)]):
        nearest = np.linalg.norm(MESH.vertices - place, axis=1).argmin()
        assert weights[:, nearest] == pytest.approx(np.eye(3)[k], abs=1e-9)
    x = MESH.vertices[:, 0]
    across = [weights[0, np.isclose(x, level)].mean() for level in np.unique(x)]
    assert (np.diff(across) <= 1e-3).all()  # down from its handle


@needs_igl
def test_weights_are_the_same_at_every_size():
    large = sp.TetMesh(100 * MESH.vertices, MESH.cells)
    grown = {name: 100 * np.array(handle, dtype=float) for name, handle in HANDLES.items()}
    assert region_weights(large, grown) == pytest.approx(region_weights(MESH, HANDLES), abs=1e-6)


@needs_igl
def test_regions_overlap_and_cover_all():
    regions = local_regions(MESH, HANDLES)
    assert regions.names == ("left", "middle", "right")
    assert regions.members.any(axis=0).all()
    assert (regions.members.sum(axis=0) > 1).any()
    assert not regions.members.all(axis=1).any()
    assert regions.functions.max(axis=1) == pytest.approx(np.ones(3), abs=1e-9)


@needs_igl
def test_a_piece_without_a_handle_is_of_the_nearest():
    weights = region_weights(with_box(MESH), HANDLES)
    assert (weights[2, MESH.n_vertices :] == 1).all()
    assert weights[:, : MESH.n_vertices] == pytest.approx(region_weights(MESH, HANDLES), abs=1e-9)


def test_functions_fall_to_zero_at_the_threshold():
    W = np.array([[1.0, 0.55, 0.1, 0.0], [0.0, 0.45, 0.9, 1.0]])
    found = region_functions(W, threshold=0.1, sharpness=0.5)
    assert found[0] == pytest.approx([1.0, np.sqrt(0.45 / 0.9), 0.0, 0.0])
    assert found[1, 0] == 0
    assert region_functions(W, threshold=0.1, sharpness=2.0)[0, 1] == pytest.approx(0.25)


def test_where_many_regions_meet_the_threshold_gives_way():
    W = np.full((20, 3), 0.05)
    W[:, 0] = np.eye(20)[3]
    assert (region_functions(W, threshold=0.1).max(axis=0) > 0).all()


def test_one_handle_is_one_region_of_all():
    assert (region_weights(MESH, [[(0.0, 0.0, 0.0)]]) == 1).all()
    refused("give one or more", region_weights, MESH, [])


@needs_igl
def test_two_handles_at_one_vertex_are_refused():
    refused("handles 0 and 2", region_weights, MESH, [[(0, 0, 0)], [(1, 0, 0)], [(0.01, 0, 0)]])


def test_without_libigl_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    refused(r"supple\[regions\]", region_weights, MESH, HANDLES, error=sp.MissingExtra)


def branched() -> sp.character.Character:
    """A body of two joints with two arms, two legs and a small tail."""
    names = ("hip", "chest", "arm L", "arm R", "leg L", "leg R", "foot L", "tail")
    x = (0.5, 1.5, 1.7, 1.7, 0.2, 0.2, 0.1, 0.1)
    y = (0.0, 0.0, 0.1, -0.1, 0.1, -0.1, 0.2, 0.0)
    places = np.stack([x, y, np.where(np.array(names) == "tail", 0.1, 0.0)], axis=1)
    nearest = np.linalg.norm(ROD.vertices[:, None] - places, axis=2).argmin(axis=1)
    rig = rig_of(names, [-1, 0, 1, 1, 0, 0, 4, 0], places)
    return character_of(ROD, rig, np.eye(len(names))[nearest])


def test_a_skeleton_falls_into_limbs_and_body():
    regions = regions_from_skeleton(branched(), 6)
    sets = [set(bones.names) for bones in regions.values()]
    for limb in ({"hip", "chest"}, {"leg L", "foot L"}, {"arm L"}, {"arm R"}):
        assert limb in sets
    assert len(sets) == 6
    assert all(name in bones.names for name, bones in regions.items())


def test_fewer_regions_join_what_is_near_and_alike():
    regions = regions_from_skeleton(branched(), 4)
    joints = [name for bones in regions.values() for name in set(bones.names)]
    assert len(regions) <= 4
    assert sorted(joints) == sorted(branched().rig.names)
    assert len(regions_from_skeleton(branched(), 1)) == 1
    assert set(regions_from_skeleton(rod())) <= {"upper", "lower"}
