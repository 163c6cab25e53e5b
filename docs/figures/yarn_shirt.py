"""A shirt of yarns on a man who walks, under two dampings at the same instants.

Run as ``yarn_shirt.py FOLDER`` with the folder of man and shirt; see examples/yarn_shirt.py.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from drawing import IMAGES, INK, on_white
from numpy.typing import NDArray

from supple.io.pictures import Camera, render
from supple.io.yarn_surfaces import YarnTubes

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples"))

import shirt  # noqa: E402
import yarn_shirt as example  # noqa: E402

mpl.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

INSTANTS = (0.4, 0.5, 0.6, 0.7, 0.8)  # [s]
CAMERA = Camera((0.0, 0.0, 1.0), 0.8, azimuth=-48.0, elevation=7.0)
SKIN = (0.80, 0.66, 0.55)


def snapshot(walk: example.Walk, time: float) -> NDArray[np.uint8]:
    """The man in his shirt at a time [s]."""
    frame = int(np.argmin(np.abs(walk.motion.times - time)))
    tubes = YarnTubes(walk.motion.mesh, samples=4, sides=8)
    x = tubes.at(walk.motion.displacements[frame])
    man = walk.man.surface(float(walk.motion.times[frame]))
    colors = np.concatenate([tubes.paint, np.tile(SKIN, (man.n_vertices, 1))])
    triangles = np.concatenate([tubes.triangles, man.triangles + len(x)])
    places = np.concatenate([x, man.vertices])
    return on_white(render(places, triangles, CAMERA, size=(360, 420), colors=colors))


def draw(walks: dict[str, example.Walk]) -> None:
    figure, grid = plt.subplots(
        len(walks), len(INSTANTS), figsize=(10.0, 4.9), layout="constrained"
    )
    for row, (name, walk) in zip(grid, walks.items(), strict=True):
        for axes, time in zip(row, INSTANTS, strict=True):
            axes.imshow(snapshot(walk, time))
            axes.set_xticks([])
            axes.set_yticks([])
            axes.spines[:].set_visible(False)
            if row is grid[0]:
                axes.set_title(f"{time:g} s", fontsize=9, color=INK)
        row[0].set_ylabel(f"{name} damping", fontsize=10, color=INK)
    figure.savefig(IMAGES / "yarn_shirt.png", dpi=100)


def main() -> None:
    folder = shirt.wishes().folder
    draw({name: example.walk(folder, damping) for name, damping in example.DAMPINGS.items()})


if __name__ == "__main__":
    main()
