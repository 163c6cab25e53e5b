"""A card house: leaning cards that hold each other by friction, and two floors of them.

Two cards of length L that lean on each other at the angle θ to the table stand while
tan θ ≥ 1/(2 μ): each foot carries one weight and pushes outwards with half of it over tan θ. With a
little less friction than that their feet slide out.
"""

import time

import numpy as np
from shared.measuring import quick

import supple as sp

LENGTH, WIDTH, THICKNESS = 0.09, 0.06, 0.002  # [m]
ANGLE = np.radians(65.0)
CRITICAL = 0.5 / np.tan(ANGLE)  # μ at which two cards just stand
DENSITY, GAP, DT = 700.0, 2e-4, 1 / 200  # [kg/m³], [m], [s]
TENTS = {1: (0.0,), 2: (-0.5, 0.5)}  # where tents stand on the lowest floor, in bases


def card(middle: np.ndarray, angle: float, length: float = LENGTH) -> sp.RigidBody:
    """A card through ``middle`` that rises at an angle along x."""
    box = sp.TetMesh.box(size=(length, WIDTH, THICKNESS), cells=(1, 1, 1))
    local = box.vertices - [length / 2, WIDTH / 2, THICKNESS / 2]
    along = np.array([np.cos(angle), 0.0, np.sin(angle)])
    across = np.array([-np.sin(angle), 0.0, np.cos(angle)])
    places = middle + local @ np.array([along, [0.0, 1.0, 0.0], across])
    return sp.RigidBody(sp.TetMesh(places, box.cells), density=DENSITY)


def half_base() -> float:
    """From the middle of a tent to the middle of a card, along x [m]."""
    return 0.5 * LENGTH * np.cos(ANGLE) + 0.5 * THICKNESS * np.sin(ANGLE) + 0.5 * GAP


def tent(x: float, z: float) -> list[sp.RigidBody]:
    """Two cards whose feet are at z, and whose heads nearly touch at x."""
    rise = 0.5 * LENGTH * np.sin(ANGLE) + 0.5 * THICKNESS * np.cos(ANGLE)
    left = np.array([x - half_base(), 0.0, z + rise])
    right = np.array([x + half_base(), 0.0, z + rise])
    return [card(left, ANGLE), card(right, np.pi - ANGLE)]


def house(floors: int, friction: float) -> sp.Simulation:
    """One tent, or two with a card across and a third tent on it."""
    height = LENGTH * np.sin(ANGLE) + THICKNESS * np.cos(ANGLE) + GAP
    base = 4 * half_base() + 0.004
    cards = [each for x in TENTS[floors] for each in tent(x * base, GAP)]
    if floors == 2:
        level = GAP + height + 0.5 * THICKNESS
        cards.append(card(np.array([0.0, 0.0, level]), 0.0, length=1.25 * base))
        cards += tent(0.0, level + 0.5 * THICKNESS + GAP)
    return sp.Simulation(
        cards,
        obstacles=sp.Plane(friction=friction),
        self_contact=sp.SelfContact(friction=friction, sticking_speed=1e-4),
        gravity=(0, 0, -9.81),
        dt=DT,
    )


def sunk(sim: sp.Simulation) -> float:
    """How far the highest card has come down [m]."""
    heights = [(body.centre[2], body.pose(sim.state_of(body).u)[1][2]) for body in sim.bodies]
    return max(before - after for before, after in heights)


def main() -> None:
    print(f"two cards at {np.degrees(ANGLE):.0f}° need μ = {CRITICAL:.3f}")
    cases = [(1, 0.85 * CRITICAL), (1, 1.15 * CRITICAL)]
    if not quick():
        cases.append((2, 0.6))
    for floors, friction in cases:
        sim, began = house(floors, friction), time.process_time()
        for _ in range(round((0.4 if floors == 1 else 1.0) / DT)):
            sim.step()
            if sunk(sim) > 0.3 * LENGTH:
                break
        stands = sunk(sim) < 0.05 * LENGTH
        print(
            f"{len(sim.bodies)} cards, μ = {friction:.3f}: "
            f"{'stand' if stands else 'fall'}, {1000 * sunk(sim):.2f} mm lower after "
            f"{sim.state.time:.2f} s ({time.process_time() - began:.0f} s of the processor)"
        )
        assert stands == (friction > CRITICAL)


if __name__ == "__main__":
    main()
