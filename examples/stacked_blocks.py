"""Ten blocks let go on top of each other, that stand for ten seconds: rigid ones, and rubber.

Nothing is set but what the world is made of: the rule, the step of 1/60 s and the distance at which
blocks push each other away are the defaults. The floor has to bear the weight of all ten. A tower
of soft blocks can stand only below the height at which a column buckles under its own weight
(Greenhill), h³ = 7.84 E I / (ρ g A): 1.9 m for this rubber, 0.5 m for one of 100 kPa.
"""

import time
from typing import NamedTuple

import numpy as np
from shared.measuring import quick

import supple as sp

SIDE, GAP, COUNT = 0.1, 0.001, 10  # [m], [m]
YOUNG, DENSITY = 5e6, 500.0  # [Pa], [kg/m³]
GRAVITY = 9.81  # [m/s²]


class Standing(NamedTuple):
    """What a tower did: how far it has sunk and leant [m], and what its floor bears [N]."""

    sunk: float
    leant: float
    borne: float
    speed: float
    seconds: float  # of the processor


def block(level: int, kind: str) -> sp.Body:
    cube = sp.TetMesh.box(size=(SIDE,) * 3, cells=(2, 2, 2))
    place = np.array([-SIDE / 2, -SIDE / 2, GAP + level * (SIDE + GAP)])
    mesh = sp.TetMesh(cube.vertices + place, cube.cells)
    if kind == "rigid":
        return sp.RigidBody(mesh, density=DENSITY)
    return sp.Body(mesh, sp.StableNeoHookean(young=YOUNG, poisson=0.4, density=DENSITY))


def tower(kind: str) -> sp.Simulation:
    return sp.Simulation(
        [block(level, kind) for level in range(COUNT)],
        damping=None if kind == "rigid" else sp.StrainRate(shear=2000.0),
        obstacles=sp.Plane(friction=0.5),
        self_contact=sp.SelfContact(friction=0.5),
        gravity=(0, 0, -GRAVITY),
    )


def centres(sim: sp.Simulation) -> np.ndarray:
    """Of the blocks [m], (10, 3)."""
    places = [body.mesh.vertices + sim.state_of(body).u for body in sim.bodies]
    return np.array([x.mean(axis=0) for x in places])


def stand(sim: sp.Simulation, seconds: float) -> Standing:
    began, start = time.process_time(), centres(sim)
    borne = []
    for _ in range(round(seconds / sim.dt)):
        sim.step()
        borne.append(sim.contact_forces[:, 2].sum())
    moved = centres(sim) - start
    return Standing(
        sunk=-moved[-1, 2],
        leant=float(np.hypot(*moved[:, :2].T).max()),
        borne=float(np.mean(borne[-30:])),
        speed=float(np.abs(sim.state.v).max()),
        seconds=time.process_time() - began,
    )


def main() -> None:
    seconds = 1.5 if quick() else 10.0
    weight = COUNT * DENSITY * SIDE**3 * GRAVITY
    for kind in ("rigid", "rubber"):
        found = stand(tower(kind), seconds)
        print(
            f"{kind}: after {seconds:g} s it has sunk by {1000 * found.sunk:.2f} mm and leant by "
            f"{1000 * found.leant:.2f} mm; the floor bears {found.borne:.2f} N of {weight:.2f} N "
            f"({found.seconds:.0f} s)"
        )
        squeezed = 0.0 if kind == "rigid" else DENSITY * GRAVITY * (COUNT * SIDE) ** 2 / (2 * YOUNG)
        assert 0 < found.sunk < COUNT * GAP + 2 * squeezed  # gaps have closed, and no more
        assert found.leant < 0.05 * SIDE
        assert abs(found.borne - weight) < 0.02 * weight
        assert found.speed < 0.05


if __name__ == "__main__":
    main()
