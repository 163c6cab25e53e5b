"""Sheets of triangles: grids, patterns, edges and hinges, what is refused."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from tests.refusals import refusals

import supple as sp

CORNERS = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
SQUARE = [(0, 1, 2), (0, 2, 3)]


def test_grid():
    mesh = sp.SheetMesh.grid((2.0, 1.0), (4, 3))
    assert (mesh.n_vertices, mesh.n_cells) == (20, 24)
    assert mesh.area == pytest.approx(2.0)
    assert np.allclose(mesh.areas, 2.0 / 24)
    assert mesh.bounds.tolist() == [[0, 0, 0], [2, 1, 0]]
    assert len(mesh.boundary_edges) == 14
    assert len(mesh.edges) == 20 + 24 - 1  # Euler: v − e + f = 1
    assert len(mesh.hinges.vertices) == 43 - 14
    assert np.array_equal(mesh.pattern, mesh.vertices[:, :2])
    normals = np.cross(*(mesh.vertices[mesh.cells[:, k]] - mesh.vertices[mesh.cells[:, 0]]
                         for k in (1, 2)))  # fmt: skip
    assert (normals[:, 2] > 0).all()
    assert mesh.where(x=2).tolist() == [16, 17, 18, 19]
    assert mesh.vertex_areas.sum() == pytest.approx(2.0)


def test_hinges_of_a_square():
    mesh = sp.SheetMesh(CORNERS, SQUARE)
    hinges = mesh.hinges
    assert hinges.vertices.tolist() == [[0, 2, 1, 3]]
    assert hinges.cells.tolist() == [[0, 1]]
    named = mesh.cells[hinges.cells[0][:, None], hinges.corners[0]]
    assert named.tolist() == [[0, 2, 1], [0, 2, 3]]
    turned = sp.SheetMesh(CORNERS, [(0, 1, 2), (0, 3, 2)])  # one triangle the other way round
    assert turned.hinges.vertices.tolist() == [[0, 2, 1, 3]]
    assert np.allclose(mesh.edge_lengths(), [[1, 1, np.sqrt(2)], [np.sqrt(2), 1, 1]])


def test_triangles_lie_flat_without_a_pattern():
    mesh = sp.SheetMesh([(0, 0, 0), (0, 3, 4), (5, 0, 0)], [(0, 1, 2)])
    assert np.allclose(mesh.rest_corners, [[(0, 0), (5, 0), (0, 5)]])
    assert mesh.area == pytest.approx(12.5)


def test_variants_keep_their_pattern():
    mesh = sp.SheetMesh.grid((1, 1), (2, 2)).with_region("some", [1, 2])
    again = pickle.loads(pickle.dumps(mesh))
    assert np.array_equal(again.pattern, mesh.pattern)
    assert again.region("some").tolist() == [1, 2]
    assert mesh.scaled(2.0).area == pytest.approx(4.0)
    assert mesh.scaled(1.0) is mesh
    bare = sp.SheetMesh(mesh.vertices, mesh.cells).scaled(2.0)
    assert bare.pattern is None
    assert bare.area == pytest.approx(4.0)


def test_from_surface_drops_loose_vertices():
    surface = sp.Surface([(5, 5, 5), *CORNERS], np.array(SQUARE) + 1)
    flat = np.arange(10.0).reshape(5, 2) ** 2
    mesh = sp.SheetMesh.from_surface(surface, pattern=flat)
    assert mesh.n_vertices == 4
    assert np.array_equal(mesh.pattern, flat[1:])
    assert np.array_equal(mesh.surface().triangles, SQUARE)
    assert sp.SheetMesh.from_surface(surface).pattern is None


test_bad_input_is_refused = refusals(
    (lambda: sp.SheetMesh(CORNERS, [(0, 1, 2)]), "vertex 3 belongs to no triangle"),
    (lambda: sp.SheetMesh(CORNERS, [(0, 1, 1), (0, 2, 3)]), "names a vertex twice"),
    (lambda: sp.SheetMesh(CORNERS, [(0, 1, 4), (0, 2, 3)]), "numbered 0 to 3"),
    (lambda: sp.SheetMesh(CORNERS, SQUARE, pattern=np.zeros((3, 2))), "pattern has shape"),
    (lambda: sp.SheetMesh(CORNERS, SQUARE, pattern=np.zeros((4, 2))), "in line in the pattern"),
    (lambda: sp.SheetMesh([*CORNERS[:2], (2, 0, 0)], [(0, 1, 2)]), "in line; remove it"),
    (lambda: sp.SheetMesh([*CORNERS, (0, 0, 1)], [*SQUARE, (0, 2, 4)]), "belongs to 3 tri"),
    (lambda: sp.SheetMesh.grid((1, 0), (2, 2)), "two lengths above zero"),
    (lambda: sp.SheetMesh.grid((1, 1), (2, 0)), "cells=0"),
    (lambda: sp.SheetMesh.grid((1, 1), (2, 1.5)), "cells=1.5"),
    (lambda: sp.SheetMesh.grid((1, 1), 3), "two whole numbers"),
    (lambda: sp.SheetMesh.from_surface(3), "such as read_surface"),
    (lambda: sp.write_mesh(sp.SheetMesh(CORNERS, SQUARE), "a.vtk"), "writes solids"),
)
