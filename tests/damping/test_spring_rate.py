"""Strain rate damping of springs: its functions, what it leaves alone, what it does to a spin."""

from __future__ import annotations

import numpy as np
import pytest
from tests.bodies.test_springs import tangle
from tests.damping.derivatives import assembled
from tests.damping.test_rates import MODELS, bound_at
from tests.helpers import EPS, remainder_slopes

import supple as sp
from supple.bodies.shape import Shape


def test_is_what_the_formula_says():
    """R = ½ L η ε̇² and the force η ε̇ n of a spring whose end moves away."""
    L, eta = 2.0, 3.0
    mesh = sp.SpringMesh.chain((0, 0, 0), (L, 0, 0), 1)
    body = sp.SpringNetwork(mesh, stiffness=100.0, mass=1.0)
    shape = Shape(body, np.array([(0.0, 0.0, 0.0), (-2.0, 5.0, 0.0)]))  # turned, 5 m long
    v = np.array([(0.0, 1.0, 0.0), (7.0, 5.0, 0.0)])
    rate = 4.0 / L
    R, force = sp.SpringStrainRate(viscosity=eta).bind(body).evaluate(shape, v)
    assert pytest.approx(0.5 * L * eta * rate**2, rel=1e-14) == R
    assert np.allclose(force, [(0, -eta * rate, 0), (0, eta * rate, 0)], atol=1e-14)
    matched = sp.SpringStrainRate(matched=0.03).bind(body).evaluate(shape, v)[1]
    assert np.allclose(matched, force, atol=1e-13)  # β k = 0.03 · 100


def test_matched_is_rayleigh_at_rest():
    """Where no spring pulls, Eq. 12 and Rayleigh damping are the same."""
    tense = tangle().mesh
    mesh = sp.SpringMesh(tense.vertices, tense.cells)
    body = sp.SpringNetwork(mesh, stiffness=70.0, mass=1.0)
    shape = Shape(body, np.zeros((7, 3)))
    v = np.random.default_rng(2).normal(size=(7, 3))
    ours = sp.SpringStrainRate(matched=0.02).bind(body).evaluate(shape, v)[1]
    theirs = sp.Rayleigh(stiffness=0.02).bind(body).evaluate(shape, v)[1]
    assert np.abs(ours - theirs).max() <= 1e-14 * 100


# -- how it follows the shape ----------------------------------------------------------------


def dropped(body: sp.SpringNetwork, eta: float, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Σ L ∇ε η ∇ε̇ᵀ (Eq. 9), the part that is left out, spring by spring in plain NumPy."""
    total = np.zeros((21, 21))
    for (i, j), L in zip(body.mesh.cells, body.mesh.rest_lengths, strict=True):
        x = (body.mesh.vertices + u)[j] - (body.mesh.vertices + u)[i]
        r = np.linalg.norm(x)
        n = x / r
        by_x = (np.eye(3) - np.outer(n, n)) @ (v[j] - v[i]) / (L * r)  # ∇ε̇
        block = eta * np.outer(n, by_x)
        for a, sign in ((i, -1), (j, 1)):
            for b, other in ((i, -1), (j, 1)):
                total[3 * a : 3 * a + 3, 3 * b : 3 * b + 3] += sign * other * block
    return total


def test_derivative_by_shape_where_springs_lengthen():
    """With no stress to clamp, what is added and what is dropped are together the derivative."""
    eta = 3.0
    body, shape, bound = bound_at(sp.SpringStrainRate(viscosity=eta))
    x = body.mesh.vertices + shape.u
    v = 2.0 * x + np.cross([1.0, -2.0, 0.5], x)  # grows and turns
    kept = assembled(body, bound.add_shape_derivative, shape, v)
    assert np.array_equal(kept, kept.T)
    d = np.random.default_rng(3).normal(size=v.shape)
    change = ((kept + dropped(body, eta, shape.u, v)) @ d.ravel()).reshape(d.shape)
    force = bound.evaluate(shape, v)[1]

    def left(h: float) -> float:
        there = bound.evaluate(Shape(body, shape.u + h * d), v)[1]
        return float(np.linalg.norm(there - force - h * change))

    assert remainder_slopes(left, 1e-3 * 0.5 ** np.arange(4))[-1] == pytest.approx(2, abs=0.1)


def test_derivative_by_shape_is_never_negative():
    body, shape, bound = bound_at(MODELS["viscosity"])
    x = body.mesh.vertices + shape.u
    assert not assembled(body, bound.add_shape_derivative, shape, -x).any()  # all shorten
    v = np.random.default_rng(4).normal(size=x.shape)
    values = np.linalg.eigvalsh(assembled(body, bound.add_shape_derivative, shape, v))
    assert values[0] >= -20 * EPS * values[-1]
    assert values[-1] > 0
