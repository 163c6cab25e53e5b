"""Crowds and free bodies with dampings that are sums over points: by their laws, as from Python."""

from __future__ import annotations

import copy
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from tests.reduction.conftest import relative
from tests.reduction.runtime.floating_bodies import small, thrown
from tests.reduction.runtime.test_law_steps import (
    DAMPINGS,
    every_damping,
    every_kind,
    from_python,
    model,
    released,
    with_examples,
)

import supple as sp
from supple.reduction.damping.points import CubatureDamping

COPIES = 3
SOLVER = sp.DenseNewton(tolerance=1e-12, max_iterations=100)
every_use = pytest.mark.parametrize("name", ["base", "beside", "both"])


def refuse(self: Any, q: Any, v: Any) -> Any:
    raise AssertionError("evaluated from Python")


def without_python() -> Any:
    """Dampings that must be known by their laws."""
    return patch.object(CubatureDamping, "evaluate", refuse)


# -- crowds --------------------------------------------------------------------------------


def crowd(*, cubature: bool, **options: Any) -> sp.CrowdSimulation:
    """Bent by shares of a fifth of their length and let go."""
    one = released(cubature=cubature)
    given = {"dt": 1 / 240, "integrator": sp.Bathe(), "solver": SOLVER} | options
    many = model(cubature=cubature).simulation(copies=COPIES, **given)
    shares = np.linspace(0.3, 1.0, COPIES)[:, None]
    many.q, many.v = shares * one.q, shares[::-1] * one.v
    return many


def assert_crowd_as_from_python(within: float = 1e-9, **options: Any) -> None:
    with from_python():
        wanted = crowd(**options)
        wanted.run_steps(4)
    found = crowd(**options)
    with without_python():
        found.run_steps(4)
    assert wanted.rescued == found.rescued == 0  # one that is cut would be another motion
    assert relative(found.q, wanted.q) < within
    assert relative(found.v, wanted.v) < within


@every_kind
@every_damping
def test_crowds_move_as_from_python(cubature, name):
    assert_crowd_as_from_python(cubature=cubature, damping=DAMPINGS[name])


@every_kind
@every_use
def test_crowds_with_examples_move_as_from_python(cubature, name):
    assert_crowd_as_from_python(cubature=cubature, damping=with_examples(name, cubature=cubature))


def test_crowds_in_single_precision_move_as_from_python():
    # four steps of numbers with seven digits, solved to 8 times their rounding
    options = {"damping": DAMPINGS["list"], "dtype": np.float32, "solver": sp.DenseNewton()}
    assert_crowd_as_from_python(1e-4, cubature=False, **options)


# -- free bodies ---------------------------------------------------------------------------


def flight(**options: Any) -> sp.FloatingSimulation:
    return thrown(small(), **{"dt": 1 / 960, "integrator": sp.TRBDF2(), "solver": SOLVER} | options)


def assert_flight_is(found: sp.FloatingSimulation, wanted: sp.FloatingSimulation) -> None:
    assert wanted.stats.cut == found.stats.cut == 0  # one that is cut would be another motion
    for name in ("q", "v", "rotation", "spin"):
        assert relative(getattr(found, name), getattr(wanted, name)) < 1e-9


def assert_flight_as_from_python(**options: Any) -> None:
    with from_python():
        wanted = flight(**options)
        wanted.run_steps(6)
        assert not wanted.is_compiled
    found = flight(**options)
    found.step()  # the first acceleration is found from Python
    with without_python():
        found.run_steps(5)
    assert found.is_compiled
    assert_flight_is(found, wanted)


@every_damping
def test_free_bodies_fly_as_from_python(name):
    assert_flight_as_from_python(damping=DAMPINGS[name])


@pytest.mark.parametrize("rule", [sp.BackwardEuler, sp.BDF2, sp.Newmark])
def test_free_bodies_fly_as_from_python_by_any_rule(rule):
    assert_flight_as_from_python(damping=DAMPINGS["list"], integrator=rule())


def test_steps_that_laws_do_not_solve_are_taken_from_python():
    """The matrix of a curve over the rate is a definite one near it, and leads nowhere in one."""
    options = {"damping": DAMPINGS["spline over rate"], "dt": 1 / 240}
    with from_python():
        wanted = flight(**options)
        wanted.run_steps(6)
    evaluate, evaluations = CubatureDamping.evaluate, 0

    def count(self: Any, q: Any, v: Any) -> Any:
        nonlocal evaluations
        evaluations += 1
        return evaluate(self, q, v)

    found = flight(**options)
    with patch.object(CubatureDamping, "evaluate", count):
        found.run_steps(6)
    assert evaluations > 1  # more than the first acceleration
    assert_flight_is(found, wanted)


def test_laws_leave_the_spin_alone():
    """Sums over points of a damping of strains take no momentum."""
    live = thrown(small(), damping=DAMPINGS["power law"], dt=1 / 240)
    before = live.spin_momentum
    live.run_steps(50)
    assert relative(live.spin_momentum, before) < 1e-10


@pytest.mark.parametrize("name", ["power law", "examples"])
def test_copies_of_free_bodies_fly_on_with_the_same_damping(name):
    shape = small().vectors[0]
    examples = sp.ExampleDamping(
        sp.Rayleigh(stiffness=2e-3), [sp.Example(0.1 * shape / np.abs(shape).max(), 9.0)]
    )
    live = thrown(small(), damping=DAMPINGS.get(name, examples), dt=1 / 240)
    live.run_steps(3)
    again = copy.deepcopy(live)
    for each in (live, again):
        each.run_steps(5)
    assert again.q.tobytes() == live.q.tobytes()
    assert again.is_compiled == live.is_compiled
