"""A mass that circles on a spring under two dampings, drawn from the example run as a test."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
from drawing import COLORS, IMAGES, INK, plain

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples"))

import spinning_spring as example  # noqa: E402

import supple as sp  # noqa: E402

mpl.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


def main() -> None:
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(9.2, 3.7), layout="constrained", width_ratios=(1.7, 1)
    )
    for kind, damping, style in (
        ("strain rate", example.ours, "-"),
        ("whole stiffness", example.whole, "--"),
    ):
        for beta, color in zip(example.BETAS, COLORS, strict=False):
            motion = example.thrown(damping(beta), sp.Newmark())
            label = f"{kind}, β = {beta:g} s"
            left.plot(motion.times, motion.kinetic, style, color=color, linewidth=1.3, label=label)
            if beta == example.BETAS[1]:
                path = motion.vertex(1)
                right.plot(path[:, 0], path[:, 1], style, color=color, linewidth=0.9)
    left.axhline(example.CIRCLING, color=INK, linewidth=0.8, linestyle=":")
    left.set_xlabel("time [s]", fontsize=9, color=INK)
    left.set_ylabel("kinetic energy [J]", fontsize=9, color=INK)
    left.set_title("dotted: a steady circle", fontsize=9, color=INK)
    left.set_xlim(0, example.DURATION)
    left.set_ylim(0, None)
    left.legend(frameon=False, fontsize=8, ncols=2, loc="upper right")
    right.plot(0, 0, ".", color=INK)
    right.set_aspect("equal")
    right.set_title(f"paths, β = {example.BETAS[1]:g} s", fontsize=9, color=INK)
    right.set_xlabel("x [m]", fontsize=9, color=INK)
    right.set_ylabel("y [m]", fontsize=9, color=INK)
    for axes in (left, right):
        plain(axes)
    figure.savefig(IMAGES / "spinning_spring.png", dpi=110)


if __name__ == "__main__":
    main()
