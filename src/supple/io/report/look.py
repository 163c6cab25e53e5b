"""How a report shows its runs: the surfaces to draw, one camera for all, and the player.

What the player, ``web/report/player.js``, is given is a motion as a few shapes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, Literal

import numpy as np

from supple.contact import Obstacle
from supple.core.errors import InputError
from supple.core.threads import map_all
from supple.core.types import Floats, Ints
from supple.dynamics.motion import Motion
from supple.io.obstacle_surfaces import GREY, DrawnObstacle, drawn_obstacles
from supple.io.pictures import Camera, png_address, render
from supple.io.shapes import compress
from supple.io.shown_bodies import Skins
from supple.io.surfaces import Shading, moving_bodies
from supple.mesh.surface import vertex_normals
from supple.web.pages import data_element, encoded, fill, json_text, script_element

PAINT = (0.78, 0.60, 0.47)
CREASE = 40.0  # [degrees]
_BUDGET = 1_900_000  # bytes of shapes, before base64
_TOLERANCE = 1e-3  # of the diagonal
_MOST_FRAMES = 1800
_LARGEST = 20_000  # vertices of an obstacle


@dataclass(frozen=True, eq=False)
class Run:
    """One motion of a report.

    ``name`` tells runs apart; ``facts`` are names and values to list where runs are compared;
    ``steps`` (k, 2) the time [s] that each step led to and how long it took to compute [s], for
    the steps where that was measured, and ``contacts`` (k,) how many there were in each.
    """

    name: str
    motion: Motion
    facts: Sequence[tuple[str, str]] = ()
    steps: Floats | None = None
    contacts: Ints | None = None


@dataclass(frozen=True, eq=False)
class Shown:
    """What is drawn of a body: its boundary, or a skin with colours (s, 3) of its vertices in 0…1.

    Of several bodies each has its colour, and skins are by their names. ``floor`` is the level [m]
    along ``up`` that shadows fall on, None for no shadow.
    """

    skin: Skins
    colors: Floats | Mapping[str, Floats] | None
    floor: float | None
    up: Literal["z", "y"]

    def __post_init__(self) -> None:
        if self.up not in ("z", "y"):
            raise InputError(f"up={self.up!r} must be 'z' or 'y'")

    def upright(self, positions: Floats) -> Floats:
        """Positions (…, 3) with z up, as cameras see them: for y up, a quarter turn about x."""
        if self.up == "z":
            return positions
        return np.stack([positions[..., 0], -positions[..., 2], positions[..., 1]], axis=-1)

    def paint(self, rest: Floats, own: Floats | None = None) -> Floats:
        """Colours of a surface with vertices (s, 3): those given, if they fit, its own, or clay."""
        given = own if self.colors is None or isinstance(self.colors, Mapping) else self.colors
        paint = np.tile(PAINT, (len(rest), 1)) if given is None else given
        if paint.shape != rest.shape:
            raise InputError(
                f"colors have shape {paint.shape}; the surface drawn needs {rest.shape}"
            )
        return paint


@dataclass(frozen=True, eq=False)
class Track:
    """One motion to play: its name, times (T,) [s] and drawn vertices (T, v, 3) [m]."""

    name: str
    times: Floats
    positions: Floats


@dataclass(frozen=True, eq=False)
class Look:
    """What is drawn of each run: a track, and the same triangles and colours for all.

    ``size`` (width, height) of its pictures in pixels; ``obstacles`` what the bodies met.
    """

    tracks: Sequence[Track]
    triangles: Ints
    colors: Floats
    camera: Camera
    size: tuple[int, int]
    obstacles: Sequence[DrawnObstacle] = ()

    @classmethod
    def of(
        cls,
        runs: Sequence[Run],
        shown: Shown,
        *,
        size: tuple[int, int],
        obstacles: Sequence[Obstacle] = (),
    ) -> Look:
        """How runs of the same mesh look."""
        colors = shown.colors if isinstance(shown.colors, Mapping) else None
        moving = [moving_bodies(run.motion, shown.skin, colors) for run in runs]
        first = moving[0]
        shading = Shading.cut(first.rest, first.triangles, 180.0 if first.round else CREASE)
        paint = shown.paint(first.rest, first.colors)
        positions = map_all(lambda each: shown.upright(each.positions[:, shading.source]), moving)
        drawn = drawn_obstacles(obstacles, runs[0].motion)
        drawn = [_cut_apart(each.upright() if shown.up == "y" else each) for each in drawn]
        points = np.concatenate([p[:: max(1, len(p) // 60)].reshape(-1, 3) for p in positions])
        camera = Camera.framing(
            np.concatenate([points, *_near(points, drawn)]),
            floor=shown.floor,
            aspect=size[0] / size[1],
        )
        tracks = [
            Track(run.name, run.motion.times, x) for run, x in zip(runs, positions, strict=True)
        ]
        return cls(tracks, shading.triangles, paint[shading.source], camera, size, drawn)

    def of_run(self, run: int) -> str:
        """ ", name" of a run where there are several, for texts that end so."""
        return f", {escape(self.tracks[run].name)}" if len(self.tracks) > 1 else ""

    def picture(self, run: int, frame: int, scale: float = 1.0) -> str:
        """One frame of a run, as an address."""
        size = (round(scale * self.size[0]), round(scale * self.size[1]))
        shapes, triangles = [self.tracks[run].positions[frame]], [self.triangles]
        colors = [self.colors]
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

    def stage(self) -> str:
        """The player's part of the page."""
        pictures = map_all(lambda i: self.picture(i, 0, 1.6), range(len(self.tracks)))
        stills = "".join(
            f'<img alt="The body as it started{self.of_run(i)}" src="{picture}">'
            for i, picture in enumerate(pictures)
        )
        names = "".join(f"<span>{escape(track.name)}</span>" for track in self.tracks)
        names = f'<div class="names">{names}</div>' if len(self.tracks) > 1 else ""
        return fill("report/player.html", stills=stills, names=names)

    def scripts(self) -> str:
        """What the player needs at the end of the page; nothing where it has no data."""
        data = self.player_data()
        return data and data_element("motion", data) + script_element("report/player.js")

    def player_data(self) -> str:
        """The motions as JSON for the viewer, vertices within about a thousandth of their size.

        Nothing where the body is too large for a page; obstacles that are too large are left out.
        Those that move have the frames of the first track.
        """
        vertices = len(self.colors)
        most = min(24, _BUDGET // (len(self.tracks) * 6 * vertices) - 2)
        if most < 3:
            return ""
        small = [each for each in self.obstacles if len(each.vertices) <= _LARGEST]
        data = {
            "tracks": map_all(lambda track: _track(track, most), self.tracks),
            "colors": encoded(np.round(255 * self.colors), "u1"),
            "obstacles": [_obstacle(each) for each in small],
        }
        aspect = self.size[0] / self.size[1]
        return json_text(data | view_data(vertices, self.triangles, self.camera, aspect))


def _track(track: Track, most: int) -> dict[str, Any]:
    """A motion by so many shapes at most."""
    keep = _kept(len(track.times))
    times = track.times[keep]
    positions = track.positions if len(times) == len(track.times) else track.positions[keep]
    size = float(np.linalg.norm(np.ptp(positions[0], axis=0)))
    morph = compress(positions, tolerance=_TOLERANCE * size, targets=most)
    scales = np.abs(morph.shapes).max(axis=(1, 2)) / 32767.0
    shapes = np.round(morph.shapes / np.maximum(scales, 1e-300)[:, None, None])
    return {
        "name": track.name,
        "times": encoded(times, "<f4"),
        "base": encoded(morph.base, "<f4"),
        "shapes": encoded(shapes, "<i2"),
        "scales": [float(f"{s:.7g}") for s in scales],
        "weights": encoded(morph.weights, "<f4"),
    }


def _cut_apart(obstacle: DrawnObstacle) -> DrawnObstacle:
    """The obstacle with its sharp edges cut, so that each side can be shaded smoothly."""
    shading = Shading.cut(obstacle.vertices, obstacle.triangles, CREASE)
    cut = replace(obstacle, vertices=obstacle.vertices[shading.source], triangles=shading.triangles)
    if obstacle.positions is None:
        return cut
    return replace(cut, positions=obstacle.positions[:, shading.source])


def _near(points: Floats, obstacles: Sequence[DrawnObstacle]) -> list[Floats]:
    """The vertices of obstacles that are not far from points (k, 3) [m], to be in the picture."""
    if not obstacles:
        return []
    low, high = points.min(axis=0), points.max(axis=0)
    margin = 0.1 * float(np.linalg.norm(high - low))
    found = []
    for obstacle in obstacles:
        for i in range(0, obstacle.frames, max(1, obstacle.frames // 20)):
            x = obstacle.frame(i)
            found.append(x[((x > low - margin) & (x < high + margin)).all(axis=1)])
    return found


def _kept(frames: int) -> Ints:
    """The frames that are shown of so many."""
    kept: Ints = np.unique(np.linspace(0, frames - 1, min(frames, _MOST_FRAMES)).astype(np.int64))
    return kept


def _obstacle(obstacle: DrawnObstacle) -> dict[str, Any]:
    """Triangles with normals and a colour and, if it moves, [R c] of each frame."""
    made: dict[str, Any] = {
        "vertices": encoded(obstacle.vertices, "<f4"),
        "normals": encoded(vertex_normals(obstacle.vertices, obstacle.triangles), "<f4"),
        "triangles": encoded(obstacle.triangles, "<u4"),
        "color": list(GREY),
    }
    if obstacle.rotations is not None and obstacle.translations is not None:
        poses = np.concatenate([obstacle.rotations, obstacle.translations[:, :, None]], axis=2)
        made["poses"] = encoded(poses[_kept(len(poses))], "<f4")
    return made


def view_data(vertices: int, triangles: Ints, camera: Camera, aspect: float) -> dict[str, Any]:
    """What ``web/report/body.js`` needs to know of a body with so many vertices.

    ``aspect`` is that of the picture that the camera frames.
    """
    wide = vertices > 65535
    return {
        "vertices": vertices,
        "wide": wide,
        "triangles": encoded(triangles, "<u4" if wide else "<u2"),
        "target": list(camera.target),
        "height": camera.height,
        "width": camera.height * aspect,
        "azimuth": camera.azimuth,
        "elevation": camera.elevation,
        "floor": camera.floor,
    }
