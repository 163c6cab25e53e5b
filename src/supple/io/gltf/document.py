"""glTF documents that are changed in places: what is not touched stays as it was, to the byte."""

from __future__ import annotations

import copy
import json
import os
import struct
from typing import Any

import pygltflib as gl
from numpy.typing import NDArray

from supple.core.errors import MeshError
from supple.core.types import Floats
from supple.io.gltf.source import BIN, JSON, MAGIC, VERSION, GltfSource
from supple.mesh.files.common import guarded

_IMAGES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp"}
_PACKED = ("EXT_meshopt_compression", "KHR_meshopt_compression", "KHR_draco_mesh_compression")


class GltfDocument:
    """The JSON of a file as it is, and one buffer that grows at its end.

    Buffers and images beside a .gltf file are brought in, so that the result is one file.
    """

    def __init__(self, given: GltfSource | str | os.PathLike[str]) -> None:
        self._source = given if isinstance(given, GltfSource) else GltfSource(given)
        file = self._source.file
        with guarded(file):
            self.json = copy.deepcopy(self._source.json)
            self._data = bytearray(self._source.binary)
            for name in _PACKED:
                if name in self.json.get("extensionsUsed", ()):
                    raise MeshError(
                        f"{file} is packed by {name}; export it without compression, or unpack it "
                        "first: npx @gltf-transform/cli copy packed.glb plain.glb"
                    )
            self._bring_in()

    def array(self, accessor: int) -> NDArray[Any]:
        """The array of an accessor that the file came with."""
        return self._source.array(accessor)

    def add_vectors(self, array: Floats) -> int:
        """Adds an accessor with vertex data (n, 3); of zeros alone it needs no room."""
        if array.any():
            return self._add(array, gl.VEC3, target=gl.ARRAY_BUFFER, bounded=True)
        zeros = {"componentType": gl.FLOAT, "count": len(array), "type": gl.VEC3}
        return self._accessor({**zeros, "min": [0.0] * 3, "max": [0.0] * 3})

    def add_scalars(self, array: Floats, *, bounded: bool = False) -> int:
        """Adds an accessor with numbers (n,) of an animation."""
        return self._add(array, gl.SCALAR, target=None, bounded=bounded)

    def packed(self) -> bytes:
        """The document as a .glb file."""
        data = bytes(self._data) + bytes(-len(self._data) % 4)
        if self.json.get("buffers"):
            self.json["buffers"][0]["byteLength"] = len(data)
        text = json.dumps(self.json, separators=(",", ":"), ensure_ascii=False).encode()
        chunks = [(JSON, text + b" " * (-len(text) % 4))]
        chunks += [(BIN, data)] if data else []
        body = b"".join(
            struct.pack("<I4s", len(content), kind) + content
            for kind, content in [*chunks, *self._source.others]
        )
        return struct.pack("<4sII", MAGIC, VERSION, 12 + len(body)) + body

    def _add(self, array: Floats, shape: str, *, target: int | None, bounded: bool) -> int:
        single = array.astype("<f4")
        accessor: dict[str, Any] = {
            "bufferView": self._view(single.tobytes(), target),
            "componentType": gl.FLOAT,
            "count": len(single),
            "type": shape,
        }
        if bounded:
            rows = single.reshape(len(single), -1)
            accessor["min"], accessor["max"] = rows.min(axis=0).tolist(), rows.max(axis=0).tolist()
        return self._accessor(accessor)

    def _accessor(self, accessor: dict[str, Any]) -> int:
        return _appended(self.json, "accessors", accessor)

    def _view(self, content: bytes, target: int | None = None) -> int:
        if not self.json.get("buffers"):
            self.json["buffers"] = [{"byteLength": 0}]
        self._data += bytes(-len(self._data) % 4)
        view = {"buffer": 0, "byteOffset": len(self._data), "byteLength": len(content)}
        if target is not None:
            view["target"] = target
        self._data += content
        return _appended(self.json, "bufferViews", view)

    def _bring_in(self) -> None:
        """Puts all buffers, and images that lie beside the file, into the one buffer."""
        buffers = self.json.get("buffers", [])
        contents = [self._source.buffer(index) for index in range(len(buffers))]
        if len(buffers) > 1 or any("uri" in buffer for buffer in buffers):
            starts = []
            self._data = bytearray()
            for content in contents:
                self._data += bytes(-len(self._data) % 4)
                starts.append(len(self._data))
                self._data += content
            for view in self.json.get("bufferViews", ()):
                view["byteOffset"] = view.get("byteOffset", 0) + starts[view["buffer"]]
                view["buffer"] = 0
            del buffers[1:]
            buffers[0].pop("uri", None)
        for image in self.json.get("images", ()):
            uri = image.get("uri", "data:")
            if uri.startswith("data:"):
                continue
            beside = self._source.beside(uri)
            image["mimeType"] = _IMAGES.get(beside.suffix.lower(), "image/png")
            image["bufferView"] = self._view(beside.read_bytes())
            del image["uri"]


def _appended(document: dict[str, Any], name: str, entry: dict[str, Any]) -> int:
    document.setdefault(name, []).append(entry)
    return len(document[name]) - 1
