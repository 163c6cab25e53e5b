"""Spline damping: one factor a cell, or one a principal strain."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.damping.cases import GROWING, RATE, SLOWER
from tests.damping.cell_points import TET, body_of, density, elasticity, moving, rates, stretched
from tests.helpers import affine
from tests.refusals import refused

import supple as sp
from supple.bodies.shape import Shape

BETA = 0.1
STRETCH = sp.SplineOver.STRETCH
BASES = {
    "strain rate": sp.StrainRate(shear=30, bulk=20, fibre=5, direction=(1, 1, 0)),
    "matched": sp.MatchedStrainRate(stiffness=BETA),
    "principal": sp.PrincipalStrain(stiffness=BETA),
}
every_base = pytest.mark.parametrize("base", BASES.values(), ids=BASES.keys())
either = pytest.mark.parametrize("over", [STRETCH, RATE], ids=lambda over: over.value)
SIGMAS = [(1.4, 1.1, 0.7), (1.7, 0.6, 0.4), (1.3, 1.2, -0.8)]


def in_frame(F, rate):
    """σ ≥ 0 and σ̇, (3,) each, and the products u_a v_aᵀ (3, 3, 3), in plain NumPy."""
    U, sigma, Vt = np.linalg.svd(F)
    axes = np.einsum("ia,aj->aij", U, Vt)
    return sigma, np.einsum("aij,ij->a", axes, rate), axes


def nearly_largest(factors) -> float:
    return float(np.mean(factors**16) ** (1 / 16))


def stretch_stiffness(axes, F) -> np.ndarray:
    """K_σ of StVK without negative eigenvalues."""
    K = np.einsum("aij,ijkl,bkl->ab", axes, elasticity(sp.StVK, F)[1], axes)
    values, vectors = np.linalg.eigh(K)
    return vectors * values.clip(0) @ vectors.T


@pytest.mark.parametrize("base", list(BASES.values())[:2], ids=list(BASES)[:2])
@either
def test_twin_of_a_single_factor(base, over):
    """Eq. 57."""
    curve = GROWING if over is STRETCH else SLOWER
    damping = sp.SplineDamping(base, curve, over=over)
    for F, rate in moving(SIGMAS):
        sigma, d, _ = in_frame(F, rate)
        factor = curve(sigma).max() if over is STRETCH else nearly_largest(curve(d))
        expected = factor * density(base, sp.StVK, F, rate)
        assert density(damping, sp.StVK, F, rate) == pytest.approx(expected, rel=1e-12)


def test_twin_of_factors_by_stretch():
    """β/2 σ̇ᵀ S^½ K_σ S^½ σ̇."""
    damping = sp.SplineDamping(BASES["principal"], GROWING)
    for F, rate in moving(SIGMAS):
        x, d, axes = in_frame(F, rate)
        d = np.sqrt(GROWING(x)) * d
        expected = 0.5 * BETA * d @ stretch_stiffness(axes, F) @ d
        assert density(damping, sp.StVK, F, rate) == pytest.approx(expected, rel=1e-11)


def test_twin_of_factors_by_rate():
    damping = sp.SplineDamping(BASES["principal"], SLOWER, over=RATE)
    for F, rate in moving(SIGMAS):
        _, d, axes = in_frame(F, rate)
        K = stretch_stiffness(axes, F)
        least = np.linalg.eigvalsh(K)[0]
        own = least * SLOWER(d) @ d**2
        rest = nearly_largest(SLOWER(d)) * d @ (K - least * np.eye(3)) @ d
        expected = 0.5 * BETA * (own + rest)
        assert density(damping, sp.StVK, F, rate) == pytest.approx(expected, rel=1e-11)


def test_the_printed_form_over_rates_may_feed_energy():
    """Why it is not used: S^½ K_σ S^½ with factors that change at different pace."""
    K = np.ones((3, 3)) + 0.01 * np.eye(3)  # nearly incompressible
    curve = sp.Curve.linear([(0.5, 1.0), (1.0, np.exp(-0.95))])

    def r(t):
        d = t * np.array([0.98, -0.25, -0.25])
        d = np.sqrt(curve(d)) * d
        return 0.5 * d @ K @ d

    assert r(1.001) < r(1.0)


@every_base
@either
def test_constant_curve_scales(base, over):
    """A constant factor is no more than that, also where axes coincide."""
    damping = sp.SplineDamping(base, 3.0, over=over)
    for F in (np.eye(3), stretched(1.3, 1.3, 0.8), stretched(1.4, 1.1, 0.7)):
        for rate in rates(3):
            expected = 3 * density(base, sp.NeoHookean, F, rate)
            assert density(damping, sp.NeoHookean, F, rate) == pytest.approx(expected, rel=1e-12)


@every_base
def test_rates_are_the_same_whichever_way_rest_is_come_to(base):
    damping = sp.SplineDamping(base, SLOWER, over=RATE)
    for rate in rates(3):
        at_rest = density(damping, sp.NeoHookean, np.eye(3), rate)
        for way in rates(4, seed=1):
            near = density(damping, sp.NeoHookean, np.eye(3) + 1e-7 * way, rate)
            assert near == pytest.approx(at_rest, rel=1e-5)


@every_base
def test_shape_gradient_at_rest_over_rates(base):
    body = body_of(sp.NeoHookean)
    bound = sp.SplineDamping(base, SLOWER, over=RATE).bind(body)
    for seed in range(3):
        v, d = np.random.default_rng(seed).normal(size=(2, 4, 3))
        # equal stretches in a plane: at rest itself κ, a double eigenvalue, has a corner
        u = affine(TET, np.diag([1.0, 1.0, 0.9]))
        G = bound.shape_gradient(Shape(body, u), v)
        h = 1e-8
        ends = [bound.evaluate(Shape(body, u + k * h * d), v)[0] for k in (-1, 1)]
        assert (ends[1] - ends[0]) / (2 * h) == pytest.approx(np.vdot(G, d), rel=1e-4)


def test_what_is_linear():
    body = body_of(sp.StVK)
    for base in BASES.values():
        assert sp.SplineDamping(base, GROWING).bind(body).is_linear
        assert not sp.SplineDamping(base, SLOWER, over=RATE).bind(body).is_linear


def test_curves_nest_over_stretch():
    inner = sp.SplineDamping(BASES["strain rate"], SLOWER, over=RATE)
    both = sp.SplineDamping(inner, 2.0)
    F, rate = stretched(1.4, 1.1, 0.7), rates(1)[0]
    expected = 2 * density(inner, sp.StVK, F, rate)
    assert density(both, sp.StVK, F, rate) == pytest.approx(expected, rel=1e-12)


def test_bad_input():
    base = BASES["strain rate"]
    steep = sp.Curve.bezier([(1.0, 1.0), (2.0, 0.3)])
    refused("falls too fast", sp.SplineDamping, base, steep, over=RATE)
    sp.SplineDamping(base, steep)  # over stretch it may
    sp.SplineDamping(base, sp.Curve.bezier([(1.0, 1.0), (2.0, 0.5)]), over=RATE)
    for joining in (sp.Curve.linear, sp.Curve.monotone):
        bent = joining([(1.0, 1.0), (2.0, 0.8), (3.0, 0.7)])
        refused("corner at rate 1 1/s", sp.SplineDamping, base, bent, over=RATE)
    refused("base", sp.SplineDamping, 3.0, GROWING)
    refused("curve", sp.SplineDamping, base, "steep")
    refused("over", sp.SplineDamping, base, GROWING, over="rate")
    refused("axis_width", sp.SplineDamping, base, GROWING, axis_width=-1.0)
    refused("axis_width", sp.SplineDamping, BASES["principal"], GROWING, axis_width=1e-2)
    for damping, curve, over, words in (
        (sp.Caughey((0.1, 0.1)), GROWING, STRETCH, "acts within cells"),
        (sp.SplineDamping(base, SLOWER, over=RATE), SLOWER, RATE, "linear in the velocity"),
    ):
        with pytest.raises(sp.InputError, match=words):
            sp.SplineDamping(damping, curve, over=over).bind(body_of(sp.StVK))


@pytest.mark.parametrize("base", list(BASES.values())[1:], ids=list(BASES)[1:])
def test_newton_goes_through_a_large_swing(base):
    """Over rates R is not convex in v, and its matrix often indefinite."""
    beam = sp.TetMesh.box((1, 0.2, 0.2), (10, 2, 2))
    material = sp.NeoHookean(young=1e5, poisson=0.4, density=1000)
    body = sp.Body(beam, material, fixed=beam.where(x=0))
    damping = sp.SplineDamping(
        replace(base, stiffness=0.02), sp.Curve.bezier([(0.05, 0.3), (1, 1), (8, 6)]), over=RATE
    )
    sim = sp.Simulation(
        body, damping=damping, integrator=sp.TRBDF2(), dt=1 / 30, gravity=(0, 0, -9.81)
    )
    motion = sim.run(0.6)
    assert motion.displacements[:, :, 2].min() < -1.0
    assert 10 < motion.dissipated[-1] < 20
