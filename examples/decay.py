"""How fast a vibration dies away under Rayleigh damping: ζ = ½ (α/ω + β ω)."""

import numpy as np

import supple as sp

ALPHA, BETA = 0.4, 2e-3

beam = sp.TetMesh.box(size=(1.0, 0.2, 0.2), cells=(8, 2, 2))
body = sp.Body(beam, sp.StVK(young=1e6, poisson=0.4, density=1000), fixed=beam.where(x=0))
modes = sp.vibration_modes(body, 1)
omega, shape = 2 * np.pi * modes.frequencies[0], modes.shapes[0]

period = 2 * np.pi / omega
sim = sp.Simulation(body, damping=sp.Rayleigh(mass=ALPHA, stiffness=BETA), dt=period / 60)
sim.state.u = 1e-4 / np.abs(shape).max() * shape  # small, so that the formula holds
motion = sim.run(3 * period)

# The mode is M-orthonormal: φᵀ M u is how much of it is in u.
amount = np.array([np.vdot(shape, body.mass_times(u)) for u in motion.displacements])
tops = [k for k in range(1, len(amount) - 1) if amount[k - 1] < amount[k] >= amount[k + 1]]
ratio = amount[tops[-1]] / amount[0]

zeta = 0.5 * (ALPHA / omega + BETA * omega)
elapsed = motion.times[tops[-1]]
exact = np.exp(-zeta * omega * elapsed)
print(f"after {elapsed:.2f} s {ratio:.4f} of the vibration is left; the formula says {exact:.4f}")
assert abs(ratio / exact - 1) < 0.005
