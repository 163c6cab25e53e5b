"""Morph targets of glTF files."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.core.types import Floats
from supple.io.gltf.arrays import GltfArrays
from supple.io.gltf.source import GltfSource


class GltfMorphs:
    """The morph targets of all nodes that hold a mesh, one after the other."""

    def __init__(self, source: GltfSource, arrays: GltfArrays, order: list[int]) -> None:
        document: Any = source.document
        self._document, self._arrays = document, arrays
        self._first: dict[int, int] = {}
        weights: list[float] = []
        of_nodes = source.json.get("nodes", ())  # pygltflib passes over the weights of nodes
        self._nodes = [node for node in order if document.nodes[node].mesh is not None]
        for node in self._nodes:
            mesh = document.meshes[document.nodes[node].mesh]
            count = max(len(primitive.targets or ()) for primitive in mesh.primitives)
            given = list(of_nodes[node].get("weights") or mesh.weights or ())
            self._first[node] = len(weights)
            weights += (given + [0.0] * count)[:count]
        self.weights = np.array(weights)
        """At rest, (t,)."""

    def first(self, node: int) -> int:
        """The number of the first target of a node."""
        return self._first[node]

    def targets(self) -> Floats:
        """Displacements (t, n, 3) of the vertices of all primitives, in order."""
        pieces = []
        for node in self._nodes:
            for primitive in self._document.meshes[self._document.nodes[node].mesh].primitives:
                n = self._document.accessors[primitive.attributes.POSITION].count
                moved = np.zeros((len(self.weights), n, 3))
                for k, target in enumerate(primitive.targets or ()):
                    position = _position(target)
                    if position is not None:
                        moved[self._first[node] + k] = self._arrays(position)
                pieces.append(moved)
        return np.concatenate(pieces, axis=1)


def _position(target: Any) -> int | None:
    """The accessor of the displacements, if a target has any."""
    found = target.get("POSITION") if isinstance(target, dict) else target.POSITION
    return None if found is None else int(found)
