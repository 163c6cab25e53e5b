"""The examples of example damping hold beyond the numbers that they print themselves."""

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import scipy.linalg

import supple as sp
from supple.integrators import ImplicitIntegrator, State

_EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, _EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# -- damping by direction (Figs. 3 and 5) ----------------------------------------------------


@pytest.fixture(scope="module")
def direction():
    return load("damping_by_direction")


def test_over_mass_damping_directions_stay_apart_in_large_swings(direction):
    """A beam bent by a third of its thickness, where stiffness damping would mix them."""
    alpha = 4 * np.pi * direction.frequency * direction.ZETA  # ζ = ½ α / ω
    base, tripled = sp.Rayleigh(mass=alpha), sp.Rayleigh(mass=3 * alpha)
    default, all_of_it, side = (
        direction.let_go(damping, 0.03)
        for damping in (base, tripled, direction.scaled(3.0, 1.0, base))
    )
    assert direction.apart(default.swings[1], side.swings[1]) < 1e-4
    assert direction.apart(all_of_it.swings[0], side.swings[0]) < 1e-3
    assert side.ratios / default.ratios == pytest.approx([3, 1], rel=3e-3)


def test_over_stiffness_damping_large_swings_get_less_than_asked_for(direction):
    """An arc is not the straight line of the example; the guide gives this number."""
    default = direction.let_go(direction.rayleigh, 0.03)
    side = direction.let_go(direction.scaled(3.0, 1.0), 0.03)
    assert side.ratios / default.ratios == pytest.approx([2.5, 1], abs=0.05)


@pytest.mark.verify
def test_what_directions_leave_of_each_other_falls_faster_than_the_square_of_the_swing(direction):
    def left(deflection: float) -> float:
        default = direction.let_go(direction.rayleigh, deflection)
        side = direction.let_go(direction.scaled(3.0, 1.0), deflection)
        return direction.apart(default.swings[1], side.swings[1])

    small, large = left(0.012), left(0.024)
    assert large < 3e-4
    assert large / small > 4


# -- envelopes (Fig. 2) ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def envelopes():
    return load("damping_envelopes")


def test_the_cycle_mean_weighs_by_the_square_of_the_rate(envelopes):
    constant = sp.Curve.constant(3.0)
    assert envelopes.over_a_cycle(constant, np.array([0.1, 1.0])) == pytest.approx(3.0)
    step = sp.Curve.linear([(0.5, 4.0), (0.5 + 1e-9, 1.0)])
    # The share of ∫ sin² θ dθ where |cos θ| < ½
    share = 1 / 3 + np.sqrt(3) / (2 * np.pi)
    mean = envelopes.over_a_cycle(step, np.array([1.0]))
    assert mean == pytest.approx(1 + 3 * share, rel=0.02)  # 200 moments of a jump


@pytest.mark.verify
def test_no_other_constant_comes_nearer(envelopes):
    found = envelopes.compared(envelopes.CURVES["strong when large"])
    for factor in (0.85, 1.15):
        other = envelopes.let_go(factor * found.gamma)
        rival = envelopes.Result(found.curve, found.ring, factor * found.gamma, other)
        assert rival.misfit > found.misfit


# -- residuals (Fig. 9) ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def residual():
    return load("residual_by_strength")


@pytest.mark.parametrize("gamma", [0.1, 1.0, 10.0])
def test_reduced_and_unreduced_keep_the_same(residual, gamma):
    reduced = residual.one_cycle(2.0, gamma)
    full = residual.one_cycle(2.0, gamma, residual.body)
    assert reduced.residual == pytest.approx(full.residual, rel=1e-3)
    assert np.count_nonzero(np.diff(np.sign(reduced.excitations))) == 2
    # From a hundredth of that the body is linear, but for the steps: 40 a cycle.
    small = residual.one_cycle(0.02, gamma).residual / 0.02
    zeta = residual.ZETA * gamma
    assert small == pytest.approx(np.exp(-2 * np.pi * zeta / np.sqrt(1 - zeta**2)), abs=1.5e-3)


def test_critical_damping_is_where_the_residual_ends(residual):
    critical = 1 / residual.ZETA
    assert residual.one_cycle(0.02, 0.8 * critical).oscillates
    assert not residual.one_cycle(0.02, 1.2 * critical).oscillates


# -- energies (Fig. 10) ----------------------------------------------------------------------


def kept(rule: ImplicitIntegrator, omega: np.ndarray, dt: float, steps: int) -> np.ndarray:
    """The share of energy that undamped oscillators keep, released from rest."""
    now = State(0.0, np.ones_like(omega), np.zeros_like(omega), -(omega**2))
    for _ in range(steps):
        stages = rule.stages(now, None, dt)
        stage = next(stages)
        while True:
            done = stage.state(stage.c_a * stage.u_a / (stage.c_a + omega**2))
            try:
                stage = stages.send(done)
            except StopIteration:
                break
        now = done
    return now.u**2 + (now.v / omega) ** 2


def test_energies_of_a_small_swing_are_those_of_its_modes():
    energy = load("integrator_energy")
    body, start = energy.body, energy.bent(energy.SMALL)
    free = np.flatnonzero(body.free.ravel())
    K, M = (
        matrix.toarray()[np.ix_(free, free)]
        for matrix in (body.stiffness(np.zeros_like(start)), body.mass)
    )
    squares, shapes = scipy.linalg.eigh(K, M)
    shares = squares * (shapes.T @ M @ start.ravel()[free]) ** 2
    shares /= shares.sum()
    found = energy.compared(start)
    for name, (rule, dt) in energy.RULES.items():
        steps = len(found[name].times) - 1
        expected = shares @ kept(rule, np.sqrt(squares), dt, steps)
        assert found[name].shares[-1] == pytest.approx(expected, rel=1e-3), name
