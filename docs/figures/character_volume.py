"""How a character gets its flesh: surface, tets cut open with their bones, regions."""

from __future__ import annotations

import numpy as np
from drawing import COLORS, write_png
from matplotlib.colors import to_rgb
from numpy.typing import NDArray

from supple.builtin import creature
from supple.character.rigs import BlackBoxRig
from supple.character.tissue.regions import local_regions
from supple.character.tissue.volume import Volume, character_volume
from supple.io.pictures import Camera, render

Array = NDArray[np.float64]
AZIMUTH, ELEVATION, SIZE = -45.0, 12.0, (380, 480)
FLESH, BONE = np.array([0.95, 0.72, 0.62]), np.array([0.93, 0.92, 0.86])
SPINE = [((0.0, 0.03, 0.05), (0.0, 0.03, 0.17)), ((0.0, 0.03, 0.17), (0.0, -0.01, 0.27))]
LIMBS = [((side * 0.06, -0.09, 0.025), (side * 0.06, -0.02, 0.03)) for side in (-1.0, 1.0)] + [
    ((side * 0.085, -0.02, 0.17), (side * 0.105, -0.05, 0.13)) for side in (-1.0, 1.0)
]
HANDLES = {
    "body": [((0.0, 0.02, 0.06), (0.0, 0.02, 0.13))],
    "head": [((0.0, -0.03, 0.25), (0.0, 0.0, 0.27))],
    "left ear": [(0.066, -0.01, 0.37)],
    "right ear": [(-0.066, -0.01, 0.37)],
    "left foot": [(0.06, -0.09, 0.025)],
    "right foot": [(-0.06, -0.09, 0.025)],
}


def main() -> None:
    made = creature(resolution=24)
    surface = made.skin.surface
    rig = BlackBoxRig(lambda pose: surface.vertices, surface.triangles, np.zeros(1))
    volume = character_volume(rig).held(SPINE + LIMBS, share=0.45)
    camera = Camera.framing(
        surface.vertices,
        azimuth=AZIMUTH,
        elevation=ELEVATION,
        floor=0.0,
        aspect=SIZE[0] / SIZE[1],
    )
    skin = render(surface.vertices, surface.triangles, camera, size=SIZE, colors=made.colors)
    x, faces, colors = opened(volume)
    cut = render(x, faces, camera, size=SIZE, colors=colors)
    shares = local_regions(volume.mesh, HANDLES).functions
    shares = shares / shares.sum(axis=0)
    palette = np.array([to_rgb(color) for color in (*COLORS[:5], "#3a9d9d")])
    tint = volume.skin.matrix @ (0.3 + 0.7 * (shares.T @ palette))
    regions = render(
        surface.vertices, surface.triangles, camera, size=SIZE, colors=np.clip(tint, 0.0, 1.0)
    )
    write_png("character_volume.png", np.concatenate([skin, cut, regions], axis=1))


def opened(volume: Volume) -> tuple[Array, NDArray[np.int64], Array]:
    """Tets of one half, a little apart: positions, triangles, and colours of flesh and bone."""
    mesh = volume.mesh
    half = mesh.cells_where(x=(None, 0.0))
    corners = mesh.vertices[mesh.cells[half]]
    middle = corners.mean(axis=1, keepdims=True)
    x = middle + 0.92 * (corners - middle)
    faces = np.array([(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)])
    flat = x[:, faces].reshape(-1, 3)  # every face has vertices of its own: no smooth shading
    bony = volume.fixed[mesh.cells[half]].sum(axis=1) >= 2
    colors = np.where(bony[:, None], BONE, FLESH)
    return flat, np.arange(len(flat)).reshape(-1, 3), np.repeat(colors, 12, axis=0)


if __name__ == "__main__":
    main()
