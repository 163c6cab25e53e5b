"""ParaView: a ``.pvd`` file that lists one ``.vtu`` file a frame, in a folder beside it."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np

from supple.contact import Obstacle
from supple.core.errors import InputError
from supple.core.files import replacing
from supple.core.types import Floats, Ints, Progress
from supple.dynamics.motion import Motion
from supple.io.obstacle_surfaces import DrawnObstacle, drawn_obstacles
from supple.io.shown_bodies import ShownBody, Skins, shown_bodies
from supple.io.surfaces import moving_surface
from supple.io.yarn_surfaces import following
from supple.mesh import FloatingMesh, ReducedMesh, RigidMesh, YarnMesh
from supple.mesh.files.formats import CELL_NAMES
from supple.mesh.group import points_of
from supple.yarns import YarnCurves

_CELL_NAMES = {2: "line", 3: "triangle", **CELL_NAMES}
_FRAME = re.compile(r"(frame|obstacle_\d+)_\d{5,}\.vtu")


def write_pvd(
    motion: Motion,
    path: str | os.PathLike[str],
    *,
    skin: Skins = None,
    obstacles: Sequence[Obstacle] = (),
    progress: Progress | None = None,
) -> None:
    """Writes a motion for ParaView: ``run.pvd``, and the frames in the folder ``run_frames``.

    Points are where the body is; the point data "displacement" u [m] leads there from its rest
    shape. The cell data "region" numbers the mesh's regions from 1, in their order, 0 for none;
    a cell in several has the first. Of several bodies it numbers these. Yarns are lines, regions 1
    for warps and 2 for wefts, with the point data "radius" [m].

    A ``skin`` is written instead of the mesh. Obstacles are parts of their own, in one file if they
    stand still. The others are those of ``export_motion``.
    """
    target = Path(path)
    folder = target.with_name(f"{target.stem}_frames")
    strangers = (
        [f for f in folder.iterdir() if not _FRAME.fullmatch(f.name)] if folder.is_dir() else []
    )
    if strangers or (folder.exists() and not folder.is_dir()):
        found = f"it holds {strangers[0].name}" if strangers else "it is a file"
        raise InputError(f"{folder} is in the way, {found}; move it, or choose another name")
    import meshio  # slow to import

    bodies = shown_bodies(motion, skin)
    drawings = [_drawn(body) for body in bodies]
    starts = np.cumsum([0, *(len(each.rest) for each in drawings)])
    cells = [
        (name, own + start)
        for each, start in zip(drawings, starts.tolist(), strict=False)
        for name, own in [each.cells]
    ]
    regions = [each.regions for each in drawings]
    if len(bodies) > 1:
        regions = [np.full(len(own), k) for k, (_, own) in enumerate(cells, 1)]
    cell_data = {} if regions[0] is None else {"region": regions}
    rest = np.concatenate([each.rest for each in drawings])
    point_data = drawings[0].point_data if len(bodies) == 1 else {}
    names = [f"frame_{i:05d}.vtu" for i in range(len(motion))]
    parts = [names]
    drawn = drawn_obstacles(obstacles, motion)
    with replacing(target) as temporary:
        fresh = folder.with_name(f".{folder.name}-{secrets.token_hex(4)}")
        fresh.mkdir()
        try:
            for i, name in enumerate(names):
                x = np.concatenate([each.frame(i) for each in drawings])
                data = {"displacement": x - rest, **point_data}
                mesh = meshio.Mesh(x, cells, point_data=data, cell_data=cell_data)
                mesh.write(fresh / name, file_format="vtu")
                if progress is not None:
                    progress(i + 1, len(names), "frames")
            parts += [_write_obstacle(o, fresh, len(motion)) for o in drawn]
            temporary.write_text(_index(motion, folder.name, parts), encoding="utf-8")
            _swap(fresh, folder)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)


class _Drawing(NamedTuple):
    """What is written of one body."""

    rest: Floats
    frame: Callable[[int], Floats]
    cells: tuple[str, Ints]
    regions: Ints | None
    point_data: dict[str, Floats]


def _drawn(body: ShownBody) -> _Drawing:
    """The mesh of a body, its skin or its yarns."""
    motion, mesh = body.motion, body.motion.mesh
    if body.skin is not None:
        surface = moving_surface(motion, body.skin)
        return _Drawing(surface.rest, surface.frame, ("triangle", surface.triangles), None, {})
    if isinstance(mesh, YarnMesh):
        curves = YarnCurves(mesh)
        families = curves.point_families
        rest, moved = curves.points(mesh.vertices), following(motion, curves)
        radius = {"radius": mesh.radii[families]}
        return _Drawing(
            rest, moved, ("line", curves.lines), 1 + families[curves.lines[:, 0]], radius
        )
    points, u = points_of(mesh), motion.displacements
    if isinstance(mesh, RigidMesh | ReducedMesh | FloatingMesh):
        triangles = ("triangle", mesh.skin_triangles)
        none = np.zeros(len(mesh.skin_triangles), dtype=np.int64)
        return _Drawing(points.rest, lambda i: points.moved(u[i]), triangles, none, {})
    named = _CELL_NAMES[mesh.cell_nodes], mesh.cells
    return _Drawing(points.rest, lambda i: points.rest + u[i], named, mesh.region_numbers(), {})


def _write_obstacle(obstacle: DrawnObstacle, folder: Path, frames: int) -> list[str]:
    """Writes an obstacle into a folder; the name of the file for each frame."""
    import meshio  # slow to import

    still = obstacle.frames == 1
    names = [f"{obstacle.name}_{0 if still else i:05d}.vtu" for i in range(frames)]
    for i, name in enumerate(names[:1] if still else names):
        mesh = meshio.Mesh(obstacle.frame(i), [("triangle", obstacle.triangles)])
        mesh.write(folder / name, file_format="vtu")
    return names


def _index(motion: Motion, folder: str, parts: list[list[str]]) -> str:
    lines = ['<?xml version="1.0"?>', '<VTKFile type="Collection" version="0.1">', "<Collection>"]
    for part, names in enumerate(parts):
        for time, name in zip(motion.times.tolist(), names, strict=True):
            file = quoteattr(f"{folder}/{name}")
            lines.append(f'<DataSet timestep="{time!r}" part="{part}" file={file}/>')
    return "\n".join([*lines, "</Collection>", "</VTKFile>", ""])


def _swap(fresh: Path, folder: Path) -> None:
    """Puts a whole new folder in the place of one written earlier."""
    if folder.exists():
        old = folder.with_name(f".{folder.name}-{secrets.token_hex(4)}")
        os.replace(folder, old)
        os.replace(fresh, folder)
        shutil.rmtree(old)
    else:
        os.replace(fresh, folder)
