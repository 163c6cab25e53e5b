"""Finished models run with NumPy and Numba alone."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.character.arms import arm
from tests.character.bodies import rod, rod_mesh
from tests.character.pose_models import model_of
from tests.reduction.conftest import two_part_beam
from tests.reduction.runtime.floating_bodies import small
from tests.runtime import light

import supple as sp
from supple.character.rigs import LatticeBasis, PoseRig

MESH = rod_mesh((4, 1, 1))
SKIN = MESH.boundary()
LINE = np.outer([0.0, 1.0, 2.0], [1.0, 0.0, 0.0])


def skeleton(blend: sp.Blend = sp.Blend.LINEAR) -> sp.SkeletonRig:
    """The rod on two bones, with a clip."""
    return sp.SkeletonRig(replace(rod(SKIN), clips={"wave": arm().clips["wave"]}), blend)


def bent_pose(rig: sp.SkeletonRig) -> np.ndarray:
    return rig.pose_of(rig.character.rig.turned({"lower": (0.0, 0.6, 0.0)}))


def rigs() -> dict[str, tuple[PoseRig, np.ndarray, sp.Material]]:
    """Rigs of every kind that a file holds, with a pose and a material each."""
    moved, corner = np.zeros(9), np.zeros(24)
    moved[-1] = corner[-1] = 0.1
    offsets = np.zeros((1, SKIN.n_vertices, 3))
    offsets[0, :, 2] = 0.2 * SKIN.vertices[:, 0] ** 2
    linear, dual = skeleton(), skeleton(sp.Blend.DUAL_QUATERNION)
    corrected = sp.PoseSpaceDeformation(linear, bent_pose(linear)[None], 0.1 * offsets)
    trilinear = LatticeBasis.TRILINEAR
    soft = {"young": 2e4, "poisson": 0.4, "density": 1000.0}
    return {
        "skeleton": (linear, bent_pose(linear), sp.StVK(**soft)),
        "dual quaternions": (dual, bent_pose(dual), sp.StableNeoHookean(**soft)),
        "corrections": (corrected, bent_pose(linear), sp.NeoHookean(**soft)),
        "bend": (sp.BendRig(SKIN), np.array([0.5]), sp.Corotational(**soft)),
        "wire": (sp.WireRig(SKIN, LINE, 0.4), moved, sp.StVK(**soft)),
        "lattice": (sp.LatticeRig(SKIN, (2, 2, 2)), corner, sp.StVK(**soft)),
        "trilinear": (sp.LatticeRig(SKIN, (2, 2, 2), trilinear), corner, sp.StVK(**soft)),
        "blend shapes": (sp.BlendShapeRig(SKIN, offsets), np.ones(1), sp.StVK(**soft)),
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of models and dampings of every kind."""
    place = tmp_path_factory.mktemp("models")
    for name, (rig, pose, material) in rigs().items():
        poses = np.stack([rig.neutral, pose])
        model_of(rig, MESH, poses, 4, material=material).save(place / f"pose {name}.supple")
    body = sp.Body(MESH, sp.StVK(young=2e4, poisson=0.4), fixed=MESH.where(x=0))
    shapes = [0.1 * shape for shape in sp.vibration_modes(body, 2).shapes]
    sp.save_damping(designed(shapes), place / "pose skeleton designed.damping")
    body = two_part_beam()
    basis = sp.modal_derivative_basis(body, modes=3, size=6)
    model = sp.reduce(body, basis, regions=["far"])
    model.save(place / "reduced StVK.supple")
    shapes = [model.displacements(0.2 * q) for q in np.eye(6)[:2]]
    sp.save_damping(designed(shapes), place / "reduced StVK designed.damping")
    neo = sp.NeoHookean(young=1e5, poisson=0.4, density=1000)
    other = two_part_beam(near=neo, far=neo)
    cubature = sp.Cubature.of_cells(other, basis.vectors, np.arange(4), np.full(4, 6.0))
    sp.reduce(other, basis, cubature=cubature).save(place / "reduced cubature.supple")
    small(6).save(place / "reduced free.supple")
    return place


def designed(shapes: list[np.ndarray]) -> sp.ExampleDamping:
    """Strengths that contradict each other, by curves of every kind."""
    one = sp.Curve.bezier([(0.0, 0.2), (0.6, 2.0), (1.5, 40.0)])
    two = sp.Curve.monotone([(0.1, 0.01), (0.5, 1.0), (1.0, 20.0)])
    mixed = [shapes[0], shapes[0] + shapes[1]]
    examples = list(map(sp.Example, mixed, (one, two)))
    return sp.ExampleDamping(sp.Rayleigh(mass=0.4, stiffness=2e-3), examples)


@pytest.mark.verify
def test_models_run_alike_without_other_packages(folder: Path, tmp_path: Path) -> None:
    expected = light.motions(folder)
    result = tmp_path / "motions.npz"
    command = [sys.executable, light.__file__, str(folder), str(result)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with np.load(result) as found:
        assert set(found) == set(expected)
        for name, x in expected.items():
            size = np.abs(x).max()
            assert 0 < size < np.inf, name
            np.testing.assert_allclose(found[name], x, rtol=0, atol=1e-10 * size, err_msg=name)
