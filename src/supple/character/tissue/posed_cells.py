"""The tets of a body that move, with one pose after the other as rest shape (pose space, §4)."""

from __future__ import annotations

import numpy as np

from supple._kernels.character.full_pose import shape_cells
from supple.bodies.assembly import Asked, Evaluation, Part, assemble
from supple.bodies.solid import Body
from supple.core.errors import InputError
from supple.core.sparse import BlockPattern
from supple.core.types import Bools, Floats


class PosedCells:
    """The tets around the free vertices of a body, and their forces in a pose.

    Tets between held vertices alone do nothing to what moves, and are left out, as are those of
    ``without`` (cells,). Sparsity and room are those of every pose.
    """

    def __init__(self, body: Body, free: Bools, without: Bools | None = None) -> None:
        cells = body.mesh.cells
        moves: Bools = np.any(free, axis=1)
        counts = moves[cells].any(axis=1)
        live = np.flatnonzero(counts if without is None else counts & ~without)
        self.vertices, nodes = np.unique(cells[live], return_inverse=True)
        """Vertices of the mesh that these tets have, (k,)."""
        nodes = np.ascontiguousarray(nodes.reshape(len(live), cells.shape[1]))
        self.free: Bools = np.ascontiguousarray(free[self.vertices])
        """Which of their components move, (k, 3)."""
        self.pattern, slots = BlockPattern.of_cells(nodes, len(self.vertices))
        parts = []
        for part in body.parts:
            mine = np.flatnonzero(np.isin(live, part.cells))
            if len(mine):
                which = live[mine]
                gradients, volumes = np.empty((len(mine), 1, 4, 3)), np.empty((len(mine), 1))
                lame = part.material.lame(which)
                parts.append(
                    Part(part.material, which, nodes[mine], gradients, volumes, slots[mine], lame)
                )
        self._parts = tuple(parts)
        self._stiffness = np.empty((self.pattern.n_blocks, 3, 3))

    def take_pose(self, x: Floats) -> None:
        """The rest shape from now on: the vertices at x (k, 3) [m]."""
        for part in self._parts:
            count, first = shape_cells(x, part.nodes, part.gradients, part.weights)
            if count:
                raise InputError(
                    f"{count} cells are inside out in this pose, the first is cell "
                    f"{int(part.cells[first])}; fit the mesh to the pose (Eq. 3), choose a milder "
                    "pose, or leave cells out: without=~sound_cells(tet_rig, poses)"
                )

    def energy(self, u: Floats) -> float:
        """Elastic energy [J] at displacements u (k, 3) [m] from the pose.

        It is infinite where a cell is inside out whose material does not survive that.
        """
        return assemble(self._parts, self.pattern, u, Asked(order=0)).energy

    def evaluate(self, u: Floats, *, definite: bool = False) -> Evaluation:
        """Energy, force and stiffness at displacements u (k, 3) [m] from the pose.

        The stiffness is good until the next call, and may be overwritten.
        """
        asked = Asked(order=2, definite=definite, stiffness=self._stiffness)
        return assemble(self._parts, self.pattern, u, asked)
