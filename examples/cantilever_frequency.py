"""The slowest vibration of a slender beam, against the formula of Euler and Bernoulli."""

import numpy as np

import supple as sp

LENGTH, SIDE, YOUNG, DENSITY = 2.0, 0.1, 1e7, 1000.0

beam = sp.TetMesh.box(size=(LENGTH, SIDE, SIDE), cells=(24, 2, 2)).quadratic()
material = sp.StVK(young=YOUNG, poisson=0.3, density=DENSITY)
body = sp.Body(beam, material, fixed=beam.where(x=0))
found = sp.vibration_modes(body, 1).frequencies[0]

# ω = 1.8751² √(E I / ρ A L⁴), with I / A = side² / 12 for a square
exact = 1.8751**2 * np.sqrt(YOUNG * SIDE**2 / (12 * DENSITY * LENGTH**4)) / (2 * np.pi)
print(f"{found:.4f} Hz, Euler and Bernoulli {exact:.4f} Hz: {100 * (found / exact - 1):+.2f} %")
assert abs(found / exact - 1) < 0.005
