"""A patch of cloth that hangs, or swings, under two dampings of one strength (strain rate, Fig. 3).

Let go upright from its upper edge, the patch stretches and rings under its weight: both dampings
stop that alike. Let go level, it swings down like a door, hardly strained at all: strain rate
damping leaves it almost alone, and damping by the whole tangent stiffness, which resists the
turning of stretched cloth, takes most of the energy. Steps are those of the
paper: backward Euler, one Newton iteration.
"""

from dataclasses import replace

import numpy as np
from whole_stiffness import WholeStiffness

import supple as sp

BETA = 0.15  # [s]
DT = 2.5e-3  # [s]
DURATION = {"hanging": 0.5, "swinging": 1.0}  # [s]
DAMPINGS: dict[str, sp.Damping | None] = {
    "none": None,
    "whole stiffness": WholeStiffness(BETA),
    "strain rate": sp.ClothStrainRate(matched=BETA),
}

level = sp.SheetMesh.grid(size=(1.0, 1.0), cells=(32, 32))  # 1,089 vertices, held at x = 0
upright = replace(level, vertices=level.vertices[:, [2, 1, 0]] * [1, 1, -1])
film = sp.IsotropicCloth(
    young=2e5, poisson=0.3, thickness=5e-4, areal_density=0.2, bending_stiffness=1e-5
)


def let_go(motion: str, damping: sp.Damping | None) -> sp.Motion:
    """The patch from rest, under its weight: "hanging" or "swinging"."""
    mesh = upright if motion == "hanging" else level
    body = sp.Cloth(mesh, film, fixed=level.where(x=0))
    sim = sp.Simulation(
        body,
        damping=[] if damping is None else [damping],
        integrator=sp.BackwardEuler(),
        solver=sp.Newton(iterations=1),
        gravity=(0, 0, -9.81),
        dt=DT,
    )
    return sim.run(DURATION[motion])


def main() -> None:
    kinetic = {}
    for motion in DURATION:
        print(f"{motion}: kinetic energy [mJ] at its peak, and on average")
        for name, damping in DAMPINGS.items():
            energy = kinetic[motion, name] = let_go(motion, damping).kinetic
            print(f"{name:16}{1e3 * energy.max():9.3f}{1e3 * energy.mean():9.3f}")

    def apart(motion: str, one: str, other: str) -> float:
        """Mean distance of two curves, as a share of the mean of the other."""
        a, b = kinetic[motion, one], kinetic[motion, other]
        return float(np.abs(a - b).mean() / b.mean())

    # Hanging: both far below the undamped curve, and nearly the same.
    assert kinetic["hanging", "whole stiffness"].max() < 0.1 * kinetic["hanging", "none"].max()
    assert apart("hanging", "strain rate", "whole stiffness") < 0.05
    # Swinging: strain rate damping near the undamped curve, the whole stiffness far below.
    assert apart("swinging", "strain rate", "none") < 0.1
    assert kinetic["swinging", "whole stiffness"].max() < 0.75 * kinetic["swinging", "none"].max()
    assert apart("swinging", "whole stiffness", "none") > 0.4


if __name__ == "__main__":
    main()
