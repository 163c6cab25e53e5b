"""What is in the file of a character, and in that of a model of its flesh."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from supple.character.model.file import load_pose_space_model
from supple.character.rigs.skeleton import SkeletonRig
from supple.character.skeleton.body_parts import body_parts
from supple.core.errors import MeshError
from supple.io.gltf.character import read_rigged
from supple.io.gltf.soft import soft_target_count
from supple.mesh.files.formats import GLTF
from supple.workflows.enrich.facts import cubature_errors
from supple.workflows.enrich.soft_character import flesh_frequency


def character_facts(path: Path) -> dict[str, Any] | None:
    """What a surface has besides if it is the skin of a character; nothing if it is not."""
    if path.suffix.lower() not in GLTF:
        return None
    try:
        rigged = read_rigged(path)
    except MeshError:  # no skin: a surface like any other
        return None
    character = rigged.character
    return {
        "joints": character.rig.n_joints - 1,
        "parts": list(body_parts(character)),
        "clips": {name: clip.duration for name, clip in character.clips.items()},
        "soft targets": soft_target_count(rigged.source),
    }


def flesh_facts(path: Path) -> dict[str, Any]:
    """What is in a model of a character's flesh."""
    model = load_pose_space_model(path)
    rig, mesh = model.tet_rig.rig, model.tet_rig.mesh
    return {
        "kind": "pose-space model",
        "mesh": repr(mesh),
        "rig": type(rig).__name__,
        "joints": rig.character.rig.n_joints - 1 if isinstance(rig, SkeletonRig) else None,
        "skin vertices": len(model.skin_cells),
        "coordinates": model.n_coordinates,
        "poses": model.n_poses,
        "cubature cells": len(model.cells),
        "cubature errors": cubature_errors(model),
        "frequency": flesh_frequency(model),
        "bytes": path.stat().st_size,
    }
