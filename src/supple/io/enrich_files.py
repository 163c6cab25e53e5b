"""What comes out when a character is enriched: glTF, USD or vertex caches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from supple.character import Character
from supple.character.gltf import RiggedFile
from supple.character.soft_character import Quality
from supple.character.soft_motion import SoftMotion
from supple.io.gltf_soft import write_soft_gltf
from supple.io.usd_character import write_usd_character
from supple.io.vertex_cache import CACHES, write_vertex_cache
from supple.types import Progress

_SMALLEST = 1e-5  # of the body: what nobody sees
_EVEN = 30.0  # [1/s] frames where they must be evenly spaced
USD = (".usd", ".usda", ".usdc")
ENRICHED = (".glb", *USD, *CACHES)
"""The kinds of files that are written."""


def frame_rate(character: Character, name: str, rate: float | None, kind: str) -> float | None:
    """Frames a second of a clip; those of a .pc2 file are evenly spaced up to the last."""
    duration = character.clip(name).duration
    if kind != ".pc2" or not duration:
        return rate
    return max(1, round(duration * (_EVEN if rate is None else rate))) / duration


def write_enriched(
    source: Path,
    path: Path,
    rigged: RiggedFile,
    motions: Sequence[SoftMotion],
    quality: Quality,
    size: float,
    progress: Progress | None,
) -> tuple[tuple[Path, ...], int, float]:
    """The files written, the number of morph targets and the largest error [m]."""
    if path.suffix.lower() == ".glb":
        made = write_soft_gltf(
            source,
            path,
            rigged,
            motions,
            tolerance=max(
                quality.tolerance * max(motion.largest for motion in motions), _SMALLEST * size
            ),
            targets=quality.targets,
            normals=quality.normals,
            progress=progress,
        )
        return (path,), made.targets, made.max_error
    files = []
    for motion in motions:
        name = path if len(motions) == 1 else path.with_stem(f"{path.stem}_{_plain(motion.clip)}")
        positions = rigged.character.vertices_at(motion.times, motion.clip) + motion.displacements
        if path.suffix.lower() in USD:
            write_usd_character(name, rigged, motion.times, positions, progress=progress)
        else:
            triangles = rigged.character.skin.triangles
            write_vertex_cache(name, motion.times, positions, triangles)
        files.append(name)
    return tuple(files), 0, 0.0


def _plain(name: str) -> str:
    """A name that every file system takes."""
    return "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in name)
