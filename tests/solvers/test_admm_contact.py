"""ADMM in contact: irregular bodies with slivers, stiff ones that turn, soft ones pressed flat."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.integrators import INTEGRATORS, ImplicitIntegrator

IMPLICIT = [rule for rule in INTEGRATORS if issubclass(rule, ImplicitIntegrator)]
GRAVITY = (0, 0, -9.81)
HEIGHT = 0.05


def irregular(young: float, poisson: float = 0.45) -> sp.Body:
    """A tilted box of 10 cm with vertices out of their places, some cells slivers."""
    mesh = sp.TetMesh.box(size=(0.1, 0.08, 0.06), cells=(3, 3, 2))
    X = mesh.vertices + np.random.default_rng(3).uniform(-0.0095, 0.0095, mesh.vertices.shape)
    c, s = np.cos(0.4), np.sin(0.4)
    X = X @ np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]])
    X -= X.min(axis=0)
    return sp.Body(
        sp.TetMesh(X, mesh.cells), sp.StableNeoHookean(young=young, poisson=poisson, density=1000)
    )


def dropped(body: sp.Body, solver: sp.Newton | sp.ADMM, **options: object) -> sp.Simulation:
    floor = sp.Plane(normal=(0, 0, 1), offset=-HEIGHT, friction=0.3)
    return sp.Simulation(body, obstacles=[floor], solver=solver, gravity=GRAVITY, **options)


def energies(sim: sp.Simulation, steps: int) -> np.ndarray:
    """Kinetic, elastic and potential energy together, in units of the fall's."""
    found = []
    for _ in range(steps):
        frame = sim.frame()
        found.append(frame.kinetic + frame.elastic + frame.gravitational)
        sim.step()
    return np.array(found) / (sim.body.total_mass * 9.81 * HEIGHT)


def test_mesh_has_slivers():
    mesh = irregular(1e5).mesh
    assert isinstance(mesh, sp.TetMesh)
    corners = mesh.vertices[mesh.cells]
    edges = corners[:, 1:] - corners[:, :1]
    volume = np.abs(np.linalg.det(edges)) / 6
    longest = np.linalg.norm(corners[:, :, None] - corners[:, None], axis=-1).max(axis=(1, 2))
    assert (volume / longest**3).min() < 0.01  # of a regular one: 0.118


@pytest.mark.parametrize("young", [1e5, 1e8])
def test_fall_onto_a_floor_as_newton_has_it(young):
    """Soft, and so stiff that it turns over as if it were rigid."""
    ends = []
    for solver in (sp.Newton(tolerance=1e-8), sp.ADMM(tolerance=1e-7)):
        sim = dropped(irregular(young), solver, integrator=sp.BackwardEuler(), dt=0.04)
        for _ in range(3):
            sim.step()
        assert sim.stats.contacts > 0
        ends.append(sim.state.u.copy())
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-5 * np.abs(ends[0]).max())


@pytest.mark.parametrize("young", [1e5, 1e8])
def test_impact_takes_few_iterations(young):
    sim = dropped(irregular(young), sp.ADMM(), integrator=sp.BackwardEuler(), dt=0.04)
    most = 0
    for _ in range(8):
        sim.step()
        most = max(most, sim.stats.iterations)
    assert sim.stats.contacts > 0
    assert most < 200


def test_nothing_is_held_by_contacts_that_do_not_touch():
    """Near a floor a body falls as freely as elsewhere, and as cheaply."""
    sim = dropped(irregular(1e6), sp.ADMM(), integrator=sp.BackwardEuler(), dt=0.04)
    sim.step()  # 16 mm of 50: the floor is within reach of the next step
    sim.step()
    assert sim.stats.iterations <= 3


@pytest.mark.parametrize("rule", IMPLICIT)
@pytest.mark.parametrize("young", [1e4, 1e7, 1e9])
def test_few_iterations_never_gain_energy(young, rule):
    sim = dropped(irregular(young), sp.ADMM(iterations=10), integrator=rule(), dt=1 / 24)
    E = energies(sim, 12)
    assert np.isfinite(E).all()
    assert (E - np.minimum.accumulate(E)).max() < 0.01


def test_turning_body_with_few_iterations():
    """A stiff body spun at 0.4 rad a step keeps turning as Newton's method has it."""
    ends = []
    for solver in (sp.Newton(), sp.ADMM(iterations=10)):
        body = irregular(1e8)
        sim = sp.Simulation(body, solver=solver, integrator=sp.BackwardEuler(), dt=0.02)
        X = body.mesh.vertices
        centre = body.mass_times(X).sum(axis=0) / body.total_mass
        sim.state.v = np.cross([0.0, 0.0, 20.0], X - centre)
        sim.step()
        ends.append(sim.state.u.copy())
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-3 * np.abs(ends[0]).max())


@pytest.mark.parametrize(
    "damping", [sp.PowerLaw(exponent=0.5, strength=100.0), sp.StrainRate(shear=10.0)]
)
def test_soft_body_with_damping_comes_down(damping):
    sim = dropped(irregular(5e3), sp.ADMM(iterations=30), damping=damping, dt=0.02)
    E = energies(sim, 12)
    assert (E - np.minimum.accumulate(E)).max() < 0.01
