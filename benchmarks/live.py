"""Changes while a reduced model runs: edits, snapshots, steps of their own length.

Run with ``python -m benchmarks live``.
"""

from __future__ import annotations

from itertools import cycle
from statistics import median

import numpy as np

import supple as sp
from benchmarks.timing import spans, table

SIZES = (12, 20, 30)
DAMPINGS = {
    "mass": sp.Rayleigh(mass=0.1),
    "strain rate": sp.StrainRate(shear=50.0, bulk=20.0),
    "stiffness at rest": sp.Rayleigh(mass=0.1, stiffness=1e-3, at=sp.StiffnessAt.REST),
    "current stiffness": sp.Rayleigh(mass=0.1, stiffness=1e-3),
}


def main() -> None:
    """Print microseconds of each, the median."""
    mesh = sp.TetMesh.box(size=(1.0, 0.2, 0.2), cells=(10, 2, 2))
    body = sp.Body(mesh, sp.StVK(young=1e6, poisson=0.4), fixed=mesh.where(x=0))
    rows = []
    for r in SIZES:
        model = sp.reduce(body, sp.modal_derivative_basis(body, modes=10, size=r))
        shapes = [x * 0.05 / np.abs(x).max() for x in model.vectors[:4]]
        curve = sp.Curve.bezier([(0.0, 0.5), (1.0, 5.0)])
        four = sp.ExampleDamping(
            DAMPINGS["current stiffness"], [sp.Example(x, curve) for x in shapes]
        )
        for name, damping in {**DAMPINGS, "four examples over current stiffness": four}.items():
            sim = model.simulation(damping=damping, dt=1e-3)
            sim.step()
            moduli = cycle([1e6, 2e6, 3e6])
            lengths = cycle(np.linspace(5e-4, 1e-3, 7001))
            kept = sim.snapshot()
            calls = (
                lambda s=sim: s.step(),
                lambda s=sim, m=moduli: s.edit(young=next(m)),
                lambda s=sim, m=moduli: (s.edit(young=next(m)), s.step()),
                lambda s=sim, h=lengths: s.step(dt=next(h)),
                lambda s=sim, k=kept: s.snapshot(out=k),
                lambda s=sim, k=kept: s.restore(k),
            )
            rows.append([r, name, *(1e6 * median(spans(call, least=0.5)) for call in calls)])
    head = [
        "r",
        "damping by",
        "step [µs]",
        "edit [µs]",
        "edit and step [µs]",
        "step of another length [µs]",
    ]
    print(table([*head, "snapshot [µs]", "restore [µs]"], rows))


if __name__ == "__main__":
    main()
