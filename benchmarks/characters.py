"""Characters in motion, of the sizes of the pose space paper (Table 3), on one core.

The bodies are bars of as many tets, with bases of smooth waves: as much work as real ones. Each
vertex is in the regions whose stretch of the bar it lies in. Times are of this process alone, the
shortest of several rounds: a busy machine slows it down all the same. Run it with
OPENBLAS_NUM_THREADS=1.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import supple as sp
from supple.character.live import PoseSimulation
from supple.character.live_arrays import StepArrays
from supple.character.pose_space_model import PoseSpaceModel
from supple.character.pose_weights import PoseWeights
from supple.character.rigs import PoseRig
from supple.character.tet_rig import TetRig

from .timing import table

HEADERS = [
    "body",
    "tet vertices",
    "r",
    "columns of a cell",
    "rig [µs]",
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
    material: type[sp.Material] = sp.StVK


X = Size("X", (28, 9, 9), 30, 1, 3, 144, 50, 2362, 1700, 1, sp.NeoHookean)
ARM = Size("arm", (22, 9, 9), 45, 3, 10, 192, 45, 10525, 1150, 3)
BEAR = Size("polar bear", (30, 10, 10), 100, 6, 8, 336, 200, 6876, 700)
GORILLA = Size("gorilla", (28, 10, 10), 100, 6, 4, 144, 119, 15774, 240)
BODIES = [X, ARM, BEAR, GORILLA]
SMALLER = [(50, 600.0), (25, 1400.0), (10, 2200.0)]


class JointRig(PoseRig):
    """A chain of joints along x that turn about y, blended linearly; pose: angles [rad]."""

    def __init__(self, x: np.ndarray, joints: int) -> None:
        self.triangles = np.zeros((0, 3), dtype=np.int64)
        self.neutral = np.zeros(joints)
        self._x = x
        at = np.clip(x[:, 0] * joints, 0, joints - 1e-9)
        self._bone = at.astype(int)
        self._next = np.minimum(self._bone + 1, joints - 1)
        self._share = at - self._bone
        self._joints = np.arange(joints) / joints

    def _moves(self, pose: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        angle = np.cumsum(pose)
        c, s = np.cos(angle), np.sin(angle)
        turns = np.zeros((len(pose), 3, 3))
        turns[:, 0, 0] = turns[:, 2, 2] = c
        turns[:, 0, 2], turns[:, 2, 0] = s, -s
        turns[:, 1, 1] = 1.0
        heads = np.zeros((len(pose), 3))
        heads[1:, 0] = np.cumsum(c[:-1]) / len(pose)
        heads[1:, 2] = -np.cumsum(s[:-1]) / len(pose)
        shifts = heads - turns[:, :, 0] * self._joints[:, None]
        return turns, shifts

    def vertices(self, pose: np.ndarray, which: np.ndarray | None = None) -> np.ndarray:
        pick: Any = slice(None) if which is None else which
        turns, shifts = self._moves(pose)
        move = np.concatenate([turns, shifts[:, :, None]], axis=2).reshape(-1, 12)
        one, two, share = self._bone[pick], self._next[pick], self._share[pick, None]
        blended = (move[one] + share * (move[two] - move[one])).reshape(-1, 3, 4)
        x = self._x[pick]
        return (blended[:, :, :3] @ x[:, :, None])[:, :, 0] + blended[:, :, 3]

    def perturbed(
        self, pose: np.ndarray, rng: np.random.Generator, size: float = 1.0
    ) -> np.ndarray:
        return pose + np.deg2rad(size) * rng.uniform(-1, 1, pose.shape)


def made(body: Size, r: int | None = None, finer: int = 1) -> PoseSpaceModel:
    """A model of a body's size, or with another number of coordinates, or of a finer mesh."""
    rng = np.random.default_rng(0)
    size = body.size if r is None else r
    cells = tuple(finer * n for n in body.cells)
    mesh = sp.HexMesh.box(size=(1.0, 0.3, 0.3), cells=cells).tetrahedra()
    x = mesh.vertices
    n, m = len(x), body.poses
    skin = rng.uniform(0, 1, (body.surface, 3)) * [1.0, 0.3, 0.3]
    tet_rig = TetRig.of(JointRig(skin, body.joints), mesh)
    poses = np.zeros((m, body.joints))
    poses[1:] = rng.uniform(-0.4, 0.4, (m - 1, body.joints)) / body.joints
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
    return PoseSpaceModel(
        tet_rig=tet_rig,
        poses=poses,
        weights=PoseWeights.of(poses),
        material=body.material,
        masses=masses,
        fixed=fixed,
        bases=bases,
        regions=regions,
        members=members,
        gram=np.einsum("ika,jkb->ijab", flat, flat, optimize=True),
        cells=np.sort(chosen),
        cell_weights=np.full((m, len(chosen)), whole),
        lame=np.tile(np.stack(material.lame(chosen), axis=1), (m, 1, 1)),
        inertial_vertices=inertial,
        inertial_weights=np.full(len(inertial), n / len(inertial)),
        skin_cells=rng.integers(0, len(mesh.cells), body.surface),
        skin_weights=rng.dirichlet(np.ones(4), body.surface),
        squares=np.tile((2 * np.pi * np.linspace(3, 30, size)) ** 2, (m, 1)),
    )


def shortest(call: Callable[[int], object], rounds: int = 12, calls: int = 100) -> float:
    """Process time [s] of a call, the shortest of several rounds of many."""
    best = np.inf
    for k in range(rounds):
        start = time.process_time()
        for each in range(calls):
            call(k * calls + each)
        best = min(best, (time.process_time() - start) / calls)
    return best


def measured(body: Size, r: int | None = None, finer: int = 1, **options: Any) -> dict[str, float]:
    """Times of a body [s]: the rig alone, a step with the rig, the same converged, the surface."""
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
    far = model.poses[-1]
    poses = [far * np.sin(k / 25) + 0.1 * model.poses[1] * np.sin(k / 7) for k in range(1200)]
    groups = StepArrays.of(model, np.float64).arrays.cells
    mean = np.diff(groups.column_starts) @ np.diff(groups.starts) / len(model.cells)
    return {
        "columns": float(mean),
        "rig": shortest(lambda k: once._follower.sample(poses[k])),
        "step": shortest(lambda k: once.step(poses[k])),
        "converged": shortest(lambda k: converged.step(poses[k]), rounds=4),
        "surface": shortest(lambda k: once.surface_displacements(), calls=20),
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
