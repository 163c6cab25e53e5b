"""From aligned bases to a model that runs: cubature of both kinds, and how good it is."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from supple.bodies.solid import Body
from supple.character.tissue.fitting import sound_cells
from supple.character.tissue.tet_rig import TetRig
from supple.character.training.alignment import pose_tree
from supple.character.training.basis import PoseBases
from supple.character.training.cubature import PoseCubature, train_pose_cubature
from supple.character.training.inertia import (
    InertialCubature,
    perturbed_accelerations,
    rigid_accelerations,
    train_inertial_cubature,
)
from supple.character.training.samples import ColumnGroups, InterpolatedPose, RestPose
from supple.core.types import Bools, Floats, Progress
from supple.mesh import TetMesh
from supple.reduction.cubature.cubature import CubatureWarning
from supple.reduction.cubature.training import LARGEST_GOOD_ERROR
from supple.reduction.modes import products

_TRAINED = (0.25, 0.75)  # of the way between two poses: where the training looks, too
_KNOWN = (0.5,)  # and where the stiffness at rest is known
_TESTED = (0.125, 0.625)  # where nothing is
_AMPLITUDE = 0.3  # largest gradient of displacements
_FLATTEST = 0.1  # of its shape in the neutral pose: what a cell that counts always has
_LOOKS = 8  # parts of the way between two poses at whose ends cells are looked at


@dataclass(frozen=True, eq=False)
class PoseTraining:
    """What the training of cubature needs, and does."""

    body: Body
    """In the neutral pose, with one material."""
    tet_rig: TetRig
    poses: Floats
    """(m, d)"""
    bases: PoseBases
    young: Floats
    """Young's modulus of every cell in each pose [Pa], (m, cells)."""
    samples: int
    seed: int
    progress: Progress | None = None

    # -- poses as rest shapes ----------------------------------------------------------

    def rest(self, pose: Floats) -> RestPose:
        """The body at rest in a pose with its interpolated basis."""
        return RestPose(
            self.body_at(pose),
            self.in_the_world(self.bases.shapes(self.weights(pose)), pose),
            self.bases.masses,
            self.bases.regions,
            self._cell_groups,
        )

    def in_the_world(self, U: Floats, pose: Floats) -> Floats:
        """Columns (n, 3, r) of the neutral frames as shapes in a pose, (r, n, 3)."""
        frames = self.tet_rig.frames(pose)
        return np.ascontiguousarray((U if frames is None else frames @ U).transpose(2, 0, 1))

    def body_at(self, pose: Floats) -> Body:
        """The body at rest in a pose; cells that are inside out, which do not count, are turned
        round."""
        x, w = self.tet_rig.vertices(pose), self.weights(pose)
        young = np.clip(w @ self.young, self.young.min(axis=0), self.young.max(axis=0))  # Eq. 36
        cells = self.body.mesh.cells
        inverted = TetMesh.inverted(x, cells)
        mesh = TetMesh(x, np.where(inverted[:, None], cells[:, [0, 2, 1, 3]], cells))
        material = replace(self.body.parts[0].material, young=young)
        return replace(self.body, mesh=mesh, material=material)

    def reduced(self, body: Body, shapes: Floats) -> tuple[Floats, Floats]:
        """K̃ at rest, of all cells that count, and M̃, (k, k), for shapes (k, n, 3)."""
        counted = np.where(self.flat, 0.0, 1.0)
        rest = body.evaluate(np.zeros_like(shapes[0]), order=2, cell_factors=counted).stiffness
        pushed = body.pattern.multiply_many(rest, shapes)
        return products(shapes, pushed), products(shapes, self.bases.masses[:, None] * shapes)

    def weights(self, pose: Floats) -> Floats:
        """w(p), (m,)."""
        return self.bases.weights(self.tet_rig.rig.features(pose))

    def interpolated(self, pose: Floats, rest: RestPose | None = None) -> InterpolatedPose:
        """A pose with its rest shape and how it is made of those that have a model."""
        w = self.weights(pose)
        features = self.tet_rig.rig.features(pose)
        return InterpolatedPose(rest or self.rest(pose), features, w, self.bases.at(w)[0])

    def between(self, share: float) -> list[Floats]:
        """Poses between each pose and the one that it was aligned to."""
        rig, parents = self.tet_rig.rig, pose_tree(self.bases.weights.features)
        return [
            rig.between(self.poses[parent], pose, share)
            for pose, parent in zip(self.poses, parents, strict=True)
            if parent >= 0
        ]

    @cached_property
    def at_poses(self) -> list[RestPose]:
        """Those that have a model."""
        return [self.rest(pose) for pose in self.poses]

    @cached_property
    def at_between(self) -> list[tuple[Floats, RestPose]]:
        """Those on the way from pose to pose where the training looks, too."""
        return [(pose, self.rest(pose)) for share in _TRAINED for pose in self.between(share)]

    @cached_property
    def at_tested(self) -> list[tuple[Floats, RestPose]]:
        """Those on the way from pose to pose where the training does not look."""
        return [(pose, self.rest(pose)) for share in _TESTED for pose in self.between(share)]

    @cached_property
    def _cell_groups(self) -> ColumnGroups:
        cells = self.body.mesh.cells
        free = np.any(self.body.free[cells], axis=(1, 2))
        moved = self.bases.members[:, cells].any(axis=2) & free
        return ColumnGroups.of(self.bases.regions, moved & ~self.flat)

    @cached_property
    def flat(self) -> Bools:
        """Cells that are pressed flat or turned inside out on some way between poses, (cells,).

        Their forces have no meaning there; they do not count in any pose.
        """
        ways = [pose for k in range(1, _LOOKS) for pose in self.between(k / _LOOKS)]
        return ~sound_cells(self.tet_rig, np.array([*self.poses, *ways]), least=_FLATTEST)

    @cached_property
    def vertex_groups(self) -> ColumnGroups:
        """Free vertices by the columns that they feel."""
        return ColumnGroups.of(self.bases.regions, self.bases.members & self.body.free.any(axis=1))

    # -- training ----------------------------------------------------------------------

    def elastic(self, size: int, tolerance: float) -> tuple[PoseCubature, dict[str, Any]]:
        """Cells for elastic forces, and the errors that they leave."""
        known = list(map(self.interpolated, self.poses, self.at_poses))
        between = [self.interpolated(pose, rest) for pose, rest in self.at_between]
        more = [self.interpolated(pose) for share in _KNOWN for pose in self.between(share)]
        start = time.perf_counter()
        cubature = train_pose_cubature(
            known,
            between,
            more,
            size=size,
            tolerance=tolerance,
            samples=self.samples,
            amplitude=_AMPLITUDE,
            seed=self.seed,
            progress=self.progress,
        )
        seconds = time.perf_counter() - start
        rng = np.random.default_rng([self.seed, 1])
        count = max(10, self.samples // 2)
        m = len(self.poses)
        tests = [*known, *(self.interpolated(pose, rest) for pose, rest in self.at_tested)]
        errors = [cubature.error(at, at.rest.draw(count, rng, _AMPLITUDE)) for at in tests]
        found = {
            "training": cubature.training_errors.tolist(),
            "test": errors[:m],
            "between": errors[m:],
            "samples": self.samples,
            "flat cells": int(self.flat.sum()),
            "seconds": seconds,
        }
        _warn("elastic force", len(cubature.cells), "cells", [*found["training"], *errors])
        return cubature, found

    def inertial(self, size: int, tolerance: float) -> tuple[InertialCubature, dict[str, Any]]:
        """Vertices for inertial forces, and the errors that they leave."""
        at = [*zip(self.poses, self.at_poses, strict=True), *self.at_between]
        start = time.perf_counter()
        cubature = train_inertial_cubature(
            self.tet_rig,
            at,
            self.vertex_groups,
            size=size,
            tolerance=tolerance,
            seed=self.seed,
            progress=self.progress,
        )
        seconds = time.perf_counter() - start
        rng = np.random.default_rng([self.seed, 2])
        errors: dict[str, list[float]] = {"trembling": [], "moving": [], "turning": []}
        for pose, rest in at[: len(self.poses)]:
            for name, error in cubature.errors(rest, self._shaken(pose, rest, rng)).items():
                errors[name].append(error)
        errors["between"] = [
            max(cubature.errors(rest, self._shaken(pose, rest, rng)).values())
            for pose, rest in self.at_tested
        ]
        found = {"training": cubature.training_error, **errors, "seconds": seconds}
        every = [cubature.training_error, *(error for each in errors.values() for error in each)]
        _warn("inertial force", len(cubature.vertices), "vertices", every)
        return cubature, found

    def _shaken(self, pose: Floats, rest: RestPose, rng: np.random.Generator) -> dict[str, Floats]:
        """Accelerations (T, n, 3) of vertices in a pose, by kind."""
        rigid = rigid_accelerations(rest.body.mesh.vertices, rest.masses)
        return {
            "trembling": perturbed_accelerations(self.tet_rig, pose, 10, rng),
            "moving": rigid[:3],
            "turning": np.einsum("tk,knj->tnj", rng.normal(size=(10, 9)), rigid[3:]),
        }


def _warn(what: str, count: int, terms: str, errors: list[float]) -> None:
    worst = max(errors)
    if worst > LARGEST_GOOD_ERROR:
        warnings.warn(
            f"{count} {terms} miss the reduced {what} by up to {100 * worst:.3g} %; allow more "
            f"{terms}, or use fewer coordinates (size=)",
            CubatureWarning,
            stacklevel=4,
        )
