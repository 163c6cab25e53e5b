"""Runs of woven cloth in files: read back as they were, resumed bit for bit, and their balance."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from tests.refusals import refused
from tests.yarns.cases import cloth, rates, turning

import supple as sp
from supple.dynamics.motion import Frame
from supple.dynamics.recording import Recorder
from supple.mesh import YarnMesh
from supple.solvers import Cholesky
from supple.yarns import YarnDamping, YarnMotion, YarnRayleigh, YarnSimulation

NAMES = ("times", "displacements", "arc_lengths", "kinetic", "elastic", "gravitational",
         "dissipated", "linear_momentum", "angular_momentum")  # fmt: skip


def simulation(*obstacles: sp.Obstacle) -> YarnSimulation:
    damping = YarnDamping(stretch=0.01, bending=0.01, shear=0.01)
    return YarnSimulation(
        cloth(5, 5),
        damping=damping,
        gravity=(0, 0, -9.81),
        fixed=[0, 20],
        obstacles=obstacles,
        tolerance=1e-8,
        linear=Cholesky(),  # keeps nothing from step to step
    )


def same(first: YarnMotion, second: YarnMotion) -> bool:
    return all(np.array_equal(getattr(first, name), getattr(second, name)) for name in NAMES)


def test_a_motion_is_read_back_as_it_was(tmp_path):
    motion = simulation().run(0.02, every=4)
    motion.save(tmp_path / "yarns.motion")
    again = sp.read_motion(tmp_path / "yarns.motion")
    assert isinstance(again, YarnMotion)
    assert isinstance(again.mesh, YarnMesh)
    assert same(motion, again)
    for name in ("vertices", "cells", "arc_lengths", "warp_on_top", "radii"):
        np.testing.assert_array_equal(getattr(again.mesh, name), getattr(motion.mesh, name))
    assert {k: v.tolist() for k, v in again.mesh.regions.items()} == {
        k: v.tolist() for k, v in motion.mesh.regions.items()
    }
    assert pickle.loads(pickle.dumps(motion.mesh)).n_yarns == 10


@pytest.mark.parametrize(
    "obstacles", [(), (sp.Plane(normal=(0, 0, 1), offset=-8e-4, friction=0.5),)], ids=len
)
def test_a_resumed_run_is_that_of_one_go(obstacles, tmp_path):
    class Stop(Exception):
        pass

    def stop(done: int, total: int, what: str) -> None:
        if done == 13:
            raise Stop

    whole = simulation(*obstacles).run(0.03, every=5, record=tmp_path / "whole.motion")
    path = tmp_path / "parts.motion"
    with pytest.raises(Stop):
        simulation(*obstacles).run(0.03, every=5, record=path, progress=stop)
    assert len(sp.read_motion(path)) == 3
    assert same(whole, simulation(*obstacles).run(0.03, every=5, record=path, resume=True))
    assert path.read_bytes() == (tmp_path / "whole.motion").read_bytes()
    assert path.with_name("parts.motion.checkpoint").exists(), "a run can be extended"


def test_another_cloth_does_not_resume(tmp_path):
    path = tmp_path / "yarns.motion"
    simulation().run(0.002, record=path)
    other = YarnSimulation(cloth(5, 5), dt=2e-3)
    refused("another time step", other.run, 0.002, record=path, resume=True)
    refused("another mesh", YarnSimulation(cloth(4, 5)).run, 0.002, record=path, resume=True)
    refused("needs record=", other.run, 0.002, resume=True)


def test_frames_go_with_their_mesh(tmp_path):
    motion = simulation().run(0.001)
    plain = Frame(**{k: v for k, v in vars(motion.frame(0)).items() if k != "arc_lengths"})
    with Recorder(tmp_path / "yarns.motion", motion.mesh) as recorder:
        refused("give a YarnFrame", recorder.append, plain)
    with Recorder(tmp_path / "sheet.motion", sp.SheetMesh.grid((1, 1), (1, 1))) as recorder:
        refused("give a Frame", recorder.append, motion.frame(0))


def test_parts_of_a_motion_can_be_joined():
    motion = simulation().run(0.006)
    first, second = motion[:4], motion[3:]
    assert same(first.joined(second), motion)
    np.testing.assert_array_equal(motion.frame(2).arc_lengths, motion.arc_lengths[2])
    np.testing.assert_array_equal(motion.potential, motion.elastic + motion.gravitational)


def test_momenta_are_those_of_a_rigid_motion():
    body = cloth()
    sim = YarnSimulation(body)
    q = body.rest_state
    drift, spin = np.array([0.1, 0.2, 0.3]), np.array([1.0, -2.0, 0.5])
    sim.set_state(v=turning(q, np.zeros(3), drift))
    np.testing.assert_allclose(sim.frame().linear_momentum, body.total_mass * drift)
    sim.set_state(v=turning(q, spin, np.zeros(3)))
    frame = sim.frame()
    # T = ½ ω·L for a rotation about the origin.
    assert frame.kinetic == pytest.approx(0.5 * spin @ frame.angular_momentum)


@pytest.mark.parametrize(
    "damping", [YarnDamping(stretch=1e-5, bending=1e-5, shear=1e-5), YarnRayleigh(stiffness=1e-5)]
)
@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_what_is_dissipated_is_what_is_missing(damping, friction):
    """But for what the steps themselves take, which falls with their length."""
    body = cloth(friction=friction)

    def missing(dt: float) -> float:
        sim = YarnSimulation(body, damping=damping, dt=dt, tolerance=1e-9)
        v = rates(body, speed=0.01)
        v[:, 3:] = 0.0
        sim.set_state(v=v)
        motion = sim.run(6e-6)
        assert (np.diff(motion.dissipated) > 0).all()
        lost = motion.total_energy[0] - motion.total_energy[-1]
        assert lost > 0
        return abs(1 - motion.dissipated[-1] / lost)

    coarse, fine = missing(2e-7), missing(1e-7)
    assert fine < 0.07
    assert abs(2 * fine - coarse) < 0.01  # extrapolated to steps of no length
