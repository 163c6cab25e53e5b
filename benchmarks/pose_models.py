"""Preparing a pose-space model of the pose space paper's gorilla: how long, and how good.

A body of its size, 4,050 vertices and 16,240 tets around six bones, with four poses and 100
coordinates in six regions. Table 3 has 144 cells and 119 vertices for forces; more vertices come
closer. Errors are the largest of all poses: in training, in the poses and between them on samples
that it did not see; of inertia in training, and on motions that it did not see.
"""

from __future__ import annotations

import time
import warnings

import numpy as np

import supple as sp
from supple.character import Character, Rig, RigPose, Skin
from supple.character.building import pose_space_model
from supple.character.rigs import SkeletonRig
from supple.reduction.cubature import CubatureWarning

from .timing import table

BONES, LENGTH = 6, 2.0
SIZES = (20, 20, 20, 20, 10, 10)
TURNS = ((0.0, 0.15, 0.0), (0.0, -0.15, 0.05), (0.15, 0.0, 0.0))
PARTS = ("fitting", "bases", "elastic cubature", "inertial cubature")


def main() -> None:
    mesh = sp.TetMesh.box((LENGTH, 0.9, 0.5), (29, 14, 8), (-LENGTH / 2, -0.45, -0.25))
    rig = _rig(mesh)
    names = rig.character.rig.names
    poses = [
        rig.pose_of(rig.character.rig.turned(dict.fromkeys(names[1:], turn))) for turn in TURNS
    ]
    x = mesh.vertices[:, 0]
    centres = np.linspace(-0.83, 0.83, len(SIZES))
    regions = np.clip(1.6 - np.abs(x - centres[:, None]) / 0.2, 0.0, 1.0)
    regions[0, x < centres[0]] = regions[-1, x > centres[-1]] = 1.0
    rows = []
    for cells, vertices in ((144, 119), (144, 200)):
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CubatureWarning)  # the table tells
            model = pose_space_model(
                rig,
                volume=mesh,
                fixed=np.hypot(*mesh.vertices[:, 1:].T) < 0.08,
                material=sp.StVK(young=1e5, poisson=0.4),
                poses=np.array(poses),
                modes=8,
                size=SIZES,
                regions=regions,
                cells=cells,
                vertices=vertices,
                samples=40,
            )
        spent = time.perf_counter() - start
        elastic, inertial = model.measured["elastic"], model.measured["inertial"]
        moving = max(max(inertial[kind]) for kind in ("trembling", "moving", "turning"))
        rows.append(
            [
                len(model.cells),
                len(model.inertial_vertices),
                *(f"{100 * max(elastic[kind]):.1f} %" for kind in ("training", "test", "between")),
                f"{100 * inertial['training']:.1f} %",
                f"{100 * moving:.1f} %",
                *(f"{model.measured['seconds'][part]:.1f} s" for part in PARTS),
                f"{spent:.0f} s",
            ]
        )
    print(f"{mesh!r}, {1 + len(poses)} poses, {sum(SIZES)} coordinates in {len(SIZES)} regions")
    errors = ["elastic, training", "poses", "between", "inertial, training", "motions"]
    print(table(["cells", "vertices", *errors, *PARTS, "all"], rows))


def _rig(mesh: sp.TetMesh) -> SkeletonRig:
    """Bones along the body, each with its share of the skin."""
    skin, starts = mesh.boundary(), np.linspace(-LENGTH / 2, LENGTH / 2, BONES + 1)[:-1]
    local = np.zeros((BONES, 3))
    local[:, 0] = np.diff(starts, prepend=0.0)
    rest = RigPose(local, np.tile([0.0, 0.0, 0.0, 1.0], (BONES, 1)), np.ones((BONES, 3)))
    rig = Rig(tuple(f"bone {k}" for k in range(BONES)), np.arange(BONES) - 1, rest)
    width = LENGTH / BONES
    apart = np.abs(skin.vertices[:, :1] - starts - width / 2)
    shares = np.clip(1.0 - apart / (2 * width), 0.0, None)
    bones = np.argsort(-shares, axis=1)[:, :2]
    weights = np.take_along_axis(shares, bones, axis=1)
    binds = np.linalg.inv(rig.world(rest))
    joints = np.arange(BONES)
    return SkeletonRig(
        Character(rig, Skin(skin.vertices, skin.triangles, joints, binds, bones, weights))
    )
