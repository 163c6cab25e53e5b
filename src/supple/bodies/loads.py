"""From what pushes on the surface of a body to forces at its nodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from supple.core.checks import vertex_indices
from supple.core.errors import InputError
from supple.core.types import Floats, Ints
from supple.mesh import Mesh, VolumeMesh

_GAUSS = 1 / np.sqrt(3)


def spread(mesh: Mesh, nodes: Ints, forces: Floats) -> Floats:
    """Forces on some nodes, added up at each vertex, (n, 3)."""
    total = np.zeros_like(mesh.vertices)
    np.add.at(total, nodes, forces)
    return total


def facets_within(mesh: VolumeMesh, vertices: ArrayLike | None) -> Ints:
    """The boundary facets whose corners are all among the vertices (None: all of them)."""
    facets = mesh.boundary_facets()
    if vertices is None:
        return facets
    index = vertex_indices("vertices", vertices, len(mesh.vertices))
    chosen = np.zeros(len(mesh.vertices), dtype=bool)
    chosen[index] = True
    inside = facets[chosen[facets].all(axis=1)]
    if not len(inside):
        raise InputError(
            f"none of the {len(facets)} boundary facets has all its corners among the "
            f"{len(index)} vertices given; select a patch of the surface, e.g. mesh.where(x=1.0)"
        )
    return inside


def facet_integrals(mesh: VolumeMesh, facets: Ints) -> tuple[Floats, Floats]:
    """∫ N_a dA (f, k) and ∫ N_a n dA (f, k, 3), outward, over each facet's rest shape."""
    X = mesh.vertices[facets]
    k = facets.shape[1]
    if k == 4:  # bilinear, 2 × 2 Gauss points
        areas, normals = np.zeros(facets.shape), np.zeros((*facets.shape, 3))
        corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
        for xi, eta in corners * _GAUSS:
            N = (1 + corners[:, 0] * xi) * (1 + corners[:, 1] * eta) / 4
            along = np.einsum("a,fai->fi", corners[:, 0] * (1 + corners[:, 1] * eta) / 4, X)
            across = np.einsum("a,fai->fi", corners[:, 1] * (1 + corners[:, 0] * xi) / 4, X)
            normal = np.cross(along, across)
            areas += N * np.linalg.norm(normal, axis=1)[:, None]
            normals += N[:, None] * normal[:, None, :]
        return areas, normals
    normal = np.cross(X[:, 1] - X[:, 0], X[:, 2] - X[:, 0]) / 2
    share = np.full(3, 1 / 3) if k == 3 else np.repeat([0.0, 1 / 3], 3)  # corners of P2: none
    return share * np.linalg.norm(normal, axis=1)[:, None], share[:, None] * normal[:, None, :]
