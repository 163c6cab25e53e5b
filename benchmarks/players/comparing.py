"""Vertices as players have them, against where our reader has them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.players import blender, three
from benchmarks.players.frames import frames_of
from supple.io.gltf.played import PlayedGltf

FOLDER = Path(tempfile.gettempdir()) / "supple_players"
"""Where players are installed unless told otherwise."""


@dataclass(frozen=True)
class Difference:
    """How far a player is from us: ``share`` of the body's size at most, and where."""

    revision: str
    share: float
    frames: int
    clips: int
    worst: str
    """The clip in which it is farthest."""


def by_three(folder: Path, file: Path) -> Difference:
    """Of three.js, at keys and halfway between them."""
    return _difference(three.compared, folder, file, between=True)


def by_blender(folder: Path, file: Path) -> Difference:
    """Of Blender, at keys that all joints share."""
    return _difference(blender.compared, folder, file, between=False)


def _difference(
    compared: Callable[..., dict[str, Any]], folder: Path, file: Path, *, between: bool
) -> Difference:
    played = PlayedGltf(file)
    result = compared(folder, played, frames_of(played, between=between))
    clips = result["clips"]
    worst = max(clips, key=lambda clip: clip["worst"])
    return Difference(
        revision=result["revision"],
        share=worst["worst"] / played.size,
        frames=sum(clip["frames"] for clip in clips),
        clips=len(clips),
        worst=worst["name"],
    )
