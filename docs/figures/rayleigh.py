"""Damping ratio ζ = ½(α/ω + βω) over frequency, and what the two coefficients do to a swing."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
from drawing import COLORS, IMAGES, INK, plain

import supple as sp

mpl.use("Agg")
import matplotlib.pyplot as plt


def main() -> None:
    damping = sp.Rayleigh.from_ratios((1.0, 6.0), (0.02, 0.02))
    f = np.geomspace(0.2, 30.0, 400)
    w = 2 * np.pi * f
    by_mass, by_stiffness = damping.mass / w / 2, damping.stiffness * w / 2
    figure, axes = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
    axes.plot(f, 100 * (by_mass + by_stiffness), color=COLORS[0], linewidth=2, label="both")
    axes.plot(f, 100 * by_mass, "--", color=COLORS[1], label=f"mass: α = {damping.mass:.3f} 1/s")
    axes.plot(
        f, 100 * by_stiffness, "--", color=COLORS[2],
        label=f"stiffness: β = {1e3 * damping.stiffness:.2f} ms",
    )  # fmt: skip
    axes.plot([1, 6], [2, 2], "o", color=INK, zorder=3)
    axes.annotate("2 % at 1 and 6 Hz", (2.45, 2.25), fontsize=9, color=INK, ha="center")
    axes.set_xscale("log")
    axes.set_xticks([0.2, 0.5, 1, 2, 5, 10, 20], ["0.2", "0.5", "1", "2", "5", "10", "20"])
    axes.set_ylim(0, 9)
    axes.set_xlabel("frequency [Hz]", fontsize=9, color=INK)
    axes.set_ylabel("damping ratio ζ [%]", fontsize=9, color=INK)
    axes.legend(frameon=False, fontsize=9)
    plain(axes)
    figure.savefig(IMAGES / "rayleigh.png", dpi=110)


if __name__ == "__main__":
    main()
