"""Where the vertices of a .glb file are at each frame of its clips, as the format defines it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from supple.character.gltf import RiggedFile, read_rigged
from supple.io.gltf_document import GltfDocument


@dataclass(frozen=True, eq=False)
class Played:
    """One clip: ``times`` (T,) [s] and ``positions`` (T, n, 3) of all vertices with a skin."""

    clip: str
    animation: int
    times: np.ndarray
    positions: np.ndarray


@dataclass(frozen=True, eq=False)
class Prepared:
    """A file, read; ``parts`` are its primitives with a skin, in the order of the vertices."""

    path: Path
    rigged: RiggedFile
    parts: list[Any]
    size: float

    @classmethod
    def of(cls, path: Path) -> Prepared:
        rigged = read_rigged(path, up="y")
        size = float(np.linalg.norm(np.ptp(rigged.character.surface().vertices, axis=0)))
        return cls(path, rigged, [part for part in rigged.parts if part.skinned], size)

    def mesh_name(self, node: int) -> str:
        """Of the mesh of a node."""
        json = GltfDocument(self.path).json
        mesh = json["nodes"][node]["mesh"]
        return str(json["meshes"][mesh].get("name", f"Mesh_{mesh}"))

    def animation_name(self, animation: int) -> str:
        """Of an animation; empty where it has none."""
        return str(GltfDocument(self.path).json["animations"][animation].get("name", ""))

    @property
    def kept(self) -> np.ndarray:
        """The vertices with a skin, (n,)."""
        return np.concatenate([part.first + np.arange(part.count) for part in self.parts])

    def frames(self, rate: float) -> Iterator[Played]:
        """Every clip at ``rate`` frames a second."""
        document = GltfDocument(self.path)
        shapes = _targets(document, self.rigged)
        character = self.rigged.character
        for name, animation in self.rigged.animations.items():
            clip = character.clips[name]
            count = int(np.floor(clip.duration * rate + 1e-6)) + 1
            times = clip.start + np.arange(count) / rate
            world = character.rig.world(clip.poses(character.rig, times))
            weights = _weights(document, self.rigged, animation, times)
            positions = np.empty((count, len(self.kept), 3))
            for i in range(count):
                moved = character.skin.vertices.copy()
                for part, shape in zip(self.rigged.parts, shapes, strict=True):
                    mine = slice(part.first, part.first + part.count)
                    moved[mine] += np.einsum("k,kni->ni", weights[part.node][i], shape)
                positions[i] = replace(character.skin, vertices=moved).placed(world[i])[self.kept]
            yield Played(name, animation, times, positions)


def _targets(document: GltfDocument, rigged: RiggedFile) -> list[np.ndarray]:
    """The morph targets (K, count, 3) of each part."""
    found = []
    for part in rigged.parts:
        mesh = document.json["meshes"][document.json["nodes"][part.node]["mesh"]]
        targets = mesh["primitives"][part.primitive].get("targets", [])
        shapes = [document.array(target["POSITION"]) for target in targets if "POSITION" in target]
        found.append(np.array(shapes).reshape(-1, part.count, 3))
    return found


def _weights(
    document: GltfDocument, rigged: RiggedFile, animation: int, times: np.ndarray
) -> dict[int, np.ndarray]:
    """The weights (T, K) of the targets of each node; linear from key to key."""
    json = document.json
    found = {}
    for node in {part.node for part in rigged.parts}:
        mesh = json["meshes"][json["nodes"][node]["mesh"]]
        count = len(mesh["primitives"][0].get("targets", ()))
        still = json["nodes"][node].get("weights") or mesh.get("weights") or [0.0] * count
        found[node] = np.tile(np.asarray(still, dtype=float), (len(times), 1))
    entry = json["animations"][animation]
    for channel in entry["channels"]:
        if channel["target"]["path"] == "weights" and channel["target"].get("node") in found:
            sampler = entry["samplers"][channel["sampler"]]
            keys = document.array(sampler["input"])
            values = document.array(sampler["output"]).reshape(len(keys), -1)
            at = [np.interp(times, keys, each) for each in values.T]
            found[channel["target"]["node"]] = np.stack(at, axis=1)
    return found
