"""What the figures share: where images go, their colours, and writing them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from numpy.typing import NDArray

import supple as sp
from supple.io.pictures import png

IMAGES = Path(__file__).resolve().parents[1] / "images"
INK, GRID = "#3b3b46", "#d9d9e0"
COLORS = ("#d1603d", "#2f6f9f", "#5a8f3c", "#8d5a9e", "#b8860b", "#4f4f5c")


def on_white(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """An image without transparency, so that it looks the same on any page."""
    alpha = image[..., 3:].astype(float) / 255
    color = image[..., :3] * alpha + 255 * (1 - alpha)
    opaque = np.full((*image.shape[:2], 1), 255.0)
    return np.concatenate([color, opaque], axis=-1).round().astype(np.uint8)


def write_png(name: str, image: NDArray[np.uint8]) -> None:
    """Write with few colours, which keeps the file small."""
    opaque = on_white(image)
    opaque[..., :3] = np.minimum(255, (opaque[..., :3].astype(int) + 2) // 4 * 4)
    opaque[..., :3][(opaque[..., :3] >= 252).all(axis=-1)] = 255
    (IMAGES / name).write_bytes(png(opaque))


def plain(axes: object) -> None:
    """The look of all plots: thin grid, no box."""
    axes.grid(color=GRID, linewidth=0.7)  # type: ignore[attr-defined]
    axes.tick_params(colors=INK, labelsize=9)  # type: ignore[attr-defined]
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)  # type: ignore[attr-defined]
    for side in ("left", "bottom"):
        axes.spines[side].set_color(INK)  # type: ignore[attr-defined]


def side_view(
    axes: Any, mesh: sp.VolumeMesh | sp.Surface, positions: NDArray[np.float64], color: str
) -> None:
    """A body with its vertices at ``positions`` (n, 3) [m], seen along y, facet by facet."""
    facets = mesh.triangles if isinstance(mesh, sp.Surface) else mesh.boundary_facets()
    corners = positions[facets]  # (f, corners, 3)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    facing = normals[:, 1] < 0
    order = np.argsort(-corners[facing, :, 1].mean(axis=1))
    axes.add_collection(
        PolyCollection(
            corners[facing][order][:, :, [0, 2]],
            facecolor=color,
            edgecolor="white",
            linewidth=0.4,
        )
    )
    axes.set_aspect("equal")
    axes.axis("off")


_SHEET_VIEW = np.array([(0.79, -0.61, 0.0), (0.305, 0.395, 0.866)])  # right and up in the picture
_TOWARDS = np.cross(*_SHEET_VIEW)


def sheet_view(
    axes: Any, cells: NDArray[np.int64], positions: NDArray[np.float64], color: str
) -> NDArray[np.float64]:
    """A sheet from above and aside, shaded; returns where its vertices are in the picture."""
    a, b, c = positions[cells].transpose(1, 0, 2)
    normal = np.cross(b - a, c - a)
    order = np.argsort(positions[cells].mean(axis=1) @ _TOWARDS)
    light = (np.abs(normal @ _TOWARDS) / np.linalg.norm(normal, axis=1))[order, None]
    tint = 1 - (0.25 + 0.75 * light) * (1 - np.array(to_rgb(color)))
    seen = positions @ _SHEET_VIEW.T
    shade = (0.35 + 0.65 * light) * tint
    drawn = PolyCollection(seen[cells[order]], facecolors=shade, edgecolors="face", lw=0.2)
    axes.add_collection(drawn)
    axes.set_aspect("equal")
    axes.axis("off")
    return np.asarray(seen)
