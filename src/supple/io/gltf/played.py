"""Where the vertices of a .glb file are at any time of its clips, as the format defines it."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from supple.core.checks import numbers
from supple.core.types import Bools, Floats
from supple.io.gltf.character import read_rigged
from supple.io.gltf.document import GltfDocument


class PlayedGltf:
    """A rigged file with its morph targets."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.rigged = read_rigged(path, up="y")
        self.document = GltfDocument(self.rigged.source)

    @property
    def size(self) -> float:
        """The diagonal of the character at rest [m]."""
        return float(np.linalg.norm(np.ptp(self.rigged.character.surface().vertices, axis=0)))

    @property
    def skinned(self) -> Bools:
        """Which vertices have a skin, (n,)."""
        parts = self.rigged.parts
        return np.concatenate([np.full(part.count, part.skinned) for part in parts])

    def positions(self, clip: str, times: ArrayLike) -> Floats:
        """All vertices (T, n, 3) [m], y up, at ``times`` (T,) [s] of a clip."""
        return self.rigged.character.vertices_at(numbers("times", times), clip)

    def weights_keys(self, clip: str) -> Floats:
        """Times (T,) [s] of all keys of morph targets in a clip."""
        animation = self.document.json["animations"][self.rigged.animations[clip]]
        inputs = {
            animation["samplers"][channel["sampler"]]["input"]
            for channel in animation["channels"]
            if channel["target"]["path"] == "weights"
        }
        arrays = [self.document.array(accessor) for accessor in inputs]
        return np.unique(np.concatenate([np.zeros(0), *arrays]))
