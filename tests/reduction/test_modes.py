"""Vibration modes: orthonormal, against dense algebra, for held, free and prestressed bodies."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from tests.helpers import EPS, rotation, small_mesh, soft
from tests.reduction.conftest import every_mass, every_mesh, free_body, held_body
from tests.refusals import refused

import supple as sp
from supple.reduction import modes as reduction_modes
from supple.reduction.modes import rigid_motions

pytestmark = pytest.mark.processors


def dense_frequencies(body: sp.Body, count: int, u: np.ndarray | None = None) -> np.ndarray:
    free = np.flatnonzero(body.free)
    at = np.zeros_like(body.mesh.vertices) if u is None else u
    K, M = (A.toarray()[np.ix_(free, free)] for A in (body.stiffness(at), body.mass))
    squares = scipy.linalg.eigh(K, M, eigvals_only=True, subset_by_index=(0, count - 1))
    return np.sqrt(np.maximum(squares, 0)) / (2 * np.pi)


@every_mesh
@every_mass
def test_modes_equal_dense_eigenvalues(mesh_name, mass):
    body = held_body(mesh_name, mass_model=mass)
    modes = sp.vibration_modes(body, 8)
    # Eigenvalues are known to eps · the largest one, about 1e4 times the first here.
    np.testing.assert_allclose(modes.frequencies, dense_frequencies(body, 8), rtol=1e-9)
    assert modes.shapes.shape == (8, body.n_vertices, 3)
    assert not modes.shapes[:, ~body.free].any()


@every_mesh
@pytest.mark.parametrize("held", [False, True], ids=["free", "held"])
def test_modes_orthonormal(mesh_name, held):
    """Φ M Φᵀ = I and Φ K Φᵀ = ω²."""
    body = held_body(mesh_name) if held else free_body(mesh_name)
    modes = sp.vibration_modes(body, 12)
    phi = modes.shapes.reshape(12, -1)
    squares = (2 * np.pi * modes.frequencies) ** 2
    assert np.abs(phi @ (body.mass @ phi.T) - np.eye(12)).max() <= 1e-10
    K = body.stiffness(np.zeros_like(body.mesh.vertices))
    assert np.abs(phi @ (K @ phi.T) - np.diag(squares)).max() <= 1e-9 * squares.max()
    assert (np.diff(modes.frequencies) >= 0).all()


@every_mesh
def test_free_body_has_six_rigid_modes(mesh_name):
    body = free_body(mesh_name)
    modes = sp.vibration_modes(body, 8)
    assert not modes.frequencies[:6].any()
    np.testing.assert_allclose(modes.frequencies[6:], dense_frequencies(body, 8)[6:], rtol=1e-9)
    # The six shapes strain nothing: symmetric gradients vanish.
    X = body.mesh.vertices - body.mesh.vertices.mean(axis=0)
    shifts = [np.tile(e, (len(X), 1)) for e in np.eye(3)]
    basis = np.linalg.qr(np.array(shifts + [np.cross(e, X) for e in np.eye(3)]).reshape(6, -1).T)[0]
    shapes = modes.shapes[:6].reshape(6, -1)
    assert np.abs(shapes - shapes @ basis @ basis.T).max() <= 1e-7 * np.abs(shapes).max()


@pytest.mark.parametrize(("held", "rigid"), [(0, 6), (1, 3), (2, 1), (3, 0)])
def test_partly_held_body_rigid_modes(held, rigid):
    """No vertex held: six; one: three turns; two: the turn about their line; three: none."""
    body = sp.Body(small_mesh("tet"), soft(sp.StVK), fixed=np.array([0, 13, 26][:held], dtype=int))
    frequencies = sp.vibration_modes(body, 8).frequencies
    assert not frequencies[:rigid].any()
    np.testing.assert_allclose(frequencies[rigid:], dense_frequencies(body, 8)[rigid:], rtol=1e-8)
    assert frequencies[rigid] > 0


def test_two_pieces_each_with_rigid_modes():
    """A held block and a loose one in the same mesh: the loose one's six are zero."""
    one = sp.TetMesh.box((1, 1, 1), (1, 1, 1))
    mesh = sp.TetMesh(
        np.concatenate([one.vertices, one.vertices + np.array([3, 0, 0])]),
        np.concatenate([one.cells, one.cells + len(one.vertices)]),
    )
    body = sp.Body(mesh, soft(sp.StVK), fixed=mesh.where(x=0))
    frequencies = sp.vibration_modes(body, 8).frequencies
    expected = dense_frequencies(body, 8)
    assert np.abs(frequencies - expected).max() <= 1e-5 * expected[-1]


def test_modes_thin_plate_not_rigid():
    """1 mm of steel, 1 m long: slow beside the waves in its cells, but a vibration all the same."""
    plate = sp.TetMesh.box((1, 0.2, 0.001), (8, 2, 1)).quadratic()
    body = sp.Body(plate, sp.StVK(young=2e11, poisson=0.0, density=7800), fixed=plate.where(x=0))
    theory = 1.8751041**2 / (2 * np.pi) * np.sqrt(2e11 * 0.001**2 / 12 / 7800)
    # Flat quadratic cells are somewhat too stiff; upper bounds by Rayleigh's principle.
    assert 1.0 <= sp.vibration_modes(body, 1).frequencies[0] / theory <= 1.1
    free = sp.vibration_modes(sp.Body(plate, body.material), 7).frequencies
    theory *= (4.7300407 / 1.8751041) ** 2
    assert not free[:6].any()
    assert 1.0 <= free[6] / theory <= 1.1


def test_modes_invariant_under_rotation_and_scale():
    """Frequencies stay when the scene turns, and halve when lengths double."""
    mesh = small_mesh("quadratic")
    held = np.argsort(mesh.vertices[:, 0])[:5]
    first = sp.vibration_modes(sp.Body(mesh, soft(sp.StVK), fixed=held), 5).frequencies
    moved = type(mesh)(2 * mesh.vertices @ rotation(2).T + [7, 8, 9], mesh.cells)
    second = sp.vibration_modes(sp.Body(moved, soft(sp.StVK), fixed=held), 5).frequencies
    np.testing.assert_allclose(second, first / 2, rtol=1e-9)


def test_modes_same_every_time():
    body = sp.Body(small_mesh("tet"), soft(sp.StVK), fixed=[0, 1, 2])
    one, two = (sp.vibration_modes(body, 4) for _ in range(2))
    assert np.abs(one.shapes - two.shapes).max() <= 1e-9 * np.abs(one.shapes).max()


@pytest.mark.parametrize("count", [4, 8])
def test_modes_do_not_depend_on_what_rounding_decides(monkeypatch, count):
    """Other signs, and other combinations of two that are equally fast: the same modes.

    Which ones are found differs from processor to processor. Four modes part a pair.
    """
    mesh = sp.HexMesh.box((1.0, 0.2, 0.2), (10, 2, 2))
    body = sp.Body(mesh, soft(sp.StVK), fixed=mesh.where(x=0))
    first = sp.vibration_modes(body, count)
    pairs = np.flatnonzero(np.diff(first.squares) <= 1e-9 * first.squares[1:])
    assert len(pairs) >= (count > 4) + 1
    solve = reduction_modes.eigsh

    def turned(*given, **options):
        values, vectors = solve(*given, **options)
        order = np.argsort(values)
        values, vectors = values[order], vectors[:, order].copy()
        for k in np.flatnonzero(np.diff(values) <= 1e-9 * values[1:]):
            vectors[:, k : k + 2] = vectors[:, k : k + 2] @ [[-0.8, 0.6], [0.6, 0.8]]
        return values, -vectors

    monkeypatch.setattr(reduction_modes, "eigsh", turned)
    second = sp.vibration_modes(body, count)
    np.testing.assert_allclose(second.shapes, first.shapes, atol=1e-7 * np.abs(first.shapes).max())
    for phi in first.shapes[pairs[0] : pairs[0] + 2]:  # bending along the axes, not between them
        along = np.sort(np.abs(phi).max(axis=0))
        assert along[1] <= 0.3 * along[2]
        assert phi.max() >= (1 - 1e-5) * np.abs(phi).max()


def test_modes_about_a_loaded_shape():
    """A string: tension raises the frequency, to that of the dense tangent stiffness."""
    mesh = sp.TetMesh.box((1, 0.1, 0.1), (8, 1, 1))
    body = sp.Body(mesh, soft(sp.StVK), fixed=mesh.where(x=0))
    slack = sp.vibration_modes(body, 1).frequencies[0]
    u = sp.static_shape(body, body.surface_force(mesh.where(x=1), (2000.0, 0, 0)))
    tight = sp.vibration_modes(body, 3, at=u)
    np.testing.assert_allclose(tight.frequencies, dense_frequencies(body, 3, u), rtol=1e-8)
    assert tight.frequencies[0] > 1.5 * slack
    refused("not positive definite", sp.vibration_modes, body, 1, at=mesh.vertices * [-0.5, 0, 0])


@pytest.mark.parametrize("count", [0, -1, 81, 2.5, "all", None])
def test_bad_mode_counts_named(count):
    refused("count", sp.vibration_modes, free_body(), count)


def test_every_mode_but_one():
    """The largest count that is allowed works: 80 of 81."""
    body = free_body()
    found = sp.vibration_modes(body, 80).frequencies
    error = np.abs(found**2 - dense_frequencies(body, 80) ** 2).max()
    # Inverse iteration with a shift of 1e-7 of the largest ω² leaves eps/1e-7 of it, some times.
    assert error <= 10 * EPS / 1e-7 * found[-1] ** 2


@pytest.mark.parametrize("held", [False, True], ids=["free", "held"])
def test_modal_static_shape_balances_forces(held):
    """K u = f in all of the modes but the rigid ones, with nearly all modes taken."""
    mesh = small_mesh("tet")
    body = sp.Body(mesh, soft(sp.StVK), fixed=[0, 13, 26] if held else None)
    modes = sp.vibration_modes(body, int(body.free.sum()) - 1)
    f = np.random.default_rng(3).normal(size=mesh.vertices.shape)
    u = modes.static_shape(f)
    left = body.stiffness(np.zeros_like(u)) @ u.ravel() - f.ravel()
    assert u.shape == f.shape
    bending = modes.shapes[modes.rigid :].reshape(-1, f.size)
    assert modes.rigid == (0 if held else 6)
    assert np.abs(bending @ left).max() <= 1e-8 * np.abs(bending @ f.ravel()).max()
    momenta = body.mass @ u.ravel()
    rigid = modes.shapes[: modes.rigid].reshape(-1, f.size)
    assert np.abs(rigid @ momenta).sum() <= 1e-12 * np.sqrt(u.ravel() @ momenta)


def test_modal_static_shape_of_one_mode():
    """A force M φ moves the body by φ/ω², a rigid push not at all."""
    body = free_body("brick")
    modes = sp.vibration_modes(body, 12)
    u = modes.static_shape(body.mass_times(modes.shapes[9]))
    expected = modes.shapes[9] / (2 * np.pi * modes.frequencies[9]) ** 2
    assert np.abs(u - expected).max() <= 1e-12 * np.abs(expected).max()
    pushed = modes.static_shape(body.weight((1, 2, 3)))
    assert np.abs(pushed).max() <= 1e-11 * np.abs(expected).max()
    refused("forces has shape", modes.static_shape, np.zeros((3, 3)))


@pytest.mark.parametrize(("held", "count"), [(0, 6), (1, 3), (2, 1), (3, 0)])
def test_rigid_motions_strain_nothing(held, count):
    mesh = small_mesh("quadratic")
    body = sp.Body(mesh, soft(sp.StVK), fixed=np.array([0, 13, 26][:held], dtype=int))
    rigid = rigid_motions(body).reshape(count, 3 * mesh.n_vertices)
    assert np.abs(rigid @ (body.mass @ rigid.T) - np.eye(count)).max(initial=0) <= 1e-13
    K = body.stiffness(np.zeros_like(mesh.vertices))
    assert np.abs(K @ rigid.T).max(initial=0) <= 1e-12 * np.abs(K.data).max() * 3
    assert not rigid[:, ~body.free.ravel()].any()


def test_slowest_modes_may_all_be_rigid():
    modes = sp.vibration_modes(free_body(), 4)
    assert modes.rigid == 4
    assert not modes.frequencies.any()


@pytest.mark.parametrize(("held", "rigid"), [(None, 5), ([0], 2)])
def test_points_on_one_line_do_not_move_as_they_turn_about_it(held, rigid):
    """Springs in a row: nothing resists what bends them."""
    chain = sp.SpringMesh.chain((0, 0, 0), (1, 0, 0), 4)
    net = sp.SpringNetwork(chain, stiffness=50.0, mass=0.05, fixed=held)
    assert len(rigid_motions(net)) == rigid
    assert not sp.vibration_modes(net, 6).frequencies[:rigid].any()
