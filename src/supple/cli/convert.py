"""``supple convert``: one kind of file to another, by the endings of their names."""

from __future__ import annotations

import argparse
import sys
import tomllib
import warnings
from pathlib import Path
from typing import Any

from supple import (
    Embedding,
    HexMesh,
    InputError,
    Surface,
    TetMesh,
    export_motion,
    read_motion,
    read_surface,
    write_mesh,
    write_surface,
)
from supple.cli.info import is_motion, load, refuse_models, unfinished
from supple.cli.info_character import character_facts
from supple.cli.progress import Reporter, say
from supple.dynamics.recording import read_metadata
from supple.io.export import MOTION_FORMATS
from supple.io.scene.scene import up_axis
from supple.mesh import WRITTEN_MESHES, WRITTEN_SURFACES, VolumeMesh


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
        if filling or given.scale != 1.0 or given.epsilon is not None:
            raise InputError("--edge, --epsilon, --voxels and --scale are for meshes and surfaces")
        _convert_motion(source, target, given)
        return
    if given.skin is not None:
        raise InputError("--skin is for motions")
    if given.up is not None:
        raise InputError("--up is for motions")
    if given.epsilon is not None and given.edge is None:
        raise InputError("--epsilon goes with --edge")
    refuse_models(source)
    character = character_facts(source)
    if character is not None and ending in MOTION_FORMATS and ending not in WRITTEN_SURFACES:
        original = "ORIGINAL.glb" if character["soft targets"] else source
        raise InputError(
            f"{source} is a character; supple enrich {original} --output {target.stem}.usdc writes "
            "its clips for film tools, with flesh, or without by --soft 0"
        )
    if ending not in (*WRITTEN_MESHES, *WRITTEN_SURFACES):
        raise InputError(
            f"cannot write {target}: a mesh ends in {', '.join(WRITTEN_MESHES)}, a surface in "
            f"{', '.join(WRITTEN_SURFACES)}; only motions become {', '.join(MOTION_FORMATS)}"
        )
    loaded = load(source).scaled(given.scale)
    if character is not None:
        left = "joints, clips and flesh" if character["soft targets"] else "joints and clips"
        warnings.warn(f"only the skin at rest is taken; its {left} stay behind", stacklevel=2)
    if isinstance(loaded, Surface):
        if ending in WRITTEN_SURFACES:
            if filling:
                raise InputError(f"{target} is a surface; --edge and --voxels make a mesh of one")
            write_surface(loaded, target)
        elif given.edge is not None:
            write_mesh(TetMesh.from_surface(loaded, given.edge, epsilon=given.epsilon), target)
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
    if ending in WRITTEN_SURFACES:
        write_surface(loaded.boundary(), target)
    else:
        write_mesh(loaded, target)


def _convert_motion(source: Path, target: Path, given: argparse.Namespace) -> None:
    if target.suffix.lower() not in MOTION_FORMATS:
        raise InputError(
            f"cannot write {target}: a motion becomes one of {', '.join(MOTION_FORMATS)}"
        )
    if target.suffix.lower() == ".pvd":
        if given.up is not None:
            raise InputError("--up is for .glb and .usd; .pvd has no such axis")
        options: dict[str, Any] = {}
    else:
        options = {"up": given.up or _up(source)}
    motion = read_motion(source)
    note = unfinished(source, len(motion))
    if note is not None:
        print(f"note: {note}", file=sys.stderr)
    skin = None
    if given.skin is not None:
        if not isinstance(motion.mesh, VolumeMesh):
            raise InputError(
                f"--skin needs a solid to hold it; {source} is of a {type(motion.mesh).__name__}"
            )
        skin = Embedding(motion.mesh, read_surface(given.skin))
    with Reporter(f"writing {target.name}", quiet=given.quiet) as reporter:
        export_motion(motion, target, skin=skin, progress=reporter, **options)


def _up(source: Path) -> str:
    """The axis that points up in the scene that a motion was made from; z if that is not known."""
    try:
        scene = tomllib.loads(read_metadata(source).get("scene", ""))
        return up_axis(scene.get("gravity", (0.0, 0.0, 0.0)))
    except (tomllib.TOMLDecodeError, RecursionError, TypeError, ValueError):
        return "z"
