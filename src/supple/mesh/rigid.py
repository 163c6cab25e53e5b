"""The mesh of a rigid body: a closed skin, carried by four vertices."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple, Self

import numpy as np

from supple.core.errors import MeshError
from supple.core.types import Floats, Ints
from supple.mesh.points import CarriedPoints
from supple.mesh.surface import Surface
from supple.mesh.tet import TetMesh

_REGULAR = np.array([(1.0, 1.0, 1.0), (-1.0, 1.0, -1.0), (1.0, -1.0, -1.0), (-1.0, -1.0, 1.0)])
"""Corners t of a regular tet about the origin: Σ t = 0, Σ t tᵀ = 4 I."""


class SolidMoments(NamedTuple):
    """Integrals over what a closed surface encloses."""

    volume: float
    """∫ dV [m³]"""
    centre: Floats
    """∫ x dV / V [m], (3,)."""
    spread: Floats
    """∫ (x − c) (x − c)ᵀ dV / V [m²], (3, 3)."""

    @classmethod
    def of(cls, surface: Surface) -> SolidMoments:
        """Exact for triangles: a sum over tets between each of them and a point nearby."""
        about = surface.vertices.mean(axis=0)
        corners = surface.vertices[surface.triangles] - about
        volumes = np.linalg.det(corners) / 6.0
        volume = float(volumes.sum())
        first = np.einsum("t,tki->i", volumes, corners) / 4.0
        # ∫ x xᵀ over a tet with a corner at 0: V (Σ a aᵀ + s sᵀ) / 20 with s = Σ a
        total = corners.sum(axis=1)
        second = np.einsum("t,tki,tkj->ij", volumes, corners, corners)
        second += np.einsum("t,ti,tj->ij", volumes, total, total)
        if not volume > 0:
            return cls(volume, about, np.zeros((3, 3)))
        offset = first / volume
        spread = second / (20.0 * volume) - np.outer(offset, offset)
        return cls(volume, about + offset, 0.5 * (spread + spread.T))


@dataclass(frozen=True, eq=False, repr=False)
class RigidMesh(TetMesh):
    """Four vertices that carry a skin along; ``RigidMesh.of(surface)`` makes it.

    The vertices are where four equal masses have together the mass, the centre and the inertia of
    the solid within the skin. ``skin_vertices`` (s, 3) [m] and ``skin_triangles`` (t, 3) are what
    touches and what is drawn.
    """

    _: KW_ONLY
    skin_vertices: Floats
    skin_triangles: Ints

    _cell: ClassVar[str] = "rigid body"
    _lengths: ClassVar[tuple[str, ...]] = ("vertices", "skin_vertices")

    @classmethod
    def of(cls, surface: Surface) -> Self:
        """That of the solid within a closed surface."""
        skin = surface.welded()[0].compact()[0]
        if not skin.n_triangles or not skin.is_closed:
            raise MeshError(
                f"{surface!r} is not closed, so there is no inside to have a mass; close its "
                "holes, or fill it with TetMesh.from_surface(surface) and give that mesh"
            )
        if skin.volume < 0:
            skin = Surface(skin.vertices, skin.triangles[:, ::-1])
        solid = SolidMoments.of(skin)
        squares, axes = np.linalg.eigh(solid.spread)
        if not (solid.volume > 0 and squares[0] > 0):
            raise MeshError(f"{surface!r} encloses no volume; a rigid body needs a solid one")
        # Four masses m/4 at c + L t with L Lᵀ = S have ∫ ρ (x − c)(x − c)ᵀ = m S
        L = (axes * np.sqrt(squares)) @ axes.T
        vertices = solid.centre + _REGULAR @ L
        return cls(
            vertices,
            np.arange(4)[None],
            skin_vertices=skin.vertices,
            skin_triangles=skin.triangles,
        )

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.vertices) != 4 or len(self.cells) != 1:
            raise MeshError(
                "a rigid body has four vertices and one cell; use RigidMesh.of(surface)"
            )
        skin = Surface(self.skin_vertices, self.skin_triangles)
        self._keep(skin_vertices=skin.vertices, skin_triangles=skin.triangles)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.skin!r})"

    @cached_property
    def skin(self) -> Surface:
        """The closed surface that the four vertices carry."""
        return Surface(self.skin_vertices, self.skin_triangles)

    @cached_property
    def moments(self) -> SolidMoments:
        """Volume, centre and spread of the solid within the skin."""
        return SolidMoments.of(self.skin)

    @cached_property
    def points(self) -> CarriedPoints:
        """The vertices of the skin, carried by the four."""
        edges = (self.vertices[1:] - self.vertices[0]).T
        local = np.linalg.solve(edges, (self.skin_vertices - self.vertices[0]).T).T
        weights = np.column_stack([1.0 - local.sum(axis=1), local])
        return CarriedPoints.of_weights(self.skin_vertices, weights)

    def poses(self, u: Floats) -> tuple[Floats, Floats]:
        """R (…, 3, 3) and c (…, 3) [m] for displacements (…, 4, 3): a place X goes to R X + c."""
        X = self.vertices
        x = X + u
        # x = A X + p, of which R is the nearest rotation
        spans = np.swapaxes(x[..., 1:, :] - x[..., :1, :], -1, -2)
        U, _, Vt = np.linalg.svd(spans @ np.linalg.inv((X[1:] - X[0]).T))
        U[..., :, 2] *= np.sign(np.linalg.det(U @ Vt))[..., None]
        R = U @ Vt
        return R, x.mean(axis=-2) - R @ X.mean(axis=0)

    def edge_lengths(self) -> Floats:
        """Length of every edge of the skin [m], (1, edges)."""
        return self.skin.edge_lengths()[None]
