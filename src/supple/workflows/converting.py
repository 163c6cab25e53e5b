"""``supple convert`` from Python: one kind of file to another, by the endings of their names."""

from __future__ import annotations

import os
import tomllib
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from supple.core.errors import InputError, Parameter
from supple.core.types import Progress
from supple.dynamics.recording import read_metadata, read_motion
from supple.io import write_surface
from supple.io.export import MOTION_FORMATS, export_motion
from supple.io.gltf.motion import GltfReport
from supple.io.scene.scene import up_axis
from supple.mesh import (
    WRITTEN_MESHES,
    WRITTEN_SURFACES,
    Embedding,
    HexMesh,
    Mesh,
    Surface,
    TetMesh,
    VolumeMesh,
    read_surface,
    write_mesh,
)
from supple.workflows.loading import (
    character_facts,
    is_motion,
    load_mesh,
    refuse_models,
    unfinished,
)

_EDGE, _VOXELS = Parameter("edge"), Parameter("voxels")


@dataclass(frozen=True, eq=False)
class ConvertResult:
    """The file that was written."""

    file: Path
    mesh: Mesh | Surface
    """What is in it; of a motion, what moves."""
    gltf: GltfReport | None = None
    """How close a ``.glb`` is to the motion."""


def convert(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    edge: float | None = None,
    voxels: int | None = None,
    epsilon: float | None = None,
    scale: float = 1.0,
    up: Literal["y", "z"] | None = None,
    skin: str | os.PathLike[str] | None = None,
    fps: float | None = None,
    tolerance: float | None = None,
    targets: int | None = None,
    progress: Progress | None = None,
) -> ConvertResult:
    """Writes a mesh, a surface or a motion as another kind of file, by the ending of ``target``.

    What is left behind is told by a UserWarning.

    Args:
        source: The file to read.
        target: The file to write, whole or not at all.
        edge: Fill a surface with tets of this edge [m].
        voxels: Fill a surface with bricks, so many along it.
        epsilon: With ``edge``, how far the mesh may be from the surface [m].
        scale: Multiplies the lengths of a mesh or surface.
        up: The axis of a motion that points up; by default that of its scene, or z.
        skin: Surface to show in place of the motion's own.
        fps: Frames a second of the motion in ``target`` [1/s], instead of the recorded ones.
        tolerance: How far vertices of a ``.glb`` may be from the motion, as a share of its size.
        targets: Most morph targets in a ``.glb``; the result tells how far vertices are then.
        progress: Called as ``progress(done, total, what)``.
    """
    read, made = Path(source), Path(target)
    if not read.exists():
        raise InputError(f"there is no file {read}")
    if made.exists() and read.samefile(made):
        raise InputError(f"{read} would be replaced by itself; give another name")
    of_motions = {
        "skin": skin, "up": up, "fps": fps, "tolerance": tolerance, "targets": targets,
    }  # fmt: skip
    if is_motion(read):
        filling = edge is not None or voxels is not None or epsilon is not None
        if filling or scale != 1.0:
            raise InputError(
                _EDGE, ", ", Parameter("epsilon"), ", ", _VOXELS, " and ", Parameter("scale"),
                " are for meshes and surfaces",
            )  # fmt: skip
        return _motion(read, made, progress, **of_motions)
    for name, given in of_motions.items():
        if given is not None:
            raise InputError(Parameter(name), " is for motions")
    if epsilon is not None and edge is None:
        raise InputError(Parameter("epsilon"), " goes with ", _EDGE)
    mesh = _mesh(read, made, scale)
    ending = made.suffix.lower()
    if isinstance(mesh, Surface) and ending not in WRITTEN_SURFACES:
        if edge is not None:
            mesh = TetMesh.from_surface(mesh, edge, epsilon=epsilon)
        elif voxels is not None:
            mesh = HexMesh.voxelize(mesh, voxels)
        else:
            raise InputError(
                f"{read} is a surface and {made} a mesh: say how to fill it, ",
                Parameter("edge", "LENGTH"), " for tets or ", Parameter("voxels", "NUMBER"),
                " for bricks",
            )  # fmt: skip
    elif edge is not None or voxels is not None:
        what, how = f"{made} is a surface; ", " make a mesh of one"
        if isinstance(mesh, VolumeMesh):
            what, how = f"{read} is a mesh already; ", " fill surfaces"
        raise InputError(what, _EDGE, " and ", _VOXELS, how)
    if ending not in WRITTEN_SURFACES:
        assert isinstance(mesh, VolumeMesh)
        write_mesh(mesh, made)
        return ConvertResult(made, mesh)
    surface = mesh if isinstance(mesh, Surface) else mesh.boundary()
    write_surface(surface, made)
    return ConvertResult(made, surface)


def _mesh(source: Path, target: Path, scale: float) -> VolumeMesh | Surface:
    """What is in a file that is no motion; stops where it cannot become ``target``."""
    refuse_models(source)
    ending, character = target.suffix.lower(), character_facts(source)
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
    loaded = load_mesh(source).scaled(scale)
    if character is not None:
        left = "joints, clips and flesh" if character["soft targets"] else "joints and clips"
        warnings.warn(f"only the skin at rest is taken; its {left} stay behind", stacklevel=3)
    return loaded


def _motion(
    source: Path,
    target: Path,
    progress: Progress | None,
    *,
    skin: Any,
    up: Any,
    fps: Any,
    **of_gltf: Any,
) -> ConvertResult:
    ending = target.suffix.lower()
    if ending not in MOTION_FORMATS:
        raise InputError(
            f"cannot write {target}: a motion becomes one of {', '.join(MOTION_FORMATS)}"
        )
    if ending == ".pvd" and up is not None:
        raise InputError(Parameter("up"), " is for .glb and .usd; .pvd has no such axis")
    options = {name: value for name, value in of_gltf.items() if value is not None}
    if options and ending != ".glb":
        raise InputError(Parameter(next(iter(options))), " is for .glb alone")
    motion = read_motion(source)
    note = unfinished(source, len(motion))
    if note is not None:
        warnings.warn(note, stacklevel=3)
    embedded = None
    if skin is not None:
        if not isinstance(motion.mesh, VolumeMesh):
            kind = type(motion.mesh).__name__
            raise InputError(
                Parameter("skin"), f" needs a solid to hold it; {source} is of a {kind}"
            )
        embedded = Embedding(motion.mesh, read_surface(skin))
    shown = motion if fps is None else motion.at_rate(fps)
    options["up"] = up or _up(source)
    gltf = export_motion(shown, target, skin=embedded, progress=progress, **options)
    return ConvertResult(target, motion.mesh, gltf)


def _up(source: Path) -> str:
    """The axis that points up in the scene that a motion was made from; z if that is not known."""
    try:
        scene = tomllib.loads(read_metadata(source).get("scene", ""))
        return up_axis(scene.get("gravity", (0.0, 0.0, 0.0)))
    except (tomllib.TOMLDecodeError, RecursionError, TypeError, ValueError):
        return "z"
