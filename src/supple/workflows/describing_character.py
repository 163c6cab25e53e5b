"""What is in the file of a character, and in that of a model of its flesh."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from supple.character.model.file import load_pose_space_model
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.rigs.skeleton import SkeletonRig
from supple.character.skeleton.body_parts import body_parts
from supple.core.errors import MeshError
from supple.io.gltf.character import read_rigged
from supple.io.gltf.soft import soft_target_count
from supple.mesh.files.formats import GLTF
from supple.workflows.enrich.soft_character import flesh_frequency


def character_facts(path: Path) -> dict[str, Any] | None:
    """What a surface has besides if it is the skin of a character; nothing if it is not."""
    if path.suffix.lower() not in GLTF:
        return None
    try:
        character = read_rigged(path).character
    except MeshError:  # no skin: a surface like any other
        return None
    return {
        "joints": character.rig.n_joints - 1,
        "parts": list(body_parts(character)),
        "clips": {name: clip.duration for name, clip in character.clips.items()},
        "soft targets": soft_target_count(path),
    }


def cubature_errors(model: PoseSpaceModel) -> dict[str, dict[str, float]]:
    """Largest relative errors of reduced forces, by kind of force and where they were looked at."""
    found: dict[str, dict[str, float]] = {}
    for force in ("elastic", "inertial"):
        measured = model.measured.get(force, {})
        places = {
            place: np.max(measured[place])
            for place in ("training", "between")
            if np.size(measured.get(place, ()))
        }
        if places:
            found[force] = {place: float(error) for place, error in places.items()}
    return found


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
        "swing": flesh_frequency(model),
        "bytes": path.stat().st_size,
    }
