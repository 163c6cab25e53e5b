"""USD: motions and characters as meshes with points for each frame, tetrahedra, or curves."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from supple.contact import Obstacle
from supple.core.errors import InputError, MissingExtra
from supple.core.files import replacing
from supple.core.types import Floats, Ints, Progress
from supple.dynamics.motion import Motion
from supple.io.gltf.character import Part, RiggedFile
from supple.io.obstacle_surfaces import GREY, DrawnObstacle, drawn_obstacles
from supple.io.shown_bodies import Color, ShownBody, Skins, SpringBars, shown_bodies
from supple.io.surfaces import moving_surface
from supple.io.yarn_surfaces import FAMILIES, SAMPLES, YarnTubes, following
from supple.mesh import SpringMesh, TetMesh, YarnMesh
from supple.yarns import YarnCurves

_COLOR = (0.72, 0.74, 0.78)
_STILL_RATE = 24.0  # [1/s] time codes of a motion with a single frame
_Moving = tuple[Any, Any, Callable[[int], Floats], float]
"""Attributes of points and extent, the points of a frame, and how far things reach beyond them."""


def write_usd(
    motion: Motion,
    path: str | os.PathLike[str],
    *,
    skin: Skins = None,
    volume: bool = False,
    up: Literal["z", "y"] = "z",
    name: str = "body",
    sides: int = 0,
    samples: int = SAMPLES,
    obstacles: Sequence[Obstacle] = (),
    progress: Progress | None = None,
) -> None:
    """Writes a motion as ``.usd``, ``.usda`` or ``.usdc``: in metres, exact in time.

    Of several bodies each is a prim of its own under its name; rigid ones are moved as a whole.

    Args:
        motion: Its first frame becomes the time code 0, and what is seen without a time.
        volume: Also write the solid, as a ``TetMesh`` with purpose "proxy"; needs a TetMesh.
        up: The axis of the motion that points up; the stage says so.
        name: Of the prim, /World/<name>; several bodies have their own.
        sides: Of the tubes that yarns are written as; with 0 they are curves with a width.
        samples: Pieces of a tube from crossing to crossing.
        obstacles: What the body met, as meshes under /World/obstacles, moving or not.

    The others are those of ``export_motion``.
    """
    _require_pxr()
    from pxr import Sdf

    if not Sdf.Path.IsValidIdentifier(name):
        raise InputError(f"name={name!r} must be letters, digits and _, not starting with a digit")
    if up not in ("z", "y"):
        raise InputError(f"up={up!r} must be 'z' or 'y'")
    if volume and not isinstance(motion.mesh, TetMesh):
        raise InputError(
            f"volume=True writes tetrahedra, but the motion has a {type(motion.mesh).__name__}"
        )
    bodies = shown_bodies(motion, skin, name=name)
    drawn = drawn_obstacles(obstacles, motion)
    tubes = samples, sides
    _replace_stage(
        path,
        lambda file: _write_stage(motion, file, bodies, volume, up, tubes, drawn, progress),
    )


def _replace_stage(path: str | os.PathLike[str], write: Callable[[Path], None]) -> None:
    """Writes a file whole or not at all, by a function that makes, saves and leaves a stage."""
    _require_pxr()
    from pxr import Tf

    with replacing(path) as temporary:
        # The stage ends with the function: Windows moves no file that is still open.
        failed = False
        try:
            write(temporary)
        except Tf.ErrorException:
            failed = True  # the error speaks of the temporary name, and holds the stage
        if failed:
            raise InputError(
                f"cannot write {path}: may files be written in its folder, and has the disk space?"
            )


def _require_pxr() -> None:
    try:
        import pxr  # noqa: F401
    except ImportError as error:
        raise MissingExtra("USD export", "usd") from error


def _write_stage(
    motion: Motion,
    file: Path,
    bodies: Sequence[ShownBody],
    volume: bool,
    up: Literal["z", "y"],
    tubes: tuple[int, int],
    obstacles: Sequence[DrawnObstacle],
    progress: Progress | None,
) -> None:
    rate = motion.frame_rate if len(motion) > 1 else _STILL_RATE
    stage, codes = _new_stage(file, motion.times, rate, up)
    for obstacle in obstacles:
        _add_rigid(stage, f"/World/obstacles/{obstacle.name}", obstacle, codes, GREY)
    moving: list[_Moving] = []
    taken = ["obstacles"]
    for body in bodies:
        taken.append(_identifier(body.name, taken))
        path = f"/World/{taken[-1]}"
        moving += _add_body(stage, path, body, codes, tubes)
        if volume:
            moving.append(_add_volume(stage, f"{path}_volume", body.motion))
    _set_frames(codes, moving, progress)
    stage.Save()


def _add_body(
    stage: Any, path: str, body: ShownBody, codes: Floats, tubes: tuple[int, int]
) -> list[_Moving]:
    """Adds one body; what of it has points that move."""
    mesh, color = body.motion.mesh, body.color or _COLOR
    samples, sides = tubes
    rigid = body.rigid()
    if rigid is not None:
        _add_rigid(stage, path, rigid, codes, color)
        return []
    if isinstance(mesh, YarnMesh) and body.skin is None:
        if sides:
            return _add_yarn_tubes(stage, path, body.motion, samples, sides)
        return _add_yarn_curves(stage, path, body.motion)
    if isinstance(mesh, SpringMesh) and body.skin is None:
        return [_add_springs(stage, path, body.motion, color)]
    surface = moving_surface(body.motion, body.skin)
    prim = _add_mesh(stage, path, surface.triangles, color)
    if surface.textures is not None:
        _add_textures(prim, surface.textures)
    return [(prim.CreatePointsAttr(), prim.CreateExtentAttr(), surface.frame, 0.0)]


def _add_volume(stage: Any, path: str, motion: Motion) -> _Moving:
    """Adds the tets of a solid, without points yet."""
    from pxr import UsdGeom, Vt

    solid = motion.mesh
    assert isinstance(solid, TetMesh)
    tets = UsdGeom.TetMesh.Define(stage, path)
    tets.CreatePurposeAttr(UsdGeom.Tokens.proxy)
    tets.CreateTetVertexIndicesAttr(Vt.Vec4iArray.FromNumpy(solid.cells.astype(np.int32)))
    tets.CreateSurfaceFaceVertexIndicesAttr(
        Vt.Vec3iArray.FromNumpy(solid.boundary_facets().astype(np.int32))
    )
    X = solid.vertices
    points, extent = tets.CreatePointsAttr(), tets.CreateExtentAttr()
    return points, extent, lambda i: X + motion.displacements[i], 0.0


def _add_springs(stage: Any, path: str, motion: Motion, color: Color) -> _Moving:
    """Adds springs as straight ``BasisCurves``, each between two points of its own."""
    from pxr import Gf, UsdGeom, Vt

    mesh = motion.mesh
    assert isinstance(mesh, SpringMesh)
    width = 2 * SpringBars(mesh).radius
    prim = UsdGeom.BasisCurves.Define(stage, path)
    prim.CreateTypeAttr(UsdGeom.Tokens.linear)
    counts = np.full(mesh.n_cells, 2, dtype=np.int32)
    prim.CreateCurveVertexCountsAttr(Vt.IntArray.FromNumpy(counts))
    prim.CreateWidthsAttr([width])
    prim.SetWidthsInterpolation(UsdGeom.Tokens.constant)
    prim.CreateDisplayColorAttr([Gf.Vec3f(*color)])
    ends = mesh.cells.ravel()
    points, extent = prim.CreatePointsAttr(), prim.CreateExtentAttr()
    return points, extent, lambda i: (mesh.vertices + motion.displacements[i])[ends], 0.5 * width


def _set_frames(codes: Floats, moving: Sequence[_Moving], progress: Progress | None) -> None:
    """Points and extents of what moves, at every time code (T,)."""
    for i, code in enumerate(codes.tolist()):
        for points, extent, positions, reach in moving:
            here = positions(i)
            bounds = np.stack([here.min(axis=0) - reach, here.max(axis=0) + reach])
            if i == 0:  # for those who ask for no time
                points.Set(_vectors(here))
                extent.Set(_vectors(bounds))
            points.Set(_vectors(here), code)
            extent.Set(_vectors(bounds), code)
        if progress is not None:
            progress(i + 1, len(codes), "frames")


def _new_stage(file: Path, times: Floats, rate: float, up: Literal["z", "y"]) -> tuple[Any, Floats]:
    """A stage with /World in it, and the time codes (T,) of ``times`` (T,) [s]."""
    from pxr import Usd, UsdGeom

    codes = (times - times[0]) * rate
    nearest = np.round(codes)  # evenly spaced frames fall on whole time codes but for rounding
    codes = np.where(np.abs(codes - nearest) < 1e-6, nearest, codes)
    stage = Usd.Stage.CreateNew(os.fspath(file))
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y if up == "y" else UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    stage.SetTimeCodesPerSecond(rate)
    stage.SetFramesPerSecond(rate)
    stage.SetStartTimeCode(float(codes[0]))
    stage.SetEndTimeCode(float(codes[-1]))
    world = UsdGeom.Xform.Define(stage, "/World")
    stage.SetDefaultPrim(world.GetPrim())
    return stage, codes


def _add_mesh(stage: Any, path: str, triangles: Ints, color: Color) -> Any:
    """A mesh of triangles that has no points yet."""
    from pxr import Gf, UsdGeom, Vt

    def whole(numbers: Any) -> Any:
        return Vt.IntArray.FromNumpy(np.ascontiguousarray(numbers, dtype=np.int32).ravel())

    mesh = UsdGeom.Mesh.Define(stage, path)
    mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    mesh.CreateFaceVertexCountsAttr(whole(np.full(len(triangles), 3)))
    mesh.CreateFaceVertexIndicesAttr(whole(triangles))
    mesh.CreateDoubleSidedAttr(True)
    mesh.CreateDisplayColorAttr([Gf.Vec3f(*color)])
    return mesh


def _add_textures(mesh: Any, textures: Floats) -> None:
    """Adds texture coordinates of corners, (t, 3, 2)."""
    from pxr import Sdf, UsdGeom, Vt

    values = np.ascontiguousarray(textures.reshape(-1, 2), dtype=np.float32)
    kind, token = Sdf.ValueTypeNames.TexCoord2fArray, UsdGeom.Tokens.faceVarying
    st = UsdGeom.PrimvarsAPI(mesh).CreatePrimvar("st", kind, token)
    st.Set(Vt.Vec2fArray.FromNumpy(values))


def _add_rigid(stage: Any, path: str, obstacle: DrawnObstacle, codes: Floats, color: Color) -> None:
    from pxr import Gf

    mesh = _add_mesh(stage, path, obstacle.triangles, color)
    points = obstacle.vertices
    place = mesh.CreatePointsAttr(_vectors(points))
    extent = mesh.CreateExtentAttr(_extent_of(points))
    if obstacle.positions is not None:
        for code, points in zip(codes.tolist(), obstacle.positions, strict=True):
            place.Set(_vectors(points), code)
            extent.Set(_extent_of(points), code)
    if obstacle.rotations is None or obstacle.translations is None:
        return
    transform = mesh.AddTransformOp()
    for code, R, c in zip(codes.tolist(), obstacle.rotations, obstacle.translations, strict=True):
        # USD multiplies rows from the left.
        matrix = np.eye(4)
        matrix[:3, :3], matrix[3, :3] = R.T, c
        transform.Set(Gf.Matrix4d(matrix), code)


def _extent_of(points: Floats) -> Any:
    """The bounding box of points (n, 3)."""
    return _vectors(np.stack([points.min(axis=0), points.max(axis=0)]))


def _vectors(points: Floats) -> Any:
    """Points (n, 3) as USD keeps them."""
    from pxr import Vt

    return Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(points, dtype=np.float32))


def _add_yarn_curves(stage: Any, path: str, motion: Motion) -> list[_Moving]:
    """Adds yarns as ``BasisCurves``, Catmull–Rom through the crossings, without points yet."""
    from pxr import Gf, UsdGeom, Vt

    assert isinstance(motion.mesh, YarnMesh)
    curves = YarnCurves(motion.mesh, samples=1)
    UsdGeom.Xform.Define(stage, path)
    made: list[_Moving] = []
    for name, family, paint in FAMILIES:
        (mine,) = np.nonzero(curves.point_families == family)
        prim = UsdGeom.BasisCurves.Define(stage, f"{path}/{name}")
        prim.CreateTypeAttr(UsdGeom.Tokens.cubic)
        prim.CreateBasisAttr(UsdGeom.Tokens.catmullRom)
        prim.CreateWrapAttr(UsdGeom.Tokens.pinned)
        counts = curves.counts[curves.families == family].astype(np.int32)
        prim.CreateCurveVertexCountsAttr(Vt.IntArray.FromNumpy(counts))
        radius = float(curves.mesh.radii[family])
        prim.CreateWidthsAttr([2 * radius])
        prim.SetWidthsInterpolation(UsdGeom.Tokens.constant)
        prim.CreateDisplayColorAttr([Gf.Vec3f(*paint)])
        points = following(motion, curves, mine)
        made.append((prim.CreatePointsAttr(), prim.CreateExtentAttr(), points, radius))
    return made


def _add_yarn_tubes(
    stage: Any, path: str, motion: Motion, samples: int, sides: int
) -> list[_Moving]:
    """Adds yarns as tubes, each family a mesh of its own, without points yet."""
    from pxr import UsdGeom

    assert isinstance(motion.mesh, YarnMesh)
    tubes = YarnTubes(motion.mesh, samples, sides)
    UsdGeom.Xform.Define(stage, path)
    made: list[_Moving] = []
    for name, family, paint in FAMILIES:
        mine, triangles = tubes.of_family(family)
        prim = _add_mesh(stage, f"{path}/{name}", triangles, paint)

        def points(i: int, mine: Ints = mine) -> Floats:
            return tubes.at(motion.displacements[i])[mine]

        made.append((prim.CreatePointsAttr(), prim.CreateExtentAttr(), points, 0.0))
    return made


# -- characters --------------------------------------------------------------------------


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
    _replace_stage(path, lambda file: _write_character(file, rigged, times, positions, progress))


def _write_character(
    file: Path, rigged: RiggedFile, times: Floats, positions: Floats, progress: Progress | None
) -> None:
    steps = np.diff(times)
    rate = float(np.round(1 / np.median(steps), 3)) if len(steps) else _STILL_RATE
    stage, codes = _new_stage(file, times, rate, "z")
    triangles = rigged.character.skin.triangles
    moving: list[_Moving] = []
    for part, name in zip(rigged.parts, _names(rigged.parts), strict=True):
        mine = slice(part.first, part.first + part.count)
        own = triangles[(triangles[:, 0] >= mine.start) & (triangles[:, 0] < mine.stop)]
        if len(own):
            mesh = _add_mesh(stage, f"/World/{name}", own - part.first, _COLOR)

            def here(frame: int, mine: slice = mine) -> Floats:
                return positions[frame, mine]

            moving.append((mesh.CreatePointsAttr(), mesh.CreateExtentAttr(), here, 0.0))
    _set_frames(codes, moving, progress)
    stage.Save()


def _names(parts: Sequence[Part]) -> list[str]:
    """A name for each part, which USD takes, and which no other has."""
    found: list[str] = []
    for part in parts:
        found.append(_identifier(part.name, found))
    return found


def _identifier(name: str, taken: Sequence[str]) -> str:
    """A name as USD takes it, unlike those that are taken."""
    made = re.sub(r"\W|^(?=\d)", "_", name, flags=re.ASCII)
    while made in taken:
        made += "_"
    return made
