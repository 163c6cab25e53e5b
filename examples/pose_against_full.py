"""Reduced against full, and against a coarse full simulation: a limb on its bone (Fig. 15).

A limb bends and stops. The reduced model of the fine mesh comes near its full simulation. A coarse
mesh that is simulated in full hangs on the bone with most of its vertices, as every tet that the
bone goes through is fixed: it hardly moves, and still costs more than the reduced one.
"""

import time

import numpy as np
from shared.measuring import quick

import supple as sp
from supple.character.building import pose_space_model
from supple.character.full_pose import FullPoseSimulation
from supple.character.live import PoseSimulation
from supple.character.rigs import BendRig
from supple.character.tet_rig import TetRig

DT, FRAMES = 1 / 90, 54
ALPHA, BETA = 1.0, 1e-3
SIZE = (1.0, 0.3, 0.3)
FINE = (10, 4, 4) if quick() else (16, 6, 6)
COARSE = {"coarse": (4, 2, 2), "less coarse": (6, 3, 3)}
material = sp.StableNeoHookean(young=3e4, poisson=0.45, density=1000.0)


def limb(cells: tuple[int, int, int]) -> tuple[sp.TetMesh, np.ndarray]:
    """A mesh of the limb, and which vertices are of tets that its bone goes through."""
    mesh = sp.HexMesh.box(size=SIZE, cells=cells).tetrahedra()
    bone = np.stack([np.linspace(0, 0.8, 200), np.full(200, 0.151), np.full(200, 0.149)], axis=1)
    through = sp.Embedding(mesh, sp.Surface(bone, np.arange(198).reshape(-1, 3))).cells
    fixed = np.zeros(mesh.n_vertices, dtype=bool)
    fixed[mesh.cells[np.unique(through)]] = True
    return mesh, fixed


def bend(frame: int) -> np.ndarray:
    """Bent by 80° within 0.3 s, then held."""
    t = min(frame * DT / 0.3, 1.0)
    return np.array([np.deg2rad(80) * t * t * (3 - 2 * t)])


mesh, fixed = limb(FINE)
skin = mesh.boundary()
rig = BendRig(skin)
poses = [[np.deg2rad(45)], [np.deg2rad(90)]]
model = pose_space_model(
    rig, volume=mesh, fixed=fixed, material=material, poses=poses, modes=12, size=30
)
ways = {
    "full": FullPoseSimulation(
        sp.Body(mesh, material, fixed=fixed, mass_model=sp.LumpedMass()),
        model.tet_rig, mass=ALPHA, stiffness=BETA, dt=DT,
    ),
    "reduced": PoseSimulation(model, damping=sp.Rayleigh(mass=ALPHA, stiffness=BETA), dt=DT),
}  # fmt: skip
shows = {"full": sp.Embedding(mesh, skin)}
counts = {"full": (mesh.n_cells, int((~fixed).sum())), "reduced": (len(model.cells), 0)}
for name, cells in COARSE.items():
    rough, stuck = limb(cells)
    body = sp.Body(rough, material, fixed=stuck, mass_model=sp.LumpedMass())
    ways[name] = FullPoseSimulation(body, TetRig.of(rig, rough), mass=ALPHA, stiffness=BETA, dt=DT)
    shows[name] = sp.Embedding(rough, skin)
    counts[name] = rough.n_cells, int((~stuck).sum())

motions, seconds = {}, {}
for name, way in ways.items():
    shapes, times = [], []
    for frame in range(1, FRAMES + 1):
        start = time.process_time()
        way.step(bend(frame))
        times.append(time.process_time() - start)
        if isinstance(way, PoseSimulation):
            shapes.append(way.surface_displacements())
        else:
            shapes.append(shows[name].displace(way.displacements))
    motions[name], seconds[name] = np.array(shapes), float(np.median(times))

print(f"{'':12} {'tets':>6} {'free vertices':>14} {'error':>8} {'moves':>9} {'a step':>11}")
errors = {}
for name, motion in motions.items():
    wrong = np.linalg.norm(motion - motions["full"])
    errors[name] = float(wrong / np.linalg.norm(motions["full"]))
    far = 1e3 * np.linalg.norm(motion, axis=2).max()
    tets, free = counts[name]
    print(
        f"{name:12} {tets:6d} {free or '':>14} {100 * errors[name]:6.1f} % {far:6.1f} mm "
        f"{1e3 * seconds[name]:8.2f} ms"
    )
assert errors["reduced"] < 0.15
assert errors["coarse"] > 3 * errors["reduced"]
assert errors["less coarse"] > 2 * errors["reduced"]
assert seconds["reduced"] < min(seconds["coarse"], seconds["full"] / 10)
