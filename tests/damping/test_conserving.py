"""Damping that leaves rigid motion alone: nothing of it left, derivatives, a spinning beam."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sparse
from tests.damping.derivatives import (
    assert_no_net_force_or_torque,
    assert_semidefinite,
    assert_shape_derivative,
    assert_velocity_derivatives,
    matrix_of,
    rigid_velocity,
    setting,
)
from tests.helpers import EPS, MESH_NAMES, affine, deformation_gradients, rotation, soft
from tests.refusals import refusals

import supple as sp
from supple.bodies.shape import Shape
from supple.damping.conserving import rigid_motions

VELOCITY_GRADIENT, CELLS, BODY = sp.Conserving
every_way = pytest.mark.parametrize("by", sp.Conserving, ids=lambda by: by.name.lower())
in_cells = pytest.mark.parametrize(
    "by", [VELOCITY_GRADIENT, CELLS], ids=["velocity gradient", "cells"]
)
every_mesh = pytest.mark.parametrize("mesh_name", MESH_NAMES)


def dashpot(n: int) -> sp.Viscous:
    """Between the first vertex and the last, and to the ground: a wider pattern than a body's."""
    J = np.zeros((2, 3 * n))
    J[0, 0], J[0, -3], J[1, 4] = 1.0, -1.0, 0.5
    return sp.Viscous(sparse.csr_array(J.T @ J))


def examples(n: int, *, symmetric: bool = True) -> sp.ExampleDamping:
    shapes = np.random.default_rng(8).normal(size=(2, n, 3))
    given = [sp.Example(shapes[0], 3.0), sp.Example(shapes[1], 0.2)]
    return sp.ExampleDamping(sp.Rayleigh(mass=0.5), given, symmetric=symmetric)


INNER = {
    "rayleigh": lambda n: sp.Rayleigh(stiffness=0.02),
    "both": lambda n: sp.Rayleigh(mass=0.7, stiffness=0.02),
    "rest": lambda n: sp.Rayleigh(stiffness=0.02, at=sp.StiffnessAt.REST),
    "power": lambda n: sp.PowerLaw(
        exponent=0.5, of=sp.Rayleigh(stiffness=0.01), scale=30, width=0.5
    ),
    "viscous": dashpot,
    "examples": examples,
    "unsymmetric": lambda n: examples(n, symmetric=False),
    "drag": lambda n: sp.Drag(strength=2.0, exponent=2.0, wind=(0.1, 0, 0)),
    "several": lambda n: [sp.Rayleigh(mass=0.7, stiffness=0.02), dashpot(n), examples(n)],
    "nested": lambda n: sp.MomentumConserving(
        sp.PowerLaw(
            exponent=2,
            of=sp.MomentumConserving([sp.Rayleigh(stiffness=0.01), sp.StrainRate(shear=1)], CELLS),
            scale=20,
        )
    ),
}
DEFINITE = [name for name in INNER if name not in ("drag", "unsymmetric")]  # a wind feeds energy
every_inner = pytest.mark.parametrize("inner", INNER.values(), ids=INNER.keys())


@every_way
@every_inner
def test_no_net_force_torque_or_effect_on_rigid_motion(inner, by):
    body, u, v = setting(inverted=True)
    x, shape = body.mesh.vertices + u, Shape(body, u)
    bound = sp.MomentumConserving(inner(body.n_vertices), by).bind(body)
    R, force = bound.evaluate(shape, v)
    assert np.abs(force).max() > 0
    assert_no_net_force_or_torque(x, force)
    moved_R, moved = bound.evaluate(shape, v + rigid_velocity(x))
    assert moved_R == pytest.approx(R, rel=1e-9)
    np.testing.assert_allclose(moved, force, rtol=0, atol=1e-8 * np.abs(force).max())
    still = bound.evaluate(shape, np.zeros_like(v))[1]
    rigid = bound.evaluate(shape, rigid_velocity(x))[1]
    np.testing.assert_allclose(rigid, still, rtol=0, atol=1e-9 * np.abs(force).max())


def test_without_the_wrapper_there_is_net_torque():
    """What the tests above could not see if Rayleigh damping were harmless."""
    body, u, v = setting()
    x = body.mesh.vertices + u
    at = sp.StiffnessAt.REST
    force = sp.Rayleigh(stiffness=0.02, at=at).bind(body).evaluate(Shape(body, u), v)[1]
    assert np.abs(np.cross(x, force).sum(axis=0)).max() > 1e-3 * np.abs(force).sum()


@every_way
@every_inner
def test_velocity_derivatives(inner, by):
    body, u, v = setting()
    bound = sp.MomentumConserving(inner(body.n_vertices), by).bind(body)
    assert_velocity_derivatives(body, bound, u, v)


@in_cells
@every_mesh
def test_derivatives_on_every_mesh(mesh_name, by):
    body, u, v = setting(mesh_name)
    bound = sp.MomentumConserving(sp.Rayleigh(stiffness=0.02), by).bind(body)
    assert_velocity_derivatives(body, bound, u, v)
    assert_shape_derivative(body, bound.in_cells(), u, v)


@in_cells
@pytest.mark.parametrize("name", ["rayleigh", "power", "nested"])
def test_shape_derivative(name, by):
    body, u, v = setting()
    bound = sp.MomentumConserving(INNER[name](0), by).bind(body)
    assert_shape_derivative(body, bound.in_cells(), u, v)


@in_cells
def test_nonrigid_rates_are_those_of_the_paper(by):
    """r = ½ ‖Ḟⁿʳ‖² by Rayleigh damping of a material that is a spring: P = 2 μ F, A = 2 μ I."""
    body, u, v = setting()
    F = deformation_gradients(body.mesh, u)
    rate = np.einsum("eai,eqaj->eqij", v[body.mesh.cells], body.mesh.quadrature().gradients)
    if by is VELOCITY_GRADIENT:  # Eq. 67
        expected = 0.5 * (rate + np.linalg.inv(F).mT @ rate.mT @ F)
    else:  # Eqs. 64–66 in local coordinates
        C = np.stack([np.cross(axis, F, axisb=2, axisc=2) for axis in np.eye(3)], axis=-1)
        C = C.reshape(*F.shape[:2], 9, 3)
        flat = rate.reshape(*F.shape[:2], 9, 1)
        expected = (flat - C @ np.linalg.solve(C.mT @ C, C.mT @ flat)).reshape(F.shape)
    weights = body.mesh.quadrature().weights
    one = sp.MomentumConserving(_Frobenius(), by).bind(body).evaluate(Shape(body, u), v)[0]
    assert one == pytest.approx(0.5 * (weights * (expected**2).sum(axis=(2, 3))).sum(), rel=1e-12)


class _Frobenius(sp.Damping):
    """r = ½ ‖Ḟ‖², about the simplest damping that resists rotation."""

    def bind(self, body):
        from supple.damping.cells import BoundCellDamping

        class Bound(BoundCellDamping):
            def add_points(self, points, to):
                r, P, A = to.arrays
                r += 0.5 * (points.rate**2).sum(axis=(2, 3))
                if to.order >= 1:
                    P += points.rate
                if to.order >= 2:
                    for s in (0, 3, 5):
                        A[:, :, s] += to.factor * np.eye(3)

            def add_shape_gradient_points(self, points, G, factor):
                return

        return Bound(body)


@every_way
@pytest.mark.parametrize("inner", [INNER[name] for name in DEFINITE], ids=DEFINITE)
def test_takes_power_and_is_definite(inner, by):
    body, u, v = setting()
    bound = sp.MomentumConserving(inner(body.n_vertices), by).bind(body)
    assert_semidefinite(matrix_of(body, bound, Shape(body, u), v, definite=True))
    near_rest = Shape(body, affine(body.mesh, rotation(1)) + 0.01 * u)
    assert np.vdot(v, bound.evaluate(near_rest, v)[1]) > 0


@pytest.mark.parametrize("by", [CELLS, VELOCITY_GRADIENT])
@pytest.mark.parametrize("stretches", [(1, 1, 0), (1, 0, 0), (0, 0, 0), (1, 1e-7, 1)], ids=str)
def test_collapsed_cells_stay_finite(by, stretches):
    body, _, v = setting()
    u = affine(body.mesh, rotation(1) @ np.diag(stretches).astype(float) @ rotation(2))
    bound = sp.MomentumConserving(_Frobenius(), by).bind(body)
    R, force = bound.evaluate(Shape(body, u), v)
    assert np.isfinite(R)
    assert np.isfinite(force).all()
    assert np.isfinite(bound.shape_gradient(Shape(body, u), v)).all()
    if by is VELOCITY_GRADIENT and not any(stretches):
        return  # rounding alone says what F is
    plain = _Frobenius().bind(body).evaluate(Shape(body, u), v)[0]
    assert plain * (1 + 100 * EPS) >= R  # a projection makes nothing larger


def test_rigid_motions_of_bodies_without_extent():
    """Points in a line turn about two axes only, points in one place about none."""
    body, u, _ = setting()
    for stretches, count in (((1, 1, 1), 6), ((1, 1, 0), 6), ((1, 0, 0), 5), ((0, 0, 0), 3)):
        shape = Shape(body, affine(body.mesh, rotation(1) @ np.diag(stretches) @ rotation(2)))
        Q = rigid_motions(shape).reshape(-1, u.size)
        assert len(Q) == count
        np.testing.assert_allclose(Q @ Q.T, np.eye(count), atol=1e3 * EPS)


def test_strain_rate_is_left_as_it_is():
    """What conserves momentum by itself does not change by velocity gradient: Ė is the same."""
    body, u, v = setting()
    damping = sp.StrainRate(shear=5.0, bulk=2.0)
    plain = damping.bind(body).evaluate(Shape(body, u), v)[1]
    for by in (VELOCITY_GRADIENT, CELLS, BODY):
        wrapped = sp.MomentumConserving(damping, by).bind(body).evaluate(Shape(body, u), v)[1]
        np.testing.assert_allclose(wrapped, plain, rtol=0, atol=1e-11 * np.abs(plain).max())


def test_what_is_not_in_cells_goes_by_body():
    body, u, v = setting()
    shape = Shape(body, u)
    mixed = sp.MomentumConserving(sp.Rayleigh(mass=0.7, stiffness=0.02), CELLS).bind(body)
    parts = [
        sp.MomentumConserving(sp.Rayleigh(stiffness=0.02), CELLS),
        sp.MomentumConserving(sp.Rayleigh(mass=0.7), BODY),
    ]
    total = sum(part.bind(body).evaluate(shape, v)[1] for part in parts)
    np.testing.assert_allclose(mixed.evaluate(shape, v)[1], total, atol=1e-12)
    assert mixed.in_cells() is not None
    outside = mixed.outside_cells()
    assert outside is not None
    np.testing.assert_allclose(
        outside.evaluate(shape, v)[1], parts[1].bind(body).evaluate(shape, v)[1], atol=1e-12
    )
    assert not sp.MomentumConserving(sp.Rayleigh()).bind(body).evaluate(shape, v)[1].any()


# -- a stretched spinning beam (dissipative optimization, Fig. 7) ----------------------------------


def spun(damping, steps=40) -> sp.Motion:
    """A free beam, spinning and elongating, through a few stretches."""
    mesh = sp.TetMesh.box((1.0, 0.2, 0.2), (5, 1, 1), (-0.5, -0.1, -0.1))
    body = sp.Body(mesh, soft(sp.Corotational, young=1e5))
    sim = sp.Simulation(
        body, damping=damping, integrator=sp.TRBDF2(), dt=0.005,
        solver=sp.Newton(tolerance=1e-10),
    )  # fmt: skip
    sim.state.v = np.cross([0, 0, 10.0], mesh.vertices) + mesh.vertices * [3.0, 0, 0]
    return sim.run(steps * sim.dt)


def lost_spin(damping) -> float:
    spin = spun(damping).angular_momentum[:, 2]
    return float(1 - spin[-1] / spin[0])


def test_spin_is_lost_without_and_kept_with_the_wrapper():
    rayleigh = sp.Rayleigh(mass=0.5, stiffness=2e-3)
    undamped = lost_spin(None)
    assert lost_spin(rayleigh) > 0.08
    for by in sp.Conserving:
        assert abs(lost_spin(sp.MomentumConserving(rayleigh, by))) < 2 * abs(undamped) + 1e-6


@every_way
def test_wrapped_damping_still_damps(by):
    """Stretching dies away though spinning goes on."""
    damped, free = (
        spun(damping, steps=60)
        for damping in (sp.MomentumConserving(sp.Rayleigh(stiffness=5e-3), by), None)
    )
    assert np.ptp(damped.elastic[-20:]) < 0.5 * np.ptp(free.elastic[-20:])


@every_way
@pytest.mark.parametrize("name", ["both", "several"])
def test_linear_solvers_agree_on_a_held_body(name, by):
    """The part of few factors takes its place in every solver, with supports too."""
    mesh = sp.TetMesh.box((1.0, 0.2, 0.2), (4, 1, 1))
    body = sp.Body(mesh, soft(sp.StableNeoHookean, young=1e5), fixed=mesh.where(x=0))
    damping = sp.MomentumConserving(INNER[name](body.n_vertices), by)
    found = []
    for linear in (sp.Cholesky(), sp.ConjugateGradients()):
        solver = sp.Newton(tolerance=1e-11, linear=linear)
        sim = sp.Simulation(body, damping=damping, dt=0.02, gravity=(0, 0, -9.81), solver=solver)
        motion = sim.run(0.2)
        found.append(motion.displacements)
        assert motion.dissipated[-1] > 0
    scale = np.abs(found[0]).max()
    assert scale > 0.05
    np.testing.assert_allclose(found[1], found[0], rtol=0, atol=1e-8 * scale)


test_bad_wrappers_named = refusals(
    (lambda: sp.MomentumConserving(3), "damping=3"),
    (lambda: sp.MomentumConserving([]), "damping="),
    (lambda: sp.MomentumConserving([sp.Rayleigh(mass=1), 2]), "damping="),
    (lambda: sp.MomentumConserving(sp.Rayleigh(mass=1), by="body"), "by is"),
    (lambda: sp.MomentumConserving(sp.Rayleigh), "damping="),
)
