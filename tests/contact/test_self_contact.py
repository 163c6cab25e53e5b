"""Cloth that cannot pass through itself."""

from __future__ import annotations

import numpy as np
import pytest
from tests.contact.layers import crossings, falling, meeting, never_crosses, stacked
from tests.helpers import stepped

import supple as sp
from supple.contact.self_contact_forces import SelfContactForces
from supple.dynamics.problem import BodyProblem
from supple.dynamics.terms import terms_of
from supple.dynamics.terms.base import StageStart
from supple.integrators import INTEGRATORS, ImplicitIntegrator

DISSIPATIVE = [sp.BackwardEuler(), sp.BDF2(), sp.TRBDF2(), sp.Bathe()]


def pressed(friction: float = 0.4) -> tuple[sp.Simulation, np.ndarray]:
    """Two rumpled sheets in contact, with displacements."""
    sim = meeting(speed=0.0, gap=0.1, self_contact=sp.SelfContact(friction=friction))
    u = 0.004 * np.random.default_rng(3).normal(size=sim.state.u.shape)
    u[len(u) // 2 :, 2] -= 0.07
    return sim, u


def surface_of(sim: sp.Simulation) -> SelfContactForces:
    """The surface of its body, as a simulation has it."""
    assert sim.self_contact is not None
    return sim.self_contact.bind(sim.body)


def assembled(sim: sp.Simulation, keys: np.ndarray, blocks: np.ndarray):
    """A pattern with room for the blocks, and values on it."""
    pattern = sim.body.pattern.with_keys(keys)
    values = np.zeros((pattern.n_blocks, 3, 3))
    np.add.at(values, np.searchsorted(pattern.keys, keys), blocks)
    return pattern, values


# -- the potentials ---------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["barrier", "friction"])
def test_force_and_matrix_are_derivatives(what):
    sim, u = pressed()
    layers, n = surface_of(sim), len(u)
    layers.begin(u)
    rng = np.random.default_rng(4)
    v, way = 2e-3 * rng.normal(size=(2, n, 3))
    if what == "barrier":
        at, size, scalar, force = u, 2e-3, layers.energy, layers.force
        keys, blocks = layers.matrix(u, v, 0.0)
    else:
        at, size, scalar, force = v, 1e-2, layers.dissipation, layers.friction
        keys, blocks = layers.matrix(u, v, 1.0)
        own = layers.matrix(u, v, 0.0)
        keys, blocks = np.concatenate([keys, own[0]]), np.concatenate([blocks, -own[1]])
    assert scalar(at) > 0
    pattern, values = assembled(sim, keys, blocks)
    slope, change = force(at), pattern.multiply(values, way)
    errors = []
    for h in (size, size / 2):
        first = scalar(at + h * way) - scalar(at) - h * np.vdot(slope, way)
        second = force(at + h * way) - slope - h * change
        errors.append((abs(first), np.linalg.norm(second)))
    order = np.log2(np.array(errors[0]) / np.array(errors[1]))
    assert order == pytest.approx(2, abs=0.2)


def test_residual_is_the_gradient_of_the_potential():
    sim, u = pressed()
    problem = BodyProblem(sim.body, terms_of(sim.body, self_contact=sim.self_contact))
    now = sp.integrators.State(0.0, u, np.zeros_like(u), np.zeros_like(u))
    stage = next(sp.BackwardEuler().stages(now, None, 0.01))
    problem.begin(StageStart(stage, np.zeros_like(u), now, u))
    way = 1e-6 * np.random.default_rng(5).normal(size=u.shape)
    here = problem.linearize(stage, u)
    ahead, behind = problem.linearize(stage, u + way), problem.linearize(stage, u - way)
    rise = (ahead.potential - behind.potential) / 2
    assert rise == pytest.approx(float(np.vdot(here.residual, way)), rel=1e-4)


def test_no_force_from_afar_and_none_together():
    sim, u = pressed()
    layers = surface_of(sim)
    assert not layers.force(np.zeros_like(u)).any()
    layers.begin(u)
    v = np.random.default_rng(6).normal(size=u.shape)
    for force in (layers.force(u), layers.friction(v)):
        assert np.abs(force.sum(axis=0)).max() <= 1e-12 * np.abs(force).sum()
        torque = np.cross(sim.body.mesh.vertices + u, force).sum(axis=0)
        assert np.abs(torque).max() <= 1e-12 * np.abs(force).sum()
    assert layers.friction_power(v) > 0
    turning = 1.5 + np.cross([0.3, -0.7, 0.5], sim.body.mesh.vertices + u)
    # As a whole, nothing slips but by rounding, which is measured in sticking speeds of 1 mm/s.
    assert np.abs(layers.friction(turning)).max() <= 1e-10 * np.abs(layers.friction(v)).sum()


def test_majorized_matrix_is_above_the_exact_one():
    """So that a step with it does not overshoot."""
    sim, u = pressed()
    layers = surface_of(sim)
    layers.begin(u)
    v = 2e-3 * np.random.default_rng(7).normal(size=u.shape)
    full = []
    for majorized in (True, False):
        keys, blocks = layers.matrix(u, v, 1.0, majorized=majorized)
        pattern, values = assembled(sim, keys, blocks)
        full.append(pattern.full(values).toarray())
    difference = np.linalg.eigvalsh(full[0] - full[1])
    assert difference.min() >= -1e-10 * difference.max()
    assert difference.max() > 0


# -- layers that meet ---------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [r() for r in INTEGRATORS if issubclass(r, ImplicitIntegrator)])
def test_fast_layers_keep_apart_and_keep_momentum(rule):
    """At 20 m/s and 60 Hz, a third of a metre a step."""
    sim = meeting(speed=20.0, integrator=rule)
    start = sim.frame()
    sim.step()
    assert sim.stats.contacts > 0
    for _ in range(4):
        assert crossings(sim.body.mesh, sim.body.mesh.vertices + sim.state.u) == 0
        end = sim.frame()
        most = 20.0 * sim.body.total_mass
        assert np.abs(end.linear_momentum - start.linear_momentum).max() <= 1e-9 * most
        if rule in DISSIPATIVE:
            assert end.kinetic + end.elastic <= start.kinetic
        sim.step()


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_a_single_step_of_newton_keeps_layers_apart(friction):
    contact = sp.SelfContact(friction=friction)
    sim = meeting(speed=20.0, solver=sp.Newton(iterations=1), self_contact=contact)
    sim.state.v[:25, 0] = 5.0  # one slides along the other
    start = sim.frame()
    assert never_crosses(sim, 8) > 20
    end = sim.frame()
    assert np.abs(end.linear_momentum - start.linear_momentum).max() <= 1e-9
    assert end.kinetic + end.elastic <= start.kinetic


def sliding(friction: float, slope: float, **options) -> tuple[sp.Simulation, slice]:
    """A stiff patch on a sheet that is held, at rest, then tilted by ``slope`` [rad]."""
    low, high = sp.SheetMesh.grid((1.0, 0.6), (10, 6)), sp.SheetMesh.grid((0.4, 0.3), (4, 3))
    mesh = stacked(low, high, offsets=[(0, 0, 0), (0.133, 0.141, 0.019)])
    stiff = sp.IsotropicCloth(
        young=1e6, poisson=0.3, thickness=1e-3, areal_density=0.5, bending_stiffness=1e-2
    )
    cloth = sp.Cloth(mesh, stiff, fixed=np.arange(low.n_vertices))
    damping = sp.ClothStrainRate(matched=0.01, matched_bending=0.01)
    contact = sp.SelfContact(friction=friction)
    sim = falling(cloth, damping=damping, self_contact=contact, dt=5e-3, **options)
    stepped(sim, 12)
    sim.gravity = 9.81 * np.array([np.sin(slope), 0.0, -np.cos(slope)])
    return sim, slice(low.n_vertices, None)


@pytest.mark.parametrize("iterations", [None, 1])
def test_friction_holds_below_its_angle(iterations):
    """arctan 0.5 is 26.6°; what sticks creeps, slower than the sticking speed."""
    sim, patch = sliding(0.5, np.radians(20), solver=sp.Newton(iterations=iterations))
    stepped(sim, 20)
    assert 0 < sim.state.v[patch, 0].max() < sim.self_contact.sticking_speed
    force = sim.self_contact_forces[patch].sum(axis=0)
    weight = sim.body.weight(sim.gravity)[patch].sum(axis=0)
    assert force == pytest.approx(-weight, abs=1e-3 * np.linalg.norm(weight))


@pytest.mark.parametrize("friction", [0.5, 0.0])
def test_friction_slides_by_coulombs_law(friction):
    """g (sin θ − μ cos θ)."""
    slope = np.radians(35)
    sim, patch = sliding(friction, slope)
    speeds = [stepped(sim, 1).state.v[patch, 0].mean() for _ in range(40)]
    force = sim.self_contact_forces[patch].sum(axis=0)
    assert -force[0] == pytest.approx(friction * force[2], abs=1e-3 * force[2])
    found = (speeds[-1] - speeds[9]) / (30 * sim.dt)
    assert found == pytest.approx(9.81 * (np.sin(slope) - friction * np.cos(slope)), rel=0.02)
    assert sim.dissipated >= 0
