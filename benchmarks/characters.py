"""Characters in motion, of the sizes of the pose space paper (Table 3), on one core.

The bodies are bars of as many tets, with bases of smooth waves: as much work as real ones. Each
vertex is in the regions whose stretch of the bar it lies in. Times are of this process alone, the
shortest of many short rounds, for others slow it down too. Run it with OPENBLAS_NUM_THREADS=1.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np

import supple as sp
from supple.character.character import Character
from supple.character.live import PoseSimulation
from supple.character.live_arrays import StepArrays
from supple.character.pose_space_model import PoseSpaceModel
from supple.character.pose_weights import PoseWeights
from supple.character.rig import Rig, RigPose
from supple.character.rigs import BendRig, PoseRig, SkeletonRig
from supple.character.skin import Skin
from supple.character.stiffness_gaps import StiffnessGaps
from supple.character.tet_rig import TetRig

from .timing import table

HEADERS = [
    "body",
    "tet vertices",
    "r",
    "columns of a cell",
    "rig [µs]",
    "step without it [µs]",
    "steps/s without it",
    "step [µs]",
    "steps/s",
    "paper [steps/s]",
    "ratio",
    "to convergence [steps/s]",
    "surface [µs]",
    "frames/s",
]


@dataclass(frozen=True)
class Size:
    """A body of Table 3."""

    name: str
    cells: tuple[int, int, int]
    """Bricks along the axes; five or six tets each."""
    size: int
    regions: int
    poses: int
    elastic: int
    inertial: int
    surface: int
    paper: float
    """Steps a second there, on one core where it is given for one and on eight elsewhere."""
    joints: int = 16
    """Of the skeleton that moves it; without any it is bent."""
    material: type[sp.Material] = sp.StVK


X = Size("X", (28, 9, 9), 30, 1, 3, 144, 50, 2362, 1700, 0, sp.NeoHookean)
ARM = Size("arm", (22, 9, 9), 45, 3, 10, 192, 45, 10525, 1150, 3)
BEAR = Size("polar bear", (30, 10, 10), 100, 6, 8, 336, 200, 6876, 700)
GORILLA = Size("gorilla", (28, 10, 10), 100, 6, 4, 144, 119, 15774, 240)
BODIES = [X, ARM, BEAR, GORILLA]
SMALLER = [(50, 600.0), (25, 1400.0), (10, 2200.0)]


def skeleton(x: np.ndarray, joints: int) -> SkeletonRig:
    """A chain of joints along x that carries points x (n, 3), four joints to each."""
    names = tuple(f"joint {k}" for k in range(joints))
    shifts = np.zeros((joints, 3))
    shifts[1:, 0] = 1 / joints
    turns = np.tile([0.0, 0.0, 0.0, 1.0], (joints, 1))
    rig = Rig(names, np.arange(joints) - 1, RigPose(shifts, turns, np.ones((joints, 3))))
    binds = np.tile(np.eye(4), (joints, 1, 1))
    binds[:, 0, 3] = -np.arange(joints) / joints
    near = np.floor(x[:, :1] * joints).astype(int) + np.arange(-1, 3)
    bones = np.clip(near, 0, joints - 1)
    weights = 1 / (0.1 + np.abs(x[:, :1] * joints - 0.5 - near))
    triangles = np.arange(len(x) // 3 * 3).reshape(-1, 3)
    skin = Skin(x, triangles, np.arange(joints), binds, bones, weights)
    return SkeletonRig(Character(rig, skin))


def turned(rig: SkeletonRig, count: int, rng: np.random.Generator) -> np.ndarray:
    """Poses at random, (count, d), the first one neutral; none turns a cell inside out."""
    poses = np.tile(rig.neutral, (count, 1))
    joints = poses.reshape(count, -1, 10)
    joints[1:, 1:, 3:6] += 0.05 * rng.uniform(-1, 1, joints[1:, 1:, 3:6].shape)
    return poses


def made(body: Size, r: int | None = None, finer: int = 1) -> PoseSpaceModel:
    """A model of a body's size, or with another number of coordinates, or of a finer mesh."""
    rng = np.random.default_rng(0)
    size = body.size if r is None else r
    cells = tuple(finer * n for n in body.cells)
    mesh = sp.HexMesh.box(size=(1.0, 0.3, 0.3), cells=cells).tetrahedra()
    x = mesh.vertices
    n, m = len(x), body.poses
    skin = rng.uniform(0, 1, (body.surface, 3)) * [1.0, 0.3, 0.3]
    rig: PoseRig
    if body.joints:
        rig = skeleton(skin, body.joints)
        poses = turned(rig, m, rng)
    else:
        rig = BendRig(sp.Surface(skin, np.arange(len(skin) // 3 * 3).reshape(-1, 3)))
        poses = np.linspace(0.0, 1.5, m)[:, None]
    tet_rig = TetRig.of(rig, mesh)
    fixed = x[:, 0] < 1e-9
    # regions of equal length that overlap by half of it with each neighbour
    middles = (np.arange(body.regions) + 0.5) / body.regions
    reach = 2.0 if body.regions == 1 else 0.75 / body.regions
    members = (np.abs(x[:, 0] - middles[:, None]) < reach) & ~fixed
    counts = np.diff(np.linspace(0, size, body.regions + 1).round().astype(int))
    regions = np.repeat(np.arange(body.regions), counts)
    masses = np.full(n, 90.0 / n)
    bases = np.zeros((m, n, 3, size))
    for k, region in enumerate(regions):
        away = (x[:, 0] - middles[region]) / reach
        fade = x[:, 0] * np.maximum(1 - away**2, 0.0) * members[region]
        waves = rng.uniform(0.5, 4.0, (3, 3))
        for i in range(m):
            bent = waves + 0.1 * i * rng.uniform(-1, 1, (3, 3))
            bases[i, :, :, k] = fade[:, None] * np.sin(x @ bent.T + rng.uniform(0, 6, 3))
    flat = np.sqrt(np.repeat(masses, 3))[:, None] * bases.reshape(m, 3 * n, size)
    lengths = np.linalg.norm(flat, axis=1)
    bases /= lengths[:, None, None]
    flat /= lengths[:, None]
    material = body.material(young=2e6, poisson=0.45)
    chosen = rng.permutation(np.flatnonzero(~fixed[mesh.cells].all(axis=1)))[: body.elastic]
    whole = len(mesh.cells) / body.elastic
    inertial = rng.permutation(np.flatnonzero(~fixed))[: body.inertial]
    gram = np.einsum("ika,jkb->ijab", flat, flat, optimize=True)
    squares = np.tile((2 * np.pi * np.linspace(3, 30, size)) ** 2, (m, 1))
    # the stiffness at rest is known between poses, too
    ways = [rig.between(poses[0], p, share) for p in poses[1:] for share in (0.25, 0.5, 0.75)]
    return PoseSpaceModel(
        tet_rig=tet_rig,
        poses=poses,
        weights=PoseWeights.of([rig.features(p) for p in poses]),
        material=body.material,
        masses=masses,
        fixed=fixed,
        bases=bases,
        regions=regions,
        members=members,
        gram=gram,
        cells=np.sort(chosen),
        cell_weights=np.full((m, len(chosen)), whole),
        gaps=StiffnessGaps(
            PoseWeights.of([rig.features(p) for p in (*poses, *ways)]),
            np.tile(0.1 * squares[0, 0] * gram[0, 0], (m + len(ways), 1, 1)),
        ),
        lame=np.tile(np.stack(material.lame(chosen), axis=1), (m, 1, 1)),
        inertial_vertices=inertial,
        inertial_weights=np.full(len(inertial), n / len(inertial)),
        skin_cells=rng.integers(0, len(mesh.cells), body.surface),
        skin_weights=rng.dirichlet(np.ones(4), body.surface),
        squares=squares,
    )


def shortest(call: Callable[[int], object], rounds: int = 300, calls: int = 4) -> float:
    """Process time [s] of a call, the shortest of many rounds of a few: undisturbed by others."""
    call(0)
    best = np.inf
    for k in range(rounds):
        start = time.process_time()
        for each in range(calls):
            call(k * calls + each)
        best = min(best, (time.process_time() - start) / calls)
    return best


def measured(body: Size, r: int | None = None, finer: int = 1, **options: Any) -> dict[str, float]:
    """Times of a body [s]: rig, step without and with it, the same converged, surface."""
    model = made(body, r, finer)
    once = PoseSimulation(
        model,
        damping=sp.Rayleigh(mass=0.5, stiffness=2e-3),
        dt=1 / 90,
        solver=sp.DenseNewton(max_iterations=1),
        **options,
    )
    converged = PoseSimulation(
        model, damping=sp.Rayleigh(mass=0.5, stiffness=2e-3), dt=1 / 90, **options
    )
    neutral, far = model.poses[0], model.poses[1:] - model.poses[0]
    poses = [neutral + far[-1] * np.sin(k / 25) + 0.1 * far[0] * np.sin(k / 7) for k in range(1200)]
    groups = StepArrays.of(model, np.float64).arrays.cells
    mean = np.diff(groups.column_starts) @ np.diff(groups.starts) / len(model.cells)
    rig, step = (
        shortest(lambda k: once._follower.sample(poses[k])),
        shortest(lambda k: once.step(poses[k])),
    )
    samples = iter([once._follower.sample(pose) for pose in [poses[0], *poses]])
    with patch.object(once._follower, "sample", lambda _: next(samples)):
        flesh = shortest(lambda k: once.step(poses[k]))
    return {
        "columns": float(mean),
        "rig": rig,
        "flesh": flesh,
        "step": step,
        "converged": shortest(lambda k: converged.step(poses[k]), rounds=150),
        "surface": shortest(lambda k: once.surface_displacements(), rounds=150),
    }


def row(name: str, body: Size, r: int, paper: float, found: dict[str, float]) -> list[object]:
    """One line of the table."""
    step = found["step"]
    nodes = int(np.prod(np.array(body.cells) + 1))
    return [
        name,
        nodes,
        r,
        found["columns"],
        1e6 * found["rig"],
        1e6 * found["flesh"],
        round(1 / found["flesh"]),
        1e6 * step,
        round(1 / step),
        round(paper),
        1 / step / paper,
        round(1 / found["converged"]),
        1e6 * found["surface"],
        round(1 / (step + found["surface"])),
    ]


def main() -> None:
    sp.set_thread_count(1)
    rows = [row(b.name, b, b.size, b.paper, measured(b)) for b in BODIES]
    for r, paper in SMALLER:
        rows.append(row("gorilla", GORILLA, r, paper, measured(GORILLA, r)))
    print(table(HEADERS, rows))
    single = measured(BEAR, dtype=np.float32)
    print(f"\nthe bear with bases in single precision: {1 / single['step']:.0f} steps/s")
    finer = measured(GORILLA, finer=2)
    print(f"the gorilla on eight times as many tets: {1 / finer['step']:.0f} steps/s")
    sp.set_thread_count(0)
