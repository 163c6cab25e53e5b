"""A shirt of yarns on a man who walks, under two dampings (strain rate paper, §6, Fig. 4).

``yarn_shirt.py FOLDER`` takes man and shirt from shirt.py, and so the same files. He is dressed in
the sheet of triangles, which then is woven: it gets a pattern of a front and a back, sewn at the
sides, and yarns every ``SPACING`` that weigh what the cloth of shirt.py does. The paper's shirt has
136,741 crossings, at a spacing of 2.15 mm, and steps of 1 ms.
"""

import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import shirt

import supple as sp
from supple.bodies.cloth import front_and_back
from supple.yarns import WovenCloth, Yarn, YarnDamping, YarnMotion, YarnNet, YarnSimulation

SPACING = 0.015  # [m]
DT, DURATION = 2e-3, 0.8  # [s]
DAMPINGS = {
    "medium": YarnDamping(stretch=0.03, bending=0.16),
    "low": YarnDamping(stretch=3e-4, bending=0.016),
}


@dataclass
class Walk:
    """A shirt of yarns, the man in it, and what came of it."""

    cloth: WovenCloth
    man: sp.AnimatedMesh
    motion: YarnMotion
    seconds: float
    """For a step."""
    clearance: float
    """Least distance of a crossing from the skin in all frames [m]; below 0 it would be inside."""


def dressed(folder: Path, dressing: sp.Dressing, dt: float) -> tuple[sp.SheetMesh, sp.AnimatedMesh]:
    """The shirt with its pattern, worn, and the man who is about to walk."""
    cloth, man = shirt.around(folder, dressing)
    flat = front_and_back(cloth.mesh, facing=(0, -1, 0), up=(0, 0, 1))
    sim = shirt.simulation(cloth, man, shirt.DAMPINGS["medium"], dt)
    begins = dressing.growing + dressing.settling
    worn = sim.run(begins, every=1000).positions[-1]
    return replace(flat, vertices=worn), replace(man, times=np.asarray(man.times) - begins)


def woven(flat: sp.SheetMesh, spacing: float) -> WovenCloth:
    """Yarns in place of a sheet, with the weight and a quarter of the stiffness of shirt.JERSEY."""
    net = YarnNet.from_garment(flat, spacing=spacing)
    yarn = Yarn(
        radius=0.08 * spacing,
        linear_density=0.19 / 2 * spacing,
        stretch=500.0 * spacing,
        bending=1e-5 * spacing,
    )
    return WovenCloth(net, warp=yarn, shear=10.0 * spacing**2, friction=0.5, slip_speed=1e-2)


def walk(
    folder: Path,
    damping: YarnDamping,
    *,
    spacing: float = SPACING,
    duration: float = DURATION,
    dressing: sp.Dressing = shirt.DRESSING,
    dt: float = DT,
) -> Walk:
    """Dress him and let him walk."""
    flat, man = dressed(folder, dressing, dt)
    cloth = woven(flat, spacing)
    sim = YarnSimulation(
        cloth,
        damping=damping,
        gravity=(0, 0, -9.81),
        obstacles=man,
        dt=dt,
        tolerance=3e-3,
    )
    start = time.perf_counter()
    motion = sim.run(duration, every=max(1, round(0.02 / dt)))
    seconds = (time.perf_counter() - start) / round(duration / dt)
    off = [
        man.at(x, t).distance.min() + man.margin
        for x, t in zip(motion.positions, motion.times, strict=True)
    ]
    return Walk(cloth, man, motion, seconds, float(min(off[1:])))


def main() -> None:
    given = shirt.wishes()
    brief = replace(shirt.DRESSING, growing=0.1, settling=0.0, easing=0.1)
    options = {"duration": 0.03, "dressing": brief, "spacing": 0.03} if given.quick else {}
    print(f"{'damping':10}{'crossings':>10}{'kinetic':>14}{'off skin':>15}{'a step':>10}")
    for name, damping in DAMPINGS.items():
        each = walk(given.folder, damping, **options)
        print(
            f"{name:10}{each.cloth.n_nodes:10,}{1e3 * each.motion.kinetic.mean():11.3f} mJ"
            f"{1e3 * each.clearance:12.3f} mm{each.seconds:8.3f} s"
        )
        assert each.clearance > 0
        if given.save is not None:
            each.motion.save(given.save / f"yarn_shirt_{name}.motion")


if __name__ == "__main__":
    main()
