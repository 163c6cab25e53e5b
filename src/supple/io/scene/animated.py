"""Meshes that change shape, from files: motions, arrays, USD stages and rigged characters."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np

from supple.character import Dressing
from supple.contact import AnimatedMesh
from supple.core.errors import InputError
from supple.core.types import Floats, Ints
from supple.dynamics.recording import is_motion_file, read_motion
from supple.io.gltf.character import read_character
from supple.io.surfaces import moving_surface
from supple.mesh.files.formats import USD
from supple.mesh.files.usd import read_usd_motion

Animation = tuple[Floats, Floats, Ints]
"""Times (T,) [s], positions (T, n, 3) [m] and triangles (t, 3)."""


def animated_mesh(
    *, file: Path, scale: float = 1.0, delay: float = 0.0, **options: Any
) -> AnimatedMesh:
    """The animation in a file as an obstacle; its first moment is at ``delay`` [s]."""
    times, positions, triangles = _read(file)
    place = np.array(options.pop("position", (0.0, 0.0, 0.0)))
    return AnimatedMesh(
        triangles=triangles,
        times=times - times[0] + delay,
        positions=scale * positions + place,
        **options,
    )


def character(
    *,
    file: Path,
    scale: float = 1.0,
    up: Literal["z", "y"] = "z",
    dressing: Mapping[str, Any] | None = None,
    **options: Any,
) -> AnimatedMesh:
    """A clip of a rigged character as an obstacle."""
    found = read_character(file, scale=scale, up=up)
    clothes = None
    if dressing is not None:
        pose = found.rig.turned(dressing["start"]) if "start" in dressing else None
        clothes = Dressing(**{**dressing, "start": pose})
    return found.animated_mesh(options.pop("clip", None), dressing=clothes, **options)


def _read(file: Path) -> Animation:
    ending = file.suffix.lower()
    if is_motion_file(file):
        motion = read_motion(file)
        surface = moving_surface(motion)
        return motion.times, surface.positions, surface.triangles
    if ending == ".npz":
        return _arrays(file)
    if ending in USD:
        return read_usd_motion(file)
    known = ", ".join((".motion", ".npz", *USD))
    raise InputError(f"file={file}: an animated mesh is read from {known}", parameter="file")


def _arrays(file: Path) -> Animation:
    names = ("times", "positions", "triangles")
    try:
        with np.load(file, allow_pickle=False) as found:
            missing = [name for name in names if name not in found]
            if missing:
                raise InputError(
                    f"file={file}: it has no {' and no '.join(missing)}; give times (T,), positions"
                    " (T, n, 3) and triangles (t, 3)",
                    parameter="file",
                )
            times, positions, triangles = (found[name] for name in names)
    except (ValueError, OSError, zipfile.BadZipFile) as error:
        raise InputError(
            f"file={file}: it cannot be read as .npz: {error}", parameter="file"
        ) from error
    return times.astype(float), positions.astype(float), triangles.astype(np.int64)
