"""Soft tissue on a rig, reduced: what the runtime needs of it (pose space paper, §5)."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from supple.character.model.posed_model import PosedModel
from supple.character.model.weights import PoseWeights
from supple.character.tissue.tet_rig import TetRig
from supple.character.training.stiffness_corrections import StiffnessCorrections
from supple.core.checks import number
from supple.core.errors import InputError
from supple.core.types import Bools, Floats, Ints
from supple.materials import Material

if TYPE_CHECKING:
    from supple.character.runtime.simulation import PoseSimulation


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
    gaps: StiffnessCorrections
    """What the stiffness of the cubature cells lacks at rest."""
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

    def __post_init__(self) -> None:
        kinds = {np.int64: _INDICES, np.float64: _NUMBERS, np.bool_: _MASKS}
        for kind, names in kinds.items():
            for name in names:
                array = np.require(getattr(self, name), kind, ["C", "W"])
                object.__setattr__(self, name, array)
        _check(self)

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

    def at(self, pose: ArrayLike) -> PosedModel:
        """The model in a pose (d,)."""
        return PosedModel(self, pose)

    def stiffened(self, factor: float) -> PoseSpaceModel:
        """The same of flesh that is ``factor`` times as stiff."""
        times = number("factor", factor, above=0)
        return replace(
            self, lame=times * self.lame, gaps=self.gaps.times(times), squares=times * self.squares
        )

    def simulation(self, **options: Any) -> PoseSimulation:
        """The model in motion; options are those of PoseSimulation: ``damping``, ``dt``, …"""
        from supple.character.runtime.simulation import PoseSimulation

        return PoseSimulation(self, **options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file that ``load_pose_space_model`` reads.

        The rig is kept in it, but for a black box or a class of your own: that has to be given
        again.
        """
        from supple.character.model.file import save_pose_space_model

        save_pose_space_model(self, path)


_INDICES = ("regions", "cells", "inertial_vertices", "skin_cells")
_MASKS = ("fixed", "members")
_NUMBERS = (
    "poses",
    "masses",
    "bases",
    "gram",
    "cell_weights",
    "lame",
    "inertial_weights",
    "skin_weights",
    "squares",
)


def _check(model: PoseSpaceModel) -> None:
    """Stop at arrays that do not fit together, before a kernel reads beyond them."""
    mesh = model.tet_rig.mesh
    n, r = len(mesh.vertices), (*model.bases.shape, 0, 0, 0, 0)[3]
    m, d = (*model.poses.shape, 0, 0)[:2]
    c, s, skin = len(model.cells), len(model.inertial_vertices), len(model.skin_cells)
    shapes: dict[str, tuple[int, ...]] = {
        "poses": (m, d),
        "masses": (n,),
        "fixed": (n,),
        "bases": (m, n, 3, r),
        "regions": (r,),
        "members": (len(model.members), n),
        "gram": (m, m, r, r),
        "cells": (c,),
        "cell_weights": (m, c),
        "lame": (m, c, 2),
        "inertial_vertices": (s,),
        "inertial_weights": (s,),
        "skin_cells": (skin,),
        "skin_weights": (skin, 4),
        "squares": (m, r),
    }
    for name, shape in shapes.items():
        array = getattr(model, name)
        if array.shape != shape or 0 in shape:
            raise InputError(f"{name} of the model has shape {array.shape}; it must be {shape}")
        if name in _NUMBERS and not np.isfinite(array).all():
            raise InputError(f"{name} of the model must be finite")
    bounds = {
        "regions": len(model.members),
        "cells": len(mesh.cells),
        "inertial_vertices": n,
        "skin_cells": len(mesh.cells),
    }
    for name, bound in bounds.items():
        array = getattr(model, name)
        if array.min() < 0 or array.max() >= bound:
            raise InputError(f"{name} of the model must be from 0 to {bound - 1}")
    for name in ("cell_weights", "inertial_weights"):
        if getattr(model, name).min() < 0:
            raise InputError(f"{name} of the model must not be negative")
    gaps = model.gaps.values
    if gaps.shape != (model.gaps.weights.count, r, r) or not np.isfinite(gaps).all():
        raise InputError("the stiffness gaps of the model do not fit together, or are not finite")
    if model.masses.min() <= 0 or np.einsum("iikk->ik", model.gram).min() <= 0:
        raise InputError("masses of the model must be positive")
    rig = model.tet_rig.rig
    features = len(rig.features(rig.neutral))
    for known in (model.weights, model.gaps.weights, model.tet_rig.weights):
        if known is not None and known.features.shape[1] != features:
            raise InputError(
                f"the model was made with a rig whose poses have {known.features.shape[1]} "
                f"features; those of this rig have {features}: give the rig with the same clips"
            )
    if model.weights.count != m:
        raise InputError(f"weights of the model are for {model.weights.count} poses, not {m}")
    if len(model.tet_rig.rig.vertices(model.tet_rig.rig.neutral)) != skin:
        raise InputError(f"the model has a skin of {skin} vertices; its rig has another number")
