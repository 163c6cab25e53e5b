"""Swings that die sooner than, as and later than exponentially (dissipative optimization, Fig. 3).

A beam swings like a pendulum, in its slowest bending mode, under forces that grow with the p-th
power of the rate of deformation. All dampings are set to take the same from the first swing; then
the amplitude a obeys a' = −k a₀ (a/a₀)ᵖ, which has a closed form for every p.
"""

import numpy as np

import supple as sp
from supple.bodies.shape import Shape

EXPONENTS = (0.0, 0.5, 1.0, 2.0)
SWING = 0.05  # how far the tip goes at first [m]
LOSS = 0.2  # k times the period, about the share of the first cycle that is lost
CYCLES, STEPS = 6, 40  # steps a cycle

beam = sp.HexMesh.box(size=(1.0, 0.1, 0.1), cells=(8, 1, 1))
body = sp.Body(beam, sp.Corotational(young=1e6, poisson=0.3), fixed=beam.where(x=0))
modes = sp.vibration_modes(body, 1)
omega, mode = 2 * np.pi * modes.frequencies[0], modes.shapes[0]
period = 2 * np.pi / omega
start = SWING / np.abs(mode).max()  # amplitude a₀ of the mode, whose energy is ½ (ω a)²


def cycle_mean(power: float) -> float:
    """The mean of |sin θ|^power."""
    return float(np.mean(np.abs(np.sin(np.linspace(0, np.pi, 1000, endpoint=False))) ** power))


def damping(p: float) -> sp.PowerLaw:
    """The law that takes a' = −k a₀ from a swing of amplitude a₀.

    R is of degree p + 1 in the velocity, so the power v·∇₂R is (p + 1) R.
    """
    unit = sp.PowerLaw(exponent=p, strength=1.0, width=1e-6)
    rest = Shape(body, np.zeros_like(beam.vertices))
    R = unit.bind(body).evaluate(rest, omega * start * mode)[0]
    power = (p + 1) * R * cycle_mean(p + 1)  # = ω² a₀ · k a₀
    k = LOSS / period
    return sp.PowerLaw(exponent=p, strength=(omega * start) ** 2 * k / power, width=1e-3)


def amplitude(p: float, time: np.ndarray) -> np.ndarray:
    """a/a₀ in closed form."""
    k = LOSS / period
    if p == 1:
        return np.exp(-k * time)
    return np.maximum(1 - (1 - p) * k * time, 0.0) ** (1 / (1 - p))


def swinging(p: float) -> sp.Motion:
    """From the rest shape, at full speed."""
    sim = sp.Simulation(body, damping=damping(p), integrator=sp.TRBDF2(), dt=period / STEPS)
    sim.state.v = omega * start * mode
    return sim.run(CYCLES * period)


def peaks(motion: sp.Motion) -> tuple[np.ndarray, np.ndarray]:
    """Times of largest speed, and √(kinetic energy) there over that at the start, to a fifth."""
    size = np.sqrt(motion.kinetic / motion.kinetic[0])
    top = [0] + [
        i for i in range(1, len(size) - 1)
        if size[i - 1] < size[i] >= size[i + 1] and size[i] > 0.2
    ]  # fmt: skip
    return motion.times[top], size[top]


def main() -> None:
    print(f"√(kinetic energy) at each half swing; the slowest mode takes {period:.3f} s")
    for p in EXPONENTS:
        times, tops = peaks(swinging(p))
        exact = amplitude(p, times)
        print(f"p = {p:3g}   " + " ".join(f"{top:.3f}" for top in tops))
        print("  theory  " + " ".join(f"{top:.3f}" for top in exact))

        # Dry damping bends the mode itself, and so takes a little less of it.
        assert np.abs(tops - exact).max() < (0.06 if p == 0 else 0.01)
        rates = -np.diff(np.log(tops)) / np.diff(times) * period  # constant where exponential
        if p < 1:
            assert (np.diff(rates) > 0).all()
            assert rates[-1] > 1.8 * rates[0]
        elif p == 1:
            assert np.abs(rates / LOSS - 1).max() < 0.02
        else:
            assert (np.diff(rates) < 0).all()
            assert rates[-1] < 0.6 * rates[0]


if __name__ == "__main__":
    main()
