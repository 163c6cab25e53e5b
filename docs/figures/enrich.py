"""A creature that hops, as its animation has it, and with flesh that swings and settles."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from drawing import write_png
from scipy.spatial import cKDTree

from supple.builtin import creature
from supple.io.gltf.rigged_creature import write_rigged_creature
from supple.io.pictures import Camera, render
from supple.workflows.enrich.enrich import enrich

AZIMUTH, ELEVATION, SIZE = -72.0, 10.0, (900, 480)
FRAMES = (0, 4, 8, 12, 15)
APART, BELOW = 0.36, 0.58  # [m] between frames, and between rows


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "creature.glb", Path(folder) / "soft.glb"
        write_rigged_creature(source)
        soft = {"*ear": 2.5}
        made = enrich(source, target, clips=["hop"], soft=soft, settle=0.8, quality="draft")
    (motion,) = made.motions
    before = made.rigged.character.vertices_at(motion.times, "hop")
    aside = Camera((0, 0, 0), 1, AZIMUTH, ELEVATION).axes[0]
    shapes = []
    for row, frames in enumerate((before, before + motion.displacements)):
        for column, k in enumerate(FRAMES):
            shift = APART * column * aside - np.array([0.0, 0.0, BELOW * row])
            shapes.append(frames[k] + shift)
    x = np.concatenate(shapes)
    faces = made.rigged.character.skin.triangles
    model = creature()
    assert model.skin is not None
    assert model.colors is not None
    _, same = cKDTree(model.skin.surface.vertices).query(made.rigged.character.surface().vertices)
    colors = model.colors[same]
    image = render(
        x,
        np.concatenate([faces + k * len(before[0]) for k in range(len(shapes))]),
        Camera.framing(x, azimuth=AZIMUTH, elevation=ELEVATION, aspect=SIZE[0] / SIZE[1]),
        size=SIZE,
        colors=np.tile(colors, (len(shapes), 1)),
    )
    write_png("enrich.png", image)


if __name__ == "__main__":
    main()
