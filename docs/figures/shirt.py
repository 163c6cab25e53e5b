"""A shirt on a man who walks, as a sheet and as yarns, under two dampings at the same instants.

``shirt.py FOLDER --save MOTIONS`` and ``yarn_shirt.py FOLDER --save MOTIONS``, in examples/, make
the motions; then this draws them, with the same words.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import matplotlib as mpl
import numpy as np
from drawing import COLORS, IMAGES, INK, on_white, plain
from numpy.typing import NDArray
from PIL import Image

import supple as sp
from supple.io.pictures import Camera, render
from supple.io.yarn_surfaces import YarnTubes

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples"))

import shirt  # noqa: E402

mpl.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

INSTANTS = (0.0, 0.3, 0.5, 0.8)  # [s], from when he is dressed
DRESSED = shirt.DRESSING.growing + shirt.DRESSING.settling
CAMERA = Camera((0.0, 0.0, 0.9), 0.78, azimuth=-48.0, elevation=7.0)
THICKER = 5.0  # so yarns are drawn, as a loose weave would show them
SKIN, CLOTH = (0.80, 0.66, 0.55), (0.33, 0.48, 0.70)
ROWS = {
    "shirt_medium": "sheet, medium",
    "shirt_low": "sheet, low",
    "yarn_shirt_medium": "yarns, medium",
    "yarn_shirt_low": "yarns, low",
}


def snapshot(motion: sp.Motion, man: sp.AnimatedMesh, frame: int, time: float) -> NDArray[np.uint8]:
    """The man in his shirt, as it is in a frame."""
    if isinstance(motion.mesh, sp.SheetMesh):
        x, triangles = motion.positions[frame], motion.mesh.cells
        paint = np.tile(CLOTH, (len(x), 1))
    else:
        thick = replace(motion.mesh, radii=THICKER * motion.mesh.radii)
        tubes = YarnTubes(thick, samples=3, sides=8)
        x, triangles, paint = tubes.at(motion.displacements[frame]), tubes.triangles, tubes.paint
    skin = man.surface(time)
    image = render(
        np.concatenate([x, skin.vertices]),
        np.concatenate([triangles, skin.triangles + len(x)]),
        CAMERA,
        size=(330, 400),
        colors=np.concatenate([paint, np.tile(SKIN, (skin.n_vertices, 1))]),
    )
    return on_white(image)


def main() -> None:
    given = shirt.wishes()
    _, man = shirt.around(given.folder, shirt.DRESSING)
    figure = plt.figure(figsize=(8.4, 11.6), layout="constrained")
    pictures, curves = figure.subfigures(2, 1, height_ratios=(5.2, 1))
    grid = pictures.subplots(len(ROWS), len(INSTANTS))
    energy = curves.subplots(1, 2)
    for k, (row, (name, label)) in enumerate(zip(grid, ROWS.items(), strict=True)):
        motion = sp.read_motion(given.save / f"{name}.motion")
        since = motion.times - (DRESSED if name.startswith("shirt") else 0.0)
        for axes, time in zip(row, INSTANTS, strict=True):
            frame = int(np.argmin(np.abs(since - time)))
            axes.imshow(snapshot(motion, man, frame, float(since[frame] + DRESSED)))
            axes.set_xticks([])
            axes.set_yticks([])
            axes.spines[:].set_visible(False)
            if k == 0:
                axes.set_title(f"{time:g} s", fontsize=9, color=INK)
        row[0].set_ylabel(label, fontsize=10, color=INK)
        energy[k // 2].plot(since, 1e3 * motion.kinetic, color=COLORS[k % 2], lw=1.3, label=label)
    for axes in energy:
        axes.set_xlim(0, INSTANTS[-1])
        axes.set_ylim(0, None)
        axes.set_xlabel("time [s]", fontsize=9, color=INK)
        axes.set_ylabel("kinetic energy [mJ]", fontsize=9, color=INK)
        axes.legend(frameon=False, fontsize=8)
        plain(axes)
    drawn = BytesIO()
    figure.savefig(drawn, dpi=80)
    few_colors = Image.open(drawn).convert("RGB").quantize(160)
    few_colors.save(IMAGES / "shirt.png", optimize=True)


if __name__ == "__main__":
    main()
