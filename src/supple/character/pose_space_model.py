"""Soft tissue on a rig, reduced: what the runtime needs of it (pose space paper, §5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from supple.character.pose_weights import PoseWeights
from supple.character.tet_rig import TetRig
from supple.materials import Material
from supple.types import Bools, Floats, Ints


@dataclass(frozen=True, eq=False, repr=False)
class PoseSpaceModel:
    """One reduced model per pose, aligned, to be interpolated: u = F(p) Υ Σ_i w_i(p) U_i q.

    F(p) are the frames of the tet rig, one rotation for each vertex, where it has them. Mass is
    lumped, so that frames leave the reduced mass alone. Υ makes each column's mass norm 1.
    """

    tet_rig: TetRig
    poses: Floats
    """The m poses that have a model, (m, d); the first is the neutral one."""
    weights: PoseWeights
    """How much each of them counts in another pose."""
    material: type[Material]
    masses: Floats
    """Of each vertex of the tet mesh [kg], (n,)."""
    fixed: Bools
    """Vertices on the bones, which follow the rig exactly, (n,)."""
    bases: Floats
    """U_i, aligned, in the neutral frames of the vertices, (m, n, 3, r)."""
    regions: Ints
    """Where column k may be other than 0: region ``regions[k]``, (r,)."""
    members: Bools
    """Which vertices are in each region, (regions, n)."""
    gram: Floats
    """U_iᵀ M U_j, (m, m, r, r)."""
    cells: Ints
    """Cubature cells of the tet mesh, (c,)."""
    cell_weights: Floats
    """ξ of each cubature cell in each pose, ≥ 0, (m, c)."""
    lame: Floats
    """Lamé's λ and μ of the cubature cells in each pose [Pa], (m, c, 2)."""
    inertial_vertices: Ints
    """Vertices that stand for all in inertial forces, (s,)."""
    inertial_weights: Floats
    """How many vertices like itself each of them stands for, ≥ 0, (s,)."""
    skin_cells: Ints
    """The tet that carries each vertex of the surface, (surface vertices,)."""
    skin_weights: Floats
    """Its barycentric coordinates there, (surface vertices, 4)."""
    squares: Floats
    """ω² of the reduced model in each pose [1/s²], ascending, (m, r)."""
    measured: dict[str, Any] = field(default_factory=dict)
    """Training and test errors, times and numbers of samples."""

    @property
    def n_coordinates(self) -> int:
        """Number of reduced coordinates, r."""
        return int(self.bases.shape[-1])

    @property
    def n_poses(self) -> int:
        """Number of poses that have a model, m."""
        return len(self.poses)

    def __repr__(self) -> str:
        return (
            f"PoseSpaceModel({self.n_poses} poses, {self.n_coordinates} coordinates, "
            f"{len(self.cells)} cubature cells)"
        )
