"""Characters from glTF files: nodes as joints, skins, and animations."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pygltflib as gl
from scipy.spatial.transform import Rotation

from supple.character.character import Character
from supple.character.clip import Between, Channel, Clip, Track
from supple.character.gltf_arrays import GltfArrays
from supple.character.gltf_morphs import GltfMorphs
from supple.character.gltf_source import GltfSource
from supple.character.rig import Rig, RigPose
from supple.character.skin import Skin
from supple.checks import number
from supple.errors import InputError, MeshError
from supple.mesh.files import existing, guarded
from supple.types import Floats, Ints

_SHEARED = 1e-4  # of the largest entry: what a matrix may have beside scale, turn and shift
_SCENE = "scene"
_TURNS = {"z": (np.pi / 2, 0.0, 0.0), "y": (0.0, 0.0, 0.0)}  # glTF is y up


def read_character(
    path: str | os.PathLike[str], *, scale: float = 1.0, up: Literal["z", "y"] = "z"
) -> Character:
    """Read a rigged character from a .glb or .gltf file.

    Its nodes become joints, below one more that turns the character so that ``up`` points up and
    multiplies lengths by ``scale``. Meshes with a skin follow their joints, others the node that
    they are in; morph targets come along. Textures and normals are passed over.
    """
    return read_rigged(path, scale=scale, up=up).character


@dataclass(frozen=True, eq=False)
class Part:
    """Vertices of the skin from ``first`` on, so many, and the primitive that they are in."""

    name: str
    """Of the node."""
    node: int
    primitive: int
    first: int
    count: int
    skinned: bool
    material: str = ""
    """Its name, where it has one."""


@dataclass(frozen=True, eq=False)
class RiggedFile:
    """A character, and where its parts are in the file that it was read from."""

    character: Character
    parts: tuple[Part, ...]
    animations: dict[str, int]
    """The number in the file of each clip."""


def read_rigged(
    path: str | os.PathLike[str], *, scale: float = 1.0, up: Literal["z", "y"] = "z"
) -> RiggedFile:
    """The same as ``read_character``, with the places in the file."""
    file = existing(path)
    if file.suffix.lower() not in (".glb", ".gltf"):
        raise MeshError(
            f"{file}: characters are read from .glb and .gltf files; export it as one, as Blender "
            "can after importing .fbx, .dae, .usd and others"
        )
    if up not in _TURNS:
        raise InputError(f"up={up!r} must be 'z' or 'y'")
    factor = number("scale", scale, above=0)
    with guarded(file):
        found = _Reader(GltfSource(file))
        character = found.character(factor, _TURNS[up])
        return RiggedFile(character, tuple(found.parts), found.animations)


@dataclass(eq=False)
class _Piece:
    """Triangles of one primitive, and what they follow."""

    vertices: Floats
    triangles: Ints
    bones: Ints
    weights: Floats


class _Reader:
    def __init__(self, source: GltfSource) -> None:
        document: Any = source.document()
        self._file, self._document = source.file, document
        self._arrays = GltfArrays(source, document)
        self._order = self._parents_first()
        self._morphs = GltfMorphs(source, document, self._arrays, self._order)
        self._joint = {node: 1 + k for k, node in enumerate(self._order)}
        self.parts: list[Part] = []
        self.animations: dict[str, int] = {}

    def character(self, scale: float, turn: tuple[float, float, float]) -> Character:
        skins = self._document.skins
        meshes = [node for node in self._order if self._document.nodes[node].mesh is not None]
        if not skins or not any(self._document.nodes[node].skin is not None for node in meshes):
            held = ", ".join(self._name(node) for node in meshes) or "no mesh at all"
            raise MeshError(
                f"{self._file} has no skin, and so no character; it holds {held}. read_surface "
                "reads meshes without one"
            )
        skin = replace(self._skin(meshes), targets=self._morphs.targets())
        return Character(self._rig(scale, turn), skin, self._clips())

    # -- joints ------------------------------------------------------------------------

    def _parents_first(self) -> list[int]:
        nodes = self._document.nodes
        below = {child for node in nodes for child in node.children or ()}
        order = [index for index in range(len(nodes)) if index not in below]
        for index in order:
            order += nodes[index].children or ()
            if len(order) > len(nodes):
                break
        if sorted(order) != list(range(len(nodes))):
            raise MeshError(f"{self._file}: its nodes hang on each other in a circle")
        return order

    def _rig(self, scale: float, turn: tuple[float, float, float]) -> Rig:
        nodes = self._document.nodes
        parents = np.zeros(1 + len(nodes), dtype=np.int64)
        parents[0] = -1
        for node in self._order:
            for child in nodes[node].children or ():
                parents[self._joint[child]] = self._joint[node]
        placed = np.zeros(3), Rotation.from_rotvec(turn).as_quat(), np.full(3, scale)
        local = [placed, *(self._local(nodes[node]) for node in self._order)]
        names = (_SCENE, *(self._name(node) for node in self._order))
        x, q, s = (np.array(each, dtype=float) for each in zip(*local, strict=True))
        return Rig(names, parents, RigPose(x, q, s, self._morphs.weights))

    def _name(self, node: int) -> str:
        return self._document.nodes[node].name or f"node {node}"

    def _local(self, node: Any) -> tuple[Floats, Floats, Floats]:
        if node.matrix is None:
            q = np.array(node.rotation or (0.0, 0.0, 0.0, 1.0), dtype=float)
            return (
                np.array(node.translation or (0.0, 0.0, 0.0), dtype=float),
                q / np.linalg.norm(q),
                np.array(node.scale or (1.0, 1.0, 1.0), dtype=float),
            )
        matrix = np.array(node.matrix, dtype=float).reshape(4, 4).T
        A = matrix[:3, :3]
        scale = np.linalg.norm(A, axis=0)
        if np.linalg.det(A) < 0:
            scale[0] = -scale[0]
        turn = Rotation.from_matrix(A / scale)
        if np.abs(turn.as_matrix() * scale - A).max() > _SHEARED * np.abs(A).max():
            raise MeshError(f"{self._file}: the matrix of {node.name or 'a node'} shears")
        return matrix[:3, 3], turn.as_quat(), scale

    # -- skins -------------------------------------------------------------------------

    def _skin(self, meshes: list[int]) -> Skin:
        joints: list[int] = []
        binds: list[Floats] = []
        pieces: list[_Piece] = []
        for node in meshes:
            found = self._document.nodes[node]
            first = len(joints)
            if found.skin is None:
                joints.append(self._joint[node])
                binds.append(np.eye(4)[None])
            else:
                skin = self._document.skins[found.skin]
                joints += [self._joint[joint] for joint in skin.joints]
                given = skin.inverseBindMatrices
                count = len(skin.joints)
                binds.append(
                    np.tile(np.eye(4), (count, 1, 1)) if given is None else self._arrays(given)
                )
            skinned = found.skin is not None
            for k, primitive in enumerate(self._document.meshes[found.mesh].primitives):
                piece = self._piece(primitive, first, skinned=skinned)
                start = sum(part.count for part in self.parts)
                count, paint = len(piece.vertices), self._material(primitive)
                self.parts.append(Part(self._name(node), node, k, start, count, skinned, paint))
                pieces.append(piece)
        if not any(len(piece.triangles) for piece in pieces):
            raise MeshError(f"{self._file} has no triangles; lines and points have no skin")
        widest = max(piece.bones.shape[1] for piece in pieces)
        starts = [part.first for part in self.parts]
        return Skin(
            np.concatenate([piece.vertices for piece in pieces]),
            np.concatenate([p.triangles + s for p, s in zip(pieces, starts, strict=True)]),
            np.array(joints),
            np.concatenate(binds),
            np.concatenate([_widened(piece.bones, widest) for piece in pieces]),
            np.concatenate([_widened(piece.weights, widest) for piece in pieces]),
        )

    def _material(self, primitive: Any) -> str:
        paint = primitive.material
        return "" if paint is None else self._document.materials[paint].name or ""

    def _piece(self, primitive: Any, first: int, *, skinned: bool) -> _Piece:
        if primitive.extensions and "KHR_draco_mesh_compression" in primitive.extensions:
            raise MeshError(f"{self._file} is packed by Draco; export it without compression")
        attributes = primitive.attributes
        vertices = self._arrays(attributes.POSITION)
        n = len(vertices)
        corners = np.arange(n) if primitive.indices is None else self._arrays(primitive.indices)
        triangles = _triangles(gl.TRIANGLES if primitive.mode is None else primitive.mode, corners)
        bones, weights = np.full((n, 1), first), np.ones((n, 1))
        if skinned:
            if attributes.JOINTS_0 is None or attributes.WEIGHTS_0 is None:
                raise MeshError(f"{self._file}: a mesh with a skin has no weights")
            sets = [(attributes.JOINTS_0, attributes.WEIGHTS_0)]
            for k in range(1, 8):
                more = [getattr(attributes, f"{name}_{k}", None) for name in ("JOINTS", "WEIGHTS")]
                if None not in more:
                    sets.append((more[0], more[1]))
            bones = first + np.hstack([self._arrays(joints) for joints, _ in sets])
            weights = np.hstack([self._arrays(given) for _, given in sets])
            weights[~weights.any(axis=1), 0] = 1.0  # without a joint: players take the first
        return _Piece(vertices, triangles, bones, weights)

    # -- clips -------------------------------------------------------------------------

    def _clips(self) -> dict[str, Clip]:
        clips: dict[str, Clip] = {}
        for number_, animation in enumerate(self._document.animations or ()):
            name = animation.name or f"clip {number_}"
            name = name if name not in clips else f"{name} {number_}"
            tracks = []
            for channel in animation.channels:
                target, sampler = channel.target, animation.samplers[channel.sampler]
                if target.node is None or target.path not in {each.value for each in Channel}:
                    continue
                between = Between(sampler.interpolation or "LINEAR")
                times, values = self._arrays(sampler.input), self._arrays(sampler.output)
                inner = (3,) if between is Between.CUBICSPLINE else ()
                values = values.reshape(len(times), *inner, -1)
                what = Channel(target.path)
                weighs = what is Channel.WEIGHTS
                of = self._morphs.first(target.node) if weighs else self._joint[target.node]
                tracks.append(Track(of, what, times, values, between))
            if tracks:
                clips[name], self.animations[name] = Clip(name, tracks), number_
        return clips


def _triangles(mode: int, corners: Ints) -> Ints:
    if mode == gl.TRIANGLES:
        return corners.reshape(-1, 3)
    k = np.arange(len(corners) - 2)
    if mode == gl.TRIANGLE_STRIP:  # every other one is turned round
        odd = k % 2
        return np.stack([corners[k], corners[k + 1 + odd], corners[k + 2 - odd]], axis=1)
    if mode == gl.TRIANGLE_FAN:
        return np.stack([np.full(len(k), corners[0]), corners[k + 1], corners[k + 2]], axis=1)
    return np.zeros((0, 3), dtype=np.int64)  # points and lines


def _widened(array: Any, columns: int) -> Any:
    return np.pad(array, ((0, 0), (0, columns - array.shape[1])))
