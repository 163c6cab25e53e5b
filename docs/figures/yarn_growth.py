"""Time and memory of a step of woven cloth as it grows, from the table of the benchmark.

Run ``python -m benchmarks yarns`` for the table first.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
from drawing import COLORS, IMAGES, INK, plain

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.yarns import PAPER  # noqa: E402

mpl.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


def measured() -> list[list[float]]:
    """Crossings, seconds by the clock and of both cores, iterations, memory [GB] of each row."""
    lines = (ROOT / "docs" / "tables" / "yarns.md").read_text().splitlines()[2:]
    cells = [[cell.strip().replace(",", "") for cell in line.split("|")[1:6]] for line in lines]
    return [[float(cell) for cell in row] for row in cells]


def main() -> None:
    nodes, seconds, _, _, memory = zip(*measured(), strict=True)
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.4), layout="constrained")
    for axes, values, label in (
        (left, seconds, "Supple, two cores"),
        (right, memory, "Supple"),
    ):
        axes.plot(nodes, values, "o-", color=COLORS[0], label=label)
        even = [values[-1] * n / nodes[-1] for n in nodes]
        axes.plot(nodes, even, "--", color=INK, linewidth=0.8, label="in proportion")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("crossings", fontsize=9, color=INK)
        plain(axes)
    left.plot(*zip(*PAPER.items(), strict=True), "s:", color=COLORS[1],
              label="the paper: shirts, GPU")  # fmt: skip
    left.set_ylabel("time of a step of 1 ms [s]", fontsize=9, color=INK)
    right.set_ylabel("memory of the process [GB]", fontsize=9, color=INK)
    right.set_ylim(0.1, 20)
    left.legend(frameon=False, fontsize=8)
    figure.savefig(IMAGES / "yarn_growth.png", dpi=110)


if __name__ == "__main__":
    main()
