"""Soft crosses and bars thrown among each other, each in eight coordinates (001, Fig. 13).

Two models make all bodies. They fly, turn, bend and push each other as any other bodies of a world,
and end in a heap on the floor. While they fly and meet, their momentum stays; energy never grows.
"""

import time
import warnings

import numpy as np
from scipy.spatial.transform import Rotation
from shared.measuring import quick
from shared.soft_x import x_mesh

import supple as sp

GRAVITY, DT, YOUNG = 9.81, 1 / 100, 4e4  # [m/s²], [s], [Pa]


def models() -> list[sp.ReducedModel]:
    """A cross and a bar of soft rubber."""
    cross = x_mesh(cells=8, height=0.2, thickness=0.05)
    bar = sp.TetMesh.box(size=(0.24, 0.05, 0.03), cells=(8, 2, 1))
    # they are bent by a twentieth of their size, far from swings for which eight are too few
    warnings.simplefilter("ignore", sp.ModelWarning)
    made = []
    for mesh in (cross, bar):
        body = sp.Body(mesh, sp.StVK(young=YOUNG, poisson=0.4, density=1000))
        made.append(sp.reduce(body, sp.modal_derivative_basis(body, modes=3, size=8)))
    return made


def thrown(count: int) -> sp.Simulation:
    """Bodies on a ring, turned at random, each thrown towards the middle and spinning."""
    chance = np.random.default_rng(1)
    turns = Rotation.random(count, random_state=1).as_matrix()
    kinds, bodies, speeds = models(), [], []
    for k, R in enumerate(turns):
        around = 2 * np.pi * k / min(count, 6)
        outward = np.array([np.cos(around), np.sin(around), 0.0])
        place = 0.3 * outward + [0.0, 0.0, 0.35 + 0.28 * (k // 6)]
        bodies.append(sp.FloatingBody(kinds[k % 2], rotation=R, centre=place))
        speeds.append((-1.5 * outward + [0.0, 0.0, 0.5], chance.normal(scale=3.0, size=3)))
    sim = sp.Simulation(
        bodies,
        damping=sp.Rayleigh(stiffness=2e-3),
        integrator=sp.BackwardEuler(),
        obstacles=sp.Plane(friction=0.4),
        self_contact=sp.SelfContact(friction=0.3),
        gravity=(0, 0, -GRAVITY),
        dt=DT,
    )
    for body, (linear, spin) in zip(bodies, speeds, strict=True):
        sim.state_of(body).v = body.velocity(linear, spin)
    return sim


def main() -> None:
    sim = thrown(2 if quick() else 6)
    mass = sum(body.total_mass for body in sim.bodies)
    frames, met, began = [sim.frame()], 0, time.process_time()
    off = 0.0
    for _ in range(18 if quick() else 60):
        sim.step()
        frames.append(sim.frame())
        met = max(met, int(sim.self_contact_forces.any(axis=1).sum()))
        if not sim.contact_forces.any():
            way = np.array([0.0, 0.0, -GRAVITY * mass * sim.state.time])
            gone = frames[-1].linear_momentum - frames[0].linear_momentum - way
            off = max(off, float(np.abs(gone).max()))
    seconds = (time.process_time() - began) / (len(frames) - 1)
    energy = np.array([each.kinetic + each.elastic + each.gravitational for each in frames])
    bends = [
        np.abs(body.model.displacements(body.coordinates(sim.state_of(body).u))).max()
        for body in sim.bodies
    ]
    misfit = max(body.misfit(sim.state_of(body).u) for body in sim.bodies)
    lowest = min(body.positions(sim.state_of(body).u)[:, 2].min() for body in sim.bodies)
    print(f"{len(sim.bodies)} bodies of {mass / len(sim.bodies):.2f} kg, 8 coordinates each")
    print(f"they met, and until they fell their momentum was off by {off:.1e} kg m/s")
    print(f"energy {energy[0]:.3f} J -> {energy[-1]:.3f} J, at most {np.diff(energy).max():.1e} up")
    print(f"bent by up to {1000 * max(bends):.1f} mm, off their shapes by {1e6 * misfit:.2f} µm")
    print(f"lowest {1000 * lowest:.3f} mm; a step takes {1000 * seconds:.0f} ms of the processor")
    assert met > 0
    assert off < 1e-6 * mass
    assert np.diff(energy).max() < 1e-4 * energy[0]
    assert misfit < 1e-4
    assert lowest > -1e-5


if __name__ == "__main__":
    main()
