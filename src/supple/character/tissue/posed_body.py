"""The cells of a body with a pose as their rest shape, as dampings see a body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple._kernels.character.full_pose import shape_cells
from supple.bodies.assembly import Asked, Part, assemble
from supple.bodies.shape import Shape
from supple.bodies.solid import Body
from supple.bodies.supports import HeldComponents
from supple.core.errors import InputError
from supple.core.sparse import BlockPattern
from supple.core.types import Bools, Floats, Ints
from supple.mesh import VolumeMesh


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
        self.live: Ints = live
        """Those tets, (c,)."""
        self.vertices, nodes = np.unique(cells[live], return_inverse=True)
        """Vertices of the mesh that these tets have, (k,)."""
        nodes = np.ascontiguousarray(nodes.reshape(len(live), cells.shape[1]))
        self.free: Bools = np.ascontiguousarray(free[self.vertices])
        """Which of their components move, (k, 3)."""
        self.pattern, self.slots = BlockPattern.of_cells(nodes, len(self.vertices))
        self.nodes = nodes
        parts = []
        for part in body.parts:
            mine = np.flatnonzero(np.isin(live, part.cells))
            if len(mine):
                which = live[mine]
                gradients, volumes = np.empty((len(mine), 1, 4, 3)), np.empty((len(mine), 1))
                of_cells = part.material.lame(which), part.material.extra(which)
                shape = nodes[mine], gradients, volumes, self.slots[mine]
                parts.append(Part(part.material, which, *shape, *of_cells))
        self.parts = tuple(parts)
        """By material; their ``cells`` are those of the whole mesh."""
        self._stiffness = np.empty((self.pattern.n_blocks, 3, 3))

    def take_pose(self, x: Floats) -> None:
        """The rest shape from now on: the vertices at x (k, 3) [m]."""
        for part in self.parts:
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
        return assemble(self.parts, self.pattern, u, Asked(order=0)).energy

    def shape(self, body: PosedBody, u: Floats) -> Shape:
        """Energy, force and stiffness at displacements u (k, 3) [m]; good until the next call."""
        return Shape(body, u, order=2, lend=lambda _: self._stiffness)


@dataclass(eq=False)
class PosedMesh:
    """The vertices in a pose, with the regions and numbers of cells of the whole mesh."""

    vertices: Floats
    """(k, 3) [m]"""
    cells: Ints
    """Those that take part, (c, 4)."""
    whole: VolumeMesh

    @property
    def n_cells(self) -> int:
        """Of the whole mesh, by which coefficients are given."""
        return self.whole.n_cells

    @property
    def regions(self) -> Mapping[str, Ints]:
        """Of the whole mesh."""
        return self.whole.regions

    def region(self, name: str) -> Ints:
        """Cells of the whole mesh."""
        return self.whole.region(name)


class PosedBody(Body):
    """A body whose rest shape is a pose, for dampings; it changes with ``PosedCells.take_pose``.

    Coefficients of cells are those of the whole mesh. The mass is lumped.
    """

    def __init__(self, neutral: Body, cells: PosedCells, masses: Floats) -> None:
        mesh = PosedMesh(neutral.mesh.vertices[cells.vertices].copy(), cells.nodes, neutral.mesh)
        known: dict[str, Any] = {
            "mesh": mesh,
            "material": neutral.material,
            "fixed": ~cells.free,
            "supports": (),
            "mass_model": neutral.mass_model,
            "parts": cells.parts,
            "held": HeldComponents.of(~cells.free, (), len(masses)),
            "_pattern_and_slots": (cells.pattern, cells.slots),
            "_neutral": neutral,
            "_vertices": cells.vertices,
            "total_mass": float(masses.sum()),
        }
        self.__dict__.update(known)  # what a body else works out of its mesh

    def scaled_mass(self, cell_factors: Floats) -> Floats:
        neutral: Body = self.__dict__["_neutral"]
        vertices: Ints = self.__dict__["_vertices"]
        ones = np.ones((neutral.n_vertices, 3))
        lumped = neutral.pattern.multiply(neutral.scaled_mass(cell_factors), ones)[vertices, 0]
        values = np.zeros(self.pattern.n_blocks)
        values[self.pattern.indptr[:-1]] = lumped
        return values
