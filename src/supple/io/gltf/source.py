"""glTF files as they stand on disk: their JSON, their chunks, and the files beside them."""

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

import pygltflib as gl

from supple.core.errors import MeshError
from supple.mesh.files.common import existing, guarded, silenced

MAGIC, VERSION = b"glTF", 2
JSON, BIN = b"JSON", b"BIN\0"
_HEADER = 20  # bytes: those of a .glb file, and of its first chunk


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
