"""A spinning elastic ball drops on a rough floor and rolls away (dissipative optimization, Fig. 5).

Friction acts at the floor, where it has no moment about the line of contact. So what spin I ω₀ the
ball brings is there in the end as rolling, (I + m r²) v/r = I ω₀, however it bounces before: it
grips, turns its spin round like a rubber ball, and settles. Without friction it hops on the spot.
"""

import numpy as np

import supple as sp

RADIUS, HEIGHT = 0.1, 0.1  # [m], and how far it falls
SPIN = 20.0  # ω₀ about y [1/s]
FRICTION = 0.5
DT, DURATION = 0.01, 1.2  # [s]


def ball(cells: int = 6) -> sp.TetMesh:
    """A cube of tetrahedra whose shells are blown up to spheres."""
    cube = sp.TetMesh.box((2, 2, 2), (cells, cells, cells), (-1, -1, -1))
    shell = np.abs(cube.vertices).max(axis=1, keepdims=True)
    far = np.linalg.norm(cube.vertices, axis=1, keepdims=True)
    round_ = cube.vertices * shell / np.where(far > 0, far, 1.0)
    return sp.TetMesh(RADIUS * round_ + [0, 0, RADIUS + HEIGHT], cube.cells)


mesh = ball()
body = sp.Body(mesh, sp.StableNeoHookean(young=2e5, poisson=0.4, density=1000))


def about(x: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Centre (3,) [m], its velocity (3,) [m/s] and the spin about y [1/s] of a shape x (n, 3)."""
    centre, velocity = (body.mass_times(field).sum(axis=0) / body.total_mass for field in (x, v))
    arm = x - centre
    turning = np.cross(arm, body.mass_times(v)).sum(axis=0)[1]
    return centre, velocity, float(turning / inertia(arm))


def inertia(arm: np.ndarray) -> float:
    """About y [kg m²], of places relative to the centre (n, 3)."""
    return float((body.mass_times(arm) * arm)[:, [0, 2]].sum())


def rolling_speed() -> float:
    """v of (I + m r²) v/r = I ω₀ [m/s]."""
    I = inertia(mesh.vertices - about(mesh.vertices, mesh.vertices)[0])
    return SPIN * RADIUS * I / (I + body.total_mass * RADIUS**2)


def dropped(friction: float) -> tuple[np.ndarray, list[np.ndarray]]:
    """Time, x and z of the centre, speed along the floor and spin, (steps, 5), and the shapes."""
    sim = sp.Simulation(
        body,
        damping=sp.StrainRate(shear=100.0),
        obstacles=[sp.Plane(friction=friction)],
        gravity=(0, 0, -9.81),
        dt=DT,
    )
    start = mesh.vertices
    sim.state.v = np.cross([0, SPIN, 0], start - about(start, start)[0])
    rows, shapes = [], []
    for _ in range(round(DURATION / DT)):
        sim.step()
        shapes.append(start + sim.state.u)
        centre, velocity, spin = about(shapes[-1], sim.state.v)
        rows.append((sim.state.time, centre[0], centre[2], velocity[0], spin))
    return np.array(rows), shapes


def main() -> None:
    rolling = rolling_speed()
    rows, shapes = dropped(FRICTION)
    late = rows[rows[:, 0] > DURATION - 0.4]
    speed = late[:, 3].mean()
    gripping = speed / (late[:, 4] * late[:, 2]).mean()
    print(f"speed along the floor {speed:.3f} m/s; rolling with all of its spin {rolling:.3f} m/s")
    print(f"speed over that of rolling with the spin it has then: {gripping:.3f}")
    bounce = rows[np.argmax(rows[:, 0] > 0.25)]
    print(f"after the first bounce {bounce[3]:.3f} m/s, and its spin is {bounce[4]:.2f} 1/s")
    assert abs(speed / rolling - 1) < 0.08
    assert abs(gripping - 1) < 0.1
    assert bounce[3] > 1.2 * rolling
    assert bounce[4] < 0
    assert min(x[:, 2].min() for x in shapes) > -1e-4 * RADIUS

    smooth, _ = dropped(0.0)
    print(f"on a smooth floor: {abs(smooth[:, 3]).max():.1e} m/s along it")
    assert abs(smooth[:, 3]).max() < 1e-6
    assert smooth[-1, 4] > 0.6 * SPIN  # the ball has facets: a push from below may turn it


if __name__ == "__main__":
    main()
