"""Telling files apart, and reading what has a mesh in it."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from supple.character.model.file import is_pose_space_file
from supple.character.skeleton.body_parts import body_parts
from supple.core.errors import InputError, MeshError
from supple.dynamics.recording import is_finished, is_motion_file
from supple.io.gltf.character import read_rigged
from supple.io.gltf.soft import soft_target_count
from supple.mesh import MESH_FORMATS, SURFACE_FORMATS, Surface, VolumeMesh, read_mesh, read_surface
from supple.mesh.files.formats import GLTF
from supple.reduction.model_file import is_model_file


def load_mesh(path: Path) -> VolumeMesh | Surface:
    """A mesh or a surface, by the ending of the file's name."""
    refuse_models(path)
    ending = path.suffix.lower()
    if ending not in (*MESH_FORMATS, *SURFACE_FORMATS):
        raise InputError(
            f"{path}: {f'{ending} is not known' if ending else 'its name has no ending'}; known "
            f"are meshes ({', '.join(MESH_FORMATS)}), surfaces ({', '.join(SURFACE_FORMATS)}), "
            "recorded motions (.motion) and, for supple info, reduced models (.supple), scenes and "
            "dampings (.toml)"
        )
    if ending not in SURFACE_FORMATS:
        return read_mesh(path)
    if ending in MESH_FORMATS:  # it may hold either
        with contextlib.suppress(MeshError):
            return read_mesh(path)
    return read_surface(path)


def refuse_models(path: Path) -> None:
    """Stops at files of models, which hold no mesh to take; the message says what they are for."""
    if path.is_file() and is_pose_space_file(path):
        raise InputError(
            f"{path} is a model of flesh, which moves with a character: use supple enrich "
            f"CHARACTER --model {path}, with --output for .glb, .usdc, .npz, .pc2 or .mdd"
        )
    if path.is_file() and is_model_file(path):
        raise InputError(f"{path} is a reduced model; supple play {path} --export writes a run")


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


def is_motion(path: Path) -> bool:
    """Whether a file is a recorded motion; stops where only its name says so."""
    if is_motion_file(path):
        return True
    if path.suffix.lower() == ".motion":
        raise InputError(f"{path} is damaged, or no motion file: it does not begin like one")
    return False


def unfinished(path: Path, frames: int) -> str | None:
    """What to say of a motion whose run was not finished."""
    if is_finished(path):
        return None
    return (
        f"{path} is unfinished: it has {frames} frames so far; if its run was stopped, supple run "
        "with --resume goes on with it"
    )
