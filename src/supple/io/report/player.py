"""What the player of a report, ``web/report/player.js``, is given: a motion as a few shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.core.types import Floats, Ints
from supple.io.gltf.morph import compress
from supple.io.obstacle_surfaces import GREY, DrawnObstacle
from supple.io.pictures import Camera
from supple.mesh.surface import vertex_normals
from supple.web.pages import encoded, json_text

_BUDGET = 1_900_000  # bytes of shapes, before base64
_TOLERANCE = 1e-3  # of the diagonal
_MOST_FRAMES = 1800
_LARGEST = 20_000  # vertices of an obstacle


@dataclass(frozen=True, eq=False)
class Track:
    """One motion to play: its name, times (T,) [s] and drawn vertices (T, v, 3) [m]."""

    name: str
    times: Floats
    positions: Floats


def player_data(
    tracks: Sequence[Track],
    triangles: Ints,
    colors: Floats,
    camera: Camera,
    aspect: float,
    *,
    obstacles: Sequence[DrawnObstacle] = (),
) -> str | None:
    """The motions as JSON for the viewer, vertices within about a thousandth of the body's size.

    ``aspect`` is that of the picture that the camera frames. None where the body is too large for
    a page; obstacles that are too large are left out. Those that move have the frames of the first
    track.
    """
    vertices = tracks[0].positions.shape[1]
    most = min(24, _BUDGET // (len(tracks) * 6 * vertices) - 2)
    if most < 3:
        return None
    made = []
    for track in tracks:
        keep = _kept(len(track.times))
        times = track.times[keep]
        positions = track.positions if len(times) == len(track.times) else track.positions[keep]
        size = float(np.linalg.norm(np.ptp(positions[0], axis=0)))
        morph = compress(positions, tolerance=_TOLERANCE * size, targets=most)
        scales = np.abs(morph.shapes).max(axis=(1, 2)) / 32767.0
        shapes = np.round(morph.shapes / np.maximum(scales, 1e-300)[:, None, None])
        made.append(
            {
                "name": track.name,
                "times": encoded(times, "<f4"),
                "base": encoded(morph.base, "<f4"),
                "shapes": encoded(shapes, "<i2"),
                "scales": [float(f"{s:.7g}") for s in scales],
                "weights": encoded(morph.weights, "<f4"),
            }
        )
    data: dict[str, Any] = {
        "tracks": made,
        "colors": encoded(np.round(255 * colors), "u1"),
        "obstacles": [_obstacle(each) for each in obstacles if len(each.vertices) <= _LARGEST],
    } | view_data(vertices, triangles, camera, aspect)
    return json_text(data)


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
