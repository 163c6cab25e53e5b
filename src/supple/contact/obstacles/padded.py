"""Obstacles with a layer around them, for what is thicker than the points that stand for it."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from supple.contact.obstacles.base import ANYWHERE, Obstacle, Touch
from supple.core.checks import instance, number
from supple.core.types import Floats
from supple.mesh.surface import Surface


@dataclass(frozen=True, eq=False, kw_only=True)
class Padded(Obstacle):
    """``obstacle`` with its surface ``thickness`` [m] farther out; friction is its own."""

    obstacle: Obstacle
    thickness: float

    def __post_init__(self) -> None:
        instance("obstacle", self.obstacle, Obstacle, "Sphere(radius=0.1)")
        number("thickness", self.thickness, at_least=0, unit="m")
        super().__post_init__()

    @property
    def moves(self) -> bool:
        return self.obstacle.moves

    def at(self, points: ArrayLike, time: float, *, within: float = ANYWHERE) -> Touch:
        touch = self.obstacle.at(points, time, within=within + self.thickness)
        return Touch(touch.distance - self.thickness, touch.normal, touch.velocity)

    def surface(
        self, time: float = 0.0, extent: float = 2.0, *, about: ArrayLike = (0.0, 0.0, 0.0)
    ) -> Surface:
        return self.obstacle.surface(time, extent, about=about)

    def _distance(self, points: Floats, within: float) -> tuple[Floats, Floats]:
        distance, normal = self.obstacle.signed_distance(points, within=within + self.thickness)
        return distance - self.thickness, normal

    def _drawn(self, extent: float, about: Floats) -> Surface:
        return self.obstacle.surface(0.0, extent, about=about)
