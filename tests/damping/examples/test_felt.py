"""What is felt of strengths, and what is told where that is something else."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from tests.damping.derivatives import matrix_of
from tests.damping.examples.scenes import block
from tests.helpers import soft

import supple as sp
from supple.bodies.shape import Shape
from supple.reduction.damping.rules import reduced_damping

MESH = block()
BODY = sp.Body(MESH, soft(sp.StVK), fixed=MESH.where(x=(None, 0.1)))
BASE = sp.Rayleigh(mass=1.0)


def pair(degrees: float, gammas: tuple, **options) -> sp.ExampleDamping:
    """Two examples at an angle, in the sense of the base."""
    rng = np.random.default_rng(0)
    first, second = np.where(BODY.free, rng.normal(size=(2, *MESH.vertices.shape)), 0.0)

    def product(a: np.ndarray, b: np.ndarray) -> float:
        return float(np.vdot(a, BODY.mass_times(b)))

    first /= np.sqrt(product(first, first))
    second -= product(first, second) * first
    second /= np.sqrt(product(second, second))
    angle = np.radians(degrees)
    other = np.cos(angle) * first + np.sin(angle) * second
    named = zip((first, other), gammas, ("a", "b"), strict=True)
    return sp.ExampleDamping(BASE, [sp.Example(x, g, name=n) for x, g, n in named], **options)


def measured(damping: sp.ExampleDamping) -> np.ndarray:
    """xᵢᵀĈxᵢ / xᵢᵀCxᵢ by forces."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sp.StrengthWarning)
        bound = damping.bind(BODY)
    rest = Shape(BODY, np.zeros_like(MESH.vertices), order=2)
    return np.array(
        [
            np.vdot(e.shape, bound.evaluate(rest, e.shape)[1])
            / np.vdot(e.shape, BASE.bind(BODY).evaluate(rest, e.shape)[1])
            for e in damping.examples
        ]
    )


def by_hand(degrees: float, gammas: tuple) -> np.ndarray:
    """The same from Eq. 8 and App. B, for unit examples at an angle."""
    angle = np.radians(degrees)
    R = np.array([[1.0, np.cos(angle)], [0.0, np.sin(angle)]])
    Pi = R @ np.diag(gammas) @ np.linalg.inv(R)
    lam, v = np.linalg.eigh(0.5 * (Pi + Pi.T))
    Pi -= (v * np.minimum(lam, 0.0)) @ v.T
    return np.diag(R.T @ Pi @ R)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize(
    ("degrees", "guide"),
    [(5, ["28", "34"]), (30, ["3.7", "11"]), (60, ["0.72", "10"]), (90, ["0.1", "10"])],
)
def test_what_two_examples_at_an_angle_get(degrees, guide, symmetric):
    """As forces show, as the paper has it, and as the guide says."""
    damping = pair(degrees, (0.1, 10.0), symmetric=symmetric)
    got = sp.felt_strengths(damping, BODY)
    np.testing.assert_allclose(got, measured(damping), rtol=1e-9)
    np.testing.assert_allclose(got, by_hand(degrees, (0.1, 10.0)), rtol=1e-9)
    assert [f"{each:.2g}" for each in got] == guide


def test_contradictions_are_told():
    damping = pair(30, (0.1, 10.0))
    with pytest.warns(sp.StrengthWarning) as told:
        damping.bind(BODY)
    (message,) = (str(each.message) for each in told)
    for part in ("0 ('a') asks for 0.1 and gets 3.74", "1 ('b')", "30°", "made_orthogonal"):
        assert part in message


def test_they_are_told_once():
    """A search that tries other strengths for the same deformations hears of it no more."""
    damping = pair(30, (0.1, 10.0))
    with pytest.warns(sp.StrengthWarning):
        damping.bind(BODY)
    with warnings.catch_warnings():
        warnings.simplefilter("error", sp.StrengthWarning)
        damping.with_curves([0.01, 20.0]).bind(BODY)


def test_nothing_is_told_where_strengths_are_felt():
    with warnings.catch_warnings():
        warnings.simplefilter("error", sp.StrengthWarning)
        for degrees, gammas in ((90, (0.001, 1000.0)), (30, (3.0, 3.0)), (60, (1.0, 1.5))):
            damping = pair(degrees, gammas)
            damping.bind(BODY)
            np.testing.assert_allclose(damping.felt_strengths(BODY), gammas, rtol=1e-9)
        pair(30, (0.1, 10.0), definite=False).bind(BODY)
        made = pair(30, (0.1, 10.0)).made_orthogonal(BODY)
        made.bind(BODY)
    np.testing.assert_allclose(made.felt_strengths(BODY), [0.1, 10.0], rtol=1e-9)
    first, second = (example.shape for example in made.examples)
    assert abs(np.vdot(first, BODY.mass_times(second))) < 1e-12
    assert made.examples[1].name == "b"


def test_curves_are_looked_at_along_each_example():
    """At rest they agree; where the first swings far they do not."""
    rising = sp.Curve.linear([(0.0, 1.0), (1.0, 100.0)])
    damping = pair(20, (rising, 1.0))
    with pytest.warns(sp.StrengthWarning, match="asks for 100"):
        damping.bind(BODY)
    np.testing.assert_allclose(damping.felt_strengths(BODY), [1.0, 1.0], rtol=1e-9)
    assert damping.felt_strengths(BODY, [1.0, 0.0])[1] > 2.0
    with pytest.raises(sp.InputError, match="sizes"):
        damping.felt_strengths(BODY, [1.0])


def test_what_is_felt_is_a_matter_of_the_body():
    """A reduced model has one, which the message names."""
    model = sp.reduce(BODY, sp.modal_derivative_basis(BODY, modes=3, size=5))
    damping = pair(30, (0.1, 10.0))
    for ask in (damping.felt_strengths, damping.made_orthogonal):
        with pytest.raises(sp.InputError, match=r"model\.body"):
            ask(model)
    assert (damping.felt_strengths(model.body) == damping.felt_strengths(BODY)).all()


@pytest.mark.parametrize("symmetric", [False, True])
def test_strengths_taken_as_they_are(symmetric):
    """Π̄ = R Γ R⁻¹ (Fig. 4): Ĉ xᵢ = γᵢ C xᵢ, at the price of motions that gain energy."""
    damping = pair(30, (0.1, 10.0), definite=False, symmetric=symmetric)
    rest = Shape(BODY, np.zeros_like(MESH.vertices), order=2)
    np.testing.assert_allclose(damping.felt_strengths(BODY), [0.1, 10.0], rtol=1e-9)
    np.testing.assert_allclose(measured(damping), [0.1, 10.0], rtol=1e-9)
    free = BODY.free.ravel()
    damped = matrix_of(BODY, damping.bind(BODY), rest, 0 * rest.u)[np.ix_(free, free)]
    C = matrix_of(BODY, BASE.bind(BODY), rest, 0 * rest.u)[np.ix_(free, free)]
    X = np.stack([e.shape.ravel()[free] for e in damping.examples], axis=1)
    if not symmetric:
        wanted = C @ X * [0.1, 10.0]
        np.testing.assert_allclose(damped @ X, wanted, atol=1e-10 * np.abs(wanted).max())
    assert np.linalg.eigvalsh(0.5 * (damped + damped.T))[0] < -1e-3 * np.abs(C).max()


@pytest.mark.parametrize("symmetric", [False, True])
def test_strengths_that_agree_need_no_change(symmetric):
    """Then both forms are one."""
    v = np.where(BODY.free, np.random.default_rng(2).normal(size=MESH.vertices.shape), 0.0)
    rest = Shape(BODY, np.zeros_like(v), order=2)
    kept, raw = (
        pair(60, (1.0, 2.0), definite=definite, symmetric=symmetric).bind(BODY).evaluate(rest, v)
        for definite in (True, False)
    )
    np.testing.assert_allclose(kept[1], raw[1], atol=1e-10 * np.abs(raw[1]).max())


@pytest.mark.parametrize("symmetric", [False, True])
def test_reduced_models_take_strengths_as_they_are_too(symmetric):
    """The motion of a crowd's copy, of one compiled and of one stepped from Python is that of Π̄."""
    damping = pair(30, (0.1, 10.0), definite=False, symmetric=symmetric)
    shapes = [e.shape for e in damping.examples]
    model = sp.reduce(BODY, sp.picked_basis(BODY, shapes))
    X = np.array([model.coordinates(shape) for shape in shapes])
    examples = reduced_damping(damping, model).examples
    C = reduced_damping(BASE, model).constant
    damped = examples.matrix(np.zeros(model.size), np.zeros(model.size), C)
    felt = np.einsum("ki,ij,kj->k", X, damped, X) / np.einsum("ki,ij,kj->k", X, C, X)
    np.testing.assert_allclose(felt, [0.1, 10.0], rtol=1e-9)
    if not symmetric:
        wanted = C @ X.T * [0.1, 10.0]
        np.testing.assert_allclose(damped @ X.T, wanted, atol=1e-9 * np.abs(wanted).max())
    h, rate = 1 / 200, X[0] + X[1]
    live = model.simulation(damping=damping, dt=h, integrator=sp.BackwardEuler())
    crowd = model.simulation(damping=damping, dt=h, integrator=sp.BackwardEuler(), copies=2)
    live.v = rate
    crowd.v = np.stack([rate, 0 * rate])
    live.step()
    crowd.step()
    here = examples.matrix(live.q, live.v, C)  # M (v - v0) / h + C v + f(q) = 0
    terms = [model.mass @ (live.v - rate) / h, here @ live.v, model.force(live.q)]
    assert np.abs(sum(terms)).max() < 1e-5 * max(np.abs(term).max() for term in terms)
    np.testing.assert_allclose(crowd.q[0], live.q, atol=1e-7 * np.abs(live.q).max())
