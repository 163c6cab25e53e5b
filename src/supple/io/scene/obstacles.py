"""The obstacles of a scene file: what they are read from, and how they move."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from supple.character import Dressing
from supple.contact import AnimatedMesh, HeightField, MeshObstacle, Rails
from supple.core.errors import InputError
from supple.core.types import Floats, Ints
from supple.dynamics.recording import is_motion_file, read_motion
from supple.io.surfaces import moving_surface
from supple.mesh import read_surface
from supple.mesh.files.formats import USD
from supple.mesh.files.usd import read_usd_motion

Animation = tuple[Floats, Floats, Ints]
"""Times (T,) [s], positions (T, n, 3) [m] and triangles (t, 3)."""


def moving(given: Mapping[str, Any]) -> Rails:
    """The rails of an obstacle whose table is this. Raises InputError."""
    ways = [name for name in ("velocity", "oscillation", "times") if name in given]
    if "turning" in given and ("times" in given or not ways):
        ways = ["turning", *ways]
    if len(ways) != 1:
        raise InputError(
            f"got {' and '.join(ways) or 'nothing'}; give velocity or oscillation, with turning or "
            "without, or times and positions"
        )
    centre = given.get("centre", (0.0, 0.0, 0.0))
    if "times" in given:
        return Rails.keyframes(
            given["times"], given["positions"], given.get("rotations"), centre=centre
        )
    made = Rails(centre=centre)
    if "turning" in given:
        made = Rails.turning(centre=centre, rate=given["turning"])
    if "velocity" in given:
        v = np.array(given["velocity"])
        made = replace(made, position=lambda t: v * t, velocity=lambda t: v)
    elif "oscillation" in given:
        swing = given["oscillation"]
        a, w = np.array(swing["amplitude"]), 2 * np.pi * swing["frequency"]
        made = replace(
            made,
            position=lambda t: a * np.sin(w * t),
            velocity=lambda t: w * a * np.cos(w * t),
        )
    return made


def height_field(*, file: Path | None = None, heights: Any = None, **options: Any) -> HeightField:
    return HeightField(heights if file is None else _numbers(file), **options)


def mesh_obstacle(*, file: Path, scale: float = 1.0, **options: Any) -> MeshObstacle:
    position = np.array(options.pop("position", (0.0, 0.0, 0.0)))
    surface = read_surface(file).scaled(scale)
    return MeshObstacle(replace(surface, vertices=surface.vertices + position), **options)


def _numbers(file: Path) -> Floats:
    """A table of numbers: NumPy's .npy, or text with spaces or commas between them."""
    try:
        if file.suffix.lower() == ".npy":
            loaded: Floats = np.load(file, allow_pickle=False)
            return loaded
        text = file.read_text(encoding="utf-8").replace(",", " ")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of no rows; HeightField tells
            return np.loadtxt(text.splitlines(), ndmin=2)
    except (ValueError, OSError) as error:
        raise InputError(
            f"file={file}: no table of numbers: {error}; give rows of heights along y, one for "
            "each x, as text or .npy",
            parameter="file",
        ) from error


def animated_mesh(
    *, file: Path, scale: float = 1.0, delay: float = 0.0, **options: Any
) -> AnimatedMesh:
    """The animation in a file as an obstacle; its first moment is at ``delay`` [s]."""
    times, positions, triangles = _animation(file)
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
    from supple.io.gltf.character import read_character  # slow to import

    found = read_character(file, scale=scale, up=up)
    clothes = None
    if dressing is not None:
        pose = found.rig.turned(dressing["start"]) if "start" in dressing else None
        clothes = Dressing(**{**dressing, "start": pose})
    return found.animated_mesh(options.pop("clip", None), dressing=clothes, **options)


def _animation(file: Path) -> Animation:
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
