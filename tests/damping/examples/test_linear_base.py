"""What examples may stand over: every damping that is linear in the velocity, alone or in sums."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from tests.damping.derivatives import matrix_of
from tests.damping.examples.scenes import block
from tests.helpers import large_deformation, soft
from tests.refusals import refused

import supple as sp
from supple.bodies.shape import Shape

MESH = block(regions=True)
BODY = sp.Body(MESH, soft(sp.StVK), fixed=MESH.where(x=(None, 0.1)))


def dashpots() -> sparse.csr_array:
    """Some between vertices that share no cell, and some on all."""
    n = MESH.n_vertices
    difference = sparse.lil_array((3 * n, 3 * n))
    for row, (i, j) in enumerate([(0, n - 1), (1, n - 2), (5, n - 3)]):
        difference[row, 3 * i], difference[row, 3 * j] = 1.0, -1.0
    return sparse.csr_array(difference.T @ difference + 0.1 * sparse.eye_array(3 * n))


BASES = {
    "strain rate": sp.StrainRate(shear=3.0, bulk=2.0),
    "fibres": sp.StrainRate(shear=1.0, fibre=9.0, direction=(1, 0, 0)),
    "by region": sp.StrainRate(shear={"left": 1.0, "right": 5.0}),
    "current": sp.Rayleigh(mass=0.1, stiffness=0.02),
    "matched": sp.MatchedStrainRate(stiffness=0.02),
    "conserving in cells": sp.MomentumConserving(sp.Rayleigh(stiffness=0.02)),
    "conserving": sp.MomentumConserving(sp.Rayleigh(mass=0.7), by=sp.Conserving.BODY),
    "drag": sp.Drag(strength=2.0),
    "several": [sp.Rayleigh(mass=0.3), sp.StrainRate(shear=3.0), sp.Caughey((0.1, 0.02))],
    "dashpots": sp.Viscous(dashpots()),
    "dashpots among others": [sp.StrainRate(shear=3.0), sp.Viscous(dashpots())],
}


def examples(count: int) -> list[sp.Example]:
    rng = np.random.default_rng(9)
    common = rng.normal(size=MESH.vertices.shape)
    return [sp.Example(0.3 * common + rng.normal(size=common.shape), 0.5 + i) for i in range(count)]


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("base", BASES.values(), ids=BASES.keys())
def test_examples_scale_it(base, count):
    """Ĉ = C + C X (Γ − I) G⁻¹ (C X)ᵀ at a deformed shape, force and matrix alike."""
    u = np.where(BODY.free, 0.02 * large_deformation(MESH, inverted=False), 0.0)
    shape, v = Shape(BODY, u, order=2), np.random.default_rng(1).normal(size=u.shape)
    given = examples(count)
    models = base if isinstance(base, list) else [base]
    C = sum(matrix_of(BODY, model.bind(BODY), shape, v) for model in models)
    X = np.stack([np.where(BODY.free, e.shape, 0.0).ravel() for e in given], axis=1)
    gammas = np.array([e.curve(0.0) for e in given])
    F = C @ X
    expected = C + F @ ((gammas - 1)[:, None] * np.linalg.inv(X.T @ F)) @ F.T
    bound = sp.ExampleDamping(base, given).bind(BODY)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(matrix_of(BODY, bound, shape, v), expected, atol=1e-9 * scale)
    dissipation, force = bound.evaluate(shape, v)
    np.testing.assert_allclose(force.ravel(), expected @ v.ravel(), atol=1e-8 * scale)
    assert dissipation == pytest.approx(0.5 * np.vdot(v, force))


def test_a_step_over_several():
    """The tangent is that of the force: Newton's method converges, with either linear solver."""
    modes = sp.vibration_modes(BODY, 3).shapes
    given = [sp.Example(x, gamma) for x, gamma in zip(modes, (5.0, 0.1, 2.0), strict=True)]
    damping = sp.ExampleDamping([sp.Rayleigh(mass=0.3), sp.StrainRate(shear=30.0)], given)
    ends = []
    for linear in (sp.Cholesky(), sp.LaggedCholesky()):
        solver = sp.Newton(linear=linear, tolerance=1e-10)
        sim = sp.Simulation(BODY, damping=damping, solver=solver, dt=0.02, gravity=(0, 0, -9.81))
        sim.run(0.1)
        ends.append(sim.state.u.copy())
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-7 * np.abs(ends[0]).max())


def test_springs_and_cloth_have_examples_too():
    rope = sp.SpringMesh.chain((0, 0, 0), (1, 0, 0), 6)
    ropes = sp.SpringNetwork(rope, stiffness=1e3, mass=0.1, fixed=[0, 5])
    film = sp.IsotropicCloth(young=1e5, poisson=0.3, areal_density=0.2, thickness=1e-3)
    cloth = sp.Cloth(sp.SheetMesh.grid((1.0, 1.0), (3, 3)), film, fixed=[0, 1, 2])
    rated = sp.ClothStrainRate(shear=1.0, bulk=1.0)
    for body, base in ((ropes, sp.SpringStrainRate(viscosity=1.0)), (cloth, rated)):
        x = np.where(body.free, np.random.default_rng(0).normal(size=(body.n_vertices, 3)), 0.0)
        rest = Shape(body, np.zeros_like(x), order=2)
        plain = base.bind(body).evaluate(rest, x)[1]
        force = sp.ExampleDamping(base, [sp.Example(x, 4.0)]).bind(body).evaluate(rest, x)[1]
        np.testing.assert_allclose(force, 4.0 * plain, atol=1e-9 * np.abs(plain).max())


def test_what_cannot_be_a_base():
    given = examples(1)
    nonlinear = sp.ExampleDamping(sp.PowerLaw(exponent=2.0, strength=1.0), given)
    refused("not linear in the velocity", nonlinear.bind, BODY)
    inside = sp.ExampleDamping(
        sp.MomentumConserving(sp.PowerLaw(exponent=2.0, strength=1.0)), given
    )
    refused("not linear in the velocity", inside.bind, BODY)
    windy = sp.ExampleDamping(sp.Drag(strength=1.0, wind=(1, 0, 0)), given)
    refused("pushes a body that is at rest", windy.bind, BODY)
    own = sp.ExampleDamping(sp.Rayleigh(mass=1.0), given)
    refused("one ExampleDamping", sp.ExampleDamping, [sp.Rayleigh(mass=1.0), own], given)
    hidden = sp.MomentumConserving(own, by=sp.Conserving.BODY)
    refused("symmetric", sp.ExampleDamping(hidden, given).bind, BODY)
    refused("base", sp.ExampleDamping, [], given)


# -- where the base fades ---------------------------------------------------------------------


FADING = {
    "strain rate": sp.StrainRate(shear=3.0, bulk=1.0),
    "current stiffness": sp.Rayleigh(stiffness=0.02),
}


@pytest.mark.parametrize("base", FADING.values(), ids=FADING.keys())
@pytest.mark.parametrize("gamma", [0.0, 0.05, 30.0])
@pytest.mark.parametrize("left", [1.0, 1e-2, 1e-4, 1e-6, 1e-9, 0.0])
def test_an_example_that_the_base_ceases_to_damp(base, gamma, left):
    """F W Fᵀ stays between (γ − 1) C and nothing, F = C x, however small xᵀC(u)x is.

    The example is a rotation of the body as it is stretched, which at that stretch makes no strain
    rate: xᵀC(u)x vanishes there, and C does not.
    """
    body = sp.Body(MESH, soft(sp.StVK))
    W = np.cross(np.eye(3), [0.3, -0.5, 0.8])
    stretch = np.diag([1.4, 0.8, 1.1])
    x = MESH.vertices @ (W @ stretch).T
    F = stretch + left * (np.eye(3) - stretch)
    shape = Shape(body, MESH.vertices @ (F - np.eye(3)).T, order=2)
    v = np.zeros_like(x)
    C = matrix_of(body, base.bind(body), shape, v)
    bound = sp.ExampleDamping(base, [sp.Example(x, gamma)]).bind(body)
    damped = matrix_of(body, bound, shape, v)
    rounding = 1e-9 * np.abs(C).max()
    assert np.linalg.eigvalsh(damped - min(gamma, 1.0) * C)[0] >= -rounding
    assert np.linalg.eigvalsh(max(gamma, 1.0) * C - damped)[0] >= -rounding
