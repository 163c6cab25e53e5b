"""Where the vertices of a .glb file are at any time of its clips, as the format defines it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from supple.character.gltf import read_rigged
from supple.checks import numbers
from supple.io.gltf_document import GltfDocument
from supple.types import Bools, Floats


class PlayedGltf:
    """A rigged file with its morph targets, whose weights go straight from key to key."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.rigged = read_rigged(path, up="y")
        self.document = GltfDocument(path)
        self._targets = [self._shapes(part.node, part.primitive) for part in self.rigged.parts]

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
        character, t = self.rigged.character, numbers("times", times)
        world = character.rig.world(character.clip(clip).poses(character.rig, t))
        skin = character.skin
        weights = [self._weights(part.node, clip, t) for part in self.rigged.parts]
        found = np.empty((len(t), *skin.vertices.shape))
        for i, joints in enumerate(world):
            moved = skin.vertices.copy()
            for part, shapes, shares in zip(self.rigged.parts, self._targets, weights, strict=True):
                moved[part.first : part.first + part.count] += np.tensordot(shares[i], shapes, 1)
            found[i] = replace(skin, vertices=moved).placed(joints)
        return found

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

    def _shapes(self, node: int, primitive: int) -> Floats:
        """The morph targets of a primitive, (K, v, 3)."""
        json = self.document.json
        found = json["meshes"][json["nodes"][node]["mesh"]]["primitives"][primitive]
        count = json["accessors"][found["attributes"]["POSITION"]]["count"]
        still = np.zeros((count, 3))
        shapes = [
            self.document.array(target["POSITION"]) if "POSITION" in target else still
            for target in found.get("targets", ())
        ]
        return np.array(shapes, dtype=float).reshape(-1, count, 3)

    def _weights(self, node: int, clip: str, times: Floats) -> Floats:
        """The weights of the targets of a node, (T, K)."""
        json = self.document.json
        entry = json["nodes"][node]
        mesh = json["meshes"][entry["mesh"]]
        count = len(mesh["primitives"][0].get("targets", ()))
        animation = json["animations"][self.rigged.animations[clip]]
        for channel in animation["channels"]:
            target = channel["target"]
            if target["path"] == "weights" and target.get("node") == node:
                sampler = animation["samplers"][channel["sampler"]]
                keys = self.document.array(sampler["input"])
                values = self.document.array(sampler["output"]).reshape(len(keys), -1)
                columns = [np.interp(times, keys, each) for each in values.T]
                return np.stack(columns, axis=1)
        still = entry.get("weights") or mesh.get("weights") or [0.0] * count
        return np.tile(np.asarray(still, dtype=float), (len(times), 1))
