"""Static shapes: equilibrium, loads in increments, supports, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers import EPS, MESH_NAMES, rotation, small_mesh, soft, stepped
from tests.refusals import refusals, refused

import supple as sp
from supple.materials import MATERIALS

every_material = pytest.mark.parametrize("material", MATERIALS, ids=lambda m: m.__name__)
BEAM = sp.TetMesh.box((1, 0.2, 0.2), (8, 2, 2))


def beam(material=sp.StVK, **constants) -> sp.Body:
    return sp.Body(BEAM, soft(material, **({"young": 1e5} | constants)), fixed=BEAM.where(x=0))


def residual(body: sp.Body, u: np.ndarray, load: np.ndarray) -> float:
    """Unbalanced force on the free components, as a part of all forces."""
    forces = body.force(u)
    return np.linalg.norm((forces - load)[body.free]) / (
        np.linalg.norm(forces) + np.linalg.norm(load)
    )


@every_material
@pytest.mark.parametrize("mesh_name", MESH_NAMES)
def test_static_shape_balances_forces(material, mesh_name):
    mesh = small_mesh(mesh_name)
    body = sp.Body(mesh, soft(material), fixed=np.argsort(mesh.vertices[:, 2])[:9])
    g = np.array([0.0, 3.0, -9.81])
    for tolerance in (1e-4, 1e-8, 1e-12):
        u = sp.static_shape(body, gravity=g, tolerance=tolerance)
        assert residual(body, u, body.weight(g)) <= tolerance
        assert not u[~body.free].any()


@every_material
def test_load_increments_do_not_matter(material):
    """The path is elastic: one jump, five parts and a start from above end in the same shape."""
    body = beam(material)
    load = body.surface_force(BEAM.where(x=1), (0, 0, -500.0))
    whole = sp.static_shape(body, load, tolerance=1e-12)
    # Force errors of 1e-12 through a beam whose condition number is below 1e5.
    for options in ({"increments": 5}, {"start": 1.05 * whole}):
        found = sp.static_shape(body, load, tolerance=1e-12, **options)
        assert np.abs(found - whole).max() <= 1e-7 * np.abs(whole).max()


@every_material
def test_small_load_is_linear(material):
    """u = K⁻¹ f up to terms of second order in the load."""
    body = beam(material)
    free = np.flatnonzero(body.free)
    K = body.stiffness(np.zeros_like(BEAM.vertices)).toarray()[np.ix_(free, free)]
    load = body.surface_force(BEAM.where(x=1), (0, 0, -1.0))
    linear = np.linalg.solve(K, load.ravel()[free])
    errors = []
    for size in (1.0, 0.5):
        u = sp.static_shape(body, size * load, tolerance=1e-13).ravel()[free]
        errors.append(np.linalg.norm(u - size * linear))
    assert np.log2(errors[0] / errors[1]) > 2 - 0.1


@every_material
def test_static_shape_turns_with_the_scene(material):
    Q = rotation(1)
    turned = sp.TetMesh(BEAM.vertices @ Q.T, BEAM.cells)
    g = np.array([0.0, 0.0, -3.0])
    u = sp.static_shape(beam(material), gravity=g, tolerance=1e-12)
    body = sp.Body(turned, soft(material, young=1e5), fixed=BEAM.where(x=0))
    w = sp.static_shape(body, gravity=Q @ g, tolerance=1e-12)
    assert np.abs(w - u @ Q.T).max() <= 1e-7 * np.abs(u).max()


def test_supports_in_static_shape():
    """Moving one end by d stretches a bar of ν = 0 evenly: the exact shape is u = d X/L."""
    mesh = sp.HexMesh.box((1, 0.1, 0.1), (5, 1, 1))
    ends = [mesh.where(x=0), mesh.where(x=1)]
    for material in MATERIALS:
        supports = [sp.Support(ends[1], lambda t: (0.3, 0, 0))]
        body = sp.Body(mesh, soft(material, poisson=0.0), fixed=ends[0], supports=supports)
        u = sp.static_shape(body, tolerance=1e-13)
        if material in (sp.StVK, sp.Corotational):  # no lateral contraction at ν = 0
            np.testing.assert_allclose(u[:, 0], 0.3 * mesh.vertices[:, 0], atol=1e-12)
        np.testing.assert_array_equal(u[ends[1]], np.tile([0.3, 0, 0], (len(ends[1]), 1)))


def test_large_support_motion_is_brought_on_gradually():
    """A jump of the boundary would turn cells inside out, which neo-Hookean forbids."""
    mesh = small_mesh("quadratic")
    edge = np.unique(mesh.boundary_facets())
    F = np.eye(3) + 0.1 * np.random.default_rng(0).normal(size=(3, 3))
    u = mesh.vertices @ (F - np.eye(3)).T
    body = sp.Body(mesh, soft(sp.NeoHookean), supports=[sp.Support(edge, lambda t: u[edge])])
    assert np.abs(sp.static_shape(body, tolerance=1e-13) - u).max() <= 400 * EPS * np.abs(u).max()


def test_static_shape_is_where_a_damped_motion_ends():
    body = beam()
    u = sp.static_shape(body, gravity=(0, 0, -9.81))
    sim = sp.Simulation(body, integrator=sp.BackwardEuler(), dt=0.1, gravity=(0, 0, -9.81),
                        damping=sp.Rayleigh(mass=5.0))  # fmt: skip
    stepped(sim, 150)
    # e^{−αt/2} is below 1e-16; what is left are two tolerances, 1e-6 of forces.
    assert np.abs(sim.state.u - u).max() <= 1e-4 * np.abs(u).max()


def test_no_load_no_displacement():
    assert not sp.static_shape(beam()).any()


def test_progress_reported():
    calls = []
    sp.static_shape(beam(), gravity=(0, 0, -1), increments=4, progress=lambda *a: calls.append(a))
    assert [done for done, _, _ in calls] == [250, 500, 750, 1000]
    assert {total for _, total, _ in calls} == {1000}


def test_loose_body_refused():
    for fixed, left in ((None, 6), ([0], 3), ([0, 1], 1)):
        body = sp.Body(BEAM, soft(sp.StVK), fixed=fixed)
        refused(f"leave {left} rigid motions", sp.static_shape, body, gravity=(0, 0, -1))


def test_loose_piece_refused():
    """One of two pieces is held: the other would fall for ever."""
    one = sp.TetMesh.box((1, 1, 1), (1, 1, 1))
    mesh = sp.TetMesh(
        np.concatenate([one.vertices, one.vertices + np.array([3, 0, 0])]),
        np.concatenate([one.cells, one.cells + len(one.vertices)]),
    )
    body = sp.Body(mesh, soft(sp.StVK), fixed=mesh.where(x=0))
    refused("rigid motions", sp.static_shape, body, gravity=(0, 0, -1.0))


def test_impossible_load_fails_with_advice():
    """Crushing an StVK body: beyond its softening there is no equilibrium nearby."""
    body = beam(sp.NeoHookean)
    load = body.surface_force(BEAM.where(x=1), (-1e12, 0, 0))
    refused("of the load", sp.static_shape, body, load, error=sp.StepFailed)


test_bad_static_arguments_named = refusals(
    ({"forces": np.zeros((3, 3))}, "forces"),
    ({"forces": np.full((81, 3), np.nan)}, "forces"),
    ({"gravity": (0, 1)}, "gravity"),
    ({"start": np.zeros(3)}, "start"),
    ({"increments": 0}, "increments"),
    ({"increments": 1.5}, "increments"),
    ({"tolerance": 0.0}, "tolerance"),
    make=lambda options: sp.static_shape(beam(), **options),
)
