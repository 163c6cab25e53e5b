"""Cloth in motion, and on its way to files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.bodies.cloth.sheets import ISOTROPIC, shaken_grid
from tests.helpers import simulate

import supple as sp
from supple.integrators import INTEGRATORS

every_rule = pytest.mark.parametrize("rule", [r() for r in INTEGRATORS], ids=repr)


# -- in motion --------------------------------------------------------------------------------


@every_rule
@pytest.mark.parametrize("bending", [sp.QuadraticBending(), sp.HingeBending()], ids=repr)
def test_order_of_accuracy(rule, bending):
    body = sp.Cloth(shaken_grid(), ISOTROPIC, fixed=[0, 1], bending=bending)
    v = 0.3 * np.random.default_rng(5).normal(size=body.mesh.vertices.shape)
    v[:2] = 0
    options = {"v": v, "gravity": (0, 0, -9.81)}
    exact = simulate(body, sp.RK4(), np.full(400, 2.5e-5), **options).state.u
    errors = [
        np.linalg.norm(simulate(body, rule, np.full(n, 0.01 / n), **options).state.u - exact)
        for n in (40, 80)
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(rule.order, abs=0.25)


@pytest.mark.parametrize("damping", [(), sp.ClothStrainRate(matched=5e-3)], ids=["none", "rate"])
def test_ring_that_falls_into_folds_converges(damping):
    """Hung up by its inner edge, a flat ring buckles all round at once, by symmetry."""
    rings, around = 8, 40
    angle = 2 * np.pi * np.arange(around) / around
    circle = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    vertices = (np.linspace(0.12, 0.5, rings + 1)[:, None, None] * circle).reshape(-1, 3)
    i, j = (each.ravel() for each in np.indices((rings, around)))
    a, b = i * around + j, i * around + (j + 1) % around
    cells = np.concatenate([[a, a + around, b + around], [a, b + around, b]], axis=1).T
    linen = sp.IsotropicCloth(
        young=2e5, poisson=0.3, thickness=4e-4, areal_density=0.2, bending_stiffness=1e-6
    )
    body = sp.Cloth(sp.SheetMesh(vertices, cells), linen, fixed=np.arange(around))
    sim = sp.Simulation(
        body, damping=damping, integrator=sp.BackwardEuler(), gravity=(0, 0, -9.81), dt=1 / 60
    )
    motion = sim.run(0.5)
    height = motion.positions[-1, -around:, 2]
    assert height.mean() < -0.2
    assert np.ptp(height) > 0.02  # folds


def test_sheet_comes_to_rest_on_a_sphere():
    mesh = sp.SheetMesh.grid((1, 1), (10, 10))
    raised = replace(mesh, vertices=mesh.vertices - [0.5, 0.5, -0.35])
    body = sp.Cloth(raised, replace(ISOTROPIC, bending_stiffness=1e-4))
    sim = sp.Simulation(
        body, damping=[sp.ClothStrainRate(matched=0.01), sp.Rayleigh(mass=2.0)],
        integrator=sp.BackwardEuler(), obstacles=[sp.Sphere(radius=0.3, friction=0.5)],
        gravity=(0, 0, -9.81), dt=0.02,
    )  # fmt: skip
    motion = sim.run(1.0)
    x = motion.positions[-1]
    assert np.linalg.norm(x, axis=1).min() >= 0.3 - 1e-4
    assert x[:, 2].min() < 0.0  # its corners hang down
    assert motion.kinetic[-1] < 0.05 * motion.kinetic.max()


def test_moving_support_carries_the_sheet():
    mesh = sp.SheetMesh.grid((1, 1), (3, 3))
    swing = sp.Support.oscillating(mesh.where(x=0), (0.1, 0, 0), 1.0)
    body = sp.Cloth(mesh, ISOTROPIC, supports=[swing])
    motion = sp.Simulation(body, gravity=(0, 0, -9.81), dt=0.01).run(0.3)
    held = motion.displacements[:, mesh.where(x=0), 0]
    assert np.allclose(held[-1], 0.1 * np.sin(2 * np.pi * 0.3), atol=1e-12)


# -- files ------------------------------------------------------------------------------------


def falling() -> sp.Motion:
    mesh = sp.SheetMesh.grid((1, 1), (3, 3)).with_region("half", np.arange(9))
    body = sp.Cloth(mesh, ISOTROPIC, fixed=mesh.where(x=0))
    return sp.Simulation(body, gravity=(0, 0, -9.81), dt=0.01).run(0.1)


def test_recorded_motion_returns_with_its_mesh(tmp_path):
    motion = falling()
    motion.save(tmp_path / "a.motion")
    loaded = sp.Motion.load(tmp_path / "a.motion")
    assert isinstance(loaded.mesh, sp.SheetMesh)
    assert np.array_equal(loaded.mesh.pattern, motion.mesh.pattern)
    assert np.array_equal(loaded.displacements, motion.displacements)
