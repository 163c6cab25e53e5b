"""Small rigged files with known answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pygltflib as gl

KINDS = {"f4": gl.FLOAT, "u1": gl.UNSIGNED_BYTE, "u2": gl.UNSIGNED_SHORT, "i2": gl.SHORT}
SHAPES = {(): gl.SCALAR, (3,): gl.VEC3, (4,): gl.VEC4, (4, 4): gl.MAT4}
HALF = float(np.sqrt(0.5))
BAR = np.array([(x, y, z) for x in (0.0, 0.5, 1.0, 1.5, 2.0) for y, z in ((0, 0), (1, 0), (0, 1))])
"""Five triangles of vertices along x, (15, 3)."""
SIDES = np.array([(3 * k, 3 * k + 1, 3 * k + 3) for k in range(4)] + [(12, 13, 14), (0, 2, 1)])
FIRST = np.repeat([1.0, 1.0, 0.5, 0.0, 0.0], 3)
"""How far each vertex follows the first of the two bones."""
SHEAR = [1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
FLAT = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
"""Matrices by columns that no joint can have."""


class GltfBuilder:
    """A document whose arrays are in one buffer."""

    def __init__(self) -> None:
        self.document = gl.GLTF2(scene=0, scenes=[gl.Scene(nodes=[0])])
        self._data = bytearray()

    def add(self, values: Any, kind: str = "f4", *, normalized: bool = False) -> int:
        array = np.asarray(values)
        shape = array.shape[1:]
        if shape == (4, 4):
            array = array.swapaxes(1, 2)
        data = array.astype("<" + kind).tobytes()
        self._data += bytes(-len(self._data) % 4)
        self.document.bufferViews.append(
            gl.BufferView(buffer=0, byteOffset=len(self._data), byteLength=len(data))
        )
        self._data += data
        self.document.accessors.append(
            gl.Accessor(
                bufferView=len(self.document.bufferViews) - 1,
                componentType=KINDS[kind],
                normalized=normalized,
                count=len(array),
                type=SHAPES[shape],
            )
        )
        return len(self.document.accessors) - 1

    def track(self, node: int, path: str, times: Any, values: Any, between: str = "LINEAR") -> None:
        """Add a channel to the last clip."""
        clip = self.document.animations[-1]
        keys = {"input": self.add(times), "output": self.add(values)}
        clip.samplers.append(gl.AnimationSampler(interpolation=between, **keys))
        target = gl.AnimationChannelTarget(node=node, path=path)
        clip.channels.append(gl.AnimationChannel(sampler=len(clip.samplers) - 1, target=target))

    def clip(self, name: str) -> None:
        self.document.animations.append(gl.Animation(name=name, samplers=[], channels=[]))

    def write(self, path: Path) -> Path:
        self.document.buffers = [gl.Buffer(byteLength=len(self._data))]
        if path.suffix == ".glb":
            self.document.set_binary_blob(bytes(self._data))
        else:
            (path.parent / "bar.bin").write_bytes(bytes(self._data))
            self.document.buffers[0].uri = "bar.bin"
        self.document.save(str(path))
        return path


def bar(
    *, joints: str = "u1", weights: str = "f4", scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
) -> GltfBuilder:
    """A bar along x on two bones, from 0 and from (1, 0, 0); node 0 holds it, 1 and 2 are joints.

    The second joint comes before its parent in the file.
    """
    made = GltfBuilder()
    share = np.zeros((15, 4))
    share[:, 0], share[:, 1] = FIRST, 1 - FIRST
    if weights != "f4":
        share = np.round({"u1": 255, "u2": 65535}[weights] * share)
    primitive = gl.Primitive(
        attributes=gl.Attributes(
            POSITION=made.add(BAR),
            JOINTS_0=made.add(np.tile([0, 1, 0, 0], (15, 1)), joints),
            WEIGHTS_0=made.add(share, weights, normalized=weights != "f4"),
        ),
        indices=made.add(SIDES.ravel(), "u2"),
    )
    binds = np.tile(np.eye(4), (2, 1, 1))
    binds[1, 0, 3] = -1.0
    made.document.meshes = [gl.Mesh(name="bar", primitives=[primitive])]
    made.document.skins = [gl.Skin(joints=[2, 1], inverseBindMatrices=made.add(binds))]
    made.document.nodes = [
        gl.Node(name="holder", mesh=0, skin=0, children=[2]),
        gl.Node(name="outer", translation=[1.0, 0.0, 0.0]),
        gl.Node(name="inner", children=[1], scale=list(scale)),
    ]
    return made


def morphed(made: GltfBuilder, *, cubic: bool = False) -> GltfBuilder:
    """Two morph targets: along x, at 0.5 by default, and along z; a clip swells the second."""
    x, z = np.zeros((2, 15, 3))
    x[:, 0], z[:, 2] = 0.1 * BAR[:, 0], 0.2 * BAR[:, 2]
    mesh = made.document.meshes[0]
    mesh.primitives[0].targets = [gl.Attributes(POSITION=made.add(each)) for each in (x, z)]
    mesh.weights = [0.5, 0.0]
    made.clip("swell")
    keys = [(0.5, 0.0), (0.5, 1.0)]
    if cubic:
        keys = [row for key in keys for row in ((0.0, 0.0), key, (0.0, 0.0))]
    made.track(0, "weights", (0.0, 1.0), np.ravel(keys), "CUBICSPLINE" if cubic else "LINEAR")
    return made


def turned_quarter(made: GltfBuilder, times: Any = (0.0, 1.0)) -> GltfBuilder:
    """Let the outer bone turn by a quarter about z."""
    made.clip("bend")
    made.track(1, "rotation", times, [(0, 0, 0, 1), (0, 0, HALF, HALF)])
    return made
