"""What comes out when a character is enriched: glTF, USD or vertex caches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from supple.character import Character
from supple.character.runtime.soft_motion import SoftMotion
from supple.core.checksums import plain_name
from supple.core.types import Progress
from supple.io.gltf.character import RiggedFile
from supple.io.gltf.soft import write_soft_gltf
from supple.io.usd.character import write_usd_character
from supple.io.vertex_cache import CACHES, write_vertex_cache
from supple.workflows.enrich.soft_character import Quality

_SMALLEST = 1e-4  # of the body: what nobody sees
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
            tolerance=[
                max(quality.tolerance * motion.largest, _SMALLEST * size) for motion in motions
            ],
            targets=quality.targets,
            normals=quality.normals,
            progress=progress,
        )
        return (path,), made.targets, made.max_error
    files = _names(path, [motion.clip for motion in motions])
    for motion, name in zip(motions, files, strict=True):
        positions = rigged.character.vertices_at(motion.times, motion.clip) + motion.displacements
        if path.suffix.lower() in USD:
            write_usd_character(name, rigged, motion.times, positions, progress=progress)
        else:
            triangles = rigged.character.skin.triangles
            write_vertex_cache(name, motion.times, positions, triangles)
    return tuple(files), 0, 0.0


def _names(path: Path, clips: Sequence[str]) -> list[Path]:
    """A file for each clip; names that differ in capitals alone are one to some file systems."""
    if len(clips) == 1:
        return [path]
    folded = Counter(clip.casefold() for clip in clips)
    plain = [plain_name(clip, always=folded[clip.casefold()] > 1) for clip in clips]
    return [path.with_stem(f"{path.stem}_{name}") for name in plain]
