"""glTF files as they stand on disk: their JSON, their chunks, arrays, and the files beside them."""

from __future__ import annotations

import base64
import json
import os
import struct
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote, unquote_to_bytes

import numpy as np
import pygltflib as gl
from numpy.typing import NDArray

from supple.core.errors import MeshError
from supple.mesh.files.common import existing, guarded, silenced

MAGIC, VERSION = b"glTF", 2
JSON, BIN = b"JSON", b"BIN\0"
_HEADER = 20  # bytes: those of a .glb file, and of its first chunk
_TYPES = {
    gl.BYTE: "<i1",
    gl.UNSIGNED_BYTE: "<u1",
    gl.SHORT: "<i2",
    gl.UNSIGNED_SHORT: "<u2",
    gl.UNSIGNED_INT: "<u4",
    gl.FLOAT: "<f4",
}
_SHAPES: dict[str, tuple[int, ...]] = {
    gl.SCALAR: (),
    gl.VEC2: (2,),
    gl.VEC3: (3,),
    gl.VEC4: (4,),
    gl.MAT4: (4, 4),
}


class GltfSource:
    """A .glb or .gltf file, read once; which of them it is, its content says and not its name.

    ``json`` is as it stands in the file, ``binary`` the chunk of arrays, empty where there is none,
    and ``others`` are further chunks as kind and content. None of them is changed.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.file = existing(path)
        with guarded(self.file):
            self._read(self.file)

    def _read(self, file: Path) -> None:
        content = file.read_bytes()
        self.binary = b""
        self.others: list[tuple[bytes, bytes]] = []
        self._buffers: dict[int, bytes] = {}
        if content[:4] != MAGIC:
            self.json = self._parsed(content)
            return
        if len(content) < _HEADER:
            raise MeshError(f"{file} is cut off after {len(content)} bytes; copy or export it anew")
        version = struct.unpack_from("<I", content, 4)[0]
        if version != VERSION:
            raise MeshError(f"{file} holds glTF {version}; export it as glTF 2.0")
        chunks = list(_chunks(content))
        self.json = self._parsed(chunks[0][1])
        self.binary = next((part for kind, part in chunks[1:2] if kind == BIN), b"")
        self.others = [chunk for chunk in chunks[1:] if chunk[0] != BIN]

    @cached_property
    def document(self) -> gl.GLTF2:
        """The JSON as objects, without extras: these may be anything, which pygltflib denies."""
        with silenced():
            return gl.GLTF2.gltf_from_json(json.dumps(_without_extras(self.json)))

    def buffer(self, index: int) -> bytes:
        """All bytes of a buffer."""
        if index not in self._buffers:
            self._buffers[index] = self._held(index)
        return self._buffers[index]

    def _held(self, index: int) -> bytes:
        entry = self.json["buffers"][index]
        uri, size = entry.get("uri"), entry["byteLength"]
        if uri is None:
            held = self.binary if index == 0 else b""
        elif uri.startswith("data:"):
            held = _inlined(uri)
        else:
            held = self.beside(uri).read_bytes()
        if len(held) < size:
            where = "it" if uri is None or uri.startswith("data:") else uri
            raise MeshError(
                f"{self.file}: of the {size} bytes of buffer {index}, {where} has only "
                f"{len(held)}; it is damaged or cut off: copy or export it anew"
            )
        return held

    def beside(self, uri: str) -> Path:
        """The file that a URI names: as it is written if there is one, or else decoded."""
        for name in (uri, unquote(uri)):
            path = self.file.parent / name
            if path.exists():
                return existing(path)
        raise MeshError(f"there is no file {unquote(uri)}, which {self.file} needs beside it")

    def array(self, index: int) -> NDArray[Any]:
        """The array of an accessor, (count, …), matrices as they are used; float64 or int64.

        Whole numbers that stand for shares of 1 come as these.
        """
        accessor = self.document.accessors[index]
        dtype, shape = np.dtype(_TYPES[accessor.componentType]), _SHAPES[accessor.type]
        values = np.zeros((accessor.count, *shape), dtype)
        if accessor.bufferView is not None:
            values = self._viewed(
                accessor.bufferView, accessor.byteOffset, accessor.count, dtype, shape
            )
        if accessor.sparse is not None:
            values, sparse = values.copy(), accessor.sparse
            kind = np.dtype(_TYPES[sparse.indices.componentType])
            where = sparse.indices.bufferView, sparse.indices.byteOffset
            what = sparse.values.bufferView, sparse.values.byteOffset
            places = self._viewed(*where, sparse.count, kind, ())
            values[places] = self._viewed(*what, sparse.count, dtype, shape)
        if shape == (4, 4):
            values = values.swapaxes(1, 2)  # stored by columns
        if accessor.normalized and dtype.kind in "iu":
            return np.maximum(values / np.iinfo(dtype).max, -1.0)
        return values.astype(np.float64 if dtype.kind == "f" else np.int64)

    def _viewed(
        self,
        view: int,
        offset: int | None,
        count: int,
        dtype: np.dtype[Any],
        shape: tuple[int, ...],
    ) -> NDArray[Any]:
        found = self.document.bufferViews[view]
        if found.extensions:
            raise MeshError(
                f"{self.file}: its arrays are packed by {', '.join(found.extensions)}; unpack them"
            )
        size = dtype.itemsize * int(np.prod(shape))
        inner = [dtype.itemsize * int(np.prod(shape[k + 1 :])) for k in range(len(shape))]
        start, stride = (found.byteOffset or 0) + (offset or 0), found.byteStride or size
        data = self.buffer(found.buffer)
        end = start + stride * (count - 1) + size
        if count and end > len(data):
            raise MeshError(
                f"{self.file}: an array in buffer view {view} ends at byte {end}, but its buffer "
                f"has {len(data)}; it is damaged or cut off: copy or export it anew"
            )
        return np.ndarray((count, *shape), dtype, data, start, (stride, *inner))

    def _parsed(self, text: bytes) -> dict[str, Any]:
        try:
            found = json.loads(text)  # which takes a mark of byte order, too
        except ValueError as error:
            if not text.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
                raise MeshError(
                    f"{self.file} is no glTF: it begins neither with 'glTF', as .glb files do, nor "
                    "with JSON, as .gltf files do; is it damaged?"
                ) from error
            raise MeshError(
                f"{self.file}: its JSON cannot be read: {error}; is it damaged or cut off?"
            ) from error
        if not isinstance(found, dict):
            raise MeshError(
                f"{self.file} is no glTF: its JSON is a {type(found).__name__}, not an object"
            )
        return found


def _chunks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    place = 12
    while place + 8 <= len(content):
        length, kind = struct.unpack_from("<I4s", content, place)
        yield kind, content[place + 8 : place + 8 + length]
        place += 8 + length


def _inlined(uri: str) -> bytes:
    """The content of a data URI."""
    kind, _, text = uri.partition(",")
    held = unquote_to_bytes(text)
    return base64.b64decode(held) if kind.endswith(";base64") else held


def _without_extras(entry: Any) -> Any:
    if isinstance(entry, dict):
        return {name: _without_extras(each) for name, each in entry.items() if name != "extras"}
    return [_without_extras(each) for each in entry] if isinstance(entry, list) else entry
