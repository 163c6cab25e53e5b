"""Experiments with dissipation, drawn from the examples run as tests."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from drawing import COLORS, IMAGES, INK, plain, side_view

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples"))

import clay  # noqa: E402
import dissipation_order  # noqa: E402
import power_law_decay  # noqa: E402
import shaken  # noqa: E402
import spinning_beam  # noqa: E402
import spline_damping  # noqa: E402

import supple as sp  # noqa: E402

mpl.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


def labelled(axes: Any, x: str, y: str, title: str = "") -> None:
    axes.set_xlabel(x, fontsize=9, color=INK)
    axes.set_ylabel(y, fontsize=9, color=INK)
    axes.set_title(title, fontsize=9, color=INK)
    plain(axes)


def two(widths: tuple[float, float] = (1.0, 1.0)) -> tuple[Any, Any, Any]:
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(9.2, 3.7), layout="constrained", width_ratios=widths
    )
    return figure, left, right


def decay() -> None:
    figure, left, right = two()
    for p, color in zip(power_law_decay.EXPONENTS, COLORS, strict=False):
        motion = power_law_decay.swinging(p)
        time = motion.times / power_law_decay.period
        size = np.sqrt(motion.kinetic / motion.kinetic[0])
        theory = power_law_decay.amplitude(p, motion.times)
        tops, sizes = power_law_decay.peaks(motion)
        left.plot(time, size, color=color, linewidth=0.8, alpha=0.35)
        for axes in (left, right):
            axes.plot(time, theory, "--", color=color, linewidth=1.1)
            axes.plot(tops / power_law_decay.period, sizes, "o", color=color, markersize=4,
                      label=f"p = {p:g}")  # fmt: skip
    right.set_yscale("log")
    right.set_ylim(0.15, 1.1)
    right.set_yticks([0.2, 0.3, 0.5, 1.0], ["0.2", "0.3", "0.5", "1"])
    right.set_yticks([], minor=True)
    left.set_ylim(0, 1.05)
    labelled(left, "periods", "√(kinetic energy), start = 1", "dots: largest speed; dashed: theory")
    labelled(right, "periods", "", "logarithmic")
    left.legend(frameon=False, fontsize=8)
    figure.savefig(IMAGES / "power_law_decay.png", dpi=110)


def beam() -> None:
    figure, rows = plt.subplots(2, 2, figsize=(9.2, 5.6), layout="constrained", sharex=True)
    for (name, (rule, dt)), color in zip(spinning_beam.RULES.items(), COLORS, strict=False):
        motion = spinning_beam.spun(rule, dt)
        label = f"{name}, {1000 * dt:g} ms"
        rows[0, 0].plot(motion.times, spinning_beam.energy(motion), color=color, label=label)
        rows[1, 0].plot(motion.times, spinning_beam.spin(motion), color=color)
    shown = ("no damping", "whole stiffness", "whole, by velocity gradient", "strain rate")
    styles = ("-", "-", "-", "--")
    for name, color, style in zip(shown, COLORS[3::-1], styles, strict=True):
        motion = spinning_beam.spun(sp.TRBDF2(), spinning_beam.DT, spinning_beam.DAMPINGS[name])
        curve = {"color": color, "linestyle": style, "linewidth": 1.4}
        label = name.replace("whole, by velocity gradient", "whole, momentum conserved")
        rows[0, 1].plot(motion.times, spinning_beam.energy(motion), label=label, **curve)
        rows[1, 1].plot(motion.times, spinning_beam.spin(motion), **curve)
    labelled(rows[0, 0], "", "energy", "no damping, three rules")
    labelled(rows[0, 1], "", "", "four dampings, TR-BDF2")
    labelled(rows[1, 0], "time [s]", "angular momentum")
    labelled(rows[1, 1], "time [s]", "")
    for axes in rows.flat:
        axes.set_ylim(0, 1.05)
        axes.set_xlim(0, spinning_beam.DURATION)
    for axes in rows[0]:
        axes.legend(frameon=False, fontsize=8, loc="lower left")
    figure.savefig(IMAGES / "spinning_beam.png", dpi=110)


def order() -> None:
    figure, left, right = two()
    styles = ("-", ":", "--", "-.")
    for axes, scene in zip((left, right), dissipation_order.SCENES, strict=True):
        steps = dissipation_order.DURATION / np.array(dissipation_order.STEPS)
        errors = scene.errors()
        for (name, found), color, style in zip(errors.items(), COLORS, styles, strict=False):
            axes.loglog(steps, found, style, color=color, marker="o", markersize=4, label=name)
        for slope in (1, 2):
            line = errors["ADMM, first order"][0] * (steps / steps[0]) ** slope
            axes.loglog(steps, line / 2.5, color="#a0a0aa", linewidth=0.8)
            axes.text(steps[-1], line[-1] / 2.5, f"{slope} ", fontsize=8, color=INK, ha="right")
        labelled(axes, "step [s]", "error over the start", scene.name)
        axes.set_xticks(steps, [f"{1000 * step:g} ms" for step in steps])
        axes.set_xticks([], minor=True)
        axes.yaxis.set_minor_formatter("")
    left.legend(frameon=False, fontsize=8)
    figure.savefig(IMAGES / "dissipation_order.png", dpi=110)


def matter() -> None:
    figure = plt.figure(figsize=(9.2, 6.2), layout="constrained")
    grid = figure.add_gridspec(2, 4, width_ratios=(2.2, 1, 1, 1))
    fallen = figure.add_subplot(grid[0, 0])
    for column, ((name, damping), color) in enumerate(
        zip(clay.DAMPINGS.items(), COLORS, strict=False), 1
    ):
        motion = clay.thrown(damping)
        fallen.plot(motion.times, clay.height(motion), color=color, label=name)
        shape = figure.add_subplot(grid[0, column])
        side_view(shape, clay.mesh, clay.mesh.vertices + motion.displacements[-1], color)
        shape.axhline(0, color=INK, linewidth=0.8)
        shape.set_xlim(-0.12, 0.32)
        shape.set_ylim(-0.03, 0.6)
        shape.set_title(f"{name}, after {clay.DURATION:g} s", fontsize=9, color=INK)
    fallen.axhline(clay.sagging(), color=INK, linewidth=0.8, linestyle=":")
    labelled(fallen, "time [s]", "height [m]", "thrown on the floor; dotted: at rest")
    fallen.legend(frameon=False, fontsize=8)
    shakes = figure.add_subplot(grid[1, :])
    for (name, damping), color in zip(shaken.DAMPINGS.items(), COLORS, strict=False):
        times, bent = shaken.shaken(damping)
        shakes.plot(times, 100 * bent, color=color, linewidth=1.2, label=name)
    shakes.axvspan(0, shaken.SHAKING, color="#f0f0f4", zorder=0)
    labelled(shakes, "time [s]", "bent by [cm]", "shaken by its foot during the first second")
    shakes.legend(frameon=False, fontsize=8, ncols=3, loc="lower right")
    shakes.set_xlim(0, shaken.DURATION)
    shakes.set_ylim(-42, 32)
    figure.savefig(IMAGES / "clay_and_shaking.png", dpi=110)


def spline() -> None:
    figure, left, right = two((1, 2))
    stretch = np.linspace(0.9, 1.1, 400)
    curve = spline_damping.CURVE
    left.semilogy(stretch, [curve.at(s) for s in stretch], color=COLORS[2])
    labelled(left, "principal stretch", "factor", "the curve")
    for (name, (times, out)), color in zip(spline_damping.compared().items(), COLORS, strict=False):
        width = 1.8 if name == "curve" else 0.9
        right.plot(times, out, color=color, linewidth=width, label=name)
    labelled(right, "time [s]", "end of the bar, start = 1")
    right.set_xlim(0, spline_damping.DURATION)
    right.set_ylim(-1.25, 1.05)
    right.legend(frameon=False, fontsize=8, ncols=4, loc="lower right")
    figure.savefig(IMAGES / "spline_damping.png", dpi=110)


DRAWN = {"decay": decay, "beam": beam, "order": order, "matter": matter, "spline": spline}


def main() -> None:
    for name in sys.argv[1:] or DRAWN:
        DRAWN[name]()


if __name__ == "__main__":
    main()
