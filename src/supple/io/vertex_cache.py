"""Vertices of every frame, for programs that move meshes by such files."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import numpy as np

from supple.core.errors import InputError
from supple.core.files import replacing
from supple.core.types import Floats, Ints

CACHES = (".npz", ".pc2", ".mdd")


def write_vertex_cache(
    path: str | os.PathLike[str], times: Floats, positions: Floats, triangles: Ints
) -> None:
    """Writes ``positions`` (T, n, 3) at ``times`` (T,) [s] by the ending of the name.

    ``.npz`` holds ``times``, ``positions`` in single precision and ``triangles`` (t, 3), for NumPy.
    ``.pc2`` (3ds Max, Maya, Blender) and ``.mdd`` (Blender, Maya, LightWave) hold positions; the
    first needs frames that are evenly spaced.
    """
    suffix = Path(path).suffix.lower()
    frames, vertices = positions.shape[:2]
    if suffix == ".npz":
        with replacing(path) as temporary, open(temporary, "wb") as file:
            single = positions.astype(np.float32)
            np.savez_compressed(file, times=times, positions=single, triangles=triangles)
        return
    if suffix == ".pc2":
        steps = np.diff(times)
        if len(steps) and np.ptp(steps) > 1e-3 * steps.mean():
            raise InputError("a .pc2 file needs evenly spaced frames; give a rate, e.g. 30")
        spacing = float(steps.mean()) if len(steps) else 1.0
        head = struct.pack(
            "<12siiffi", b"POINTCACHE2\0", 1, vertices, float(times[0]), spacing, frames
        )
        body = positions.astype("<f4").tobytes()
    elif suffix == ".mdd":
        head = struct.pack(">ii", frames, vertices) + times.astype(">f4").tobytes()
        body = positions.astype(">f4").tobytes()
    else:
        raise InputError(f"cannot write {path}: a vertex cache ends in {', '.join(CACHES)}")
    with replacing(path) as temporary:
        temporary.write_bytes(head + body)
