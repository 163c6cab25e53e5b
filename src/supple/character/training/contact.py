"""Contact that a body keeps in a pose, as linear constraints (pose space paper, §6)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sparse
from numpy.typing import ArrayLike

from supple.contact.obstacles.base import Obstacle
from supple.core.checks import instance, number, vertex_indices
from supple.core.errors import InputError
from supple.core.types import Bools, Floats, Ints
from supple.mesh import VolumeMesh

_NEAR = 0.01  # of the mean edge: so close to an obstacle is on it


@dataclass(frozen=True, eq=False, repr=False)
class PoseContact:
    """Vertices in contact, which keep it: C u = 0.

    Vertex k slides on what it touches: n·(u_k − Σ_c b_c u_c) = 0, where the u_c are those of the
    triangle on the other side, or 0 where the other side does not move. Where it sticks, all of
    the difference is 0. ``self_contact`` finds where a body touches itself.
    """

    vertices: Ints
    """That touch, (c,)."""
    normals: Floats
    """Unit vectors out of what they touch, (c, 3)."""
    gaps: Floats
    """Distances between the two sides [m], negative where one is inside the other, (c,)."""
    corners: Ints
    """Vertices of the triangle that each of them touches, (c, 3); of an obstacle any."""
    shares: Floats
    """Barycentric coordinates of the touched place, (c, 3); 0 for an obstacle."""
    sticking: Bools
    """Which of them cannot slide, (c,)."""

    def __repr__(self) -> str:
        return f"PoseContact({len(self)} vertices, {self.sticking.sum()} of them sticking)"

    def __len__(self) -> int:
        return len(self.vertices)

    @classmethod
    def with_obstacle(
        cls,
        mesh: VolumeMesh,
        obstacle: Obstacle,
        *,
        distance: float | None = None,
        sticking: bool = False,
    ) -> PoseContact:
        """Vertices of the boundary within ``distance`` [m] of an obstacle, or inside it.

        The default distance is a hundredth of the mean edge.
        """
        instance("obstacle", obstacle, Obstacle, "Plane(normal=(0, 0, 1))")
        if distance is None:
            distance = _NEAR * float(np.mean(mesh.edge_lengths()))
        number("distance", distance, at_least=0, unit="m")
        skin = np.unique(mesh.boundary_facets())
        gaps, normals = obstacle.signed_distance(mesh.vertices[skin])
        near = np.flatnonzero(gaps <= distance)
        return cls._of_obstacle(skin[near], normals[near], gaps[near], sticking)

    @classmethod
    def of_vertices(
        cls, vertices: ArrayLike, normals: ArrayLike, n: int, *, sticking: bool = False
    ) -> PoseContact:
        """Given vertices of a mesh of n, which do not move along normals, (k, 3) or (3,)."""
        index = vertex_indices("vertices", vertices, n)
        given = np.broadcast_to(np.asarray(normals, dtype=float), (len(index), 3))
        length = np.linalg.norm(given, axis=1, keepdims=True)
        if not (np.isfinite(given).all() and (length > 0).all()):
            raise InputError("a normal has no direction; give vectors that are not zero")
        return cls._of_obstacle(index, given / length, np.zeros(len(index)), sticking)

    @classmethod
    def _of_obstacle(
        cls, vertices: Ints, normals: Floats, gaps: Floats, sticking: bool
    ) -> PoseContact:
        corners = np.repeat(vertices[:, None], 3, axis=1)
        held = np.full(len(vertices), sticking)
        return cls(vertices, normals, gaps, corners, np.zeros(corners.shape), held)

    def joined(self, *others: PoseContact) -> PoseContact:
        """This contact and others, together."""
        all_parts = zip(*(contact._parts for contact in (self, *others)), strict=True)
        return PoseContact(*(np.concatenate(parts) for parts in all_parts))

    def picked(self, which: ArrayLike) -> PoseContact:
        """Only the contacts of ``which``: indices, or a mask (c,)."""
        return PoseContact(*(part[np.asarray(which)] for part in self._parts))

    @property
    def _parts(self) -> tuple[Ints, Floats, Floats, Ints, Floats, Bools]:
        fields = self.vertices, self.normals, self.gaps, self.corners, self.shares, self.sticking
        return fields

    def rows(self, n: int) -> sparse.csr_array:
        """C for a mesh of n vertices, (rows, 3n): a row where one slides, three where it sticks."""
        if len(self) and max(self.vertices.max(), self.corners.max()) >= n:
            raise InputError(f"the contact names vertices that a mesh of {n} does not have")
        slides, sticks = np.flatnonzero(~self.sticking), np.flatnonzero(self.sticking)
        who = np.concatenate([slides, np.repeat(sticks, 3)])
        directions = np.concatenate([self.normals[slides], np.tile(np.eye(3), (len(sticks), 1))])
        involved = np.concatenate([self.vertices[:, None], self.corners], axis=1)[who]
        factors = np.concatenate([np.ones((len(self), 1)), -self.shares], axis=1)[who]
        values = factors[:, :, None] * directions[:, None]
        columns = 3 * involved[:, :, None] + np.arange(3)
        rows = np.broadcast_to(np.arange(len(who))[:, None, None], values.shape)
        C = sparse.csr_array(
            (values.ravel(), (rows.ravel(), columns.ravel())), shape=(len(who), 3 * n)
        )
        C.eliminate_zeros()
        return C

    def opening(self, u: Floats) -> Floats:
        """By how much displacements u (n, 3) [m] part the two sides, to first order [m], (c,)."""
        other = np.einsum("ck,cki->ci", self.shares, u[self.corners])
        apart: Floats = np.einsum("ci,ci->c", self.normals, u[self.vertices] - other)
        return apart
