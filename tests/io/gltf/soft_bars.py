"""Bars that soft motion was written into."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from tests.character.sample_rigs import GltfBuilder

from supple.character.runtime.soft_motion import SoftMotion
from supple.core.types import Floats
from supple.io.gltf.character import RiggedFile, read_rigged
from supple.io.gltf.motion import GltfReport
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


class SoftBar(NamedTuple):
    """A bar as it was read from ``source``, and what a player makes of it with soft motion."""

    source: Path
    rigged: RiggedFile
    motion: SoftMotion
    report: GltfReport
    played: PlayedGltf

    @property
    def off(self) -> Floats:
        """How far the player's vertices are from where flesh is, (T, n, 3)."""
        at = self.motion.clip, self.motion.times
        wanted = self.rigged.character.vertices_at(at[1], at[0]) + self.motion.displacements
        return self.played.positions(*at) - wanted


def soft(made: GltfBuilder | Path, folder, change=1.0, targets=20, normals=True, **options):
    """A bar, or a file with one, with a wave of these options; ``change`` multiplies that."""
    source = made if isinstance(made, Path) else made.write(folder / "bar.glb")
    rigged = read_rigged(source, up="y")
    motion = wave(rigged, **options)
    motion.displacements[...] *= change
    file = folder / "soft.glb"
    report = write_soft_gltf(
        rigged, file, [motion], tolerance=1e-6, targets=targets, normals=normals
    )
    return SoftBar(source, rigged, motion, report, PlayedGltf(file))
