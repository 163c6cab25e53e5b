"""A soft character in USD: meshes with points for each frame."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from supple.core.errors import InputError, MissingExtra
from supple.core.files import replacing
from supple.core.types import Floats, Progress
from supple.io.gltf.character import Part, RiggedFile
from supple.io.usd.motion import add_mesh, new_stage, set_frames
from supple.io.usd.yarns import Moving

_COLOR = (0.72, 0.74, 0.78)


def write_usd_character(
    path: str | os.PathLike[str],
    rigged: RiggedFile,
    times: Floats,
    positions: Floats,
    *,
    progress: Progress | None = None,
) -> None:
    """Writes all parts of a character, each a mesh, at ``positions`` (T, n, 3) [m], z up.

    The first of ``times`` (T,) [s] becomes the time code 0. Materials are left out.
    """
    try:
        from pxr import Tf
    except ImportError as error:
        raise MissingExtra("USD export", "usd") from error
    steps = np.diff(times)
    rate = float(np.round(1 / np.median(steps), 3)) if len(steps) else 24.0
    with replacing(path) as temporary:
        failed = False
        try:
            _write(temporary, rigged, times, rate, positions, progress)
        except Tf.ErrorException:
            failed = True  # the error speaks of the temporary name, and holds the stage
        if failed:
            raise InputError(
                f"cannot write {path}: may files be written in its folder, and has the disk space?"
            )


def _write(
    file: Path,
    rigged: RiggedFile,
    times: Floats,
    rate: float,
    positions: Floats,
    progress: Progress | None,
) -> None:
    stage, codes = new_stage(file, times, rate, "z")
    triangles = rigged.character.skin.triangles
    moving: list[Moving] = []
    for part, name in zip(rigged.parts, _names(rigged.parts), strict=True):
        mine = slice(part.first, part.first + part.count)
        own = triangles[(triangles[:, 0] >= mine.start) & (triangles[:, 0] < mine.stop)]
        if len(own):
            mesh = add_mesh(stage, f"/World/{name}", own - part.first, _COLOR)
            here = partial(_part_of, positions, mine)
            moving.append((mesh.CreatePointsAttr(), mesh.CreateExtentAttr(), here, 0.0))
    set_frames(codes, moving, progress)
    stage.Save()


def _part_of(positions: Floats, mine: slice, frame: int) -> Floats:
    return positions[frame, mine]


def _names(parts: Sequence[Part]) -> list[str]:
    """A name for each part, which USD takes, and which no other has."""
    found: list[str] = []
    for part in parts:
        name = re.sub(r"\W|^(?=\d)", "_", part.name, flags=re.ASCII)
        while name in found:
            name += "_"
        found.append(name)
    return found
