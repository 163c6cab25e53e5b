"""A sheet that swings under three rules, drawn from the example run as a test."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from drawing import COLORS, IMAGES, INK, plain, sheet_view

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples"))

import swinging_sheet as example  # noqa: E402

mpl.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

FRAMES = (0.4, 0.8, 1.2, 1.6, 2.0)  # [s]


def main() -> None:
    figure = plt.figure(figsize=(9.2, 6.9), layout="constrained")
    plots, frames = figure.subfigures(2, 1, height_ratios=(1, 1.8))
    energy, bending = plots.subplots(1, 2)
    grid = frames.subplots(len(example.RULES), len(FRAMES))
    for row, (name, (rule, dt)) in enumerate(example.RULES.items()):
        motion, color = example.let_go(rule, dt), COLORS[row]
        label = f"{name}, {1e3 * dt:.0f} ms"
        energy.plot(motion.times, example.total(motion), color=color, lw=1.4, label=label)
        bending.plot(motion.times, 1e3 * example.wrinkles(motion), color=color, lw=1.4)
        for axes, time in zip(grid[row], FRAMES, strict=True):
            x = motion.positions[int(np.searchsorted(motion.times, time - 1e-9))]
            sheet_view(axes, example.mesh.cells, x, color)
            axes.set_xlim(-1.36, 0.7)
            axes.set_ylim(-0.85, 0.55)
            if row == 0:
                axes.set_title(f"{time:g} s", fontsize=9, color=INK)
        grid[row][0].text(-1.36, -0.8, name, fontsize=9, color=INK)
    for axes, what in ((energy, "energy [J]"), (bending, "energy of bending [mJ]")):
        axes.set_xlabel("time [s]", fontsize=9, color=INK)
        axes.set_ylabel(what, fontsize=9, color=INK)
        axes.set_xlim(0, example.DURATION)
        plain(axes)
    energy.legend(frameon=False, fontsize=8)
    figure.savefig(IMAGES / "swinging_sheet.png", dpi=110)


if __name__ == "__main__":
    main()
