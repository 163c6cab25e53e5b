"""Dominoes that fall one by one, and how fast the wave runs along the row.

A wave that has found its speed passes the same distance in the same time, domino after domino. The
speed is measured against the natural one of a domino, √(g h), and from the middle of the row on,
where the push at its beginning is forgotten. Nothing can be faster than the energy allows that all
dominoes behind the front have set free by falling onto their neighbours.
"""

import time

import numpy as np
from shared.measuring import quick

import supple as sp

HEIGHT, THICKNESS, WIDTH = 0.048, 0.0075, 0.024  # [m]
PITCH = 0.024  # [m] from one to the next
DENSITY, FRICTION, DT = 600.0, 0.2, 1 / 240  # [kg/m³], [s]
GAP = 2e-4  # [m] above the floor
PUSH = 6.0  # [rad/s] of the first one, about its foot
GRAVITY = 9.81


def domino(k: int) -> sp.RigidBody:
    box = sp.TetMesh.box(size=(THICKNESS, WIDTH, HEIGHT), cells=(1, 1, 1))
    place = np.array([k * PITCH, -0.5 * WIDTH, GAP])
    return sp.RigidBody(sp.TetMesh(box.vertices + place, box.cells), density=DENSITY)


def row(count: int) -> sp.Simulation:
    dominoes = [domino(k) for k in range(count)]
    sim = sp.Simulation(
        dominoes,
        obstacles=sp.Plane(friction=0.6),
        self_contact=sp.SelfContact(friction=FRICTION),
        gravity=(0, 0, -GRAVITY),
        dt=DT,
    )
    first = dominoes[0]
    foot = np.array([THICKNESS, 0.0, GAP])
    spin = np.array([0.0, PUSH, 0.0])
    linear = np.cross(spin, first.centre - foot)
    sim.state_of(first).v = first.velocity(linear, spin)
    return sim


def lean(sim: sp.Simulation) -> np.ndarray:
    """How far each has turned forwards [rad]."""
    turns = [body.pose(sim.state_of(body).u)[0] for body in sim.bodies]
    return np.array([np.arctan2(R[0, 2], R[2, 2]) for R in turns])


def main() -> None:
    count = 12 if quick() else 20
    sim, began = row(count), time.process_time()
    alone = np.arcsin((PITCH - THICKNESS) / HEIGHT)  # at which a domino meets its neighbour
    met = np.full(count, np.nan)
    for _ in range(round(3.0 / DT)):
        before = lean(sim)
        sim.step()
        after = lean(sim)
        for k in np.flatnonzero((before < 0.5 * alone) & (after >= 0.5 * alone)):
            share = (0.5 * alone - before[k]) / (after[k] - before[k])
            met[k] = sim.state.time - (1 - share) * DT
        if not np.isnan(met[-1]) and sim.state.time > met[-1] + 0.1:
            break
    seconds = time.process_time() - began
    assert np.isfinite(met).all(), "all have fallen"
    assert (np.diff(met) > 0).all(), "one by one"
    late = np.diff(met)[count // 2 :]
    speed, natural = PITCH / late.mean(), np.sqrt(GRAVITY * HEIGHT)
    print(f"{count} dominoes fall in {met[-1] - met[0]:.3f} s ({seconds:.0f} s of the processor)")
    print(f"the wave runs at {speed:.3f} m/s, {speed / natural:.2f} √(g h)")
    print(f"from one to the next it takes {1000 * late.mean():.1f} ± {1000 * late.std():.1f} ms")
    assert late.std() < DT, "the wave is steady, as far as steps can tell"
    assert 0.8 < speed / natural < 3.0
    assert lean(sim)[: count // 2].min() > 0.5 * alone


if __name__ == "__main__":
    main()
