"""The rigged creature with flesh on its bones, for examples of designed damping."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import supple as sp
from supple.builtin import creature
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.runtime.damping import PoseDamping

CLIPS = ("hop", "shake")
DT = 1 / 120
BELLY = np.array([0.0, -0.11, 0.10])  # [m], the middle of its front
WIDE = 0.04  # [m], how wide it is pushed
MODES = 12
STILL = 1.2  # [s] after a clip


def creature_model(resolution: int) -> tuple[PoseSpaceModel, sp.Body]:
    """The creature on its rig, and its body in the neutral pose."""
    made = creature(resolution=resolution)
    mesh = made.mesh.tetrahedra()
    flesh = sp.StableNeoHookean(young=5e3, poisson=0.45, density=800.0)
    bones = made.places["bones"]
    ears = mesh.vertices[mesh.cells][..., 2].mean(axis=1) > 0.3
    stiffness = np.where(ears, 8.0, 1.0)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "creature.glb"
        sp.write_rigged_creature(file, resolution=16)
        rig = sp.SkeletonRig(sp.read_character(file))
    model = sp.pose_space_model(
        rig, volume=mesh, fixed=bones, material=flesh, stiffness=stiffness, poses=3, modes=MODES,
        size=30,
    )  # fmt: skip
    young = 5e3 * stiffness
    stiffened = sp.StableNeoHookean(young=young, poisson=0.45, density=800.0)
    return model, sp.Body(mesh, stiffened, fixed=bones, mass_model=sp.LumpedMass())


def belly_example(body: sp.Body, way: tuple[float, float, float], name: str) -> sp.Example:
    """The vibration that a push on the belly along ``way`` moves most."""
    modes = sp.vibration_modes(body, MODES)
    near = np.exp(-np.sum((body.mesh.vertices - BELLY) ** 2, axis=1) / (2 * WIDE**2))
    pushed = np.tensordot(modes.shapes, near[:, None] * np.array(way), axes=2)
    squares = (2 * np.pi * modes.frequencies) ** 2
    return sp.Example(modes.shapes[int(np.argmax(pushed**2 / squares))], name=name)


def excitations(
    model: PoseSpaceModel, damping: sp.Damping, clip: str, designed: sp.ExampleDamping, **rule: Any
) -> tuple[np.ndarray, int]:
    """χ of the examples at each frame of a clip and after it, (T, k), and the frame it stops at."""
    rig = model.tet_rig.rig
    duration = rig.character.clip(clip).duration
    stop = round(duration / DT)
    poses = rig.poses_of_clip(clip, np.minimum(np.arange(1, stop + 1) * DT, duration))
    reduced = PoseDamping.of(designed, model, model.cells).designed
    assert reduced is not None
    live = sp.PoseSimulation(model, damping=damping, **rule)
    live.reset(rig.poses_of_clip(clip, np.zeros(1))[0])
    found = []
    for k in range(stop + round(STILL / DT)):
        live.step(poses[min(k, stop - 1)])
        found.append(reduced.excitations(live.q))
    return np.array(found), stop
