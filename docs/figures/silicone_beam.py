"""The measured silicone beam: recordings, and the envelopes of the fitted dampings over them.

Run as ``silicone_beam.py FOLDER`` with the folder of the recordings; see examples/silicone_beam.py.
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

from supple.design.ringdown.fit import fit_ring_down  # noqa: E402

mpl.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

TITLES = {"gravity": "the beam alone", "load52": "52 g at the tip", "load101": "102 g at the tip"}


def main() -> None:
    folder, coarse = example.recordings()
    given = example.experiments(folder, cells=(9, 2, 2) if coarse else (13, 3, 3))
    fit = fit_ring_down(given, seconds=example.SECONDS)
    figure, rows = plt.subplots(
        2, 3, figsize=(9.6, 4.6), layout="constrained", height_ratios=(3, 2), sharex="row"
    )
    t = np.linspace(0, example.SECONDS, 400)
    for k, each in enumerate(given):
        upper, lower = rows[:, k]
        ring = each.measured
        since = ring.times - ring.start
        shown = (since >= 0) & (since <= example.SECONDS)
        wanted = ring.envelope(ring.start + t)
        times, values = ring.turns
        middles = (values[:-2] + 2 * values[1:-1] + values[2:]) / 4  # the rest creeps
        rest = np.interp(ring.times, times[1:-1], middles)
        upper.plot(since[shown], 1e3 * (ring.displacements - rest)[shown], color="#a9a9b4")
        for fitted, color, label in (
            (fit.rayleigh, COLORS[1], "Rayleigh, best fit"),
            (fit.designed, COLORS[0], "designed curve"),
        ):
            found = fitted.simulated[k].envelope(fitted.simulated[k].start + t)
            upper.plot(t, 1e3 * found, color=color, label=label)
            upper.plot(t, -1e3 * found, color=color)
            lower.plot(t, 100 * (found / wanted - 1), color=color)
        upper.set_title(TITLES[each.name], fontsize=9, color=INK)
        lower.set_ylim(-30, 30)
        lower.set_xlabel("time since the first turn [s]", fontsize=9, color=INK)
        plain(upper)
        plain(lower)
    rows[0, 0].set_ylabel("tip off its rest [mm]", fontsize=9, color=INK)
    rows[1, 0].set_ylabel("error of envelope [%]", fontsize=9, color=INK)
    rows[0, 2].legend(frameon=False, fontsize=9)
    figure.savefig(IMAGES / "silicone_beam.png", dpi=110)


if __name__ == "__main__":
    main()
