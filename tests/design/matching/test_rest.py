"""Rest shapes of bodies as they hang: hung again, they look as they did."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from tests.refusals import refused

import supple as sp
from supple.design.matching.caveats import MatchingWarning
from supple.design.matching.rest import _Search, rest_shape

GRAVITY = np.array([0.0, 0.0, -9.81])
KINDS = {
    "tets": sp.TetMesh.box(size=(1.0, 0.2, 0.2), cells=(8, 2, 2)),
    "bricks": sp.HexMesh.box(size=(1.0, 0.2, 0.2), cells=(8, 2, 2)),
    "quadratic": sp.QuadraticTetMesh.box(size=(1.0, 0.2, 0.2), cells=(5, 1, 1)),
}
MATERIALS = [sp.StVK, sp.NeoHookean, sp.StableNeoHookean, sp.Corotational]


def beam(kind: str, material=sp.NeoHookean, young: float = 8e5) -> sp.Body:
    mesh = KINDS[kind]
    return sp.Body(mesh, material(young=young, poisson=0.4), fixed=mesh.where(x=0))


def corners(mesh: sp.VolumeMesh) -> np.ndarray:
    return np.unique(mesh.cells[:, :4] if mesh.cell_nodes == 10 else mesh.cells)


@pytest.mark.parametrize("material", MATERIALS)
@pytest.mark.parametrize("kind", KINDS)
def test_hung_again_it_has_the_shape_given(kind, material):
    given = beam(kind, material)
    found = rest_shape(given, gravity=GRAVITY)
    assert found.stable
    sag = np.abs(sp.static_shape(given, gravity=GRAVITY)).max()
    assert sag > 0.2  # gravity matters
    u = sp.static_shape(found.body, gravity=GRAVITY, increments=4, tolerance=1e-12)
    seen = corners(given.mesh)
    off = (found.body.mesh.vertices + u - given.mesh.vertices)[seen]
    assert np.abs(off).max() < 1e-8 * given.mesh.diagonal
    np.testing.assert_allclose(found.displacements, u, atol=1e-8)
    held = given.mesh.where(x=0)
    np.testing.assert_array_equal(found.body.mesh.vertices[held], given.mesh.vertices[held])
    assert (found.body.mesh.volumes > 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_forces_follow_rest_shapes(kind):
    """The matrix of Newton's method against differences of forces, at a large deformation."""
    given = beam(kind)
    search = _Search(given, None, GRAVITY, 1e-10)
    rng = np.random.default_rng(1)
    w, later = 0.01 * rng.normal(size=(2, *given.mesh.vertices.shape))
    w, later = np.where(given.free, w, 0), np.where(given.free, later, 0)
    X = given.mesh.vertices
    dX, dx = search._moves(0.4 * w)
    here = search._guess(X + dX, X + dx)
    exact = search._derivative(here, later)
    dX, dx = search._moves(later)
    errors = []
    for h in (4e-3, 2e-3):
        ends = [search._guess(here.body.mesh.vertices + s * dX, here.x + s * dx).r for s in (h, -h)]
        errors.append(np.abs((ends[0] - ends[1]) / (2 * h) - exact).max() / np.abs(exact).max())
    if kind == "bricks":  # weight is taken to grow evenly within a brick
        assert errors[1] < 1e-3
    else:
        assert errors[0] < 1e-4
        assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)


def test_forces_and_lumped_mass():
    given = replace(beam("tets"), mass_model=sp.LumpedMass())
    tip = given.mesh.where(x=1.0)
    forces = given.point_force(tip, (3.0, 5.0, 4.0))
    found = rest_shape(given, forces, gravity=GRAVITY)
    u = sp.static_shape(found.body, forces, gravity=GRAVITY, tolerance=1e-12)
    np.testing.assert_allclose(found.body.mesh.vertices + u, given.mesh.vertices, atol=1e-8)


def test_without_load_nothing_moves():
    given = beam("tets")
    found = rest_shape(given)
    np.testing.assert_array_equal(found.body.mesh.vertices, given.mesh.vertices)
    assert found.iterations == 0


def test_a_column_that_would_buckle_is_told():
    """Standing, four times as heavy as it can bear: it balances, but would not stay."""
    mesh = sp.HexMesh.box(size=(0.1, 0.1, 1.0), cells=(1, 1, 8))
    given = sp.Body(mesh, sp.NeoHookean(young=3e5, poisson=0.3), fixed=mesh.where(z=0))
    with pytest.warns(MatchingWarning, match="not stably"):
        found = rest_shape(given, gravity=(0, 0, -9.81))
    assert not found.stable
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rest_shape(given, gravity=(0, 0, 9.81)).stable  # hanging it is


def test_bad_input_says_what_is_wrong():
    given = beam("tets")
    loose = sp.Body(given.mesh, given.material)
    refused("needs a body that is held in place", rest_shape, loose, gravity=GRAVITY)
    soft = beam("tets", sp.StVK, young=2e4)
    with pytest.raises(sp.InputError, match=r"no rest shape was found beyond .* stiffer material"):
        rest_shape(soft, gravity=GRAVITY)
    moved = sp.Support(given.mesh.where(x=1.0), lambda t: np.array([0.0, 0.0, 0.1]))
    refused("displace it at time 0", rest_shape, replace(given, supports=[moved]))


@pytest.mark.parametrize("name", ["bunny_1124.node", "turtle-volumetric-heterogeneous.veg"])
def test_bodies_of_others_in_gravity(assets, name):
    """Soft enough to move by a tenth of their size, and back to 1e-8 of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a file leaves open
        mesh = sp.read_mesh(assets / "tets" / name)
    mesh = mesh.scaled(0.3 / mesh.diagonal)
    y = mesh.vertices[:, 1]
    top = y > y.max() - 0.15 * np.ptp(y)
    given = sp.Body(mesh, sp.StableNeoHookean(young=1e4, poisson=0.4), fixed=top)
    found = rest_shape(given, gravity=(0, -9.81, 0))
    assert np.abs(found.displacements).max() > 0.03 * mesh.diagonal
    u = sp.static_shape(found.body, gravity=(0, -9.81, 0), increments=2, tolerance=1e-12)
    off = np.abs(found.body.mesh.vertices + u - mesh.vertices).max()
    assert off < 1e-8 * mesh.diagonal
