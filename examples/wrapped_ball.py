"""A cloth that falls round a soft ball, and stays on its outside.

The ball lies on the floor, the cloth comes down over it. Both are soft and feel each other: when
they rest, the floor bears the weight of both, and the cloth has flattened the ball by a little more
than its own weight had.
"""

import time

import numpy as np
from shared.measuring import quick

import supple as sp

RADIUS, SIDE, DT = 0.1, 0.5, 1 / 100  # [m], [m], [s]
GRAVITY = 9.81


def round_mesh(cells: int) -> sp.TetMesh:
    """A ball just above the floor: a cube whose shells were made round."""
    cube = sp.TetMesh.box(size=(2, 2, 2), cells=(cells,) * 3)
    x = cube.vertices - 1.0
    shell, out = np.abs(x).max(axis=1), np.linalg.norm(x, axis=1)
    x = x * np.where(out > 0, shell / np.where(out > 0, out, 1.0), 0.0)[:, None]
    return sp.TetMesh(RADIUS * x + [0, 0, RADIUS + 0.002], cube.cells)


def world(cells: int) -> sp.Simulation:
    soft = sp.Body(round_mesh(6), sp.StableNeoHookean(young=5e4, poisson=0.4, density=300))
    grid = sp.SheetMesh.grid(size=(SIDE, SIDE), cells=(cells, cells))
    corner = np.array([-SIDE / 2, -SIDE / 2, 2 * RADIUS + 0.02])
    sheet = sp.SheetMesh(grid.vertices + corner, grid.cells)
    felt = sp.IsotropicCloth(young=2e4, poisson=0.3, thickness=5e-4, areal_density=0.3)
    return sp.Simulation(
        {"ball": soft, "cloth": sp.Cloth(sheet, felt)},
        integrator=sp.BackwardEuler(),
        damping={
            "ball": sp.StrainRate(shear=50),
            "cloth": sp.Rayleigh(mass=1.0, stiffness=1e-3),
        },
        obstacles=sp.Plane(friction=0.5),
        self_contact=sp.SelfContact(friction=0.3),
        gravity=(0, 0, -GRAVITY),
        dt=DT,
    )


def main() -> None:
    sim, began = world(14 if quick() else 20), time.process_time()
    soft, cloth = sim.bodies
    borne = []
    for _ in range(round((0.5 if quick() else 1.2) / DT)):
        sim.step()
        borne.append(sim.contact_forces[:, 2].sum())
    spent = time.process_time() - began
    weight = (soft.total_mass + cloth.total_mass) * GRAVITY
    x = cloth.mesh.vertices + sim.state_of(cloth).u
    skin = soft.mesh.boundary()
    inside = soft.mesh.vertices + sim.state_of(soft).u
    surface = sp.Surface(inside[skin.vertex_ids], skin.triangles)
    depth = -sp.MeshObstacle(surface).at(x, 0.0).distance.min()
    print(f"the cloth hangs down to {1000 * x[:, 2].min():.1f} mm ({spent:.0f} s of the processor)")
    print(f"no vertex of it is in the ball; the nearest is {-1000 * depth:.2f} mm away")
    print(f"the floor bears {np.mean(borne[-10:]):.3f} N of {weight:.3f} N")
    assert depth < 0, "the cloth stays outside"
    assert x[:, 2].min() < 1.2 * RADIUS, "it hangs around the ball"
    assert abs(np.mean(borne[-10:]) - weight) < (0.3 if quick() else 0.1) * weight


if __name__ == "__main__":
    main()
