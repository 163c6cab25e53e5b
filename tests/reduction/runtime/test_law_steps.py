"""Steps with dampings that are sums over points: compiled, by their laws, as from Python."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from tests.damping.test_every_space import instance, solid
from tests.damping.test_every_space import model as model_of_solid
from tests.reduction.conftest import IMPLICIT, every_cell, relative, two_part_beam

import supple as sp
from supple.bodies.shape import Shape
from supple.core.errors import InputError
from supple.damping import DAMPINGS as KINDS
from supple.damping import Damping
from supple.reduction.damping.points import CubatureDamping
from supple.reduction.damping.rules import reduced_damping

TIGHT = sp.DenseNewton(tolerance=1e-13, max_iterations=100)
CURVE = sp.Curve.bezier([(0.5, 0.3), (1.0, 1.0), (1.6, 4.0)])
BASE = sp.StrainRate(shear=60.0, bulk=20.0)
STRETCH = sp.PowerLaw(exponent=0.5, strength=20.0)
PRINCIPAL = sp.PrincipalStrain(stiffness=2e-3)
DAMPINGS: dict[str, Any] = {
    "power law": STRETCH,
    "steep power law": sp.PowerLaw(exponent=2.0, strength=20.0),
    "power of a law": sp.PowerLaw(exponent=0.5, of=BASE, scale=30.0),
    "power of matched": sp.PowerLaw(
        exponent=1.5, of=sp.MatchedStrainRate(stiffness=2e-3), scale=30.0
    ),
    "spline": sp.SplineDamping(BASE, CURVE),
    "spline over rate": sp.SplineDamping(
        BASE, sp.Curve.bezier([(0.0, 0.5), (2.0, 1.0), (6.0, 4.0)]), over=sp.SplineOver.RATE
    ),
    "spline of principal": sp.SplineDamping(PRINCIPAL, CURVE),
    "principal": PRINCIPAL,
    "conserving": sp.MomentumConserving([BASE, sp.MatchedStrainRate(stiffness=1e-3)]),
    "list": [sp.Rayleigh(mass=0.3, stiffness=2e-3), STRETCH, PRINCIPAL],
}
FEW = ["power law", "spline over rate", "list"]
every_damping = pytest.mark.parametrize("name", DAMPINGS)
every_kind = pytest.mark.parametrize("cubature", [False, True], ids=["polynomial", "cubature"])


@cache
def model(*, cubature: bool) -> sp.ReducedModel:
    stiffer = sp.StVK(young=2e5, poisson=0.3, density=1000)
    body = two_part_beam(far=stiffer)
    basis = sp.modal_derivative_basis(body, modes=4, size=8)
    if not cubature:
        return sp.reduce(body, basis)
    return sp.reduce(body, basis, cubature=every_cell(body, basis.vectors))


def released(*, cubature: bool, **options: Any) -> sp.ReducedSimulation:
    """Bent by a fifth of its length and let go."""
    of = model(cubature=cubature)
    live = of.simulation(**{"dt": 1 / 60, "integrator": sp.Bathe(), "solver": TIGHT} | options)
    q = np.linspace(1.0, 0.2, of.size) / np.sqrt(np.diag(of.stiffness(np.zeros(of.size))))
    live.q = 0.2 * q / np.abs(of.displacements(q)).max()
    live.v = 8.0 * np.roll(live.q, 1)
    return live


def from_python() -> Any:
    """Dampings as if they had no laws."""
    return patch.object(CubatureDamping, "laws", None)


def assert_as_from_python(steps: int, within: float = 1e-9, **options: Any) -> None:
    """Positions and velocities of every step are the same, within a share of the largest."""
    with from_python():
        wanted = released(**options).trace(steps)
    for one, other in zip(released(**options).trace(steps), wanted, strict=True):
        assert relative(one, other) < within


@every_kind
@every_damping
@pytest.mark.parametrize("rule", IMPLICIT, ids=lambda rule: rule.__name__)
def test_steps_are_those_from_python(cubature, name, rule):
    assert_as_from_python(4, cubature=cubature, damping=DAMPINGS[name], integrator=rule())


def with_examples(name: str, *, cubature: bool) -> Any:
    """Dampings at points, as the base of examples and beside them."""
    shapes = [0.1 * phi / np.abs(phi).max() for phi in model(cubature=cubature).vectors[:2]]
    curve = sp.Curve.bezier([(0.0, 1.0), (1.0, 4.0)])
    examples = [sp.Example(shapes[0], curve), sp.Example(shapes[1], 3.0)]
    linear = sp.Rayleigh(stiffness=1e-3)
    return {
        "base": sp.ExampleDamping([linear, PRINCIPAL], examples),
        "beside": [sp.ExampleDamping(linear, examples), STRETCH, PRINCIPAL],
        "both": [sp.ExampleDamping(PRINCIPAL, examples), STRETCH],
    }[name]


@pytest.mark.verify
@every_kind
@pytest.mark.parametrize("name", ["base", "beside", "both"])
def test_steps_with_examples_are_those_from_python(cubature, name):
    """Examples scale what of their base is at points, and leave what is beside it.

    Without a cubature, and from Python, what damping takes from the shape is not in the matrix, and
    each correction is up to 0.92 of the one before: 400 of them bring it to 1e-14.
    """
    patient = sp.DenseNewton(tolerance=1e-13, max_iterations=400)
    options = {"cubature": cubature, "damping": with_examples(name, cubature=cubature)}
    assert_as_from_python(4, **options, solver=patient)
    with from_python():
        python = released(**options, solver=patient)
        python.run_steps(4)
    live = released(**options, solver=patient)
    live.run_steps(4)
    assert python.stats.cut == live.stats.cut == 0  # one that was cut would be another motion


def kinds_of(given: Any) -> set[type[Damping]]:
    return {type(each) for each in (given if isinstance(given, list) else [given])}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_damping_with_laws_is_here(kind):
    try:
        found = reduced_damping(instance(kind, solid()), model_of_solid(cubature=False))
    except InputError:
        return  # it is not one of solids
    if kind is not sp.ExampleDamping and any(each.laws for each in (*found.points, *found.beside)):
        assert kind in set().union(*map(kinds_of, DAMPINGS.values()))


def assert_python_is_not_asked(live: sp.ReducedSimulation, monkeypatch: Any) -> None:
    live.step()  # the first acceleration is found from Python

    def refuse(self: Any, q: Any, v: Any) -> Any:
        raise AssertionError("evaluated from Python")

    monkeypatch.setattr(CubatureDamping, "evaluate", refuse)
    live.run_steps(3)


@every_kind
@every_damping
def test_steps_do_without_python(cubature, name, monkeypatch):
    live = released(cubature=cubature, damping=DAMPINGS[name])
    assert_python_is_not_asked(live, monkeypatch)


@every_kind
@pytest.mark.parametrize("name", ["base", "beside", "both"])
def test_steps_with_examples_do_without_python(cubature, name, monkeypatch):
    live = released(cubature=cubature, damping=with_examples(name, cubature=cubature))
    assert_python_is_not_asked(live, monkeypatch)


def test_dampings_without_laws_are_stepped_from_python():
    evaluations = 0
    evaluate = CubatureDamping.evaluate

    def count(self: Any, q: Any, v: Any) -> Any:
        nonlocal evaluations
        evaluations += 1
        return evaluate(self, q, v)

    with from_python(), patch.object(CubatureDamping, "evaluate", count):
        live = released(cubature=False, damping=STRETCH)
        live.run_steps(3)
        assert not live.is_compiled
        assert evaluations > live.stats.iterations
    assert released(cubature=False, damping=STRETCH).is_compiled


@pytest.mark.parametrize("iterations", [1, 3])
@pytest.mark.parametrize("name", ["steep power law", "spline", "principal", "conserving"])
def test_best_effort_is_that_from_python(name, iterations):
    """Each iteration has a matrix of its own, and goes where it goes from Python."""
    solver = sp.DenseNewton(iterations=iterations)
    assert_as_from_python(6, cubature=False, damping=DAMPINGS[name], solver=solver)


@every_kind
@pytest.mark.parametrize("name", FEW)
def test_steps_that_are_cut_are_those_from_python(cubature, name):
    """No step is solved in two iterations; each is taken in parts, with patience."""
    few = sp.DenseNewton(max_iterations=2, tolerance=1e-13)
    options = {"cubature": cubature, "damping": DAMPINGS[name], "integrator": sp.BDF2()}
    assert_as_from_python(3, **options, solver=few)
    live = released(**options, solver=few)
    live.run_steps(3)
    assert live.stats.cut == 3


@every_kind
@pytest.mark.parametrize("name", FEW)
def test_snapshots_go_back_to_the_same_bytes(cubature, name):
    live = released(cubature=cubature, damping=DAMPINGS[name], solver=sp.DenseNewton())
    live.run_steps(7)
    kept = live.snapshot()
    again = copy.deepcopy(live)
    first = live.trace(9)
    live.restore(kept)
    for found in (live.trace(9), again.trace(9)):
        assert [x.tobytes() for x in found] == [x.tobytes() for x in first]


@every_kind
@pytest.mark.parametrize("name", FEW)
def test_one_by_one_is_the_same_as_at_once(cubature, name):
    options = {"cubature": cubature, "damping": DAMPINGS[name], "solver": sp.DenseNewton()}
    one, many = released(**options), released(**options)
    for _ in range(8):
        one.step()
    many.run_steps(8)
    assert one.q.tobytes() == many.q.tobytes()
    assert one.v.tobytes() == many.v.tobytes()


@pytest.mark.parametrize("name", ["spline", "principal"])
def test_matrices_are_kept_without_more_iterations(name):
    """Damping is little beside mass and stiffness: an old matrix of it does."""
    options = {"cubature": False, "damping": DAMPINGS[name], "solver": sp.DenseNewton()}
    with from_python():
        python = released(**options)
        python.run_steps(60)
    live = released(**options)
    live.run_steps(60)
    assert live.stats.iterations <= 1.15 * python.stats.iterations


def test_damping_of_many_cells_is_summed_over_few():
    """Beyond some hundred cells a cubature is trained, and compared with all of them."""
    mesh = sp.TetMesh.box(size=(1.0, 0.2, 0.2), cells=(12, 3, 3))
    body = sp.Body(mesh, sp.StVK(young=1e5, poisson=0.3), fixed=mesh.where(x=0))
    of = sp.reduce(body, sp.modal_derivative_basis(body, modes=3, size=6))
    found = reduced_damping(STRETCH, of)
    few = found.beside[0]
    assert isinstance(few, CubatureDamping)
    assert len(few.at.volumes) < mesh.n_cells / 2
    rng = np.random.default_rng(2)
    q, v = rng.normal(size=(2, of.size)) / np.sqrt(np.diag(of.stiffness(np.zeros(of.size))))
    q, v = (0.05 * x / np.abs(of.displacements(x)).max() for x in (q, v))
    bound = STRETCH.bind(body)
    shape = Shape(body, of.displacements(q))
    wanted = of.vectors.reshape(of.size, -1) @ bound.evaluate(shape, of.displacements(v))[1].ravel()
    assert relative(few.evaluate(q, v)[0], wanted) < 0.25
