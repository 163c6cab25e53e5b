"""Surfaces that change shape, as morph targets of glTF."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pygltflib as gl
from scipy.linalg import eigh

from supple.core.types import Floats, Ints, Progress
from supple.io.gltf.file import GltfFile
from supple.io.surfaces import Shading


@dataclass(frozen=True, eq=False)
class Morph:
    """A motion as ``base`` (s, 3) [m] + ``weights`` (T, K) · ``shapes`` (K, s, 3) [m].

    Weights lie in −1…1 and are 0 in the first frame; ``max_error`` [m] is that of single precision.
    """

    base: Floats
    weights: Floats
    shapes: Floats
    max_error: float


def compress(positions: Floats, *, tolerance: float, targets: int) -> Morph:
    """Finds the fewest shapes that keep every vertex of (T, s, 3) within ``tolerance`` [m].

    At most ``targets`` are used; ``max_error`` of the answer tells what was reached.
    """
    count, vertices = positions.shape[:2]
    moved = (positions - positions[0]).reshape(count, -1)
    # The eigenvectors of the smaller of the two Gram matrices are the principal components.
    by_time = count <= moved.shape[1]
    gram = moved @ moved.T if by_time else moved.T @ moved
    top = min(targets, len(gram))
    values, vectors = eigh(gram, subset_by_index=(len(gram) - top, len(gram) - 1))
    weights, shapes = np.zeros((top, count)), np.zeros((top, moved.shape[1]))
    left, used = moved.copy(), 0
    for value, vector in zip(values[::-1], vectors.T[::-1], strict=True):
        if _largest(left) <= tolerance or value <= 1e-15 * values[-1]:
            break
        weight, shape = (vector, vector @ moved) if by_time else (moved @ vector, vector)
        peak = weight[np.argmax(np.abs(weight))]
        weights[used], shapes[used] = weight / peak, shape * peak
        weights[used, 0] = 0.0  # nothing has moved in the first frame but by rounding
        left -= np.outer(weights[used], shapes[used])
        used += 1
    base = _single(positions[0])
    weights, shapes = _single(weights[:used].T), _single(shapes[:used])
    error = _largest(moved + (positions[0] - base).ravel() - weights @ shapes)
    return Morph(base, weights, shapes.reshape(used, vertices, 3), error)


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
    normals = _fit_normals(positions, shading, morph.weights, progress)
    made = _triangles(file, morph, place, normals, shading, material)
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


def _triangles(
    file: GltfFile,
    morph: Morph,
    place: Ints,
    normals: tuple[Floats, Floats],
    shading: Shading,
    material: int,
) -> gl.Primitive:
    """A surface whose cut vertices are at ``place`` in the morph."""
    first, added = normals
    return gl.Primitive(
        attributes=gl.Attributes(
            POSITION=file.vectors(morph.base[place]), NORMAL=file.vectors(first)
        ),
        indices=file.indices(shading.triangles),
        material=material,
        targets=[
            gl.Attributes(POSITION=file.vectors(shape[place]), NORMAL=file.vectors(turn))
            for shape, turn in zip(morph.shapes, added, strict=True)
        ],
    )


def _fit_normals(
    positions: Floats, shading: Shading, weights: Floats, progress: Progress | None
) -> tuple[Floats, Floats]:
    """Normals of the first frame (v, 3), and what each weight adds, by least squares (K, v, 3)."""
    first = shading.normals(positions[0])
    added = np.zeros((weights.shape[1], *first.shape))
    inverse = np.linalg.pinv(weights)
    for i, frame in enumerate(positions):
        if weights.shape[1]:
            added += inverse[:, i, None, None] * (shading.normals(frame) - first)
        if progress is not None:
            progress(i + 1, len(positions), "normals")
    return first, added


def _largest(offsets: Floats) -> float:
    """Length of the longest vector in (T, 3s)."""
    vectors = offsets.reshape(-1, 3)
    return float(np.sqrt(np.einsum("vi,vi->v", vectors, vectors).max()))


def _single(array: Floats) -> Floats:
    """The array as single precision keeps it."""
    return array.astype(np.float32).astype(np.float64)
