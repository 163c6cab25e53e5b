"""Every implicit rule moves yarns: order of accuracy, energy, momentum, what is kept of steps."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from tests.refusals import refused
from tests.yarns.cases import bent, cloth, rates, turning
from tests.yarns.test_simulation import hanging, patch

import supple as sp
from supple.integrators import INTEGRATORS, ImplicitIntegrator, Newmark
from supple.solvers import Cholesky
from supple.solvers.interface import LinearSolver
from supple.yarns import YarnDamping, YarnRayleigh, YarnSimulation

RULES = [made() for made in INTEGRATORS if issubclass(made, ImplicitIntegrator)]
SECOND = [rule for rule in RULES if rule.order == 2]
every_rule = pytest.mark.parametrize("rule", RULES, ids=repr)
second_order = pytest.mark.parametrize("rule", SECOND, ids=repr)
DAMPING = YarnDamping(stretch=1e-6, bending=1e-6, shear=1e-6, switch_angle=0.9)


def shaken(rule, dt: float, damping=DAMPING, *, time: float = 1.6e-5, friction: float = 0.0):
    """A small twill let go from a random shape, sliding; one corner is led along."""
    body = cloth(friction=friction, slip_speed=0.1)
    lead = sp.Support([0], lambda t: (0.2 * t + 3e3 * t * t, 0, 0))
    sim = YarnSimulation(
        body,
        damping=damping,
        supports=lead,
        integrator=rule,
        dt=dt,
        tolerance=1e-11,
        linear=Cholesky(),
    )
    q = bent(body, size=0.03)
    q[0, :3] = body.net.positions[0]
    sim.set_state(q=q, v=rates(body, speed=0.3))
    sim.run(time, every=1000)
    return sim


def found(rule, dt: float, damping):
    sim = shaken(rule, dt, damping)
    return sim.q, sim.v, np.array(sim.frame().dissipated)


@cache
def fine(damping):
    return found(sp.TRBDF2(), 2.5e-8, damping)


@pytest.mark.verify
@pytest.mark.parametrize(
    "damping", [None, DAMPING, YarnRayleigh(stiffness=1e-6)], ids=["none", "strains", "Rayleigh"]
)
@second_order
def test_rules_of_second_order_are(rule, damping):
    """Halved steps leave a quarter of the error: of positions, rates, and what is lost."""
    off = np.array(
        [
            [
                np.abs(a - b).max()
                for a, b in zip(found(rule, dt, damping), fine(damping), strict=True)
            ]
            for dt in (2e-7, 1e-7)
        ]
    )
    kept = 2 if damping is None else 3
    falls = off[0, :kept] / off[1, :kept]
    assert (falls > 3.4).all(), falls


def test_the_default_of_bodies_is_of_second_order():
    test_rules_of_second_order_are(sp.TRBDF2(), DAMPING)


def test_friction_of_yarns_is_of_second_order_too():
    def at(dt):
        return shaken(sp.TRBDF2(), dt, friction=0.5).q

    coarse, middle, fine = (at(dt) for dt in (2e-7, 1e-7, 5e-8))
    assert np.abs(coarse - middle).max() / np.abs(middle - fine).max() > 3.3


def swung(rule, dt: float) -> tuple[np.ndarray, float]:
    """Gains of energy in the steps of a cloth that swings, damped, and the most it moves with."""
    damping = YarnDamping(stretch=3e-3, bending=0.016, shear=3e-3)
    motion = hanging(patch(), damping=damping, integrator=rule, dt=dt).run(0.1)
    assert (np.diff(motion.dissipated) >= 0).all()
    assert motion.positions[-1, :, 2].min() < -0.15 * 6 * 1e-3
    return np.diff(motion.kinetic + motion.potential), float(motion.kinetic.max())


@pytest.mark.parametrize("rule", [*RULES, Newmark(gamma=0.6)], ids=repr)
def test_energy_never_grows_beyond_the_errors_of_the_rule(rule):
    gained, most = swung(rule, 2e-3)
    assert gained.max() <= (1e-6 if rule.order == 1 and rule == sp.BackwardEuler() else 1e-3) * most


def test_what_second_order_adds_falls_with_the_square_of_the_step():
    coarse, fine = (swung(sp.TRBDF2(), dt)[0].clip(0).sum() for dt in (2e-3, 1e-3))
    assert 0 < fine < coarse / 3.5


@every_rule
def test_momentum_is_that_of_a_free_body(rule):
    body = cloth()
    sim = YarnSimulation(body, damping=DAMPING, integrator=rule, dt=2e-6, tolerance=1e-10)
    v = turning(body.rest_state, np.array([300.0, -200, 100]), np.array([0.3, 0.1, -0.2]))
    sim.set_state(q=bent(body, size=0.03), v=v)
    start = sim.linear_momentum
    sim.run(4e-5)
    np.testing.assert_allclose(sim.linear_momentum, start, atol=1e-10 * np.abs(start).max())


@second_order
def test_free_fall_is_exact(rule):
    sim = YarnSimulation(patch(), gravity=(0, 0, -9.81), integrator=rule, dt=1e-3, tolerance=1e-8)
    sim.run(0.02)
    np.testing.assert_allclose(sim.v[:, 2], -9.81 * 0.02, rtol=1e-9)
    # The first step has none to look back on, and is off by a share of g dt².
    np.testing.assert_allclose(sim.q[:, 2], -9.81 * 0.02**2 / 2, atol=9.81 * 1e-6)


def turn_kept(rule) -> float:
    """Share of the energy of a free spin that is left after a quarter of a turn in large steps."""
    body = patch(5, shear=1e-6)
    q = body.rest_state
    q[:, :3] -= q[:, :3].mean(axis=0)
    sim = YarnSimulation(
        body, damping=YarnDamping(stretch=0.03, shear=0.1), integrator=rule, dt=5e-4
    )
    sim.set_state(q=q, v=turning(q, np.array([0, 0, 60.0]), np.zeros(3)))
    start = sim.kinetic_energy
    sim.run(0.025)
    return sim.kinetic_energy / start


def test_second_order_leaves_a_spin_alone_and_backward_euler_does_not():
    assert abs(turn_kept(sp.TRBDF2()) - 1) < 0.1 * abs(turn_kept(sp.BackwardEuler()) - 1)


def falling(rule, **options) -> YarnSimulation:
    """Cloth that comes down on a ball."""
    body = patch()
    centre = (*body.net.positions[:, :2].mean(axis=0), -0.0034)
    ball = sp.Sphere(centre=centre, radius=0.003, friction=0.3)
    damping = YarnDamping(stretch=0.03, shear=0.02)
    given = {"gravity": (0, 0, -9.81), "obstacles": [ball], "damping": damping, "dt": 2e-3}
    return YarnSimulation(body, integrator=rule, linear=Cholesky(), **{**given, **options})


@second_order
def test_cloth_lands_without_a_gain(rule):
    sim = falling(rule)
    motion = sim.run(0.06)
    energy = motion.kinetic + motion.potential
    assert np.diff(energy).max() < 5e-6 * np.ptp(motion.potential)  # as by backward Euler
    ball = sim.obstacles[0]
    away = np.linalg.norm(motion.positions - np.array(ball.centre), axis=2)
    assert away.min() > 0.003 + 2e-4 - 1e-6 * 1e-3
    assert np.abs(sim.contact_forces).max() > 0


@every_rule
def test_a_moment_and_a_run_are_gone_back_to_bit_for_bit(rule, tmp_path):
    sim = falling(rule)
    for _ in range(3):
        sim.step()
    kept = sim.snapshot()
    ways = []
    for _ in range(2):
        sim.restore(kept)
        for _ in range(9):
            sim.step()
        ways.append(sim.q.tobytes() + sim.v.tobytes())
    assert ways[0] == ways[1]

    whole = falling(rule).run(0.024, every=2, record=tmp_path / "whole.motion")

    class Stop(Exception):
        pass

    def stop(done: int, total: int, what: str) -> None:
        if done == 5:
            raise Stop

    path = tmp_path / "parts.motion"
    with pytest.raises(Stop):
        falling(rule).run(0.024, every=2, record=path, progress=stop)
    again = falling(rule).run(0.024, every=2, record=path, resume=True)
    assert np.array_equal(whole.positions, again.positions)
    assert np.array_equal(whole.dissipated, again.dissipated)


def test_rules_can_be_changed_on_the_way():
    sim = falling(sp.TRBDF2())
    sim.step()
    sim.integrator = sp.BDF2()
    sim.step()
    sim.integrator = sp.BackwardEuler()
    sim.step()
    assert sim.time == pytest.approx(6e-3)


def test_a_fixed_number_of_iterations_is_kept_to():
    sim = falling(sp.BackwardEuler(), iterations=1, obstacles=())
    for _ in range(10):
        sim.step()
        assert sim.newton_iterations == sim.parts == 1
    np.testing.assert_allclose(sim.v[:, 2], -9.81 * 0.02, rtol=1e-6)


def test_what_cannot_be():
    refused("balance of forces", YarnSimulation, patch(), integrator=sp.RK4())
    refused("integrator", YarnSimulation, patch(), integrator="TRBDF2")
    refused("iterations", YarnSimulation, patch(), iterations=0)


def test_too_few_iterations_never_leave_a_yarn_folded_back():
    """One full step from a violent start would put crossings past each other."""
    body = patch(friction=0.0)
    sim = YarnSimulation(body, dt=1e-3, iterations=1)
    v = np.zeros((body.n_nodes, 5))
    v[body.n_nodes // 2, 3:] = 5.0, -3.0
    sim.set_state(v=v)
    nodes, family = body.net.segments
    for _ in range(20):
        sim.step()
        s = sim.q[:, 3:]
        assert (s[nodes[:, 1], family] > s[nodes[:, 0], family]).all()
    assert np.isfinite(sim.v).all()


class Watched(LinearSolver):
    """Cholesky, and the eigenvalues of every matrix that it is given."""

    def __init__(self) -> None:
        self.sizes: list[np.ndarray] = []

    def bind(self, pattern, free):
        bound = Cholesky().bind(pattern, free)
        solve_with = bound.take

        def take(values, *others):
            self.sizes.append(np.linalg.eigvalsh(pattern.full(values).toarray()))
            solve_with(values, *others)

        bound.take = take
        return bound


def test_full_steps_take_a_definite_matrix_where_yarns_are_slack():
    """Pressed together by a tenth, the cloth would buckle: its tangent matrix is indefinite."""
    body, linear = patch(friction=0.0), Watched()
    q = body.rest_state
    q[:, :2] *= 0.9
    stretch = np.zeros((body.pattern.n_blocks, 5, 5))
    body.strain_potential("stretch", q, np.zeros_like(q), stretch)
    exact = np.linalg.eigvalsh(body.pattern.full(stretch).toarray())
    assert exact[0] < -1e-3 * exact[-1]
    sim = YarnSimulation(body, dt=0.1, iterations=1, linear=linear)
    sim.set_state(q=q)
    sim.step()
    assert len(linear.sizes) == 1
    assert linear.sizes[0][0] > -1e-12 * linear.sizes[0][-1]
