"""Time integrators: their algebra, their amplification of an oscillator, their order."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from tests.helpers import EPS, material_part, simulate, soft
from tests.refusals import refusals

import supple as sp
from supple.integrators import INTEGRATORS, ExplicitIntegrator, ImplicitIntegrator, State

RULES = [rule() for rule in INTEGRATORS]
RULES += [sp.Newmark(beta=0.3025, gamma=0.6), sp.TRBDF2(gamma=0.7)]
IMPLICIT = [rule for rule in RULES if isinstance(rule, ImplicitIntegrator)]
every_rule = pytest.mark.parametrize("rule", RULES, ids=repr)
every_implicit = pytest.mark.parametrize("rule", IMPLICIT, ids=repr)

ONE = np.ones((1, 3))


def nominal_order(rule: sp.Integrator) -> int:
    """Newmark is of second order for γ = ½ alone."""
    return 1 if isinstance(rule, sp.Newmark) and rule.gamma != 0.5 else rule.order


# -- algebra of stages -----------------------------------------------------------------------


def solve_stages(rule: ImplicitIntegrator, now: State, before: State | None, dt: float, solve):
    """Run a step whose stages are solved by ``solve(stage)``."""
    stages = rule.stages(now, before, dt)
    stage = next(stages)
    while True:
        state = stage.state(solve(stage))
        try:
            stage = stages.send(state)
        except StopIteration:
            return state


@every_implicit
@pytest.mark.parametrize("history", [None, 0.4, 1.0, 1.7])
def test_stage_derivatives_exact_for_quadratics(rule, history):
    """A motion with constant acceleration is followed by v and a, after steps of any ratio."""
    dt, t0 = 0.3, 0.2

    def state(t):
        return State(t, (1 + 2 * t + 3 * t * t) * ONE, (2 + 6 * t) * ONE, 6.0 * ONE)

    before = None if history is None else state(t0 - history * dt)
    end = solve_stages(rule, state(t0), before, dt, lambda stage: state(stage.time).u)
    expected = state(t0 + dt)
    assert end.time == pytest.approx(t0 + dt, rel=EPS)
    if isinstance(rule, sp.BackwardEuler):  # v is the slope of the chord
        expected = State(end.time, expected.u, (2 + 3 * (2 * t0 + dt)) * ONE, 3.0 * ONE)
    np.testing.assert_allclose(end.v, expected.v, rtol=200 * EPS)
    np.testing.assert_allclose(end.a, expected.a, rtol=1e3 * EPS)


@pytest.mark.parametrize(("beta", "gamma"), [(0.25, 0.5), (1 / 6, 0.5), (0.3025, 0.6)])
def test_newmark_satisfies_its_definition(beta, gamma):
    u0, v0, a0, u1 = np.random.default_rng(0).normal(size=(4, 2, 3))
    h = 0.2
    now = State(0.0, u0, v0, a0)
    end = solve_stages(sp.Newmark(beta, gamma), now, None, h, lambda stage: u1)
    a1 = end.a
    expected = u0 + h * v0 + h * h * ((0.5 - beta) * a0 + beta * a1)
    np.testing.assert_allclose(u1, expected, atol=100 * EPS)
    np.testing.assert_allclose(end.v, v0 + h * ((1 - gamma) * a0 + gamma * a1), atol=1e3 * EPS)


@every_implicit
def test_stage_is_affine_with_its_coefficients(rule):
    u0, v0, a0, u, w = np.random.default_rng(1).normal(size=(5, 2, 3))
    stage = next(rule.stages(State(0.0, u0, v0, a0), None, 0.1))
    for rate, c in ((stage.velocity, stage.c_v), (stage.acceleration, stage.c_a)):
        np.testing.assert_allclose(rate(u) - rate(w), c * (u - w), rtol=1e-12)


@every_implicit
def test_trbdf2_has_one_matrix_for_both_stages(rule):
    """The default γ gives both stages the same c_v and c_a, and Bathe's ½ does not."""
    coefficients = []
    zero = State(0.0, 0 * ONE, ONE, ONE)

    def solve(stage):
        coefficients.append((stage.c_v, stage.c_a))
        return stage.guess

    solve_stages(rule, zero, None, 0.1, solve)
    if len(coefficients) > 1 and not isinstance(rule, sp.BDF2):
        same = np.allclose(coefficients[0], coefficients[1], rtol=1e-9)
        assert same == (rule == sp.TRBDF2())


test_rules_refuse_bad_coefficients = refusals(
    (lambda: sp.Newmark(beta=0.0), "beta"),
    (lambda: sp.Newmark(gamma=0.0), "gamma"),
    (lambda: sp.Newmark(beta=np.nan), "beta"),
    (lambda: sp.Newmark(beta="soft"), "beta"),
    (lambda: sp.TRBDF2(gamma=1.0), "gamma"),
    (lambda: sp.TRBDF2(gamma=np.nan), "gamma"),
)


# -- the linear oscillator -------------------------------------------------------------------


def amplification(rule: sp.Integrator, w: float, zeta: float, h: float) -> np.ndarray:
    """(u, v) after one step from each unit vector, for a = −ω² u − 2ζω v. One step, no history."""

    def acceleration(_, u, v):
        return -w * w * u - 2 * zeta * w * v

    def solve(stage):
        c = 2 * zeta * w * stage.c_v
        return (stage.c_a * stage.u_a + c * stage.u_v) / (stage.c_a + c + w * w)

    columns = []
    for u0, v0 in ((1.0, 0.0), (0.0, 1.0)):
        u, v = u0 * ONE, v0 * ONE
        now = State(0.0, u, v, acceleration(0.0, u, v))
        if isinstance(rule, ExplicitIntegrator):
            end = rule.advance(now, h, acceleration)
        else:
            end = solve_stages(rule, now, None, h, solve)
        columns.append((end.u[0, 0], end.v[0, 0]))
    return np.array(columns).T


def closed_form(rule: sp.Integrator, A: np.ndarray, h: float) -> np.ndarray:
    """The rational function R(hA) that takes y to y₁ for y' = A y, y = (u, v)."""
    I, Z = np.eye(2), h * A
    inverse = np.linalg.inv
    if isinstance(rule, sp.BackwardEuler):
        return inverse(I - Z)
    if isinstance(rule, sp.Trapezoidal):
        return inverse(I - Z / 2) @ (I + Z / 2)
    if isinstance(rule, (sp.TRBDF2, sp.BDF2)):  # BDF2 starts with TR-BDF2
        g = rule.gamma if isinstance(rule, sp.TRBDF2) else 2 - np.sqrt(2)
        return (
            inverse(2 * I - g * Z)
            @ inverse((2 - g) * I - (1 - g) * Z)
            @ (2 * (2 - g) * I + (1 + (1 - g) ** 2) * Z)
        )
    if isinstance(rule, sp.RK4):
        return I + Z + Z @ Z / 2 + Z @ Z @ Z / 6 + Z @ Z @ Z @ Z / 24
    if isinstance(rule, sp.SymplecticEuler):
        kick, drift = I + h * np.array([[0, 0], A[1]]), np.array([[1, h], [0, 1]])
        return drift @ kick
    if isinstance(rule, sp.Newmark):  # u₁ − h²β a₁ = …, v₁ − hγ a₁ = …, a = (A y)_v
        a = A[1]
        left = I - np.outer((h * h * rule.beta, h * rule.gamma), a)
        right = np.array([[1, h], [0, 1]])
        return inverse(left) @ (
            right + np.outer((h * h * (0.5 - rule.beta), h * (1 - rule.gamma)), a)
        )
    raise AssertionError(f"write the closed form of {rule!r}")


@every_rule
@pytest.mark.parametrize("zeta", [0.0, 0.1])
@pytest.mark.parametrize("phase", [0.01, 0.5, 3.0])
def test_oscillator_amplification_equals_closed_form(rule, zeta, phase):
    w, h = 7.0, phase / 7.0
    A = np.array([[0.0, 1.0], [-w * w, -2 * zeta * w]])
    found, expected = amplification(rule, w, zeta, h), closed_form(rule, A, h)
    # The stages divide by h² ω² at worst, so rounding is that of 1/phase².
    np.testing.assert_allclose(found, expected, atol=100 * EPS * w * (1 + phase**4 + 1 / phase**2))


@every_implicit
def test_implicit_rules_stable_at_any_step(rule):
    """All eigenvalues in the unit disc, for every step; strictly inside at infinity if L-stable."""
    for phase in np.logspace(-2, 5, 40):
        values = np.linalg.eigvals(amplification(rule, 1.0, 0.0, phase))
        assert np.abs(values).max() <= 1 + 1e-10
    if isinstance(rule, (sp.BackwardEuler, sp.TRBDF2, sp.BDF2)):
        assert np.abs(values).max() <= 10 / phase  # R(∞) = 0, like 1/phase


def test_trapezoidal_period_error_and_no_damping():
    """e^{iφ} with φ = 2 atan(Ω/2), which makes the period longer by Ω²/12, and modulus one."""
    value = np.linalg.eigvals(amplification(sp.Trapezoidal(), 1.0, 0.0, 0.3))[0]
    assert abs(abs(value) - 1) <= 10 * EPS
    assert abs(abs(np.angle(value)) - 2 * np.arctan(0.15)) <= 10 * EPS


def test_bdf2_recursion_with_unequal_steps():
    """y₁ = w⁻¹-weighted history: the steps after the first equal the textbook's recursion."""
    A = np.array([[0.0, 1.0], [-4.0, -0.2]])
    state = [State(t, y[0] * ONE, y[1] * ONE, (A @ y)[1] * ONE) for t, y in
             ((0.0, np.array([1.0, 0.5])), (0.2, np.array([0.9, -0.3])))]  # fmt: skip
    h, r = 0.3, 1.5
    w = (1 + 2 * r) / (1 + r) / h

    def solve(stage):
        c = 0.2 * stage.c_v
        return (stage.c_a * stage.u_a + c * stage.u_v) / (stage.c_a + c + 4)

    end = solve_stages(sp.BDF2(), state[1], state[0], h, solve)
    old, new = (np.array([s.u[0, 0], s.v[0, 0]]) for s in state)
    history = ((1 + r) ** 2 * new - r * r * old) / (1 + 2 * r)
    expected = np.linalg.solve(w * np.eye(2) - A, w * history)
    np.testing.assert_allclose([end.u[0, 0], end.v[0, 0]], expected, rtol=100 * EPS)


# -- order of accuracy -----------------------------------------------------------------------

MESH = sp.TetMesh.box((0.4, 0.2, 0.2), (2, 1, 1))
DURATION = 0.2  # [s]; the fastest vibration has ω ≈ 60 rad/s, so phases up to 12
BASE = MESH.where(x=0)
TIP = MESH.where(x=0.4)


def path(t):
    return 0.01 * np.array([np.sin(9 * t), 0.0, np.sin(9 * t + 0.5) - np.sin(0.5)])


def path_velocity(t):
    return 0.09 * np.array([np.cos(9 * t), 0.0, np.cos(9 * t + 0.5)])


def path_acceleration(t):
    return -0.81 * np.array([np.sin(9 * t), 0.0, np.sin(9 * t + 0.5)])


def push(t):
    force = np.zeros_like(MESH.vertices)
    force[TIP] = 0.3 * np.array([0.0, np.sin(20 * t), np.cos(13 * t)])
    return force


CASES: dict[str, dict] = {
    "undamped": {},
    "damping of rest stiffness": {"alpha": 2.0, "beta": 0.01, "at": sp.StiffnessAt.REST},
    "damping of current stiffness": {"alpha": 2.0, "beta": 0.01, "at": sp.StiffnessAt.CURRENT},
    "force": {"force": push},
    "supports": {"moving": True},
    "supports, damping": {"moving": True, "alpha": 2.0, "beta": 0.01, "at": sp.StiffnessAt.CURRENT},
    "all, unequal steps": {"moving": True, "force": push, "alpha": 2.0, "beta": 0.01,
                           "at": sp.StiffnessAt.CURRENT, "pace": (0.7, 1.3)},
}  # fmt: skip


@lru_cache
def order_body(moving: bool) -> sp.Body:
    material = soft(sp.StVK, young=5e3)
    if moving:
        support = sp.Support(BASE, path, path_velocity, path_acceleration)
        return sp.Body(MESH, material, supports=[support])
    return sp.Body(MESH, material, fixed=BASE)


def start_velocity() -> np.ndarray:
    """Bends and turns the tip by a fifth of the length within the run: far from linear."""
    X = MESH.vertices
    return X[:, :1] * np.array([0.0, 0.5, 1.5]) + 5.0 * X[:, :1] * np.cross([1.0, 0, 0], X - 0.1)


@lru_cache
def reference(name: str) -> tuple[np.ndarray, np.ndarray]:
    """u and v at the end by DOP853 from M, U and the damping matrix alone, to 1e-11."""
    case = CASES[name]
    moving = case.get("moving", False)
    body = order_body(moving)
    M, free = body.mass.toarray(), body.free.ravel()
    K0 = body.stiffness(np.zeros_like(MESH.vertices))
    alpha, beta, at = case.get("alpha", 0.0), case.get("beta", 0.0), case.get("at")
    inverse = np.linalg.inv(M[np.ix_(free, free)])

    def spread(values, held):
        field = np.zeros_like(MESH.vertices)
        if moving:
            field[BASE] = held
        field.ravel()[free] = values
        return field

    def full(t, y):
        u, v = np.split(y, 2)
        return spread(u, path(t)), spread(v, path_velocity(t))

    def slope(t, y):
        u, v = full(t, y)
        force = -body.force(u).ravel() - alpha * M @ v.ravel()
        if beta:
            K = K0 if at is sp.StiffnessAt.REST else material_part(body, u)
            force -= beta * (K @ v.ravel())
        if "force" in case:
            force += case["force"](t).ravel()
        force -= M @ spread(0.0, path_acceleration(t)).ravel()
        return np.concatenate([y[len(y) // 2 :], inverse @ force[free]])

    start = np.concatenate([np.zeros(free.sum()), start_velocity().ravel()[free]])
    found = solve_ivp(slope, (0, DURATION), start, method="DOP853", rtol=1e-11, atol=1e-13)
    return full(DURATION, found.y[:, -1])


def end_error(rule: sp.Integrator, name: str, count: int) -> float:
    case = CASES[name]
    damping = None
    if "at" in case:
        damping = sp.Rayleigh(mass=case["alpha"], stiffness=case["beta"], at=case["at"])
    steps = np.resize(case.get("pace", (1.0, 1.0)), count) * DURATION / count
    sim = simulate(order_body(case.get("moving", False)), rule, steps, v=start_velocity(),
                   damping=damping, force=case.get("force"))  # fmt: skip
    u, v = reference(name)
    return float(np.hypot(np.linalg.norm(sim.state.u - u) * 30, np.linalg.norm(sim.state.v - v)))


@every_rule
@pytest.mark.parametrize("name", CASES)
def test_integrator_order(rule, name):
    """Twice the steps, 2^order times less error."""
    order = nominal_order(rule)
    count = {1: 160, 2: 80, 4: 160}[order]
    observed = np.log2(end_error(rule, name, count) / end_error(rule, name, 2 * count))
    assert abs(observed - order) <= 0.15
