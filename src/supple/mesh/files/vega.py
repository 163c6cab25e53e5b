"""Vega files (.veg): tets or bricks with named sets, materials and regions, as text."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from supple.core.errors import MeshError
from supple.core.types import Floats, Ints
from supple.mesh.checks import MeshWarning
from supple.mesh.files.common import Found, text, unreadable, whole_numbers
from supple.mesh.volume import VolumeMesh

_NODES = {"TET": 4, "CUBIC": 8}
_WORDS = {nodes: word for word, nodes in _NODES.items()}
_CONSTANTS = ("density", "young", "poisson")  # of an ENU material, in this order
_MISSING = "*MISSING"
_DEPTH = 8  # of files that include files

Sections = list[tuple[str, str, list[str]]]
"""(keyword, name, lines) of each section."""


def read_vega(file: Path) -> Found:
    """Vertices, cells, sets and materials of a .veg file and of the files it includes."""
    sections = _sections(_lines(file, 0))
    vertices, first_vertex = _vertices(file, sections)
    cells, first_cell = _elements(file, sections, first_vertex)
    regions: dict[str, Ints] = {"allElements": np.arange(len(cells))}
    materials: dict[str, Mapping[str, float]] = {}
    properties: dict[str, Mapping[str, float]] = {}
    for keyword, name, lines in sections:
        if keyword == "SET":
            lost = [line.split(None, 1)[1] for line in lines if line.startswith(_MISSING)]
            if lost:
                warnings.warn(
                    f"{file}: left out the set {name!r}, which {lost[0]} should list: "
                    "there is no such file",
                    MeshWarning,
                    stacklevel=3,
                )
            else:
                members = whole_numbers(file, " ".join(lines), f"set {name!r}: ")
                regions[name] = members - first_cell
        elif keyword == "MATERIAL":
            materials[name] = _material(file, name, lines)
        elif keyword == "REGION":
            words = [word.strip() for word in " ".join(lines).split(",")]
            if len(words) != 2 or words[1] not in materials:
                raise unreadable(file, f"*REGION {' '.join(lines)!r} must be 'set, material'")
            if words[0] in regions and materials[words[1]]:
                properties[words[0]] = materials[words[1]]
    if "allElements" not in properties:
        del regions["allElements"]
    return Found(vertices, cells, regions, properties)


def write_vega(mesh: VolumeMesh, file: Path) -> None:
    """Write a .veg file with regions as sets and their properties as materials."""
    for name in mesh.regions:
        if any(letter in name for letter in ",#*\n\r") or name != name.strip():
            raise MeshError(f"region name {name!r} cannot be written in a .veg file: use a word")
    out = ["*VERTICES", f"{mesh.n_vertices} 3 0 0"]
    out += [f"{i} {x!r} {y!r} {z!r}" for i, (x, y, z) in enumerate(mesh.vertices.tolist(), 1)]
    out += ["", "*ELEMENTS", _WORDS[mesh.cell_nodes], f"{mesh.n_cells} {mesh.cell_nodes} 0"]
    for i, cell in enumerate((mesh.cells + 1).tolist(), 1):
        out.append(f"{i} " + " ".join(map(str, cell)))
    for name, cells in mesh.regions.items():
        if name != "allElements":
            out += ["", f"*SET {name}"]
            ids = (cells + 1).tolist()
            out += [",".join(map(str, ids[k : k + 12])) + "," for k in range(0, len(ids), 12)]
    for name, values in mesh.properties.items():
        if writable(values):
            numbers = ", ".join(repr(values[key]) for key in _CONSTANTS)
            out += ["", f"*MATERIAL {name}Material", f"ENU, {numbers}"]
            out += ["", "*REGION", f"{name}, {name}Material"]
    file.write_text("\n".join(out) + "\n", encoding="utf-8")


def writable(values: Mapping[str, float]) -> bool:
    """Whether an ENU material holds just these properties."""
    return set(values) == set(_CONSTANTS)


def _lines(file: Path, depth: int) -> Iterator[str]:
    """Lines without comments and blanks; an included file stands in place of its line."""
    if depth > _DEPTH:
        raise MeshError(
            f"{file} is included more than {_DEPTH} files deep; does it include itself?"
        )
    for raw in text(file).splitlines():
        line = raw.split("#", 1)[0].strip()
        if line.upper().startswith("*INCLUDE"):
            name = line[len("*INCLUDE") :].strip()
            included = file.parent / name
            if name and included.is_file():
                yield from _lines(included, depth + 1)
            else:
                yield f"{_MISSING} {name or '(no name)'}"
        elif line:
            yield line


def _sections(lines: Iterator[str]) -> Sections:
    made: Sections = []
    for line in lines:
        if line.startswith("*") and not line.startswith(_MISSING):
            keyword, _, name = line[1:].partition(" ")
            made.append((keyword.upper(), name.strip(), []))
        elif made:
            made[-1][2].append(line)
    return made


def _only(file: Path, sections: Sections, keyword: str) -> list[str]:
    found = [lines for word, _, lines in sections if word == keyword]
    if not found or not found[0]:
        raise unreadable(file, f"it has no *{keyword}")
    for line in found[0]:
        if line.startswith(_MISSING):
            raise MeshError(f"{file} includes {line.split(None, 1)[1]}, which is not there")
    return found[0]


def _table(file: Path, lines: list[str], columns: int, what: str) -> Floats:
    try:
        count = int(lines[0].split()[0])
        rows = [line.split() for line in lines[1 : 1 + count]]
        if count < 1 or len(rows) < count or any(len(row) < columns for row in rows):
            raise ValueError(f"{what}: {count} promised, {len(rows)} found")
        return np.array([row[:columns] for row in rows], dtype=np.float64)
    except (ValueError, IndexError) as error:
        raise unreadable(file, f"{what}: {error}") from error


def _vertices(file: Path, sections: Sections) -> tuple[Floats, int]:
    table = _table(file, _only(file, sections, "VERTICES"), 4, "vertices")
    return table[:, 1:4].copy(), _numbering(file, table[:, 0], "vertices")


def _elements(file: Path, sections: Sections, first_vertex: int) -> tuple[Ints, int]:
    lines = _only(file, sections, "ELEMENTS")
    shape = lines[0].upper()
    if shape not in _NODES:
        raise unreadable(file, f"elements of kind {lines[0]!r}; TET and CUBIC are known")
    table = _table(file, lines[1:], 1 + _NODES[shape], "elements")
    cells = table[:, 1:].astype(np.int64)
    if (cells != table[:, 1:]).any():
        raise unreadable(file, "an element names a vertex that is not a whole number")
    return cells - first_vertex, _numbering(file, table[:, 0], "elements")


def _numbering(file: Path, column: Floats, what: str) -> int:
    first = int(column[0]) if column[0] in (0.0, 1.0) else 1
    if (column != np.arange(first, first + len(column))).any():
        raise unreadable(file, f"the {what} are not numbered in order from 0 or 1")
    return first


def _material(file: Path, name: str, lines: list[str]) -> Mapping[str, float]:
    words = [word.strip() for word in " ".join(lines).split(",")]
    if words[0].upper() != "ENU":
        warnings.warn(
            f"{file}: left out the material {name!r}: of kind {words[0]!r}, not ENU",
            MeshWarning,
            stacklevel=4,
        )
        return {}
    try:
        constants = dict(zip(_CONSTANTS, map(float, words[1:]), strict=True))
    except ValueError as error:
        raise unreadable(file, f"material {name!r} must be 'ENU, density, E, nu'") from error
    return constants
