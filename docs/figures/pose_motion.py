"""Characters in motion: the bent X, modes of each pose on the ground, reduced against coarse."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from drawing import COLORS, GRID, IMAGES, INK, plain, side_view
from numpy.typing import NDArray

import supple as sp

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FRAMES = (36, 60, 72, 88, 112)
SWUNG = 53  # the frame of the limb that is drawn


def ran(name: str) -> dict[str, Any]:
    """What an example has when it is done."""
    sys.argv = [name]
    sys.path.insert(0, str(EXAMPLES))
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))


def bent_x() -> None:
    """Rig and flesh at several frames."""
    made = ran("pose_bent_x")
    live, mesh = made["live"], made["mesh"]
    live.reset()
    figure, all_axes = plt.subplots(1, len(FRAMES), figsize=(9.6, 2.3))
    drawn = iter(zip(FRAMES, all_axes, strict=True))
    wanted, axes = next(drawn)
    for frame in range(1, FRAMES[-1] + 1):
        live.step(made["bend"](frame))
        if frame == wanted:
            rest = live.model.tet_rig.vertices(live.pose)
            side_view(axes, mesh, rest, GRID)
            side_view(axes, mesh, rest + live.displacements(), COLORS[0])
            axes.set(xlim=(-0.85, 0.85), ylim=(-0.7, 0.7))
            axes.set_title(f"{round(np.rad2deg(live.pose[0]))}°", color=INK, fontsize=10)
            wanted, axes = next(drawn, (0, None))
    figure.tight_layout(pad=0.3)
    figure.savefig(IMAGES / "pose_bent_x.png", dpi=110)


def on_the_ground() -> None:
    """The X while its foot is pulled down, with each set of modes."""
    made = ran("pose_independent_modes")
    mesh, poses = made["mesh"], made["poses"]
    rest = made["tet_rig"].vertices(poses[1])
    figure, all_axes = plt.subplots(1, 3, figsize=(7.2, 3.0))
    for axes, (name, vectors) in zip(all_axes, made["WAYS"].items(), strict=True):
        motion = made["pulled"](vectors, poses[1], made["LOADS"][2])
        feet = motion[:, made["contact"].vertices, 2].min(axis=1)
        worst = motion[int(feet.argmin())]
        side_view(axes, mesh, rest + 25 * worst, COLORS[1])
        axes.axhline(made["ground"], color=COLORS[0], linewidth=1.2)
        axes.set(xlim=(-0.6, 0.6), ylim=(made["ground"] - 0.15, made["top"] + 0.05))
        sunk = 1e3 * max(0.0, -float(feet.min()))
        axes.set_title(f"{name}\nsinks by {sunk:.2f} mm", color=INK, fontsize=9)
    figure.subplots_adjust(left=0.01, right=0.99, bottom=0.02, top=0.86)
    figure.savefig(IMAGES / "pose_ground.png", dpi=110)


def outline(skin: sp.Surface) -> NDArray[np.int64]:
    """Vertices of a limb, a box along x, round its side at y = 0 but for the near end."""
    x, y, z = (skin.vertices - skin.bounds[0]).T
    _, _, high = skin.bounds[1] - skin.bounds[0]
    front = np.flatnonzero(y < 1e-9)
    low, top = (front[np.abs(z[front] - level) < 1e-9] for level in (0.0, high))
    end = front[np.abs(x[front] - x.max()) < 1e-9]
    parts = (low[np.argsort(x[low])], end[np.argsort(z[end])], top[np.argsort(-x[top])])
    return np.concatenate(parts)


def against_full() -> None:
    """The limb once it has stopped, in each way, and how far its surface is from the rig."""
    made = ran("pose_against_full")
    motions, skin = made["motions"], made["skin"]
    exact = motions.pop("to convergence")
    figure = plt.figure(figsize=(8.4, 4.6))
    rows = figure.add_gridspec(2, 4, height_ratios=(1.0, 1.25))
    colors = dict(zip(motions, (INK, *COLORS), strict=False))
    rest = made["rig"].vertices(made["bend"](SWUNG))
    edge = outline(skin)
    for k, (name, motion) in enumerate(motions.items()):
        axes = figure.add_subplot(rows[0, k])
        side_view(axes, skin, rest + motion[SWUNG - 1], colors[name] if k else GRID)
        axes.plot(*(rest + exact[SWUNG - 1])[edge][:, [0, 2]].T, color=INK, linewidth=1.4)
        axes.set(xlim=(0.45, 1.1), ylim=(-0.2, 0.36))
        cost = made["seconds"][name] / made["seconds"]["reduced"]
        off = f"{100 * made['errors'][name]:.1f} % off, cost {cost:.1f}"
        axes.set_title(f"{name}\n{off}" if k else f"{name}\ncost {cost:.0f}", color=INK, fontsize=9)
    axes = figure.add_subplot(rows[1, :])
    for name, motion in motions.items():
        mean = np.sqrt((motion**2).sum(axis=2).mean(axis=1))
        times = made["DT"] * np.arange(1, len(mean) + 1)
        took = f"{1e3 * made['seconds'][name]:.2f} ms"
        dash = "--" if name == "reduced" else "-"
        axes.plot(times, 1e3 * mean, dash, color=colors[name], label=f"{name}, {took} a step")
    axes.axvline(made["DT"] * SWUNG, color=GRID, linewidth=1.2)
    plain(axes)
    axes.set_xlabel("time [s]", color=INK)
    axes.set_ylabel("flesh from the rig [mm]", color=INK)
    axes.set_ylim(0, None)
    axes.legend(frameon=False, fontsize=8, labelcolor=INK, ncols=2, loc="upper left")
    figure.tight_layout()
    figure.savefig(IMAGES / "pose_against_full.png", dpi=110)


def main() -> None:
    bent_x()
    on_the_ground()
    against_full()


if __name__ == "__main__":
    main()
