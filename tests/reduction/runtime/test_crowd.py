"""Many copies together move as each alone would."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reduction.conftest import two_part_beam
from tests.refusals import refused

import supple as sp

DAMPING = sp.Rayleigh(mass=0.1, stiffness=1e-3)


def forces(model: sp.ReducedModel, tip: int, copies: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.array([model.pull(tip, rng.normal(size=3) * 4) for _ in range(copies)])


@pytest.mark.parametrize("rule", [sp.Newmark, sp.TRBDF2, sp.BDF2, sp.BackwardEuler])
@pytest.mark.parametrize(("dtype", "bound"), [(np.float64, 1e-8), (np.float32, 2e-4)])
def test_each_copy_is_a_simulation_of_its_own(model, tip, rule, dtype, bound):
    options = {"damping": DAMPING, "integrator": rule(), "gravity": (0, 0, -9.81), "dt": 2e-3}
    options["solver"] = sp.DenseNewton(tolerance=1e-10 if dtype is np.float64 else 1e-6)
    copies = 131  # more than a block
    pulls = forces(model, tip, copies)
    starts = np.random.default_rng(1).normal(size=(copies, model.size)) * 0.02
    crowd = model.simulation(copies=copies, dtype=dtype, **options)
    crowd.q = starts
    crowd.run_steps(60, force=pulls)
    for k in (0, 64, 127, 128, 130):
        live = model.simulation(**options)
        live.q = starts[k]
        live.run_steps(60, force=pulls[k])
        assert np.abs(crowd.q[k] - live.q).max() < bound * np.abs(live.q).max()
        assert np.abs(crowd.displacements(k) - live.displacements()).max() < bound
    assert crowd.time == pytest.approx(0.12)


def test_steps_add_up_and_do_not_depend_on_company(model, tip):
    pulls = forces(model, tip, 3)
    together = model.simulation(copies=3, damping=DAMPING)
    together.run_steps(40, force=pulls)
    again = model.simulation(copies=3, damping=DAMPING)
    for _ in range(40):
        again.step(force=pulls)
    assert np.array_equal(together.q, again.q)
    swapped = model.simulation(copies=3, damping=DAMPING)
    swapped.run_steps(40, force=pulls[::-1])
    assert np.allclose(swapped.q[::-1], together.q, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("damping", [DAMPING, sp.PowerLaw(exponent=0.5, strength=20.0)])
def test_energies_and_power_are_those_of_each_copy(model, tip, damping):
    pulls = forces(model, tip, 3)
    crowd = model.simulation(copies=3, damping=damping)
    crowd.run_steps(5, force=pulls)
    for k in range(3):
        live = model.simulation(damping=damping)
        live.q, live.v = crowd.q[k], crowd.v[k]
        for name in ("kinetic", "elastic", "damping_power"):
            assert getattr(crowd, name)[k] == pytest.approx(getattr(live, name), rel=1e-12)
            assert getattr(crowd, name)[k] > 0.0


def test_one_force_for_all(model, tip):
    crowd = model.simulation(copies=4)
    crowd.run_steps(10, force=model.pull(tip, (0, 0, 1.0)))
    assert np.ptp(crowd.q, axis=0).max() == 0.0
    assert np.abs(crowd.q).max() > 0.0


def test_edits_reach_every_copy(model, tip):
    pulls = forces(model, tip, 5)
    crowd = model.simulation(copies=5, damping=DAMPING)
    crowd.run_steps(20, force=pulls)
    live = model.simulation(damping=DAMPING)
    live.run_steps(20, force=pulls[2])
    for simulation in (crowd, live):
        simulation.edit("far", young=4e5, density=600.0)
    crowd.run_steps(20, force=pulls)
    live.run_steps(20, force=pulls[2])
    assert np.abs(crowd.q[2] - live.q).max() < 1e-8 * np.abs(live.q).max()


def test_a_failure_names_the_copies_and_moves_none(model):
    crowd = model.simulation(copies=200)
    crowd.run_steps(2)
    before = crowd.q
    push = np.zeros((200, model.size))
    push[[3, 150]] = 1e300
    refused(r"2 of 200 copies failed \(3, 150\)", crowd.step, force=push, error=sp.StepFailed)
    assert np.array_equal(crowd.q, before)
    assert crowd.time == pytest.approx(0.002)
    crowd.step()


def test_stats_are_of_all_copies(model, tip):
    crowd = model.simulation(copies=3, dt=1e-2, solver=sp.DenseNewton(iterations=1))
    crowd.run_steps(5, force=forces(model, tip, 3))
    assert crowd.stats.steps == crowd.stats.iterations == crowd.stats.unsolved == 15
    assert crowd.stats.cut == crowd.stats.stopped == 0
    hard = model.simulation(copies=2, dt=1e-2, solver=sp.DenseNewton(iterations=1))
    push = np.zeros((2, model.size))
    push[1] = 1e300
    for _ in range(2):  # the first leaves it far out, from where there is no second
        hard.step(force=push)
    assert hard.stats.stopped == 1
    assert np.isfinite(hard.q).all()
    assert not hard.v[1].any()


def test_other_materials(tip):
    body = two_part_beam(sp.StableNeoHookean(young=1e5, poisson=0.4))
    model = sp.reduce(body, sp.modal_derivative_basis(body, modes=3, size=6))
    pulls = forces(model, tip, 3)
    options = {"damping": DAMPING, "solver": sp.DenseNewton(tolerance=1e-10), "dt": 5e-3}
    crowd = model.simulation(copies=3, **options)
    crowd.run_steps(20, force=pulls)
    for k in range(3):
        live = model.simulation(**options)
        live.run_steps(20, force=pulls[k])
        assert np.abs(crowd.q[k] - live.q).max() < 1e-8 * np.abs(live.q).max()


def test_bad_input(model):
    for dtype in (np.int32, "foo", None):
        refused("dtype", model.simulation, copies=2, dtype=dtype)
    crowd = model.simulation(copies=2)
    refused("copies 0 to 1", crowd.displacements, 2)
    refused("copy=", crowd.displacements, 1.0)
    refused("no skin", crowd.skin_vertices, 0)
    refused("force has shape", crowd.step, force=np.zeros((3, model.size)))
    refused("q has shape", setattr, crowd, "q", np.zeros(3))
