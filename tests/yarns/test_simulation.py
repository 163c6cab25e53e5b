"""Woven cloth in motion: rest, balance, swinging, sliding, steps cut up, solvers."""

from __future__ import annotations

import numpy as np
import pytest
from tests.refusals import refused
from tests.yarns.cases import SPACING, bent, rates, turning

import supple as sp
from supple.solvers import Cholesky, ConjugateGradients, LaggedCholesky, Multigrid
from supple.yarns import WovenCloth, Yarn, YarnDamping, YarnNet, YarnRayleigh, YarnSimulation
from supple.yarns.cloth import STRAINS

YARN = Yarn(radius=1e-4, linear_density=5e-5, stretch=0.02, bending=1e-9)


def patch(n: int = 7, **options) -> WovenCloth:
    given = {"shear": 1e-8, "friction": 0.3, **options}
    return WovenCloth(YarnNet.patch(n, n, spacing=SPACING), warp=YARN, **given)


def upper_edge(body: WovenCloth) -> np.ndarray:
    y = body.net.positions[:, 1]
    return y >= y.max()


def hanging(body: WovenCloth, *, gravity=(0, 0, -9.81), **options) -> YarnSimulation:
    return YarnSimulation(body, gravity=gravity, fixed=upper_edge(body), **options)


def test_flat_cloth_stays_flat():
    sim = YarnSimulation(patch())
    motion = sim.run(0.01)
    assert np.array_equal(motion.positions[-1], sim.cloth.net.positions)
    assert motion.kinetic.max() == 0
    assert motion.times[-1] == pytest.approx(0.01)


def test_free_fall_is_that_of_a_stone():
    damping = YarnDamping(stretch=1.0)
    sim = YarnSimulation(patch(), gravity=(0, 0, -9.81), damping=damping, tolerance=1e-8)
    sim.run(0.02)
    np.testing.assert_allclose(sim.v[:, 2], -9.81 * 0.02, rtol=1e-10)
    np.testing.assert_allclose(sim.q[:, 2], -9.81 * 0.001**2 * 20 * 21 / 2, rtol=1e-10)


def test_hanging_cloth_carries_its_weight():
    """At rest the warps pull with the weight of what hangs below each crossing."""
    body = patch(friction=1.0)
    damping = YarnDamping(stretch=0.05, shear=0.05)
    sim = hanging(body, gravity=(0, -9.81, 0), damping=damping, dt=5e-3)
    sim.run(3.0)
    assert sim.kinetic_energy < 1e-9 * body.total_mass
    g = np.zeros((body.n_nodes, 5))
    for kind in STRAINS:
        body.strain_potential(kind, sim.q, g)
    # Segments of the uppermost weft rest on the fixed crossings, with half of each last segment.
    hung = body.kinetic(body.rest_state, turning(sim.q, np.zeros(3), np.array([0, 1.0, 0])))[1]
    weight = 9.81 * hung[~upper_edge(body), 1].sum()
    assert g[upper_edge(body), 1].sum() == pytest.approx(weight, rel=1e-5)


def spun(damping, turns=0.25):
    """A cloth that spins freely about its middle: how much of its spin is left."""
    body = patch(5, shear=1e-6)
    sim = YarnSimulation(body, damping=damping, dt=2e-4)
    middle = body.rest_state[:, :3].mean(axis=0)
    q = body.rest_state
    q[:, :3] -= middle
    omega = 60.0
    sim.set_state(q=q, v=turning(q, np.array([0, 0, omega]), np.zeros(3)))
    start = sim.kinetic_energy
    sim.run(turns * 2 * np.pi / omega)
    return sim.kinetic_energy / start


def test_strain_rate_leaves_spin_alone_and_rayleigh_does_not():
    """The numerical damping of the steps is common to all three."""
    free = spun(None)
    assert spun(YarnDamping(stretch=0.03, bending=0.16, shear=0.1)) > free - 0.02
    assert spun(YarnRayleigh(stiffness=0.03)) < free - 0.1


def test_crossings_slide_under_load_and_friction_holds_them():
    def slid(friction):
        body = patch(friction=friction)
        q = body.rest_state
        q[:, :2] *= 1.05  # pulled tight, so that yarns press on each other
        middle = body.n_nodes // 2
        q[middle, 3] += 0.3 * SPACING  # the warp is displaced in it: it wants back
        sim = YarnSimulation(body, fixed=np.arange(body.n_nodes), dt=1e-4)
        sim.set_state(q=q)
        sim.run(5e-3)
        return abs(sim.q[middle, 3] - q[middle, 3]) / (0.3 * SPACING)

    free, held, stuck = slid(0.0), slid(0.3), slid(5.0)
    assert free > 0.9
    assert 0 < stuck < 0.2
    assert stuck < held <= free


def test_parallel_yarns_do_not_pass_through_each_other():
    body = patch(friction=0.0)
    q = body.rest_state
    middle = body.n_nodes // 2
    sim = YarnSimulation(body, dt=1e-4, fixed=np.arange(body.n_nodes))
    v = np.zeros_like(q)
    v[middle, 3] = 2.0  # fast enough for two spacings
    sim.set_state(v=v)
    motion = sim.run(5e-3)
    nodes, family = body.net.segments
    s = motion.arc_lengths
    assert (s[:, nodes[:, 1], family] - s[:, nodes[:, 0], family]).min() > 0


def test_hard_steps_are_taken_in_parts():
    body = patch(friction=0.0)
    sim = YarnSimulation(body, dt=0.05, max_iterations=20)
    sim.set_state(q=bent(body, size=0.2), v=rates(body, speed=0.5))
    sim.step()
    assert sim.parts > 1
    assert sim.time == pytest.approx(0.05)
    assert np.isfinite(sim.q).all()


def test_a_step_that_cannot_be_solved_says_so_and_leaves_the_state_alone():
    body = patch()
    sim = YarnSimulation(body, dt=0.01, max_iterations=1, tolerance=1e-15)
    sim.set_state(v=rates(body))
    q = sim.q
    refused("smaller dt", sim.step, error=sp.StepFailed)
    assert np.array_equal(sim.q, q)
    assert sim.time == 0


def test_rayleigh_damping_of_pressed_yarns_has_no_definite_matrix_and_says_so():
    """Its stiffness is negative across yarns that are pressed: it would drive the motion."""
    body = patch()
    q = body.rest_state
    q[:, :2] *= 0.7
    sim = YarnSimulation(body, dt=1e-3, damping=YarnRayleigh(stiffness=10.0))
    sim.set_state(q=q, v=rates(body))
    refused("not positive definite", sim.step, error=sp.StepFailed)


SOLVERS = [Cholesky(), LaggedCholesky(), ConjugateGradients(), Multigrid(coarsest=10)]


@pytest.mark.parametrize("linear", SOLVERS, ids=repr)
def test_solvers_agree(linear):
    def run(linear):
        return hanging(patch(), linear=linear, tolerance=1e-9).run(0.02).positions[-1]

    np.testing.assert_allclose(run(linear), run(None), atol=1e-6 * SPACING)


def test_energy_never_grows():
    motion = hanging(patch(), damping=YarnDamping(stretch=3e-4, bending=0.016)).run(0.1)
    assert np.diff(motion.kinetic + motion.potential).max() < 1e-6 * np.ptp(motion.potential)
    assert motion.positions[-1, :, 2].min() < -0.2 * 6 * SPACING
