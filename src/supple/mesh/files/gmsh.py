"""Gmsh files of version 4.1, text or binary: cells with any number of physical groups."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np

from supple.core.types import Floats, Ints
from supple.mesh.files.common import Found, guarded, one_kind, unreadable

# Name and number of nodes of each element type; those without a name are only passed over.
_TYPES = {2: ("triangle", 3), 3: ("quad", 4), 9: ("triangle6", 6), 10: ("quad9", 9)}
_TYPES |= {4: ("tetra", 4), 5: ("hexahedron", 8), 11: ("tetra10", 10), 16: ("quad8", 8)}
_TYPES |= {
    number: ("", nodes)
    for number, nodes in {1: 2, 6: 6, 7: 5, 8: 3, 12: 27, 13: 18, 14: 14, 15: 1, 17: 20}.items()
}
_TYPES |= {number: ("", nodes) for number, nodes in {18: 15, 19: 13, 26: 4, 27: 5}.items()}


def is_gmsh41(file: Path) -> bool:
    """Whether the header says version 4.1."""
    with file.open("rb") as stream:
        start = stream.read(200).split()
    return start[:2] == [b"$MeshFormat", b"4.1"]


def read_gmsh41(file: Path) -> Found:
    """Volume cells, with every physical group they are in as a region."""
    with guarded(file):
        content = file.read_bytes()
        header = content.split(maxsplit=4)
        binary, size = int(header[2]) == 1, int(header[3])
        if size not in (4, 8):
            raise ValueError(f"numbers of {size} bytes")
        names = _names(content)
        groups = _entities(_Section(content, b"Entities", binary, size))
        vertices, tags = _nodes(_Section(content, b"Nodes", binary, size))
        blocks = _elements(_Section(content, b"Elements", binary, size))
        kind = one_kind(file, {name for name, _, cells in blocks if name and len(cells)})
        chosen = [(entity, cells) for name, entity, cells in blocks if name == kind]
        found = np.concatenate([cells for _, cells in chosen])
        order = np.argsort(tags, kind="stable")
        place = np.minimum(np.searchsorted(tags[order], found), len(tags) - 1)
        cells = order[place]
        if (tags[cells] != found).any():
            raise unreadable(file, "an element names a node that is not there")
        if kind == "tetra10":
            cells = cells[:, [0, 1, 2, 3, 4, 5, 6, 7, 9, 8]]
        regions: dict[str, list[Ints]] = {}
        start = 0
        for entity, members in chosen:
            for group in groups.get(entity, []):
                ids = np.arange(start, start + len(members))
                regions.setdefault(names.get(group, str(group)), []).append(ids)
            start += len(members)
        return Found(vertices, cells, {n: np.concatenate(ids) for n, ids in regions.items()})


class _Section:
    """Numbers of one section, taken in order; text and binary look the same."""

    def __init__(self, content: bytes, name: bytes, binary: bool, size: int) -> None:
        start = content.find(b"$" + name)
        self.missing = start < 0
        start = content.find(b"\n", start) + 1
        self.binary = binary
        self.size = size
        self.at = start if binary else 0
        if binary:
            self.bytes = content
        else:
            end = content.find(b"$End" + name, start)
            if end < 0 and not self.missing:
                raise ValueError(f"${name.decode()} does not end")
            self.words = np.array([] if self.missing else content[start:end].split(), np.float64)

    def floats(self, count: int) -> Floats:
        return self._take(count, "<f8").astype(np.float64)

    def ints(self, count: int) -> Ints:
        return self._take(count, "<i4").astype(np.int64)

    def sizes(self, count: int) -> Ints:
        return self._take(count, f"<i{self.size}").astype(np.int64)

    def _take(self, count: int, kind: str) -> Floats:
        if self.missing or count < 0:
            raise ValueError("a section is missing or damaged")
        if self.binary:
            taken = np.frombuffer(self.bytes, kind, int(count), self.at)
            self.at += taken.nbytes
            return taken
        words = self.words[self.at : self.at + count]
        if len(words) != count:
            raise ValueError("a section ends too early")
        self.at += int(count)
        return words


def _names(content: bytes) -> dict[int, str]:
    """Names of the physical groups of volumes."""
    start = content.find(b"$PhysicalNames")
    if start < 0:
        return {}
    end = content.index(b"$EndPhysicalNames", start)
    rows = [shlex.split(line) for line in content[start:end].decode().splitlines()[2:]]
    return {int(row[1]): row[2] for row in rows if row and int(row[0]) == 3}


def _entities(section: _Section) -> dict[int, list[int]]:
    """Physical groups of each volume."""
    groups: dict[int, list[int]] = {}
    if section.missing:
        return groups
    for dimension, count in enumerate(section.sizes(4).tolist()):
        for _ in range(count):
            tag = int(section.ints(1)[0])
            section.floats(3 if dimension == 0 else 6)
            members = section.ints(int(section.sizes(1)[0])).tolist()
            if dimension > 0:
                section.ints(int(section.sizes(1)[0]))
            if dimension == 3:
                groups[tag] = [abs(member) for member in members]
    return groups


def _nodes(section: _Section) -> tuple[Floats, Ints]:
    points, tags = [], []
    for _ in range(int(section.sizes(4)[0])):
        dimension, _, parametric = section.ints(3).tolist()
        count = int(section.sizes(1)[0])
        columns = 3 + (dimension if parametric else 0)
        tags.append(section.sizes(count))
        points.append(section.floats(count * columns).reshape(count, columns)[:, :3])
    return np.concatenate(points), np.concatenate(tags)


def _elements(section: _Section) -> list[tuple[str, int, Ints]]:
    """(name of the type, entity, node tags) of each block."""
    blocks = []
    for _ in range(int(section.sizes(4)[0])):
        _, entity, number = section.ints(3).tolist()
        count = int(section.sizes(1)[0])
        if number not in _TYPES:
            raise ValueError(f"elements of type {number} are not known")
        name, nodes = _TYPES[number]
        rows = section.sizes(count * (1 + nodes)).reshape(count, 1 + nodes)
        blocks.append((name, entity, rows[:, 1:]))
    return blocks
