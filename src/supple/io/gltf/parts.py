"""What moves by morph targets in a glTF file: a body, or the warps and wefts of a cloth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pygltflib as gl

from supple.core.types import Floats, Progress
from supple.dynamics.motion import Motion
from supple.io.gltf.file import GltfFile, add_channel, add_mesh, plain_material
from supple.io.gltf.morph import Morph, morphing_lines, morphing_triangles
from supple.io.yarn_surfaces import FAMILIES, SIDES, YarnTubes
from supple.mesh import YarnMesh
from supple.yarns import YarnCurves


@dataclass(frozen=True, eq=False)
class Part:
    """A node with a mesh: what is drawn, how it moves, its material and colour, linear, 0…1."""

    name: str
    primitive: gl.Primitive
    morph: Morph
    color: tuple[float, float, float]
    material: str = "neutral"


def add_part(document: gl.GLTF2, file: GltfFile, part: Part, times: int) -> None:
    """Adds a part as a child of the first node; ``times`` is the accessor of the frames."""
    part.primitive.material = len(document.materials)
    document.materials.append(plain_material(part.material, part.color))
    add_morph(document, file, part.name, part.primitive, part.morph, times)


def add_morph(
    document: gl.GLTF2,
    file: GltfFile,
    name: str,
    primitive: gl.Primitive,
    morph: Morph,
    times: int,
) -> None:
    """The same for what has a material already."""
    node = add_mesh(document, name, primitive)
    if not len(morph.shapes):
        return
    mesh = document.meshes[document.nodes[node].mesh]
    mesh.weights = morph.first_weights
    mesh.extras = {"targetNames": [f"shape {k + 1}" for k in range(len(morph.shapes))]}
    add_channel(document, node, "weights", times, file.scalars(morph.weights.ravel()))


def yarn_parts(
    file: GltfFile,
    motion: Motion,
    compressed: Callable[[Floats], Morph],
    samples: int,
    sides: int | None,
    progress: Progress | None,
) -> list[Part]:
    """Warps and wefts, as tubes with so many sides or, with 0, as lines; None leaves it open."""
    mesh = motion.mesh
    assert isinstance(mesh, YarnMesh)
    parts = []
    curves = YarnCurves(mesh, samples)
    if sides is None:
        sides = SIDES if SIDES * curves.counts.sum() <= _HEAVY else 0
    if sides == 0:
        points = np.stack([curves.points(mesh.vertices + u) for u in motion.displacements])
        for name, family, paint in FAMILIES:
            (mine,) = np.nonzero(curves.point_families == family)
            lines = curves.lines[curves.point_families[curves.lines[:, 0]] == family]
            morph = compressed(points[:, mine])
            primitive = morphing_lines(file, morph, np.searchsorted(mine, lines))
            parts.append(Part(name, primitive, morph, _linear(paint), name))
        return parts
    tubes = YarnTubes(mesh, samples, sides)
    positions = tubes.at(motion.displacements)
    for name, family, paint in FAMILIES:
        mine, triangles = tubes.of_family(family)
        shapes = positions[:, mine]
        primitive, morph = morphing_triangles(
            file, shapes[0], triangles, shapes, compressed, _ROUND, progress=progress
        )
        parts.append(Part(name, primitive, morph, _linear(paint), name))
    return parts


_ROUND = 180.0  # [degrees]: no edge is sharp
_HEAVY = 200_000  # vertices of tubes


def _linear(color: tuple[float, float, float]) -> tuple[float, float, float]:
    red, green, blue = (channel**2.2 for channel in color)
    return red, green, blue
