"""A woven cloth dropped on a sphere, off its middle.

With friction it stays and drapes; without, it slides off. Crossings stay out of the sphere by the
thickness of the yarns.
"""

import numpy as np

import supple as sp
from supple.yarns import WovenCloth, Yarn, YarnDamping, YarnMotion, YarnNet, YarnSimulation

RADIUS, SPACING, COUNT = 0.05, 0.01, 15  # [m], [m], warps and wefts
DT, DURATION = 4e-3, 0.48  # [s]

yarn = Yarn(radius=1e-3, linear_density=1e-3, stretch=1.0, bending=1e-7)
corner = (-0.055, -0.07, RADIUS + 3 * yarn.radius)
net = YarnNet.patch(COUNT, COUNT, spacing=SPACING, origin=corner)
cloth = WovenCloth(net, warp=yarn, shear=1e-6, friction=0.3, slip_speed=1e-3)


def dropped(friction: float) -> YarnMotion:
    """The motion of the cloth under its weight."""
    sim = YarnSimulation(
        cloth,
        damping=YarnDamping(stretch=0.03, bending=0.16),
        gravity=(0, 0, -9.81),
        obstacles=[sp.Sphere(radius=RADIUS, friction=friction)],
        dt=DT,
        tolerance=1e-4,
    )
    return sim.run(DURATION, every=5)


def main() -> None:
    heights = {}
    for friction in (0.5, 0.0):
        motion = dropped(friction)
        away = np.linalg.norm(motion.positions, axis=2).min()
        heights[friction] = motion.positions[-1, :, 2]
        low, high = heights[friction].min(), heights[friction].max()
        print(f"friction {friction}: from {low:.3f} to {high:.3f} m")
        assert away > RADIUS + 2 * yarn.radius - 1e-3 * SPACING
    assert heights[0.5].max() > RADIUS
    assert heights[0.5].min() > -3 * RADIUS
    assert heights[0.0].max() < 0


if __name__ == "__main__":
    main()
