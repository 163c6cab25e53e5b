"""Meshes made by code for the tests of this folder."""

from __future__ import annotations

import numpy as np
import pytest

from supple.mesh import HexMesh, QuadraticTetMesh, Surface, TetMesh


@pytest.fixture(params=[TetMesh, QuadraticTetMesh, HexMesh], ids=lambda kind: kind.__name__)
def kind(request):
    """Each class of solid mesh."""
    return request.param


@pytest.fixture
def box(kind):
    """A box of 24 bricks, or their tets, away from the origin."""
    return kind.box(size=(1.0, 0.2, 0.3), cells=(4, 2, 3), origin=(1.0, -2.0, 3.0))


@pytest.fixture
def bent(kind):
    """A sheared and, where cells may be, distorted box."""
    made = kind.box(size=(1.0, 1.0, 1.0), cells=(2, 3, 2))
    vertices = made.vertices @ np.array([[1.0, 0.3, 0.1], [0.0, 1.2, -0.2], [0.1, 0.0, 0.9]]).T
    if kind is not QuadraticTetMesh:
        vertices = vertices + 0.05 * np.random.default_rng(0).uniform(-1, 1, vertices.shape)
    return kind(vertices, made.cells)


@pytest.fixture
def sphere():
    """A closed sphere of radius 1, from a subdivided octahedron."""
    vertices = np.array([(1.0, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)])
    faces = [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)]
    corners = vertices[np.array(faces)]
    for _ in range(4):
        a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
        ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
        parts = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        corners = np.concatenate([np.stack(part, axis=1) for part in parts])
    corners /= np.linalg.norm(corners, axis=2, keepdims=True)
    soup = Surface(corners.reshape(-1, 3).round(12), np.arange(3 * len(corners)).reshape(-1, 3))
    return soup.welded()[0]
