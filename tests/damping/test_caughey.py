"""Caughey damping: ratios asked and got, in the matrix and in motion."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers import EXACT, soft
from tests.refusals import refusals, refused

import supple as sp
from supple.bodies.shape import Shape
from supple.damping.caughey import Caughey, lowest_point

MESH = sp.TetMesh.box((0.4, 0.2, 0.2), (2, 1, 1))
N = MESH.n_vertices
either_mass = pytest.mark.parametrize(
    "mass_model", [sp.ConsistentMass(), sp.LumpedMass()], ids=["exact", "lumped"]
)


def body(**options) -> sp.Body:
    defaults = {"fixed": MESH.where(x=0), "mass_model": sp.LumpedMass()}
    return sp.Body(MESH, soft(sp.StVK), **(defaults | options))


def all_modes(of: sp.Body) -> tuple[np.ndarray, np.ndarray]:
    """Every ω², ascending, and its shape, mass-orthonormal, by a dense eigensolver."""
    free = np.flatnonzero(of.free)
    K, M = (A.toarray()[np.ix_(free, free)] for A in (of.stiffness(np.zeros((N, 3))), of.mass))
    squares, vectors = scipy.linalg.eigh(K, M)
    shapes = np.zeros((len(free), 3 * N))
    shapes[:, free] = vectors.T
    return squares, shapes.reshape(-1, N, 3)


def free_matrix(damping: sp.Damping, of: sp.Body) -> np.ndarray:
    """Ĉ among the free components, column by column from forces."""
    bound, rest = damping.bind(of), Shape(of, np.zeros((N, 3)), order=2)
    units = np.eye(3 * N).reshape(-1, N, 3)[of.free.ravel()]
    return np.array([bound.evaluate(rest, unit)[1][of.free] for unit in units]).T


def spread_ratios(squares: np.ndarray) -> Caughey:
    """Ratios that no two coefficients can give, positive up to the fastest mode."""
    f = np.sqrt(squares) / (2 * np.pi)
    chosen = [f[0], f[4], f[len(f) // 2], f[-1]]
    return Caughey.from_ratios(chosen, (0.05, 0.02, 0.03, 0.08))


# -- ratios ----------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 5), st.integers(0, 10**6), st.floats(-3, 4))
def test_ratios_asked_and_got(count, seed, unit):
    """At frequencies of any unit, a factor of 1.3 to 4 apart, in any order."""
    rng = np.random.default_rng(seed)
    f = 10.0**unit * np.cumprod(rng.uniform(1.3, 4.0, count))
    zeta = rng.uniform(0.0, 0.3, count) + 1e-3
    order = rng.permutation(count)
    damping = Caughey.from_ratios(f[order], zeta[order])
    assert len(damping.coefficients) == count
    np.testing.assert_allclose(damping.ratio(f), zeta, rtol=1e-7)
    assert damping.ratio(float(f[0])) == pytest.approx(zeta[0], rel=1e-7)


def test_two_ratios_are_rayleighs():
    rayleigh = sp.Rayleigh.from_ratios((1.0, 6.0), (0.02, 0.03))
    found = Caughey.from_ratios((1.0, 6.0), (0.02, 0.03)).coefficients
    np.testing.assert_allclose(found, (rayleigh.mass, rayleigh.stiffness), rtol=1e-13)


@either_mass
def test_two_coefficients_are_rayleigh_exactly(mass_model):
    """Also for the velocities of supports, and with a free body."""
    for fixed in (None, MESH.where(x=0)):
        of = body(mass_model=mass_model, fixed=fixed)
        rest = Shape(of, np.zeros((N, 3)))
        v = np.random.default_rng(0).normal(size=(N, 3))
        for alpha, beta in ((0.7, 0.02), (0.0, 0.02), (0.7, 0.0)):
            one = Caughey((alpha, beta)).bind(of)
            two = sp.Rayleigh(mass=alpha, stiffness=beta, at=sp.StiffnessAt.REST).bind(of)
            found, expected = (bound.evaluate(rest, v)[1] for bound in (one, two))
            assert one.pattern is None
            assert np.abs(found - expected).max() <= 1e-14 * np.abs(expected).max()


# -- the matrix ------------------------------------------------------------------------------


def test_modes_of_the_body_are_modes_of_the_damping():
    """Φᵀ C Φ = diag(2 ζ_i ω_i), for every mode of a body with some components held."""
    free = np.ones((N, 3), dtype=bool)
    free[MESH.where(x=0)] = False
    free[MESH.where(x=0.4), 1] = False
    of = body(fixed=~free)
    squares, shapes = all_modes(of)
    damping = spread_ratios(squares)
    C_shapes = damping.bind(of).multiply(Shape(of, np.zeros((N, 3))), shapes)
    found = np.tensordot(shapes, C_shapes, ((1, 2), (1, 2)))
    w = np.sqrt(squares)
    expected = np.diag(2 * damping.ratio(w / (2 * np.pi)) * w)
    assert np.abs(found - expected).max() <= 1e-11 * np.abs(expected).max()


def test_body_carried_by_its_supports_feels_no_stiffness_damping():
    """Without α₀ the damping of a translation is nothing, held components or not."""
    of = body()
    bound = Caughey((0.0, 1e-3, 1e-8, 1e-13)).bind(of)
    rest = Shape(of, np.zeros((N, 3)))
    v = np.broadcast_to([1.0, -2.0, 0.5], (N, 3)).copy()
    scale = np.abs(bound.evaluate(rest, v * of.free)[1]).max()
    assert np.abs(bound.evaluate(rest, v)[1]).max() <= 1e-12 * scale


def test_all_modes_as_examples_reproduce_caughey():
    """The identity of §4.1.2 for a complete set of modes."""
    of = body()
    squares, shapes = all_modes(of)
    damping = spread_ratios(squares)
    alpha, beta = 0.3, 0.01
    rayleigh = sp.Rayleigh(mass=alpha, stiffness=beta, at=sp.StiffnessAt.REST)
    powers = squares[:, None] ** np.arange(len(damping.coefficients))
    gamma = powers @ damping.coefficients / (alpha + beta * squares)
    expected = free_matrix(damping, of)
    for symmetric in (False, True):
        examples = [sp.Example(x, g) for x, g in zip(shapes, gamma, strict=True)]
        found = free_matrix(sp.ExampleDamping(rayleigh, examples, symmetric=symmetric), of)
        assert np.abs(found - expected).max() <= 1e-9 * np.abs(expected).max()
    # with the first k modes: the same on their span, Rayleigh damping on the others
    k = 5
    part = free_matrix(sp.ExampleDamping(rayleigh, examples[:k]), of)
    base = free_matrix(rayleigh, of)
    free = np.flatnonzero(of.free)
    flat = shapes.reshape(len(shapes), -1)[:, free]
    size = np.abs(flat).max() * np.abs(base).max()
    for i, x in enumerate(flat):
        wanted = expected @ x if i < k else base @ x
        assert np.abs(part @ x - wanted).max() <= 1e-10 * size


# -- motion ----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [0, 1, 4, 9])
def test_modes_decay_as_asked(mode):
    """ζ and ω from the motion of one mode in a simulation.

    The trapezoidal rule advances (q, q̇) by the Cayley transform of its linear equation, so that
    one is found back from the other without any error of the time step. The difference of two
    motions from opposite starts is free of the material's quadratic terms; the rest is rounding.
    """
    of = body()
    squares, shapes = all_modes(of)
    damping = spread_ratios(squares)
    w = float(np.sqrt(squares[mode]))
    momentum = of.mass_times(shapes[mode])
    h = 0.2 / w
    q = np.zeros((12, 2))
    for side in (1.0, -1.0):
        sim = sp.Simulation(of, damping=damping, integrator=sp.Trapezoidal(), dt=h, solver=EXACT)
        sim.state.u = side * 1e-6 * shapes[mode]
        for moment in q:
            moment += [side * np.vdot(momentum, x) for x in (w * sim.state.u, sim.state.v)]
            sim.step()
    T = np.linalg.lstsq(q[:-1], q[1:], rcond=None)[0].T
    A = (2 / h) * (T - np.eye(2)) @ np.linalg.inv(T + np.eye(2))
    wanted = damping.ratio(w / (2 * np.pi))
    assert np.sqrt(np.linalg.det(A)) == pytest.approx(w, rel=1e-9)
    assert -np.trace(A) / (2 * w) == pytest.approx(wanted, rel=1e-8)


def test_more_rings_more_coupling():
    """Each further coefficient reaches one cell farther, and the simulation takes it."""
    mesh = sp.TetMesh.box((1.0, 0.2, 0.2), (8, 1, 1))
    of = sp.Body(mesh, soft(sp.StVK), fixed=mesh.where(x=0), mass_model=sp.LumpedMass())
    blocks = [
        pattern.n_blocks if (pattern := Caughey(alphas).bind(of).pattern) else 0
        for alphas in ((1.0, 1e-3), (1.0, 1e-3, 1e-7), (1.0, 1e-3, 1e-7, 1e-11))
    ]
    assert 0 == blocks[0] < blocks[1] < blocks[2]
    sim = sp.Simulation(of, damping=Caughey((1.0, 1e-3, 1e-7)), dt=0.02, gravity=(0, 0, -9.81))
    motion = sim.run(0.2)
    total = motion.total_energy + motion.dissipated
    assert (np.diff(motion.dissipated) > 0).all()
    assert np.abs(total - total[0]).max() <= 2e-3 * np.abs(motion.gravitational).max()


# -- what is refused -------------------------------------------------------------------------


def test_exact_mass_refused_for_more_than_two():
    exact = body(mass_model=sp.ConsistentMass())
    refused(r"mass_model=LumpedMass\(\)", Caughey((1.0, 1e-3, 1e-8)).bind, exact)
    Caughey((1.0, 1e-3, 0.0)).bind(exact)


@either_mass
def test_negative_damping_refused_where_the_body_vibrates(mass_model):
    """Σ α_j λ^j may fall below zero beyond the fastest vibration, but not before it."""
    of = body(mass_model=mass_model)
    fastest = float(all_modes(of)[0][-1])
    Caughey((1.0, -0.99 / fastest)).bind(of)
    refused(r"less than nothing.*even number", Caughey((1.0, -1.05 / fastest)).bind, of)
    refused("less than nothing", Caughey((-1e-3, 1.0)).bind, of)


def test_negative_in_the_middle_refused():
    of = body()
    fastest = float(all_modes(of)[0][-1])
    shape, lift = np.array([1.0, -4.5, 4.5]), np.array([0.13, 0, 0])  # lowest is −0.125, at ½
    with pytest.raises(sp.InputError, match="less than nothing") as caught:
        Caughey(tuple(shape / fastest ** np.arange(3))).bind(of)
    assert f"{np.sqrt(fastest / 2) / (2 * np.pi):.4g} Hz" in str(caught.value)
    Caughey(tuple((shape + lift) / fastest ** np.arange(3))).bind(of)


def test_body_of_few_free_components():
    held = np.ones((N, 3), dtype=bool)
    held[0, 0] = False
    of = body(fixed=held)
    fastest = float(all_modes(of)[0][-1])
    Caughey((1.0, -0.99 / fastest)).bind(of)
    refused("less than nothing", Caughey((1.0, -1.05 / fastest)).bind, of)
    Caughey((1.0, -1.0)).bind(body(fixed=np.ones((N, 3), dtype=bool)))  # nothing can move


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 6), st.integers(0, 10**6))
def test_lowest_point_misses_nothing(degree, seed):
    """Polynomials with all roots in or around (0, 1), spread over decades, against a fine grid."""
    rng = np.random.default_rng(seed)
    roots = 10.0 ** rng.uniform(-5, 1, degree)
    a = np.polynomial.polynomial.polyfromroots(roots) * rng.choice([-1.0, 1.0])
    t = np.concatenate([[0.0], np.logspace(-8, 0, 2000)])
    values, scale = (np.polynomial.Polynomial(c)(t) for c in (a, np.abs(a)))
    low = lowest_point(a)
    if (values < -1e-9 * scale).any():
        assert low is not None
    if low is not None:
        assert np.polynomial.Polynomial(a)(low) < 0


@pytest.mark.parametrize("coefficients", [(), ((1.0, 2.0),), (np.nan,), ("much",), 1.0, None])
def test_bad_coefficients_named(coefficients):
    refused("coefficients", Caughey, coefficients)


test_bad_ratios_named = refusals(
    (((), ()), "frequencies"),
    (((0.0, 1.0), (0.1, 0.1)), "frequencies"),
    (((1.0, 1.0), (0.1, 0.1)), "frequencies"),
    (((1.0, np.inf), (0.1, 0.1)), "frequencies"),
    (((1.0, 2.0), (0.1,)), "ratios"),
    (((1.0, 2.0), (0.1, -0.1)), "ratios"),
    (((1.0, np.nextafter(1.0, 2.0)), (0.1, 0.2)), "cannot be met"),
    ((tuple(np.logspace(0, 3, 12)), (0.1, 0.3) * 6), "cannot be met"),
    (((1e-200, 1.0, 1e200), (0.1, 0.1, 0.1)), "cannot be met"),
    make=lambda given: Caughey.from_ratios(*given),
)


@pytest.mark.parametrize("frequency", [0.0, -1.0, np.nan, [1.0, 0.0], "fast"])
def test_bad_frequency_named(frequency):
    refused("frequency", Caughey((1.0, 1e-3)).ratio, frequency)


def test_equal_descriptions_are_equal():
    assert Caughey([1, 2]) == Caughey((1.0, 2.0)) != Caughey((1.0, 3.0))
    assert Caughey((1.0, 0.0, 2.0, 0.0)).degree == 2
