"""An arch of loose stones that stands by friction alone, and falls where there is too little.

Half a ring of nine voussoirs, rigid and without mortar, on two that are held. Limit analysis says
how much friction it takes: among all forces that the corners of joints can pass on, pushing and
within Coulomb's cones, are there any that balance the weights? That is a linear program (Heyman's
safe theorem, with sliding, which he excludes); the least μ at which it has a solution is that at
which the feet of the arch begin to slide out.
"""

import numpy as np
from scipy.optimize import linprog
from shared.measuring import quick

import supple as sp

STONES, INNER, OUTER, DEPTH = 9, 1.0, 1.3, 0.3  # number, radii [m], [m]
GAP, DENSITY = 5e-4, 2400.0  # [m] between stones as they start, [kg/m³]
BEYOND = 0.03  # so much more or less friction than the critical one


def directions(angle: float) -> tuple[np.ndarray, np.ndarray]:
    """Outwards and along the arch, in the plane, (2,) each."""
    outwards = np.array([np.cos(angle), np.sin(angle)])
    return outwards, np.array([-outwards[1], outwards[0]])


def stone(first: float, last: float, gap: float = 0.0) -> np.ndarray:
    """Corners (4, 2) [m] between two joints, each moved inwards by half a gap."""
    (out, along), (out2, along2) = directions(first), directions(last)
    begin, end = 0.5 * gap * along, -0.5 * gap * along2
    corners = INNER * out + begin, OUTER * out + begin, OUTER * out2 + end, INNER * out2 + end
    return np.array(corners)


def area_and_centre(corners: np.ndarray) -> tuple[float, np.ndarray]:
    x, y = corners.T
    x2, y2 = np.roll(corners, -1, axis=0).T
    cross = x * y2 - x2 * y
    centre = np.array([((x + x2) * cross).sum(), ((y + y2) * cross).sum()]) / (3 * cross.sum())
    return 0.5 * abs(float(cross.sum())), centre


def can_balance(joints: np.ndarray, friction: float) -> bool:
    """Whether forces within friction cones at the corners of joints can bear the stones."""
    count = len(joints) - 1
    balance, weights = np.zeros((3 * count, 4 * len(joints))), np.zeros(3 * count)
    for k in range(count):
        area, centre = area_and_centre(stone(joints[k], joints[k + 1]))
        weights[3 * k + 1] = area
        for joint, sign in ((k, 1.0), (k + 1, -1.0)):
            out, along = directions(joints[joint])
            for corner, radius in enumerate((INNER, OUTER)):
                arm = radius * out - centre
                for part, way in enumerate((sign * along, sign * out)):
                    column = 4 * joint + 2 * corner + part
                    turn = arm[0] * way[1] - arm[1] * way[0]
                    balance[3 * k : 3 * k + 3, column] = *way, turn
    cones = np.zeros((4 * len(joints), 4 * len(joints)))
    for corner in range(2 * len(joints)):
        cones[2 * corner : 2 * corner + 2, 2 * corner] = -friction
        cones[2 * corner : 2 * corner + 2, 2 * corner + 1] = 1.0, -1.0
    bounds = [(0.0, None), (None, None)] * (2 * len(joints))
    none = np.zeros(balance.shape[1])
    found = linprog(none, cones, np.zeros(len(cones)), balance, weights, bounds, method="highs")
    return found.status == 0


def critical_friction(joints: np.ndarray) -> float:
    """The least μ at which the arch can stand, to 1e-5."""
    low, high = 0.0, 1.0
    assert can_balance(joints, high)
    while high - low > 1e-5:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if can_balance(joints, middle) else (middle, high)
    return high


def solid(corners: np.ndarray, depth: float) -> sp.Surface:
    """What lies behind a quadrilateral (4, 2) in the plane."""
    x, z = corners.T
    vertices = [np.column_stack([x, np.full(4, y), z]) for y in (-depth / 2, depth / 2)]
    sides = [(0, 1, 2, 3), (7, 6, 5, 4), (0, 4, 5, 1), (1, 5, 6, 2), (2, 6, 7, 3), (3, 7, 4, 0)]
    triangles = [(a, b, c) for a, b, c, _ in sides] + [(a, c, d) for a, _, c, d in sides]
    surface = sp.Surface(np.concatenate(vertices), np.array(triangles))
    return (
        surface if surface.volume > 0 else sp.Surface(surface.vertices, surface.triangles[:, ::-1])
    )


def arch(joints: np.ndarray, friction: float) -> sp.Simulation:
    stones = {
        f"stone {k}": sp.RigidBody(
            solid(stone(joints[k], joints[k + 1], GAP), DEPTH), density=DENSITY
        )
        for k in range(len(joints) - 1)
    }
    thick = 0.1
    feet = {
        name: sp.RigidBody(solid(stone(first, last, GAP), DEPTH), density=DENSITY, fixed=True)
        for name, first, last in (
            ("right", joints[0] - thick, joints[0]),
            ("left", joints[-1], joints[-1] + thick),
        )
    }
    return sp.Simulation(
        {**stones, **feet},
        self_contact=sp.SelfContact(friction=friction, sticking_speed=1e-4),
        gravity=(0, 0, -9.81),
        dt=1 / 100,
    )


def crown(sim: sp.Simulation) -> float:
    """How far the keystone has come down [m]."""
    body = sim.bodies[STONES // 2]
    return float(body.centre[2] - body.pose(sim.state_of(body).u)[1][2])


def main() -> None:
    joints = np.linspace(0.0, np.pi, STONES + 1)
    critical = critical_friction(joints)
    print(f"limit analysis: the arch needs μ = {critical:.4f}")
    for friction in (critical + BEYOND, critical - BEYOND):
        sim, sunk = arch(joints, friction), [0.0]
        for _ in range(60 if quick() else 200):
            sim.step()
            sunk.append(crown(sim))
            if sunk[-1] > 0.1:
                break
        stands = sunk[-1] < 0.02
        word = "stands" if stands else "falls"
        print(
            f"μ = {friction:.3f}: {word}; the keystone is {1000 * sunk[-1]:.1f} mm lower after "
            f"{sim.state.time:.2f} s"
        )
        assert stands == (friction > critical)
        late = abs(sunk[-1] - sunk[-11]) / (10 * sim.dt)  # [m/s]
        assert late < 1e-3 if stands else late > 0.1, late


if __name__ == "__main__":
    main()
