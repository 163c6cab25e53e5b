"""A block slides over a rough floor and comes to rest (dissipative optimization, Fig. 4).

Friction slows it down by μ g, whatever its shape and weight, and then holds it where it is: after
v₀²/(2 μ g), with a trembling that dies away in the undamped block itself.
"""

import numpy as np

import supple as sp

MU, G = 0.2, 9.81
SPEED = 1.0  # v₀ [m/s]
DT, DURATION = 0.01, 0.8  # [s]
RULES = (sp.BackwardEuler(), sp.BDF2(), sp.TRBDF2())
SOLVERS: dict[str, sp.Newton | sp.ADMM] = {
    "Newton": sp.Newton(),
    "ADMM": sp.ADMM(),
    "ADMM, 10 iterations": sp.ADMM(iterations=10),
    "ADMM, 20 iterations": sp.ADMM(iterations=20),
    "ADMM, 50 iterations": sp.ADMM(iterations=50),
}

block = sp.TetMesh.box(size=(0.2, 0.2, 0.1), cells=(2, 2, 1))
body = sp.Body(block, sp.StableNeoHookean(young=3e5, poisson=0.3, density=1000))
floor = sp.Plane(friction=MU, vertex_restitution=0)


def slide(rule: sp.Integrator, solver: sp.Newton | sp.ADMM) -> sp.Motion:
    """The motion of the block, thrown along the floor."""
    sim = sp.Simulation(
        body, obstacles=[floor], gravity=(0, 0, -G), integrator=rule, solver=solver, dt=DT
    )
    sim.state.v = np.tile([SPEED, 0, 0], (body.n_vertices, 1))
    return sim.run(DURATION)


def speed(motion: sp.Motion) -> np.ndarray:
    """Of the centre of mass along the floor [m/s], (T,)."""
    return np.asarray(motion.linear_momentum[:, 0] / body.total_mass)


def way(motion: sp.Motion) -> float:
    """How far the centre of mass has gone [m]."""
    weights = body.mass_times(np.ones_like(block.vertices))[:, 0] / body.total_mass
    return float(weights @ motion.displacements[-1, :, 0])


def main() -> None:
    stop = SPEED**2 / (2 * MU * G)
    print(f"deceleration over μ g, and the way over v₀²/(2 μ g) = {stop:.4f} m")
    for rule in RULES:
        for name, solver in SOLVERS.items():
            motion = slide(rule, solver)
            v, t = speed(motion), motion.times
            sliding = (t > 0.05) & (v > 0.1 * SPEED)
            slowed = -np.polyfit(t[sliding], v[sliding], 1)[0] / (MU * G)
            gone = way(motion) / stop
            label = f"{type(rule).__name__:15}{name:20}"
            print(f"{label}{slowed:8.4f}{gone:8.4f}   speed at the end {v[-1]:9.1e} m/s")
            assert abs(slowed - 1) < 0.01, label
            # A step of first order sees the speed at its end: half a step of it is missing.
            short = SPEED * DT / (2 * stop) if isinstance(rule, sp.BackwardEuler) else 0.0
            assert abs(gone + short - 1) < 0.01, label
            assert abs(v[-1]) < 0.005 * SPEED, label
            heights = (block.vertices + motion.displacements)[:, :, 2]
            assert heights.min() > -1e-6, label


if __name__ == "__main__":
    main()
