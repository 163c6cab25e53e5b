"""How a report shows its runs: the surfaces to draw, one camera for all, and the player."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Literal

import numpy as np

from supple.contact import Obstacle
from supple.core.errors import InputError
from supple.core.types import Floats, Ints
from supple.dynamics.motion import Motion
from supple.io.obstacle_surfaces import GREY, DrawnObstacle, drawn_obstacles
from supple.io.pictures import Camera, png_address, render
from supple.io.report.player import Track, player_data
from supple.io.surfaces import Shading, moving_surface
from supple.mesh import Embedding
from supple.web.pages import data_element, fill, script_element

PAINT = (0.78, 0.60, 0.47)
CREASE = 40.0  # [degrees]


@dataclass(frozen=True, eq=False)
class Run:
    """One motion of a report.

    ``name`` tells runs apart; ``facts`` are names and values to list where runs are compared;
    ``steps`` (k, 2) the time [s] that each step led to and how long it took to compute [s], for
    the steps where that was measured.
    """

    name: str
    motion: Motion
    facts: Sequence[tuple[str, str]] = ()
    steps: Floats | None = None


@dataclass(frozen=True, eq=False)
class Look:
    """What is drawn of each run: vertices (T, v, 3), the same triangles and colours for all.

    ``size`` (width, height) of its pictures in pixels; ``obstacles`` what the bodies met.
    """

    positions: list[Floats]
    triangles: Ints
    colors: Floats
    camera: Camera
    size: tuple[int, int]
    obstacles: Sequence[DrawnObstacle] = ()

    @classmethod
    def of(
        cls,
        runs: Sequence[Run],
        skin: Embedding | None,
        colors: Floats | None,
        floor: float | None,
        up: Literal["z", "y"] = "z",
        *,
        size: tuple[int, int],
        obstacles: Sequence[Obstacle] = (),
    ) -> Look:
        """How runs of the same mesh look; the arguments are those of ``write_report``."""
        moving = [moving_surface(run.motion, skin) for run in runs]
        crease = 180.0 if moving[0].round else CREASE
        shading = Shading.cut(moving[0].rest, moving[0].triangles, crease)
        paint = paint_of(moving[0].rest, moving[0].colors if colors is None else colors)
        positions = [upright(surface.positions[:, shading.source], up) for surface in moving]
        drawn = drawn_obstacles(obstacles, runs[0].motion)
        drawn = [cut_apart(each.upright() if up == "y" else each) for each in drawn]
        points = np.concatenate([p[:: max(1, len(p) // 60)].reshape(-1, 3) for p in positions])
        camera = Camera.framing(
            np.concatenate([points, *near(points, drawn)]), floor=floor, aspect=size[0] / size[1]
        )
        return cls(positions, shading.triangles, paint[shading.source], camera, size, drawn)

    def picture(self, run: int, frame: int, scale: float = 1.0) -> str:
        """One frame of a run, as an address."""
        size = (round(scale * self.size[0]), round(scale * self.size[1]))
        shapes, triangles, colors = [self.positions[run][frame]], [self.triangles], [self.colors]
        for obstacle in self.obstacles:
            triangles.append(obstacle.triangles + sum(map(len, shapes)))
            shapes.append(obstacle.frame(min(frame, obstacle.frames - 1)))
            colors.append(np.tile(GREY, (len(obstacle.vertices), 1)))
        image = render(
            np.concatenate(shapes),
            np.concatenate(triangles),
            self.camera,
            size=size,
            colors=np.concatenate(colors),
            casting=len(self.triangles),
        )
        return png_address(image)


def cut_apart(obstacle: DrawnObstacle) -> DrawnObstacle:
    """The obstacle with its sharp edges cut, so that each side can be shaded smoothly."""
    shading = Shading.cut(obstacle.vertices, obstacle.triangles, CREASE)
    cut = replace(obstacle, vertices=obstacle.vertices[shading.source], triangles=shading.triangles)
    if obstacle.positions is None:
        return cut
    return replace(cut, positions=obstacle.positions[:, shading.source])


def near(points: Floats, obstacles: Sequence[DrawnObstacle]) -> list[Floats]:
    """The vertices of obstacles that are not far from points (k, 3) [m], to be in the picture."""
    low, high = points.min(axis=0), points.max(axis=0)
    margin = 0.1 * float(np.linalg.norm(high - low))
    found = []
    for obstacle in obstacles:
        for i in range(0, obstacle.frames, max(1, obstacle.frames // 20)):
            x = obstacle.frame(i)
            found.append(x[((x > low - margin) & (x < high + margin)).all(axis=1)])
    return found


def paint_of(rest: Floats, colors: Floats | None) -> Floats:
    """Colours of a surface with vertices (s, 3): those given, if they fit, or clay."""
    paint = np.tile(PAINT, (len(rest), 1)) if colors is None else colors
    if paint.shape != rest.shape:
        raise InputError(f"colors have shape {paint.shape}; the surface drawn needs {rest.shape}")
    return paint


def upright(positions: Floats, up: Literal["z", "y"]) -> Floats:
    """Positions (…, 3) with z up, as cameras see them: for y up, a quarter turn about x."""
    if up == "z":
        return positions
    return np.stack([positions[..., 0], -positions[..., 2], positions[..., 1]], axis=-1)


def player(runs: Sequence[Run], look: Look) -> tuple[str, str]:
    """The player's part of the page, and its data, empty where the body is too large for it."""
    return played(
        [
            Track(run.name, run.motion.times, positions)
            for run, positions in zip(runs, look.positions, strict=True)
        ],
        look,
    )


def played(tracks: Sequence[Track], look: Look) -> tuple[str, str]:
    """The same for motions of the look's surface."""
    aspect = look.size[0] / look.size[1]
    made = player_data(
        tracks, look.triangles, look.colors, look.camera, aspect, obstacles=look.obstacles
    )
    stills = "".join(
        f'<img alt="The body as it started{of_run(tracks, i)}" src="{look.picture(i, 0, 1.6)}">'
        for i in range(len(tracks))
    )
    names = "".join(f"<span>{escape(track.name)}</span>" for track in tracks)
    names = f'<div class="names">{names}</div>' if len(tracks) > 1 else ""
    return fill("report/player.html", stills=stills, names=names), made or ""


def player_scripts(data: str) -> str:
    """What the player needs at the end of the page; nothing where it has no data."""
    if not data:
        return ""
    return data_element("motion", data) + script_element("report/player.js")


def of_run(runs: Sequence[Run] | Sequence[Track], i: int) -> str:
    """ ", name" of a run where there are several, for texts that end so."""
    return f", {escape(runs[i].name)}" if len(runs) > 1 else ""
