"""What is kept of a model in the making: each finished part as a header and arrays."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, get_type_hints

import numpy as np

from supple.character.model.weights import PoseWeights
from supple.character.rigs.base import PoseRig
from supple.character.runtime.soft_motion import SoftMotion
from supple.character.tissue.tet_rig import TetRig
from supple.character.tissue.volume import Volume
from supple.character.training.basis import PoseBases
from supple.core.checkpoint import Checkpoint, Packed
from supple.core.errors import InputError
from supple.core.files import Arrays
from supple.core.types import Floats
from supple.mesh import TetMesh
from supple.mesh.packing import describe_mesh, mesh_of
from supple.reduction.cubature.cubature import CubatureWarning

_TRIED = 5.0  # [°], by which joints are turned to tell one rig from another
_Cached = TypeVar("_Cached")


def fingerprint(rig: PoseRig, poses: Floats) -> list[object]:
    """What tells a rig from another: what it does in poses (m, d), near them and on the way."""
    rng = np.random.default_rng(0)
    tried = [*poses, *(rig.perturbed(pose, rng, _TRIED) for pose in poses)]
    tried += [rig.between(rig.neutral, pose, 0.5) for pose in poses]
    posed = [(*rig.posed(pose), rig.features(pose)) for pose in tried]
    return [type(rig), rig.neutral, rig.triangles, poses, posed]


def cached_volume(
    parts: Checkpoint, rig: PoseRig, settings: Mapping[str, Any], make: Callable[[], Volume]
) -> Volume:
    """The volume of a rig, with nothing fixed yet."""
    surface = rig.surface()

    def pack(volume: Volume) -> Packed:
        header, arrays = describe_mesh(volume.mesh)
        return {"mesh": header, "notes": list(volume.notes)}, arrays

    def unpack(about: Mapping[str, Any], arrays: Arrays) -> Volume:
        mesh = mesh_of(about["mesh"], arrays)
        if not isinstance(mesh, TetMesh):
            raise InputError(f"a {type(mesh).__name__} is kept where tets should be")
        return Volume.around(mesh, surface, tuple(about["notes"]))

    made_of = (surface.vertices, surface.triangles, settings)
    return parts.part("volume", made_of, make, pack, unpack)


def cached_fitting(
    parts: Checkpoint, plain: TetRig, made_of: object, make: Callable[[], TetRig]
) -> TetRig:
    """The tet rig with its corrections; without them it is ``plain``."""

    def pack(tet_rig: TetRig) -> Packed:
        if tet_rig.weights is None or tet_rig.corrections is None:
            return {}, {}
        return {}, {**_of(tet_rig.weights), "corrections": tet_rig.corrections}

    def unpack(_: Mapping[str, Any], arrays: Arrays) -> TetRig:
        if not arrays:
            return plain
        return plain.corrected(_made(PoseWeights, arrays), arrays["corrections"])

    return parts.part("fitting", made_of, make, pack, unpack)


def cached_bases(
    parts: Checkpoint, made_of: object, make: Callable[[], PoseBases], *, name: str = "bases"
) -> PoseBases:
    """Bases of all poses."""
    return parts.part(
        name,
        made_of,
        make,
        lambda bases: ({}, _of(bases)),
        lambda _, arrays: _made(PoseBases, arrays),
    )


def cached_cubature(
    parts: Checkpoint,
    name: str,
    kind: type[_Cached],
    made_of: object,
    make: Callable[[], tuple[_Cached, dict[str, Any]]],
) -> tuple[_Cached, dict[str, Any]]:
    """Cells, or vertices, that stand for all, and the errors that they leave.

    What the training warned of is said again where they are taken from an earlier run.
    """
    found: tuple[_Cached, dict[str, Any], list[str]]

    def listening() -> tuple[_Cached, dict[str, Any], list[str]]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            cubature, errors = make()
        mine = [str(each.message) for each in caught if each.category is CubatureWarning]
        for each in caught:
            if each.category is not CubatureWarning:
                warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
        return cubature, errors, mine

    found = parts.part(
        name,
        made_of,
        listening,
        lambda trained: ({"errors": trained[1], "warned": trained[2]}, _of(trained[0])),
        lambda about, arrays: (_made(kind, arrays), about["errors"], about["warned"]),
    )
    for text in found[2]:
        warnings.warn(text, CubatureWarning, stacklevel=3)
    return found[:2]


def cached_motion(
    parts: Checkpoint, clip: str, made_of: object, make: Callable[[], SoftMotion]
) -> SoftMotion:
    """The flesh in a clip."""

    def pack(motion: SoftMotion) -> Packed:
        about = {name: getattr(motion, name) for name in ("loops", "rounds", "gap", "agrees")}
        return about, {"times": motion.times, "displacements": motion.displacements}

    def unpack(about: Mapping[str, Any], arrays: Arrays) -> SoftMotion:
        return SoftMotion(clip, arrays["times"], arrays["displacements"], **about)

    return parts.part(f"motion {clip}", made_of, make, pack, unpack)


def _of(found: Any, within: str = "") -> dict[str, Any]:
    """The fields of a dataclass of arrays, numbers and other such dataclasses."""
    arrays: dict[str, Any] = {}
    for each in fields(found):
        value, name = getattr(found, each.name), within + each.name
        arrays |= _of(value, f"{name} ") if is_dataclass(value) else {name: value}
    return arrays


def _made(kind: type[_Cached], arrays: Arrays, within: str = "") -> _Cached:
    """The dataclass of which ``_of`` gave the fields."""
    values: dict[str, Any] = {}
    for name, of in get_type_hints(kind).items():
        if isinstance(of, type) and is_dataclass(of):
            values[name] = _made(of, arrays, f"{within}{name} ")
        else:
            array = arrays[within + name]
            values[name] = array if array.ndim else array.item()
    return kind(**values)
