"""How much is left after one cycle, over the strength of damping (example damping, Fig. 9).

A beam is bent into its slowest mode by three amounts, and let go under each of many strengths γ.
The more damping, the less is left: that is why a search finds the strength for any residual asked
for.
"""

import numpy as np

import supple as sp
from supple.design.testbeds import make_testbed
from supple.design.unloading import UnloadingTest

ZETA, REACH = 0.02, 0.02  # damping ratio by default; how far the tip is at excitation 1 [m]
STARTS = (1.0, 2.0, 3.0)  # excitations
STRENGTHS = np.logspace(-3, 3, 37)  # 1000 times weaker to 1000 times stronger

beam = sp.HexMesh.box(size=(1.0, 0.2, 0.2), cells=(8, 1, 1))
end = beam.where(x=1)
body = sp.Body(beam, sp.StVK(young=1e6, poisson=0.4, density=1000), fixed=beam.where(x=0))
modes = sp.vibration_modes(body, 6)
omega = 2 * np.pi * modes.frequencies[0]
model = sp.reduce(body, sp.modal_derivative_basis(body, modes=modes, size=15))

tip = modes.shapes[:2, end, 1:].mean(axis=1)
upwards = REACH * np.tensordot(np.linalg.inv(tip), modes.shapes[:2], 1)[1]
base = sp.Rayleigh(mass=ZETA * omega, stiffness=ZETA / omega)  # ζ = ½ (α/ω + β ω)
damping = sp.ExampleDamping(base, [sp.Example(upwards)])
dt = 2 * np.pi / omega / 40


def one_cycle(start: float, gamma: float, of: sp.Body | sp.ReducedModel = model) -> UnloadingTest:
    """The beam, or its reduced model, let go at an excitation and followed for a cycle."""
    tests = make_testbed(of, damping, dt=dt)
    return tests.unload(damping.with_curves([gamma]), 0, start)


def residuals() -> np.ndarray:
    """The excitation after one cycle, (starts, strengths)."""
    return np.array([[one_cycle(a, g).residual for g in STRENGTHS] for a in STARTS])


def formula() -> np.ndarray:
    """The share that a linear vibration keeps, (strengths,)."""
    zeta = np.minimum(ZETA * STRENGTHS, 1 - 1e-9)
    return np.exp(-2 * np.pi * zeta / np.sqrt(1 - zeta**2))


def main() -> None:
    left = residuals()
    print("      γ" + "".join(f"{f'from {start:g}':>10}" for start in STARTS))
    for gamma, column in list(zip(STRENGTHS, left.T, strict=True))[::3]:
        print(f"{gamma:7.3g}" + "".join(f"{b:10.4f}" for b in column))

    fall = np.diff(left, axis=1)
    assert (fall <= 0).all()
    assert (fall[left[:, 1:] > 0] < 0).all()  # strictly, as long as it swings
    assert (left[:, -1] == 0).all()  # so strong that it only creeps back
    # Hardly damped, it keeps all but what the release gives to faster vibrations.
    assert (left[:, 0] > 0.97 * np.array(STARTS)).all()
    # The smallest one is next to linear: exp(−2π ζ/√(1 − ζ²)) is left, and nothing from ζ = 1 on.
    print(f"off the formula for linear bodies by at most {abs(left[0] - formula()).max():.4f}")
    assert np.allclose(left[0], formula(), atol=0.01)


if __name__ == "__main__":
    main()
