"""ADMM: the same motion as Newton's method, whatever the body is made of and damped by."""

from __future__ import annotations

import numpy as np
import pytest
from tests.damping.cases import CASES
from tests.helpers import EXACT, MESH_NAMES, small_mesh, soft, stepped
from tests.solvers.bars import AT_WALL, BAR, CLOSE, DT, bar, kicked, unbalanced

import supple as sp
from supple.integrators import INTEGRATORS, ImplicitIntegrator
from supple.materials import MATERIALS

IMPLICIT = [rule for rule in INTEGRATORS if issubclass(rule, ImplicitIntegrator)]


def assert_same_motion(body: sp.Body, share: float = 1e-6, **options: object) -> None:
    """The same displacements but for the tolerance of some stages, of what moves at all."""
    exact, found = (kicked(body, solver, **options).state for solver in (EXACT, CLOSE))
    size = np.abs(exact.u).max()
    assert size > 0.01  # this is no linear problem
    assert np.abs(found.u - exact.u).max() < share * size
    assert np.abs(found.v - exact.v).max() < share * np.abs(exact.v).max()


@pytest.mark.parametrize("rule", IMPLICIT, ids=lambda r: r.__name__)
@pytest.mark.parametrize("material", MATERIALS, ids=lambda m: m.__name__)
def test_as_newton_for_materials_and_rules(material, rule):
    assert_same_motion(bar(material), integrator=rule())


@pytest.mark.parametrize("name", MESH_NAMES)
def test_as_newton_on_all_kinds_of_cells(name):
    mesh = small_mesh(name)
    body = sp.Body(mesh, soft(sp.StableNeoHookean), fixed=np.argsort(mesh.vertices[:, 0])[:6])
    assert_same_motion(body, damping=sp.StrainRate(shear=20.0))


@pytest.mark.parametrize("name", [n for n in CASES if n != "PowerLaw, dry"])
def test_as_newton_with_damping(name):
    """Every model, in cells or outside of them; dry ones are smoothed under Newton alone."""
    body = bar(sp.StVK)
    damping = CASES[name].make(body, 1.0)
    if "falling" in name:  # there forces balance in several places
        assert unbalanced(body, CLOSE, damping=damping) < 1e-6
    else:
        dt = 0.004 if "rates" in name else DT  # Newton's method needs that
        assert_same_motion(body, damping=damping, dt=dt, steps=2)


def test_as_newton_with_several_dampings():
    """In cells, outside, on a wider pattern and of low rank at once."""
    body = bar()
    names = ("Rayleigh", "Viscous", "ExampleDamping", "StrainRate", "Drag")
    models = [CASES[name].make(body, 1.0) for name in names]
    assert_same_motion(body, damping=models, integrator=sp.TRBDF2(), steps=2)


def test_dry_damping_as_newton_smooths_it():
    """S − Ŝ for one, the rate at the end of the step for the other: closer as steps shrink."""
    body, smooth = bar(), sp.PowerLaw(exponent=0, strength=400.0, width=0.05)
    apart, matters = [], []
    for steps in (4, 16):
        options = {"steps": steps, "dt": 0.04 / steps}
        exact = kicked(body, CLOSE, damping=sp.PowerLaw(exponent=0, strength=400.0), **options)
        smoothed = kicked(body, EXACT, damping=smooth, **options)
        apart.append(np.abs(exact.state.u - smoothed.state.u).max())
        matters.append(np.abs(exact.state.u - kicked(body, CLOSE, **options).state.u).max())
    assert apart[1] < 0.4 * apart[0]
    assert apart[1] < 0.05 * matters[1]


def test_as_newton_with_components_held():
    fixed = np.zeros((BAR.n_vertices, 3), dtype=bool)
    fixed[AT_WALL] = True
    fixed[-1] = (False, True, False)
    fixed[-2] = (True, False, True)
    assert_same_motion(bar(fixed=fixed), damping=sp.Rayleigh(mass=0.2, stiffness=0.01))


def test_as_newton_with_supports_that_move():
    swing = sp.Support.oscillating(AT_WALL, amplitude=(0.05, 0.1, 0.0), frequency=3.0)
    body = bar(fixed=None, supports=[swing])
    for damping in (None, sp.Viscous(np.eye(3 * BAR.n_vertices)), sp.StrainRate(shear=30.0)):
        assert_same_motion(body, integrator=sp.TRBDF2(), damping=damping)


def test_as_newton_with_several_materials():
    middle = BAR.vertices[BAR.cells].mean(axis=1)[:, 0]
    regions = {"left": np.flatnonzero(middle < 0.5), "right": np.flatnonzero(middle >= 0.5)}
    mesh = sp.TetMesh(BAR.vertices, BAR.cells, regions=regions)
    materials = {"left": soft(sp.StVK, young=5e4), "right": soft(sp.NeoHookean, young=1e4)}
    body = sp.Body(mesh, materials, fixed=AT_WALL)
    damping = sp.Rayleigh(stiffness={"left": 0.01, "right": 0.0}, at=sp.StiffnessAt.CURRENT)
    assert_same_motion(body, damping=[damping, sp.StrainRate(shear={"left": 0, "right": 50})])


@pytest.mark.parametrize("rule", [sp.BDF2, sp.TRBDF2], ids=lambda r: r.__name__)
def test_second_order(rule):
    """Half the step, a quarter of the error, against the exact solver at a tiny step."""
    body, damping = bar(), sp.StrainRate(shear=30.0)

    def after(solver, steps):
        options = {"dt": 0.16 / steps, "integrator": rule(), "damping": damping}
        sim = sp.Simulation(body, solver=solver, gravity=(0, 0, -9.81), **options)
        return stepped(sim, steps).state.u

    reference = after(EXACT, 160)
    errors = [np.abs(after(CLOSE, n) - reference).max() for n in (10, 20)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.2)
