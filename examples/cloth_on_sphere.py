"""A sheet dropped on a sphere, off its middle (dissipative optimization, Fig. 10).

With friction it stays and drapes; without, it slides off. The cloth is limited in its strain, its
bending quadratic, and steps of 40 ms are solved by 30 iterations of ADMM.
"""

import time
from dataclasses import replace

import numpy as np

import supple as sp

DT, DURATION, RADIUS = 0.04, 1.8, 0.3  # [s], [s], [m]

flat = sp.SheetMesh.grid(size=(1.0, 1.0), cells=(38, 38))  # 1,521 vertices
mesh = replace(flat, vertices=flat.vertices - [0.42, 0.5, -RADIUS - 0.01])
film = sp.IsotropicCloth(
    young=1e5, poisson=0.3, thickness=5e-4, areal_density=0.2, bending_stiffness=1e-5
)
cloth = sp.Cloth(mesh, film, strain_limit=sp.StrainLimit(stretch=0.05))


def dropped(friction: float) -> sp.Motion:
    """The motion of the sheet under its weight."""
    sim = sp.Simulation(
        cloth,
        damping=[sp.ClothStrainRate(matched=0.005), sp.Drag(strength=0.1)],
        integrator=sp.BackwardEuler(),
        solver=sp.ADMM(iterations=30),
        obstacles=[sp.Sphere(radius=RADIUS, friction=friction)],
        gravity=(0, 0, -9.81),
        dt=DT,
    )
    return sim.run(DURATION)


def main() -> None:
    heights = {}
    for friction in (0.5, 0.0):
        start = time.perf_counter()
        motion = dropped(friction)
        each = (time.perf_counter() - start) / (len(motion) - 1)
        inside = RADIUS - np.linalg.norm(motion.positions, axis=2).min()
        heights[friction] = motion.positions[-1, :, 2]
        low, high = heights[friction].min(), heights[friction].max()
        print(f"friction {friction}: from {low:.2f} to {high:.2f} m, {1e3 * each:.0f} ms a frame")
        assert inside < 0.01 * RADIUS
    assert heights[0.5].max() > RADIUS - 0.01
    assert heights[0.5].min() > -2 * RADIUS
    assert heights[0.0].max() < RADIUS - 0.02
    assert heights[0.0].min() < -2 * RADIUS


if __name__ == "__main__":
    main()
