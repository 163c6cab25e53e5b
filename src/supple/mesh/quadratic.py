"""Quadratic tetrahedra with straight sides: they bend without locking."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from supple.core.errors import MeshError
from supple.core.types import Floats, Ints
from supple.mesh.tet import EDGES, TetMesh, barycentric_gradients, mean_ratio, tet_volumes
from supple.mesh.volume import Quadrature, VolumeMesh

STRAIGHT = 1e-6
"""How far a middle node may be from the middle of its edge, as a part of the edge."""


@dataclass(frozen=True, eq=False, repr=False)
class QuadraticTetMesh(VolumeMesh):
    """Tetrahedra with ten nodes: four corners, then the middles of 01, 12, 02, 03, 13, 23."""

    cell_nodes: ClassVar[int] = 10
    _faces: ClassVar[Ints] = np.array(
        [(0, 2, 1, 6, 5, 4), (0, 1, 3, 4, 8, 7), (1, 2, 3, 5, 9, 8), (0, 3, 2, 7, 9, 6)]
    )
    _face_triangles: ClassVar[Ints] = np.array([(0, 3, 5), (3, 1, 4), (5, 4, 2), (3, 4, 5)])
    _corner_edges: ClassVar[Ints] = EDGES
    _flip: ClassVar[Ints] = np.array([0, 2, 1, 3, 6, 5, 4, 7, 9, 8])

    def __post_init__(self) -> None:
        super().__post_init__()
        off = off_middle(self.vertices, self.cells)
        bad = off > STRAIGHT * self._longest_edges(self.vertices, self.cells)
        if bad.any():
            first = int(np.argmax(bad))
            raise MeshError(
                f"cell {first} has curved sides: a middle node is {off[first]:.3g} m from the "
                f"middle of its edge ({np.count_nonzero(bad)} such cells); the nodes after the "
                "corners are the middles of edges 01, 12, 02, 03, 13, 23; "
                "TetMesh(...).quadratic() makes straight ones"
            )

    @classmethod
    def _signed_volumes(cls, vertices: Floats, cells: Ints) -> tuple[Floats, Floats]:
        volumes = tet_volumes(vertices, cells)
        return volumes, volumes

    @classmethod
    def box(cls, size: ArrayLike, cells: ArrayLike, origin: ArrayLike = (0.0, 0.0, 0.0)) -> Self:
        """A box of ``size`` [m] at ``origin`` [m], cut as in TetMesh.box."""
        made = TetMesh.box(size, cells, origin).quadratic()
        return cls(made.vertices, made.cells)

    def linear(self) -> TetMesh:
        """The same shape without the middle nodes."""
        return TetMesh.cleaned(self.vertices, self.cells[:, :4], self.regions, self.properties)

    def quadrature(self) -> Quadrature:
        """Four points in each cell, exact for polynomials of degree two."""
        return self._quadrature

    @cached_property
    def _quadrature(self) -> Quadrature:
        near, far = (5.0 + 3.0 * np.sqrt(5.0)) / 20.0, (5.0 - np.sqrt(5.0)) / 20.0
        places = np.full((4, 4), far) + (near - far) * np.eye(4)
        corner = barycentric_gradients(self.vertices, self.cells, self.volumes)
        gradients = np.einsum("qkc,mci->mqki", shape_slopes(places), corner, optimize=True)
        weights = np.repeat(self.volumes[:, None] / 4.0, 4, axis=1)
        return Quadrature(weights, gradients, shape_values(places))

    def quality(self) -> Floats:
        """Mean ratio of each tet, as for TetMesh, (m,)."""
        return mean_ratio(self)

    def shape_mass(self) -> Floats:
        """Integral of N_a N_b over each cell [m³], (m, 10, 10)."""
        return self.volumes[:, None, None] * _UNIT_MASS


def shape_values(places: Floats) -> Floats:
    """The ten shape functions at barycentric ``places`` (q, 4), (q, 10)."""
    corners = places * (2.0 * places - 1.0)
    middles = 4.0 * places[:, EDGES[:, 0]] * places[:, EDGES[:, 1]]
    return np.hstack([corners, middles])


def shape_slopes(places: Floats) -> Floats:
    """Their derivatives by the four barycentric coordinates, (q, 10, 4)."""
    slopes = np.zeros((len(places), 10, 4))
    for corner in range(4):
        slopes[:, corner, corner] = 4.0 * places[:, corner] - 1.0
    for edge, (a, b) in enumerate(EDGES):
        slopes[:, 4 + edge, a] = 4.0 * places[:, b]
        slopes[:, 4 + edge, b] = 4.0 * places[:, a]
    return slopes


def off_middle(vertices: Floats, cells: Ints) -> Floats:
    """Largest distance of a cell's middle nodes from the middles of its edges [m], (m,)."""
    middles = vertices[cells[:, EDGES]].mean(axis=2)
    distance: Floats = np.linalg.norm(vertices[cells[:, 4:]] - middles, axis=2).max(axis=1)
    return distance


def _unit_mass() -> Floats:
    # ∫ L0^a L1^b L2^c L3^d = 6V a! b! c! d! / (a + b + c + d + 3)! gives these numbers over 420.
    mass = np.ones((10, 10))
    ends = [set(edge) for edge in EDGES.tolist()]
    for i in range(4):
        mass[i, i] = 6.0
        for e in range(6):
            mass[i, 4 + e] = mass[4 + e, i] = -4.0 if i in ends[e] else -6.0
    for e in range(6):
        for f in range(6):
            mass[4 + e, 4 + f] = {0: 8.0, 1: 16.0, 2: 32.0}[len(ends[e] & ends[f])]
    return mass / 420.0


_UNIT_MASS = _unit_mass()
