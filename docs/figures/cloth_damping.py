"""Cloth that hangs and swings under two dampings, drawn from the example run as a test."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from drawing import COLORS, IMAGES, INK, plain, sheet_view

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples"))

import cloth_damping as example  # noqa: E402

mpl.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

FRAMES = (0.0, 0.3, 0.5, 0.7)  # [s]


def main() -> None:
    figure = plt.figure(figsize=(9.2, 6.4), layout="constrained")
    curves = figure.subfigures(2, 1, height_ratios=(1, 1.05))
    motions = {}
    for axes, motion in zip(curves[0].subplots(1, 2), example.DURATION, strict=True):
        for (name, damping), color in zip(example.DAMPINGS.items(), COLORS, strict=False):
            run = motions[motion, name] = example.let_go(motion, damping)
            style = "--" if name == "whole stiffness" else "-"
            axes.plot(run.times, 1e3 * run.kinetic, style, color=color, lw=1.4, label=name)
        axes.set_title(motion, fontsize=9, color=INK)
        axes.set_xlabel("time [s]", fontsize=9, color=INK)
        axes.set_ylabel("kinetic energy [mJ]", fontsize=9, color=INK)
        axes.set_xlim(0, example.DURATION[motion])
        axes.set_ylim(0, None)
        axes.legend(frameon=False, fontsize=8)
        plain(axes)
    cells = example.level.cells
    for axes, time in zip(curves[1].subplots(1, len(FRAMES)), FRAMES, strict=True):
        for name, color, shift in (
            ("strain rate", COLORS[2], 0),
            ("whole stiffness", COLORS[1], 1.5),
        ):
            run = motions["swinging", name]
            x = run.positions[int(np.searchsorted(run.times, time - 1e-9))]
            sheet_view(axes, cells, x - [0, 0, shift / 0.866], color)
            if time == 0.0:
                axes.text(-0.7, 0.75 - shift, name, fontsize=9, color=INK)
        axes.set_title(f"{time:g} s", fontsize=9, color=INK)
        axes.set_xlim(-1.3, 0.9)
        axes.set_ylim(-2.5, 0.9)
    figure.savefig(IMAGES / "cloth_damping.png", dpi=110)


if __name__ == "__main__":
    main()
