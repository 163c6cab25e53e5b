"""One door to all exports: the ending of the file's name says which."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from supple.contact import Obstacle
from supple.core.errors import InputError
from supple.core.registry import Registry
from supple.core.types import Progress
from supple.dynamics.motion import Motion
from supple.io.gltf.motion import GltfReport, write_gltf
from supple.io.shown_bodies import Skins
from supple.io.usd.motion import write_usd
from supple.io.vtk import write_pvd
from supple.mesh import Embedding

EXPORTERS: Registry[Callable[..., Any]] = Registry("exporter", "supple.exporters")
"""Writers ``write(motion, path, *, skin, obstacles, progress, ...)`` by the ending of the file."""
for _ending, _write in {
    ".glb": write_gltf,
    ".usd": write_usd,
    ".usda": write_usd,
    ".usdc": write_usd,
    ".pvd": write_pvd,
}.items():
    EXPORTERS.register(_write, name=_ending)
MOTION_FORMATS: Mapping[str, Callable[..., Any]] = EXPORTERS.by_name


def export_motion(
    motion: Motion,
    path: str | os.PathLike[str],
    *,
    skin: Skins = None,
    obstacles: Obstacle | Sequence[Obstacle] = (),
    up: Literal["y", "z"] | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> GltfReport | None:
    """Writes a motion for another program, by the ending of ``path``; a file appears only whole.

    ``.glb`` plays in viewers and browsers (see ``write_gltf``), ``.usd``, ``.usda`` and ``.usdc``
    go to film and game tools (``write_usd``), ``.pvd`` to ParaView (``write_pvd``).

    Args:
        motion: What to write.
        path: The file.
        skin: A surface embedded in the motion's mesh, to be written instead of its own; of several
            bodies a table of them, by the bodies' names.
        obstacles: What the body met, one or several, to be written beside it, moving or not.
        up: The axis that points up, for formats that know one.
        progress: Called as ``progress(done, total, what)``.
        options: Those of the writer for that format.

    Returns what was reached, for ``.glb``.
    """
    if not isinstance(motion, Motion):
        raise InputError(
            f"motion is a {type(motion).__name__}; give a Motion, as Simulation.run returns it and "
            "read_motion reads it"
        )
    skins = skin.values() if isinstance(skin, Mapping) else () if skin is None else (skin,)
    if not all(isinstance(each, Embedding) for each in skins):
        raise InputError(
            f"skin is a {type(skin).__name__}; give an Embedding: Embedding(motion.mesh, surface)"
        )
    met = (obstacles,) if isinstance(obstacles, Obstacle) else tuple(obstacles)
    if not all(isinstance(each, Obstacle) for each in met):
        raise InputError(f"obstacles={obstacles!r}: give obstacles such as Plane(normal=(0, 0, 1))")
    suffix = Path(path).suffix.lower()
    if suffix not in MOTION_FORMATS:
        raise InputError(
            f"cannot export a motion to {path}: the name must end in {', '.join(MOTION_FORMATS)}; "
            "motion.save keeps it exactly, for Supple"
        )
    writer = MOTION_FORMATS[suffix]
    allowed = list(inspect.signature(writer).parameters)[2:]
    if up is not None and "up" in allowed:
        options["up"] = up
    unknown = [name for name in options if name not in allowed]
    if unknown:
        raise InputError(
            f"{suffix} has no option {', '.join(unknown)}; it has {', '.join(allowed)}"
        )
    report: GltfReport | None = writer(
        motion, path, skin=skin, obstacles=met, progress=progress, **options
    )
    return report
