"""Cubature in pose space: few cells and vertices stand for all, in each pose and between."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import eigvalsh
from tests.character.bent_beam import (
    MESH,
    POSES,
    SOFT,
    local_shapes,
    masses,
    rest_pose,
    tet_rig,
    vertex_groups,
)

import supple as sp
from supple.character.training import samples as pose_samples
from supple.character.training.cubature import train_pose_cubature
from supple.character.training.inertia import (
    perturbed_accelerations,
    reduced_inertia,
    rigid_accelerations,
    train_inertial_cubature,
)
from supple.character.training.samples import ColumnGroups, InterpolatedPose, RestPose
from supple.materials import MATERIALS

pytestmark = pytest.mark.processors

EVERY = np.arange(MESH.n_cells)
every_material = pytest.mark.parametrize("material", MATERIALS, ids=lambda m: m.__name__)


def between(rest: RestPose, share: float) -> InterpolatedPose:
    """So far on the way between two poses."""
    weights = np.array([1 - share, share])
    return InterpolatedPose(rest, np.array([share]), weights, np.ones(len(rest.shapes)))


def itself(rest: RestPose) -> InterpolatedPose:
    """The only pose."""
    return InterpolatedPose(rest, np.zeros(1), np.ones(1), np.ones(len(rest.shapes)))


def projected(rest, q: np.ndarray) -> np.ndarray:
    """Uᵀ ∇U(U q) of the whole body, without cells."""
    return np.tensordot(rest.shapes, rest.body.force(np.tensordot(q, rest.shapes, axes=1)))


@pytest.mark.parametrize("regions", [1, 2])
@every_material
def test_forces_and_stiffness_from_grouped_cells_are_those_of_the_body(material, regions):
    rest = rest_pose(material(young=1e5, poisson=0.4), POSES[1], regions)
    q = rest.draw(10, np.random.default_rng(0), 0.4)
    forces = rest.forces(q)
    wanted = np.array([projected(rest, each) for each in q])
    np.testing.assert_allclose(forces, wanted, rtol=0, atol=1e-10 * np.abs(wanted).max())
    of_cells = rest.cubature_forces(q, EVERY, np.ones(len(EVERY)))
    np.testing.assert_allclose(of_cells, forces, atol=1e-10 * forces.max())
    K = rest.linear_stiffness(EVERY, np.ones(len(EVERY)))
    np.testing.assert_allclose(K, rest.stiffness, atol=1e-9 * np.abs(K).max())


def test_samples_of_regions_are_kept_without_their_zeros():
    rest = rest_pose(SOFT, POSES[1], 2)
    q = rest.draw(10, np.random.default_rng(0), 0.4)
    pool = np.arange(0, MESH.n_cells, 3)
    samples = rest.samples(q, pool)
    columns = samples.columns(np.arange(len(pool)))
    residual = np.random.default_rng(1).normal(size=len(samples.whole))
    correlations = columns @ residual
    error = np.abs(samples.correlations(residual) - correlations).max()
    assert error < 1e-5 * np.abs(correlations).max()  # they are kept in single precision
    np.testing.assert_allclose(samples.squares(), (columns**2).sum(axis=1), rtol=1e-12)
    every = rest.samples(q, EVERY)
    np.testing.assert_allclose(every.columns(EVERY).sum(axis=0), every.whole, atol=1e-5)
    assert sum(forces.size for _, _, forces in samples.parts) < 0.8 * columns.size
    assert every.whole.shape == (15 * len(q[0]),)  # five are of the linear part


def test_what_is_not_linear_and_what_is_add_up_to_the_force():
    rest = rest_pose(SOFT, POSES[1], 2)
    q = rest.draw(10, np.random.default_rng(0), 0.4)
    rows = rest.samples(q, EVERY).whole.reshape(15, -1)
    whole = rows[0:10:2] + rows[10:] / pose_samples._LINEAR
    assert np.linalg.norm(whole.reshape(5, 2, -1), axis=2).max() == pytest.approx(1.0, rel=1e-12)
    assert np.abs(rest.samples(1e-6 * q, EVERY).whole.reshape(15, -1)[:10]).max() < 1e-5


def test_the_stiffness_at_rest_is_that_of_all_cells():
    """Whatever few cells are chosen; where they have far too much, a part of it stays."""
    rest = rest_pose(SOFT, POSES[1])
    found = train_pose_cubature([itself(rest)], size=25, samples=20)
    K = rest.linear_stiffness(found.cells, found.weights[0])
    gap = found.gaps.values[0]
    np.testing.assert_allclose(K + gap, rest.stiffness, atol=1e-9 * np.abs(K).max())
    assert np.abs(gap).max() > 1e-3 * np.abs(K).max()
    twice = rest.gap(found.cells, 2 * found.weights[0])
    assert eigvalsh(twice, rest.stiffness).min() == pytest.approx(-0.25)


def test_gaps_of_regions_that_share_no_cell_are_zero():
    """Also where the share of cells that have far too much is bounded, which mixes all columns."""
    usual = rest_pose(SOFT, POSES[1], 2)
    x = MESH.vertices[:, 0]
    apart = np.stack([x < 0.45, x > 0.55])
    shapes = usual.shapes * apart[usual.regions][:, :, None]
    touched = apart[:, MESH.cells].any(axis=2)
    assert not touched.all(axis=0).any()
    rest = replace(usual, shapes=shapes, groups=ColumnGroups.of(usual.regions, touched))
    other = usual.regions[:, None] != usual.regions
    cells = np.flatnonzero(touched.any(axis=0))[::7]
    for weight in (1.0, 30.0):
        gap = rest.gap(cells, np.full(len(cells), weight))
        assert not gap[other].any()
        assert eigvalsh(gap, rest.stiffness)[0] > -0.26


def test_samples_have_the_amplitude_that_was_asked_for():
    rest = rest_pose(SOFT, POSES[0])
    q = rest.draw(10, np.random.default_rng(0), 0.4)
    gradients = MESH.quadrature().gradients[:, 0]  # (cells, 4, 3)
    largest = []
    for each in q:
        u = np.tensordot(each, rest.shapes, axes=1)
        squares = (np.einsum("cki,ckj->cij", u[MESH.cells], gradients) ** 2).sum(axis=(1, 2))
        order = np.argsort(squares)
        stored = np.cumsum((MESH.volumes * squares)[order])
        largest.append(np.sqrt(squares[order][np.searchsorted(stored, 0.9 * stored[-1])]))
    assert np.array(largest[:5]) == pytest.approx(0.4 * np.geomspace(0.05, 1, 5), rel=0.02)


@every_material
def test_cells_are_good_in_each_pose_and_between(material):
    """Forces within 3 % where it was not trained, also at poses between."""
    soft = material(young=1e5, poisson=0.4)
    poses = [between(rest_pose(soft, pose), k) for k, pose in enumerate(POSES)]
    middle = between(rest_pose(soft, POSES.mean(axis=0)), 0.5)
    found = train_pose_cubature(poses, [middle], size=40, samples=40)
    assert len(found.cells) <= 40
    assert (found.weights >= 0).all()
    assert found.weights.any(axis=0).all()
    assert found.training_errors.max() < 0.02
    rng = np.random.default_rng(9)
    for share in (0.0, 0.25, 0.5, 0.8, 1.0):
        rest = rest_pose(soft, share * POSES[1])
        assert found.error(between(rest, share), rest.draw(30, rng, 0.5)) < 0.03


def test_far_beyond_the_samples_the_force_still_leads_back():
    """A linear force that takes back what cells have too much must not win over them."""
    rest = rest_pose(sp.StableNeoHookean(young=1e5, poisson=0.4), POSES[1])
    found = train_pose_cubature([itself(rest)], size=25, samples=20, amplitude=0.3)
    q = rest.draw(40, np.random.default_rng(2), 0.3)
    for larger in (1.0, 3.0, 10.0):
        work = np.einsum("tr,tr->t", found.forces(itself(rest), larger * q), q)
        exact = np.einsum("tr,tr->t", rest.forces(larger * q), q)
        assert (np.abs(work - exact) < 0.2 * exact).all()


def test_training_between_poses_helps_where_bases_differ():
    """A column that turns from one shape into another is not known at either end."""
    many = local_shapes(1, 12)[0]
    shapes = [many[:10], np.concatenate([many[:9], many[11:]])]
    mixed = shapes[0] + shapes[1]
    upsilon = 2 / np.sqrt(np.einsum("rni,n,rni->r", mixed, masses(), mixed))
    mixed *= 0.5 * upsilon[:, None, None]
    ends = [between(rest_pose(SOFT, POSES[k], 1, U), k) for k, U in enumerate(shapes)]
    half = rest_pose(SOFT, POSES.mean(axis=0), 1, mixed)
    middle = between(half, 0.5)._replace(upsilon=upsilon)
    errors = []
    for more in ([], [middle]):
        found = train_pose_cubature(ends, more, size=40, samples=30)
        errors.append(found.error(middle, half.draw(30, np.random.default_rng(3), 0.5)))
    assert errors[1] < min(0.03, 0.5 * errors[0])


def test_cells_are_chosen_from_a_sample_where_memory_is_short(monkeypatch):
    rest = rest_pose(SOFT, POSES[0])
    monkeypatch.setattr("supple.character.training.samples._POOL", 100 * 20 * 10)
    assert train_pose_cubature([itself(rest)], size=40, samples=20).training_errors.max() < 0.05
    assert len(rest.groups.pool(rest.body.mesh.n_cells, 20, np.random.default_rng(0))) <= 100


def test_the_same_seed_gives_the_same_cells():
    rest = rest_pose(SOFT, POSES[1])
    one, two = (train_pose_cubature([itself(rest)], size=20, samples=20, seed=4) for _ in range(2))
    np.testing.assert_array_equal(one.cells, two.cells)
    np.testing.assert_array_equal(one.weights, two.weights)


# -- inertia ---------------------------------------------------------------------------


def test_rigid_fields_span_every_rigid_motion():
    """Second derivatives of a body that moves and turns are combinations of the twelve."""
    x = MESH.vertices
    fields = rigid_accelerations(x, masses()).reshape(12, -1)
    rng = np.random.default_rng(0)
    for _ in range(5):
        a, alpha, omega, centre = rng.normal(size=(4, 3))
        arms = x - centre
        field = a + np.cross(alpha, arms) + np.cross(omega, np.cross(omega, arms))
        parts = np.linalg.lstsq(fields.T, field.reshape(-1), rcond=None)[0]
        np.testing.assert_allclose(parts @ fields, field.reshape(-1), atol=1e-10)


@pytest.mark.parametrize("regions", [1, 2])
def test_few_vertices_stand_for_all_where_the_rig_moves(regions):
    """A walk, a jump, a turn and a trembling rig: each within 3 %, and in poses between."""
    poses = [(pose, rest_pose(SOFT, pose, regions)) for pose in POSES]
    size = 40 * regions
    found = train_inertial_cubature(tet_rig(), poses, vertex_groups(regions), size=size)
    assert len(found.vertices) <= size < len(MESH.vertices)
    assert (found.weights > 0).all()
    assert found.training_error < 0.02
    rng = np.random.default_rng(2)
    for share in (0.0, 0.4, 1.0):
        pose = share * POSES[1]
        rest = rest_pose(SOFT, pose, regions)
        moving = rigid_accelerations(rest.body.mesh.vertices, masses())
        kinds = {
            "moving": moving[:3],
            "turning": np.einsum("tk,knj->tnj", rng.normal(size=(10, 9)), moving[3:]),
            "trembling": perturbed_accelerations(tet_rig(), pose, 10, rng),
        }
        assert max(found.errors(rest, kinds).values()) < 0.03


def test_inertial_force_is_minus_the_reduced_mass_times_acceleration():
    rest = rest_pose(SOFT, POSES[0])
    a = np.random.default_rng(0).normal(size=(2, *MESH.vertices.shape))
    U = rest.shapes.reshape(len(rest.shapes), -1)
    wanted = [-U @ (masses()[:, None] * each).reshape(-1) for each in a]
    np.testing.assert_allclose(reduced_inertia(rest.shapes, masses(), a), wanted, atol=1e-10)
