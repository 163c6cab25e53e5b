"""Error against time in one large step, beside other codes; python -m benchmarks convergence."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
from drawing import COLORS, IMAGES, INK, plain

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.convergence import cantilever, curves  # noqa: E402

mpl.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

NAMES = {"Newton": "Newton", "ADMM": "ADMM, accelerated", "ADMM, plain": "ADMM, plain"}
# Quoted, not measured here: milliseconds and error after the first iterations, and those of later
# ones, whose time is not known and drawn as if every iteration took the same.
ELSEWHERE = {
    "admm-elastic (C++, two threads)": ("s", (177, 0.44, "20"), (1770, 0.045, "200")),
    "Newton in Vega FEM (one thread)": ("D", (51, 1e-3, "1"), (102, 1e-4, "2, below this")),
}


def main() -> None:
    figure, axes = plt.subplots(figsize=(7.4, 4.4), layout="constrained")
    for (name, curve), color in zip(curves(cantilever()).items(), COLORS, strict=False):
        times = [1e3 * seconds for _, _, seconds in curve]
        errors = [error for _, error, _ in curve]
        axes.plot(times, errors, "o-", color=color, markersize=4, linewidth=1.6, label=NAMES[name])
        note(axes, times[-1], errors[-1], f"{curve[-1][0]}", color)
    for (name, (marker, known, later)), color in zip(ELSEWHERE.items(), COLORS[3:], strict=False):
        style = {"color": color, "marker": marker, "markersize": 6, "linestyle": "none"}
        axes.plot(*known[:2], **style, label=name)
        axes.plot(*later[:2], **style, fillstyle="none")
        axes.plot(*zip(known[:2], later[:2], strict=True), ":", color=color, linewidth=1.0)
        for x, y, word in (known, later):
            note(axes, x, y, word, color, away=(-8, -12))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks([10, 30, 100, 300, 1000, 3000], ["10", "30", "100", "300", "1000", "3000"])
    axes.minorticks_off()
    axes.set_xlim(6, 3000)
    axes.set_xlabel("time of the step [ms]", fontsize=9, color=INK)
    axes.set_ylabel("error of the displacements", fontsize=9, color=INK)
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    plain(axes)
    figure.savefig(IMAGES / "convergence.png", dpi=110)


def note(
    axes: plt.Axes, x: float, y: float, word: str, color: str, away: tuple[int, int] = (6, 4)
) -> None:
    """How many iterations a point stands for."""
    side = "left" if away[0] > 0 else "right"
    axes.annotate(word, (x, y), away, textcoords="offset points", fontsize=8, color=color, ha=side)


if __name__ == "__main__":
    main()
