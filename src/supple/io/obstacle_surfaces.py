"""Obstacles on their way to a picture or a file: triangles that stand still or move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from supple.contact import Obstacle, Plane
from supple.core.types import Floats, Ints
from supple.dynamics.motion import Motion

GREY = (0.60, 0.58, 0.55)
"""Red, green and blue that obstacles are drawn with."""

_UPRIGHT = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


@dataclass(frozen=True, eq=False)
class DrawnObstacle:
    """Vertices (v, 3) [m] and triangles (t, 3), at R x + c in each frame.

    ``rotations`` R (T, 3, 3) and ``translations`` c (T, 3) [m] are None where it stands still, and
    where it changes shape: then ``positions`` (T, v, 3) [m] are its vertices in each frame.
    """

    name: str
    vertices: Floats
    triangles: Ints
    rotations: Floats | None = None
    translations: Floats | None = None
    positions: Floats | None = None

    @property
    def frames(self) -> int:
        """How many frames differ: one where it stands still."""
        moving = self.rotations if self.positions is None else self.positions
        return 1 if moving is None else len(moving)

    def frame(self, index: int) -> Floats:
        """Vertex positions in one frame [m], (v, 3)."""
        if self.positions is not None:
            shape: Floats = self.positions[index]
            return shape
        if self.rotations is None or self.translations is None:
            return self.vertices
        placed: Floats = self.vertices @ self.rotations[index].T + self.translations[index]
        return placed

    def upright(self) -> DrawnObstacle:
        """What has y up, turned by a quarter about x to have z up."""
        Q = _UPRIGHT
        turned = replace(self, vertices=self.vertices @ Q.T)
        if self.positions is not None:
            return replace(turned, positions=self.positions @ Q.T)
        if self.rotations is None or self.translations is None:
            return turned
        return replace(
            turned, rotations=Q @ self.rotations @ Q.T, translations=self.translations @ Q.T
        )


def drawn_obstacles(obstacles: Sequence[Obstacle], motion: Motion) -> list[DrawnObstacle]:
    """Obstacles as a motion meets them; what has no end is drawn as far as the body gets."""
    if not obstacles:
        return []
    X = motion.mesh.vertices
    # Frame by frame: all at once may be large.
    low = np.min([(X + u).min(axis=0) for u in motion.displacements], axis=0)
    high = np.max([(X + u).max(axis=0) for u in motion.displacements], axis=0)
    size = float(np.linalg.norm(np.ptp(X + motion.displacements[0], axis=0)))
    extent, centre = float((high - low).max()) + 1.0 * size, (low + high) / 2
    made = []
    for i, obstacle in enumerate(obstacles):
        name = f"obstacle_{i + 1}"
        if obstacle.motion is None and obstacle.moves:
            sheets = [obstacle.surface(float(time)) for time in motion.times]
            places = np.array([sheet.vertices for sheet in sheets])
            made.append(DrawnObstacle(name, places[0], sheets[0].triangles, positions=places))
            continue
        if obstacle.motion is None:
            sheet = obstacle.surface(extent=extent, about=centre)
            made.append(DrawnObstacle(name, sheet.vertices, sheet.triangles))
            continue
        poses = [obstacle.motion.pose(float(time)) for time in motion.times]
        about = poses[0].to_rest(centre[None])[0]
        # At rest; where it is at one time would need that pose undone.
        sheet = replace(obstacle, motion=None).surface(extent=extent, about=about)
        made.append(
            DrawnObstacle(
                name,
                sheet.vertices,
                sheet.triangles,
                np.array([pose.rotation for pose in poses]),
                np.array([pose.translation for pose in poses]),
            )
        )
    return made


def floor_of(obstacles: Sequence[Obstacle], up: str) -> float | None:
    """The level [m] of the first floor among the obstacles: a plane that is level and still."""
    axis = np.eye(3)["xyz".index(up)]
    still = (o for o in obstacles if isinstance(o, Plane) and o.motion is None)
    return next((o.offset for o in still if np.asarray(o.normal) @ axis > 0.999), None)
