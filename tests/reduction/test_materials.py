"""Reduced models of materials with fibres, with drawn curves, and from outside."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from tests.refusals import refused

import supple as sp
from supple.materials import MATERIALS
from supple.reduction.derivatives import differenced_curvature, quadratic_curvature

YOUNG = (1e6, 2e5, 1e5)


def beam(**regions: tuple[float | None, float | None]) -> sp.TetMesh:
    mesh = sp.TetMesh.box(size=(1, 0.2, 0.2), cells=(6, 2, 2))
    for name, span in regions.items():
        mesh = mesh.with_region(name, mesh.cells_where(x=span))
    return mesh


def fibred(mesh: sp.TetMesh) -> sp.OrthotropicStVK:
    """Fibres that turn from cell to cell."""
    axes = np.random.default_rng(0).normal(size=(mesh.n_cells, 2, 3))
    return sp.OrthotropicStVK(young=YOUNG, poisson=(0.3, 0.2, 0.05), axes=axes)


def reduced(body: sp.Body, size: int = 8, **options: object) -> sp.ReducedModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sp.CubatureWarning)
        basis = sp.modal_derivative_basis(body, modes=4, size=size)
        return sp.reduce(body, basis, **options)


def held(material: object, mesh: sp.TetMesh | None = None) -> sp.Body:
    mesh = beam() if mesh is None else mesh
    return sp.Body(mesh, material, fixed=mesh.where(x=0))


def coordinates(model: sp.ReducedModel, reach: float = 0.3) -> np.ndarray:
    """Random coordinates that move the beam by ``reach`` [m]."""
    q = np.random.default_rng(1).normal(size=(4, model.size)) / (1 + np.arange(model.size)) ** 2
    sizes = [np.abs(model.displacements(x)).max() for x in q]
    return reach * q / np.array(sizes)[:, None]


def assert_as_the_body(model: sp.ReducedModel, body: sp.Body) -> None:
    U = model.vectors.reshape(model.size, -1)
    for q in coordinates(model):
        u = model.displacements(q)
        assert model.energy(q) == pytest.approx(body.energy(u), rel=1e-10)
        force, stiffness = U @ body.force(u).ravel(), U @ (body.stiffness(u) @ U.T)
        np.testing.assert_allclose(model.force(q), force, atol=1e-9 * np.abs(force).max())
        error = np.abs(model.stiffness(q) - stiffness).max()
        assert error < 1e-9 * np.abs(stiffness).max()


# -- fibres --------------------------------------------------------------------------------


def test_fibres_have_an_exact_polynomial(tmp_path):
    mesh = beam()
    body = held(fibred(mesh), mesh)
    model = reduced(body)
    assert model.cubature is None
    assert_as_the_body(model, body)
    model.save(tmp_path / "beam.model")
    loaded = sp.load_model(tmp_path / "beam.model")
    for q in coordinates(model):
        assert loaded.energy(q) == model.energy(q)


def test_fibres_beside_plain_cells_and_with_moduli_of_cells():
    mesh = beam(root=(None, 0.4), end=(0.4, None))
    n = mesh.n_cells
    graded = np.linspace(1, 3, n)[:, None] * np.array(YOUNG)
    parts = {
        "root": sp.StVK(young=np.linspace(1e5, 3e5, n), poisson=0.3),
        "end": sp.OrthotropicStVK(young=graded, poisson=0.3, axes=(1, 0, 1)),
    }
    body = held(parts, mesh)
    model = reduced(body)
    assert model.cubature is None
    assert_as_the_body(model, body)


def test_edits_of_fibres_scale_them(tmp_path):
    mesh = beam(root=(None, 0.4), end=(0.4, None))
    material = fibred(mesh)
    body = held({"root": material, "end": sp.StVK(young=2e5, poisson=0.3)}, mesh)
    model = reduced(body, regions=["root", "end"])
    young = float(material.per_cell("young", np.arange(1))[0])
    for kept in (model, _through_a_file(model, tmp_path)):
        edited = kept.edited("root", young=3 * young, density=500)
        expected = held({"root": material.stiffened(3), "end": body.material["end"]}, mesh)
        for q in coordinates(model):
            assert edited.energy(q) == pytest.approx(
                expected.energy(model.displacements(q)), rel=1e-10
            )
        refused("OrthotropicStVK.*reduce", kept.edited, "root", poisson=0.2)
        assert kept.edited("end", poisson=0.2, young=1e5).groups
    edited = model.edited("root", young=3 * young)
    assert_as_the_body(edited, edited.body)
    whole = reduced(body)
    refused("regions=", whole.edited, young=1e5)


def _through_a_file(model: sp.ReducedModel, folder) -> sp.ReducedModel:
    model.save(folder / "kept.model")
    return sp.load_model(folder / "kept.model")


def test_curvature_of_fibres_against_differences():
    mesh = beam()
    material = fibred(mesh)
    cells = np.arange(5)
    lam, mu = material.lame(cells)
    extra = material.extra(cells)
    exact = quadratic_curvature(material.strain_elasticity(lam, mu, *extra))
    found = differenced_curvature(material, lam, mu, *extra)
    np.testing.assert_allclose(exact, found, atol=1e-8 * np.abs(exact).max())


def test_three_equal_moduli_reduce_as_stvk():
    three = held(sp.OrthotropicStVK(young=(1e5,) * 3, poisson=0.3, axes=(1, 1, 0)))
    plain = held(sp.StVK(young=1e5, poisson=0.3))
    basis = sp.modal_derivative_basis(plain, modes=4, size=8)
    a, b = sp.reduce(three, basis), sp.reduce(plain, basis)
    for q in coordinates(a):
        assert a.energy(q) == pytest.approx(b.energy(q), rel=1e-12)
    assert a.groups[0].young == pytest.approx(1e5, rel=1e-12)


def test_damped_motion_of_fibres_follows_the_body():
    """A beam that sags askew along its fibres, reduced and full."""
    body = held(sp.OrthotropicStVK.along_fibres((1, 0, 0.3), young=5e4, ratio=8))
    basis = sp.modal_derivative_basis(body, modes=8, size=24)
    model = sp.reduce(body, basis)
    options = {"dt": 1 / 240, "damping": sp.Rayleigh(stiffness=2e-3), "gravity": (0, 0, -3.0)}
    sim, full = model.simulation(**options), sp.Simulation(body, **options)
    for _ in range(40):
        sim.step()
        full.step()
    u = model.displacements(sim.q)
    assert np.abs(u - full.state.u).max() < 0.02 * np.abs(full.state.u).max()


# -- drawn curves --------------------------------------------------------------------------


def drawn(young: float, softer: float = 0.0) -> sp.SplineMaterial:
    base = sp.SplineMaterial.from_material(sp.StableNeoHookean(young=young, poisson=0.4))
    bent = [(x, y - softer * young * (x - 1) ** 3) for x, y in base.stretch]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sp.MaterialWarning)
        return base.with_curves(stretch=bent)


def test_drawn_curves_by_cubature(tmp_path):
    """Two tables and a field of fibres in one model, all of them in its file."""
    mesh = beam(a=(None, 0.34), b=(0.34, 0.67), c=(0.67, None))
    body = held({"a": drawn(1e5), "b": drawn(2e5, 0.1), "c": fibred(mesh)}, mesh)
    model = reduced(body, regions=["a", "b", "c"])
    cubature = model.cubature
    assert cubature is not None
    assert cubature.test_error < 0.03
    loaded = _through_a_file(model, tmp_path)
    Q = coordinates(model, 0.1)
    for q in Q:
        assert loaded.energy(q) == model.energy(q)
        u = model.displacements(q)
        assert model.energy(q) == pytest.approx(body.energy(u), rel=0.05)
    many = cubature.evaluate_many(np.ascontiguousarray(Q))
    for k, q in enumerate(Q):
        energy, force, stiffness = cubature.evaluate(q)
        assert many[0][k] == pytest.approx(energy, rel=1e-12)
        np.testing.assert_allclose(many[1][k], force, atol=1e-10 * np.abs(force).max())
        np.testing.assert_allclose(many[2][k], stiffness, atol=1e-10 * np.abs(stiffness).max())
    refused("SplineMaterial.*reduce", loaded.edited, "b", poisson=0.2)
    other = held({"a": drawn(1e5), "b": drawn(2e5, 0.1).stiffened(3), "c": fibred(mesh)}, mesh)
    young = float(np.asarray(drawn(2e5, 0.1).young))
    stiff = loaded.edited("b", young=3 * young)
    again = sp.Cubature.of_cells(other, model.vectors, cubature.cells, cubature.weights)
    for q in Q:
        assert stiff.energy(q) == pytest.approx(again.evaluate(q)[0], rel=1e-10)


def test_damaged_tables_are_refused():
    """Kernels take their word for how long they are."""
    mesh = beam(a=(None, 0.5), b=(0.5, None))
    body = held({"a": drawn(1e5), "b": fibred(mesh)}, mesh)
    vectors = sp.vibration_modes(body, 2).shapes
    n = mesh.n_cells
    whole = sp.Cubature.of_cells(body, vectors, np.arange(n), np.ones(n))
    header, arrays = whole.header(), whole.arrays()
    names = [name for name in arrays if name.startswith("extra")]
    assert len(names) == 2
    for name in names:
        flat = arrays[name]
        longer, astray, nan = (flat.copy() for _ in range(3))
        longer[0].reshape(-1)[0] += 1000
        astray = astray.reshape(len(flat), -1)[:, :-1]
        nan.reshape(-1)[-1] = np.nan
        for bad in (longer, astray, nan) if flat.ndim == 2 else (astray, nan, flat[:3]):
            refused("extra", sp.Cubature.from_arrays, header, arrays | {name: bad})
    swapped = dict(zip(names, [arrays[name] for name in reversed(names)], strict=True))
    refused("extra", sp.Cubature.from_arrays, header, arrays | swapped)
    again = sp.Cubature.from_arrays(header, arrays)
    assert again.evaluate(np.array([0.1, -0.05]))[0] == whole.evaluate(np.array([0.1, -0.05]))[0]


def test_all_cells_as_cubature_are_the_body():
    mesh = beam(a=(None, 0.5), b=(0.5, None))
    body = held({"a": drawn(1e5), "b": fibred(mesh)}, mesh)
    basis = sp.modal_derivative_basis(body, modes=4, size=6)
    n = mesh.n_cells
    whole = sp.Cubature.of_cells(body, basis.vectors, np.arange(n), np.ones(n))
    model = sp.reduce(body, basis, cubature=whole)
    assert_as_the_body(model, body)


# -- from outside --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class Outside(sp.StableNeoHookean):
    """What a package of somebody else may have."""


def test_materials_from_outside_are_refused_at_save(tmp_path):
    model = reduced(held(Outside(young=1e5, poisson=0.4)))
    file = tmp_path / "outside.model"
    refused(r"Outside is not a registered.*@MATERIALS.register", model.save, file)
    assert not file.exists()
    MATERIALS.register(Outside)
    try:
        model.save(file)
        loaded = sp.load_model(file)
        q = coordinates(model)[0]
        assert loaded.energy(q) == model.energy(q)
        assert loaded.cubature is not None
        assert loaded.cubature.materials == (Outside,)
    finally:
        MATERIALS.unregister(Outside)
    refused(r"'Outside', which is not known here.*--plugin", sp.load_model, file)


def test_materials_that_only_look_like_stvk_are_not_taken_for_it():
    """One that inherits from StVK and evaluates otherwise has no polynomial of StVK."""

    @dataclass(frozen=True, eq=False, kw_only=True)
    class Harder(sp.StVK):
        evaluate = staticmethod(sp.StableNeoHookean.evaluate)
        evaluate_stretches = staticmethod(sp.StableNeoHookean.evaluate_stretches)

    body = held(Harder(young=1e5, poisson=0.4))
    model = reduced(body)
    assert model.cubature is not None
    twin = reduced(held(sp.StableNeoHookean(young=1e5, poisson=0.4)))
    q = coordinates(model, 0.05)[0]
    u = model.displacements(q)
    assert model.energy(q) == pytest.approx(body.energy(u), rel=0.05)
    np.testing.assert_allclose(model.frequencies, twin.frequencies, rtol=1e-3)
