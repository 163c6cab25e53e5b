"""Solid meshes: measures, shape functions, selection, boundaries."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from tests.refusals import refusals, refused

from supple.mesh import HexMesh, QuadraticTetMesh, TetMesh, VolumeMesh


def test_box_volume_is_product_of_sides(box):
    assert box.volume == pytest.approx(0.06, rel=1e-13)
    assert (box.volumes > 0).all()
    np.testing.assert_allclose(box.bounds, [(1, -2, 3), (2, -1.8, 3.3)], rtol=1e-14)


def test_box_counts_match_the_split():
    assert TetMesh.box((1, 1, 1), (2, 3, 4)).n_cells == 5 * 24
    assert HexMesh.box((1, 1, 1), (2, 3, 4)).n_cells == 24
    assert HexMesh.box((1, 1, 1), (2, 3, 4)).n_vertices == 3 * 4 * 5


def test_tet_box_is_mirror_symmetric():
    mesh = TetMesh.box((2.0, 2.0, 2.0), (2, 2, 2), origin=(-1, -1, -1))
    centres = {tuple(c) for c in mesh.centroids.round(9).tolist()}
    for axis in range(3):
        mirror = np.where(np.arange(3) == axis, -1.0, 1.0)
        assert {tuple(c) for c in (mesh.centroids * mirror + 0.0).round(9).tolist()} == centres


def test_mesh_arrays_are_read_only(box):
    for array in (box.vertices, box.cells, box.volumes, box.quadrature().weights):
        with pytest.raises(ValueError):
            array[0] = 0
    with pytest.raises(TypeError):
        box.regions["new"] = np.array([0])
    with pytest.raises(dataclasses.FrozenInstanceError):
        box.vertices = box.vertices


def test_mesh_does_not_alias_the_callers_array(kind, box):
    vertices = box.vertices.copy()
    mesh = kind(vertices, box.cells)
    vertices += 1.0
    np.testing.assert_array_equal(mesh.vertices, box.vertices)


def test_volume_mesh_is_abstract(box):
    with pytest.raises(TypeError):
        VolumeMesh(box.vertices, box.cells)


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_mesh_copies_whole(box, clone):
    mesh = dataclasses.replace(box, regions={"a": [2, 1]}, properties={"a": {"young": 1e6}})
    again = clone(mesh)
    np.testing.assert_array_equal(again.cells, mesh.cells)
    assert again.region("a").tolist() == [1, 2]
    assert again.properties["a"]["young"] == 1e6


def test_quadrature_integrates_linear_fields(bent):
    rule = bent.quadrature()
    assert rule.weights.sum() == pytest.approx(bent.volume, rel=1e-12)
    places = np.einsum("qk,mki->mqi", rule.shape_values, bent.vertices[bent.cells])
    moment = np.einsum("mq,mqi->i", rule.weights, places)
    # ∫ x dV = Σ_ab ∫ N_a N_b dV x_b, which shape_mass gives exactly.
    exact = np.einsum("mab,mbi->i", bent.shape_mass(), bent.vertices[bent.cells])
    np.testing.assert_allclose(moment, exact, rtol=1e-12)


def test_gradients_reproduce_linear_fields(bent):
    gradients = bent.quadrature().gradients
    np.testing.assert_allclose(gradients.sum(axis=2), 0.0, atol=1e-12)
    field = np.random.default_rng(1).normal(size=(3, 3))
    slopes = np.einsum("mkj,mqki->mqji", (bent.vertices @ field.T)[bent.cells], gradients)
    np.testing.assert_allclose(slopes, np.broadcast_to(field, slopes.shape), atol=1e-12)


def test_quadratic_gradients_reproduce_quadratic_fields():
    mesh = QuadraticTetMesh.box((1, 2, 1), (1, 2, 1))
    rule = mesh.quadrature()
    x, y, z = mesh.vertices.T
    slopes = np.einsum("mk,mqki->mqi", (x * y + z**2)[mesh.cells], rule.gradients)
    places = np.einsum("qk,mki->mqi", rule.shape_values, mesh.vertices[mesh.cells])
    exact = np.stack([places[..., 1], places[..., 0], 2 * places[..., 2]], axis=-1)
    np.testing.assert_allclose(slopes, exact, atol=1e-12)


def test_shape_mass_sums_to_volumes(bent):
    mass = bent.shape_mass()
    assert mass.shape == (bent.n_cells, bent.cell_nodes, bent.cell_nodes)
    np.testing.assert_allclose(mass.sum(axis=(1, 2)), bent.volumes, rtol=1e-12)
    np.testing.assert_allclose(mass, mass.transpose(0, 2, 1), rtol=1e-14)
    assert (np.linalg.eigvalsh(mass) > 0).all()


def test_boundary_is_closed_and_encloses_the_volume(box):
    skin = box.boundary()
    assert skin.is_closed
    assert skin.volume == pytest.approx(box.volume, rel=1e-12)
    assert skin.area == pytest.approx(2 * (0.2 + 0.3 + 0.06), rel=1e-12)
    np.testing.assert_array_equal(box.vertices[skin.vertex_ids], skin.vertices)


@pytest.mark.parametrize("kind", [TetMesh, QuadraticTetMesh], indirect=True)
def test_boundary_of_a_tet_mesh_keeps_its_volume_when_bent(bent):
    """The faces of distorted bricks are not flat, and theirs does not."""
    assert bent.boundary().volume == pytest.approx(bent.volume, rel=1e-12)


def test_boundary_facets_look_outward(box):
    facets = box.boundary_facets()
    assert facets.shape[1] == {4: 3, 8: 4, 10: 6}[box.cell_nodes]
    a, b, c = (box.vertices[facets[:, k]] for k in range(3))
    away = a - box.vertices.mean(axis=0)
    assert (np.einsum("fi,fi->f", np.cross(b - a, c - a), away) > 0).all()
    assert (facets[:, 0, None] == box.cells[box.boundary_cells()]).any(axis=1).all()
    if facets.shape[1] == 6:
        np.testing.assert_allclose(box.vertices[facets[:, 3]], (a + b) / 2, atol=1e-14)
        np.testing.assert_allclose(box.vertices[facets[:, 4]], (b + c) / 2, atol=1e-14)
        np.testing.assert_allclose(box.vertices[facets[:, 5]], (c + a) / 2, atol=1e-14)


def test_where_finds_faces_and_spans(box):
    left, x = box.where(x=1.0), box.vertices[:, 0]
    assert left.dtype == np.int64
    np.testing.assert_array_equal(left, np.flatnonzero(x == 1.0))
    np.testing.assert_array_equal(box.where(x=(None, 1.5)), np.flatnonzero(x < 1.51))
    both = box.where(x=1.0, inside=lambda X: X[:, 2] > 3.15)
    assert (box.vertices[both] > (0.99, -3, 3.15)).all()
    assert len(box.where(x=0.9, tolerance=0.11)) == len(left)


def test_cells_where_uses_centroids(box):
    cells = box.cells_where(x=(None, 1.25))
    assert 0 < len(cells) < box.n_cells
    assert (box.centroids[cells, 0] <= 1.25).all()


test_where_says_what_is_wrong = refusals(
    ({}, "say where"),
    ({"x": 7.0}, "x 1 to 2"),
    ({"x": (2, 1)}, "low ≤ high"),
    ({"x": "left"}, "must be a number"),
    ({"x": (1, 2, 3)}, "must be a number"),
    ({"x": float("nan")}, "low ≤ high"),
    ({"x": 1, "tolerance": -1.0}, "tolerance=-1.0"),
    ({"inside": lambda X: X}, "must give a mask"),
    make=lambda where: TetMesh.box((1, 1, 1), (1, 1, 1), origin=(1, 0, 0)).where(**where),
)


def test_region_lists_the_names_it_has(box):
    mesh = box.with_region("tip", np.arange(box.n_cells) < 2)
    assert mesh.region("tip").tolist() == [0, 1]
    refused(r"no region 'top'; this mesh has: 'tip'", mesh.region, "top")


def test_quadratic_keeps_shape_and_regions():
    linear = TetMesh.box((1, 2, 3), (2, 1, 2)).with_region("a", [3])
    quadratic = linear.quadratic()
    assert quadratic.volume == pytest.approx(linear.volume)
    assert quadratic.region("a").tolist() == [3]
    again = quadratic.linear()
    np.testing.assert_array_equal(again.vertices, linear.vertices)
    np.testing.assert_array_equal(again.cells, linear.cells)


def test_hex_tetrahedra_conform_for_any_numbering():
    bricks = HexMesh.box((1, 1, 2), (3, 2, 2))
    order = np.random.default_rng(2).permutation(bricks.n_vertices)
    tets = HexMesh(bricks.vertices[np.argsort(order)], order[bricks.cells], {"a": [1]}).tetrahedra()
    assert tets.n_cells == 6 * bricks.n_cells
    assert tets.volume == pytest.approx(bricks.volume)
    # Any mismatch of diagonals between two bricks would leave faces inside the box.
    assert len(tets.boundary_facets()) == 2 * len(bricks.boundary_facets())
    assert tets.volumes[tets.region("a")].sum() == pytest.approx(bricks.volumes[1])


def test_scaled_multiplies_lengths_and_keeps_the_rest(box):
    mesh = box.with_region("some", [0])
    large = mesh.scaled(1000)
    assert type(large) is type(mesh)
    assert large.volume == pytest.approx(1e9 * mesh.volume)
    assert large.region("some").tolist() == [0]
    assert mesh.scaled(1.0) is mesh
    skin = mesh.boundary()
    np.testing.assert_array_equal(skin.scaled(2).vertices, 2 * skin.vertices)
    np.testing.assert_array_equal(skin.scaled(2).vertex_ids, skin.vertex_ids)
    for factor in (0.0, -1.0, np.inf, np.nan):
        for thing in (mesh, skin):
            refused("factor=", thing.scaled, factor)


def test_quality_is_one_for_regular_cells_and_small_for_flat_ones():
    corners = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)], dtype=float)
    tet = TetMesh.cleaned(corners, [(0, 1, 2, 3)])
    np.testing.assert_allclose(tet.quality(), 1)
    np.testing.assert_allclose(tet.quadratic().quality(), 1)
    np.testing.assert_allclose(tet.edge_lengths(), np.sqrt(8))
    assert TetMesh.cleaned(corners * (1, 1, 0.01), [(0, 1, 2, 3)]).quality()[0] < 0.1
    brick = HexMesh.box((1, 2, 3), (1, 1, 1))
    np.testing.assert_allclose(brick.quality(), 1)
    assert sorted(brick.edge_lengths()[0]) == pytest.approx([1] * 4 + [2] * 4 + [3] * 4)
    # A shear by 45 degrees leaves corners of 45 and 135 degrees: sin 45° = 1/√2.
    sheared = HexMesh(brick.vertices @ [(1, 0, 0), (2, 2, 0), (0, 0, 1)] / 2, brick.cells)
    np.testing.assert_allclose(sheared.quality(), np.sqrt(0.5))


def test_region_numbers_count_from_one_and_the_first_wins():
    mesh = TetMesh.box((1, 1, 1), (1, 1, 1)).with_region("a", [1, 2]).with_region("b", [2, 3])
    assert mesh.region_numbers().tolist() == [0, 1, 1, 2, 0]
