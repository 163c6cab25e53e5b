"""ParaView: a ``.pvd`` file that lists one ``.vtu`` file a frame, in a folder beside it."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from supple.contact import Obstacle
from supple.core.errors import InputError
from supple.core.files import replacing
from supple.core.types import Floats, Ints, Progress
from supple.dynamics.motion import Motion
from supple.io.obstacle_surfaces import DrawnObstacle, drawn_obstacles
from supple.io.surfaces import moving_surface
from supple.io.yarn_surfaces import following
from supple.mesh import Embedding, Mesh, MeshGroup, RigidMesh, YarnMesh
from supple.mesh.files.formats import CELL_NAMES
from supple.mesh.group import points_of
from supple.yarns import YarnCurves

_CELL_NAMES = {2: "line", 3: "triangle", **CELL_NAMES}
_FRAME = re.compile(r"(frame|obstacle_\d+)_\d{5,}\.vtu")


def write_pvd(
    motion: Motion,
    path: str | os.PathLike[str],
    *,
    skin: Embedding | None = None,
    obstacles: Sequence[Obstacle] = (),
    progress: Progress | None = None,
) -> None:
    """Writes a motion for ParaView: ``run.pvd``, and the frames in the folder ``run_frames``.

    Points are where the body is; the point data "displacement" u [m] leads there from its rest
    shape. The cell data "region" numbers the mesh's regions from 1, in their order, 0 for none;
    a cell in several has the first. Yarns are lines, regions 1 for warps and 2 for wefts, with the
    point data "radius" [m].

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

    cells: list[tuple[str, Ints]]
    moved: Callable[[int], Floats] | None
    point_data: dict[str, Floats] = {}
    if isinstance(motion.mesh, YarnMesh) and skin is None:
        curves = YarnCurves(motion.mesh)
        rest, moved = curves.points(motion.mesh.vertices), following(motion, curves)
        cells = [("line", curves.lines)]
        cell_data = {"region": [1 + curves.point_families[curves.lines[:, 0]]]}
        point_data = {"radius": motion.mesh.radii[curves.point_families]}
    elif skin is None:
        points = points_of(motion.mesh)
        rest, moved = points.rest, None
        if not points.are_vertices:
            moved = lambda frame: points.moved(motion.displacements[frame])  # noqa: E731
        cells, cell_data = _cells_of(motion.mesh)
    else:
        surface = moving_surface(motion, skin)
        rest, moved = surface.rest, surface.frame
        cells, cell_data = [("triangle", surface.triangles)], {}
    names = [f"frame_{i:05d}.vtu" for i in range(len(motion))]
    parts = [names]
    drawn = drawn_obstacles(obstacles, motion)
    with replacing(target) as temporary:
        fresh = folder.with_name(f".{folder.name}-{secrets.token_hex(4)}")
        fresh.mkdir()
        try:
            for i, name in enumerate(names):
                u = motion.displacements[i] if moved is None else moved(i) - rest
                data = {"displacement": u, **point_data}
                mesh = meshio.Mesh(rest + u, cells, point_data=data, cell_data=cell_data)
                mesh.write(fresh / name, file_format="vtu")
                if progress is not None:
                    progress(i + 1, len(names), "frames")
            parts += [_write_obstacle(o, fresh, len(motion)) for o in drawn]
            temporary.write_text(_index(motion, folder.name, parts), encoding="utf-8")
            _swap(fresh, folder)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)


def _cells_of(mesh: Mesh) -> tuple[list[tuple[str, Ints]], dict[str, list[Ints]]]:
    """Cells with their names, and the region of each: of several bodies, which one it is of."""
    if not isinstance(mesh, MeshGroup):
        drawn = _drawn_cells(mesh)
        none = np.zeros(len(drawn[1]), dtype=np.int64)  # of the one cell of a rigid body
        return [drawn], {"region": [none if isinstance(mesh, RigidMesh) else mesh.region_numbers()]}
    cells, numbers, start = [], [], 0
    for number, part in enumerate(mesh.parts, 1):
        name, own = _drawn_cells(part)
        cells.append((name, own + start))
        numbers.append(np.full(len(own), number))
        start += points_of(part).count
    return cells, {"region": numbers}


def _drawn_cells(mesh: Mesh) -> tuple[str, Ints]:
    """The cells of a mesh that joins its points; of a rigid body, the triangles of its skin."""
    if isinstance(mesh, RigidMesh):
        return "triangle", mesh.skin_triangles
    return _CELL_NAMES[mesh.cell_nodes], mesh.cells


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
