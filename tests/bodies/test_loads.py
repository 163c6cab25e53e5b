"""Loads: what they add up to, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers import EPS, MESH_NAMES, small_mesh, soft
from tests.refusals import refusals

import supple as sp

every_mesh = pytest.mark.parametrize("mesh_name", MESH_NAMES)
BOXES = {
    "tet": sp.TetMesh.box((1, 0.8, 0.6), (3, 2, 2)),
    "quadratic": sp.QuadraticTetMesh.box((1, 0.8, 0.6), (3, 2, 2)),
    "brick": sp.HexMesh.box((1, 0.8, 0.6), (3, 2, 2)),
}
every_box = pytest.mark.parametrize("box", BOXES.values(), ids=BOXES.keys())


def body_of(mesh: sp.VolumeMesh) -> sp.Body:
    return sp.Body(mesh, soft(sp.StVK))


def moment(mesh: sp.VolumeMesh, force: np.ndarray, about: tuple[float, ...] = (0, 0, 0)):
    return np.cross(mesh.vertices - np.asarray(about), force).sum(axis=0)


@every_box
def test_traction_total_force_and_moment(box):
    """0.48 m² of the end face, pulled at its middle."""
    f = body_of(box).surface_force(box.where(x=1), (1.0, 2.0, 3.0))
    np.testing.assert_allclose(f.sum(axis=0), 0.48 * np.array([1, 2, 3]), rtol=50 * EPS)
    assert np.abs(moment(box, f, (1, 0.4, 0.3))).max() <= 50 * EPS
    assert not f[box.vertices[:, 0] < 1 - 1e-9].any()


@every_box
def test_pressure_on_a_face(box):
    """Against the outward normal +x, whatever the order of the nodes."""
    f = body_of(box).pressure(box.where(x=1), 10.0)
    np.testing.assert_allclose(f.sum(axis=0), (-4.8, 0, 0), atol=100 * EPS)
    assert np.abs(moment(box, f, (1, 0.4, 0.3))).max() <= 100 * EPS


@every_box
def test_traction_work_is_exact_for_linear_fields(box):
    """∫ t·u over the top for u = z-face coordinates: 0.8·½ along x and so on."""
    f = body_of(box).surface_force(box.where(z=0.6), (1.0, 0, 0))
    u = box.vertices[:, [0, 1, 2]] @ np.array([[1.0, 0, 0], [2.0, 0, 0], [0, 0, 0]])
    np.testing.assert_allclose(np.vdot(f, u), 0.8 * 0.5 + 2 * 0.32, rtol=100 * EPS)


def test_quadratic_traction_work_is_exact_for_quadratic_fields():
    """∫ x² over the top, 0.8 · ⅓: quadratic faces carry their load on the middles of edges."""
    box = BOXES["quadratic"]
    f = body_of(box).surface_force(box.where(z=0.6), (1.0, 0, 0))
    np.testing.assert_allclose(f[:, 0] @ box.vertices[:, 0] ** 2, 0.8 / 3, rtol=100 * EPS)


@every_mesh
def test_pressure_on_closed_surface_balances(mesh_name):
    """∮ n dA = 0 and ∮ X × n dA = 0, also over bricks with warped faces."""
    mesh = small_mesh(mesh_name)
    f = body_of(mesh).pressure(None, 1.0)
    scale = np.abs(f).sum()
    assert np.abs(f.sum(axis=0)).max() <= 20 * EPS * scale
    assert np.abs(moment(mesh, f)).max() <= 20 * EPS * scale


@every_mesh
def test_pressure_work_of_growth_is_volume(mesh_name):
    """u = X grows the body: ∮ X·n dA = 3 V."""
    mesh = small_mesh(mesh_name)
    work = -np.vdot(body_of(mesh).pressure(None, 1.0), mesh.vertices)
    np.testing.assert_allclose(work, 3 * mesh.volume, rtol=100 * EPS)


def test_whole_surface_traction_is_area():
    for box in BOXES.values():
        f = body_of(box).surface_force(None, (0, 0, 1.0))
        np.testing.assert_allclose(f.sum(axis=0), (0, 0, 2 * (0.8 + 0.6 + 0.48)), atol=1e3 * EPS)


def test_point_force_adds_up():
    mesh = small_mesh("tet")
    body = body_of(mesh)
    f = body.point_force([3, 5, 3], [(1, 0, 0), (0, 1, 0), (0, 0, 1)])
    assert f[3].tolist() == [1, 0, 1]
    assert f[5].tolist() == [0, 1, 0]
    assert np.count_nonzero(f) == 3
    assert body.point_force([2, 4], (1, 2, 3)).sum(axis=0).tolist() == [2, 4, 6]
    assert body.point_force(7, (1, 2, 3))[7].tolist() == [1, 2, 3]


@every_box
def test_vertex_masks_accepted(box):
    """A mask selects the same vertices here as it does in fixed=."""
    body = body_of(box)
    chosen = box.where(x=1)
    mask = np.isin(np.arange(box.n_vertices), chosen)
    for load in (
        lambda where: body.point_force(where, (1, 2, 3)),
        lambda where: body.surface_force(where, (1, 2, 3)),
        lambda where: body.pressure(where, 2.0),
    ):
        np.testing.assert_array_equal(load(mask), load(chosen))


test_bad_loads_named = refusals(
    (lambda b: b.point_force([99], (0, 0, 1)), "99"),
    (lambda b: b.point_force([-1], (0, 0, 1)), "-1"),
    (lambda b: b.point_force([0.5], (0, 0, 1)), "vert"),
    (lambda b: b.point_force("tip", (0, 0, 1)), "vert"),
    (lambda b: b.point_force([True, False], (0, 0, 1)), r"\(27,\)"),
    (lambda b: b.point_force([0], (0, 1)), "force"),
    (lambda b: b.point_force([0, 1], np.zeros((3, 3))), "force"),
    (lambda b: b.point_force([0], (0, np.nan, 1)), "force"),
    (lambda b: b.surface_force(None, (0, 1)), "traction"),
    (lambda b: b.surface_force(None, (0, 1, np.inf)), "traction"),
    (lambda b: b.surface_force([0], (0, 0, 1)), "none of the .* boundary facets"),
    (lambda b: b.surface_force([0.5], (0, 0, 1)), "vert"),
    (lambda b: b.pressure(None, np.nan), "value"),
    (lambda b: b.pressure(None, "high"), "value"),
    (lambda b: b.pressure([0], 1.0), "none of the .* boundary facets"),
    (lambda b: b.pressure([500], 1.0), "500"),
    make=lambda load: load(body_of(small_mesh("tet"))),
)
