"""Flesh on a deformer: an X that is bent to and fro by 135 degrees (pose space paper, Fig. 13).

One number moves the rig. Three poses have a model of 30 coordinates, neo-Hookean; everything in
between is interpolated. The flesh lags behind, overshoots and settles as that of the full
simulation does, also where the rig is furthest from the shape that it was modelled in.
"""

import time

import numpy as np
from shared.measuring import quick
from shared.soft_x import x_mesh

import supple as sp
from supple.character.rigs import BendRig
from supple.character.runtime.simulation import PoseSimulation
from supple.character.tissue.full_pose import FullPoseSimulation
from supple.character.training.building import pose_space_model

DT, FRAMES = 1 / 90, 130
ALPHA, BETA = 1.0, 2e-3  # Rayleigh damping [1/s], [s]
FAR = np.deg2rad(135)

mesh = x_mesh(8 if quick() else 14)
rig = BendRig(mesh.boundary(), along=(1, 0, 0), about=(0, 1, 0))
middle = np.linalg.norm(mesh.vertices[:, [0, 2]], axis=1) < 0.15
material = sp.NeoHookean(young=6e5, poisson=0.4, density=1000.0)
model = pose_space_model(
    rig, volume=mesh, fixed=middle, material=material, poses=[[-FAR], [FAR]], modes=12, size=30
)
body = sp.Body(mesh, material, fixed=middle, mass_model=sp.LumpedMass())
live = PoseSimulation(model, damping=sp.Rayleigh(mass=ALPHA, stiffness=BETA), dt=DT)
full = FullPoseSimulation(body, model.tet_rig, mass=ALPHA, stiffness=BETA, dt=DT)


def bend(frame: int) -> np.ndarray:
    """To and fro in 1.2 s, then standing still at once."""
    t = min(frame * DT / 1.2, 1.0)
    return np.array([FAR * np.sin(2 * np.pi * t) * np.sin(np.pi * t / 2) ** 2])


errors, sizes, seconds = [], [], []
print(f"{'frame':>5} {'bend [°]':>9} {'full [mm]':>10} {'reduced [mm]':>13} {'apart [mm]':>11}")
for frame in range(1, FRAMES + 1):
    start = time.process_time()
    full.step(bend(frame))
    between = time.process_time()
    live.step(bend(frame))
    seconds.append([between - start, time.process_time() - between])
    u, v = full.displacements, live.displacements()
    lengths = [1e3 * np.linalg.norm(d, axis=1).max() for d in (u, v, u - v)]
    errors.append(np.linalg.norm(u - v))
    sizes.append(np.linalg.norm(u))
    if frame % 10 == 0:
        angle = np.rad2deg(bend(frame)[0])
        print(f"{frame:5d} {angle:9.1f} {lengths[0]:10.1f} {lengths[1]:13.1f} {lengths[2]:11.1f}")

error = np.linalg.norm(errors) / np.linalg.norm(sizes)
cells, vertices = len(model.cells), len(model.inertial_vertices)
print(f"{mesh.n_cells} tets; {cells} carry elastic, {vertices} vertices inertial forces")
print(f"difference to the full simulation, over all frames: {100 * error:.1f} %")
slow, fast = np.median(seconds, axis=0)
print(f"a step: {1e3 * slow:.0f} ms in full, {1e6 * fast:.0f} µs reduced, {slow / fast:.0f} times")
assert error < 0.15
assert slow > fast
