"""Pictures of surfaces: a small renderer with a depth buffer, soft light and a contact shadow."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from supple.core.errors import InputError
from supple.core.types import Floats, Ints
from supple.mesh.surface import area_vectors, vertex_normals

_CHUNK = 2_000_000  # pairs of triangle and pixel at once
_OVERSAMPLING = 2  # in x and y; the mean of the samples smooths the outline
_CLAY = (0.80, 0.62, 0.50)
_SHADE = (0.16, 0.13, 0.14)


@dataclass(frozen=True)
class Camera:
    """Looks at ``target`` [m] with a field of view of ``height`` [m] there, z up.

    ``azimuth`` [degrees] is the side it stands on, 0 towards +x and −90 towards −y; ``elevation``
    [degrees] how high. ``floor`` [m] is the level that shadows fall on, None for no shadow.
    """

    target: tuple[float, float, float]
    height: float
    azimuth: float = -62.0
    elevation: float = 16.0
    floor: float | None = None

    @classmethod
    def framing(
        cls,
        positions: Floats,
        *,
        azimuth: float = -62.0,
        elevation: float = 16.0,
        floor: float | None = None,
        aspect: float = 1.0,
    ) -> Camera:
        """The camera that shows all of ``positions`` (…, 3) [m] in a picture of that aspect."""
        points = np.asarray(positions, dtype=float).reshape(-1, 3)
        axes = cls((0.0, 0.0, 0.0), 1.0, azimuth, elevation).axes
        seen = axes @ points.T  # rows, which are searched faster than columns
        low, high = seen.min(axis=1), seen.max(axis=1)
        x, y, z = ((low + high) / 2) @ axes
        width, tall = (high - low)[:2]
        height = 1.10 * max(tall, width / aspect, 1e-9)
        return cls((x, y, z), float(height), azimuth, elevation, floor)

    @property
    def axes(self) -> Floats:
        """Right, up and towards the viewer, as rows."""
        a, e = np.radians([self.azimuth, self.elevation])
        towards = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
        right = np.array([-np.sin(a), np.cos(a), 0.0])
        return np.stack([right, np.cross(towards, right), towards])

    def project(self, points: Floats, width: int, height: int) -> Floats:
        """Column, row and nearness, in pixels, of points (n, 3) [m] in a picture."""
        seen = (points - np.array(self.target)) @ self.axes.T * (height / self.height)
        pixels: Floats = np.array([1.0, -1.0, 1.0]) * seen + np.array([width / 2, height / 2, 0.0])
        return pixels


def render(
    positions: Floats,
    triangles: Ints,
    camera: Camera,
    *,
    size: tuple[int, int] = (480, 480),
    colors: Floats | None = None,
    casting: int | None = None,
) -> NDArray[np.uint8]:
    """Draws a surface, both sides, as an image (height, width, 4): red, green, blue, opacity.

    ``positions`` (s, 3) [m]; ``triangles`` (t, 3); ``size`` (width, height) in pixels; ``colors``
    (s, 3) in 0…1. What is not covered is transparent, but for the shadow on the floor. Only the
    first ``casting`` triangles cast that, and it falls on those of the others that are there.
    """
    if size[0] < 1 or size[1] < 1:
        raise InputError(f"size={size}: give a width and a height of at least one pixel")
    paint = np.tile(_CLAY, (len(positions), 1)) if colors is None else np.asarray(colors, float)
    if paint.shape != positions.shape:
        raise InputError(f"colors have shape {paint.shape}; this surface needs {positions.shape}")
    width, height = (side * _OVERSAMPLING for side in size)
    axes = camera.axes
    screen = camera.project(positions, width, height)
    normals = vertex_normals(positions, triangles)
    face, weights = _visible(screen, triangles, width, height)
    image = np.zeros((height * width, 4))
    if camera.floor is not None:
        cast = triangles[:casting]
        image[:, 3] = _shadow(positions, cast, camera, camera.floor, (width, height))
        image[:, :3] = _SHADE
    hit = np.flatnonzero(face >= 0)
    corners = triangles[face[hit]]
    mix = weights[hit]
    normal = _mixed(normals, corners, mix)
    turned = area_vectors(positions, triangles) @ axes[2] < 0
    behind = turned[face[hit]]  # the other side of a sheet
    normal[behind] *= -1.0
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
    base = _mixed(paint, corners, mix) ** 2.2
    lit = _lit(normal @ axes.T, normal[:, 2], base)
    if camera.floor is not None and casting is not None:
        level = _mixed(positions[:, 2:], corners, mix)[:, 0] - camera.floor
        falls_on = (face[hit] >= casting) & (np.abs(level) < 0.005 * camera.height)
        dark = np.where(falls_on, image[hit, 3], 0.0)[:, None]
        lit = (1 - dark) * lit + dark * np.array(_SHADE)
    image[hit, :3] = lit
    image[hit, 3] = 1.0
    tiles = image.reshape(size[1], _OVERSAMPLING, size[0], _OVERSAMPLING, 4)
    samples = [tiles[:, i, :, j] for i, j in np.ndindex(_OVERSAMPLING, _OVERSAMPLING)]
    alpha = sum(each[..., 3:] for each in samples) / len(samples)
    color = sum(each[..., :3] * each[..., 3:] for each in samples) / len(samples)
    color /= np.maximum(alpha, 1e-6)
    done = np.concatenate([color, alpha], axis=-1)
    return np.asarray(np.clip(255.0 * done + 0.5, 0, 255), dtype=np.uint8)


def png(image: NDArray[np.uint8]) -> bytes:
    """An image (height, width, 4) as the bytes of a .png file."""
    rows, columns = image.shape[:2]
    lines = np.concatenate([np.zeros((rows, 1), np.uint8), image.reshape(rows, -1)], axis=1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    head = struct.pack(">IIBBBBB", columns, rows, 8, 6, 0, 0, 0)
    body = zlib.compress(lines.tobytes(), 9)
    start = b"\x89PNG\r\n\x1a\n"
    return start + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def png_address(image: NDArray[np.uint8]) -> str:
    """An image as an address that a page can show without another file."""
    return "data:image/png;base64," + base64.b64encode(png(image)).decode("ascii")


def _mixed(values: Floats, corners: Ints, shares: Floats) -> Floats:
    """Values (n, k) of vertices at points with so much (p, 3) of each of their corners, (p, k)."""
    first, second, third = (shares[:, k, None] * values[corners[:, k]] for k in range(3))
    mixed: Floats = first + second + third
    return mixed


def _lit(view: Floats, up: Floats, base: Floats) -> Floats:
    """Light from the sky and the ground, a key light, a fill light and a rim, as display colour."""

    def lamp(x: float, y: float, z: float, wrap: float) -> Floats:
        direction = np.array([x, y, z]) / np.linalg.norm([x, y, z])
        light: Floats = np.maximum((view @ direction + wrap) / (1 + wrap), 0.0)[:, None]
        return light

    facing = np.clip(view[:, 2:3], 0.0, 1.0)
    sky = 0.5 + 0.5 * up[:, None]
    ambient = sky * np.array([0.42, 0.45, 0.52]) + (1 - sky) * np.array([0.30, 0.22, 0.19])
    key = lamp(-0.55, 0.75, 0.65, 0.25) ** 1.3 * np.array([0.98, 0.92, 0.82])
    fill = lamp(0.9, 0.1, 0.5, 0.2) * np.array([0.12, 0.14, 0.19])
    half = lamp(-0.30, 0.45, 1.0, 0.0)
    rim = (1 - facing) ** 3 * sky * 0.22
    linear = base * (ambient + key + fill) + 0.07 * half**36 + rim * (0.4 + 0.6 * base)
    shown: Floats = np.clip(linear, 0.0, 1.0) ** (1 / 2.2)
    return shown


def _visible(screen: Floats, triangles: Ints, width: int, height: int) -> tuple[Ints, Floats]:
    """The triangle seen in each pixel, or −1, and the weights of its corners there."""
    depth = np.full(width * height, -np.inf)
    face = np.full(width * height, -1, dtype=np.int64)
    weights = np.zeros((width * height, 3))
    for which, pixel, share in _covered(screen, triangles, width, height):
        z = np.einsum("pk,pk->p", share, screen[triangles[which], 2])
        order = np.argsort(z, kind="stable")
        nearest = np.full(width * height, -1, dtype=np.int64)
        nearest[pixel[order]] = order  # of several, the last remains
        last = nearest[nearest >= 0]
        last = last[z[last] > depth[pixel[last]]]
        place = pixel[last]
        depth[place], face[place], weights[place] = z[last], which[last], share[last]
    return face, weights


def _covered(
    screen: Floats, triangles: Ints, width: int, height: int
) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Triangle, pixel and weights of the corners wherever a pixel's centre is in a triangle."""
    corners = screen[triangles][..., :2]
    limit = np.array([width, height])
    first = np.clip(np.ceil(corners.min(axis=1) - 0.5).astype(np.int64), 0, limit)
    last = np.clip(np.floor(corners.max(axis=1) - 0.5).astype(np.int64) + 1, 0, limit)
    spans = np.maximum(last - first, 0)
    pairs = spans.prod(axis=1)
    a, b, c = (corners[:, k] for k in range(3))
    area = _cross(b - a, c - a)
    solid = np.flatnonzero((pairs > 0) & (np.abs(area) > 1e-12))
    # The weights of two corners as linear functions of column and row, from the first pixel on.
    middle = first[solid] + 0.5
    slopes, starts = [], []
    for one, other in ((b, c), (c, a)):
        edge = (other - one)[solid] / area[solid, None]
        slopes.append(np.stack([-edge[:, 1], edge[:, 0]], axis=1))
        starts.append(_cross(edge, middle - one[solid]))
    chunk = np.cumsum(pairs[solid]) // _CHUNK
    for part in np.unique(chunk):
        mine = np.flatnonzero(chunk == part)
        counts, wide = pairs[solid[mine]], spans[solid[mine], 0]
        of = np.repeat(mine, counts)
        within = np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts)
        row, column = np.divmod(within, np.repeat(wide, counts))
        u, v = (
            start[of] + slope[of, 0] * column + slope[of, 1] * row
            for start, slope in zip(starts, slopes, strict=True)
        )
        w = 1 - u - v
        inside = np.flatnonzero((u >= -1e-9) & (v >= -1e-9) & (w >= -1e-9))
        which = solid[of[inside]]
        pixel = (first[which, 1] + row[inside]) * width + first[which, 0] + column[inside]
        yield which, pixel, np.stack([u[inside], v[inside], w[inside]], axis=1)


def _shadow(
    positions: Floats, triangles: Ints, camera: Camera, floor: float, size: tuple[int, int]
) -> Floats:
    """Opacity of a soft shadow on the level ``floor`` [m], (height · width,)."""
    width, height = size
    if not len(triangles):
        return np.zeros(width * height)
    used = np.unique(triangles)
    rise = positions[:, 2:] - floor
    fallen = positions + rise * np.array([0.10, 0.16, 0.0])
    fallen[:, 2] = floor
    screen = camera.project(fallen, width, height)
    # What is high above the floor casts a wide and faint shadow, what touches it a sharp one.
    far = rise[triangles].mean(axis=(1, 2))
    total = np.zeros((height, width))
    for share, blur, strength in ((1.0, 0.060, 0.26), (0.22, 0.022, 0.34)):
        level = share * max(float(rise[used].max()), 1e-9)
        near = triangles[far <= (1 + 1e-9) * level]  # a level sheet, too
        mask = np.zeros(width * height)
        for _, pixel, _ in _covered(screen, near, width, height):
            mask[pixel] = 1.0
        total += strength * gaussian_filter(mask.reshape(height, width), blur * height / 2)
    return np.minimum(total, 0.6).ravel()


def _cross(a: Floats, b: Floats) -> Floats:
    product: Floats = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return product
