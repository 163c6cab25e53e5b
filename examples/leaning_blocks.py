"""Nine blocks that lean on a wall, and stand or slide (dissipative optimization, Fig. 9).

A rigid rod at the angle θ to the floor stays up when tan θ > (1 − μ²)/(2 μ), μ the friction on
floor and wall: at 70° from μ = 0.2, at 50° from 0.4, at 30° from 0.6. The weight comes on slowly,
else a block near its limit would be shaken loose; how strong it is does not matter to the rod.
"""

from dataclasses import dataclass

import numpy as np

import supple as sp

ANGLES, FRICTIONS = (70, 50, 30), (0.2, 0.4, 0.6)
LENGTH, THICKNESS = 1.0, 0.05  # [m]
LOADING, DURATION, DT = 0.5, 1.5, 0.02  # [s]
GONE = 0.3  # a block that has moved so far [m] is followed no further
RULES = (sp.TRBDF2(), sp.BackwardEuler())


def leaning(angle: float) -> sp.TetMesh:
    """A slim block that touches floor (z = 0) and wall (x = 0) with an edge each."""
    straight = sp.TetMesh.box(size=(LENGTH, THICKNESS, THICKNESS), cells=(10, 1, 1))
    theta = np.radians(angle)
    along = [-np.cos(theta), 0, np.sin(theta)]
    across = [np.sin(theta), 0, np.cos(theta)]
    turned = straight.vertices @ np.array([along, [0, -1, 0], across])
    return sp.TetMesh(turned - turned.min(axis=0), straight.cells)


def stays_up(angle: float, friction: float) -> bool:
    return bool(np.tan(np.radians(angle)) > (1 - friction**2) / (2 * friction))


@dataclass(frozen=True, eq=False)
class Outcome:
    """How far the block has moved at ``times`` [s], and where it ended, u (n, 3) [m]."""

    mesh: sp.TetMesh
    times: np.ndarray
    moved: np.ndarray
    u: np.ndarray

    @property
    def stood(self) -> bool:
        return bool(self.moved[-1] < 0.02)


def let_lean(
    angle: float, friction: float, rule: sp.Integrator, *, loading: float = LOADING, dt: float = DT
) -> Outcome:
    """The weight comes on over ``loading`` [s]."""
    mesh = leaning(angle)
    body = sp.Body(mesh, sp.StableNeoHookean(young=1e7, poisson=0.3, density=1000))
    weight = body.mass_times(np.tile([0, 0, -9.81], (body.n_vertices, 1)))
    sim = sp.Simulation(
        body,
        damping=sp.StrainRate(shear=2e4),
        obstacles=[
            sp.Plane(normal=(0, 0, 1), friction=friction, vertex_restitution=0),
            sp.Plane(normal=(1, 0, 0), friction=friction, vertex_restitution=0),
        ],
        force=lambda time: np.sin(np.pi / 2 * min(time / loading, 1.0)) ** 2 * weight,
        integrator=rule,
        dt=dt,
    )
    times, moved = [0.0], [0.0]
    while times[-1] < DURATION - dt / 2 and moved[-1] < GONE:
        sim.step()
        times.append(sim.state.time)
        moved.append(float(np.linalg.norm(sim.state.u, axis=1).max()))
    return Outcome(mesh, np.array(times), np.array(moved), sim.state.u.copy())


def main() -> None:
    for rule in RULES:
        print(f"{type(rule).__name__}: how far the blocks move")
        print("     " + "".join(f"{f'μ = {mu:g}':>18}" for mu in FRICTIONS))
        for angle in ANGLES:
            row = [let_lean(angle, mu, rule) for mu in FRICTIONS]
            words = [
                f"{1000 * found.moved[-1]:.1f} mm, stands"
                if found.stood
                else f"slides in {found.times[-1]:.2f} s"
                for found in row
            ]
            print(f"{angle}°  " + "".join(f"{word:>18}" for word in words))
            for mu, found in zip(FRICTIONS, row, strict=True):
                if stays_up(angle, mu):
                    assert found.stood, (angle, mu)
                    late = found.moved[found.times > DURATION - 0.5]
                    assert np.ptp(late) < 1e-3 * THICKNESS, (angle, mu)  # at rest, not creeping
                else:
                    assert found.moved[-1] > GONE, (angle, mu)


if __name__ == "__main__":
    main()
