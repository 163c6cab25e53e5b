"""A bridge from a mesh file in 15 coordinates: ``simple_bridge_reduced.py simpleBridge….veg``.

The file is Vega FEM's simpleBridge, of bricks, with its material. It names no supports; both ends
are held here.
"""

import argparse
import sys
from pathlib import Path

from shared.measuring import Stopwatch, check_forces, poke

import supple as sp

FILE = "simpleBridge_resol92-b1.155_enlarged.veg"

parser = argparse.ArgumentParser(description="Reduce the bridge in a .veg file.")
parser.add_argument("mesh", nargs="?", type=Path, default=Path(FILE), help="the .veg file")
path = parser.parse_args().mesh
if not path.exists():
    sys.exit(f"there is no file {path}; give the path of {FILE}, which comes with Vega FEM")

clock = Stopwatch()
with clock("mesh"):
    mesh = sp.read_mesh(path)
low, high = mesh.bounds[:, 0]
brick = mesh.edge_lengths()[0, 0]
ends = mesh.where(inside=lambda x: (x[:, 0] < low + brick / 2) | (x[:, 0] > high - brick / 2))
body = sp.Body(mesh, sp.StVK.from_mesh(mesh), fixed=ends)
with clock("10 linear modes"):
    modes = sp.vibration_modes(body, 10)
with clock("55 derivatives, mass-PCA"):
    basis = sp.modal_derivative_basis(body, modes=modes, size=15)
with clock("polynomial"):
    model = sp.reduce(body, basis)
slow = modes.frequencies[0]
damping = sp.Rayleigh.from_ratios((slow, 10 * slow), (0.01, 0.02))
clock.step(model, damping)

print(f"{mesh.n_cells} bricks, {model.size} coordinates")
clock.show({})
check_forces(body, model, size=1.0)
print(f"slowest vibration {model.frequencies[0]:.3f} Hz, of the body {slow:.3f} Hz")
# The reduced body can only be stiffer than the body itself.
assert -1e-9 < model.frequencies[0] / slow - 1 < 0.05
middle = mesh.where(x=(-brick, brick), y=(None, 0.1 * brick))
poke(model, modes, damping, middle, (0.0, -2e5, 1e5), seconds=0.2 / slow, dt=1e-3 / slow)
