"""The figures of example damping, drawn from the examples that are run as tests."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from drawing import COLORS, IMAGES, INK, plain

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples"))

import damping_by_direction as direction  # noqa: E402
import damping_envelopes as envelopes  # noqa: E402
import integrator_energy as energy  # noqa: E402
import residual_by_strength as residual  # noqa: E402

import supple as sp  # noqa: E402
from supple.io.pictures import Camera, render  # noqa: E402
from supple.io.surfaces import Shading  # noqa: E402

mpl.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402


def label(axes: Axes, *, x: str = "", y: str = "", title: str = "") -> None:
    axes.set_xlabel(x, fontsize=9, color=INK)
    axes.set_ylabel(y, fontsize=9, color=INK)
    axes.set_title(title, fontsize=9, color=INK)
    plain(axes)


def picture(axes: Axes, shape: np.ndarray, title: str) -> None:
    """The beam bent into an example, over a faint one at rest."""
    beam = sp.HexMesh.box(size=(1.0, 0.1, 0.1), cells=(32, 4, 4))
    smooth = np.stack([  # the example, of a coarse mesh, as a cubic along the beam
        np.polyval(np.polyfit(direction.beam.vertices[:, 0], shape[:, k], 3), beam.vertices[:, 0])
        for k in range(3)
    ], axis=1)  # fmt: skip
    surface = beam.boundary()
    cut = Shading.cut(surface.vertices, surface.triangles, 40.0)
    rest = surface.vertices[cut.source]
    bent = rest + 0.3 * smooth[surface.vertex_ids][cut.source]
    camera = Camera.framing(np.array([rest, bent]), azimuth=-62, elevation=20, aspect=1.3)
    for x, opacity in ((rest, 0.28), (bent, 1.0)):
        axes.imshow(render(x, cut.triangles, camera, size=(416, 320)), alpha=opacity)
    axes.set_axis_off()
    axes.set_title(title, fontsize=9, color=INK)


def by_direction() -> None:
    default = direction.let_go(direction.rayleigh)
    tripled = sp.Rayleigh(stiffness=3 * direction.rayleigh.stiffness)
    rows = [
        [("Rayleigh × 3", direction.let_go(tripled), COLORS[1]),
         ("examples: sideways × 3", direction.let_go(direction.scaled(3.0, 1.0)), INK)],
        [("examples: sideways × 0.1, upwards × 5",
          direction.let_go(direction.scaled(0.1, 5.0)), INK)],
    ]  # fmt: skip
    figure, grid = plt.subplots(
        2, 3, figsize=(9.2, 4.9), width_ratios=(0.75, 1.3, 1.3), layout="constrained"
    )
    picture(grid[0, 0], direction.sideways, "example 1: sideways")
    picture(grid[1, 0], direction.upwards, "example 2: upwards")
    for (_, *plots), cases in zip(grid, rows, strict=True):
        for k, axes in enumerate(plots):
            for name, case, color in [("Rayleigh", default, COLORS[0]), *cases]:
                ring = case.swings[k]
                width, opacity = (1.2, 1.0) if color is INK else (4.0, 0.5)
                axes.plot(ring.times, 1000 * ring.displacements, color=color, linewidth=width,
                          alpha=opacity, label=name)  # fmt: skip
            x = "time [s]" if cases is rows[-1] else ""
            label(axes, x=x, y=f"tip {('sideways', 'upwards')[k]} [mm]", title=" ")
            axes.set_ylim(-1.1, 1.1)
        legend = plots[0].legend(frameon=False, fontsize=8, ncols=3, loc="lower left",
                                 bbox_to_anchor=(0, 0.99), borderaxespad=0.2)  # fmt: skip
        legend.set_in_layout(False)
    figure.savefig(IMAGES / "damping_by_direction.png", dpi=110)


def by_size() -> None:
    figure, grid = plt.subplots(
        2, 2, figsize=(9.2, 5.0), height_ratios=(1.35, 1), layout="constrained"
    )
    for (top, bottom), (name, curve) in zip(grid.T, envelopes.CURVES.items(), strict=True):
        found = envelopes.compared(curve)
        t = np.linspace(0, envelopes.DURATION, 400)
        top.plot(t, envelopes.expected(curve, t), "--", color=INK, linewidth=1.0)
        rings = ("this curve", found.ring, COLORS[2], 1.7), (
            f"best linear damping, γ = {found.gamma:.1f}", found.linear, COLORS[1], 1.0,
        )  # fmt: skip
        for words, ring, color, width in rings[::-1]:
            top.plot(ring.times, ring.displacements / envelopes.REACH, color=color, linewidth=width,
                     label=words)  # fmt: skip
            size, zeta = envelopes.half_cycles(ring)
            bottom.plot(size, zeta, "o", color=color, markersize=4, label="measured, " + words)
        label(top, x="time [s]", y="excitation χ", title=name)
        top.legend(frameon=False, fontsize=8, loc="upper right")
        amounts = np.linspace(0.01, 1, 200)
        asked = envelopes.ZETA * envelopes.over_a_cycle(curve, amounts)
        bottom.plot(amounts, asked, color=INK, linewidth=1.0, zorder=0, label="asked for")
        bottom.set_ylim(0, 1.15 * asked.max())
        label(bottom, x="size of the swing |χ|", y="damping ratio ζ")
    grid[1, 0].legend(frameon=False, fontsize=8, loc="upper left")
    figure.savefig(IMAGES / "damping_envelopes.png", dpi=110)


def by_strength() -> None:
    figure, axes = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
    for start, left, color in zip(residual.STARTS, residual.residuals(), COLORS, strict=False):
        axes.plot(residual.STRENGTHS, start * residual.formula(), "--", color=INK, linewidth=0.8)
        axes.plot(residual.STRENGTHS, left, "o-", color=color, markersize=3, linewidth=1.6,
                  label=f"from {start:g}")  # fmt: skip
    axes.plot([], [], "--", color=INK, linewidth=0.8, label="linear body")
    axes.set_xscale("log")
    label(axes, x="strength γ", y="excitation after one cycle")
    axes.legend(frameon=False, fontsize=9)
    figure.savefig(IMAGES / "residual_by_strength.png", dpi=110)


def by_integrator() -> None:
    figure, panels = plt.subplots(1, 2, figsize=(9.2, 3.4), layout="constrained")
    colors = (COLORS[0], COLORS[2], COLORS[1], COLORS[3])
    for axes, pull in zip(panels, (energy.SMALL, energy.LARGE), strict=True):
        start = energy.bent(pull)
        for (name, case), color in zip(energy.compared(start).items(), colors, strict=True):
            dt = energy.RULES[name][1]
            axes.plot(case.times, case.shares, color=color, linewidth=1.6,
                      label=f"{name}, {1000 * dt:.0f} ms")  # fmt: skip
        height = 100 * start[energy.end, 2].mean()
        label(axes, x="time [s]", y="energy / energy at the start",
              title=f"released from {height:.2g} cm")  # fmt: skip
        axes.set_ylim(0, 1.6)
    figure.legend(*panels[0].get_legend_handles_labels(), frameon=False, fontsize=8,
                  loc="outside lower center", ncols=4)  # fmt: skip
    figure.savefig(IMAGES / "integrator_energy.png", dpi=110)


if __name__ == "__main__":
    by_direction()
    by_size()
    by_strength()
    by_integrator()
