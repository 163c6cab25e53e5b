"""TetGen pairs (.node and .ele): tets with region attributes, as text."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from supple.core.errors import MeshError
from supple.core.types import Floats, Ints
from supple.mesh.files.common import Found, existing, labelled, text, unreadable
from supple.mesh.tet import EDGES


def read_tetgen(file: Path) -> Found:
    """Read both files of a pair; either may be named."""
    node, ele = file.with_suffix(".node"), file.with_suffix(".ele")
    for one, other in ((node, ele), (ele, node)):
        if not one.exists():
            raise MeshError(f"{other} needs {one.name} beside it, which is not there")
    points = _table(existing(node), least=4)
    cells = _table(existing(ele), least=5)
    dimension, corners = int(points[0, 1]), int(cells[0, 1])
    if dimension != 3:
        raise MeshError(f"{node} holds a 2D mesh; Supple needs solids in space")
    if corners not in (4, 10):
        raise unreadable(ele, f"cells of {corners} nodes; 4 and 10 are known")
    table = points[1:]
    if table.shape[1] < 4:
        raise unreadable(node, "a vertex has fewer than three coordinates")
    if cells.shape[1] < 1 + corners:
        raise unreadable(ele, f"a cell has fewer than {corners} nodes")
    first = table[0, 0]
    if first not in (0.0, 1.0) or (table[:, 0] != np.arange(first, first + len(table))).any():
        raise unreadable(node, "its vertices are not numbered in order from 0 or 1")
    nodes = _whole(ele, cells[1:, 1 : 1 + corners]) - int(first)
    vertices = table[:, 1:4].copy()
    if corners == 10 and nodes.min() >= 0 and nodes.max() < len(vertices):
        nodes = _middles_matched(vertices, nodes)
    regions: dict[str, Ints] = {}
    if cells[0, 2] >= 1 and cells.shape[1] > 1 + corners:
        regions = labelled(_whole(ele, cells[1:, 1 + corners]))
    return Found(vertices, nodes, regions)


def _table(file: Path, least: int) -> Floats:
    """The header, filled up with zeros, over the rows that it promises."""
    lines = [line.split("#", 1)[0].split() for line in text(file).splitlines()]
    lines = [line for line in lines if line]
    try:
        header = [int(word) for word in lines[0]]
        count = header[0]
        rows = lines[1 : 1 + count]
        width = max(least, len(rows[0]))
        if count < 1 or len(rows) < count or any(len(row) != len(rows[0]) for row in rows):
            raise ValueError(f"{count} rows promised, {len(rows)} whole ones found")
        made = np.zeros((1 + count, width))
        made[0, : min(len(header), width)] = header[:width]
        made[1:, : len(rows[0])] = np.array(rows, dtype=np.float64)
        return made
    except (ValueError, IndexError, OverflowError) as error:
        raise unreadable(file, str(error)) from error


def _whole(file: Path, numbers: Floats) -> Ints:
    whole = np.where(np.abs(numbers) < 2**53, numbers, -1.0).astype(np.int64)
    if (whole != numbers).any():
        raise unreadable(file, "a vertex or region number is not whole")
    return whole


def _middles_matched(vertices: Floats, cells: Ints) -> Ints:
    """Ten-node tets with the last six nodes in our order, found by where they lie."""
    middles = vertices[cells[:, EDGES]].mean(axis=2)
    gaps = np.linalg.norm(middles[:, :, None] - vertices[cells[:, None, 4:]], axis=3)
    order = np.argmin(gaps, axis=2)
    return np.hstack([cells[:, :4], np.take_along_axis(cells[:, 4:], order, axis=1)])
