"""What every obstacle promises: a signed distance, its gradient, and how fast its surface moves."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.contact.obstacles.rails import Rails
from supple.core.checks import instance, number, vector
from supple.core.errors import InputError
from supple.core.parameters import Instance, checked, parameter
from supple.core.registry import Registry, snake_case
from supple.core.threads import run_all, thread_count
from supple.core.types import Floats
from supple.mesh.surface import Surface

_FEW = 500  # points that are not worth a thread of their own
ANYWHERE = float("inf")
"""No cutoff: distances are right however far a point is."""


@dataclass(frozen=True, eq=False)
class Touch:
    """Where points are against an obstacle at one time.

    ``distance`` (k,) [m], negative inside; ``normal`` (k, 3), the unit gradient of the distance;
    ``velocity`` (k, 3) [m/s] of the obstacle's material at the nearest place on its surface.
    """

    distance: Floats
    normal: Floats
    velocity: Floats


@dataclass(frozen=True, eq=False, kw_only=True)
class Obstacle(ABC):
    """Something rigid that bodies cannot enter, standing still or moving on rails.

    Without ``vertex_restitution`` bodies bounce by their own elasticity, and without ``motion`` the
    obstacle stays where it is described.
    """

    friction: float = parameter(0.0, "Coulomb's μ", at_least=0)
    friction_from: float | None = parameter(
        None, "time before which there is no friction; always if not given", unit="s"
    )
    vertex_restitution: float | None = parameter(
        None,
        "share of the speed at which each vertex comes that it leaves with; if not given, bodies "
        "bounce by their own elasticity",
        at_least=0,
        at_most=1,
        too_high="a bounce gives back a share of the speed; give 0 to 1, or nothing to leave it "
        "to the elasticity of the body",
    )
    motion: Rails | None = parameter(
        None,
        "moves it from where it is described",
        kind=Instance(Rails, "Rails.turning(centre=(0, 0, 0), rate=(0, 0, 1))"),
    )

    def __post_init__(self) -> None:
        checked(self)

    @property
    def moves(self) -> bool:
        """Whether it is not always in one place."""
        return self.motion is not None

    @property
    def is_convex(self) -> bool:
        """Whether its inside is convex, which makes it cheaper to find where edges meet it."""
        return False

    @property
    def leaves_convex(self) -> bool:
        """Whether what it leaves to bodies is convex: their vertices tell all then."""
        return False

    @property
    def meets_vertices_alone(self) -> bool:
        """Whether edges and faces of bodies are not looked at."""
        return self.leaves_convex

    @property
    def thinnest(self) -> float:
        """Radius [m] of a ball that fits into it everywhere, if known: passing takes so long."""
        return np.inf

    @property
    def rounding_radius(self) -> float:
        """Radius of curvature [m] that its surface has at least where it bulges; 0 with edges."""
        return 0.0

    def friction_at(self, time: float) -> float:
        """Coulomb's μ at ``time`` [s]."""
        early = self.friction_from is not None and time < self.friction_from
        return 0.0 if early else self.friction

    def signed_distance(
        self, points: ArrayLike, *, within: float = ANYWHERE
    ) -> tuple[Floats, Floats]:
        """Distance (k,) [m] of ``points`` (k, 3) [m], negative inside, and its gradient (k, 3).

        Both are of the obstacle as described, before it moves. A point farther outside than
        ``within`` [m] may get any distance from ``within`` up and any unit normal, which is
        cheaper. Not-a-number in, not-a-number out.
        """
        return self._distance(points_of(points), within)

    def at(self, points: ArrayLike, time: float, *, within: float = ANYWHERE) -> Touch:
        """The same for ``points`` (k, 3) [m] in the world at ``time`` [s], and the velocity there.

        The nearest place on the surface is the point minus distance times normal.
        """
        x = points_of(points)
        if self.motion is None:
            return Touch(*self._distance(x, within), np.zeros_like(x))
        pose = self.motion.pose(time)
        distance, local = self._distance(pose.to_rest(x), within)
        normal = local @ pose.rotation.T
        return Touch(distance, normal, pose.velocity_at(x - distance[:, None] * normal))

    def surface(
        self, time: float = 0.0, extent: float = 2.0, *, about: ArrayLike = (0.0, 0.0, 0.0)
    ) -> Surface:
        """Triangles to draw, where the obstacle is at ``time`` [s].

        What has no end is drawn as a square sheet with sides of ``extent`` [m] around the place
        nearest to ``about`` (3,) [m], a point in the obstacle's own frame.
        """
        drawn = self._drawn(number("extent", extent, above=0, unit="m"), vector("about", about))
        if self.motion is None:
            return drawn
        return dataclasses.replace(drawn, vertices=self.motion.pose(time).to_world(drawn.vertices))

    @abstractmethod
    def _distance(self, points: Floats, within: float) -> tuple[Floats, Floats]:
        """``signed_distance`` of points that are (k, 3) float64 in C order."""

    @abstractmethod
    def _drawn(self, extent: float, about: Floats) -> Surface:
        """``surface`` before the obstacle moves."""


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

    @property
    def leaves_convex(self) -> bool:
        return self.obstacle.leaves_convex

    @property
    def meets_vertices_alone(self) -> bool:
        return self.obstacle.meets_vertices_alone

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


OBSTACLES: Registry[type[Obstacle]] = Registry(
    "obstacle", "supple.obstacles", base=Obstacle, naming=snake_case, key="shape"
)
"""Every kind of obstacle that keeps its shape; tests and scene files go over it."""


def unit(vectors: Floats, length: Floats, fallback: Floats) -> Floats:
    """Vectors (k, 3) over their length (k,); those without one become ``fallback`` (3,)."""
    none = length == 0
    directions: Floats = vectors / np.where(none, 1.0, length)[:, None]
    directions[none] = fallback
    return directions


def points_of(given: ArrayLike) -> Floats:
    """``given`` as (k, 3) float64 in C order."""
    points = np.ascontiguousarray(given, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 3:
        raise InputError(f"points have shape {points.shape}; give (k, 3)")
    return points


def in_parts(count: int, work: Callable[[slice], Any]) -> None:
    """Call ``work`` on slices that cover range(count), in threads where there is enough to do."""
    parts = max(1, min(thread_count(), count // _FEW))
    ends = [count * k // parts for k in range(parts + 1)]
    run_all([partial(work, slice(a, b)) for a, b in pairwise(ends)])
