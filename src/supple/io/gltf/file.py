"""The parts of a glTF file: arrays in one buffer, and obstacles as nodes of their own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import pygltflib as gl
from numpy.typing import NDArray

from supple.core.files import replacing
from supple.core.types import Floats
from supple.io.obstacle_surfaces import GREY, DrawnObstacle
from supple.io.surfaces import Shading


class GltfFile:
    """Collects arrays as accessors, each in a buffer view of its own."""

    def __init__(self) -> None:
        self._accessors: list[gl.Accessor] = []
        self._views: list[gl.BufferView] = []
        self._data = bytearray()

    def vectors(self, array: Floats, *, drawn: bool = True) -> int:
        target = gl.ARRAY_BUFFER if drawn else None
        return self._add(array.astype("<f4"), gl.FLOAT, gl.VEC3, target, bounded=drawn)

    def pairs(self, array: Floats) -> int:
        return self._add(array.astype("<f4"), gl.FLOAT, gl.VEC2, gl.ARRAY_BUFFER)

    def quaternions(self, array: Floats, *, drawn: bool = False) -> int:
        target = gl.ARRAY_BUFFER if drawn else None
        return self._add(array.astype("<f4"), gl.FLOAT, gl.VEC4, target)

    def bones(self, array: NDArray[np.int64]) -> int:
        return self._add(array.astype("<u2"), gl.UNSIGNED_SHORT, gl.VEC4, gl.ARRAY_BUFFER)

    def matrices(self, array: Floats) -> int:
        return self._add(array.swapaxes(1, 2).astype("<f4"), gl.FLOAT, gl.MAT4, None)

    def scalars(self, array: NDArray[np.floating[Any]], *, bounded: bool = False) -> int:
        return self._add(array.astype("<f4"), gl.FLOAT, gl.SCALAR, None, bounded=bounded)

    def indices(self, triangles: NDArray[np.int64]) -> int:
        # The largest value of a type is kept for restarting strips.
        small = triangles.max() < 65535
        dtype, kind = ("<u2", gl.UNSIGNED_SHORT) if small else ("<u4", gl.UNSIGNED_INT)
        flat = triangles.ravel().astype(dtype)
        return self._add(flat, kind, gl.SCALAR, gl.ELEMENT_ARRAY_BUFFER)

    def _add(
        self, array: NDArray[Any], kind: int, shape: str, target: int | None, bounded: bool = False
    ) -> int:
        self._data += bytes(-len(self._data) % 4)
        data = array.tobytes()
        view = gl.BufferView(
            buffer=0, byteOffset=len(self._data), byteLength=len(data), target=target
        )
        accessor = gl.Accessor(
            bufferView=len(self._views), componentType=kind, count=len(array), type=shape
        )
        if bounded:
            rows = array.reshape(len(array), -1)
            accessor.min, accessor.max = rows.min(axis=0).tolist(), rows.max(axis=0).tolist()
        self._data += data
        self._views.append(view)
        self._accessors.append(accessor)
        return len(self._accessors) - 1

    def write(self, document: gl.GLTF2, path: str | os.PathLike[str]) -> int:
        """Writes a document with the arrays; how many bytes."""
        self._data += bytes(-len(self._data) % 4)
        document.accessors, document.bufferViews = self._accessors, self._views
        document.buffers = [gl.Buffer(byteLength=len(self._data))]
        document.set_binary_blob(bytes(self._data))
        data = b"".join(document.save_to_bytes())
        with replacing(path) as temporary:
            temporary.write_bytes(data)
        return len(data)


def new_document(nodes: list[gl.Node], roots: list[int]) -> gl.GLTF2:
    """A document with a scene of nodes, of which some hang on no other."""
    return gl.GLTF2(
        asset=gl.Asset(version="2.0", generator="Supple"),
        scene=0,
        scenes=[gl.Scene(name="scene", nodes=roots)],
        nodes=nodes,
    )


def add_material(document: gl.GLTF2, name: str, color: Sequence[float]) -> int:
    """The index of the matt material of this name; a new one has this colour, linear, 0…1."""
    names = [material.name for material in document.materials]
    if name in names:
        return names.index(name)
    shine = gl.PbrMetallicRoughness(
        baseColorFactor=[*map(float, color), 1.0], metallicFactor=0.0, roughnessFactor=0.6
    )
    document.materials.append(
        gl.Material(name=name, doubleSided=True, alphaCutoff=None, pbrMetallicRoughness=shine)
    )
    return len(names)


def linear(color: Sequence[float]) -> list[float]:
    """A colour for the screen as materials have it."""
    return [channel**2.2 for channel in color]


def add_rigid(
    document: gl.GLTF2,
    file: GltfFile,
    obstacle: DrawnObstacle,
    crease: float,
    times: int,
    material: int,
) -> None:
    """Adds what keeps its shape below the first node; ``times`` is the accessor of the frames."""
    shading = Shading.cut(obstacle.vertices, obstacle.triangles, crease)
    primitive = gl.Primitive(
        attributes=gl.Attributes(
            POSITION=file.vectors(obstacle.vertices[shading.source]),
            NORMAL=file.vectors(shading.normals(obstacle.vertices)),
        ),
        indices=file.indices(shading.triangles),
        material=material,
    )
    index = add_mesh(document, obstacle.name, primitive)
    if obstacle.rotations is None or obstacle.translations is None:
        return
    turns, node = _quaternions(obstacle.rotations), document.nodes[index]
    node.rotation, node.translation = turns[0].tolist(), obstacle.translations[0].tolist()
    add_channel(document, index, "rotation", times, file.quaternions(turns))
    shifts = file.vectors(obstacle.translations, drawn=False)
    add_channel(document, index, "translation", times, shifts)


def obstacle_material(document: gl.GLTF2) -> int:
    """The index of the material of all obstacles."""
    return add_material(document, "obstacle", linear(GREY))


def add_mesh(document: gl.GLTF2, name: str, primitive: gl.Primitive) -> int:
    """Adds a mesh in a child of the first node; the index of that."""
    node = len(document.nodes)
    document.nodes.append(gl.Node(name=name, mesh=len(document.meshes)))
    document.meshes.append(gl.Mesh(name=name, primitives=[primitive]))
    document.nodes[0].children.append(node)
    return node


def add_channel(document: gl.GLTF2, node: int, path: str, times: int, output: int) -> None:
    """Adds that ``path`` of a node goes through an accessor's values at those of ``times``."""
    if not document.animations:
        document.animations = [gl.Animation(name="motion", samplers=[], channels=[])]
    add_track(document.animations[0], node, path, times, output)


def add_track(clip: gl.Animation, node: int, path: str, times: int, output: int) -> None:
    """The same in a clip."""
    target = gl.AnimationChannelTarget(node=node, path=path)
    clip.channels.append(gl.AnimationChannel(sampler=len(clip.samplers), target=target))
    clip.samplers.append(
        gl.AnimationSampler(input=times, output=output, interpolation=gl.ANIM_LINEAR)
    )


def _quaternions(rotations: Floats) -> Floats:
    """Quaternions (T, 4), x, y, z, w, each on the side of the one before."""
    from scipy.spatial.transform import Rotation  # slow to import

    turns: Floats = Rotation.from_matrix(rotations).as_quat()
    flips = np.where(np.einsum("ti,ti->t", turns[1:], turns[:-1]) < 0, -1.0, 1.0)
    turns[1:] *= np.cumprod(flips)[:, None]
    return turns
