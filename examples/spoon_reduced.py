"""A soft spoon in 12 coordinates: modal derivatives, the exact cubic model, a poke."""

from shared.measuring import Stopwatch, check_forces, poke, quick

import supple as sp
from supple.builtin import spoon

clock = Stopwatch()
with clock("mesh"):
    made = spoon(resolution=40 if quick() else 100)
body = sp.Body(made.mesh, made.material, fixed=made.places["far end"])
with clock("6 linear modes"):
    modes = sp.vibration_modes(body, 6)
with clock("21 derivatives, mass-PCA"):
    basis = sp.modal_derivative_basis(body, modes=modes, size=12)
with clock("polynomial"):
    model = sp.reduce(body, basis, skin=made.skin)
damping = sp.Rayleigh.from_ratios((2.0, 20.0), (0.01, 0.02))
clock.step(model, damping)

print(f"{made.mesh.n_cells} bricks (paper: 2,005), {model.size} coordinates")
clock.show(
    {
        "6 linear modes": "24 s",
        "21 derivatives, mass-PCA": "39.5 s",
        "polynomial": "60 s",
        "one step": "30.2 µs",
        "u = U q": "565 µs",
    }
)
check_forces(body, model, size=0.05)
print(f"slowest vibration {model.frequencies[0]:.3f} Hz, of the body {modes.frequencies[0]:.3f} Hz")
# The reduced body can only be stiffer than the body itself, here by very little.
assert -1e-9 < model.frequencies[0] / modes.frequencies[0] - 1 < 1e-3
poke(model, modes, damping, made.places["bowl tip"], (0.0, 0.0, 0.3), seconds=0.1)
