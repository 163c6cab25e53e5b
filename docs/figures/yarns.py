"""Woven cloth: what damps hanging and what flapping, drawn from the example, and a draped cloth."""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path
from typing import Any

import matplotlib as mpl
from drawing import COLORS, IMAGES, INK, on_white, plain

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples"))

import yarn_damping  # noqa: E402

from supple.io.pictures import Camera, render  # noqa: E402
from supple.io.yarn_surfaces import YarnTubes  # noqa: E402
from supple.yarns import WovenCloth, Yarn, YarnDamping, YarnNet, YarnSimulation  # noqa: E402

mpl.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

WIDTHS = (6.0, 4.2, 2.6, 1.2)  # curves that coincide show side by side


def curves(axes: Any, move: Any, title: str) -> None:
    sample = yarn_damping.small()
    pairs = product(yarn_damping.STRETCH, yarn_damping.BENDING)
    for (s, b), color, width in zip(pairs, COLORS, WIDTHS, strict=False):
        motion = move(sample, YarnDamping(stretch=s, bending=b))
        label = f"β_s = {s:g} s, β_b = {b:g} s"
        axes.plot(motion.times * 1e3, motion.kinetic * 1e9, color=color, linewidth=width,
                  label=label)  # fmt: skip
    axes.set_title(title, fontsize=10, color=INK)
    axes.set_xlabel("time [ms]", fontsize=9, color=INK)
    axes.set_ylabel("kinetic energy [nJ]", fontsize=9, color=INK)
    plain(axes)


def draped(axes: Any) -> None:
    """A cloth held by two corners, after it has come to rest."""
    n = 21
    net = YarnNet.patch(n, n, spacing=1.5e-3)
    yarn = Yarn(radius=4e-4, linear_density=5e-5, stretch=0.2, bending=2e-10)
    cloth = WovenCloth(net, warp=yarn, shear=1e-9, friction=0.3)
    sim = YarnSimulation(
        cloth,
        damping=YarnDamping(stretch=0.01, bending=0.1, shear=0.05),
        gravity=(0, 3.0, -9.3),
        fixed=[0, n * (n - 1), n * n - 1],
        dt=2e-3,
    )
    motion = sim.run(0.5, every=1000)
    tubes = YarnTubes(motion.mesh, samples=6, sides=10)
    x = tubes.at(motion.displacements[-1])
    camera = Camera.framing(x, azimuth=125.0, elevation=35.0, aspect=1.25)
    image = render(x, tubes.triangles, camera, size=(500, 400), colors=tubes.paint)
    axes.imshow(on_white(image))
    axes.axis("off")
    axes.set_title("held by three corners", fontsize=10, color=INK)


def main() -> None:
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
    curves(left, yarn_damping.hanging, "hanging")
    curves(middle, yarn_damping.flapping, "flapping")
    left.set_xlim(0, 40)
    middle.set_xlim(0, 150)
    middle.legend(frameon=False, fontsize=8)
    draped(right)
    figure.savefig(IMAGES / "yarns.png", dpi=110)


if __name__ == "__main__":
    main()
