"""A step of StVK cloth with 10,609 vertices, 1.6 ms long, with one Newton iteration, no contact.

The strain rate paper has 10,437 vertices. The dampings take turns, once each in a motion of its
own, and once both from the shapes of one motion, where the linear solver has the same to do.
"""

from __future__ import annotations

import time
from statistics import median

import numpy as np

import supple as sp
from benchmarks.timing import table

STEPS, WARM = 40, 10
DAMPINGS: dict[str, sp.Damping] = {
    "Rayleigh": sp.Rayleigh(stiffness=0.01),
    "strain rate": sp.ClothStrainRate(matched=0.01),
}


def swinging(damping: sp.Damping) -> sp.Simulation:
    """A square metre of cloth, level, held by one edge."""
    mesh = sp.SheetMesh.grid((1.0, 1.0), (102, 102))
    film = sp.IsotropicCloth(
        young=2e5, poisson=0.3, thickness=5e-4, areal_density=0.2, bending_stiffness=1e-5
    )
    return sp.Simulation(
        sp.Cloth(mesh, film, fixed=mesh.where(x=0)),
        damping=damping,
        integrator=sp.BackwardEuler(),
        solver=sp.Newton(iterations=1),
        gravity=(0, 0, -9.81),
        dt=1.6e-3,
    )


def measure(*, together: bool) -> dict[str, list[float]]:
    """Seconds of each step of each damping."""
    sims = {name: swinging(damping) for name, damping in DAMPINGS.items()}
    leader = sims["strain rate"]
    spans: dict[str, list[float]] = {name: [] for name in sims}
    for step in range(WARM + STEPS):
        u, v = np.array(leader.state.u), np.array(leader.state.v)
        for name, sim in sims.items():
            if together:
                sim.state.u, sim.state.v = u, v
            start = time.perf_counter()
            sim.step()
            if step >= WARM:
                spans[name].append(time.perf_counter() - start)
    return spans


def main() -> None:
    alone, together = measure(together=False), measure(together=True)
    rows = [
        [name, *(1e3 * f(spans[name]) for spans in (alone, together) for f in (median, min))]
        for name in DAMPINGS
    ]
    print("10,609 vertices, 20,808 triangles; ms a step")
    heads = ["own motion, median", "shortest", "same shapes, median", "shortest"]
    print(table(["damping", *heads], rows))
