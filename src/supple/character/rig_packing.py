"""Rigs as a JSON-ready header and named arrays, for the project's own files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from supple.character.rigs.base import PoseRig
from supple.errors import InputError


def describe_rig(rig: PoseRig) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """What ``rig_of`` makes the same rig of, or what tells whether a rig is the same."""
    header: dict[str, Any] = {"kind": type(rig).__name__}
    return header, {"neutral": rig.neutral, "surface": rig.vertices(rig.neutral)}


def rig_of(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> PoseRig:
    """The rig that was described; InputError where the file cannot hold it."""
    raise InputError(
        f"it was made with a {header['kind']}, which a file does not hold; give the same rig "
        "again: load_pose_space_model(path, rig=...)"
    )
