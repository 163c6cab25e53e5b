"""Woven cloth hangs and flaps, damped along and across its yarns (strain rate, Fig. 3).

Hanging from its upper edge, the cloth swings in length: β_s, the damping of stretch, rules. Held
out flat by one edge, it flaps: β_b, the damping of bending, rules. Neither has a say in the
motion of the other.

With ``--full`` the cloth has the 20,402 crossings of the paper, and the run takes most of an hour.
"""

import sys
from dataclasses import dataclass

import numpy as np

from supple.yarns import WovenCloth, Yarn, YarnDamping, YarnMotion, YarnNet, YarnSimulation

STRETCH, BENDING = (3e-4, 0.03), (0.016, 0.16)  # β_s and β_b, low and medium [s]
G = 9.81


@dataclass(frozen=True)
class Sample:
    """A cloth with warps along y, and the steps its motions need."""

    cloth: WovenCloth
    hanging_dt: float
    flapping_dt: float = 1e-3
    hanging_steps: int = 240
    flapping_steps: int = 300


def small() -> Sample:
    """15 × 15 crossings, 14 mm wide."""
    yarn = Yarn(radius=1.2e-4, linear_density=5e-5, stretch=2e-3, bending=1e-9)
    net = YarnNet.patch(15, 15, spacing=1e-3)
    return Sample(WovenCloth(net, warp=yarn, shear=1e-8, friction=0.3), hanging_dt=2.5e-4)


def full() -> Sample:
    """101 × 202 crossings, 100 mm wide."""
    yarn = Yarn(radius=1.2e-4, linear_density=5e-5, stretch=0.1, bending=4e-7)
    net = YarnNet.patch(101, 202, spacing=(1e-3, 5e-4))
    return Sample(WovenCloth(net, warp=yarn, shear=1e-6, friction=0.3), hanging_dt=2.5e-4)


def hanging(sample: Sample, damping: YarnDamping | None) -> YarnMotion:
    """Let go unstretched, held by the upper edge."""
    y = sample.cloth.net.positions[:, 1]
    sim = YarnSimulation(
        sample.cloth, damping=damping, gravity=(0, -G, 0), fixed=y >= y.max(), dt=sample.hanging_dt
    )
    return sim.run(sample.hanging_steps * sim.dt)


def flapping(sample: Sample, damping: YarnDamping | None) -> YarnMotion:
    """Let go flat, clamped by its last two wefts."""
    y = sample.cloth.net.positions[:, 1]
    clamped = y >= np.unique(y)[-2]
    sim = YarnSimulation(
        sample.cloth, damping=damping, gravity=(0, 0, -G), fixed=clamped, dt=sample.flapping_dt
    )
    return sim.run(sample.flapping_steps * sim.dt)


def main() -> None:
    sample = full() if "--full" in sys.argv[1:] else small()
    print(f"{sample.cloth.n_nodes:,} crossings; mean kinetic energy [J]")
    print(f"{'β_s [s]':>8}{'β_b [s]':>8}{'hanging':>12}{'flapping':>12}")
    mean = {}
    for key in [(0.0, 0.0), *((s, b) for s in STRETCH for b in BENDING)]:
        damping = YarnDamping(stretch=key[0], bending=key[1])
        mean[key] = [float(move(sample, damping).kinetic.mean()) for move in (hanging, flapping)]
        print(f"{key[0]:8g}{key[1]:8g}{mean[key][0]:12.3g}{mean[key][1]:12.3g}")

    low, medium = STRETCH
    for b in BENDING:
        assert mean[medium, b][0] < 0.1 * mean[low, b][0] < 0.1 * mean[0, 0][0]
        assert abs(mean[medium, b][1] / mean[low, b][1] - 1) < 0.02
    low, medium = BENDING
    for s in STRETCH:
        assert mean[s, medium][1] < 0.2 * mean[s, low][1] < 0.2 * mean[0, 0][1]
        assert abs(mean[s, medium][0] / mean[s, low][0] - 1) < 0.02
    print("β_s rules hanging, β_b flapping")


if __name__ == "__main__":
    main()
