"""The frames at which players are compared, and where our reader has the vertices there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.io.gltf.played import PlayedGltf


@dataclass(frozen=True, eq=False)
class Frames:
    """One clip: ``times`` (T,) [s] and ``positions`` (T, n, 3) of all vertices with a skin."""

    clip: str
    animation: int
    times: np.ndarray
    positions: np.ndarray


def frames_of(played: PlayedGltf, *, between: bool) -> list[Frames]:
    """Every clip at its keys; ``between``, also halfway to the next ones.

    Programs go from key to key of a rotation in different ways. At keys of all joints they agree.
    """
    found = []
    for name, animation in played.rigged.animations.items():
        tracks = played.rigged.character.clips[name].tracks
        times = np.unique(np.concatenate([track.times for track in tracks]))
        if between:
            soft = np.union1d(times, played.weights_keys(name))
            times = np.sort(np.concatenate([soft, (soft[1:] + soft[:-1]) / 2]))
        else:
            common = [np.isin(times, track.times) for track in tracks if len(track.times) > 2]
            times = times[np.all(common, axis=0)] if common else times
        positions = played.positions(name, times)[:, played.skinned]
        found.append(Frames(name, animation, times, positions))
    return found


def skinned_parts(played: PlayedGltf) -> list[Any]:
    """The primitives with a skin, in the order of the vertices."""
    return [part for part in played.rigged.parts if part.skinned]
