"""Nodes of glTF files as joints of a rig."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from supple.character.skeleton.rig import Rig, RigPose, quaternion_matrices
from supple.core.errors import MeshError
from supple.core.types import Floats

_SHEARED = 1e-4  # of the largest entry: what a matrix may have beside scale, turn and shift
_SCENE = "scene"


class GltfNodes:
    """All nodes, parents first; each is a joint, below one more that holds the scene.

    A joint has a shift, a turn and a scale. Nodes that have another matrix are refused where a skin
    hangs on them. What else hangs on them is carried by the joint above, see ``carrier``.
    """

    def __init__(self, file: Path, document: Any) -> None:
        self._file, self._nodes = file, document.nodes
        self.order = self._parents_first()
        self.joint = {node: 1 + k for k, node in enumerate(self.order)}
        self._above = {
            child: node for node in self.order for child in self._nodes[node].children or ()
        }
        bones = {
            joint
            for node in self._nodes
            if node.mesh is not None and node.skin is not None
            for joint in document.skins[node.skin].joints
        }
        needed = {above for bone in bones for above in self._upwards(bone)}
        self._local: dict[int, tuple[Floats, Floats, Floats]] = {}
        self._odd: set[int] = set()
        for node in self.order:
            try:
                self._local[node] = _placement(self._nodes[node])
            except _NoPlacement as why:
                if node in needed:
                    raise MeshError(
                        f"{file}: the node {self.name(node)!r} cannot carry a skin: {why}; give it "
                        "a shift, a turn and a scale, e.g. by applying its transform, and export"
                    ) from None
                self._local[node] = _AT_REST
                self._odd.add(node)

    def name(self, node: int) -> str:
        """The name of a node, or its number."""
        return self._nodes[node].name or f"node {node}"

    def rig(self, scale: float, turn: tuple[float, float, float], weights: Floats) -> Rig:
        """The joints, scaled and turned by a vector [rad], with weights (t,) of morph targets."""
        parents = np.zeros(1 + len(self.order), dtype=np.int64)
        parents[0] = -1
        for child, node in self._above.items():
            parents[self.joint[child]] = self.joint[node]
        placed = np.zeros(3), Rotation.from_rotvec(turn).as_quat(), np.full(3, scale)
        local = [placed, *(self._local[node] for node in self.order)]
        names = (_SCENE, *(self.name(node) for node in self.order))
        x, q, s = (np.array(each, dtype=float) for each in zip(*local, strict=True))
        return Rig(names, parents, RigPose(x, q, s, weights))

    def carrier(self, node: int) -> tuple[int, Floats]:
        """The joint that carries the mesh of a node without a skin, and the matrix (4, 4) to it.

        Mostly this is its own joint. Below a matrix that no joint can have it is the one above
        that, and the mesh stays in it as it is at rest.
        """
        path = self._upwards(node)
        odd = [k for k, above in enumerate(path) if above in self._odd]
        matrix = np.eye(4)
        if not odd:
            return self.joint[node], matrix
        for below in path[: odd[-1] + 1]:
            matrix = self._matrix(below) @ matrix
        return self.joint.get(self._above.get(path[odd[-1]], -1), 0), matrix

    def _matrix(self, node: int) -> Floats:
        """The matrix (4, 4) of a node in the one above."""
        given = self._nodes[node].matrix
        if given is not None:
            return _by_rows(given)
        x, q, s = self._local[node]
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = quaternion_matrices(q) * s, x
        return matrix

    def _parents_first(self) -> list[int]:
        nodes = self._nodes
        below = {child for node in nodes for child in node.children or ()}
        order = [index for index in range(len(nodes)) if index not in below]
        for index in order:
            order += nodes[index].children or ()
            if len(order) > len(nodes):
                break
        if sorted(order) != list(range(len(nodes))):
            raise MeshError(f"{self._file}: its nodes hang on each other in a circle")
        return order

    def _upwards(self, node: int) -> list[int]:
        path = [node]
        while path[-1] in self._above:
            path.append(self._above[path[-1]])
        return path


class _NoPlacement(Exception):
    """Why a node has no shift, turn and scale."""


_AT_REST = np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), np.ones(3)


def _placement(node: Any) -> tuple[Floats, Floats, Floats]:
    """Shift (3,), turn (4,) as a quaternion and scale (3,) of a node in the one above."""
    if node.matrix is None:
        x, q, s = (
            still if given is None else np.array(given, dtype=float)
            for given, still in zip(
                (node.translation, node.rotation, node.scale), _AT_REST, strict=True
            )
        )
        if not all(np.isfinite(each).all() for each in (x, q, s)):
            raise _NoPlacement("its numbers are not finite")
        if not q.any():
            raise _NoPlacement("its rotation is a quaternion of length 0")
        return x, q / np.linalg.norm(q), s
    matrix = _by_rows(node.matrix)
    A = matrix[:3, :3]
    if not np.isfinite(matrix).all():
        raise _NoPlacement("its matrix is not finite")
    scale = np.linalg.norm(A, axis=0)
    if not scale.any():  # hidden: any turn will do
        return matrix[:3, 3], _AT_REST[1], scale
    if not scale.all():
        raise _NoPlacement("its matrix flattens what is in it")
    if np.linalg.det(A) < 0:
        scale[0] = -scale[0]
    turn = Rotation.from_matrix(A / scale)
    if np.abs(turn.as_matrix() * scale - A).max() > _SHEARED * np.abs(A).max():
        raise _NoPlacement("its matrix shears")
    return matrix[:3, 3], turn.as_quat(), scale


def _by_rows(matrix: list[float]) -> Floats:
    return np.array(matrix, dtype=float).reshape(4, 4).T
