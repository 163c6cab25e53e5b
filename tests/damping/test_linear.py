"""What dampings that are linear in the velocity offer: their matrix times many fields at once."""

from __future__ import annotations

import numpy as np
import pytest
from tests.bodies.cloth.sheets import ISOTROPIC, crumpled, shaken_grid
from tests.bodies.test_springs import bent, tangle
from tests.damping.cases import CASES, the_body, the_state
from tests.helpers import EPS

import supple as sp
from supple.bodies.shape import Shape
from supple.damping.sums import bound_sum

BODY = sp.Body(
    the_body(sp.NeoHookean).mesh.with_region("some", [0, 2, 3]),
    the_body(sp.NeoHookean).material,
    mass_model=sp.LumpedMass(),
)
SHEET = sp.Cloth(shaken_grid().with_region("some", [1, 4, 5]), ISOTROPIC)
NET = sp.SpringNetwork(tangle().mesh.with_region("some", [1, 3]), stiffness=50.0, mass=1.0)
CURVED = sp.SplineDamping(sp.StrainRate(shear=3), sp.Curve.monotone([(0.5, 1), (1.5, 2)]))
OF_ANY = {
    "Rayleigh": sp.Rayleigh(mass=0.7, stiffness=0.02),
    "Rayleigh by region": sp.Rayleigh(mass={"some": 0.7}, stiffness={"some": 0.02}),
    "Rayleigh at rest": sp.Rayleigh(stiffness=0.02, at=sp.StiffnessAt.REST),
    "MatchedStrainRate by region": sp.MatchedStrainRate(stiffness={"some": 0.02}),
    "Caughey": sp.Caughey((0.1, 0.01)),
    "MomentumConserving": sp.MomentumConserving(
        [sp.Rayleigh(mass=0.7), sp.Rayleigh(stiffness=0.02)], sp.Conserving.BODY
    ),
}
CHOSEN = [
    *((BODY, name, damping) for name, damping in OF_ANY.items()),
    (BODY, "StrainRate by region", sp.StrainRate(shear={"some": 3.0}, bulk=1.0)),
    (BODY, "conserving cells", sp.MomentumConserving(sp.StrainRate(shear=3.0))),
    (BODY, "PrincipalStrain", sp.PrincipalStrain(stiffness=0.02)),
    (BODY, "spline over stretch", CURVED),
    (BODY, "Drag", sp.Drag(strength=2.0)),
    *((SHEET, name, damping) for name, damping in OF_ANY.items()),
    (SHEET, "ClothStrainRate", sp.ClothStrainRate(shear={"some": 1.0}, matched=0.1, bending=0.1)),
    (SHEET, "Drag", sp.Drag(strength=2.0)),
    *((NET, name, damping) for name, damping in OF_ANY.items()),
    (NET, "SpringStrainRate", sp.SpringStrainRate(viscosity={"some": 1.0}, matched=0.1)),
]
every_linear = pytest.mark.parametrize(
    ("body", "damping"),
    [(body, damping) for body, _, damping in CHOSEN],
    ids=[f"{type(body).__name__}-{name}" for body, name, _ in CHOSEN],
)


def shape_of(body: sp.ElasticBody) -> Shape:
    if isinstance(body, sp.Cloth):
        return Shape(body, crumpled(body.mesh))
    return Shape(body, bent(body) if isinstance(body, sp.SpringNetwork) else the_state(body)[0])


def fields(body: sp.ElasticBody, count: int = 3) -> np.ndarray:
    return np.random.default_rng(8).normal(size=(count, body.n_vertices, 3))


@every_linear
def test_products_are_forces(body, damping):
    """C(u) x is the force at the velocity x; C is symmetric."""
    bound, shape, X = damping.bind(body), shape_of(body), fields(body)
    assert bound.is_linear
    products = bound.multiply(shape, X)
    assert products.shape == X.shape
    forces = np.array([bound.evaluate(shape, x)[1] for x in X])
    stiffness = np.abs(shape.stiffness).max() * 0.02
    size = np.abs(forces).max() + stiffness
    assert np.abs(products - forces).max() <= 1e4 * EPS * size
    G = np.einsum("knc,lnc->kl", X, products)
    assert np.abs(G - G.T).max() <= 1e5 * EPS * size
    assert (np.linalg.eigvalsh(0.5 * (G + G.T)) >= -1e5 * EPS * size).all()


@pytest.mark.parametrize("body", [BODY, SHEET, NET], ids=["solid", "sheet", "springs"])
def test_sums_are_linear_too(body):
    parts = [sp.Rayleigh(mass=0.7), sp.Rayleigh(stiffness={"some": 0.02}), sp.Caughey((0.1,))]
    whole = bound_sum(body, [part.bind(body) for part in parts])
    shape, X = shape_of(body), fields(body)
    assert whole.is_linear
    forces = np.array([whole.evaluate(shape, x)[1] for x in X])
    np.testing.assert_allclose(
        whole.multiply(shape, X), forces, atol=1e5 * EPS * np.abs(forces).max()
    )


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_those_that_are_not_say_so(case):
    body = the_body(sp.StVK)
    bound = case.make(body, 1.0).bind(body)
    if not bound.is_linear:
        with pytest.raises(sp.InputError, match="not linear in the velocity"):
            bound.multiply(Shape(body, 0 * body.mesh.vertices), fields(body))


def test_what_is_made_of_others_is_as_linear_as_they_are():
    dry = sp.PowerLaw(exponent=0, strength=40.0)
    for damping in (
        dry,
        sp.MomentumConserving(dry),
        sp.MomentumConserving([dry, OF_ANY["Rayleigh"]]),
    ):
        assert not damping.bind(BODY).is_linear
    assert sp.MomentumConserving(sp.StrainRate(shear=1.0)).bind(BODY).is_linear
