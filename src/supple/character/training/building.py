"""From a rig to a pose-space model: the preparations of the pose space paper, Fig. 3."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.solid import Body
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.rigs.base import PoseRig
from supple.character.tissue.fitting import fitted
from supple.character.tissue.flesh import FREQUENCY, flesh
from supple.character.tissue.regions import Regions
from supple.character.tissue.tet_rig import TetRig
from supple.character.tissue.volume import Volume
from supple.character.training.basis import pose_bases
from supple.character.training.cached_parts import (
    cached_bases,
    cached_cubature,
    cached_fitting,
    fingerprint,
)
from supple.character.training.compliance_alignment import compliance_aligned
from supple.character.training.contact import PoseContact
from supple.character.training.cubature import PoseCubature
from supple.character.training.inertia import InertialCubature
from supple.character.training.midpoint import midpoint_frequency_error, warn_of
from supple.character.training.pose_choice import mean_angle, needed_poses, only
from supple.character.training.preparing import (
    check_that_poses_differ,
    chosen_poses,
    clip_accelerations,
    region_functions_of,
    soft_volume,
)
from supple.character.training.training import PoseTraining
from supple.core.checkpoint import Checkpoint
from supple.core.checks import instance, number, numbers, whole_number
from supple.core.errors import InputError
from supple.core.types import Floats, Progress
from supple.materials import Material
from supple.mesh import TetMesh

_CELLS_A_COORDINATE, _LEAST_CELLS = 7, 60
_VERTICES_A_COORDINATE, _LEAST_VERTICES = 4, 60
_OF_BASES = ("weights", "masses", "bases", "regions", "members", "gram", "squares")
_CANDIDATES = 12  # poses of the clips that are looked at where needed ones are added


def pose_space_model(
    rig: PoseRig,
    *,
    volume: Volume | TetMesh | None = None,
    fixed: ArrayLike | None = None,
    material: Material | None = None,
    frequency: float = FREQUENCY,
    poses: ArrayLike | int = 4,
    max_angle: float | None = None,
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
    checkpoint: str | os.PathLike[str] | None = None,
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
    number asks for so many from the clips of a skinned character. With ``max_angle`` [°], only
    those get one that are needed: beginning with the neutral pose, that one is added whose
    subspace is farthest from the interpolated one, until none is off by more, as a mean over the
    subspace. A number is then the most that there may be, out of a dozen.

    ``regions``, such as ``local_regions`` gives, or functions (k, n) in [0, 1], are where flesh
    moves by itself; a number asks for so many limbs of a skinned character. ``modes`` and ``size``
    are the number of linear modes and of coordinates in each region; a single ``size`` is shared
    out among them.
    ``contact`` True keeps parts that touch in a pose from going deeper. With ``driven``, what the
    clips of a skinned character do to its flesh counts beside the modes.

    ``cells`` and ``vertices`` are at most used for elastic and inertial forces, fewer where the
    training error is below ``tolerance``; ``samples`` deformations are tried in each pose.

    ``checkpoint`` is a folder in which finished parts are kept. However the work ends, the same
    call goes on from there, and what was made of something else is made again.
    """
    instance("rig", rig, PoseRig, "SkeletonRig(character)")
    number("frequency", frequency, above=0, unit="Hz")
    if max_angle is not None:
        number("max_angle", max_angle, above=0, below=90, unit="°")
    number("tolerance", tolerance, at_least=0.0, below=1.0)
    whole_number("samples", samples, at_least=10)
    whole_number("seed", seed, at_least=0)
    for name, given in (("cells", cells), ("vertices", vertices)):
        if given is not None:
            whole_number(name, given, at_least=1)
    parts = Checkpoint(checkpoint)
    body, space = soft_volume(rig, volume, fixed, material or flesh(), parts, progress)
    known = chosen_poses(rig, poses, among=_CANDIDATES if max_angle is not None else 0)
    if stiffness is None or np.ndim(stiffness) < 2:  # poses may also differ in stiffness alone
        check_that_poses_differ(rig, known)
    plain = TetRig.of(rig, space.mesh)
    mesh, skin = space.mesh, space.skin
    made_of = parts.sum_of(
        lambda: (fingerprint(rig, known), mesh.vertices, mesh.cells, skin.cells, skin.weights)
    )
    tet_rig = cached_fitting(
        parts, plain, made_of, lambda: fitted(plain, known, skin=skin, progress=progress)
    )
    young = _young(body, stiffness, len(known))
    options: dict[str, Any] = {
        "modes": modes,
        "size": size,
        "regions": region_functions_of(rig, mesh, regions),
        "contact": contact,
        "young": young,
        "driven": clip_accelerations(tet_rig, body.mass.diagonal()[::3]) if driven else None,
    }
    made_of = parts.sum_of(
        lambda: (made_of, tet_rig.corrections, body.material, space.fixed, options)
    )
    bases = cached_bases(
        parts, made_of, lambda: pose_bases(body, tet_rig, known, progress=progress, **options)
    )
    missing: list[float] = []
    if max_angle is not None:
        most = int(poses) if isinstance(poses, int | np.integer) else len(known)
        angle = np.deg2rad(max_angle)
        needed = needed_poses(tet_rig, known, bases, max_angle=angle, most=most, progress=progress)
        tet_rig, bases = only(tet_rig, known, bases, needed.which)
        known, young = known[needed.which], young[needed.which]
        contact = contact if isinstance(contact, bool) else [contact[k] for k in needed.which]
        missing = np.rad2deg(needed.angles).tolist()
    if material is None:
        softer = (2 * np.pi * frequency) ** 2 / bases.squares[0, 0]
        young, bases = softer * young, replace(bases, squares=softer * bases.squares)
    training = PoseTraining(body, tet_rig, known, bases, young, samples, seed, progress)
    if len(known) > 1:
        made_of = parts.sum_of(lambda: (made_of, bases.bases, young))
        bases = cached_bases(
            parts, made_of, lambda: compliance_aligned(training), name="matched bases"
        )
        training = replace(training, bases=bases)
    excess = parts.part(
        "between poses",
        (made_of, bases.bases),
        lambda: midpoint_frequency_error(training, options["regions"], contact),
        lambda shares: ({"numbers": shares}, {}),
        lambda about, _: list(about["numbers"]),
    )
    warn_of(excess, bases.alignment.parents.tolist())
    made_of = parts.sum_of(lambda: (made_of, bases.bases, young, samples, seed, tolerance))
    (elastic, elastic_errors), (inertial, inertial_errors) = _cubatures(
        parts, training, made_of, tolerance, cells, vertices
    )
    measured = {
        "elastic": elastic_errors,
        "inertial": inertial_errors,
        "between": {"frequencies": excess},
        "angles": np.rad2deg(mean_angle(bases.alignment.angles)).tolist(),
        "missing": missing,
        "notes": list(space.notes),
        "seconds": parts.seconds,
    }
    return _model(training, space, elastic, inertial, measured)


def _cubatures(
    parts: Checkpoint,
    training: PoseTraining,
    made_of: Any,
    tolerance: float,
    cells: int | None,
    vertices: int | None,
) -> tuple[tuple[PoseCubature, Any], tuple[InertialCubature, Any]]:
    """The cells and the vertices that stand for all, with their errors."""
    r = training.bases.bases.shape[-1]
    most = cells or max(_LEAST_CELLS, _CELLS_A_COORDINATE * r)
    most_vertices = vertices or max(_LEAST_VERTICES, _VERTICES_A_COORDINATE * r)
    elastic = cached_cubature(
        parts,
        "elastic cubature",
        PoseCubature,
        (made_of, most),
        lambda: training.elastic(most, tolerance),
    )
    inertial = cached_cubature(
        parts,
        "inertial cubature",
        InertialCubature,
        (made_of, most_vertices),
        lambda: training.inertial(most_vertices, tolerance),
    )
    return elastic, inertial


def _model(
    training: PoseTraining,
    space: Volume,
    elastic: PoseCubature,
    inertial: InertialCubature,
    measured: dict[str, Any],
) -> PoseSpaceModel:
    """All parts together."""
    material = training.body.parts[0].material
    at = [replace(material, young=each).lame(elastic.cells) for each in training.young]
    return PoseSpaceModel(
        tet_rig=training.tet_rig,
        poses=training.poses,
        material=type(material),
        fixed=space.fixed,
        cells=elastic.cells,
        cell_weights=elastic.weights,
        gaps=elastic.gaps,
        lame=np.stack([np.stack(pair, axis=1) for pair in at]),
        inertial_vertices=inertial.vertices,
        inertial_weights=inertial.weights,
        skin_cells=space.skin.cells,
        skin_weights=space.skin_weights,
        measured=measured,
        **{name: getattr(training.bases, name) for name in _OF_BASES},
    )


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
