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
from supple.io.gltf.motion import GltfReport
from supple.io.gltf.soft import write_soft_gltf
from supple.io.surfaces import CACHES, write_vertex_cache
from supple.io.usd.motion import write_usd_character

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
    path: Path,
    rigged: RiggedFile,
    motions: Sequence[SoftMotion],
    *,
    tolerances: Sequence[float],
    targets: int | None,
    normals: bool,
    progress: Progress | None,
) -> tuple[tuple[Path, ...], GltfReport | None]:
    """The files written and, of a .glb file, how close it is."""
    if path.suffix.lower() == ".glb":
        report = write_soft_gltf(
            rigged,
            path,
            motions,
            tolerance=tolerances,
            targets=targets,
            normals=normals,
            progress=progress,
        )
        return (path,), report
    files = _names(path, [motion.clip for motion in motions])
    for motion, name in zip(motions, files, strict=True):
        positions = rigged.character.vertices_at(motion.times, motion.clip) + motion.displacements
        if path.suffix.lower() in USD:
            write_usd_character(name, rigged, motion.times, positions, progress=progress)
        else:
            triangles = rigged.character.skin.triangles
            write_vertex_cache(name, motion.times, positions, triangles)
    return tuple(files), None


def _names(path: Path, clips: Sequence[str]) -> list[Path]:
    """A file for each clip; names that differ in capitals alone are one to some file systems."""
    if len(clips) == 1:
        return [path]
    folded = Counter(clip.casefold() for clip in clips)
    plain = [plain_name(clip, always=folded[clip.casefold()] > 1) for clip in clips]
    return [path.with_stem(f"{path.stem}_{name}") for name in plain]
