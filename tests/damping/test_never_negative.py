"""Thousands of random shapes and velocities: damping by stiffness or strain rate takes energy.

Bodies are many cells that share no vertex, so that each is a sample of its own.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.bodies.cloth.sheets import ISOTROPIC, WOVEN
from tests.helpers import rotation, soft

import supple as sp
from supple.bodies.shape import Shape
from supple.materials import MATERIALS

COUNT = 400
REST = sp.StiffnessAt.REST
OF_ANY = {
    "Rayleigh": sp.Rayleigh(mass=0.1, stiffness=0.02),
    "Rayleigh, stiffness alone": sp.Rayleigh(stiffness=0.02),
    "Rayleigh at rest": sp.Rayleigh(stiffness=0.02, at=REST),
    "MatchedStrainRate": sp.MatchedStrainRate(stiffness=0.02),
}
OF_SOLIDS = {
    **OF_ANY,
    "StrainRate": sp.StrainRate(shear=30, bulk=20, fibre=50, direction=(1, 2, 3)),
    "PrincipalStrain": sp.PrincipalStrain(stiffness=0.02),
    "MomentumConserving": sp.MomentumConserving(sp.Rayleigh(stiffness=0.02)),
}
OF_SHEETS = {**OF_ANY, "ClothStrainRate": sp.ClothStrainRate(shear=1, matched=0.1, bending=0.1)}
OF_SPRINGS = {**OF_ANY, "SpringStrainRate": sp.SpringStrainRate(viscosity=1, matched=0.1)}
every_material = pytest.mark.parametrize("material", MATERIALS, ids=lambda m: m.__name__)


def over(dampings):
    return pytest.mark.parametrize("damping", dampings.values(), ids=dampings.keys())


def assert_takes_power(body: sp.ElasticBody, damping: sp.Damping, shapes, *, size: int) -> None:
    """Of each ``size`` vertices v·C(u) v ≥ 0 to rounding, by forces and by the matrix alike."""
    bound = damping.bind(body)
    for seed, u in enumerate(shapes):
        v = np.random.default_rng(100 + seed).normal(size=u.shape)
        for shape in (Shape(body, u), Shape(body, u, order=2)):
            for force in (bound.evaluate(shape, v)[1], bound.multiply(shape, v[None])[0]):
                each = np.einsum("ij,ij->i", v, force).reshape(-1, size)
                K = np.abs(body.pattern.multiply(shape.stiffness, v)).reshape(-1, 3 * size)
                scale = np.abs(force).reshape(-1, 3 * size).max(axis=1) + 0.1 * K.max(axis=1)
                power = each.sum(axis=1)
                assert (power >= -1e-9 * scale).all()
                assert (power > 0).mean() > 0.5


# -- solids ----------------------------------------------------------------------------------


def tets() -> sp.TetMesh:
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]) * 1.0
    rng = np.random.default_rng(0)
    X = corners + 0.1 * rng.normal(size=(COUNT, 4, 3)) + 3 * np.arange(COUNT)[:, None, None]
    return sp.TetMesh(X.reshape(-1, 3), np.arange(4 * COUNT).reshape(-1, 4))


def turned_and_stretched(mesh: sp.TetMesh, *, inverted: bool, seed: int) -> np.ndarray:
    """Displacements with F = U diag(σ) Vᵀ of random axes, σ from 0.1 to 10."""
    rng = np.random.default_rng(seed)
    sigma = 10 ** rng.uniform(-1, 1, size=(mesh.n_cells, 3))
    if inverted:
        sigma[::2, 2] *= -1
        sigma[::5, 1] *= 1e-8  # flat ones too
    F = np.array([rotation(2 * k) @ np.diag(s) @ rotation(2 * k + 1) for k, s in enumerate(sigma)])
    X = mesh.vertices.reshape(-1, 4, 3)
    return (np.einsum("cij,caj->cai", F, X) - X).reshape(-1, 3)


@every_material
@over(OF_SOLIDS)
def test_solids(material, damping):
    mesh = tets()
    body = sp.Body(mesh, soft(material))
    inverted = (False, material.survives_inversion)
    shapes = [turned_and_stretched(mesh, inverted=i, seed=k) for k, i in enumerate(inverted)]
    assert_takes_power(body, damping, shapes, size=4)


@over(OF_SOLIDS)
def test_mesh_by_others(assets, damping):
    mesh = sp.read_mesh(assets / "tets" / "bunny_1124.node")
    body = sp.Body(mesh, soft(sp.StVK))
    edge = body.mesh.edge_lengths().mean()
    rng = np.random.default_rng(1)
    shapes = [size * edge * rng.normal(size=mesh.vertices.shape) for size in (0.1, 0.5, 2.0)]
    assert_takes_power(body, damping, shapes, size=mesh.n_vertices)


# -- sheets ----------------------------------------------------------------------------------


def folds() -> sp.SheetMesh:
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1.1, 0]])
    cells = np.array([[0, 1, 2], [2, 1, 3]])
    X = corners + 3 * np.arange(COUNT)[:, None, None]
    index = cells + 4 * np.arange(COUNT)[:, None, None]
    return sp.SheetMesh(X.reshape(-1, 3), index.reshape(-1, 3))


@pytest.mark.parametrize("bending", [sp.QuadraticBending(), sp.HingeBending()], ids=repr)
@pytest.mark.parametrize("limit", [None, sp.StrainLimit(stretch=0.05)], ids=["free", "limited"])
@over(OF_SHEETS)
def test_sheets(bending, limit, damping):
    for material in (ISOTROPIC, replace(WOVEN, warp=(1, 0, 0))):
        body = sp.Cloth(folds(), material, bending=bending, strain_limit=limit)
        rng = np.random.default_rng(2)
        shapes = [size * rng.normal(size=body.mesh.vertices.shape) for size in (0.1, 0.5, 2.0)]
        assert_takes_power(body, damping, shapes, size=4)


# -- springs ---------------------------------------------------------------------------------


@over(OF_SPRINGS)
def test_springs(damping):
    ends = np.array([[0, 0, 0], [1, 0, 0]]) + 3 * np.arange(COUNT)[:, None, None]
    mesh = sp.SpringMesh(ends.reshape(-1, 3) * 1.0, np.arange(2 * COUNT).reshape(-1, 2))
    body = sp.SpringNetwork(mesh, stiffness=50.0, mass=1.0)
    rng = np.random.default_rng(3)
    shapes = [size * rng.normal(size=mesh.vertices.shape) for size in (0.1, 0.7, 5.0)]
    assert_takes_power(body, damping, shapes, size=2)
