"""Cloth: energy, force and stiffness, closed forms, materials."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.bodies.cloth.sheets import (
    FILM,
    ISOTROPIC,
    MATERIALS,
    WOVEN,
    bowl,
    cloths,
    crumpled,
    shaken_grid,
)
from tests.helpers import EPS, rotation
from tests.refusals import refusals

import supple as sp

CLOTHS = cloths()
every_cloth = pytest.mark.parametrize("body", CLOTHS.values(), ids=CLOTHS.keys())


# -- energy and its derivatives ---------------------------------------------------------------


@every_cloth
def test_definite_stiffness_of_each_triangle(body):
    u = crumpled(body.mesh)
    assert np.linalg.eigvalsh(body.stiffness(u).toarray())[0] < -1.0
    for factors in (np.ones(body.n_cells), *np.eye(body.n_cells)[:6]):
        values = body.evaluate(u, order=2, definite=True, cell_factors=factors).stiffness
        eigenvalues = np.linalg.eigvalsh(body.pattern.full(values).toarray())
        assert eigenvalues[0] >= -50 * EPS * eigenvalues[-1]


def test_definite_stiffness_is_exact_under_tension():
    body = sp.Cloth(shaken_grid(), ISOTROPIC)
    u = 0.2 * body.mesh.vertices  # every triangle pulled both ways, nothing bent
    exact, definite = (body.stiffness(u, definite=d).toarray() for d in (False, True))
    assert np.array_equal(exact, definite)


@every_cloth
def test_rigid_motion_changes_nothing(body):
    u, X = crumpled(body.mesh), body.mesh.vertices
    Q, shift = rotation(3), np.array([1.0, -2.0, 0.5])
    turned = (X + u) @ Q.T + shift - X
    assert body.energy(turned) == pytest.approx(body.energy(u), rel=1e-11)
    f = body.force(u)
    assert np.abs(body.force(turned) - f @ Q.T).max() <= 1e-11 * np.abs(f).max()
    assert np.abs(f.sum(axis=0)).max() <= 1e-12 * np.abs(f).max()
    assert np.abs(np.cross(X + u, f).sum(axis=0)).max() <= 1e-12 * np.abs(f).max()


def test_nothing_pulls_at_rest():
    for mesh in (shaken_grid(), bowl()):
        body = sp.Cloth(mesh, ISOTROPIC)
        rest = np.zeros_like(mesh.vertices)
        turned = mesh.vertices @ rotation(1).T - mesh.vertices
        assert np.abs(body.force(rest)).max() <= body.rounding_force(rest)
        assert np.abs(body.force(turned)).max() <= 10 * body.rounding_force(turned)


def test_folded_flat_and_collapsed_triangles_have_finite_forces():
    body = sp.Cloth(sp.SheetMesh.grid((1, 1), (2, 2)), ISOTROPIC, bending=sp.HingeBending())
    folded = body.mesh.vertices * [-1, 0, 0] * (body.mesh.vertices[:, :1] > 0.6)
    for u in (folded, -body.mesh.vertices):
        found = body.evaluate(u, order=2)
        assert np.isfinite(found.energy)
        assert np.isfinite(found.gradient).all()
        assert np.isfinite(found.stiffness).all()


# -- the plane: patch tests -------------------------------------------------------------------


@pytest.mark.parametrize("name", MATERIALS)
def test_uniform_strain_has_the_stress_of_the_formula(name):
    """F = diag(1 + a, 1 + b) in warp and weft: S = C:E on every triangle, whatever the mesh."""
    body = sp.Cloth(shaken_grid(), MATERIALS[name])
    warp = np.array([1.0, 0.5]) / np.hypot(1.0, 0.5) if name == "woven" else np.array([1.0, 0.0])
    axes = np.stack([warp, [-warp[1], warp[0]]])
    stretch = axes.T @ np.array([(1.1, 0.05), (0.05, 0.95)]) @ axes
    flat = body.mesh.pattern @ stretch.T
    u = np.column_stack([flat, np.zeros(len(flat))]) - body.mesh.vertices
    F = np.array([(1.1, 0.05), (0.05, 0.95)])
    E = 0.5 * (F.T @ F - np.eye(2))
    strain = np.array([E[0, 0], E[1, 1], 2 * E[0, 1]])
    t = 1e-3
    if name == "woven":
        E0, E1, nu, G = 4e5, 1e5, 0.4, 3e4
        S0, S1 = np.linalg.solve([(1 / E0, -nu / E0), (-nu / E0, 1 / E1)], strain[:2])
    else:
        E0, nu = 2e5, 0.3
        G = E0 / (2 * (1 + nu))
        S0, S1 = np.linalg.solve(np.array([(1, -nu), (-nu, 1)]) / E0, strain[:2])
    density = 0.5 * t * (S0 * strain[0] + S1 * strain[1] + G * strain[2] ** 2)
    assert body.energy(u) == pytest.approx(density * body.mesh.area, rel=1e-12)
    inner = np.setdiff1d(np.arange(body.n_vertices), body.mesh.boundary_edges)
    f = body.force(u)
    assert np.abs(f[inner]).max() <= 1e-12 * np.abs(f).max()


def test_pulled_strip_has_youngs_modulus_and_poissons_ratio():
    """Pulled gently, it lengthens by F/(E t w) and narrows by ν times that."""
    E, nu, t, size = 1e6, 0.35, 1e-3, (2.0, 0.5)
    mesh = sp.SheetMesh.grid(size, (8, 2))
    held = np.zeros((mesh.n_vertices, 3), dtype=bool)
    held[:, 2] = True
    held[mesh.where(x=0), 0] = True
    held[0] = True
    film = sp.IsotropicCloth(young=E, poisson=nu, thickness=t, areal_density=0.2)
    body = sp.Cloth(mesh, film, fixed=held)
    force, end = 1e-3, mesh.where(x=2.0)
    share = np.array([0.25, 0.5, 0.25])[:, None] * [force, 0, 0]
    u = sp.static_shape(body, body.point_force(end, share))
    strain = force / (E * t * size[1])
    assert np.allclose(u[:, 0], strain * mesh.vertices[:, 0], atol=1e-4 * strain)
    assert np.allclose(u[:, 1], -nu * strain * mesh.vertices[:, 1], atol=1e-4 * strain)


def test_weave_is_stiff_along_its_threads():
    mesh = sp.SheetMesh.grid((1, 1), (2, 2))
    body = sp.Cloth(mesh, replace(WOVEN, warp=(0, 1), poisson=0.0))
    energies = [body.energy(0.01 * mesh.vertices * axis) for axis in np.eye(3)]
    assert energies[1] == pytest.approx(4 * energies[0], rel=1e-12)


def test_warp_in_space_where_there_is_no_pattern():
    mesh = sp.SheetMesh.grid((1, 1), (2, 2))
    Q = rotation(5)
    turned = sp.SheetMesh(mesh.vertices @ Q.T, mesh.cells)
    u = crumpled(mesh)
    flat = sp.Cloth(mesh, replace(WOVEN, warp=(0.6, 0.8)))
    there = sp.Cloth(turned, replace(WOVEN, warp=Q @ [0.6, 0.8, 0.0]))
    assert there.energy(u @ Q.T) == pytest.approx(flat.energy(u), rel=1e-12)


def test_pattern_is_the_rest_shape():
    """A sheet that lies rolled up has no strain, one on a smaller pattern is tight."""
    flat = sp.SheetMesh.grid((1, 1), (6, 6))
    angle = flat.vertices[:, 0]
    rolled = np.column_stack([np.sin(angle), flat.vertices[:, 1], 1 - np.cos(angle)])
    limp = sp.IsotropicCloth(young=2e5, bending_stiffness=0.0, **FILM)
    rest = np.zeros_like(rolled)
    body = sp.Cloth(sp.SheetMesh(rolled, flat.cells, pattern=flat.pattern), limp)
    chord = (2 * np.sin(1 / 12) / (1 / 6)) ** 2 - 1  # triangles are chords of the roll
    assert body.energy(rest) == pytest.approx(0.125 * 2e5 * 1e-3 / (1 - 0.09) * chord**2, rel=1e-9)
    grid = sp.SheetMesh.grid((1, 1), (2, 2))
    tight = sp.Cloth(sp.SheetMesh.grid((1, 1), (2, 2), pattern=0.5 * grid.pattern), limp)
    assert tight.mesh.area == pytest.approx(0.25)
    assert tight.total_mass == pytest.approx(0.25 * 0.2)
    strain = 0.5 * (4 - 1)
    tension = 2e5 * 1e-3 / (1 - 0.3) * strain
    assert tight.energy(np.zeros((9, 3))) == pytest.approx(tension * strain * 0.25, rel=1e-12)


def test_pattern_by_corner_with_a_seam():
    """Pieces that lie elsewhere and turned in the pattern are the same cloth."""
    mesh = sp.SheetMesh.grid((1, 1), (2, 2))
    corners = mesh.pattern[mesh.cells].copy()
    right = mesh.centroids[:, 0] > 0.5
    corners[right] = corners[right] @ np.array([(0.6, -0.8), (0.8, 0.6)]).T + [5.0, 2.0]
    cut = sp.SheetMesh(mesh.vertices, mesh.cells, pattern=corners)
    u = crumpled(mesh)
    for bending in (sp.QuadraticBending(), sp.HingeBending()):
        whole, sewn = (sp.Cloth(m, ISOTROPIC, bending=bending) for m in (mesh, cut))
        assert sewn.energy(u) == pytest.approx(whole.energy(u), rel=1e-10)


# -- mass and materials -----------------------------------------------------------------------


def test_mass():
    mesh = sp.SheetMesh.grid((2, 1), (4, 3))
    body = sp.Cloth(mesh, ISOTROPIC)
    assert body.total_mass == pytest.approx(0.4)
    assert body.mass.sum() == pytest.approx(3 * 0.4)
    x = mesh.vertices[:, 0]  # ∫ ρ x² over the rectangle, exact for linear fields
    field = np.column_stack([x, 0 * x, 0 * x])
    assert np.vdot(field, body.mass_times(field)) == pytest.approx(0.2 * 8 / 3, rel=1e-12)
    lumped = replace(body, mass_model=sp.LumpedMass())
    assert np.count_nonzero(lumped.mass_values) == body.n_vertices
    assert lumped.mass.sum() == pytest.approx(3 * 0.4)
    factors = np.random.default_rng(0).uniform(size=body.n_cells)
    assert body.scaled_mass(factors).sum() <= body.mass_values.sum()


def test_materials_by_region_and_by_triangle():
    mesh = shaken_grid().with_region("a", np.arange(10)).with_region("b", np.arange(10, 24))
    stiff = replace(ISOTROPIC, young=1e6, areal_density=0.5, bending_stiffness=1e-2)
    by_region = sp.Cloth(mesh, {"a": ISOTROPIC, "b": stiff})
    inside = np.arange(24) < 10
    values = {
        name: np.where(inside, getattr(ISOTROPIC, name), getattr(stiff, name))
        for name in ("young", "areal_density", "bending_stiffness")
    }
    by_triangle = sp.Cloth(mesh, replace(ISOTROPIC, **values))
    u = crumpled(mesh)
    assert by_region.energy(u) == by_triangle.energy(u)
    assert by_region.total_mass == by_triangle.total_mass
    assert np.array_equal(by_region.force(u), by_triangle.force(u))
    assert by_region.energy(u) > sp.Cloth(mesh, ISOTROPIC).energy(u)


def cloth(**changes: object) -> sp.Cloth:
    given = {"mesh": shaken_grid(), "material": ISOTROPIC} | changes
    return sp.Cloth(**given)  # type: ignore[arg-type]


test_bad_input_is_refused = refusals(
    (lambda: sp.IsotropicCloth(young=-1, **FILM), "young=-1: stiffness must be positive"),
    (lambda: sp.IsotropicCloth(young=1, poisson=1.0, **FILM), "poisson=1: a stable sheet"),
    (lambda: sp.IsotropicCloth(young=1, bending_stiffness=-1, **FILM), "zero or more"),
    (lambda: sp.IsotropicCloth(young=1, thickness=0, areal_density=1), "thickness=0"),
    (lambda: sp.IsotropicCloth(young=1, thickness=1, areal_density=0), "areal_density=0"),
    (lambda: sp.IsotropicCloth(young="much", **FILM), "young='much'"),
    (lambda: replace(WOVEN, poisson=2.0), "poisson=2: a stable weave"),
    (lambda: replace(WOVEN, shear=0.0), "shear=0"),
    (lambda: replace(WOVEN, warp=(0, 0)), "warp has no length"),
    (lambda: replace(WOVEN, warp=1.0), "warp has shape"),
    (lambda: replace(WOVEN, bending_weft=-1.0), "bending_weft"),
    (lambda: cloth(material=replace(WOVEN, warp=(1, 0, 0))), "three components"),
    (lambda: cloth(material=replace(WOVEN, warp=np.eye(2))), "2 directions for 24"),
    (lambda: cloth(mesh=bowl(), material=WOVEN), "two components, but the mesh has no pat"),
    (lambda: upright(), "right angles to triangle 0"),
    (lambda: cloth(material=sp.StVK(young=1, poisson=0)), "material is a StVK"),
    (lambda: cloth(material=replace(ISOTROPIC, young=[1.0, 2.0])), "2 values for 24 triang"),
    (lambda: cloth(material={"no": ISOTROPIC}), "no region 'no'"),
    (lambda: cloth(mesh=shaken_grid().with_region("a", [0]), material={"a": WOVEN}), "cover"),
    (lambda: cloth(mesh=sp.TetMesh.box((1, 1, 1), (1, 1, 1))), "give a SheetMesh"),
    (lambda: cloth(bending=3), "bending is 3"),
    (lambda: cloth(mesh=bowl(), bending=sp.QuadraticBending()), "flat at rest, and this mesh"),
    (lambda: cloth(bending=sp.HingeBending([1.0, 2.0])), "rest_angles has shape"),
    (lambda: cloth(mass_model=3), "mass_model"),
    (lambda: cloth(strain_limit=0.1), r"strain_limit is 0.1; give .* StrainLimit\(stretch"),
    (lambda: sp.StrainLimit(stretch=0), "stretch=0"),
    (lambda: sp.StrainLimit(stretch=0.1, firmness=0), "firmness=0"),
    (lambda: sp.StrainLimit(stretch=0.1, onset=1), "onset=1"),
    (lambda: cloth(fixed=[99]), "vertex 99"),
    (lambda: sp.static_shape(cloth(fixed=[0])), "leave 3 rigid motions free"),
    (lambda: sp.Body(shaken_grid(), sp.StVK(young=1, poisson=0)), "mesh is a SheetMesh"),
)


def upright() -> sp.Cloth:
    """A sheet at right angles to x, along which the warp is by default."""
    flat = shaken_grid()
    mesh = sp.SheetMesh(flat.vertices[:, [2, 0, 1]], flat.cells)
    return sp.Cloth(mesh, replace(WOVEN, warp=None))
