"""Rigs as a JSON-ready header and named arrays, for the project's own files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.character.model.skeleton_packing import describe_skeleton, skeleton_of
from supple.character.rigs.base import PoseRig
from supple.character.rigs.bend import BendRig
from supple.character.rigs.blend_shapes import BlendShapeRig
from supple.character.rigs.drag import Drag
from supple.character.rigs.dragged import LatticeBasis, LatticeRig, WireRig
from supple.character.rigs.pose_space_deformation import PoseSpaceDeformation
from supple.character.rigs.skeleton import SkeletonRig
from supple.core.errors import InputError
from supple.mesh.surface import Surface

Header = Mapping[str, Any]
Arrays = Mapping[str, NDArray[Any]]
Described = tuple[dict[str, Any], dict[str, Any]]
_DRAG = ("points", "shares", "slopes")


def describe_rig(rig: PoseRig) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """What ``rig_of`` makes the same rig of, or what tells whether a rig is the same."""
    header: dict[str, Any] = {"kind": type(rig).__name__, "held": is_serializable(rig)}
    arrays = {"neutral": rig.neutral, "surface": rig.vertices(rig.neutral)}
    if header["held"]:
        more, further = _KINDS[type(rig)].describe(rig)
        header |= more
        arrays |= {name: np.asarray(array) for name, array in further.items()}
    return header, arrays


def is_serializable(rig: PoseRig) -> bool:
    """Whether a file can hold this rig."""
    within = not isinstance(rig, PoseSpaceDeformation) or is_serializable(rig.rig)
    return type(rig) in _KINDS and within


def rig_of(header: Header, arrays: Arrays) -> PoseRig:
    """The rig that was described; InputError where the file cannot hold it."""
    kinds = {kind.__name__: packing for kind, packing in _KINDS.items()}
    held = header.get("held", header["kind"] == SkeletonRig.__name__)  # as in earlier versions
    if not held or header["kind"] not in kinds:
        raise InputError(
            f"it was made with a {header['kind']}, which the file does not hold; give the same rig "
            "again: load_pose_space_model(path, rig=...)"
        )
    return kinds[header["kind"]].restore(header, arrays)


def _describe_rest(rest: Surface) -> dict[str, Any]:
    return {"rest vertices": rest.vertices, "rest triangles": rest.triangles}


def _rest(arrays: Arrays) -> Surface:
    vertices, triangles = (np.array(arrays[f"rest {name}"]) for name in ("vertices", "triangles"))
    return Surface(vertices, triangles)


# -- bends -----------------------------------------------------------------------------------


def _describe_bend(rig: BendRig) -> Described:
    given = {name: getattr(rig, name) for name in ("along", "about", "origin", "bounds")}
    return {}, {**_describe_rest(rig.rest), **given}


def _bend_of(header: Header, arrays: Arrays) -> BendRig:
    start, end = arrays["bounds"].tolist()
    along, about, origin = (np.array(arrays[name]) for name in ("along", "about", "origin"))
    return BendRig(_rest(arrays), along, about, origin, (start, end))


# -- control points --------------------------------------------------------------------------


def _describe_wire(rig: WireRig) -> Described:
    arrays = {**_describe_rest(rig.rest), **_describe_drag(rig.dragged), "points": rig.points}
    return {"radius": float(rig.radius)}, arrays


def _wire_of(header: Header, arrays: Arrays) -> WireRig:
    points, rest = np.array(arrays["points"], dtype=float), _rest(arrays)
    return WireRig(rest, points, header["radius"], _drag_of(arrays, rest, len(points)))


def _describe_lattice(rig: LatticeRig) -> Described:
    header = {"counts": list(rig.counts), "basis": rig.basis.name}
    arrays = {**_describe_rest(rig.rest), **_describe_drag(rig.dragged)}
    return header, {**arrays, "low": rig.low, "high": rig.high}


def _lattice_of(header: Header, arrays: Arrays) -> LatticeRig:
    a, b, c = (int(count) for count in header["counts"])
    low, high = (np.array(arrays[name], dtype=float) for name in ("low", "high"))
    rest = _rest(arrays)
    drag = _drag_of(arrays, rest, a * b * c)
    return LatticeRig(rest, (a, b, c), LatticeBasis[header["basis"]], low, high, drag)


def _describe_drag(drag: Drag) -> dict[str, Any]:
    return {f"drag {name}": getattr(drag, name) for name in _DRAG}


def _drag_of(arrays: Arrays, rest: Surface, count: int) -> Drag:
    points = np.array(arrays["drag points"], dtype=np.int64)
    shares, slopes = (np.array(arrays[f"drag {name}"], dtype=float) for name in _DRAG[1:])
    n, k = rest.n_vertices, (*points.shape, 0, 0)[1]
    shapes = (points.shape, shares.shape, slopes.shape[1:])
    if shapes != ((n, k), (n, k), (n, k)) or not 0 <= points.min() <= points.max() < count:
        raise InputError("its control points do not fit its surface")
    return Drag(points, shares, slopes)


# -- shapes ----------------------------------------------------------------------------------


def _describe_shapes(rig: BlendShapeRig) -> Described:
    return {"reach": float(rig.reach)}, {**_describe_rest(rig.rest), "offsets": rig.offsets}


def _shapes_of(header: Header, arrays: Arrays) -> BlendShapeRig:
    return BlendShapeRig(_rest(arrays), np.array(arrays["offsets"], dtype=float), header["reach"])


def _describe_corrected(rig: PoseSpaceDeformation) -> Described:
    header, arrays = describe_rig(rig.rig)
    inner = {f"within {name}": array for name, array in arrays.items()}
    return {"within": header}, {**inner, "poses": rig.poses, "corrections": rig.corrections}


def _corrected_of(header: Header, arrays: Arrays) -> PoseSpaceDeformation:
    prefix = "within "
    inner = {k.removeprefix(prefix): a for k, a in arrays.items() if k.startswith(prefix)}
    poses, corrections = (np.array(arrays[name], dtype=float) for name in ("poses", "corrections"))
    return PoseSpaceDeformation(rig_of(header["within"], inner), poses, corrections)


class _Packing(NamedTuple):
    describe: Callable[[Any], Described]
    restore: Callable[[Header, Arrays], PoseRig]


_KINDS: dict[type[PoseRig], _Packing] = {
    SkeletonRig: _Packing(describe_skeleton, skeleton_of),
    BendRig: _Packing(_describe_bend, _bend_of),
    WireRig: _Packing(_describe_wire, _wire_of),
    LatticeRig: _Packing(_describe_lattice, _lattice_of),
    BlendShapeRig: _Packing(_describe_shapes, _shapes_of),
    PoseSpaceDeformation: _Packing(_describe_corrected, _corrected_of),
}
