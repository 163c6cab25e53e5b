"""What a rigged file keeps where soft motion is written into it."""

from __future__ import annotations

import struct
from pathlib import Path

from supple.io.gltf.document import GltfDocument


def untouched(source: Path, target: Path, *also: str) -> None:
    """All that was in the file is in the other one, but for what ``also`` names."""
    old, new = GltfDocument(source).json, GltfDocument(target).json
    for name, entry in old.items():
        if name in ("buffers", *also):
            continue
        assert new[name][: len(entry)] == entry if isinstance(entry, list) else new[name] == entry


def plain(source: Path, target: Path) -> None:
    """The bytes of the old buffer are the first of the new one."""

    def binary(path: Path) -> bytes:
        content = path.read_bytes()
        length = struct.unpack_from("<I", content, 12)[0]
        return content[20 + length + 8 :]

    assert binary(target).startswith(binary(source).rstrip(b"\0"))
