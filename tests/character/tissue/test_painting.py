"""Stiffness painted on the surface, or given by joint (pose space paper, Eq. 37)."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from tests.character.bodies import ROD, rod, with_box
from tests.refusals import refused

import supple as sp
from supple.character.tissue.painting import flesh_of_joints, painted, stiffness_by_joint

MESH = sp.HexMesh.voxelize(ROD, 12).tetrahedra()
SKIN = sp.Embedding(MESH, ROD)
TWO_COLOURS = np.where(ROD.vertices[:, 0] < 1.0, 1.0, 9.0)


def test_one_colour_is_one_stiffness():
    assert painted(SKIN, np.full(ROD.n_vertices, 3e4)) == pytest.approx(np.full(MESH.n_cells, 3e4))


def test_paint_goes_on_smoothly_within_its_range():
    soft = painted(SKIN, TWO_COLOURS, smoothness=0.5)
    assert soft.min() >= 1 - 1e-9
    assert soft.max() <= 9 + 1e-9
    along = MESH.centroids[:, 0]
    assert soft[along < 0.6].mean() < 1.5
    assert soft[along > 1.4].mean() > 8.5
    assert np.ptp(painted(SKIN, TWO_COLOURS, smoothness=50.0)) < np.ptp(soft)


def test_the_least_squares_of_eq_37_are_met():
    values, zeta = np.random.default_rng(0).uniform(1, 2, ROD.n_vertices), 0.7
    E = painted(SKIN, values, smoothness=zeta)
    sums = np.bincount(SKIN.cells, weights=values, minlength=MESH.n_cells)
    marks = np.bincount(SKIN.cells, minlength=MESH.n_cells)
    has = marks > 0
    slope = np.zeros(MESH.n_cells)
    slope[has] = 2 * (E[has] - sums[has] / marks[has])
    corners = [set(nodes) for nodes in MESH.cells]
    for a, b in combinations(range(MESH.n_cells), 2):
        if len(corners[a] & corners[b]) == 3:
            w = 0.5 * (MESH.volumes[a] + MESH.volumes[b]) / MESH.volumes.mean()
            slope[a] += zeta * w * (E[a] - E[b])
            slope[b] -= zeta * w * (E[a] - E[b])
    assert np.abs(slope).max() < 1e-9


def test_what_is_not_painted_takes_after_its_surroundings():
    values = np.full(ROD.n_vertices, np.nan)
    values[ROD.vertices[:, 0] < 0.1] = 2.0
    assert painted(SKIN, values) == pytest.approx(2.0)
    refused("nothing is painted", painted, SKIN, np.full(ROD.n_vertices, np.nan))
    refused("finite or NaN", painted, SKIN, values[:5])


def test_pieces_without_paint_take_the_nearest():
    found = painted(sp.Embedding(with_box(MESH), ROD), TWO_COLOURS)
    assert len(found) > MESH.n_cells
    assert found[MESH.n_cells :] == pytest.approx(9.0)


def test_each_pose_may_have_its_own_paint():
    one, two = np.full(ROD.n_vertices, 2.0), ROD.vertices[:, 0]
    alone = np.stack([painted(SKIN, one), painted(SKIN, two)])
    assert painted(SKIN, np.stack([one, two])) == pytest.approx(alone)


def test_joints_say_how_stiff_their_flesh_is():
    factors = stiffness_by_joint(rod(), SKIN, {"lo*": 0.25}, smoothness=0.1)
    along = MESH.centroids[:, 0]
    assert factors[along < 0.5] == pytest.approx(1.0, rel=0.05)
    assert factors[along > 1.6].mean() == pytest.approx(0.25, rel=0.05)
    middle = factors[np.abs(along - 1.0) < 0.1].mean()
    assert middle == pytest.approx(0.5, rel=0.15)  # the geometric mean of 1 and 1/4
    later = stiffness_by_joint(rod(), SKIN, {"*": 3.0, "lower": 1.0, "upper": 1.0})
    assert later == pytest.approx(1.0)
    refused("there is lower", stiffness_by_joint, rod(), SKIN, {"lowr": 2.0})
    refused("above 0", stiffness_by_joint, rod(), SKIN, {"lower": 0.0})


def test_flesh_follows_joints_by_a_share():
    share = flesh_of_joints(rod(), SKIN, ["lower"])
    x = MESH.vertices[:, 0]
    assert share.shape == (MESH.n_vertices,)
    assert share[x < 0.5].max() < 0.1
    assert share[x > 1.6].min() > 0.9
    others = flesh_of_joints(rod(), SKIN, ["upper", "root"])
    assert share + others == pytest.approx(np.ones(MESH.n_vertices))
    refused("there is upper", flesh_of_joints, rod(), SKIN, ["uper"])
    other = sp.Embedding(MESH, MESH.boundary())
    refused("the character's own surface", flesh_of_joints, rod(), other, ["upper"])
