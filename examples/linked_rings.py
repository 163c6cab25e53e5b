"""A chain of linked rings that hangs: rigid tori, with nothing between them but contact.

The first ring is held. As the others come to rest, each bears what hangs below it: the force on
ring k is the weight of the rings from k on, which the chain is asked for link by link.
"""

import time

import numpy as np
from shared.measuring import quick

import supple as sp

RADIUS, TUBE = 0.02, 0.004  # [m], of a ring and of its wire
DENSITY, DT = 2700.0, 1 / 120  # [kg/m³], [s]
GRAVITY = 9.81


def torus(around: int, across: int) -> sp.Surface:
    """A ring in the plane of x and z."""
    a, b = np.meshgrid(np.arange(around), np.arange(across), indexing="ij")
    alpha, beta = 2 * np.pi * a / around, 2 * np.pi * b / across
    out = RADIUS + TUBE * np.cos(beta)
    x = np.stack([out * np.cos(alpha), TUBE * np.sin(beta), out * np.sin(alpha)], axis=-1)
    one, right = a * across + b, (a + 1) % around * across + b
    up, both = a * across + (b + 1) % across, (a + 1) % around * across + (b + 1) % across
    triangles = [np.stack([one, both, right], -1), np.stack([one, up, both], -1)]
    surface = sp.Surface(x.reshape(-1, 3), np.concatenate([t.reshape(-1, 3) for t in triangles]))
    return (
        surface if surface.volume > 0 else sp.Surface(surface.vertices, surface.triangles[:, ::-1])
    )


def chain(count: int) -> sp.Simulation:
    ring = torus(24, 8)
    turned = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    pitch = 2 * RADIUS - 2 * TUBE - 0.001  # links start a millimetre apart
    rings = {}
    for k in range(count):
        places = ring.vertices @ (turned.T if k % 2 else np.eye(3))
        moved = sp.Surface(places - [0, 0, k * pitch], ring.triangles)
        rings[f"ring {k}"] = sp.RigidBody(moved, density=DENSITY, fixed=k == 0)
    return sp.Simulation(
        rings,
        self_contact=sp.SelfContact(friction=0.3),
        gravity=(0, 0, -GRAVITY),
        dt=DT,
    )


def main() -> None:
    count, seconds = (5, 0.6) if quick() else (8, 2.0)
    sim, began = chain(count), time.process_time()
    lifts = []
    for _ in range(round(seconds / DT)):
        sim.step()
        forces = [sim.self_contact_forces[rows].sum(axis=0)[2] for rows in sim.body.rows]
        lifts.append(forces[1:])
    spent = time.process_time() - began
    weight = sim.bodies[1].total_mass * GRAVITY
    bodies = sim.bodies
    heights = [body.pose(sim.state_of(body).u)[1][2] for body in bodies]
    links = -np.diff(heights)
    net = np.mean(lifts[-20:], axis=0)  # what holds a ring less what hangs on it: its weight
    print(f"{count} rings hang after {seconds:g} s ({spent:.0f} s of the processor)")
    print(f"links are {1000 * links.min():.2f} to {1000 * links.max():.2f} mm long")
    print(
        f"each ring is borne with {net.min() / weight:.3f} to "
        f"{net.max() / weight:.3f} of its weight"
    )
    pulls = np.cumsum(net[::-1])[::-1]
    print(f"the first link pulls with {pulls[0]:.4f} N; {(count - 1) * weight:.4f} N hang on it")
    longest = 2 * (RADIUS - TUBE)
    assert (links > longest - 0.002).all()
    assert (links < longest + 1e-6).all(), "rings stay linked"
    assert abs(pulls[0] - (count - 1) * weight) < 0.05 * (count - 1) * weight
    assert np.abs(sim.state.v).max() < 0.05


if __name__ == "__main__":
    main()
