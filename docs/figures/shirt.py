"""A shirt on a man who walks, under three dampings at the same instants, and its energy.

Run as ``shirt.py FOLDER`` with the folder of man and shirt; see examples/shirt.py.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from drawing import COLORS, IMAGES, INK, on_white, plain
from numpy.typing import NDArray

from supple.io.pictures import Camera, render

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples"))

import shirt as example  # noqa: E402

mpl.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

INSTANTS = (0.4, 1.0, 1.3, 1.6, 1.9)  # [s]
CAMERA = Camera((0.0, 0.0, 0.87), 0.86, azimuth=-48.0, elevation=7.0)
SKIN, CLOTH = (0.80, 0.66, 0.55), (0.33, 0.48, 0.70)


def snapshot(walk: example.Walk, time: float) -> NDArray[np.uint8]:
    """The man in his shirt at a time [s]."""
    frame = int(np.argmin(np.abs(walk.motion.times - time)))
    x, cells = walk.motion.positions[frame], walk.cloth.mesh.cells
    man = walk.man.surface(float(walk.motion.times[frame]))
    colors = np.repeat([CLOTH, SKIN], [len(x), man.n_vertices], axis=0)
    triangles = np.concatenate([cells, man.triangles + len(x)])
    places = np.concatenate([x, man.vertices])
    return on_white(render(places, triangles, CAMERA, size=(330, 430), colors=colors))


def draw(walks: dict[str, example.Walk]) -> None:
    figure = plt.figure(figsize=(9.4, 10.4), layout="constrained")
    pictures, curve = figure.subfigures(2, 1, height_ratios=(3.3, 0.9))
    grid = pictures.subplots(len(walks), len(INSTANTS))
    for row, (name, walk) in zip(grid, walks.items(), strict=True):
        for axes, time in zip(row, INSTANTS, strict=True):
            axes.imshow(snapshot(walk, time))
            axes.set_xticks([])
            axes.set_yticks([])
            axes.spines[:].set_visible(False)
            if row is grid[0]:
                axes.set_title(f"{time:g} s", fontsize=9, color=INK)
        row[0].set_ylabel(name, fontsize=10, color=INK)
    axes = curve.subplots()
    for (name, walk), color in zip(walks.items(), COLORS, strict=False):
        axes.plot(walk.motion.times, 1e3 * walk.motion.kinetic, color=color, lw=1.3, label=name)
    axes.set_xlim(0, walk.motion.times[-1])
    axes.set_ylim(0, None)
    axes.set_xlabel("time [s]", fontsize=9, color=INK)
    axes.set_ylabel("kinetic energy [mJ]", fontsize=9, color=INK)
    axes.legend(frameon=False, fontsize=9)
    plain(axes)
    figure.savefig(IMAGES / "shirt.png", dpi=100)


def main() -> None:
    folder = example.wishes().folder
    draw({name: example.walk(folder, damping) for name, damping in example.DAMPINGS.items()})


if __name__ == "__main__":
    main()
