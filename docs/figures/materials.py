"""Stress of each material in a bar that is stretched or squeezed while its sides are held."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
from drawing import COLORS, IMAGES, INK, plain

from supple.materials import Corotational, NeoHookean, StableNeoHookean, StVK

mpl.use("Agg")
import matplotlib.pyplot as plt

YOUNG = 1e6  # [Pa]


def main() -> None:
    stretch = np.linspace(-0.5, 2.0, 501)
    F = np.zeros((len(stretch), 1, 3, 3))
    F[:, 0] = np.eye(3)
    F[:, 0, 0, 0] = stretch
    figure, axes = plt.subplots(figsize=(6.4, 3.5), layout="constrained")
    axes.axvspan(-0.5, 0, color="#f3ece8", zorder=0)
    axes.text(-0.25, 1.55, "inside out", ha="center", fontsize=9, color=INK)
    for cls, color in zip((StVK, NeoHookean, StableNeoHookean, Corotational), COLORS, strict=False):
        material = cls(young=YOUNG, poisson=0.4)
        lam, mu = material.lame(np.arange(len(stretch)))
        psi, P = np.empty((len(stretch), 1)), np.empty((len(stretch), 1, 3, 3))
        cls.evaluate(F, lam, mu, psi, P, np.empty((0, 1, 6, 3, 3)), 1)
        stress = np.where(np.isfinite(psi[:, 0]), P[:, 0, 0, 0], np.nan)
        style = "--" if cls is Corotational else "-"  # it lies on the line before it here
        axes.plot(stretch, stress / YOUNG, style, color=color, linewidth=2, label=cls.__name__)
    axes.axhline(0, color=INK, linewidth=0.8)
    axes.set_xlim(-0.5, 2.0)
    axes.set_ylim(-4, 4)
    axes.set_xlabel("stretch along the bar", fontsize=9, color=INK)
    axes.set_ylabel("stress P₁₁ / Young's modulus", fontsize=9, color=INK)
    axes.legend(frameon=False, fontsize=9, loc="lower right")
    plain(axes)
    figure.savefig(IMAGES / "materials.png", dpi=110)


if __name__ == "__main__":
    main()
