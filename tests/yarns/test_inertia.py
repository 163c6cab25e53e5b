"""Kinetic energy of sliding yarns: its derivatives, and what motion conserves."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from tests.yarns.cases import SPACING, bent, cloth, rates, turning

from supple.yarns import YarnSimulation
from supple.yarns.cloth import STRAINS


def test_kinetic_energy_is_that_of_the_material_velocity():
    """Against the integral of ½ ρ |ẋ − x′ṡ|² by quadrature along each segment."""
    body = cloth()
    q, v = bent(body), rates(body)
    nodes, family = body.net.segments
    density = np.array([body.warp.linear_density, body.weft.linear_density])
    points, weights = np.polynomial.legendre.leggauss(4)
    total = 0.0
    for (i, j), f in zip(nodes, family, strict=True):
        D = q[j, 3 + f] - q[i, 3 + f]
        slope = (q[j, :3] - q[i, :3]) / D
        for x, weight in zip((1 + points) / 2, weights / 2, strict=True):
            moving = (1 - x) * v[i] + x * v[j]
            w = moving[:3] - slope * moving[3 + f]
            total += 0.5 * density[f] * D * weight * (w @ w)
    energy, Mv, _ = body.kinetic(q, v)
    assert energy == pytest.approx(total, rel=1e-12)
    assert energy == pytest.approx(0.5 * np.vdot(v, Mv), rel=1e-12)


def test_derivatives_of_kinetic_energy():
    body = cloth()
    q, v = bent(body), rates(body)
    d = SPACING * rates(body, seed=3, speed=1.0)
    _, Mv, by_q = body.kinetic(q, v)
    product = body.pattern.full(body.mass_values(q)) @ v.ravel()
    np.testing.assert_allclose(product, Mv.ravel(), rtol=1e-11, atol=1e-14 * np.abs(Mv).max())
    h = 1e-3
    by_position = (body.kinetic(q + h * d, v)[0] - body.kinetic(q - h * d, v)[0]) / (2 * h)
    assert by_position == pytest.approx(np.vdot(by_q, d), rel=1e-5)
    by_rate = (body.kinetic(q, v + d)[0] - body.kinetic(q, v - d)[0]) / 2
    assert by_rate == pytest.approx(np.vdot(Mv, d), rel=1e-9)


def test_mass_is_definite_where_yarns_cross():
    body = cloth()
    values = np.linalg.eigvalsh(body.pattern.full(body.mass_values(bent(body))).toarray())
    assert values[0] > 1e-3 * values[-1]
    assert values[0] > 0


def momenta(body, q, v):
    p = body.kinetic(q, v)[1][:, :3]
    return np.concatenate([p.sum(axis=0), np.cross(q[:, :3], p).sum(axis=0) / SPACING])


def flight(body, q0, v0, duration):
    """The equations of motion (Eq. 2), integrated finely: M v̇ = ∇T − Ṁ v − ∇V."""
    free = np.ones((body.n_nodes, 5), dtype=bool)
    free[body.net.edge, 3:] = False
    index = np.flatnonzero(free)

    def slope(_, y):
        q, v = y.reshape(2, -1, 5)
        M = body.pattern.full(body.mass_values(q)).toarray()[np.ix_(index, index)]
        _, _, by_q = body.kinetic(q, v)
        h = 1e-9  # Ṁ v by a difference along the motion
        M_rate_v = (body.kinetic(q + h * v, v)[1] - body.kinetic(q - h * v, v)[1]) / (2 * h)
        g = np.zeros_like(q)
        body.contact_potential(q, g)
        for kind in STRAINS:
            body.strain_potential(kind, q, g)
        a = np.zeros(q.size)
        a[index] = np.linalg.solve(M, (by_q - M_rate_v - g).ravel()[index])
        return np.concatenate([v.ravel(), a])

    y0 = np.concatenate([q0.ravel(), v0.ravel()])
    done = solve_ivp(slope, (0, duration), y0, method="DOP853", rtol=1e-9, atol=1e-12)
    return done.y[:, -1].reshape(2, -1, 5)


def in_flight(body, speed, size=0.15):
    """Positions and rates with the arc lengths of the edge at rest."""
    v = rates(body, speed=speed)
    v[body.net.edge, 3:] = 0.0
    return bent(body, size=size), v


def test_free_flight_with_sliding_conserves_energy_and_momenta():
    body = cloth(3, 4)
    q0, v0 = in_flight(body, 0.3)
    q, v = flight(body, q0, v0, 2e-4)
    assert np.abs(q - q0)[:, 3:].max() > 0.05 * SPACING  # it did slide
    before = body.kinetic(q0, v0)[0] + body.energies(q0).total
    assert body.kinetic(q, v)[0] + body.energies(q).total == pytest.approx(before, rel=1e-6)
    p, size = momenta(body, q0, v0), np.abs(momenta(body, q0, v0)).max()
    assert np.abs(momenta(body, q, v) - p).max() < 1e-6 * size


def test_steps_tend_to_the_equations_of_motion():
    """At first order, also where mass and its derivatives matter more than forces."""
    body = cloth(3, 4, friction=0.0)
    q0, v0 = in_flight(body, 10.0, size=0.05)
    duration = 2e-5
    q, v = flight(body, q0, v0, duration)
    errors = []
    for steps in (40, 80, 160):
        sim = YarnSimulation(body, dt=duration / steps, tolerance=1e-10)
        sim.set_state(q=q0, v=v0)
        sim.run(duration)
        errors.append([np.abs(sim.q - q).max() / SPACING, np.abs(sim.v - v).max() / 10.0])
    errors = np.array(errors)
    assert errors[-1, 0] < 0.02
    np.testing.assert_allclose(errors[1] / errors[2], 2, rtol=0.2)


def flown(dt, duration=2e-5):
    body = cloth(friction=0.0)
    sim = YarnSimulation(body, dt=dt, tolerance=1e-12)
    sim.set_state(q=bent(body, size=0.05), v=rates(body, speed=1.0))
    start = sim.kinetic_energy + sim.energies.total
    p = sim.linear_momentum
    spin = momenta(body, sim.q, sim.v)
    sim.run(duration)
    q, v = sim.q, sim.v
    moved = sim.linear_momentum - p
    assert np.abs(q - bent(body, size=0.05))[:, 3:].max() > 0.01 * SPACING
    lost = 1 - (sim.kinetic_energy + sim.energies.total) / start
    return lost, np.abs(moved).max() / np.abs(p).max(), np.abs(momenta(body, q, v) - spin).max()


def test_steps_conserve_momentum_and_lose_less_energy_the_shorter_they_are():
    coarse, fine = flown(5e-8), flown(2.5e-8)
    assert coarse[1] < 1e-9  # linear momentum, at any step
    assert 0 < fine[0] < coarse[0] < 0.2
    assert coarse[0] / fine[0] == pytest.approx(2, rel=0.25)
    assert fine[2] < 0.7 * coarse[2]


def test_a_cloth_at_rest_in_itself_flies_on_evenly():
    body = cloth(5, 5)
    sim = YarnSimulation(body, dt=1e-4)
    speed = np.array([0.3, -0.2, 0.5])
    sim.set_state(v=turning(body.rest_state, np.zeros(3), speed))
    sim.run(2e-3)
    np.testing.assert_allclose(sim.v[:, :3], np.broadcast_to(speed, (25, 3)), rtol=1e-9)
    np.testing.assert_allclose(sim.q[:, 3:], body.net.arc_lengths, atol=1e-12)
