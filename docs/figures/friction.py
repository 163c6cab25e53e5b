"""Experiments with contact and friction, drawn from the examples run as tests."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from drawing import COLORS, GRID, IMAGES, INK, plain, side_view

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples"))

import leaning_blocks  # noqa: E402
import sliding_block  # noqa: E402
import spinning_ball  # noqa: E402

import supple as sp  # noqa: E402

mpl.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


def sliding() -> None:
    figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    solvers = ("Newton", "ADMM, 10 iterations", "ADMM, 50 iterations")
    for name, color, style in zip(solvers, COLORS, ("-", "--", ":"), strict=False):
        motion = sliding_block.slide(sp.TRBDF2(), sliding_block.SOLVERS[name])
        speed = sliding_block.speed(motion)
        axes.plot(motion.times, speed, style, color=color, linewidth=1.8, label=name)
    stop = sliding_block.SPEED / (sliding_block.MU * sliding_block.G)
    axes.plot([0, stop, sliding_block.DURATION], [sliding_block.SPEED, 0, 0], color=INK,
              linewidth=0.8, label="v₀ − μ g t")  # fmt: skip
    axes.set_xlabel("time [s]", fontsize=9, color=INK)
    axes.set_ylabel("speed of the block [m/s]", fontsize=9, color=INK)
    axes.legend(frameon=False, fontsize=8)
    plain(axes)
    figure.savefig(IMAGES / "sliding_block.png", dpi=110)


def leaning() -> None:
    angles, frictions = leaning_blocks.ANGLES, leaning_blocks.FRICTIONS
    figure, rows = plt.subplots(3, 3, figsize=(9.2, 7.0), layout="constrained")
    for row, angle in zip(rows, angles, strict=True):
        for axes, mu in zip(row, frictions, strict=True):
            found = leaning_blocks.let_lean(angle, mu, sp.TRBDF2())
            side_view(axes, found.mesh, found.mesh.vertices, GRID)
            color = COLORS[2] if found.stood else COLORS[0]
            side_view(axes, found.mesh, found.mesh.vertices + found.u, color)
            axes.plot([0, 0, 1.35], [1.05, 0, 0], color=INK, linewidth=1.2)
            axes.set_xlim(-0.03, 1.35)
            axes.set_ylim(-0.03, 1.05)
            word = "stands" if found.stood else f"slides, here after {found.times[-1]:.2f} s"
            axes.set_title(f"{angle}°, μ = {mu:g}: {word}", fontsize=9, color=INK)
    figure.savefig(IMAGES / "leaning_blocks.png", dpi=110)


def ball() -> None:
    figure, (above, below) = plt.subplots(
        2, 1, figsize=(9.2, 5.4), layout="constrained", height_ratios=(1, 1.1)
    )
    rows, shapes = spinning_ball.dropped(spinning_ball.FRICTION)
    side_view(above, spinning_ball.mesh, spinning_ball.mesh.vertices, GRID)
    for place in np.arange(1, 4) * 2 * spinning_ball.RADIUS:
        passing = int(np.argmax(rows[:, 1] > place))
        side_view(above, spinning_ball.mesh, shapes[passing], COLORS[1])
    above.plot(rows[:, 1], rows[:, 2], color=COLORS[0], linewidth=1.2)
    above.axhline(0, color=INK, linewidth=1.2)
    above.set_xlim(-0.15, 0.85)
    above.set_ylim(-0.02, 0.32)
    above.set_title("path of the centre, and the ball on its way", fontsize=9, color=INK)
    below.plot(rows[:, 0], rows[:, 3], color=COLORS[0], label="speed along the floor")
    surface = rows[:, 4] * spinning_ball.RADIUS
    below.plot(rows[:, 0], surface, color=COLORS[1], label="spin times radius")
    below.axhline(spinning_ball.rolling_speed(), color=INK, linewidth=0.8, linestyle=":")
    below.set_xlabel("time [s]", fontsize=9, color=INK)
    below.set_ylabel("[m/s]", fontsize=9, color=INK)
    below.set_title("dotted: rolling with all of the spin", fontsize=9, color=INK)
    below.legend(frameon=False, fontsize=8)
    below.set_xlim(0, spinning_ball.DURATION)
    plain(below)
    figure.savefig(IMAGES / "spinning_ball.png", dpi=110)


DRAWN = {"sliding": sliding, "leaning": leaning, "ball": ball}


def main() -> None:
    for name in sys.argv[1:] or DRAWN:
        DRAWN[name]()


if __name__ == "__main__":
    main()
