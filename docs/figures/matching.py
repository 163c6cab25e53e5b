"""The silicone beam matched: its static shapes with the markers on them, and its swings.

Run as ``matching.py FOLDER`` with the folder of the recordings; see examples/silicone_beam.py.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from drawing import COLORS, IMAGES, INK, plain

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples"))

import silicone_beam as example  # noqa: E402

import supple as sp  # noqa: E402
from supple.design.ringdown.fit import fit_ring_down  # noqa: E402

mpl.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

TITLES = {"gravity": "alone", "load52": "52 g at the tip", "load101": "102 g at the tip"}
GREY = "#a9a9b4"


def outline(mesh: sp.VolumeMesh, u: np.ndarray) -> np.ndarray:
    """Lower and upper side of the middle of the beam, as a closed line [mm]."""
    X = mesh.vertices
    sides = []
    for height in (0.0, example.WIDTH):
        line = np.flatnonzero((np.abs(X[:, 2] - height) < 1e-9) & (np.abs(X[:, 1]) < 1e-9))
        sides.append(line[np.argsort(X[line, 0])])
    around = np.concatenate([sides[0], sides[1][::-1], sides[0][:1]])
    return 1e3 * (X + u)[around][:, [0, 2]]


def draw_shapes(axes: plt.Axes, mesh: sp.VolumeMesh, fit: sp.MaterialFit, given: list) -> None:
    for each, u, color in zip(given, fit.shapes, COLORS, strict=False):
        x, z = outline(mesh, u).T
        axes.plot(x, z, color=color, linewidth=1.2, label=TITLES[each.name])
        cells = sp.Surface(example.MARKERS, np.array([[0, 1, 2]]))
        places = 1e3 * sp.Embedding(mesh, cells).deform(u)
        axes.plot(places[:, 0], places[:, 2], "+", color=color, markersize=8)
        axes.plot(places[:, 0], 1e3 * each.positions[:, 2], "o", color=color, fillstyle="none")
    axes.set_title(
        f"at rest: E = {1e-3 * fit.values['young']:.0f} kPa; markers seen (o) and simulated (+)",
        fontsize=9,
        color=INK,
    )
    axes.set_xlabel("along the beam [mm]", fontsize=9, color=INK)
    axes.set_ylabel("height [mm]", fontsize=9, color=INK)
    axes.set_aspect("equal")
    axes.legend(fontsize=8, frameon=False, loc="lower left")
    plain(axes)


def main() -> None:
    folder, coarse = example.recordings()
    cells = (9, 2, 2) if coarse else (13, 3, 3)
    mesh = example.beam(cells)
    static = example.fit_static(folder, mesh)
    given = example.experiments(folder, cells=cells)
    fit = fit_ring_down(given, seconds=example.SECONDS)
    figure = plt.figure(figsize=(9.6, 4.6), layout="constrained")
    grid = figure.add_gridspec(3, 2)
    shapes = figure.add_subplot(grid[:, 0])
    draw_shapes(shapes, mesh, static, example.sagged(folder, static.body))
    for k, (each, ring, color) in enumerate(
        zip(given, fit.designed.simulated, COLORS, strict=False)
    ):
        axes = figure.add_subplot(grid[k, 1])
        seen = each.measured
        axes.plot(seen.times - seen.start, 1e3 * (seen.displacements - seen.rest), color=GREY)
        axes.plot(ring.times - ring.start, 1e3 * (ring.displacements - ring.rest), color=color)
        axes.set_xlim(-0.1, example.SECONDS)
        axes.set_title(
            f"{TITLES[each.name]}: measured (grey) and simulated [mm]", fontsize=9, color=INK
        )
        plain(axes)
    axes.set_xlabel("time since the first turn [s]", fontsize=9, color=INK)
    figure.savefig(IMAGES / "matching.png", dpi=90)


if __name__ == "__main__":
    main()
