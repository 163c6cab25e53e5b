"""Damping of principal strains, above all where stretches coincide."""

from __future__ import annotations

import numpy as np
import pytest
from tests.damping.cell_points import TET, body_of, density, elasticity, moving, rates, stretched
from tests.helpers import affine, remainder_slopes, rotation
from tests.refusals import refused

import supple as sp
from supple.bodies.shape import Shape
from supple.materials import MATERIALS

BETA, WIDTH = 0.1, 1e-3
DAMPING = sp.PrincipalStrain(stiffness=BETA, axis_width=WIDTH)
every_material = pytest.mark.parametrize("material", MATERIALS, ids=lambda m: m.__name__)


def printed(material, F, rate) -> float:
    """β/2 σ̇ᵀK_σ σ̇ in plain NumPy, K_σ without negative eigenvalues."""
    U, _, Vt = np.linalg.svd(F)
    A = elasticity(material, F)[1]
    axes = np.einsum("ia,aj->aij", U, Vt)
    values, vectors = np.linalg.eigh(np.einsum("aij,ijkl,bkl->ab", axes, A, axes))
    K = vectors * values.clip(0) @ vectors.T
    d = np.einsum("aij,ij->a", axes, rate)
    return 0.5 * BETA * float(d @ K @ d)


@every_material
def test_twin(material):
    for F, rate in moving([(1.4, 1.1, 0.7), (1.01, 1.0, 0.99), (1.5, 0.5, 0.3)]):
        expected = printed(material, F, rate)
        assert density(DAMPING, material, F, rate) == pytest.approx(expected, rel=1e-11)


@every_material
def test_the_same_whichever_way_rest_is_come_to(material):
    """r tends to one value as F → I, along any direction, and that is Rayleigh's."""
    A = elasticity(material, np.eye(3))[1]
    for rate in rates(3):
        at_rest = density(DAMPING, material, np.eye(3), rate)
        strain_rate = 0.5 * (rate + rate.T)
        rayleigh = 0.5 * BETA * np.einsum("ij,ijkl,kl", strain_rate, A, strain_rate)
        assert at_rest == pytest.approx(rayleigh, rel=1e-12)
        for way in rates(5, seed=1):
            near = [density(DAMPING, material, np.eye(3) + h * way, rate) for h in (1e-5, 1e-7)]
            assert near[0] == pytest.approx(at_rest, rel=1e-2)
            assert near[1] == pytest.approx(at_rest, rel=1e-5)
        away = [density(DAMPING, material, np.eye(3) + 0.02 * w, rate) for w in rates(5, seed=1)]
        assert np.ptp(away) > 0.05 * at_rest  # while the printed form depends on the way


# inside out, only where the material has an energy there, and one without a corner
CORNERED = (sp.Corotational, sp.SplineMaterial)  # where two stretches cancel
PLANES = [(m, sigma) for m in MATERIALS for sigma in ((1.2, 1.2, 0.8), (1.3, 0.9, 0.9))]
PLANES += [(m, (1.2, 0.9, -0.9)) for m in MATERIALS if m.survives_inversion and m not in CORNERED]


@pytest.mark.parametrize(("material", "sigma"), PLANES)
def test_the_same_for_all_axes_of_a_plane(material, sigma):
    """Two stretches that coincide, also where one is inverted: no choice of axes shows."""
    F = stretched(*sigma)
    for rate in rates(3):
        exact = density(DAMPING, material, F, rate)
        for way in rates(4, seed=2):
            near = density(DAMPING, material, F + 1e-7 * way, rate)
            assert near == pytest.approx(exact, rel=1e-5)


def test_shear_fades_out_at_the_width():
    """Shear of two axes is damped fully where stretches agree, not at all beyond the width."""
    shear = np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, 0]])
    gaps = WIDTH * np.array([0, 0.2, 0.5, 0.9, 1.0, 2.0])
    r = [density(DAMPING, sp.StVK, np.diag([1 + gap, 1, 0.8]), shear) for gap in gaps]
    assert (np.diff(r[:5]) < 0).all()
    np.testing.assert_allclose(r[4:], 0, atol=1e-20 * r[0])
    wide = sp.PrincipalStrain(stiffness=BETA, axis_width=10 * WIDTH)
    assert density(wide, sp.StVK, np.diag([1 + WIDTH, 1, 0.8]), shear) > 0.9 * r[0]


@every_material
def test_shape_gradient_at_rest(material):
    """Within the width, where everything changes fast."""
    body = body_of(material)
    bound = DAMPING.bind(body)
    v, d = np.random.default_rng(1).normal(size=(2, 4, 3))
    for F in (np.eye(3), np.diag([1.0002, 1.0, 0.9]), rotation(3)):
        u = affine(TET, F)
        R, _ = bound.evaluate(Shape(body, u), v)
        G = bound.shape_gradient(Shape(body, u), v)
        h = 1e-5 * WIDTH
        ends = [bound.evaluate(Shape(body, u + k * h * d), v)[0] for k in (-1, 1)]
        assert (ends[1] - ends[0]) / (2 * h) == pytest.approx(np.vdot(G, d), rel=1e-4)
        slopes = remainder_slopes(
            lambda s, u=u, R=R, G=G: abs(
                bound.evaluate(Shape(body, u + s * d), v)[0] - R - s * np.vdot(G, d)
            ),
            0.01 * WIDTH * 0.5 ** np.arange(4),
        )
        assert (np.abs(slopes - 2) < 0.1).all()


def test_bad_input():
    for bad in (0.0, -1.0, np.inf, "wide"):
        refused("axis_width", sp.PrincipalStrain, stiffness=1.0, axis_width=bad)
