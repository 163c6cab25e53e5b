"""Reduced against full, and against coarse full simulations: a limb on its bone (Fig. 15).

A limb bends and stops. The reduced model of the fine mesh comes near its full simulation. A coarse
mesh whose step costs as much, the best of those of eight that do, has too few vertices, and hangs
on the bone with many of them, as every tet that the bone goes through is fixed: its flesh is too
stiff. One that is fine enough to come nearer costs several times as much. The skin follows the tets
that it lies in. Every way but the first takes one Newton iteration a step.
"""

import time

import numpy as np
from shared.measuring import quick

import supple as sp
from supple.character.rigs import BendRig
from supple.character.runtime.simulation import PoseSimulation
from supple.character.tissue.full_pose import FullPoseSimulation
from supple.character.tissue.tet_rig import TetRig
from supple.character.training.building import pose_space_model

DT, FRAMES, ROUNDS = 1 / 90, 54, 1 if quick() else 5
ALPHA, BETA = 1.0, 1e-3
SIZE, BONE = (1.0, 0.3, 0.3), 0.749  # [m], and how far the bone goes
FINE = (12, 5, 5) if quick() else (20, 8, 8)
TRIED = [(4, 4, 4)]
if not quick():
    TRIED += [(6, 2, 2), (4, 3, 3), (6, 3, 3), (8, 3, 3), (5, 4, 4), (6, 4, 4), (5, 5, 5)]
COARSE = {f"{a} × {b} × {c} bricks": (a, b, c) for a, b, c in TRIED}
LESS_COARSE = (8, 4, 4) if quick() else (12, 6, 6)
AFFORDABLE = 1.3  # times the reduced step: what costs as much
material = sp.StableNeoHookean(young=3e4, poisson=0.45, density=1000.0)
sp.set_thread_count(1)


def limb(cells: tuple[int, int, int]) -> tuple[sp.TetMesh, np.ndarray]:
    """A mesh of the limb, and which vertices are of tets that its bone goes through."""
    mesh = sp.TetMesh.box(size=SIZE, cells=cells)
    bone = np.stack([np.linspace(0, BONE, 200), np.full(200, 0.151), np.full(200, 0.149)], axis=1)
    through = sp.Embedding(mesh, sp.Surface(bone, np.arange(198).reshape(-1, 3))).cells
    fixed = np.zeros(mesh.n_vertices, dtype=bool)
    fixed[mesh.cells[np.unique(through)]] = True
    return mesh, fixed


def bend(frame: int) -> np.ndarray:
    """Bent by 80° within 0.3 s, then held."""
    t = min(frame * DT / 0.3, 1.0)
    return np.array([np.deg2rad(80) * t * t * (3 - 2 * t)])


def in_full(mesh: sp.TetMesh, fixed: np.ndarray, tet_rig: TetRig, **options) -> FullPoseSimulation:
    """The full simulation of a mesh."""
    body = sp.Body(mesh, material, fixed=fixed, mass_model=sp.LumpedMass())
    return FullPoseSimulation(body, tet_rig, mass=ALPHA, stiffness=BETA, dt=DT, **options)


mesh, fixed = limb(FINE)
skin = mesh.boundary()
rig = BendRig(skin)
poses = [[np.deg2rad(45)], [np.deg2rad(90)]]
model = pose_space_model(
    rig, volume=mesh, fixed=fixed, material=material, poses=poses, modes=12, size=30
)
once = {"solver": sp.Newton(iterations=1)}
ways = {
    "to convergence": in_full(mesh, fixed, model.tet_rig),
    "full": in_full(mesh, fixed, model.tet_rig, **once),
    "reduced": PoseSimulation(
        model, damping=sp.Rayleigh(mass=ALPHA, stiffness=BETA), dt=DT,
        solver=sp.DenseNewton(iterations=1),
    ),
}  # fmt: skip
meshes = {"to convergence": (mesh, fixed), "full": (mesh, fixed)}
for name, cells in {**COARSE, "less coarse": LESS_COARSE}.items():
    meshes[name] = limb(cells)
    ways[name] = in_full(*meshes[name], TetRig.of(rig, meshes[name][0]), **once)
shows = {name: sp.Embedding(its_mesh, skin) for name, (its_mesh, _) in meshes.items()}


def moved(name: str) -> tuple[np.ndarray, list[float]]:
    """Displacements of the skin (frames, n, 3), and the time that each step took [s]."""
    way, frames, times = ways[name], [], []
    way.reset()
    for frame in range(1, FRAMES + 1):
        start = time.process_time()
        way.step(bend(frame))
        times.append(time.process_time() - start)
        if isinstance(way, PoseSimulation):
            frames.append(way.surface_displacements())
        else:
            frames.append(shows[name].displace(way.displacements))
    return np.array(frames), times


shapes, spans = {}, {name: [] for name in ways}
for _ in range(ROUNDS):  # in turn, so that all of them share what slows the machine down
    for name in ways:
        shapes[name], times = moved(name)
        spans[name].append(times)
seconds = {name: float(np.median(np.min(times, axis=0))) for name, times in spans.items()}
exact = shapes["to convergence"]
errors = {
    name: float(np.linalg.norm(x - exact) / np.linalg.norm(exact)) for name, x in shapes.items()
}
cost = {name: seconds[name] / seconds["reduced"] for name in ways}

print(
    f"{'':17} {'tets':>6} {'free vertices':>14} {'of':>5} {'error':>8} {'a step':>10} {'cost':>6}"
)
for name in ways:
    tets, free, of = len(model.cells), "", ""
    if name in meshes:
        its_mesh, its_fixed = meshes[name]
        tets, free, of = its_mesh.n_cells, (~its_fixed).sum(), its_mesh.n_vertices
    print(
        f"{name:17} {tets:6d} {free:>14} {of:>5} {100 * errors[name]:6.1f} % "
        f"{1e3 * seconds[name]:7.2f} ms {cost[name]:6.1f}"
    )

# Where the mesh is a quick one, steps are too short to tell what they cost.
affordable = [name for name in COARSE if quick() or cost[name] <= AFFORDABLE]
assert affordable, f"all coarse meshes cost more than {AFFORDABLE} times the reduced step"
coarse = min(affordable, key=errors.__getitem__)
print(f"best of the coarse ones that cost as much: {coarse}")
for of_way in (shapes, seconds, errors):
    of_way["coarse"] = of_way[coarse]
motions = {
    name: shapes[name] for name in ("to convergence", "full", "reduced", "coarse", "less coarse")
}
assert errors["full"] < 0.01
assert errors["reduced"] < 0.15
assert min(errors[name] for name in COARSE) > 2 * errors["reduced"]  # not even dearer ones
assert errors["less coarse"] > errors["reduced"]
assert seconds["reduced"] < seconds["full"] < seconds["to convergence"]
