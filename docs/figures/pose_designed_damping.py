"""Damping designed once, on two clips: how a creature's belly moves, plain and designed."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from drawing import COLORS, IMAGES, INK, plain
from pose_motion import ran


def main() -> None:
    made = ran("pose_designed_damping")
    clips, dt, shown = made["CLIPS"], made["DT"], made["shown"]
    figure, all_axes = plt.subplots(2, len(clips), figsize=(8.0, 4.2), sharex="col", sharey="row")
    for column, clip in zip(all_axes.T, clips, strict=True):
        for k, axes in enumerate(column):
            for color, (name, (chi, _)) in zip(COLORS[1::-1], shown[clip].items(), strict=True):
                t = dt * np.arange(1, len(chi) + 1)
                axes.plot(t, 20 * chi[:, k], color=color, linewidth=1.3, label=name)
            stop = shown[clip]["plain"][1]
            axes.axvline(dt * stop, color=INK, linewidth=0.8, linestyle=":")
            plain(axes)
        column[0].set_title(clip, color=INK, fontsize=10)
        column[-1].set_xlabel("time [s]", color=INK, fontsize=9)
    for axes, example in zip(all_axes[:, 0], made["fit"].damping.examples, strict=True):
        axes.set_ylabel(f"{example.name} [mm]", color=INK, fontsize=9)
    all_axes[0, 0].legend(frameon=False, fontsize=9, labelcolor=INK)
    figure.tight_layout(pad=0.4)
    figure.savefig(IMAGES / "pose_designed_damping.png", dpi=110)


if __name__ == "__main__":
    main()
