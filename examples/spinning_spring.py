"""A mass on a spring, thrown sideways: two dampings of one strength (strain rate, Fig. 2).

Strain rate damping takes the energy of the spring's swings in length, and leaves the mass going
round in a circle; it is what ``Rayleigh`` does. Damping by the whole tangent stiffness, the
Rayleigh damping of the paper, brakes the rotation too, down to a stop. The rule that makes the
steps is not what matters: symplectic Euler and Newmark agree.
"""

import numpy as np
from scipy.optimize import brentq
from whole_stiffness import WholeStiffness

import supple as sp

L, K, M, V = 2.0, 100.0, 1.0, 20.0  # rest length [m], stiffness [N], mass [kg], start [m/s]
BETAS = (0.02, 0.05, 0.2)  # [s]
DT, DURATION = 0.01, 10.0  # [s]

spring = sp.SpringMesh.chain((0, 0, 0), (L, 0, 0), 1)
body = sp.SpringNetwork(spring, stiffness=K, mass=M, fixed=[0])

# Angular momentum M L V is kept, and in a circle the pull of the spring bends the path:
# M (L V)²/r³ = K (r/L − 1).
radius = brentq(lambda r: M * (L * V) ** 2 / r**3 - K * (r / L - 1), L, 10 * L)
CIRCLING = 0.5 * M * (L * V / radius) ** 2  # kinetic energy [J]


def stopping(beta: float, time: float) -> float:
    """Kinetic energy [J] that the whole stiffness leaves after a long time.

    The pull M v²/L across the motion lends it the force β (M v²/L) v/L, so v² tends to L²/(2 β t).
    """
    return M * L**2 / (4 * beta * time)


def thrown(
    damping: sp.Damping, rule: sp.Integrator, *, dt: float = DT, solver: sp.Newton | None = None
) -> sp.Motion:
    """The motion of the mass from rest length, at V across the spring."""
    sim = sp.Simulation(body, damping=damping, integrator=rule, solver=solver, dt=dt)
    sim.state.v = [(0, 0, 0), (0, V, 0)]
    return sim.run(DURATION)


def ours(beta: float) -> sp.Damping:
    return sp.SpringStrainRate(matched=beta)


def whole(beta: float) -> sp.Damping:
    return WholeStiffness(beta)


def main() -> None:
    print(f"kinetic energy [J] after {DURATION:g} s; in a circle of {radius:.3f} m: {CIRCLING:.2f}")
    print(f"{'β [s]':12}" + "".join(f"{beta:8}" for beta in BETAS))
    left = {}
    for damping, rule in (
        (ours, sp.Newmark()),
        (ours, sp.SymplecticEuler()),
        (ours, sp.BackwardEuler()),
        (whole, sp.Newmark()),
        (whole, sp.SymplecticEuler()),
    ):
        energy = np.array([thrown(damping(beta), rule).kinetic[-1] for beta in BETAS])
        left[damping, type(rule)] = energy
        kind = "strain rate" if damping is ours else "whole K"
        cells = "".join(f"{value:8.2f}" for value in energy)
        print(f"{kind:12}{cells}  {type(rule).__name__}")

    kept, stopped = left[ours, sp.Newmark], left[whole, sp.Newmark]
    assert np.abs(kept / CIRCLING - 1).max() < 0.01
    assert (stopped < 0.15 * CIRCLING).all()
    assert abs(stopped[-1] / stopping(BETAS[-1], DURATION) - 1) < 0.02
    # Symplectic Euler is of first order: with the strongest damping a few percent off.
    assert np.abs(left[ours, sp.SymplecticEuler] / kept - 1).max() < 0.02
    assert np.abs(left[whole, sp.SymplecticEuler] / stopped - 1).max() < 0.06
    # Backward Euler brakes by itself, but less than the whole stiffness.
    braked = left[ours, sp.BackwardEuler]
    assert (stopped < braked).all()
    assert (braked < 0.3 * CIRCLING).all()

    # Steps ten times as long still lead to the circle, also with one Newton iteration each.
    for solver in (sp.Newton(), sp.Newton(iterations=1)):
        coarse = thrown(ours(BETAS[1]), sp.Newmark(), dt=10 * DT, solver=solver).kinetic[-1]
        print(f"Newmark, steps of {10 * DT:g} s, iterations={solver.iterations}: {coarse:.2f}")
        assert abs(coarse / CIRCLING - 1) < 0.07


if __name__ == "__main__":
    main()
