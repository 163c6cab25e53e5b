"""Surfaces: normals, areas, welding."""

from __future__ import annotations

import numpy as np
import pytest

from supple.mesh import Surface, TetMesh
from supple.mesh.surface import fan


def test_sphere_normals_point_along_its_radius(sphere):
    assert sphere.is_closed
    assert sphere.volume == pytest.approx(4 / 3 * np.pi, rel=0.01)
    assert sphere.area == pytest.approx(4 * np.pi, rel=0.01)
    assert (np.einsum("ni,ni->n", sphere.normals(), sphere.vertices) > 0.999).all()


def test_surface_with_a_hole_is_not_closed(sphere):
    assert not Surface(sphere.vertices, sphere.triangles[1:]).is_closed
    turned = np.vstack([sphere.triangles[:1, ::-1], sphere.triangles[1:]])
    assert not Surface(sphere.vertices, turned).is_closed


def test_compact_drops_unused_vertices(sphere):
    part = Surface(sphere.vertices, sphere.triangles[:5])
    small, ids = part.compact()
    np.testing.assert_array_equal(small.vertices, sphere.vertices[ids])
    np.testing.assert_array_equal(ids[small.triangles], part.triangles)
    assert (part.normals()[np.setdiff1d(np.arange(part.n_vertices), ids)] == 0).all()


def test_welded_joins_a_soup(sphere):
    corners = sphere.vertices[sphere.triangles].reshape(-1, 3)
    soup = Surface(corners, np.arange(len(corners)).reshape(-1, 3))
    joined, merged = soup.welded()
    assert not soup.is_closed
    assert joined.is_closed
    assert joined.n_vertices == sphere.n_vertices
    np.testing.assert_array_equal(joined.vertices[merged], corners)


def test_volume_does_not_depend_on_the_origin():
    near = TetMesh.box((1, 1, 1), (1, 1, 1)).boundary()
    assert Surface(near.vertices + 1e6, near.triangles).volume == pytest.approx(1.0, rel=1e-8)


def test_fan_keeps_the_area_of_polygons_with_dents():
    arrow = np.array([(0, 0, 0), (2, -1, 0), (0.5, 0, 0), (2, 1, 0)], float)
    angle, radius = np.arange(10) * np.pi / 5, np.tile([2.0, 1.0], 5)
    star = np.stack([radius * np.cos(angle), radius * np.sin(angle), 0 * angle], axis=1)
    for polygon in (arrow, star):
        for turn in range(len(polygon)):
            points = np.roll(polygon, turn, axis=0)
            triangles = fan(points, np.array([len(points)]), np.arange(len(points)))
            assert len(triangles) == len(points) - 2
            exact = 0.5 * np.cross(points, np.roll(points, -1, axis=0)).sum(axis=0)[2]
            assert Surface(points, triangles).area == pytest.approx(exact)
