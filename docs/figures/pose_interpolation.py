"""Between two poses: columns of the interpolated basis, and the error of the cubature."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from drawing import COLORS, IMAGES, INK, plain
from pose_bases import drawn, heat, over

from supple.io.pictures import Camera

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples"))

import pose_interpolation as arm  # noqa: E402

ANGLES = np.linspace(0.0, arm.BENT, 9)
SHOWN = (("straight", 0.0), ("half-way, interpolated", arm.BENT / 2), ("bent", arm.BENT))
COLUMN = 2


def main() -> None:
    training = arm.trained(np.array([[0.0], [arm.BENT]]))
    places = [arm.follows.vertices(np.array([angle])) for _, angle in SHOWN]
    camera = Camera.framing(np.concatenate(places), azimuth=-75, elevation=25, aspect=1.2)
    camera = Camera(camera.target, 1.25 * camera.height, -75, 25)
    figure, axes = plt.subplots(
        1, 4, figsize=(11, 2.7), width_ratios=(1, 1, 1, 1.3), layout="constrained"
    )
    for cell, (name, angle), x in zip(axes, SHOWN, places, strict=False):
        rest = training.rest(np.array([angle]))
        u = rest.shapes[COLUMN]
        u = 0.15 * u / np.linalg.norm(u, axis=1).max()
        faint = drawn(arm.mesh, x, camera, (260, 220), None)
        cell.imshow(over(drawn(arm.mesh, x + u, camera, (260, 220), heat(u, 0.15)), faint))
        cell.set_title(name, fontsize=10, color=INK)
        cell.axis("off")
    curves = axes[3]
    ways = {"trained at both ends": False, "and on the way": True}
    for color, (name, between) in zip(COLORS, ways.items(), strict=False):
        found = arm.cubature(training, between=between)
        errors = [100 * arm.error(training, found, angle) for angle in ANGLES]
        curves.plot(np.rad2deg(ANGLES), errors, "o-", color=color, markersize=3, label=name)
    curves.axhline(1.5, color=INK, linestyle=":", linewidth=1)
    curves.annotate(
        "dotted: the paper, half-way",
        (89, 2.1),
        fontsize=8,
        color=INK,
        horizontalalignment="right",
    )
    curves.set_ylim(0.0)
    curves.set_xticks([0, 45, 90])
    curves.set_xlabel("bent by [°]", fontsize=9, color=INK)
    curves.set_title("error of the reduced force [%]", fontsize=10, color=INK)
    curves.legend(fontsize=8, frameon=False, loc="upper right")
    plain(curves)
    figure.savefig(IMAGES / "pose_interpolation.png", dpi=100)
    plt.close(figure)


if __name__ == "__main__":
    main()
