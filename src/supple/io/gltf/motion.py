"""glTF: a motion as a surface with morph targets, which plays in any viewer.

The positions of a motion mostly lie close to a few directions, found by principal components. They
become morph targets, and how far the motion goes along them the animation, so a file holds a few
shapes instead of every frame.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import pygltflib as gl

from supple.contact import Obstacle
from supple.core.checks import number, whole_number
from supple.core.errors import InputError, Message, Parameter
from supple.core.types import Floats, Progress
from supple.dynamics.motion import Motion
from supple.io.gltf.file import (
    GltfFile,
    add_channel,
    add_material,
    add_mesh,
    add_rigid,
    linear,
    new_document,
    obstacle_material,
)
from supple.io.gltf.morph import morphing_lines, morphing_triangles
from supple.io.obstacle_surfaces import DrawnObstacle, drawn_obstacles
from supple.io.shapes import Morph, compress
from supple.io.shown_bodies import Skins, shown_bodies
from supple.io.surfaces import moving_surface
from supple.io.yarn_surfaces import FAMILIES, SAMPLES, SIDES, YarnTubes
from supple.mesh import SpringMesh, YarnMesh
from supple.yarns import YarnCurves

_HALF = float(np.sqrt(0.5))
# glTF is y-up: a z-up scene is turned by −90° about x (quaternion x, y, z, w).
_TURNS: dict[str, list[float] | None] = {"z": [-_HALF, 0.0, 0.0, _HALF], "y": None}
_HEAVY = 200_000  # vertices of tubes


@dataclass(frozen=True)
class GltfReport:
    """What a glTF export reached.

    Attributes: ``targets``, number of morph targets, of the part that has most; ``max_error`` and
    ``rms_error`` [m], how far vertices of the file are from the motion, at any time, as a player
    has them; ``tolerance`` [m], what was asked for, of the largest part; ``met``, whether every
    part keeps its own; ``bytes``, size of the file.
    """

    targets: int
    max_error: float
    bytes: int
    rms_error: float = 0.0
    tolerance: float = 0.0
    met: bool = True

    def __str__(self) -> str:
        noun = "morph target" if self.targets == 1 else "morph targets"
        asked = "" if self.met else f", which is more than the {1e3 * self.tolerance:.3g} mm asked"
        return (
            f"{self.targets} {noun}; vertices are off by {1e3 * self.max_error:.3g} mm at most, "
            f"{1e3 * self.rms_error:.3g} mm RMS{asked}"
        )


def write_gltf(
    motion: Motion,
    path: str | os.PathLike[str],
    *,
    skin: Skins = None,
    tolerance: float = 1e-3,
    targets: int | None = None,
    crease: float = 40.0,
    color: tuple[float, float, float] = (0.72, 0.74, 0.78),
    up: Literal["z", "y"] = "z",
    name: str = "body",
    sides: int | None = None,
    samples: int = SAMPLES,
    obstacles: Sequence[Obstacle] = (),
    progress: Progress | None = None,
) -> GltfReport:
    """Writes a motion as a ``.glb`` file, its boundary, a skin embedded in it, springs or yarns.

    Of several bodies each is a node of its own with its name; rigid ones move as they are.

    Args:
        motion: What to show; its first frame becomes the time 0 of the file.
        tolerance: How far vertices may be off, as a share of the bounding box's diagonal.
        targets: Most morph targets to use, as many as ``tolerance`` needs unless given; some game
            engines stop at 8, browsers do not. If this is too few, a warning tells how far
            vertices are off, and so does the report.
        crease: Edges that bend by more than this at rest look sharp [degrees].
        color: Red, green and blue of the material, linear, 0…1; yarns have their own, and so have
            several bodies.
        up: The axis of the motion that points up; glTF has y.
        name: Of the body in the file; several have their own.
        sides: Of the tubes that yarns are drawn as, 6 unless given; with 0 they are lines, in a far
            smaller file, and so they are by default where tubes had more than 200,000 vertices.
        samples: Pieces of a yarn from crossing to crossing.
        obstacles: What the body met, each a node of its own, moving or not.

    The others are those of ``export_motion``.
    """
    number("tolerance", tolerance, above=0)
    if targets is not None:
        whole_number("targets", targets, at_least=1)
    if up not in _TURNS:
        raise InputError(f"up={up!r} must be 'z' or 'y'")
    if len(color) != 3 or not all(0 <= channel <= 1 for channel in color):
        raise InputError(f"color={color} must be three numbers between 0 and 1")
    times = (motion.times - motion.times[0]).astype(np.float32)
    if not (np.diff(times) > 0).all():
        raise InputError("frames are too close in time for glTF's single precision; leave some out")

    compressed = _Compression(motion.times - motion.times[0], tolerance, targets)
    file = GltfFile()
    document = new_document(
        [gl.Node(name=f"{name} ({up} up)", rotation=_TURNS[up], children=[])], [0]
    )
    parts: list[_Part] = []
    rigid: list[tuple[DrawnObstacle, int]] = []
    for body in shown_bodies(motion, skin, name=name):
        own, mesh = body.motion, body.motion.mesh
        if isinstance(mesh, YarnMesh) and body.skin is None:
            parts += _yarn_parts(document, file, own, compressed, samples, sides, progress)
            continue
        if body.color is None:
            material = add_material(document, "neutral", color)
        else:
            material = add_material(document, body.name, linear(body.color))
        stiff = body.rigid()
        if stiff is not None:
            rigid.append((stiff, material))
        elif isinstance(mesh, SpringMesh) and body.skin is None:
            morph = compressed(own.positions)
            lines = morphing_lines(file, morph, mesh.edges, material)
            parts.append(_Part(body.name, lines, morph))
        else:
            surface = moving_surface(own, body.skin)
            shown = surface.rest, surface.triangles, surface.positions
            made = morphing_triangles(
                file, *shown, compressed, crease, material=material, textures=surface.textures,
                progress=progress,
            )  # fmt: skip
            parts.append(_Part(body.name, *made))
    drawn = drawn_obstacles(obstacles, motion)
    moves = any(len(part.morph.shapes) for part in parts)
    moves = moves or bool(rigid) or any(obstacle.frames > 1 for obstacle in drawn)
    clock = file.scalars(times, bounded=True) if moves else -1
    for part in parts:
        _add_part(document, file, part, clock)
    for stiff, material in rigid:
        add_rigid(document, file, stiff, crease, clock, material)
    for obstacle in drawn:
        if obstacle.positions is None:
            material = obstacle_material(document)
            add_rigid(document, file, obstacle, crease, clock, material)
            continue
        shown = obstacle.vertices, obstacle.triangles, obstacle.positions
        material = obstacle_material(document)
        made = morphing_triangles(file, *shown, compressed, crease, material=material)
        _add_part(document, file, _Part(obstacle.name, *made), clock)
    report = compressed.report(file.write(document, path))
    if not report.met:
        warnings.warn(
            Message(
                f"{path} has {report}; give more ",
                Parameter("targets", ""),
                ", or a larger ",
                Parameter("tolerance", ""),
            ),
            stacklevel=2,
        )
    return report


class _Part(NamedTuple):
    """A node with a mesh: what is drawn, and how it moves."""

    name: str
    primitive: gl.Primitive
    morph: Morph


def _add_part(document: gl.GLTF2, file: GltfFile, part: _Part, times: int) -> None:
    """Adds a part as a child of the first node; ``times`` is the accessor of the frames."""
    node, morph = add_mesh(document, part.name, part.primitive), part.morph
    if not len(morph.shapes):
        return
    mesh = document.meshes[document.nodes[node].mesh]
    mesh.weights = morph.first_weights
    mesh.extras = {"targetNames": [f"shape {k + 1}" for k in range(len(morph.shapes))]}
    add_channel(document, node, "weights", times, file.scalars(morph.weights.ravel()))


def _yarn_parts(
    document: gl.GLTF2,
    file: GltfFile,
    motion: Motion,
    compressed: Callable[[Floats], Morph],
    samples: int,
    sides: int | None,
    progress: Progress | None,
) -> list[_Part]:
    """Warps and wefts, as tubes with so many sides or, with 0, as lines; None leaves it open."""
    mesh, parts = motion.mesh, []
    assert isinstance(mesh, YarnMesh)
    curves = YarnCurves(mesh, samples)
    if sides is None:
        sides = SIDES if SIDES * curves.counts.sum() <= _HEAVY else 0
    tubes = YarnTubes(mesh, samples, sides) if sides else None
    at = tubes.at if tubes is not None else lambda u: curves.points(mesh.vertices + u)
    positions = np.stack([at(u) for u in motion.displacements])
    for name, family, paint in FAMILIES:
        material = add_material(document, name, linear(paint))
        if tubes is None:
            (mine,) = np.nonzero(curves.point_families == family)
            lines = curves.lines[curves.point_families[curves.lines[:, 0]] == family]
            morph = compressed(positions[:, mine])
            ends = np.searchsorted(mine, lines)
            parts.append(_Part(name, morphing_lines(file, morph, ends, material), morph))
            continue
        mine, triangles = tubes.of_family(family)
        shapes = positions[:, mine]
        made = morphing_triangles(
            file, shapes[0], triangles, shapes, compressed, 180.0, material=material,
            progress=progress,
        )  # fmt: skip
        parts.append(_Part(name, *made))
    return parts


class _Compression:
    """Makes morphs of moving parts, and notes how close they are."""

    def __init__(self, times: Floats, tolerance: float, targets: int | None) -> None:
        self._times, self._share, self._targets = times, tolerance, targets
        self._most = 0
        self._asked: list[float] = []
        self._errors: list[Floats] = []

    def __call__(self, positions: Floats) -> Morph:
        """The morph of positions (T, s, 3) [m]."""
        asked = self._share * float(np.linalg.norm(np.ptp(positions[0], axis=0)))
        # A single target cannot both move and make up for what weights below 0 would do.
        base = None if self._targets == 1 else positions[0]
        morph = compress(positions, tolerance=asked, targets=self._targets, base=base)
        self._most = max(self._most, len(morph.shapes))
        self._asked.append(asked)
        self._errors.append(morph.errors(positions, self._times))
        return morph

    def report(self, size: int) -> GltfReport:
        """Of all parts so far, in a file of so many bytes."""
        squares = sum(float((errors**2).sum()) for errors in self._errors)
        largest = [0.0, *(float(errors.max(initial=0.0)) for errors in self._errors)]
        return GltfReport(
            targets=self._most,
            max_error=max(largest),
            bytes=size,
            rms_error=float(np.sqrt(squares / max(1, sum(each.size for each in self._errors)))),
            tolerance=max(self._asked, default=0.0),
            met=all(error <= asked for error, asked in zip(largest[1:], self._asked, strict=True)),
        )
