"""Strain rate dissipation of solids, above all where it is matched to the stiffness."""

from __future__ import annotations

import numpy as np
import pytest
from tests.damping.cell_points import TET, body_of, density, elasticity, moving, rates, stretched
from tests.helpers import (
    EPS,
    affine,
    large_deformation,
    remainder_slopes,
    small_mesh,
    soft,
)

import supple as sp
from supple.bodies.shape import Shape
from supple.damping.base import DampingTangent
from supple.damping.cells import BoundCellDamping, Points
from supple.materials import MATERIALS

BETA = 0.1
MATCHED = sp.MatchedStrainRate(stiffness=BETA)
every_material = pytest.mark.parametrize("material", MATERIALS, ids=lambda m: m.__name__)


REGULAR = [(1, 1, 1), (1.4, 1.1, 0.7), (1.2, 1.2, 0.6), (2, 0.3, -0.3), (1, 1, -1), (3, 2, -1)]
FLAT = [(1.5, 1, 1e-3), (1.5, 1, 1e-5), (1, 0.8, 0), (1, 1e-7, -1e-9), (1, 0, 0)]


@pytest.mark.parametrize("sigma", REGULAR + FLAT)
def test_stvk_is_strain_rate(sigma):
    """C = λ I ⊗ I + 2μ 𝕀 is constant. The stress P_a/σ_a of flat cells has fewer digits."""
    digits, digits_of_slope = (1e-14, 1e-9) if sigma in REGULAR else (3e-11, 1e-6)
    body = body_of(sp.StVK)
    lam, mu = (x[0] for x in body.parts[0].lame)
    known = sp.StrainRate(shear=BETA * mu, bulk=BETA * lam).bind(body)
    bound = MATCHED.bind(body)
    shape = Shape(body, affine(TET, stretched(*sigma)))
    for rate in rates(3):
        v = TET.vertices @ rate.T
        R, force = known.evaluate(shape, v)
        R_here, force_here = bound.evaluate(shape, v)
        assert R_here == pytest.approx(R, rel=digits)
        assert np.abs(force_here - force).max() <= digits * np.abs(force).max()
        G = known.shape_gradient(shape, v)
        error = np.abs(bound.shape_gradient(shape, v) - G).max()
        assert error <= digits_of_slope * np.abs(G).max()


@pytest.mark.parametrize("sigma", REGULAR)
def test_stvk_has_the_tangent_of_strain_rate(sigma):
    """At points, as ADMM and dampings made of others see it."""
    body = body_of(sp.StVK)
    lam, mu = (x[0] for x in body.parts[0].lame)
    shape = Shape(body, affine(TET, stretched(*sigma)))
    v = TET.vertices @ rates(1)[0].T
    C = np.zeros((2, body.pattern.n_blocks, 3, 3))
    known = sp.StrainRate(shear=BETA * mu, bulk=BETA * lam)
    for model, values in zip((known, MATCHED), C, strict=True):
        tangent = DampingTangent(3.0, consistent=True)
        BoundCellDamping.add_tangent(model.bind(body), shape, v, tangent, values)
    np.testing.assert_allclose(C[1], C[0], atol=1e-9 * np.abs(C[0]).max())


@every_material
def test_twin(material):
    """r = β/2 (Ḟ:A:Ḟ − tr(Ḟ S Ḟᵀ)), S = F⁻¹P, where that is not negative for any rate."""
    for F, rate in moving([(1.05, 1.0, 0.97), (1.1, 1.1, 0.9), (1.0, 1.0, 1.0)]):
        P, A = elasticity(material, F)
        S = np.linalg.solve(F, P)
        power = np.einsum("ij,ijkl,kl", rate, A, rate) - np.einsum("ij,jl,il", rate, S, rate)
        assert density(MATCHED, material, F, rate) == pytest.approx(0.5 * BETA * power, rel=1e-11)


def test_only_negative_stiffness_is_left_out():
    """Neo-Hookean, blown up: where λ ln J > μ the shear modulus μ − λ ln J is negative."""
    sigma = 1.5
    lam, mu = (float(x[0]) for x in soft(sp.NeoHookean).lame(np.arange(1)))
    assert lam * np.log(sigma**3) > mu
    F = sigma * np.eye(3)
    shear = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert density(MATCHED, sp.NeoHookean, F, shear) == pytest.approx(0.0, abs=1e-10 * mu)
    # of equal stretches, C = (λ I ⊗ I + 2 (μ − λ ln J) 𝕀)/σ⁴, and Ė = σ I
    a = 2 * (mu - lam * np.log(sigma**3)) + 3 * lam
    volume = density(MATCHED, sp.NeoHookean, F, np.eye(3))
    assert volume == pytest.approx(0.5 * BETA * 3 * a / sigma**2, rel=1e-12)


@every_material
def test_is_the_stiffness_at_rest(material):
    """Without stress there is no geometric part: β K v."""
    mesh = small_mesh("distorted brick")
    body = sp.Body(mesh, soft(material))
    v = np.random.default_rng(0).normal(size=mesh.vertices.shape)
    still = np.zeros_like(v)
    force = MATCHED.bind(body).evaluate(Shape(body, still), v)[1]
    known = BETA * (body.stiffness(still) @ v.ravel()).reshape(v.shape)
    np.testing.assert_allclose(force, known, atol=1e4 * EPS * np.abs(known).max())


@every_material
@pytest.mark.parametrize("mesh_name", ["tet", "quadratic", "brick"])
@pytest.mark.parametrize("large", [False, True], ids=["moderate", "large"])
def test_the_whole_is_the_sum_over_points(material, mesh_name, large):
    """K less its geometric part, and what density says of each point: two ways to one force."""
    mesh = small_mesh(mesh_name)
    body = sp.Body(mesh, soft(material))
    u = large_deformation(mesh, inverted=material.survives_inversion and large)
    u = u if large else 0.1 * u
    v, *X = np.random.default_rng(0).normal(size=(4, *u.shape))
    for stiffness in (BETA, np.linspace(0.0, BETA, mesh.n_cells)):
        bound = sp.MatchedStrainRate(stiffness=stiffness).bind(body)
        R, force = BoundCellDamping.evaluate(bound, Shape(body, u), v)
        size = np.abs(body.stiffness(u) @ v.ravel()).max() * BETA + np.abs(force).max()
        with_matrix = Shape(body, u, order=2)
        for shape in (Shape(body, u), with_matrix):
            for _ in range(2):
                R_here, force_here = bound.evaluate(shape, v)
                assert R_here == pytest.approx(R, rel=1e-9)
                assert np.abs(force_here - force).max() <= 1e-10 * size
        values = np.zeros((2, body.pattern.n_blocks, 3, 3))
        bound.add_matrix(with_matrix, v, 2.0, values[0], definite=False)
        BoundCellDamping.add_matrix(bound, with_matrix, v, 2.0, values[1], definite=False)
        np.testing.assert_allclose(values[0], values[1], atol=1e-10 * np.abs(values).max())
        expected = [(body.pattern.full(values[1] / 2) @ x.ravel()).reshape(x.shape) for x in X]
        found = bound.multiply(with_matrix, np.stack(X))
        assert np.abs(found - expected).max() <= 1e-10 * np.abs(values).sum()


@every_material
@pytest.mark.parametrize("mesh_name", ["tet", "quadratic", "brick"])
def test_derivative_of_the_force_by_shape(material, mesh_name):
    """The symmetric part of ∂∇₂R/∂u: all that d·(∂∇₂R/∂u) d sees of it."""
    mesh = small_mesh(mesh_name)
    body = sp.Body(mesh, soft(material))
    u = 0.15 * large_deformation(mesh, inverted=False)
    v, d, e = np.random.default_rng(3).normal(size=(3, *u.shape))
    bound = MATCHED.bind(body)
    values = np.zeros((body.pattern.n_blocks, 3, 3))
    bound.add_shape_derivative(Shape(body, u), v, 2.0, values)
    matrix = body.pattern.full(values / 2)
    for along in (d, e, d + e):  # polarised: every entry
        slope = along.ravel() @ matrix @ along.ravel()

        def left(h: float, along=along, slope=slope) -> float:
            there = (bound.evaluate(Shape(body, u + s * h * along), v)[1] for s in (1, -1))
            ahead, behind = (np.vdot(along, force) for force in there)
            return abs((ahead - behind) / (2 * h) - slope)

        steps = 4e-3 * 0.5 ** np.arange(3)
        errors = np.array([left(h) for h in steps])
        assert (np.log2(errors[:-1] / errors[1:]) > 1.8).all() or errors[-1] <= 1e-8 * abs(slope)
    nothing = np.zeros_like(values)
    bound.add_shape_derivative(Shape(body, u), 0 * v, 2.0, nothing)
    assert not nothing.any()


@every_material
def test_shape_gradient_at_rest(material):
    """Where all stretches coincide, and no axis is known."""
    body = body_of(material)
    bound = MATCHED.bind(body)
    v, d = np.random.default_rng(1).normal(size=(2, 4, 3))
    R, _ = bound.evaluate(Shape(body, 0 * v), v)
    G = bound.shape_gradient(Shape(body, 0 * v), v)
    slopes = remainder_slopes(
        lambda h: abs(bound.evaluate(Shape(body, h * d), v)[0] - R - h * np.vdot(G, d)),
        0.01 * 0.5 ** np.arange(4),
    )
    assert (np.abs(slopes - 2) < 0.1).all()


def test_shape_gradient_leaves_the_points_as_they_were():
    """Others may ask the same points afterwards."""
    body = body_of(sp.NeoHookean)
    part, cut = body.parts[0], slice(0, 1)
    F, rate = stretched(1.2, 1.0, 0.8)[None, None].copy(), rates(1)[None].copy()
    points = Points.of(part, cut, F, rate, elasticity=True)
    before = points.P.copy(), points.A.copy()
    MATCHED.bind(body).add_shape_gradient_points(points, np.zeros((1, 1, 3, 3)), 1.0)
    np.testing.assert_array_equal(points.P, before[0])
    np.testing.assert_array_equal(points.A, before[1])
