"""Bars that soft motion was written into."""

from __future__ import annotations

import numpy as np
from tests.character.sample_rigs import GltfBuilder

from supple.character.runtime.soft_motion import SoftMotion
from supple.io.gltf.character import read_rigged
from supple.io.gltf.played import PlayedGltf
from supple.io.gltf.soft import write_soft_gltf

TIMES = np.linspace(0.0, 1.0, 11)


def wave(rigged, clip="bend", times=TIMES, height=0.1) -> SoftMotion:
    """A wave that runs along the bar; meshes without a skin stay as they are."""
    x = rigged.character.surface().vertices
    u = height * np.sin(3 * x[None, :, :1] - 4 * np.asarray(times)[:, None, None])
    u = u * np.array([0.2, 0.5, 1.0])
    for part in rigged.parts:
        if not part.skinned:
            u[:, part.first : part.first + part.count] = 0.0
    return SoftMotion(clip, times, u)


def soft(made: GltfBuilder, folder, *, name="bar.glb", targets=20, normals=True, **options):
    source = made.write(folder / name)
    rigged = read_rigged(source, up="y")
    motions = [wave(rigged, **options)]
    report = write_soft_gltf(
        rigged, folder / "soft.glb", motions, tolerance=1e-6, targets=targets,
        normals=normals,
    )  # fmt: skip
    return source, rigged, motions, report, PlayedGltf(folder / "soft.glb")
