"""A soft character in USD: meshes with points for each frame."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from supple.core.types import Floats, Progress
from supple.io.gltf.character import Part, RiggedFile
from supple.io.usd.motion import COLOR, Moving, add_mesh, new_stage, replace_stage, set_frames


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
    steps = np.diff(times)
    rate = float(np.round(1 / np.median(steps), 3)) if len(steps) else 24.0
    replace_stage(path, lambda file: _write(file, rigged, times, rate, positions, progress))


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
            mesh = add_mesh(stage, f"/World/{name}", own - part.first, COLOR)

            def here(frame: int, mine: slice = mine) -> Floats:
                return positions[frame, mine]

            moving.append((mesh.CreatePointsAttr(), mesh.CreateExtentAttr(), here, 0.0))
    set_frames(codes, moving, progress)
    stage.Save()


def _names(parts: Sequence[Part]) -> list[str]:
    """A name for each part, which USD takes, and which no other has."""
    found: list[str] = []
    for part in parts:
        name = re.sub(r"\W|^(?=\d)", "_", part.name, flags=re.ASCII)
        while name in found:
            name += "_"
        found.append(name)
    return found
