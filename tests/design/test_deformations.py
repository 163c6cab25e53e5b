"""Example deformations from shapes, from motions, and within a region."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers import soft
from tests.refusals import refused

import supple as sp
from supple.bodies.shape import Shape
from supple.design.deformations import shape_between, shape_of_frame, shape_within

MESH = sp.TetMesh.box((1.0, 0.2, 0.2), (10, 2, 2))
MESH = MESH.with_region("tip", MESH.cells_where(x=(0.5, None)))
INNER = int(np.bincount(MESH.cells.ravel())[MESH.cells].min(axis=1).argmax())
MESH = MESH.with_region("one", [INNER])  # a cell whose vertices all belong to others too
N = MESH.n_vertices
BODY = sp.Body(MESH, soft(sp.StVK), fixed=MESH.where(x=0))
X = MESH.vertices
U = np.random.default_rng(0).normal(size=(N, 3))


@pytest.fixture(scope="module")
def motion() -> sp.Motion:
    sim = sp.Simulation(BODY, dt=0.01, gravity=(0, 0, -9.81))
    sim.state.u = 0.01 * X[:, :1] * np.array([0, 1.0, 0])
    return sim.run(0.1)


# -- two shapes ------------------------------------------------------------------------------


def test_between_positions_and_between_displacements():
    bent, pulled = X + 0.1 * U, X * [1.1, 1.0, 1.0]
    np.testing.assert_array_equal(shape_between(bent, pulled), pulled - bent)
    np.testing.assert_allclose(shape_between(bent - X, pulled - X), pulled - bent, atol=1e-15)
    sp.Example(shape_between(bent, pulled), 2.0)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (X, X, "the same"),
        (X, X[1:], r"second has shape \(98, 3\); give \(99, 3\)"),
        (X.ravel(), X.ravel(), "first has shape"),
        (X, np.full_like(X, np.nan), "second"),
        ("bent", X, "first"),
    ],
)
def test_bad_pairs_named(first, second, message):
    refused(message, shape_between, first, second)


# -- a frame of a motion ---------------------------------------------------------------------


def test_frames_and_times(motion):
    np.testing.assert_array_equal(shape_of_frame(motion, 4), motion.displacements[4])
    np.testing.assert_array_equal(shape_of_frame(motion, -1), motion.displacements[-1])
    np.testing.assert_array_equal(shape_of_frame(motion, time=0.035), motion.at(0.035))
    start = motion.displacements[0]
    found = shape_of_frame(motion, np.int64(4), about=start)
    np.testing.assert_array_equal(found, motion.displacements[4] - start)
    found[:] = 0.0  # one's own
    assert motion.displacements[4].any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "either a frame or a time"),
        ({"frame": 1, "time": 0.1}, "either a frame or a time"),
        ({"frame": 11}, "no frame 11"),
        ({"frame": 1.0}, "frame=1.0"),
        ({"frame": True}, "frame=True"),
        ({"time": 0.2}, "outside the motion"),
        ({"time": np.nan}, "time"),
        ({"frame": 1, "about": np.zeros((3, 3))}, "about has shape"),
        ({"frame": 0, "motion": BODY}, "motion"),
    ],
)
def test_bad_moments_named(motion, options, message):
    refused(message, shape_of_frame, **{"motion": motion} | options)


def test_frame_without_deformation_named(motion):
    refused("no deformation", shape_of_frame, motion, 0, about=motion.displacements[0])


# -- within a region -------------------------------------------------------------------------


def outside_of(region: str) -> np.ndarray:
    """Vertices of the cells that are not in the region."""
    others = np.setdiff1d(np.arange(MESH.n_cells), MESH.region(region))
    return np.unique(MESH.cells[others])


def test_region_moves_and_its_border_does_not():
    found = shape_within(BODY, U, "tip")
    outside = outside_of("tip")
    inside = np.setdiff1d(np.arange(N), outside)
    assert not found[outside].any()
    np.testing.assert_array_equal(found[inside], U[inside])
    np.testing.assert_array_equal(shape_within(MESH, U, "tip"), found)
    still = MESH.cells[~np.isin(np.arange(MESH.n_cells), MESH.region("tip"))]
    assert not found[still].any()  # no cell outside is deformed
    assert len(inside) > 10
    assert MESH.vertices[outside, 0].max() == pytest.approx(0.5)


def test_vertices_chosen_one_by_one():
    chosen = MESH.where(x=(0.7, None))
    mask = np.isin(np.arange(N), chosen)
    for region in (chosen, mask):
        found = shape_within(MESH, U, region)
        np.testing.assert_array_equal(found, np.where(mask[:, None], U, 0.0))


def test_whole_mesh_is_a_region_without_border():
    np.testing.assert_array_equal(shape_within(MESH, U, np.ones(N, dtype=bool), blend=0.5), U)


def test_blend_grows_smoothly_from_the_border():
    """Weights follow the distance from the border plane: 0, rising, 1 from ``blend`` on."""
    even = np.ones((N, 3))
    found = shape_within(MESH, even, "tip", blend=0.35)
    np.testing.assert_array_equal(found[:, :1], found[:, 1:2])
    s = np.clip((X[:, 0] - 0.5) / 0.35, 0, 1)
    np.testing.assert_allclose(found[:, 0], s * s * (3 - 2 * s), atol=1e-12)
    assert (found[X[:, 0] > 0.86] == 1.0).all()
    assert not found[outside_of("tip")].any()


def test_blend_is_measured_from_the_regions_own_border():
    """Other parts may be near in space: the far end of a horseshoe's leg is not its border."""
    left = sp.TetMesh.box((1.0, 0.2, 0.2), (10, 1, 1))
    keep = left.vertices.copy()
    angle = 1.8 * np.pi * keep[:, 0]
    radius = 0.5 + keep[:, 1]
    keep[:, 0], keep[:, 1] = -radius * np.cos(angle), radius * np.sin(angle)
    ring = sp.TetMesh.cleaned(keep, left.cells)
    leg = left.cells_where(x=(0.5, None))
    ring = ring.with_region("leg", leg)
    found = shape_within(ring, np.ones_like(keep), "leg", blend=0.6)
    tip = left.where(x=1.0)
    assert np.linalg.norm(keep[tip] - keep[left.where(x=0.0)], axis=1).max() < 0.6
    assert (found[tip] == 1.0).all()


@pytest.mark.parametrize(
    ("region", "options", "message"),
    [
        ("ear", {}, "no region 'ear'"),
        ("one", {}, "belongs to other cells too"),
        ([], {}, "names no vertex"),
        ([N], {}, f"names vertex {N}"),
        ([0.5], {}, "region"),
        (MESH.where(x=0), {}, "moves nothing"),
        ("tip", {"blend": -0.1}, "blend"),
        ("tip", {"blend": np.inf}, "blend"),
        ("tip", {"shape": U[1:]}, "shape has shape"),
        ("tip", {"body": U}, "body"),
    ],
)
def test_bad_regions_named(region, options, message):
    given = {"body": MESH, "shape": X * [1.0, 0, 0], "region": region}
    refused(message, shape_within, **given | options)


# -- what they are for -----------------------------------------------------------------------


def test_local_example_leaves_global_motion_alone():
    """Only the part of a motion that is along the local example, in C, is damped otherwise."""
    bend = sp.vibration_modes(BODY, 1).shapes[0]
    base = sp.Rayleigh(mass=0.5, stiffness=0.01, at=sp.StiffnessAt.REST)
    local = shape_within(BODY, bend, "tip", blend=0.2)
    rest = Shape(BODY, np.zeros((N, 3)))
    plain = base.bind(BODY)
    C_local = plain.evaluate(rest, local)[1]
    designed = sp.ExampleDamping(base, [sp.Example(local, 20.0, name="tip")]).bind(BODY)
    v = bend - local * (np.vdot(bend, C_local) / np.vdot(local, C_local))
    expected = plain.evaluate(rest, v)[1]
    found = designed.evaluate(rest, v)[1]
    assert np.abs(found - expected).max() <= 1e-12 * np.abs(expected).max() * 20
    np.testing.assert_allclose(
        designed.evaluate(rest, local)[1], 20 * C_local, atol=1e-11 * np.abs(C_local).max()
    )
    # the extra damping pushes on the region, its border, and nothing else
    extra = designed.evaluate(rest, bend)[1] - plain.evaluate(rest, bend)[1]
    beyond = np.setdiff1d(np.arange(N), MESH.cells[MESH.region("tip")])
    assert not extra[beyond].any()
    assert np.abs(extra).max() > 0.1 * np.abs(C_local).max()
