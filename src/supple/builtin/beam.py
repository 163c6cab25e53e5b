"""A beam."""

from __future__ import annotations

from supple.builtin.solid import Solid, checked_resolution
from supple.mesh import TetMesh


def beam(*, resolution: int = 20) -> Solid:
    """A beam of 1 × 0.2 × 0.2 m along x, of tets, with ``resolution`` bricks along it.

    Places: "root", the end at x = 0, and "tip", the other one.
    """
    checked_resolution(resolution, 1, 200, "along the beam")
    across = max(1, round(resolution / 5))
    mesh = TetMesh.box(size=(1.0, 0.2, 0.2), cells=(resolution, across, across))
    return Solid(mesh, places={"root": mesh.where(x=0), "tip": mesh.where(x=1)})
