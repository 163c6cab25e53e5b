"""Every kind of bad input raises MeshError that names the culprit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.refusals import refused

from supple.core.errors import MeshError
from supple.mesh import HexMesh, QuadraticTetMesh, Surface, TetMesh

KINDS = [TetMesh, QuadraticTetMesh, HexMesh]
BOXES = {kind: kind.box((1.0, 0.5, 0.5), (2, 2, 1)) for kind in KINDS}
kinds = st.sampled_from(KINDS)


@given(kinds, st.data())
def test_mesh_names_a_vertex_that_is_not_finite(kind, data):
    vertices = BOXES[kind].vertices.copy()
    culprit = data.draw(st.integers(0, len(vertices) - 1))
    bad = data.draw(st.sampled_from([np.nan, np.inf, -np.inf, 1e200]))
    vertices[culprit, data.draw(st.integers(0, 2))] = bad
    refused(f"vertex {culprit} is at", kind, vertices, BOXES[kind].cells, error=MeshError)


@given(kinds, st.data())
def test_mesh_names_a_cell_out_of_range(kind, data):
    cells = BOXES[kind].cells.copy()
    culprit = data.draw(st.integers(0, len(cells) - 1))
    n = BOXES[kind].n_vertices
    outside = st.integers(-(2**60), -1) | st.integers(n, 2**60)
    cells[culprit, data.draw(st.integers(0, kind.cell_nodes - 1))] = data.draw(outside)
    with pytest.raises(MeshError, match=f"cell {culprit} is .*numbered 0 to {n - 1}"):
        kind(BOXES[kind].vertices, cells)


@given(kinds, st.data())
def test_mesh_names_a_cell_that_repeats_a_vertex(kind, data):
    cells = BOXES[kind].cells.copy()
    culprit = data.draw(st.integers(0, len(cells) - 1))
    a, b = data.draw(st.permutations(range(kind.cell_nodes)))[:2]
    cells[culprit, a] = cells[culprit, b]
    with pytest.raises(MeshError, match=f"cell {culprit} .*names a vertex twice"):
        kind(BOXES[kind].vertices, cells)


@given(kinds, st.sets(st.integers(0, 3), min_size=1))
def test_mesh_names_inverted_cells_and_cleaned_mends_them(kind, culprits):
    cells = BOXES[kind].cells.copy()
    flip = {4: [0, 2, 1, 3], 10: [0, 2, 1, 3, 6, 5, 4, 7, 9, 8], 8: [4, 5, 6, 7, 0, 1, 2, 3]}
    for culprit in culprits:
        cells[culprit] = cells[culprit][flip[kind.cell_nodes]]
    with pytest.raises(MeshError, match=f"cell {min(culprits)} is inverted .*cleaned"):
        kind(BOXES[kind].vertices, cells)
    np.testing.assert_array_equal(
        kind.cleaned(BOXES[kind].vertices, cells).cells, BOXES[kind].cells
    )


@given(kinds, st.integers(1, 5))
def test_mesh_counts_unused_vertices_and_cleaned_drops_them(kind, extra):
    mesh = BOXES[kind]
    vertices = np.vstack([mesh.vertices, np.full((extra, 3), 9.0)])
    more = rf" \(and {extra - 1} more like it\)" if extra > 1 else ""
    with pytest.raises(MeshError, match=f"vertex {mesh.n_vertices} belongs to no cell{more};"):
        kind(vertices, mesh.cells)
    np.testing.assert_array_equal(kind.cleaned(vertices, mesh.cells).vertices, mesh.vertices)


@given(kinds, st.integers(0, 2))
def test_flat_mesh_is_called_2d(kind, axis):
    vertices = BOXES[kind].vertices.copy()
    vertices[:, axis] = 0.25
    refused("a 2D mesh", kind, vertices, BOXES[kind].cells, error=MeshError)


def test_mesh_names_a_flat_cell():
    vertices = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0)]
    with pytest.raises(MeshError, match="cell 1 is flat"):
        TetMesh(np.array(vertices, float), [(0, 1, 2, 3), (0, 1, 2, 4)])


def test_hex_names_a_tangled_cell():
    mesh = HexMesh.box((1, 1, 1), (1, 1, 1))
    with pytest.raises(MeshError, match=r"cell 0 is (inverted in part|flat)"):
        HexMesh(mesh.vertices, mesh.cells[:, [1, 0, 2, 3, 4, 5, 6, 7]])
    pushed = mesh.vertices.copy()
    pushed[-1] = (0.2, 0.2, 0.2)
    refused("cell 0 is inverted in part", HexMesh, pushed, mesh.cells, error=MeshError)


def test_quadratic_names_a_curved_cell():
    mesh = BOXES[QuadraticTetMesh]
    vertices = mesh.vertices.copy()
    vertices[mesh.cells[0, 4]] += 0.01
    refused("cell 0 has curved sides", QuadraticTetMesh, vertices, mesh.cells, error=MeshError)
    with pytest.raises(MeshError, match=r"curved sides.*01, 12, 02, 03, 13, 23"):
        QuadraticTetMesh(mesh.vertices, mesh.cells[:, [0, 1, 2, 3, 4, 5, 6, 7, 9, 8]])


@pytest.mark.parametrize(
    ("vertices", "cells", "words"),
    [
        (np.zeros((4, 2)), [[0, 1, 2, 3]], "a 2D mesh"),
        (np.zeros(12), [[0, 1, 2, 3]], r"shape \(12,\)"),
        (np.zeros((0, 3)), [[0, 1, 2, 3]], "empty: it has no vertices"),
        (np.eye(4, 3), np.zeros((0, 4), int), "empty: it has no cells"),
        (np.eye(4, 3), [[0, 1, 2]], r"cells have shape \(1, 3\)"),
        (np.eye(4, 3), [[0.0, 1.0, 2.0, 3.0]], "whole vertex numbers"),
        (np.eye(4, 3).astype(complex), [[0, 1, 2, 3]], "dtype complex128"),
        ([["a", "b", "c"]] * 4, [[0, 1, 2, 3]], "real numbers"),
        ([[0, 0, 0], [1, 0], [0, 1, 0], [0, 0, 1]], [[0, 1, 2, 3]], "not an .n, 3. array"),
        (np.eye(4, 3), [[0, 1, 2, 3], [0, 1]], "not an .m, 4. array"),
        (None, [[0, 1, 2, 3]], "real numbers"),
    ],
)
def test_mesh_says_what_shape_it_needs(vertices, cells, words):
    refused(words, TetMesh, vertices, cells, error=MeshError)


@pytest.mark.parametrize(
    ("regions", "properties", "words"),
    [
        ({"a": [0, 99]}, {}, "region 'a' names cell 99"),
        ({"a": [-1]}, {}, "region 'a' names cell -1"),
        ({"a": [0.5]}, {}, "region 'a' has dtype float64"),
        ({"a": np.ones(3, bool)}, {}, "region 'a' is a mask"),
        ({"": [0]}, {}, "region name ''"),
        ({"a": [0]}, {"b": {"young": 1.0}}, "properties name the region 'b'.*'a'"),
    ],
)
def test_mesh_names_a_bad_region(regions, properties, words):
    mesh = BOXES[TetMesh]
    refused(words, TetMesh, mesh.vertices, mesh.cells, regions, properties, error=MeshError)


@pytest.mark.parametrize(
    "bad",
    [
        {"size": (1, 1)},
        {"size": (1, 0, 1)},
        {"size": (1, np.nan, 1)},
        {"cells": (1, 0, 1)},
        {"cells": (1.5, 1, 1)},
        {"origin": (0, np.inf, 0)},
    ],
)
def test_box_names_the_bad_argument(kind, bad):
    arguments = {"size": (1, 1, 1), "cells": (1, 1, 1), "origin": (0, 0, 0), **bad}
    refused(f"{next(iter(bad))}=", kind.box, **arguments)


def test_surface_names_a_bad_triangle():
    refused("triangle 1 is", Surface, np.eye(3), [(0, 1, 2), (0, 1, 3)], error=MeshError)
    refused("vertex_ids", Surface, np.eye(3), [(0, 1, 2)], np.array([0, 1]), error=MeshError)
