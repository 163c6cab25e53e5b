"""A ball lies in a woven hammock, and a woven cloth falls over a soft block: yarns among others.

Pins hold the hammock by its corners. When the ball has come to rest, contact bears its weight and
the yarns of the hammock have stored less than it has lost by falling. The cloth lies on the block,
which is as much lower under it as its weight asks for.
"""

import time

import numpy as np
from shared.measuring import quick

import supple as sp
from supple.yarns import Weave, WovenBody, WovenCloth, Yarn, YarnDamping, YarnNet

SIDE, RADIUS, BLOCK = 0.2, 0.03, 0.06  # [m]: of the hammock, of the ball, of the block
DENSITY, DT = 180.0, 1 / 100  # [kg/m³], [s]
GRAVITY = 9.81
THREAD = Yarn(radius=4e-4, linear_density=2e-4, stretch=200.0, bending=1e-8)
STRONG = YarnDamping(stretch=0.01, bending=0.02, shear=0.02)


def woven(side: float, yarns: int, middle: tuple[float, float, float]) -> WovenCloth:
    spacing = side / (yarns - 1)
    corner = np.array(middle) - [side / 2, side / 2, 0.0]
    net = YarnNet.patch(yarns, yarns, spacing=spacing, weave=Weave.plain(), origin=corner)
    return WovenCloth(net, warp=THREAD, shear=1e-5, friction=0.3)


def world(yarns: int) -> sp.Simulation:
    hammock = WovenBody(woven(SIDE, yarns, (0.0, 0.0, 0.08)))
    surface = sp.Sphere(centre=(0.005, 0, 0.082 + RADIUS), radius=RADIUS).surface()
    ball = sp.RigidBody(surface, density=DENSITY)
    mesh = sp.TetMesh.box(
        size=(BLOCK,) * 3, cells=(3, 3, 3), origin=(0.2 - BLOCK / 2, -BLOCK / 2, 0.0)
    )
    foam = sp.StableNeoHookean(young=6e4, poisson=0.4, density=500)
    block = sp.Body(mesh, foam, fixed=mesh.where(z=0))
    cloth = WovenBody(woven(0.16, yarns, (0.2, 0.0, BLOCK + 0.004)))
    count = hammock.mesh.crossings
    return sp.Simulation(
        {"hammock": hammock, "ball": ball, "block": block, "cloth": cloth},
        damping={"hammock": STRONG, "cloth": STRONG, "block": sp.StrainRate(shear=60)},
        attachments=[sp.Pin(hammock, k) for k in (0, yarns - 1, count - yarns, count - 1)],
        integrator=sp.BackwardEuler(),
        self_contact=sp.SelfContact(friction=0.4),
        gravity=(0, 0, -GRAVITY),
        dt=DT,
    )


def main() -> None:
    sim, began = world(11 if quick() else 15), time.process_time()
    hammock, ball, _, cloth = sim.bodies
    start = ball.pose(sim.state_of(ball).u)[1][2]
    felt = []
    for _ in range(round((0.5 if quick() else 0.8) / DT)):
        sim.step()
        forces = sim.self_contact_forces
        felt.append([forces[rows].sum(axis=0)[2] for rows in sim.body.rows])
    spent = time.process_time() - began
    borne = np.mean(felt[-10:], axis=0)
    weights = [GRAVITY * body.total_mass for body in sim.bodies]
    centre = ball.pose(sim.state_of(ball).u)[1]
    print(f"the hammock bears {borne[1]:.4f} N of the ball's {weights[1]:.4f} N")
    print(f"the block bears {borne[3]:.4f} N of the cloth's {weights[3]:.4f} N")
    lost, stored = weights[1] * (start - centre[2]), hammock.energy(sim.state_of(hammock).u)
    print(
        f"the hammock stores {1000 * stored:.2f} mJ of the {1000 * lost:.2f} mJ that the ball lost"
    )
    print(f"{spent:.0f} s of the processor")
    assert abs(borne[1] - weights[1]) < 0.03 * weights[1]
    assert abs(borne[3] - weights[3]) < 0.03 * weights[3]
    assert 0 < stored < lost
    x = hammock.positions(sim.state_of(hammock).u)
    assert np.linalg.norm(x - centre, axis=1).min() > 0.97 * RADIUS, "nothing is in the ball"
    assert cloth.positions(sim.state_of(cloth).u)[:, 2].max() > 0.9 * BLOCK


if __name__ == "__main__":
    main()
