"""Soft tissue on a rig, reduced: what the runtime needs of it (pose space paper, §5)."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from supple.character.model.weights import PoseWeights, StiffnessCorrections, interpolated_mass
from supple.character.tissue.tet_rig import TetRig
from supple.core.checks import number, numbers, vector, whole_number
from supple.core.errors import InputError
from supple.core.types import Bools, Floats, Ints
from supple.materials import Material

if TYPE_CHECKING:
    from supple.character.runtime.simulation import PoseSimulation

ARRAYS = {
    "poses": "md", "masses": "n", "fixed": "n", "regions": "r", "members": "kn", "gram": "mmrr",
    "cells": "c", "cell_weights": "mc", "lame": "mc2", "inertial_vertices": "s",
    "inertial_weights": "s", "skin_cells": "v", "skin_weights": "v4", "squares": "mr",
    "bases": "mn3r",
}  # fmt: skip
"""The arrays of a model, with a letter for each axis."""
_INDICES = {"regions": "k", "cells": "e", "inertial_vertices": "n", "skin_cells": "e"}
"""Those that count something, of which there are as many as the letter says."""
_MASKS = ("fixed", "members")


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
        for name in ARRAYS:
            kind = np.int64 if name in _INDICES else np.bool_ if name in _MASKS else np.float64
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


def _check(model: PoseSpaceModel) -> None:
    """Stop at arrays that do not fit together, before a kernel reads beyond them."""
    mesh, rig = model.tet_rig.mesh, model.tet_rig.rig
    (m, d), r = (*model.poses.shape, 0, 0)[:2], (*model.bases.shape, 0, 0, 0, 0)[3]
    count = {
        "n": len(mesh.vertices), "e": len(mesh.cells), "m": m, "d": d, "r": r,
        "k": len(model.members), "c": len(model.cells), "s": len(model.inertial_vertices),
        "v": len(model.skin_cells), "2": 2, "3": 3, "4": 4,
    }  # fmt: skip
    for name, axes in ARRAYS.items():
        array, shape = getattr(model, name), tuple(count[axis] for axis in axes)
        if array.shape != shape or 0 in shape:
            raise InputError(f"{name} of the model has shape {array.shape}; it must be {shape}")
        if not np.isfinite(array).all():
            raise InputError(f"{name} of the model must be finite")
        if name in _INDICES and not 0 <= array.min() <= array.max() < count[_INDICES[name]]:
            raise InputError(f"{name} of the model must be from 0 to {count[_INDICES[name]] - 1}")
    for name in ("cell_weights", "inertial_weights"):
        if getattr(model, name).min() < 0:
            raise InputError(f"{name} of the model must not be negative")
    gaps = model.gaps.values
    if gaps.shape != (model.gaps.weights.count, r, r) or not np.isfinite(gaps).all():
        raise InputError("the stiffness gaps of the model do not fit together, or are not finite")
    if model.masses.min() <= 0 or np.einsum("iikk->ik", model.gram).min() <= 0:
        raise InputError("masses of the model must be positive")
    features = len(rig.features(rig.neutral))
    for known in (model.weights, model.gaps.weights, model.tet_rig.weights):
        if known is not None and known.features.shape[1] != features:
            raise InputError(
                f"the model was made with a rig whose poses have {known.features.shape[1]} "
                f"features; those of this rig have {features}: give the rig with the same clips"
            )
    if model.weights.count != m:
        raise InputError(f"weights of the model are for {model.weights.count} poses, not {m}")
    if rig.n_vertices != count["v"]:
        raise InputError(
            f"the model has a skin of {count['v']} vertices; its rig has another number"
        )


class PosedModel:
    """What a model is in a pose (d,): weights w, Υ, M̃ and what follows from them."""

    def __init__(self, model: PoseSpaceModel, pose: ArrayLike) -> None:
        d = model.poses.shape[1]
        self.model = model
        self.pose: Floats = np.atleast_1d(numbers("pose", pose))
        if self.pose.shape != (d,):
            raise InputError(f"the pose has shape {self.pose.shape}; this model takes ({d},)")
        self.w: Floats = model.weights(model.tet_rig.rig.features(self.pose))
        """How much each pose with a model counts, (m,)."""
        self.upsilon, self.mass = interpolated_mass(self.w, model.gram)
        """The diagonal of Υ, (r,), and M̃, (r, r)."""

    @cached_property
    def rest(self) -> Floats:
        """Vertices of the tet mesh where nothing moves beside the rig [m], (n, 3)."""
        return self.model.tet_rig.vertices(self.pose)

    def shapes(self, which: Ints | None = None) -> Floats:
        """The basis U in the world, (n, 3, r), or (k, 3, r) at vertices ``which`` (k,)."""
        bases = self.model.bases if which is None else self.model.bases[:, which]
        U = np.tensordot(self.w, bases, axes=1) * self.upsilon  # Eqs. 14 and 16
        frames = self.model.tet_rig.frames(self.pose, which)
        return U if frames is None else frames @ U

    @property
    def cell_weights(self) -> Floats:
        """v(p) of the cubature cells, (c,) (Eq. 20)."""
        return self.w @ self.model.cell_weights

    @property
    def gap(self) -> Floats:
        """K̃ of all cells at rest less that of the cubature cells, (r, r)."""
        return self.model.gaps.at(self.model.tet_rig.rig.features(self.pose), self.upsilon)

    @property
    def lame(self) -> Floats:
        """λ and μ of the cubature cells [Pa], (c, 2) (Eq. 36)."""
        return np.tensordot(self.w, self.model.lame, axes=1)

    def displacements(self, q: ArrayLike) -> Floats:
        """u = U q of the tet mesh [m], (n, 3), for coordinates q (r,)."""
        return np.asarray(self.shapes() @ numbers("q", q, ((self.model.n_coordinates,),)))

    def skin_displacements(self, q: ArrayLike) -> Floats:
        """A u: how far the surface is from where the rig has it [m], (surface vertices, 3)."""
        u = self.displacements(q)
        nodes = self.model.tet_rig.mesh.cells[self.model.skin_cells]
        return np.asarray(np.einsum("sk,ski->si", self.model.skin_weights, u[nodes]))

    def skin(self, q: ArrayLike) -> Floats:
        """Φ̄(p) + A u: vertices of the surface [m], (surface vertices, 3)."""
        return self.model.tet_rig.rig.vertices(self.pose) + self.skin_displacements(q)

    def pull(self, vertex: int, force: ArrayLike) -> Floats:
        """Reduced force (r,) of a force (3,) [N] at a vertex of the surface."""
        index = whole_number("vertex", vertex, at_least=0)
        if index >= len(self.model.skin_cells):
            raise InputError(f"vertex={vertex}: the surface has {len(self.model.skin_cells)}")
        nodes = self.model.tet_rig.mesh.cells[self.model.skin_cells[index]]
        share = self.model.skin_weights[index]
        pulled: Floats = np.einsum("k,kir,i->r", share, self.shapes(nodes), vector("force", force))
        return pulled
