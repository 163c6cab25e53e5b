"""Energy, force, stiffness and mass of bodies, over every material and every kind of cell."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.helpers import (
    EPS,
    MATERIAL_NAMES,
    MESH_NAMES,
    affine,
    deformation_gradients,
    evaluate,
    large_deformation,
    remainder_slopes,
    rotation,
    small_mesh,
    soft,
)
from tests.refusals import refused

import supple as sp
from supple.materials import MATERIALS

every_material = pytest.mark.parametrize("material", MATERIALS, ids=lambda m: m.__name__)
every_mesh = pytest.mark.parametrize("mesh_name", MESH_NAMES)


def force_rounding(body: sp.Body, u: np.ndarray) -> float:
    """Bound of the rounding of a nodal force at F of any size.

    A force sums stress · area over the points of the cells around a vertex; stresses are products
    of at most seven factors F and F is a sum of k products, so a few tens of eps each.
    """
    rule = body.mesh.quadrature()
    area = (np.linalg.norm(rule.gradients, axis=3) * rule.weights[:, :, None]).sum(axis=1)
    around = np.zeros(body.n_vertices)
    np.add.at(around, body.mesh.cells, area)
    modulus = max(float((part.lame[0] + 2 * part.lame[1]).max()) for part in body.parts)
    strain = 1 + np.abs(deformation_gradients(body.mesh, u)).max() + np.abs(u).max()
    return 50 * EPS * modulus * float(around.max()) * strain**3


# -- derivatives -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("material", "inverted"),
    [(m, False) for m in MATERIALS] + [(m, True) for m in MATERIALS if m.survives_inversion],
    ids=lambda given: given.__name__ if isinstance(given, type) else str(given),
)
@every_mesh
def test_body_derivatives_taylor_slopes(material, mesh_name, inverted):
    """Remainders of energy after two and three terms and of force after two: slopes 2, 3 and 2."""
    mesh = small_mesh(mesh_name)
    body = sp.Body(mesh, soft(material))
    u = large_deformation(mesh, inverted=inverted)
    d = np.random.default_rng(5).normal(size=u.shape)
    d *= 0.1 / np.abs(deformation_gradients(mesh, d) - np.eye(3)).max()  # strains of h/10
    U, g, K = body.energy(u), body.force(u), body.stiffness(u)
    slope, curved = np.vdot(g, d), (K @ d.ravel()).reshape(u.shape)
    # Inverted cells of the corotational model may come near a jump of R: stay closer.
    steps = 2.0 ** -np.arange(3, 6) * (0.1 if inverted else 1.0)

    def second(h):
        return abs(body.energy(u + h * d) - U - h * slope)

    def third(h):
        return abs(body.energy(u + h * d) - U - h * slope - h * h / 2 * np.vdot(d, curved))

    def force(h):
        return np.linalg.norm(body.force(u + h * d) - g - h * curved)

    # The slope is p + O(strain), and strains are at most 2⁻⁴/10.
    assert remainder_slopes(second, steps)[-1] > 2 - 0.1
    assert remainder_slopes(force, steps)[-1] > 2 - 0.1
    if not inverted:  # at a tenth of the step the third remainder drowns in the rounding of U
        assert remainder_slopes(third, steps)[-1] > 3 - 0.2


@every_material
@every_mesh
def test_body_equals_numpy_twin(material, mesh_name):
    """Threads, chunks, slots and upper triangles against three einsums over the whole mesh."""
    mesh = small_mesh(mesh_name)
    constants = soft(material)
    body = sp.Body(mesh, constants)
    u = large_deformation(mesh, inverted=False)
    rule, F = mesh.quadrature(), deformation_gradients(mesh, u)
    lam, mu = (x[0] for x in constants.lame(np.array([0])))
    psi, P, A = evaluate(material, F.reshape(-1, 3, 3), lam, mu)
    P, A = P.reshape(F.shape), A.reshape(*F.shape[:2], 3, 3, 3, 3)
    force, dense = np.zeros_like(u), np.zeros((*u.shape, *u.shape))
    np.add.at(force, mesh.cells, np.einsum("eq,eqij,eqaj->eai", rule.weights, P, rule.gradients))
    cells = np.einsum(
        "eq,eqaj,eqijkl,eqbl->eabik", rule.weights, rule.gradients, A, rule.gradients, optimize=True
    )
    for nodes, matrix in zip(mesh.cells, cells, strict=True):
        for a, i in enumerate(nodes):
            for b, k in enumerate(nodes):
                dense[i, :, k, :] += matrix[a, b]
    np.testing.assert_allclose(body.energy(u), rule.weights.ravel() @ psi, rtol=1e3 * EPS)
    assert np.abs(body.force(u) - force).max() <= force_rounding(body, u)
    K = body.stiffness(u).toarray()
    assert np.abs(K - dense.reshape(K.shape)).max() <= 100 * EPS * np.abs(K).max()


@every_material
@every_mesh
def test_definite_stiffness_has_no_negative_eigenvalues(material, mesh_name):
    mesh = small_mesh(mesh_name)
    body = sp.Body(mesh, soft(material))
    u = large_deformation(mesh, inverted=material.survives_inversion)
    values = np.linalg.eigvalsh(body.stiffness(u, definite=True).toarray())
    # Weyl: rounding of the entries moves an eigenvalue by at most rows · eps · the largest.
    assert values[0] >= -len(values) * EPS * values[-1]


@every_mesh
def test_stiffness_at_rest_same_for_every_material(mesh_name):
    """All of them are linear elasticity for small strains."""
    mesh = small_mesh(mesh_name)
    rest = np.zeros_like(mesh.vertices)
    matrices = [sp.Body(mesh, soft(m)).stiffness(rest).toarray() for m in MATERIALS]
    for other in matrices[1:]:
        assert np.abs(other - matrices[0]).max() <= 50 * EPS * np.abs(matrices[0]).max()


# -- patch tests -----------------------------------------------------------------------------


@every_material
@every_mesh
def test_affine_displacement_in_equilibrium(material, mesh_name):
    """A constant stress needs no force on inner vertices, and P·N on the boundary."""
    mesh = small_mesh(mesh_name)
    constants = soft(material)
    body = sp.Body(mesh, constants)
    F = rotation(1) @ np.diag([0.8, 1.1, 1.3]) @ rotation(2)
    u = affine(mesh, F, (1.0, 2.0, 3.0))
    P = evaluate(material, F[None], *(x[0] for x in constants.lame(np.array([0]))))[1][0]
    outward = -body.pressure(None, 1.0)  # ∫ N_a n dA
    assert np.abs(body.force(u) - outward @ P.T).max() <= force_rounding(body, u)


@every_material
@every_mesh
def test_affine_boundary_gives_affine_interior(material, mesh_name):
    """The patch test proper: solve for the inner vertices with the boundary moved affinely."""
    mesh = small_mesh(mesh_name)
    F = np.eye(3) + 0.1 * np.random.default_rng(0).normal(size=(3, 3))
    u = affine(mesh, F)
    edge = np.unique(mesh.boundary_facets())
    body = sp.Body(mesh, soft(material), supports=[sp.Support(edge, lambda t: u[edge])])
    assert body.free.any()
    noise = 0.01 * np.random.default_rng(1).normal(size=u.shape)
    found = sp.static_shape(body, start=u + noise, tolerance=1e-13)
    # Rounding of the forces times ‖K⁻¹‖; with the boundary held, K has a condition number below 20.
    assert np.abs(found - u).max() <= 20 * 20 * EPS * np.abs(u).max()


@every_material
@every_mesh
def test_rigid_motion_free_of_force(material, mesh_name):
    mesh = small_mesh(mesh_name)
    body = sp.Body(mesh, soft(material))
    u = affine(mesh, rotation(7), (0.3, -0.2, 0.5))
    assert np.abs(body.force(u)).max() <= force_rounding(body, u)


# -- invariance ------------------------------------------------------------------------------


@every_material
@every_mesh
def test_vertex_and_cell_permutation_invariance(material, mesh_name):
    mesh = small_mesh(mesh_name)
    rng = np.random.default_rng(8)
    order, cells = rng.permutation(mesh.n_vertices), rng.permutation(mesh.n_cells)
    number = np.argsort(order)  # new index of each old vertex
    mixed = dataclasses.replace(
        mesh, vertices=mesh.vertices[order], cells=number[mesh.cells[cells]]
    )
    young = rng.uniform(1e4, 2e4, mesh.n_cells)
    body = sp.Body(mesh, soft(material, young=young))
    other = sp.Body(mixed, soft(material, young=young[cells]))
    u = large_deformation(mesh, inverted=False)
    assert abs(body.energy(u) - other.energy(u[order])) <= 1e3 * EPS * body.energy(u)
    assert np.abs(body.force(u)[order] - other.force(u[order])).max() <= force_rounding(body, u)
    rows = (3 * order[:, None] + np.arange(3)).ravel()
    K, L = body.stiffness(u).toarray(), other.stiffness(u[order]).toarray()
    assert np.abs(K[np.ix_(rows, rows)] - L).max() <= 100 * EPS * np.abs(K).max()


@every_material
def test_region_mapping_equals_cell_arrays(material):
    mesh = small_mesh("tet")
    left = mesh.cells_where(x=(None, 0.5))
    right = np.setdiff1d(np.arange(mesh.n_cells), left)
    mesh = mesh.with_region("left", left).with_region("right", right)
    values = {"young": (1e4, 3e4), "poisson": (0.1, 0.4), "density": (500.0, 2000.0)}
    split = {"left": soft(material, **{k: v[0] for k, v in values.items()})}
    split["right"] = soft(material, **{k: v[1] for k, v in values.items()})
    arrays = {k: np.where(np.isin(np.arange(mesh.n_cells), left), *v) for k, v in values.items()}
    one, two = sp.Body(mesh, split), sp.Body(mesh, soft(material, **arrays))
    u = large_deformation(mesh, inverted=False)
    assert np.abs(one.force(u) - two.force(u)).max() <= force_rounding(two, u)
    difference = (one.stiffness(u) - two.stiffness(u)).toarray()
    assert np.abs(difference).max() <= 100 * EPS * np.abs(two.stiffness(u).toarray()).max()
    np.testing.assert_allclose(one.mass.toarray(), two.mass.toarray(), rtol=1e-14, atol=1e-18)


def test_mixed_materials_add_up():
    """A body of several models has the sum of their energies, each on its cells."""
    mesh = small_mesh("tet")
    quarters = np.array_split(np.random.default_rng(0).permutation(mesh.n_cells), len(MATERIALS))
    for name, cells in zip(MATERIAL_NAMES, quarters, strict=True):
        mesh = mesh.with_region(name, np.sort(cells))
    body = sp.Body(mesh, {name: soft(m) for name, m in MATERIAL_NAMES.items()})
    u = large_deformation(mesh, inverted=False)
    total = 0.0
    for name, material in MATERIAL_NAMES.items():
        factors = np.isin(np.arange(mesh.n_cells), mesh.region(name)).astype(float)
        whole = sp.Body(mesh, soft(material))
        total += whole.evaluate(u, order=0, cell_factors=factors).energy
    np.testing.assert_allclose(body.energy(u), total, rtol=1e3 * EPS)


@every_material
def test_thread_count_does_not_change_results(material):
    mesh = sp.TetMesh.box((1, 0.5, 0.5), (12, 8, 8))  # enough points for two threads
    body = sp.Body(mesh, soft(material))
    u = affine(mesh, np.diag([1.2, 0.9, 1.0]))
    u += 0.003 * np.random.default_rng(0).normal(size=u.shape)
    results = []
    try:
        for count in (1, 2):
            sp.set_thread_count(count)
            results.append(body.evaluate(u, order=2, definite=True))
    finally:
        sp.set_thread_count(0)
    one, two = results
    assert abs(one.energy - two.energy) <= mesh.n_cells * EPS * one.energy
    assert np.abs(one.gradient - two.gradient).max() <= force_rounding(body, u)
    assert np.abs(one.stiffness - two.stiffness).max() <= 100 * EPS * np.abs(one.stiffness).max()


# -- bad input -------------------------------------------------------------------------------


def test_bad_body_names_the_argument():
    mesh = small_mesh("tet").with_region("some", [0, 1]).with_region("all", np.arange(40))
    steel = soft(sp.StVK)
    n = mesh.n_vertices
    support = sp.Support([0], lambda t: (0, 0, 0))
    cases = [
        ((mesh.vertices, steel), {}, "mesh"),
        ((mesh, "steel"), {}, "material"),
        ((mesh, soft(sp.StVK, young=[1.0, 2.0])), {}, "young has 2"),
        ((mesh, {"some": steel}), {}, "no material"),
        ((mesh, {"some": steel, "all": steel}), {}, "more than one material"),
        ((mesh, {"none": steel}), {}, "none"),
        ((mesh, steel), {"fixed": [n]}, "fixed"),
        ((mesh, steel), {"fixed": [0.5]}, "fixed"),
        ((mesh, steel), {"fixed": np.zeros((n, 2), bool)}, "fixed"),
        ((mesh, steel), {"fixed": [0], "supports": [support]}, "vertex 0 is held twice"),
        ((mesh, steel), {"supports": [support, support]}, "vertex 0 is held twice"),
        ((mesh, steel), {"supports": support}, "supports"),
        ((mesh, steel), {"mass_model": sp.LumpedMass}, "mass_model"),
    ]
    for arguments, options, named in cases:
        refused(named, sp.Body, *arguments, **options)


@pytest.mark.parametrize("method", ["energy", "force", "stiffness"])
def test_bad_displacements_named(method):
    body = sp.Body(small_mesh("tet"), soft(sp.StVK))
    good = np.zeros((body.n_vertices, 3))
    for bad in (good[:-1], good.ravel(), np.where(good == 0, np.nan, 0), "flat", None):
        refused(r"\bu\b", getattr(body, method), bad)
