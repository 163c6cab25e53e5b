"""A square beam that settles differently sideways and upwards (example damping, Figs. 3 and 5).

It is bent aside and up, and let go. Each way of swinging is an example, and has a strength
of its own; the other one, and the frequencies, stay as they were.
"""

from dataclasses import dataclass

import numpy as np

import supple as sp
from supple.design.ringdown.ringdown import RingDown

LENGTH, SIDE, YOUNG, DENSITY = 1.0, 0.1, 1e6, 1000.0
ZETA = 0.02  # damping ratio of the slowest vibrations, by default
CYCLES, STEPS = 5, 40  # how long it swings, and steps a cycle

beam = sp.HexMesh.box(size=(LENGTH, SIDE, SIDE), cells=(8, 1, 1))
end = beam.where(x=LENGTH)
body = sp.Body(beam, sp.StVK(young=YOUNG, poisson=0.4, density=DENSITY), fixed=beam.where(x=0))
modes = sp.vibration_modes(body, 2)
frequency = modes.frequencies[0]  # the same in both directions
rayleigh = sp.Rayleigh(stiffness=ZETA / (np.pi * frequency))  # ζ = ½ β ω

# The two slowest modes, turned so that one moves the tip along y and the other along z.
tip = modes.shapes[:, end, 1:].mean(axis=1)
sideways, upwards = np.tensordot(np.linalg.inv(tip), modes.shapes, 1)


def scaled(side: float, up: float, base: sp.Damping = rayleigh) -> sp.ExampleDamping:
    """The base damping times ``side`` along y and times ``up`` along z."""
    return sp.ExampleDamping(base, [sp.Example(sideways, side), sp.Example(upwards, up)])


@dataclass(frozen=True)
class Result:
    """How the tip swings along y and along z."""

    swings: tuple[RingDown, RingDown]

    @property
    def ratios(self) -> np.ndarray:
        """Damping ratios ζ, (y, z)."""
        return np.array([ring.ratio for ring in self.swings])

    @property
    def frequencies(self) -> np.ndarray:
        """Frequencies over the undamped one, (y, z)."""
        return np.array([ring.frequency for ring in self.swings]) / frequency


def let_go(damping: sp.Damping, deflection: float = 0.001) -> Result:
    """The beam is released with its tip ``deflection`` [m] off in both directions."""
    sim = sp.Simulation(body, damping=damping, integrator=sp.Bathe(), dt=1 / frequency / STEPS)
    sim.state.u = deflection * (sideways + upwards)
    motion = sim.run(CYCLES / frequency)
    return Result(tuple(RingDown.from_motion(motion, end, axis) for axis in np.eye(3)[1:]))


def apart(a: RingDown, b: RingDown) -> float:
    """The largest distance between two swings, as a share of the first one's size."""
    return float(np.abs(a.displacements - b.displacements).max() / np.abs(a.displacements).max())


def flat_beam() -> tuple[np.ndarray, np.ndarray]:
    """Another way to damp by direction: a beam of the same mass whose section is flat.

    Stiffness damping takes a share ½ β ω² a second, so that a body that is a tenth as stiff
    sideways and five times as stiff upwards would be damped 0.1 times and 5 times as much. Gives
    these rates and the frequencies, (y, z), of the square beam's.
    """

    def squares(young: float, width: float, height: float) -> np.ndarray:
        mesh = sp.TetMesh.box(size=(LENGTH, width, height), cells=(8, 1, 1)).quadratic()
        material = sp.StVK(young=young, poisson=0.4, density=DENSITY)
        found = sp.vibration_modes(sp.Body(mesh, material, fixed=mesh.where(x=0)), 4)
        moved = found.shapes[:, mesh.where(x=LENGTH), 1:].mean(axis=1)
        along = np.abs(moved).argmax(axis=1)
        return np.array([found.squares[along == axis][0] for axis in range(2)])

    # A slender beam has ω² ∝ E · thickness²: 0.1 sideways, 5 upwards, the area as before.
    soft = np.sqrt(0.1 * 5)
    rates = squares(soft * YOUNG, SIDE * np.sqrt(0.1 / soft), SIDE * np.sqrt(5 / soft))
    rates /= squares(YOUNG, SIDE, SIDE).mean()
    return rates, np.sqrt(rates)


def main() -> None:
    cases = {
        "Rayleigh": let_go(rayleigh),
        "sideways × 3": let_go(scaled(3.0, 1.0)),
        "Rayleigh × 3": let_go(sp.Rayleigh(stiffness=3 * rayleigh.stiffness)),
        "sideways × 0.1, upwards × 5": let_go(scaled(0.1, 5.0)),
    }
    rows = [(name, case.ratios, case.frequencies) for name, case in cases.items()]
    rates, frequencies = flat_beam()
    rows.append(("flat beam, Rayleigh", ZETA * frequencies, frequencies))  # ζ = ½ β ω
    print(f"{'':30}{'ζ sideways':>12}{'upwards':>10}{'f sideways':>14}{'upwards':>10}")
    for name, zeta, f in rows:
        print(f"{name:30}{zeta[0]:12.4f}{zeta[1]:10.4f}{f[0]:14.4f}{f[1]:10.4f}")

    # Fig. 3: three times stronger sideways, as if all were three times stronger; upwards the same.
    default, side, tripled, both = cases.values()
    upwards_apart = apart(default.swings[1], side.swings[1])
    sideways_apart = apart(tripled.swings[0], side.swings[0])
    print(f"sideways × 3: off Rayleigh by {upwards_apart:.1e} of the swing upwards,", end=" ")
    print(f"off Rayleigh × 3 by {sideways_apart:.1e} sideways")
    assert upwards_apart < 1e-5
    assert sideways_apart < 3e-4
    assert np.allclose(side.ratios / default.ratios, (3, 1), rtol=2e-3)
    # Fig. 5: only the damping changes; a damped body swings at √(1 − ζ²) of its frequency.
    zeta = ZETA * np.array([0.1, 5.0])
    assert np.allclose(both.ratios, zeta, rtol=0.02)
    slowed = np.sqrt((1 - zeta**2) / (1 - ZETA**2))
    assert np.allclose(both.frequencies / default.frequencies, slowed, rtol=1e-3)
    # Damping by stiffness, 0.1 and 5 times as fast, costs the frequencies.
    assert np.allclose(rates, (0.1, 5.0), rtol=0.2)
    assert frequencies[0] < 0.35 < 2.1 < frequencies[1]


if __name__ == "__main__":
    main()
