"""A ball that falls into a cloth, which catches it.

The cloth is held along its edges. When the ball has come to rest the cloth bears its weight, and
that of itself: the supports hold exactly what both weigh, and the cloth has stored less energy than
the ball has lost by falling.
"""

import time

import numpy as np
from shared.measuring import quick

import supple as sp

SIDE, RADIUS, HEIGHT = 0.5, 0.05, 0.15  # [m]: of the cloth, of the ball, of the fall
DENSITY, DT = 400.0, 1 / 120  # [kg/m³], [s]
GRAVITY = 9.81


def world(cells: int) -> sp.Simulation:
    grid = sp.SheetMesh.grid(size=(SIDE, SIDE), cells=(cells, cells))
    sheet = sp.SheetMesh(grid.vertices - [SIDE / 2, SIDE / 2, 0.0], grid.cells)
    half = SIDE / 2
    edge = np.flatnonzero(np.abs(sheet.vertices[:, :2]).max(axis=1) > half - 1e-9)
    canvas = sp.IsotropicCloth(young=2e6, poisson=0.3, thickness=5e-4, areal_density=0.3)
    cloth = sp.Cloth(sheet, canvas, fixed=edge)
    surface = sp.Sphere(centre=(0, 0, RADIUS + HEIGHT), radius=RADIUS).surface()
    ball = sp.RigidBody(surface, density=DENSITY)
    return sp.Simulation(
        {"cloth": cloth, "ball": ball},
        integrator=sp.BackwardEuler(),
        damping={"cloth": sp.Rayleigh(mass=2.0, stiffness=2e-3)},
        self_contact=sp.SelfContact(friction=0.4),
        gravity=(0, 0, -GRAVITY),
        dt=DT,
    )


def main() -> None:
    sim, began = world(12 if quick() else 20), time.process_time()
    cloth, ball = sim.bodies
    lowest, felt = 0.0, []
    for _ in range(round((1.2 if quick() else 2.5) / DT)):
        sim.step()
        lowest = min(lowest, float(ball.pose(sim.state_of(ball).u)[1][2]))
        felt.append(sim.self_contact_forces[sim.body.rows[1]].sum(axis=0)[2])
    spent = time.process_time() - began
    centre = ball.pose(sim.state_of(ball).u)[1]
    skin = ball.positions(sim.state_of(ball).u)
    x = cloth.mesh.vertices + sim.state_of(cloth).u
    weight, borne = ball.total_mass * GRAVITY, float(np.mean(felt[-20:]))
    print(f"the ball of {weight:.2f} N has been {-1000 * lowest:.1f} mm deep and lies at")
    print(f"{1000 * centre[0]:.2f}, {1000 * centre[1]:.2f}, {1000 * centre[2]:.2f} mm")
    print(f"the cloth bears {borne:.3f} N of it ({spent:.0f} s of the processor)")
    stored = cloth.energy(sim.state_of(cloth).u)
    lost = weight * (RADIUS + HEIGHT - centre[2])
    print(f"it stores {1000 * stored:.1f} mJ of the {1000 * lost:.1f} mJ that the ball has lost")
    assert np.hypot(*centre[:2]) < 0.01
    assert abs(borne - weight) < 0.05 * weight
    assert 0 < stored < lost
    nearest = np.linalg.norm(x[:, None] - centre, axis=2).min()
    assert nearest > 0.95 * RADIUS, "nothing of the cloth is in the ball"
    assert skin[:, 2].min() > x[:, 2].min(), "the ball is above the cloth"
    assert np.abs(sim.state.v).max() < 0.1


if __name__ == "__main__":
    main()
