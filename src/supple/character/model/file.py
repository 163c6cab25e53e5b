"""Files of pose-space models: all that is needed to run one, and nothing that is executed."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from supple.character.model.pose_space_model import ARRAYS, PoseSpaceModel
from supple.character.model.rig_packing import Arrays, Header, describe_rig, rig_of, within
from supple.character.model.weights import PoseWeights, StiffnessCorrections
from supple.character.rigs.base import PoseRig
from supple.character.tissue.tet_rig import TetRig
from supple.core import files
from supple.core.errors import InputError
from supple.core.types import Floats, Ints
from supple.materials.base import material_of_file, name_for_file
from supple.mesh import TetMesh
from supple.mesh.packing import describe_mesh, mesh_of

_MODEL = files.Kind(b"\x89SUPPOS\n", "pose-space model", 2)
_SAME = 1e-6  # of the body's size: how far a rig that is given may be from the one of the file
_LOOKED_AT = 64  # vertices of the surface, at most, by which rigs are compared in every pose
_PLAIN = tuple(name for name in ARRAYS if name != "bases")


def save_pose_space_model(model: PoseSpaceModel, path: str | os.PathLike[str]) -> None:
    """Writes ``model`` to ``path``; what stands there stays until the new file is whole."""
    tet_rig = model.tet_rig
    header, meshed = describe_mesh(tet_rig.mesh)
    rig_header, rig_arrays = describe_rig(tet_rig.rig)
    arrays: dict[str, Any] = {f"tet mesh {name}": array for name, array in meshed.items()}
    arrays |= {f"rig {name}": array for name, array in rig_arrays.items()}
    which = _spread(tet_rig.rig.n_vertices)
    arrays |= {"seen vertices": which, "seen": _seen(tet_rig.rig, model.poses, which)}
    arrays |= {"near": tet_rig.near, "shares": tet_rig.shares, "offsets": tet_rig.offsets}
    arrays |= _packed("pose weights", model.weights)
    arrays |= _packed("gap weights", model.gaps.weights) | {"gaps": model.gaps.values}
    if tet_rig.weights is not None and tet_rig.corrections is not None:
        arrays |= _packed("correction weights", tet_rig.weights)
        arrays["corrections"] = tet_rig.corrections
    arrays |= {name: getattr(model, name) for name in _PLAIN}
    for region, vertices in enumerate(model.members):  # other entries are zero
        arrays[f"basis {region}"] = model.bases[:, vertices][..., model.regions == region]
    known: dict[str, Any] = {"tet mesh": header, "rig": rig_header}
    known |= {"material": name_for_file(model.material), "measured": model.measured}
    with files.replacing(path) as temporary:
        temporary.write_bytes(files.pack(_MODEL, known, arrays))


def load_pose_space_model(
    path: str | os.PathLike[str], *, rig: PoseRig | None = None
) -> PoseSpaceModel:
    """The model in a file.

    ``rig`` is needed where the file does not hold it: for black boxes, and classes of one's own.
    Raises InputError for a file that is damaged or is something else, and for a rig that is not
    the one that the model was made with.
    """
    return files.load(path, _MODEL, lambda block: _model_of(block.header, block.arrays, rig))


def is_pose_space_file(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as a pose-space model does."""
    return files.begins_as(path, _MODEL)


def _model_of(header: Header, arrays: Arrays, rig: PoseRig | None) -> PoseSpaceModel:
    mesh = mesh_of(header["tet mesh"], within(arrays, "tet mesh "))
    if not isinstance(mesh, TetMesh):
        raise InputError(f"it holds a {type(mesh).__name__}; pose-space models are of tets")
    plain = {name: arrays[name] for name in _PLAIN}
    return PoseSpaceModel(
        tet_rig=_tet_rig(mesh, arrays, _rig(header["rig"], arrays, rig)),
        weights=_weights(arrays, "pose weights"),
        gaps=_gaps(arrays),
        material=material_of_file(str(header["material"])),
        bases=_bases(mesh, plain, arrays),
        measured=dict(header["measured"]),
        **plain,
    )


def _rig(header: Header, arrays: Arrays, given: PoseRig | None) -> PoseRig:
    """The rig that was given, if it is the one of the file, or the one in the file."""
    if given is None:
        return rig_of(header, within(arrays, "rig "))
    neutral = given.vertices(given.neutral)
    x, pose = arrays["rig surface"], arrays["rig neutral"]
    close = _SAME * np.ptp(x, axis=0).max()
    fits = neutral.shape == x.shape and given.neutral.shape == pose.shape
    if not fits or np.abs(neutral - x).max() > close:
        raise InputError(
            f"the rig given has {len(neutral)} vertices and poses of {len(given.neutral)} numbers, "
            f"or another neutral shape; the model was made with a {header['kind']} of {len(x)} "
            f"vertices and poses of {len(pose)} numbers: give that one"
        )
    if "seen" in arrays:  # not in files of old; rigs of one neutral shape may move it otherwise
        poses = arrays["poses"]
        seen = _seen(given, poses, arrays["seen vertices"])
        apart = np.abs(seen - arrays["seen"]).max(axis=(1, 2))
        if apart.max() > close:
            worst = int(apart.argmax())
            raise InputError(
                f"the rig given has another shape in pose {worst}, {poses[worst].tolist()}, by "
                f"{apart[worst]:.3g} m; the model was made with a {header['kind']}: give that one"
            )
    return given


def _spread(count: int) -> Ints:
    """Some of so many vertices, all over."""
    return np.unique(np.linspace(0, count - 1, _LOOKED_AT).round().astype(np.int64))


def _seen(rig: PoseRig, poses: Floats, which: Ints) -> Floats:
    """Where vertices (k,) of a rig are in poses (m, d) [m], (m, k, 3)."""
    return np.stack([rig.vertices(pose, which) for pose in poses])


def _tet_rig(mesh: TetMesh, arrays: Arrays, rig: PoseRig) -> TetRig:
    n = len(mesh.vertices)
    near = np.array(arrays["near"], dtype=np.int64)
    shares, offsets = (np.array(arrays[name], dtype=float) for name in ("shares", "offsets"))
    k = (*near.shape, 0, 0)[1]
    if near.shape != (n, k) or shares.shape != (n, k) or offsets.shape != (n, k, 3):
        raise InputError("what its tets follow does not fit its mesh")
    if near.min() < 0 or near.max() >= rig.n_vertices:
        raise InputError("its tets follow vertices that its surface does not have")
    tet_rig = TetRig(rig, mesh, near, shares, offsets)
    if "corrections" not in arrays:
        return tet_rig
    weights = _weights(arrays, "correction weights")
    corrections = np.array(arrays["corrections"], dtype=float)
    if corrections.shape != (weights.count, n, 3):
        raise InputError("the corrections of its tets do not fit its mesh")
    return tet_rig.corrected(weights, corrections)


def _gaps(arrays: Arrays) -> StiffnessCorrections:
    """Files of version 1 have none: there the cells stand for all of the stiffness."""
    if "gaps" not in arrays:
        return StiffnessCorrections.none(arrays["pose weights features"][0], len(arrays["regions"]))
    weights = _weights(arrays, "gap weights")
    return StiffnessCorrections(weights, np.array(arrays["gaps"], dtype=float))


def _bases(mesh: TetMesh, plain: Arrays, arrays: Arrays) -> Floats:
    members, regions = plain["members"].astype(bool), plain["regions"]
    m, n = len(plain["poses"]), len(mesh.vertices)
    if members.shape != (len(members), n):
        raise InputError("its regions do not fit its mesh")
    bases = np.zeros((m, n, 3, len(regions)))
    for region, vertices in enumerate(members):
        found, columns = arrays[f"basis {region}"], regions == region
        wanted = (m, int(vertices.sum()), 3, int(columns.sum()))
        if found.shape != wanted:
            raise InputError(f"basis {region} has shape {found.shape}; it must be {wanted}")
        bases[np.ix_(np.arange(m), vertices, np.arange(3), columns)] = found
    return bases


def _packed(name: str, weights: PoseWeights) -> dict[str, Floats]:
    return {f"{name} features": weights.features, f"{name} coefficients": weights.coefficients}


def _weights(arrays: Arrays, name: str) -> PoseWeights:
    features, coefficients = (
        np.array(arrays[f"{name} {part}"], dtype=float) for part in ("features", "coefficients")
    )
    m = len(features)
    if features.ndim != 2 or coefficients.shape != (m, m) or not m:
        raise InputError(f"its {name} do not fit together")
    return PoseWeights(features, coefficients)
