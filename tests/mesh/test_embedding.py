"""Embedded surfaces follow the fields that their cells can show, exactly."""

from __future__ import annotations

import numpy as np
import pytest
from tests.refusals import refused

from supple.mesh import Embedding, HexMesh, MeshWarning, QuadraticTetMesh, Surface, TetMesh


def cloud(low, high, count=300):
    places = np.random.default_rng(3).uniform(low, high, (count, 3))
    return Surface(places, np.arange(count).reshape(-1, 3))


def test_embedding_reproduces_linear_fields_inside_and_outside(bent):
    skin = cloud(bent.bounds[0] - 0.2, bent.bounds[1] + 0.2)
    embedded = Embedding(bent, skin)
    assert 0 < embedded.inside.sum() < len(embedded.inside)
    field = np.random.default_rng(4).normal(size=(3, 3))
    moved = embedded.displace(bent.vertices @ field.T + 1.0)
    np.testing.assert_allclose(moved, skin.vertices @ field.T + 1.0, atol=1e-10)
    np.testing.assert_allclose(embedded.weights.sum(axis=1), 1.0, atol=1e-10)


@pytest.mark.parametrize(
    ("cells", "field"),
    [
        (HexMesh, lambda x, y, z: (x * y * z, x * y, z)),
        (QuadraticTetMesh, lambda x, y, z: (x**2, y * z, x * z)),
    ],
    ids=["trilinear", "quadratic"],
)
def test_embedding_reproduces_the_fields_of_its_cells(cells, field):
    mesh, skin = cells.box((1, 1, 2), (1, 2, 2)), cloud((0, 0, 0), (1, 1, 2))
    moved = Embedding(mesh, skin).displace(np.stack(field(*mesh.vertices.T), axis=1))
    np.testing.assert_allclose(moved, np.stack(field(*skin.vertices.T), axis=1), atol=1e-12)


def test_embedding_finds_the_cell_of_every_centroid(bent):
    embedded = Embedding(bent, Surface(bent.centroids, np.arange(3)[None]))
    assert embedded.inside.all()
    np.testing.assert_array_equal(embedded.cells, np.arange(bent.n_cells))


def test_embedding_finds_large_cells_beside_many_small_ones():
    fine = TetMesh.box((0.1, 0.1, 0.1), (6, 6, 6), origin=(-0.1, 0, 0))
    coarse = TetMesh.box((5, 5, 5), (1, 1, 1))
    both = TetMesh(
        np.vstack([fine.vertices, coarse.vertices]),
        np.vstack([fine.cells, coarse.cells + fine.n_vertices]),
    )
    embedded = Embedding(both, Surface(np.full((1, 3), 0.01), [(0, 0, 0)]))
    assert embedded.inside.all()
    assert embedded.cells[0] >= fine.n_cells


def test_embedding_ties_outside_vertices_to_the_nearest_cell():
    mesh = TetMesh.box((4, 1, 1), (4, 1, 1))
    embedded = Embedding(mesh, Surface(np.array([(3.5, 0.5, 1.2), (0.5, -0.3, 0.5)]), [(0, 1, 0)]))
    assert not embedded.inside.any()
    near = mesh.centroids[embedded.cells]
    assert near[0, 0] > 3
    assert near[1, 0] < 1


def test_boundary_deforms_as_its_vertices(box):
    skin = box.boundary()
    embedded = Embedding(box, skin)
    u = np.random.default_rng(5).normal(size=box.vertices.shape)
    np.testing.assert_allclose(embedded.deform(u), (box.vertices + u)[skin.vertex_ids], atol=1e-8)


def test_batches_equal_single_calls(box):
    embedded = Embedding(box, box.boundary())
    u = np.random.default_rng(6).normal(size=(4, *box.vertices.shape))
    batch = embedded.deform(u)
    assert batch.shape == (4, embedded.surface.n_vertices, 3)
    np.testing.assert_allclose(batch, [embedded.deform(one) for one in u], atol=1e-14)


def test_embedding_warns_of_a_surface_elsewhere():
    mesh = TetMesh.box((1, 1, 1), (2, 2, 2))
    with pytest.warns(MeshWarning, match="same place and scale"):
        Embedding(mesh, cloud(50.0, 60.0))


def test_embedding_refuses_what_does_not_fit(box):
    refused("u has shape", Embedding(box, box.boundary()).deform, np.zeros((3, 3)))
    refused("and str", Embedding, box, "skin.obj")
