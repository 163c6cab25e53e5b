"""Characters in motion: the bent X, modes of each pose on the ground, reduced against coarse."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from drawing import COLORS, GRID, IMAGES, INK, plain, side_view

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FRAMES = (36, 60, 72, 88, 112)


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


def against_full() -> None:
    """How far the surface is from the rig, frame by frame."""
    made = ran("pose_against_full")
    figure, axes = plt.subplots(figsize=(6.4, 2.8))
    styles = {"full": (INK, "-"), "reduced": (COLORS[0], "--")}
    for k, (name, motion) in enumerate(made["motions"].items()):
        color, dash = styles.get(name, (COLORS[k % len(COLORS)], "-"))
        mean = np.sqrt((motion**2).sum(axis=2).mean(axis=1))
        times = made["DT"] * np.arange(1, len(mean) + 1)
        took = f"{1e3 * made['seconds'][name]:.1f} ms"
        axes.plot(times, 1e3 * mean, dash, color=color, label=f"{name}, {took} a step")
    plain(axes)
    axes.set_xlabel("time [s]", color=INK)
    axes.set_ylabel("flesh from the rig [mm]", color=INK)
    axes.set_ylim(0, 50)
    axes.legend(frameon=False, fontsize=8, labelcolor=INK, ncols=2, loc="upper left")
    figure.tight_layout()
    figure.savefig(IMAGES / "pose_against_full.png", dpi=110)


def main() -> None:
    bent_x()
    on_the_ground()
    against_full()


if __name__ == "__main__":
    main()
