"""A ribbon let down onto a table folds over itself, layer upon layer.

Self-contact keeps the layers apart, with friction between them. Without it they end up in each
other. ``--quick`` takes a shorter ribbon of fewer triangles.
"""

import time
from dataclasses import replace

import numpy as np
from shared.measuring import quick

import supple as sp

LENGTH, CELLS = (0.6, 20) if quick() else (1.0, 60)  # [m]
WIDTH, SPEED, END = 0.1, 0.8, 0.08  # [m], [m/s], height [m] of the hand in the end
DURATION = LENGTH / SPEED + 0.3  # [s]

flat = sp.SheetMesh.grid(size=(WIDTH, LENGTH), cells=(2 if quick() else 6, CELLS))
x, y, _ = flat.vertices.T
bend = 0.004 * np.sin(9 * y) * (1 - y / LENGTH)  # not quite straight, so that it knows where to go
mesh = replace(flat, vertices=np.column_stack([x, bend, y + 0.002]))
hand = sp.Support.keyframes(
    mesh.where(z=(LENGTH, None)),
    times=(0.0, 0.1, LENGTH / SPEED),
    displacements=[(0, 0, 0), (0, 0, -0.05 * SPEED), (0, 0, END - LENGTH)],
)
felt = sp.IsotropicCloth(
    young=2e5, poisson=0.3, thickness=5e-4, areal_density=0.2, bending_stiffness=1e-4
)
ribbon = sp.Cloth(mesh, felt, supports=[hand])


def let_down(contact: sp.SelfContact | None) -> sp.Motion:
    """The motion of the ribbon."""
    sim = sp.Simulation(
        ribbon,
        damping=sp.ClothStrainRate(matched=0.002, matched_bending=0.01),
        integrator=sp.BackwardEuler(),
        solver=sp.Newton(tolerance=1e-4),
        obstacles=sp.Plane(friction=0.6),
        self_contact=contact,
        gravity=(0, 0, -9.81),
        dt=5e-3,
    )
    return sim.run(DURATION)


def crossings(x: np.ndarray) -> int:
    """How often an edge goes through a triangle of which it has no corner, at x (n, 3)."""
    edge, cell = np.divmod(np.arange(len(mesh.edges) * mesh.n_cells), mesh.n_cells)
    ends, corners = mesh.edges[edge], mesh.cells[cell]
    near = (x[ends].min(axis=1) <= x[corners].max(axis=1)).all(axis=1)
    near &= (x[ends].max(axis=1) >= x[corners].min(axis=1)).all(axis=1)
    near &= ~(ends[:, :, None] == corners[:, None, :]).any(axis=(1, 2))
    p, q = x[ends[near]].transpose(1, 0, 2)
    a, b, c = x[corners[near]].transpose(1, 0, 2)

    def volume(first: np.ndarray, *others: np.ndarray) -> np.ndarray:
        return np.linalg.det(np.stack([other - first for other in others], axis=1))

    through = volume(a, b, c, p) * volume(a, b, c, q) < 0
    around = np.stack([volume(p, q, a, b), volume(p, q, b, c), volume(p, q, c, a)])
    inside = (around > 0).all(axis=0) | (around < 0).all(axis=0)
    return int((through & inside).sum())


def main() -> None:
    for contact in (sp.SelfContact(friction=0.3), None):
        start = time.perf_counter()
        motion = let_down(contact)
        each = (time.perf_counter() - start) / (len(motion) - 1)
        found = [crossings(x) for x in motion.positions[:: len(motion) // 20]]
        height = np.median(motion.positions[-1, :, 2])
        name = "without self-contact" if contact is None else "with self-contact"
        print(
            f"{name}: at most {max(found)} crossings, half of the ribbon higher than "
            f"{1e3 * height:.0f} mm, {1e3 * each:.0f} ms a step"
        )
        assert (max(found) == 0) == (contact is not None)


if __name__ == "__main__":
    main()
