"""From a rig to a pose-space model: the preparations of the pose space paper, Fig. 3."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.body import Body
from supple.character.driving import driving_accelerations
from supple.character.fitting import fitted
from supple.character.pose_bases import PoseBases, pose_bases
from supple.character.pose_choice import mean_angle
from supple.character.pose_contact import PoseContact
from supple.character.pose_cubature import PoseCubature
from supple.character.pose_inertia import InertialCubature
from supple.character.pose_space_model import PoseSpaceModel
from supple.character.pose_training import PoseTraining
from supple.character.preparing import chosen_poses, region_functions_of, soft_volume
from supple.character.regions import Regions
from supple.character.rigs.base import PoseRig
from supple.character.tet_rig import TetRig
from supple.character.volume import Volume
from supple.checks import instance, number, numbers, whole_number
from supple.errors import InputError
from supple.materials import Material, StableNeoHookean
from supple.mesh import TetMesh
from supple.types import Floats, Progress

_CELLS_A_COORDINATE, _LEAST_CELLS = 7, 60
_VERTICES_A_COORDINATE, _LEAST_VERTICES = 4, 60
_FLESH = StableNeoHookean(young=1e4, poisson=0.45, density=1000.0)


def pose_space_model(
    rig: PoseRig,
    *,
    volume: Volume | TetMesh | None = None,
    fixed: ArrayLike | None = None,
    material: Material | None = None,
    frequency: float = 4.0,
    poses: ArrayLike | int = 4,
    modes: int | Sequence[int] = 10,
    size: int | Sequence[int] = 30,
    regions: Regions | ArrayLike | int | None = None,
    contact: bool | Sequence[PoseContact | None] = False,
    driven: bool = False,
    stiffness: ArrayLike | None = None,
    cells: int | None = None,
    vertices: int | None = None,
    tolerance: float = 0.005,
    samples: int = 40,
    seed: int = 0,
    progress: Progress | None = None,
) -> PoseSpaceModel:
    """Soft tissue for a rig, ready to run.

    ``volume`` is what ``character_volume(rig).held(...)`` gives, or a tet mesh around the neutral
    surface with the vertices ``fixed`` that follow the rig. A skinned character needs neither: its
    volume is made, and held by its bones.

    ``material`` is of any kind. Without one the flesh is neo-Hookean, and so soft that it swings
    ``frequency`` times a second [Hz] where it is softest. ``stiffness`` multiplies Young's modulus
    in each cell, (cells,), or in each cell and pose, (m, cells).

    ``poses`` (m, d) get a model each; the neutral one comes first, and is added if it is missing. A
    number asks for so many from the clips of a skinned character.

    ``regions``, such as ``local_regions`` gives, or functions (k, n) in [0, 1], are where flesh
    moves by itself; a number asks for so many limbs of a skinned character. ``modes`` and ``size``
    are the number of linear modes and of coordinates in each region; a single ``size`` is shared
    out among them.
    ``contact`` True keeps parts that touch in a pose from going deeper. With ``driven``, what the
    clips of a skinned character do to its flesh counts beside the modes.

    ``cells`` and ``vertices`` are at most used for elastic and inertial forces, fewer where the
    training error is below ``tolerance``; ``samples`` deformations are tried in each pose.
    """
    instance("rig", rig, PoseRig, "SkeletonRig(character)")
    number("frequency", frequency, above=0, unit="Hz")
    number("tolerance", tolerance, at_least=0.0, below=1.0)
    whole_number("samples", samples, at_least=10)
    whole_number("seed", seed, at_least=0)
    clock = _Clock()
    body, space = soft_volume(rig, volume, fixed, material or _FLESH, progress)
    clock.done("volume")
    known = chosen_poses(rig, poses)
    follows = fitted(TetRig.of(rig, space.mesh), known, skin=space.skin, progress=progress)
    clock.done("fitting")
    young = _young(body, stiffness, len(known))
    bases = pose_bases(
        body,
        follows,
        known,
        modes=modes,
        size=size,
        regions=region_functions_of(rig, space.mesh, regions),
        contact=contact,
        young=young,
        driven=driving_accelerations(follows, body.mass.diagonal()[::3]) if driven else None,
        progress=progress,
    )
    clock.done("bases")
    if material is None:
        softer = (2 * np.pi * frequency) ** 2 / bases.squares[0, 0]
        young, bases = softer * young, replace(bases, squares=softer * bases.squares)
    r = bases.bases.shape[-1]
    most = max(_LEAST_CELLS, _CELLS_A_COORDINATE * r) if cells is None else cells
    training = PoseTraining(body, follows, known, bases, young, samples, seed, progress)
    elastic, elastic_errors = training.elastic(most, tolerance)
    clock.done("elastic cubature")
    most = max(_LEAST_VERTICES, _VERTICES_A_COORDINATE * r) if vertices is None else vertices
    inertial, inertial_errors = training.inertial(most, tolerance)
    clock.done("inertial cubature")
    measured = {
        "elastic": elastic_errors,
        "inertial": inertial_errors,
        "angles": np.rad2deg(mean_angle(bases.alignment.angles)).tolist(),
        "notes": list(space.notes),
        "seconds": clock.seconds,
    }
    return _model(follows, known, bases, body, young, elastic, inertial, space, measured)


def _young(body: Body, stiffness: ArrayLike | None, poses: int) -> Floats:
    """Young's modulus of every cell in each pose [Pa], (m, cells)."""
    count = body.mesh.n_cells
    part = body.parts[0]
    plain = np.tile(part.material.per_cell("young", part.cells), (poses, 1))
    if stiffness is None:
        return plain
    factors = numbers("stiffness", stiffness, ((count,), (poses, count)))
    if factors.min() <= 0:
        raise InputError("stiffness must be above 0 in every cell; hold what is rigid by fixed=")
    return np.asarray(plain * factors)


def _model(
    follows: TetRig,
    poses: Floats,
    bases: PoseBases,
    body: Body,
    young: Floats,
    elastic: PoseCubature,
    inertial: InertialCubature,
    space: Volume,
    measured: dict[str, Any],
) -> PoseSpaceModel:
    material = body.parts[0].material
    at = [replace(material, young=each).lame(elastic.cells) for each in young]
    return PoseSpaceModel(
        tet_rig=follows,
        poses=poses,
        weights=bases.weights,
        material=type(material),
        masses=bases.masses,
        fixed=space.fixed,
        bases=bases.bases,
        regions=bases.regions,
        members=bases.members,
        gram=bases.gram,
        cells=elastic.cells,
        cell_weights=elastic.weights,
        gaps=elastic.gaps,
        lame=np.stack([np.stack(pair, axis=1) for pair in at]),
        inertial_vertices=inertial.vertices,
        inertial_weights=inertial.weights,
        skin_cells=space.skin.cells,
        skin_weights=space.skin_weights,
        squares=bases.squares,
        measured=measured,
    )


class _Clock:
    """How long each part took [s]."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def done(self, what: str) -> None:
        now = time.perf_counter()
        self.seconds[what] = now - self._last
        self._last = now
