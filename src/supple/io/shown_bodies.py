"""The bodies of a motion, one by one, on their way to a picture or a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from supple.core.errors import InputError
from supple.core.types import Floats, Ints
from supple.dynamics.motion import Motion
from supple.io.obstacle_surfaces import DrawnObstacle
from supple.mesh import Embedding, Mesh, MeshGroup, RigidMesh, SpringMesh, WovenMesh

Skins = Embedding | Mapping[str, Embedding] | None
"""Surfaces to show instead of bodies' own: one, or by the names of bodies."""

Color = tuple[float, float, float]
PALETTE: tuple[Color, ...] = (
    (0.78, 0.60, 0.47),
    (0.36, 0.60, 0.63),
    (0.62, 0.53, 0.74),
    (0.80, 0.66, 0.34),
    (0.38, 0.36, 0.34),
    (0.72, 0.47, 0.50),
    (0.55, 0.65, 0.42),
    (0.42, 0.58, 0.74),
)
"""Red, green and blue of several bodies, one after the other, in the hues of plots."""


@dataclass(frozen=True, eq=False)
class ShownBody:
    """One body: its motion, with the energies of all, and what it looks like."""

    name: str
    motion: Motion
    skin: Embedding | None
    color: Color | None
    """Of one among several."""

    def rigid(self) -> DrawnObstacle | None:
        """Its skin and how it is placed in each frame, if it is rigid and shows no other."""
        mesh = self.motion.mesh
        if not isinstance(mesh, RigidMesh) or self.skin is not None:
            return None
        R, c = mesh.poses(self.motion.displacements)
        return DrawnObstacle(self.name, mesh.skin_vertices, mesh.skin_triangles, R, c)


def shown_bodies(motion: Motion, skin: Skins = None, *, name: str = "body") -> list[ShownBody]:
    """The bodies of a motion; one alone is called ``name``."""
    mesh = motion.mesh
    if not isinstance(mesh, MeshGroup):
        if isinstance(skin, Mapping):
            raise InputError("skin is a table of bodies, but there is one; give its Embedding")
        return [ShownBody(name, _of(motion, mesh, *shown_rows(mesh)), skin, None)]
    skins = _skins_of(mesh, skin)
    return [
        ShownBody(
            called,
            _of(motion, part, rows),
            skins.get(called),
            PALETTE[k % len(PALETTE)],
        )
        for k, (called, part, rows) in enumerate(
            zip(mesh.names, mesh.parts, shown_rows(mesh), strict=True)
        )
    ]


def shown_rows(mesh: Mesh) -> tuple[slice, ...]:
    """Which vertices each body is shown by: all of its own, of woven cloth the crossings."""
    if not isinstance(mesh, MeshGroup):
        return (slice(mesh.crossings if isinstance(mesh, WovenMesh) else None),)
    return tuple(
        slice(rows.start, rows.start + part.crossings) if isinstance(part, WovenMesh) else rows
        for part, rows in zip(mesh.parts, mesh.rows, strict=True)
    )


def _of(motion: Motion, mesh: Mesh, rows: slice) -> Motion:
    """What some vertices do in a motion; woven cloth is its yarns."""
    if rows == slice(None) and mesh is motion.mesh:
        return motion
    shown = mesh.yarns if isinstance(mesh, WovenMesh) else mesh
    return replace(motion, mesh=shown, displacements=motion.displacements[:, rows])


def _skins_of(mesh: MeshGroup, skin: Skins) -> Mapping[str, Embedding]:
    if isinstance(skin, Embedding):
        raise InputError(
            "skin is one Embedding, but there are several bodies; give a table with that of each "
            f"that has one, by their names: {', '.join(mesh.names)}"
        )
    for name in skin or ():
        if name not in mesh.names:
            raise InputError(f"skin: no body is called {name!r}; there are {', '.join(mesh.names)}")
    return skin or {}


# -- springs -------------------------------------------------------------------------------

_CORNERS = np.concatenate([np.eye(3), -np.eye(3)])
_SIDES = np.array([(i, j) for i in range(6) for j in range(i + 1, 6) if j != i + 3])
_CAPS = np.array(
    [(0, 1, 2), (1, 3, 2), (3, 4, 2), (4, 0, 2), (1, 0, 5), (3, 1, 5), (4, 3, 5), (0, 4, 5)]
)
_THIN = 0.12  # mean lengths of a spring: half of how thick it is drawn


@dataclass(frozen=True, eq=False)
class SpringBars:
    """Springs as bars: an octahedron about each vertex, and for each spring what is between two.

    Vertices of the bars follow those of the network without turning.
    """

    mesh: SpringMesh

    @property
    def radius(self) -> float:
        """Half of how thick a bar is [m]."""
        return _THIN * float(self.mesh.rest_lengths.mean())

    def at(self, u: Floats) -> Floats:
        """Vertices (…, 6 n, 3) [m] for displacements (…, n, 3) [m]."""
        x = self.mesh.vertices + u
        corners = x[..., None, :] + self.radius * _CORNERS
        return np.asarray(corners.reshape(*x.shape[:-2], -1, 3))

    @property
    def triangles(self) -> Ints:
        """(t, 3)."""
        first = 6 * np.arange(self.mesh.n_vertices)
        caps = (first[:, None, None] + _CAPS).reshape(-1, 3)
        a, b = 6 * self.mesh.cells[:, [0]], 6 * self.mesh.cells[:, [1]]
        i, j = _SIDES.T
        quads = np.stack([a + i, a + j, b + j, b + i], axis=2).reshape(-1, 4)
        sides = quads[:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3)
        return np.concatenate([caps, sides]).astype(np.int64)
