"""Ways of dying away that no linear damping has (example damping, Fig. 2).

Under linear damping every swing loses the same share of its size. Here the share depends on the
size: as a curve γ(|χ|) says, large swings are damped more than small ones, or less.
"""

from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import minimize_scalar

import supple as sp
from supple.design.ringdown.ringdown import RingDown, compare_ring_downs

ZETA, REACH = 0.02, 0.02  # damping ratio by default; how far the tip is at excitation 1 [m]
CYCLES, STEPS = 8, 32  # how long it swings, and steps a cycle
CURVES = {
    "strong when large": sp.Curve.bezier([(0.1, 0.1), (0.5, 20.0)]),
    "strong when small": sp.Curve.bezier([(0.1, 5.0), (0.5, 0.1)]),
}

beam = sp.HexMesh.box(size=(1.0, 0.2, 0.2), cells=(8, 1, 1))
end = beam.where(x=1)
body = sp.Body(beam, sp.StVK(young=1e6, poisson=0.4, density=1000), fixed=beam.where(x=0))
modes = sp.vibration_modes(body, 2)
omega = 2 * np.pi * modes.frequencies[0]
tip = modes.shapes[:, end, 1:].mean(axis=1)
upwards = REACH * np.tensordot(np.linalg.inv(tip), modes.shapes, 1)[1]
base = sp.Rayleigh(mass=ZETA * omega, stiffness=ZETA / omega)  # ζ = ½ (α/ω + β ω)
DURATION = CYCLES * 2 * np.pi / omega


def let_go(curve: sp.Curve | float) -> RingDown:
    """How the tip swings from excitation 1 [m]."""
    damping = sp.ExampleDamping(base, [sp.Example(upwards, curve)])
    sim = sp.Simulation(body, damping=damping, integrator=sp.Bathe(), dt=DURATION / CYCLES / STEPS)
    sim.state.u = upwards
    return RingDown.from_motion(sim.run(DURATION), end, (0, 0, 1))


def over_a_cycle(curve: sp.Curve, amplitude: np.ndarray) -> np.ndarray:
    """The γ that a swing of such an excitation feels: ∫ γ χ̇² dt / ∫ χ̇² dt.

    A damper takes γ χ̇² a second. So γ counts most in the middle of a swing, where χ is small.
    """
    theta = 2 * np.pi * (np.arange(200) + 0.5) / 200
    gamma = curve(np.multiply.outer(amplitude, np.cos(theta)))
    return 2 * (gamma * np.sin(theta) ** 2).mean(axis=-1)


def expected(curve: sp.Curve, times: np.ndarray) -> np.ndarray:
    """The envelope that the curve says: A' = −γ(A) ζ ω A, with γ as felt over a cycle."""

    def slope(_: float, a: np.ndarray) -> np.ndarray:
        return -over_a_cycle(curve, a) * ZETA * omega * a

    return solve_ivp(slope, (0, DURATION), [1.0], dense_output=True, rtol=1e-8).sol(times)[0]


def half_cycles(ring: RingDown) -> tuple[np.ndarray, np.ndarray]:
    """Excitation and damping ratio ζ of each half cycle, from one turning point to the next."""
    size = np.abs(ring.turns[1]) / REACH
    lost = np.log(size[:-1] / size[1:])
    return np.sqrt(size[:-1] * size[1:]), lost / np.hypot(np.pi, lost)


@dataclass(frozen=True)
class Result:
    """A ring-down under a curve, and the nearest that linear damping comes to it."""

    curve: sp.Curve
    ring: RingDown
    gamma: float
    linear: RingDown

    @property
    def misfit(self) -> float:
        """Root mean square of what the linear envelope is off, as a share of the right one."""
        return compare_ring_downs(self.linear, self.ring, seconds=0.9 * DURATION).envelope


def compared(curve: sp.Curve) -> Result:
    """Let go under the curve, and under the constant γ whose envelope is nearest."""
    ring = let_go(curve)
    t = np.linspace(0, 0.9 * DURATION, 301)
    envelope = ring.envelope(t) / REACH

    def off(log_gamma: float) -> float:
        return float(np.sum((np.exp(-np.exp(log_gamma) * ZETA * omega * t) - envelope) ** 2))

    gamma = float(np.exp(minimize_scalar(off, bounds=np.log((1e-3, 1e3)), method="bounded").x))
    return Result(curve, ring, gamma, let_go(gamma))


def main() -> None:
    for name, curve in CURVES.items():
        result = compared(curve)
        size, zeta = half_cycles(result.ring)
        asked = ZETA * over_a_cycle(curve, size)
        print(f"{name}: {curve}")
        print("  excitation " + "".join(f"{x:8.3f}" for x in size[::3]))
        print("  ζ measured " + "".join(f"{x:8.4f}" for x in zeta[::3]))
        print("  ζ asked for" + "".join(f"{x:8.4f}" for x in asked[::3]))
        print(f"  best linear damping: γ = {result.gamma:.2f}, misses by {result.misfit:.0%}")
        assert np.allclose(zeta, asked, rtol=0.05)
        t, x = result.ring.turns
        assert np.allclose(np.abs(x) / REACH, expected(curve, t), rtol=0.03)
        assert result.misfit > 0.1
        slopes = half_cycles(result.linear)[1]
        assert np.allclose(slopes, ZETA * result.gamma, rtol=0.03)  # the same at every size


if __name__ == "__main__":
    main()
