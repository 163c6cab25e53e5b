"""The examples of dissipation and friction hold beyond the numbers that they print themselves."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq
from tests.test_damping_examples import load

import supple as sp

# -- power laws (Fig. 3) ---------------------------------------------------------------------


@pytest.mark.parametrize("p", [0.0, 0.5, 2.0])
def test_where_a_body_deforms_in_one_way_only_dry_damping_is_exact_too(p, monkeypatch):
    """One brick, stretched along x: there is no other mode that the damping could push."""
    decay = load("power_law_decay")
    brick = sp.HexMesh.box(size=(1, 1, 1), cells=(1, 1, 1))
    body = sp.Body(brick, sp.Corotational(young=1e6, poisson=0.0), fixed=brick.where(x=0))
    stretch = brick.vertices * [1.0, 0.0, 0.0]
    mass = np.vdot(stretch, body.mass_times(stretch))
    omega = np.sqrt(1e6 / mass)  # E A/L with A = L = 1
    for name, value in {
        "beam": brick, "body": body, "omega": omega, "period": 2 * np.pi / omega,
        "mode": stretch / np.sqrt(mass), "start": 0.01 * np.sqrt(mass),
    }.items():  # fmt: skip
        monkeypatch.setattr(decay, name, value)
    times, tops = decay.peaks(decay.swinging(p))
    assert len(tops) >= 8
    np.testing.assert_allclose(tops, decay.amplitude(p, times), atol=4e-3)


# -- leaning blocks (Fig. 9) -----------------------------------------------------------------


@pytest.fixture(scope="module")
def leaning():
    return load("leaning_blocks")


def critical_friction(leaning, angle: float) -> float:
    """Of the block as it is: its centre is half a thickness off the line between its feet."""
    theta = np.radians(angle)
    foot, top = leaning.LENGTH * np.cos(theta), leaning.LENGTH * np.sin(theta)
    lever = foot / 2 - leaning.THICKNESS / 2 * np.sin(theta)  # of the weight about the foot

    # Both feet at their limit: wall N₂ = μ N₁, floor N₁ (1 + μ²) = W
    def spare(mu: float) -> float:
        return (mu * top + mu**2 * foot) / (1 + mu**2) - lever

    return float(brentq(spare, 0.01, 2.0))


@pytest.mark.parametrize("angle", [60, 40])
def test_a_block_has_the_limit_of_statics(leaning, angle):
    limit = critical_friction(leaning, angle)
    assert leaning.let_lean(angle, 1.03 * limit, sp.TRBDF2()).stood
    assert not leaning.let_lean(angle, 0.98 * limit, sp.TRBDF2()).stood


@pytest.mark.verify
def test_a_sudden_weight_shakes_a_block_loose(leaning):
    """With short steps as with long ones: it is so, not an error of the integrator."""
    for dt in (0.02, 0.01):
        sudden = leaning.let_lean(30, 0.6, sp.TRBDF2(), loading=1e-9, dt=dt)
        assert not sudden.stood, dt


# -- observed order (Fig. 8) -----------------------------------------------------------------


@pytest.mark.verify
def test_strain_rate_damping_needs_the_correction_where_strains_are_large():
    example = load("dissipation_order")
    strained = replace(example.SCENES[1], damping=sp.StrainRate(shear=100.0, bulk=50.0))
    exact = strained.end(sp.RK4(), 1000, sp.Newton())

    def order(kind: sp.Dissipation) -> float:
        solver = replace(example.WAYS["ADMM, balance"], dissipation=kind)
        ends = [strained.end(sp.TRBDF2(), steps, solver) for steps in (40, 80)]
        return example.order(np.array([np.linalg.norm(end - exact) for end in ends]))

    assert order(sp.Dissipation.FIRST_ORDER) == pytest.approx(1, abs=0.25)
    assert order(sp.Dissipation.SECOND_ORDER) == pytest.approx(2, abs=0.15)


# -- a spinning ball (Fig. 5) ----------------------------------------------------------------


def test_a_ball_that_spins_the_other_way_rolls_the_other_way(monkeypatch):
    example = load("spinning_ball")
    monkeypatch.setattr(example, "SPIN", -example.SPIN)
    monkeypatch.setattr(example, "DURATION", 0.3)
    rows, _ = example.dropped(example.FRICTION)
    assert rows[-1, 3] < 1.2 * example.rolling_speed() < 0


# -- a sliding block (Fig. 4) ----------------------------------------------------------------


def test_friction_stops_a_block_on_a_belt_at_the_speed_of_the_belt(monkeypatch):
    """What friction acts on is the motion over the floor, not the motion."""
    example = load("sliding_block")
    belt = sp.Plane(friction=example.MU, motion=sp.Rails.path(position=lambda t: (0.4 * t, 0, 0)))
    monkeypatch.setattr(example, "floor", belt)
    speed = example.speed(example.slide(sp.BDF2(), sp.Newton()))
    assert speed[round(0.5 / example.DT) :] == pytest.approx(0.4, abs=0.01)
    assert speed[round(0.2 / example.DT)] == pytest.approx(1 - 0.2 * 0.2 * 9.81, abs=0.01)
