"""Characters from glTF files: nodes as joints, skins, morph targets, and animations."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pygltflib as gl

from supple.character.skeleton.character import Character
from supple.character.skeleton.clip import Channel, Clip, Interpolation, Track
from supple.character.skeleton.skin import Skin
from supple.core.checks import number
from supple.core.errors import InputError, MeshError
from supple.core.types import Floats, Ints
from supple.io.gltf.nodes import GltfNodes
from supple.io.gltf.source import GltfSource
from supple.mesh.files.common import existing, guarded

_CHANNELS = {each.value for each in Channel}
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
    """A character, and where its parts are in the file that it was read from, ``source``.

    It goes along from reading to writing, so that no file is read twice.
    """

    character: Character
    parts: tuple[Part, ...]
    animations: dict[str, int]
    """The number in the file of each clip."""
    source: GltfSource

    def scaled(self, factor: float) -> RiggedFile:
        """The same with all lengths multiplied; the first joint carries all others."""
        rig = self.character.rig
        scales = rig.rest.scales.copy()
        scales[0] *= number("factor", factor, above=0)
        rig = replace(rig, rest=replace(rig.rest, scales=scales))
        return replace(self, character=replace(self.character, rig=rig))


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
    source = GltfSource(file)
    with guarded(file):
        found = _Reader(source)
        character = found.character(factor, _TURNS[up])
        return RiggedFile(character, tuple(found.parts), found.animations, source)


@dataclass(eq=False)
class _Piece:
    """Triangles of one primitive, and what they follow."""

    vertices: Floats
    triangles: Ints
    bones: Ints
    weights: Floats


class _Morphs:
    """The morph targets of all nodes that hold a mesh, one after the other."""

    def __init__(self, source: GltfSource, order: list[int]) -> None:
        document: Any = source.document
        self._document, self._array = document, source.array
        self.first: dict[int, int] = {}
        """The number of the first target of a node."""
        weights: list[float] = []
        of_nodes = source.json.get("nodes", ())  # pygltflib passes over the weights of nodes
        self._nodes = [node for node in order if document.nodes[node].mesh is not None]
        for node in self._nodes:
            mesh = document.meshes[document.nodes[node].mesh]
            count = max(len(primitive.targets or ()) for primitive in mesh.primitives)
            given = list(of_nodes[node].get("weights") or mesh.weights or ())
            self.first[node] = len(weights)
            weights += (given + [0.0] * count)[:count]
        self.weights = np.array(weights)
        """At rest, (t,)."""

    def targets(self) -> Floats:
        """Displacements (t, n, 3) of the vertices of all primitives, in order."""
        pieces = []
        for node in self._nodes:
            for primitive in self._document.meshes[self._document.nodes[node].mesh].primitives:
                n = self._document.accessors[primitive.attributes.POSITION].count
                moved = np.zeros((len(self.weights), n, 3))
                for k, target in enumerate(primitive.targets or ()):
                    given = target if isinstance(target, dict) else vars(target)
                    if given.get("POSITION") is not None:
                        moved[self.first[node] + k] = self._array(given["POSITION"])
                pieces.append(moved)
        return np.concatenate(pieces, axis=1)


class _Reader:
    def __init__(self, source: GltfSource) -> None:
        document: Any = source.document
        self._file, self._document = source.file, document
        self._array = source.array
        self._nodes = GltfNodes(source.file, document)
        self._morphs = _Morphs(source, self._nodes.order)
        self.parts: list[Part] = []
        self.animations: dict[str, int] = {}

    def character(self, scale: float, turn: tuple[float, float, float]) -> Character:
        skins = self._document.skins
        nodes = self._document.nodes
        meshes = [node for node in self._nodes.order if nodes[node].mesh is not None]
        if not skins or not any(nodes[node].skin is not None for node in meshes):
            held = ", ".join(self._nodes.name(node) for node in meshes) or "no mesh at all"
            raise MeshError(
                f"{self._file} has no skin, and so no character; it holds {held}. read_surface "
                "reads meshes without one"
            )
        skin = replace(self._skin(meshes), targets=self._morphs.targets())
        return Character(self._nodes.rig(scale, turn, self._morphs.weights), skin, self._clips())

    # -- skins -------------------------------------------------------------------------

    def _skin(self, meshes: list[int]) -> Skin:
        joints: list[int] = []
        binds: list[Floats] = []
        pieces: list[_Piece] = []
        for node in meshes:
            found = self._document.nodes[node]
            first = len(joints)
            if found.skin is None:
                carrier, matrix = self._nodes.carrier(node)
                joints.append(carrier)
                binds.append(matrix[None])
            else:
                skin = self._document.skins[found.skin]
                joints += [self._nodes.joint[joint] for joint in skin.joints]
                given = skin.inverseBindMatrices
                count = len(skin.joints)
                binds.append(
                    np.tile(np.eye(4), (count, 1, 1)) if given is None else self._array(given)
                )
            skinned = found.skin is not None
            mesh = self._document.meshes[found.mesh]
            where = f"{self._file}: the mesh {mesh.name or found.mesh!r}"
            for k, primitive in enumerate(mesh.primitives):
                piece = self._piece(primitive, where, len(joints) - first, skinned=skinned)
                piece.bones += first
                start = sum(part.count for part in self.parts)
                count, paint = len(piece.vertices), self._material(primitive)
                self.parts.append(
                    Part(self._nodes.name(node), node, k, start, count, skinned, paint)
                )
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

    def _piece(self, primitive: Any, where: str, bones: int, *, skinned: bool) -> _Piece:
        if primitive.extensions and "KHR_draco_mesh_compression" in primitive.extensions:
            raise MeshError(f"{self._file} is packed by Draco; export it without compression")
        attributes = primitive.attributes
        vertices = self._array(attributes.POSITION)
        n = len(vertices)
        finite = np.isfinite(vertices).all(axis=1)
        if not finite.all():
            lost = int(np.argmin(finite))
            raise MeshError(
                f"{where} has vertex {lost} at {vertices[lost].tolist()}; every coordinate must be "
                "finite: mend it and export anew"
            )
        corners = np.arange(n) if primitive.indices is None else self._array(primitive.indices)
        _within(f"{where} has a triangle with vertex", corners, n)
        triangles = _triangles(gl.TRIANGLES if primitive.mode is None else primitive.mode, corners)
        if not skinned:
            return _Piece(vertices, triangles, np.zeros((n, 1), dtype=np.int64), np.ones((n, 1)))
        if attributes.JOINTS_0 is None or attributes.WEIGHTS_0 is None:
            raise MeshError(f"{where} has a skin but no weights; export it with both")
        sets = [(attributes.JOINTS_0, attributes.WEIGHTS_0)]
        for k in range(1, 8):
            more = [getattr(attributes, f"{name}_{k}", None) for name in ("JOINTS", "WEIGHTS")]
            if None not in more:
                sets.append((more[0], more[1]))
        joints = np.hstack([self._array(given) for given, _ in sets])
        weights = np.hstack([self._array(given) for _, given in sets])
        _within(f"{where} follows joint", joints, bones)
        weights[~weights.any(axis=1), 0] = 1.0  # without a joint: players take the first
        return _Piece(vertices, triangles, joints, weights)

    # -- clips -------------------------------------------------------------------------

    def _clips(self) -> dict[str, Clip]:
        moving = {}
        for index, animation in enumerate(self._document.animations or ()):
            told = f"{self._file}: the clip {animation.name or index!r}"
            tracks = [
                self._track(told, channel.target, animation.samplers[channel.sampler])
                for channel in animation.channels
                if channel.target.node is not None and channel.target.path in _CHANNELS
            ]
            if tracks:
                moving[index] = animation.name, tracks
        names = _distinct({index: name for index, (name, _) in moving.items()})
        self.animations = {name: index for index, name in names.items()}
        return {names[index]: Clip(names[index], tracks) for index, (_, tracks) in moving.items()}

    def _track(self, told: str, target: Any, sampler: Any) -> Track:
        what = Channel(target.path)
        weighs = what is Channel.WEIGHTS
        of = self._morphs.first[target.node] if weighs else self._nodes.joint[target.node]
        times, values = self._array(sampler.input), self._array(sampler.output)
        try:
            between = Interpolation(sampler.interpolation or "LINEAR")
            inner = (3,) if between is Interpolation.CUBICSPLINE else ()
            return Track(of, what, times, values.reshape(len(times), *inner, -1), between)
        except ValueError as error:
            which = f"{target.path} of {self._nodes.name(target.node)!r}"
            raise MeshError(f"{told} has a faulty {which}: {error}; mend its keys") from error


def _distinct(given: Mapping[int, str | None]) -> dict[int, str]:
    """A name for each number, no two alike: the first of a name has it, others get a number."""
    names: dict[int, str] = {}
    for index, name in given.items():
        base = name or f"clip {index}"
        wanted = itertools.chain([base], (f"{base} {k}" for k in itertools.count(index)))
        theirs = {other for other in given.values() if other != name}
        used = theirs | set(names.values())
        names[index] = next(each for each in wanted if each not in used)
    return names


def _within(what: str, numbers: Ints, count: int) -> None:
    """Stops where a number is not one of so many."""
    if numbers.size and numbers.max() >= count:
        raise MeshError(
            f"{what} {numbers.max()}, but there are only {count}, counted from 0; is the file "
            "damaged? Export it anew"
        )


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
