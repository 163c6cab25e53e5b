"""Volumes of characters: tets from any surface, and what bones hold of them."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from tests.character.bodies import (
    LENGTH,
    ROD,
    WIDTH,
    BendingRod,
    character_of,
    rig_of,
    rod,
    soup,
    still,
)
from tests.refusals import refused

import supple as sp
from supple.builtin.shapes import Ellipsoid, icosphere
from supple.character.skeleton.bones import bones_of, crossed_cells, segment_distances
from supple.character.tissue.volume import adjacent_cells, character_volume, on_bones, pieces

pytestmark = pytest.mark.usefixtures("wild_tets")

METHODS = ["voxels", "lattice"]
if importlib.util.find_spec("pytetwild") is not None:
    METHODS.append("ftetwild")
ROD_VOLUME = LENGTH * WIDTH**2


def ball(centre: tuple[float, float, float], radius: float) -> sp.Surface:
    return icosphere(Ellipsoid(centre, (radius, radius, radius)))


@pytest.mark.parametrize("method", METHODS)
def test_a_soup_with_a_hole_that_crosses_itself_is_filled(method):
    crossing = still(soup(sp.Surface(ROD.vertices, ROD.triangles[:-2]), ball((1.0, 0.0, 0.2), 0.3)))
    volume = character_volume(crossing, vertices=400, method=method)
    assert volume.mesh.volume > 0.9 * ROD_VOLUME
    assert pieces(volume.mesh).max() == 0
    assert 200 < volume.mesh.n_vertices < 800
    assert volume.gaps.max() <= 0.5 * volume.mesh.edge_lengths().mean()
    # where the tets go, the surface goes: a linear motion is followed exactly
    A = np.array([[0.1, 0.2, 0.0], [0.0, -0.1, 0.3], [0.2, 0.0, 0.1]])
    x = volume.skin.surface.vertices
    assert volume.skin.deform(volume.mesh.vertices @ A) == pytest.approx(x + x @ A, abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_parts_that_lie_apart_follow_the_rig(method):
    surface = soup(ROD, ball((1.0, 0.0, 1.2), 0.2))
    volume = character_volume(still(surface), edge=0.12, method=method)
    assert pieces(volume.mesh).max() == 1
    held = volume.held([((0.0, 0.0, 0.0), (LENGTH, 0.0, 0.0))])
    above = volume.mesh.vertices[:, 2] > 0.7
    assert held.fixed[above].all()
    assert not held.fixed[~above].all()
    assert "follows the rig as a whole" in held.notes[-1]
    both = volume.held([((0, 0, 0), (LENGTH, 0, 0)), ((1, 0, 1.1), (1, 0, 1.3))], share=0.6)
    assert not both.fixed[above].all()


@pytest.mark.parametrize("method", METHODS)
def test_pieces_without_volume_move_with_the_nearest_flesh(method):
    hair = sp.Surface([[1.0, 0, 0.6], [1.3, 0, 0.6], [1.0, 0.3, 0.6]], [[0, 1, 2]])
    volume = character_volume(still(soup(ROD, hair)), edge=0.12, method=method)
    weights = volume.skin_weights
    assert weights.sum(axis=1) == pytest.approx(np.ones(len(weights)))
    far = volume.gaps > volume.mesh.edge_lengths().mean()
    assert far.any() == (method != "voxels")  # cubes enclose whatever there is
    assert weights[far].min(initial=0.0) >= 0
    assert np.array_equal(weights[~far], volume.skin.weights[~far])


def test_without_ftetwild_cubes_stand_in(monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda n: None if n == "pytetwild" else find(n))
    volume = character_volume(BendingRod(), vertices=300)
    assert volume.skin.inside.all()
    assert "pip install" in volume.notes[0]
    with pytest.raises(sp.MissingExtra):
        character_volume(BendingRod(), method="ftetwild")


def test_a_character_on_a_lattice_is_the_same_every_time():
    first, second = (
        character_volume(BendingRod(), vertices=300, method="lattice") for _ in range(2)
    )
    assert first.mesh.vertices.tobytes() == second.mesh.vertices.tobytes()
    assert first.mesh.cells.tobytes() == second.mesh.cells.tobytes()
    assert "on a lattice" in first.notes[0]


def test_sheets_that_enclose_nothing_are_covered_by_cubes():
    flat = sp.Surface([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]])
    upright = sp.Surface(flat.vertices[:, [2, 0, 1]] + [0.5, 0, -0.5], flat.triangles)
    volume = character_volume(still(soup(flat, upright)), vertices=300, method="voxels")
    assert volume.skin.inside.all()
    assert pieces(volume.mesh).max() == 0


def test_bad_wishes_are_refused():
    rig = BendingRod()
    refused("'ftetwild', 'lattice' or 'voxels'", character_volume, rig, method="tetgen")
    line = sp.Surface([[0, 0, 0], [1, 0, 0], [2, 0, 0]], [[0, 1, 2]])
    refused("has no area", character_volume, still(line), error=sp.MeshError)
    volume = character_volume(rig, vertices=200, method="voxels")
    refused("give bones=", volume.held)
    refused("give segments", volume.held, np.zeros((3, 2)))
    refused("nothing could move", volume.held, fixed=np.ones(volume.mesh.n_vertices, dtype=bool))


def test_bones_go_from_joint_to_joint_and_on_into_the_skin():
    bones = bones_of(rod())
    assert bones.names == ("upper", "lower")
    assert bones.segments[0] == pytest.approx(np.array([[0, 0, 0], [1, 0, 0]]))
    start, end = bones.segments[1]
    assert start == pytest.approx([1, 0, 0])
    assert 1.3 < end[0] < LENGTH
    assert end[1:] == pytest.approx([0, 0], abs=0.05)
    turned = bones_of(rod(), rod().rig.turned({"lower": (0.0, -np.pi / 2, 0.0)}))
    assert turned.segments[1, 1] == pytest.approx([1, 0, end[0] - 1], abs=0.1)


def test_joints_that_carry_nothing_have_no_bones():
    places = [(0, 0, 0), (5, 5, 5), (1, 0, 0), (2, 0, 0)]
    rig = rig_of(("upper", "target", "lower", "tip"), [-1, 0, 0, 2], places)
    outer = ROD.vertices[:, 0] / LENGTH
    none = np.zeros_like(outer)
    bones = bones_of(character_of(ROD, rig, np.stack([1 - outer, none, outer, none], axis=1)))
    assert bones.names == ("upper", "lower")
    assert bones.segments[:, 1] == pytest.approx(np.array([[1.0, 0, 0], [2, 0, 0]]))


def test_cells_that_a_segment_crosses_are_those_it_has_points_in():
    mesh = sp.TetMesh.box((1.0, 1.0, 1.0), (3, 3, 3))
    segments = np.random.default_rng(4).uniform(-0.3, 1.3, (6, 2, 3))
    for (start, end), found in zip(segments, crossed_cells(mesh, segments), strict=True):
        places = start + np.linspace(0, 1, 4001)[:, None] * (end - start)
        inside = places[((places > 0) & (places < 1)).all(axis=1)]
        cells = set()
        if len(inside):
            cells.update(sp.Embedding(mesh, sp.Surface(inside, [[0, 0, 0]])).cells)
        assert cells <= set(np.flatnonzero(found))
        assert np.count_nonzero(found) <= len(cells) + 2  # but for those it only grazes


def test_bones_hold_a_share_of_the_way_to_the_skin():
    mesh = sp.TetMesh.box((2.0, 1.0, 1.0), (16, 8, 8), origin=(0.0, -0.5, -0.5))
    bone = np.array([[(0.0, 0.0, 0.0), (2.0, 0.0, 0.0)]])
    radius = segment_distances(mesh.vertices, bone)[:, 0]
    for share in (0.3, 0.6):
        fixed = on_bones(mesh, bone, share)
        middle = np.abs(mesh.vertices[:, 0] - 1.0) < 0.4  # far from both ends
        box = np.abs(mesh.vertices[:, 1:]).max(axis=1)  # 0.5 at the skin
        wanted = radius <= share * (radius + 0.5 - box) + 1e-9
        assert np.array_equal(fixed[middle], (wanted & (box < 0.5))[middle])
    crossed = mesh.cells[crossed_cells(mesh, bone)[0]]
    assert np.array_equal(np.flatnonzero(on_bones(mesh, bone, None)), np.unique(crossed))


def test_every_cell_on_a_thin_bone_is_held():
    mesh = sp.TetMesh.box((2.0, 0.2, 0.2), (8, 1, 1), origin=(0.0, -0.1, -0.1))
    bone = np.array([[(0.1, 0.03, 0.0), (1.9, 0.03, 0.0)]])
    fixed = on_bones(mesh, bone, 0.3)
    assert fixed[mesh.cells[crossed_cells(mesh, bone)[0]]].any(axis=1).all()
    assert not fixed.all()


def test_what_hangs_by_an_edge_alone_is_another_piece():
    two = sp.HexMesh.box((2.0, 2.0, 1.0), (2, 2, 1))
    assert pieces(sp.HexMesh.cleaned(two.vertices, two.cells[[0, 3]]).tetrahedra()).max() == 1
    whole = two.tetrahedra()
    assert pieces(whole).max() == 0
    assert 2 * len(adjacent_cells(whole)) + len(whole.boundary_facets()) == 4 * whole.n_cells


def test_a_held_volume_cannot_move_as_a_whole():
    rig = BendingRod()
    volume = character_volume(rig, vertices=400, method="voxels").held(bones_of(rig.character))
    body = sp.Body(volume.mesh, sp.StVK(young=1e4, poisson=0.4), fixed=volume.fixed)
    assert body.free_rigid_motions == 0
    assert 0 < volume.fixed.mean() < 0.3
