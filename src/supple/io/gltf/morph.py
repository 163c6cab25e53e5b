"""Surfaces that change shape, as morph targets of glTF."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pygltflib as gl

from supple.core.types import Floats, Ints, Progress
from supple.io.gltf.file import GltfFile
from supple.io.shapes import Morph
from supple.io.surfaces import Shading

_AT_ONCE = 32  # frames


def morphing_triangles(
    file: GltfFile,
    rest: Floats,
    triangles: Ints,
    positions: Floats,
    compressed: Callable[[Floats], Morph],
    crease: float,
    *,
    material: int = 0,
    textures: Floats | None = None,
    progress: Progress | None = None,
) -> tuple[gl.Primitive, Morph]:
    """Triangles with morph targets, as ``compressed`` makes them of positions (T, s, 3) [m].

    Creases are those of the surface at ``rest`` (s, 3) [m]; ``textures`` (t, 3, 2) are texture
    coordinates of corners, if there are any.
    """
    used = np.unique(triangles)
    morph = compressed(positions[:, used])
    shading = Shading.cut(rest, triangles, crease, textures)
    place = np.searchsorted(used, shading.source)
    still = positions[0].copy()
    still[used] = morph.base
    normals, turns = _fit_normals(still, positions, shading, morph.weights, progress)
    made = gl.Primitive(
        attributes=gl.Attributes(
            POSITION=file.vectors(morph.base[place]), NORMAL=file.vectors(normals)
        ),
        indices=file.indices(shading.triangles),
        material=material,
        targets=[
            gl.Attributes(POSITION=file.vectors(shape[place]), NORMAL=file.vectors(turn))
            for shape, turn in zip(morph.shapes, turns, strict=True)
        ],
    )
    if textures is not None:
        flat = np.empty((len(shading.source), 2))
        flat[shading.triangles] = textures
        # In glTF the second coordinate goes down.
        made.attributes.TEXCOORD_0 = file.pairs(np.array([0.0, 1.0]) + flat * np.array([1.0, -1.0]))
    return made, morph


def morphing_lines(file: GltfFile, morph: Morph, edges: Ints, material: int = 0) -> gl.Primitive:
    """Edges (m, 2) between the vertices of a morph."""
    return gl.Primitive(
        mode=gl.LINES,
        attributes=gl.Attributes(POSITION=file.vectors(morph.base)),
        indices=file.indices(edges),
        material=material,
        targets=[gl.Attributes(POSITION=file.vectors(shape)) for shape in morph.shapes],
    )


def _fit_normals(
    still: Floats, positions: Floats, shading: Shading, weights: Floats, progress: Progress | None
) -> tuple[Floats, Floats]:
    """Normals of the base (v, 3), and what each weight adds, by least squares (K, v, 3)."""
    first = shading.normals(still)
    added = np.zeros((weights.shape[1], first.size))
    inverse = np.linalg.pinv(weights)
    for start in range(0, len(positions), _AT_ONCE):
        some = positions[start : start + _AT_ONCE]
        if weights.shape[1]:
            turns = np.stack([(shading.normals(frame) - first).ravel() for frame in some])
            added += inverse[:, start : start + len(some)] @ turns
        if progress is not None:
            progress(start + len(some), len(positions), "normals")
    return first, added.reshape(weights.shape[1], *first.shape)
