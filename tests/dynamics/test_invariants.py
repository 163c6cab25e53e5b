"""Laws that every motion keeps: momentum, energy, and what does not depend on the observer."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers import EPS, MESH_NAMES, rotation, shaken, simulate, small_mesh, soft, stepped

import supple as sp
from supple.integrators import INTEGRATORS
from supple.materials import MATERIALS

every_rule = pytest.mark.parametrize("rule", [r() for r in INTEGRATORS], ids=repr)
every_material = pytest.mark.parametrize("material", MATERIALS, ids=lambda m: m.__name__)
every_mesh = pytest.mark.parametrize("mesh_name", MESH_NAMES)

BLOCK = shaken(sp.TetMesh.box((0.4, 0.3, 0.2), (2, 1, 1)), size=0.02)


def thrown(body: sp.Body, spin: float = 6.0) -> tuple[np.ndarray, np.ndarray]:
    """A start in flight: stretched, turning and shearing."""
    X = body.mesh.vertices - body.mesh.vertices.mean(axis=0)
    u = X @ np.diag([0.1, -0.05, 0.02])
    return u, np.cross([0.3 * spin, 0, spin], X) + X[:, [1, 2, 0]] + [0.5, -1.0, 2.0]


# -- momentum --------------------------------------------------------------------------------


@every_rule
@every_material
def test_free_body_linear_momentum_exact(rule, material):
    body = sp.Body(BLOCK, soft(material))
    u, v = thrown(body)
    before = body.mass_times(v).sum(axis=0)
    sim = simulate(body, rule, np.full(20, 2e-3), u=u, v=v, damping=sp.Rayleigh(stiffness=1e-3))
    # Every step sums forces that cancel: rounding of the forces, 20 times.
    rounding = 20 * 100 * EPS * np.abs(before).max()
    assert np.abs(sim.frame().linear_momentum - before).max() <= max(rounding, 1e-12)


@every_rule
def test_free_body_angular_momentum_drift_of_the_order(rule):
    """No rule here keeps it exactly but symplectic Euler; the drift falls with the order."""
    body = sp.Body(BLOCK, soft(sp.StVK))
    u, v = thrown(body)
    before = np.cross(BLOCK.vertices + u, body.mass_times(v)).sum(axis=0)
    drifts = []
    for count in (40, 80):
        sim = simulate(body, rule, np.full(count, 0.1 / count), u=u, v=v)
        drifts.append(np.linalg.norm(sim.frame().angular_momentum - before))
    if isinstance(rule, sp.SymplecticEuler):
        assert max(drifts) <= 1e-12 * np.linalg.norm(before) * 80
    else:
        assert np.log2(drifts[0] / drifts[1]) >= rule.order - 0.15


@every_rule
@every_mesh
def test_free_fall_exact(rule, mesh_name):
    """Constant acceleration is inside every rule of second order, and bodies fall undeformed."""
    body = sp.Body(small_mesh(mesh_name), soft(sp.StVK))
    g, dt, count = np.array([1.0, 0.0, -9.81]), 0.01, 25
    sim = simulate(body, rule, np.full(count, dt), gravity=g)
    t = count * dt
    shift = {sp.BackwardEuler: 0.5 * g * t * dt, sp.SymplecticEuler: 0.5 * g * t * dt}
    expected = 0.5 * g * t * t + shift.get(type(rule), 0.0)
    if isinstance(rule, sp.BDF2):  # starts exactly, and keeps quadratics
        expected = 0.5 * g * t * t
    assert np.abs(sim.state.u - expected).max() <= 1e-11
    assert np.abs(sim.state.v - g * t).max() <= 1e-10


@every_rule
@pytest.mark.parametrize("when", [0, 3])
def test_extra_force_impulse_exact(rule, when):
    """step(force=f) once brings the momentum f·dt, all of it in that step, whatever went before."""
    body = sp.Body(BLOCK, soft(sp.StVK))
    force = body.mass_times(np.tile([2.0, 0.0, 1.0], (body.n_vertices, 1)))
    sim = sp.Simulation(body, integrator=rule, dt=1e-3, solver=sp.Newton(tolerance=1e-12))
    for number in range(6):
        sim.step(force=force if number == when else None)
        expected = 1e-3 * force.sum(axis=0) if number >= when else np.zeros(3)
        assert np.abs(sim.frame().linear_momentum - expected).max() <= 1e-12


# -- energy ----------------------------------------------------------------------------------


def energies(body, rule, count, duration=0.1, **options):
    u, v = thrown(body, spin=2.0)
    v[~body.free] = u[~body.free] = 0.0
    sim = simulate(body, rule, np.full(count, duration / count), u=u, v=v, **options)
    first = 0.5 * np.vdot(v, body.mass_times(v)) + body.energy(u) - np.vdot(
        body.weight(sim.gravity), body.mesh.vertices + u
    )  # fmt: skip
    frame = sim.frame()
    return first, frame.kinetic + frame.elastic + frame.gravitational, frame.dissipated


@every_rule
@pytest.mark.parametrize("at", list(sp.StiffnessAt), ids=lambda a: a.name)
def test_energy_and_dissipation_balance_converges(rule, at):
    """What is missing in the energy is what damping took, up to errors of the rule's order.

    The dissipated energy is summed by the trapezoidal rule, so no better than second order.
    """
    body = sp.Body(BLOCK, soft(sp.StVK), fixed=BLOCK.where(x=(None, 0.1)))
    damping = sp.Rayleigh(mass=3.0, stiffness=5e-3, at=at)
    errors = []
    start = 160 if isinstance(rule, sp.BDF2) else 80  # its error constant is the largest by far
    for count in (start, 2 * start):
        first, last, lost = energies(body, rule, count, damping=damping, gravity=(0, 0, -9.81))
        errors.append(abs(last + lost - first) / first)
        assert lost > 0
    assert np.log2(errors[0] / errors[1]) >= min(rule.order, 2) - 0.15


@pytest.mark.parametrize("rule", [sp.Trapezoidal(), sp.TRBDF2(), sp.Bathe()], ids=repr)
def test_undamped_energy_error_of_second_order(rule):
    body = sp.Body(BLOCK, soft(sp.StVK))
    errors = []
    for count in (40, 80):
        first, last, _ = energies(body, rule, count)
        errors.append(abs(last - first) / first)
    assert np.log2(errors[0] / errors[1]) >= 2 - 0.15


@pytest.mark.parametrize("rule", [sp.BackwardEuler(), sp.TRBDF2(), sp.Bathe()], ids=repr)
def test_damped_energy_never_grows(rule):
    """L-stable rules with constant damping, no loads: total energy falls from step to step."""
    body = sp.Body(BLOCK, soft(sp.StVK), fixed=BLOCK.where(x=(None, 0.1)))
    u, v = thrown(body, spin=2.0)
    sim = sp.Simulation(body, integrator=rule, dt=2e-3,
                        damping=sp.Rayleigh(stiffness=5e-3, at=sp.StiffnessAt.REST))  # fmt: skip
    sim.state.u, sim.state.v = u * body.free, v * body.free
    motion = sim.run(0.2)
    total = motion.kinetic + motion.elastic
    assert (np.diff(total) <= 1e-6 * total[0]).all()  # Newton's tolerance
    assert (np.diff(motion.dissipated) > 0).all()


# -- observers -------------------------------------------------------------------------------


@every_material
def test_scene_rotation_invariance(material):
    """Turn the mesh, the start and gravity: the motion turns with them."""
    Q = rotation(3)
    g = np.array([0.0, 0.0, -9.81])
    results = []
    for R in (np.eye(3), Q):
        mesh = sp.TetMesh(BLOCK.vertices @ R.T, BLOCK.cells)
        body = sp.Body(mesh, soft(material), fixed=[0, 1, 2])
        u, v = (x @ R.T for x in thrown(sp.Body(BLOCK, soft(material))))
        sim = simulate(body, sp.TRBDF2(), np.full(15, 5e-3), u=u * body.free, v=v * body.free,
                       gravity=R @ g, damping=sp.Rayleigh(mass=0.5, stiffness=1e-3))  # fmt: skip
        results.append((sim.state.u @ R, sim.state.v @ R, sim.dissipated))
    for one, two in zip(*results, strict=True):
        # Rounding, 1e-16 of displacements and velocities of 1, through 30 solved stages; the
        # condition number of their matrices is below 1e4.
        np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-10)


@every_material
@pytest.mark.parametrize("rule", [sp.TRBDF2(), sp.BDF2(), sp.RK4()], ids=repr)
def test_change_of_units_invariance(material, rule):
    """Metre–kilogram–second against millimetre–tonne–millisecond: the same numbers, converted."""
    results = []
    for length, mass, time in ((1.0, 1.0, 1.0), (1e3, 1e-3, 1e3)):
        mesh = sp.TetMesh(BLOCK.vertices * length, BLOCK.cells)
        pascal, density = mass / length / time**2, mass / length**3
        body = sp.Body(
            mesh, soft(material, young=1e4 * pascal, density=1000 * density), fixed=[0, 1, 2]
        )
        u, v = thrown(sp.Body(BLOCK, soft(material)))
        sim = simulate(body, rule, np.full(15, 1e-3 * time), u=length * u * body.free,
                       v=length / time * v * body.free, gravity=(0, 0, -9.81 * length / time**2),
                       damping=sp.Rayleigh(mass=0.5 / time, stiffness=1e-3 * time))  # fmt: skip
        joule = mass * length**2 / time**2
        results.append((sim.state.u / length, sim.state.v / length * time, sim.dissipated / joule))
    for one, two in zip(*results, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("dt", [1 / 60, 1e-3, 1e-4])
def test_motion_galilean_invariance(dt):
    """A vibration is the same on a train: the default solver must not grow careless with speed."""
    body = sp.Body(sp.TetMesh.box((1, 0.2, 0.2), (4, 1, 1)), soft(sp.StVK))
    mode = sp.vibration_modes(body, 7).shapes[6]
    results = []
    for speed in (0.0, 100.0):
        sim = sp.Simulation(body, dt=dt, integrator=sp.Trapezoidal())
        sim.state.u = 0.01 * mode / np.abs(mode).max()
        sim.state.v = np.tile([0, 0, speed], (body.n_vertices, 1))
        stepped(sim, min(round(0.2 / dt), 200))
        results.append(sim.state.u - [0, 0, speed * sim.state.time])
    # 200 steps, each solved to a relative 1e-6 of the forces of the vibration.
    assert np.abs(results[1] - results[0]).max() <= 200 * 1e-6 * np.abs(results[0]).max()
