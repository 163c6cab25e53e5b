"""Example deformations, beside vibration modes and static shapes.

All are displacements (n, 3) [m], ready for ``Example``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.elastic_body import ElasticBody
from supple.core.checks import instance, number, numbers, vertex_indices
from supple.core.errors import InputError
from supple.core.types import Bools, Floats
from supple.dynamics.motion import Motion
from supple.mesh import Mesh


def shape_between(first: ArrayLike, second: ArrayLike) -> Floats:
    """The displacements that lead from one shape (n, 3) to another.

    Both are positions, or both are displacements.
    """
    start = numbers("first", first)
    if start.ndim != 2 or start.shape[1] != 3:
        raise InputError(f"first has shape {start.shape}; give positions or displacements (n, 3)")
    return _moving(numbers("second", second, (start.shape,)) - start, "the two shapes are the same")


def shape_of_frame(
    motion: Motion,
    frame: int | None = None,
    *,
    time: float | None = None,
    about: ArrayLike | None = None,
) -> Floats:
    """How a motion is deformed in one frame, or at one ``time`` [s].

    Negative frames count from the end. Displacements are from the rest shape, or from the shape
    ``about`` (n, 3): ``motion.displacements[0]`` counts from the first frame on.
    """
    instance("motion", motion, Motion, "sim.run(2.0)")
    if (frame is None) == (time is None):
        raise InputError("say which moment: give either a frame or a time, e.g. time=0.5")
    if time is not None:
        u = motion.at(number("time", time, unit="s"))
    elif isinstance(frame, bool) or not isinstance(frame, int | np.integer):
        raise InputError(f"frame={frame!r}: give a whole number, or time= in seconds")
    else:
        u = motion.frame(int(frame)).displacements
    rest = np.zeros_like(u) if about is None else numbers("about", about, (u.shape,))
    return _moving(u - rest, "the motion has no deformation at that moment")


def shape_within(
    body: ElasticBody | Mesh,
    shape: ArrayLike,
    region: str | ArrayLike,
    *,
    blend: float = 0.0,
) -> Floats:
    """The part of a ``shape`` (n, 3) that lies in a region, and nothing elsewhere.

    ``region`` is the name of one, whose border to other cells stays still, or the vertices that
    may move: indices (k,) or a mask (n,). Over a distance of ``blend`` [m] from the border the
    displacements grow smoothly from nothing to their full size.
    """
    instance("body", body, (ElasticBody, Mesh), "TetMesh.box((1, 0.2, 0.2), (20, 4, 4))")
    mesh = body.mesh if isinstance(body, ElasticBody) else body
    width = number("blend", blend, at_least=0, unit="m")
    u = numbers("shape", shape, ((mesh.n_vertices, 3),))
    inside = _inside(mesh, region)
    weight = inside.astype(float)
    nearby = inside[mesh.cells].any(axis=1)  # cells that move
    border = np.setdiff1d(mesh.cells[nearby], np.flatnonzero(inside))
    if width > 0 and len(border):
        from scipy.spatial import cKDTree  # slow to import

        distance, _ = cKDTree(mesh.vertices[border]).query(mesh.vertices[inside])
        s = np.minimum(distance / width, 1.0)
        weight[inside] = s * s * (3 - 2 * s)
    return _moving(weight[:, None] * u, "the shape moves nothing in this region")


def _inside(mesh: Mesh, region: str | ArrayLike) -> Bools:
    """Which vertices may move, (n,)."""
    inside = np.zeros(mesh.n_vertices, dtype=bool)
    if not isinstance(region, str):
        inside[vertex_indices("region", region, mesh.n_vertices)] = True
        if not inside.any():
            raise InputError("region names no vertex; give those that may move")
        return inside
    cells = mesh.region(region)
    inside[mesh.cells[cells]] = True
    inside[np.delete(mesh.cells, cells, axis=0)] = False
    if not inside.any():
        raise InputError(
            f"every vertex of region {region!r} belongs to other cells too, so nothing of it can "
            "move; take a larger region or a finer mesh, or name the vertices themselves"
        )
    return inside


def _moving(u: Floats, otherwise: str) -> Floats:
    if not u.any():
        raise InputError(f"{otherwise}, which leaves no deformation to damp")
    return u
