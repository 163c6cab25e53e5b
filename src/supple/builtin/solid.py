"""What a maker of a built-in body hands back."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from supple.core.checks import whole_number
from supple.core.errors import InputError
from supple.core.types import Bools, Floats, Ints
from supple.materials import Material
from supple.mesh import Embedding, HexMesh, TetMesh, VolumeMesh


@dataclass(frozen=True, eq=False)
class Solid:
    """A solid with what to draw of it, and where it is natural to hold or push it.

    ``mesh`` the solid, with regions; ``skin`` a surface to draw instead of its boundary, or None;
    ``colors`` of the skin's vertices, red, green and blue in 0…1, (s, 3), or None; ``places``
    named sets of vertices, the first of them where to hold it; ``material`` that suits it, or None.
    """

    mesh: VolumeMesh
    skin: Embedding | None = None
    colors: Floats | None = None
    places: Mapping[str, Ints] = field(default_factory=dict)
    material: Material | None = None


def checked_resolution(resolution: int, least: int, most: int, along: str) -> int:
    """A number of bricks within bounds."""
    if isinstance(resolution, bool) or not least <= resolution <= most:
        raise InputError(f"resolution={resolution}: give {least} to {most} bricks {along}")
    return whole_number("resolution", resolution, at_least=least)


def with_regions(mesh: HexMesh, regions: Mapping[str, Bools], rest: str) -> HexMesh:
    """The mesh with masks of cells (m,) as regions: the first that has a cell keeps it."""
    left = np.ones(mesh.n_cells, dtype=bool)
    kept = {}
    for name, cells in regions.items():
        kept[name] = np.flatnonzero(cells & left)
        left &= ~cells
    return dataclasses.replace(mesh, regions={**kept, rest: np.flatnonzero(left)})


def beam(*, resolution: int = 20) -> Solid:
    """A beam of 1 × 0.2 × 0.2 m along x, of tets, with ``resolution`` bricks along it.

    Places: "root", the end at x = 0, and "tip", the other one.
    """
    checked_resolution(resolution, 1, 200, "along the beam")
    across = max(1, round(resolution / 5))
    mesh = TetMesh.box(size=(1.0, 0.2, 0.2), cells=(resolution, across, across))
    return Solid(mesh, places={"root": mesh.where(x=0), "tip": mesh.where(x=1)})
