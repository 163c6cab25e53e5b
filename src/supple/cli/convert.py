"""``supple convert``: one kind of file to another, by the endings of their names."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import warnings
from pathlib import Path

from supple import (
    Embedding,
    HexMesh,
    InputError,
    Surface,
    TetMesh,
    VolumeMesh,
    export_motion,
    read_motion,
    read_surface,
    write_surface,
)
from supple.cli.info import is_motion, load
from supple.cli.progress import Reporter, say
from supple.io.export import MOTION_FORMATS
from supple.io.surfaces import SURFACE_FORMATS
from supple.mesh import write_mesh

_MESH_FORMATS = (".msh", ".vtk", ".vtu", ".mesh", ".veg")


def command(given: argparse.Namespace) -> int:
    source, target = Path(given.source), Path(given.target)
    if not source.exists():
        raise InputError(f"there is no file {source}")
    if target.exists() and source.samefile(target):
        raise InputError(f"{source} would be replaced by itself; give another name")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        _convert(source, target, given)
    for note in caught:
        print(f"note: {note.message}", file=sys.stderr)
    say(f"{target}", quiet=given.quiet)
    return 0


def _convert(source: Path, target: Path, given: argparse.Namespace) -> None:
    ending = target.suffix.lower()
    filling = given.edge is not None or given.voxels is not None
    if is_motion(source):
        if filling or given.scale != 1.0:
            raise InputError("--edge, --voxels and --scale are for meshes and surfaces")
        _convert_motion(source, target, given)
        return
    if given.skin is not None:
        raise InputError("--skin is for motions")
    if ending not in (*_MESH_FORMATS, *SURFACE_FORMATS):
        raise InputError(
            f"cannot write {target}: a mesh ends in {', '.join(_MESH_FORMATS)}, a surface in "
            f"{', '.join(SURFACE_FORMATS)}; only motions become {', '.join(MOTION_FORMATS)}"
        )
    loaded = _scaled(load(source), given.scale)
    if isinstance(loaded, Surface):
        if ending in SURFACE_FORMATS:
            if filling:
                raise InputError(f"{target} is a surface; --edge and --voxels make a mesh of one")
            write_surface(loaded, target)
        elif given.edge is not None:
            write_mesh(TetMesh.from_surface(loaded, given.edge), target)
        elif given.voxels is not None:
            write_mesh(HexMesh.voxelize(loaded, given.voxels), target)
        else:
            raise InputError(
                f"{source} is a surface and {target} a mesh: say how to fill it, --edge LENGTH "
                "for tets or --voxels NUMBER for bricks"
            )
        return
    if filling:
        raise InputError(f"{source} is a mesh already; --edge and --voxels fill surfaces")
    if ending in SURFACE_FORMATS:
        write_surface(loaded.boundary(), target)
    else:
        write_mesh(loaded, target)


def _convert_motion(source: Path, target: Path, given: argparse.Namespace) -> None:
    if target.suffix.lower() not in MOTION_FORMATS:
        raise InputError(
            f"cannot write {target}: a motion becomes one of {', '.join(MOTION_FORMATS)}"
        )
    motion = read_motion(source)
    skin = None if given.skin is None else Embedding(motion.mesh, read_surface(given.skin))
    with Reporter(f"writing {target.name}", quiet=given.quiet) as reporter:
        export_motion(motion, target, skin=skin, progress=reporter)


def _scaled(loaded: VolumeMesh | Surface, scale: float) -> VolumeMesh | Surface:
    if scale == 1.0:
        return loaded
    return dataclasses.replace(loaded, vertices=scale * loaded.vertices)
