"""What integrators do to the energy of a beam that nothing damps (example damping, Fig. 10).

The beam is bent by a force on its tip and let go, by a little and by a lot. An exact rule would
keep all energy. All solve as many stages: Bathe's, with two a step, takes steps twice as long.
"""

from dataclasses import dataclass

import numpy as np

import supple as sp

DT, DURATION = 1 / 30, 8.0  # [s]
RULES = {
    "trapezoidal": (sp.Trapezoidal(), DT),
    "Bathe": (sp.Bathe(), 2 * DT),
    "Newmark, β = 0.36, γ = 0.7": (sp.Newmark(beta=0.36, gamma=0.7), DT),
    "backward Euler": (sp.BackwardEuler(), DT),
}
SMALL, LARGE = 0.05, 100.0  # pull on the tip [N]: it goes 1 mm, and 77 cm

beam = sp.HexMesh.box(size=(1.0, 0.1, 0.1), cells=(8, 1, 1))
end = beam.where(x=1)
body = sp.Body(beam, sp.StVK(young=1e6, poisson=0.3, density=1000), fixed=beam.where(x=0))


def bent(pull: float) -> np.ndarray:
    """The beam with its tip pulled up by so many newtons, (n, 3)."""
    u = np.zeros_like(beam.vertices)
    for share in np.linspace(0.1, 1.0, 10):
        u = sp.static_shape(body, body.surface_force(end, (0, 0, share * pull / 0.1**2)), start=u)
    return u


@dataclass(frozen=True)
class Energy:
    """Elastic and kinetic energy over that at the start, at ``times`` [s]."""

    times: np.ndarray
    shares: np.ndarray

    @property
    def blown_up(self) -> bool:
        """Whether it grew tenfold, or a step could not be solved."""
        return self.times[-1] < DURATION - DT


def let_go(start: np.ndarray, integrator: sp.Integrator, dt: float) -> Energy:
    """The energy after each step, up to where it has grown tenfold."""
    sim = sp.Simulation(body, integrator=integrator, dt=dt)
    sim.state.u = start
    frames = [sim.frame()]
    while sim.state.time < DURATION - dt / 2:
        try:
            sim.step()
        except sp.StepFailed:
            break
        frames.append(sim.frame())
        if frames[-1].kinetic + frames[-1].elastic > 10 * frames[0].elastic:
            break
    energy = np.array([frame.kinetic + frame.elastic for frame in frames])
    return Energy(np.array([frame.time for frame in frames]), energy / energy[0])


def compared(start: np.ndarray) -> dict[str, Energy]:
    return {name: let_go(start, rule, dt) for name, (rule, dt) in RULES.items()}


def main() -> None:
    starts = bent(SMALL), bent(LARGE)
    small, large = map(compared, starts)
    lifted = [f"{100 * u[end, 2].mean():.2g} cm" for u in starts]
    print(f"{f'energy left after {DURATION:g} s, released from':37}{lifted[0]:>14}{lifted[1]:>18}")
    for name, (_, dt) in RULES.items():
        cells = [
            f"bursts at {case[name].times[-1]:.1f} s"
            if case[name].blown_up
            else f"{case[name].shares[-1]:.1%}"
            for case in (small, large)
        ]
        print(f"{name:28}{1000 * dt:6.1f} ms{cells[0]:>14}{cells[1]:>18}")

    # Small: a linear body, of which the trapezoidal rule keeps all, and Bathe's nearly all.
    assert abs(small["trapezoidal"].shares - 1).max() < 1e-3
    assert small["Bathe"].shares[-1] > 0.95
    assert small["Newmark, β = 0.36, γ = 0.7"].shares[-1] < 0.5
    assert small["backward Euler"].shares[-1] < 0.05
    # Large: the trapezoidal rule bursts. Bathe's goes on, and keeps most.
    assert large["trapezoidal"].blown_up
    assert not large["Bathe"].blown_up
    assert 0.85 < large["Bathe"].shares[-1] <= large["Bathe"].shares.max() < 1.01
    assert large["Newmark, β = 0.36, γ = 0.7"].shares[-1] < 0.4
    assert large["backward Euler"].shares[-1] < 0.05


if __name__ == "__main__":
    main()
