"""Deformation bases: orthonormal, best in the mass norm, free of rigid motion, and in order."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from scipy.spatial.transform import Rotation
from tests.helpers import affine, small_mesh, soft
from tests.reduction.conftest import every_mass, every_mesh, free_body, held_body
from tests.refusals import refused

import supple as sp
from supple.reduction.basis import (
    Basis,
    joined_basis,
    mass_pca,
    modal_derivative_basis,
    motion_basis,
    picked_basis,
)
from supple.reduction.derivatives import derivative_pairs, modal_derivatives
from supple.reduction.modes import rigid_motions

pytestmark = pytest.mark.processors

RNG = np.random.default_rng


def shapes_of(body: sp.Body, count: int, seed: int = 0) -> np.ndarray:
    return RNG(seed).normal(size=(count, body.n_vertices, 3)) * body.free


def gram(body: sp.Body, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    size = 3 * body.n_vertices
    return first.reshape(-1, size) @ (body.mass @ second.reshape(-1, size).T)


def assert_a_basis(body: sp.Body, basis: Basis, size: int) -> None:
    assert basis.size == len(basis.importance) == size
    assert basis.vectors.shape == (size, body.n_vertices, 3)
    assert np.abs(gram(body, basis.vectors, basis.vectors) - np.eye(size)).max() <= 1e-12
    assert not basis.vectors[:, ~body.free].any()
    assert np.abs(gram(body, basis.vectors, rigid_motions(body))).max(initial=0) <= 1e-12


def dense_pca(body: sp.Body, shapes: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """App. A as printed: M = LLᵀ, z = Lᵀu, PCA of z, LᵀU = V."""
    free = np.flatnonzero(body.free)
    L = np.linalg.cholesky(body.mass.toarray()[np.ix_(free, free)])
    V, values, _ = np.linalg.svd(L.T @ shapes.reshape(len(shapes), -1).T[free])
    vectors = np.zeros((size, 3 * body.n_vertices))
    vectors[:, free] = scipy.linalg.solve_triangular(L.T, V[:, :size]).T
    return vectors.reshape(size, -1, 3), values


def projected(body: sp.Body, basis: Basis, shapes: np.ndarray) -> np.ndarray:
    return np.tensordot(gram(body, shapes, basis.vectors), basis.vectors, 1)


def error(body: sp.Body, basis: Basis, shapes: np.ndarray) -> np.ndarray:
    """Share of each shape, in the mass norm, that the basis does not span."""
    left = shapes - projected(body, basis, shapes)
    sizes = [np.sqrt(np.diag(gram(body, x, x))) for x in (left, shapes)]
    return sizes[0] / sizes[1]


# -- mass-PCA --------------------------------------------------------------------------------


@every_mass
@every_mesh
def test_mass_pca_equals_appendix_a(mesh_name, mass):
    body = sp.Body(small_mesh(mesh_name), soft(sp.StVK), fixed=[0, 1, 5, 9], mass_model=mass)
    shapes = shapes_of(body, 9) * np.geomspace(1, 0.01, 9)[:, None, None]
    basis = mass_pca(body, shapes, 5)
    assert_a_basis(body, basis, 5)
    vectors, values = dense_pca(body, shapes, 5)
    np.testing.assert_allclose(basis.importance, values[:5] / values[0], rtol=1e-12)
    np.testing.assert_allclose(np.abs(np.diag(gram(body, basis.vectors, vectors))), 1.0, atol=1e-12)


def test_mass_pca_finds_weak_directions():
    """Shapes over twelve orders of magnitude, mixed: squares of the weakest drown in rounding."""
    body = held_body("brick")
    known = picked_basis(body, shapes_of(body, 7)).vectors
    sizes = np.geomspace(1, 1e-11, 7)
    mixed = np.linalg.qr(RNG(1).normal(size=(12, 7)))[0] * sizes
    basis = mass_pca(body, np.tensordot(mixed, known, 1), 7)
    assert_a_basis(body, basis, 7)
    assert np.abs(basis.importance - sizes).max() <= 1e-14
    # Rounding of the shapes turns a direction by eps over its size.
    likeness = np.abs(np.diag(gram(body, basis.vectors, known)))
    assert np.abs(1 - likeness[:5]).max() <= 1e-12
    assert likeness[6] >= 0.999


def test_mass_pca_names_missing_directions():
    body = held_body()
    shapes = np.tensordot(RNG(2).normal(size=(8, 3)), shapes_of(body, 3), 1)
    assert_a_basis(body, mass_pca(body, shapes, 3), 3)
    refused(r"size=4: there are only 3 independent .* size=3", mass_pca, body, shapes, 4)
    refused("all are zero or rigid", mass_pca, body, 0 * shapes, 1)
    free = free_body()
    refused("all are zero or rigid", mass_pca, free, rigid_motions(free), 1)


def test_mass_pca_leaves_rigid_motion_out():
    body = free_body("quadratic")
    shapes = shapes_of(body, 4)
    rigid = np.tensordot(RNG(1).normal(size=(4, 6)), rigid_motions(body), 1)
    plain, moved = (mass_pca(body, x, 3) for x in (shapes, shapes + 100 * rigid))
    assert_a_basis(body, moved, 3)
    assert np.abs(error(body, moved, plain.vectors)).max() <= 1e-11


def test_pca_same_in_other_units():
    """Grams and millimetres: the same vectors, by √1000 larger, and the same importance."""
    body = held_body()
    shapes = shapes_of(body, 6)
    mesh = body.mesh.scaled(1000.0)
    other = sp.Body(mesh, soft(sp.StVK, density=1e3 * 1e3 / 1e9), fixed=body.fixed)
    first, second = mass_pca(body, shapes, 4), mass_pca(other, 1000 * shapes, 4)
    np.testing.assert_allclose(second.importance, first.importance, rtol=1e-12)
    np.testing.assert_allclose(second.vectors * np.sqrt(1000), first.vectors, atol=1e-12)


# -- modal derivatives -----------------------------------------------------------------------


@every_mesh
@pytest.mark.parametrize("held", [True, False], ids=["held", "free"])
def test_modal_derivative_basis_is_a_basis(mesh_name, held):
    body = held_body(mesh_name) if held else free_body(mesh_name)
    basis = modal_derivative_basis(body, modes=5, size=9)
    assert_a_basis(body, basis, 9)
    assert basis.importance[0] == 1.0
    assert (np.diff(basis.importance) <= 0).all()


def test_modal_derivative_basis_scaled_by_eigenvalues():
    """Eq. 16 written out, with dense mass-PCA of what is not along the modes that are kept."""
    body = held_body("brick", sp.NeoHookean)
    modes = sp.vibration_modes(body, 3)
    lam = (2 * np.pi * modes.frequencies) ** 2
    kept = modes.shapes[:2]
    shapes = [lam[0] / lam[2] * modes.shapes[2]]
    pairs = derivative_pairs(body, modes)
    for (i, j), phi in zip(pairs, modal_derivatives(body, modes), strict=True):
        shapes.append(lam[0] ** 2 / (lam[i] * lam[j]) * phi / np.sqrt(gram(body, phi, phi)))
    new = [phi - sum(gram(body, phi, psi) * psi for psi in kept) for phi in shapes]
    vectors, values = dense_pca(body, np.stack(new), 4)
    for given in (3, modes):
        basis = modal_derivative_basis(body, modes=given, size=6)
        assert error(body, basis, np.concatenate([kept, vectors])).max() <= 1e-8
        carried = [1.0, values[0], values[1], lam[0] / lam[1], values[2], values[3]]
        wanted = [max(carried[k:]) / max(carried) for k in range(6)]
        np.testing.assert_allclose(basis.importance, wanted, rtol=1e-9)


@pytest.mark.parametrize("held", [True, False], ids=["held", "free"])
def test_modal_derivative_basis_keeps_the_slowest_modes(held):
    """However few vectors are asked for, or left, two of five are modes as they are."""
    body = held_body("tet") if held else free_body("tet")
    modes = sp.vibration_modes(body, 10)
    slow = modes.shapes[modes.rigid :]
    for size in (1, 3, 5, 8, 12):
        basis = modal_derivative_basis(body, modes=10 - modes.rigid, size=size)
        for r in range(1, size + 1):
            count = min(max(1, round(0.4 * r)), len(slow))
            assert error(body, basis.truncated(r), slow[:count]).max() <= 1e-12
    five = sp.reduce(body, modal_derivative_basis(body, modes=modes, size=5))
    wanted = modes.frequencies[modes.rigid :][:2]
    np.testing.assert_allclose(five.frequencies[:2], wanted, rtol=1e-9)


def test_modal_derivative_basis_of_all_is_the_whole_span():
    for body, rigid in ((held_body(), 0), (free_body(), 6)):
        modes = sp.vibration_modes(body, rigid + 3)
        derivatives = modal_derivatives(body, modes)
        count = 3 + len(derivatives)
        basis = modal_derivative_basis(body, modes=3, size=count)
        assert_a_basis(body, basis, count)
        assert error(body, basis, np.concatenate([modes.shapes[rigid:], derivatives])).max() <= 1e-8


def test_modal_derivatives_fit_large_deformations():
    """A bent bar: a few derivatives beside the modes catch what modes alone cannot."""
    mesh = sp.HexMesh.box((1, 0.1, 0.1), (10, 1, 1))
    body = sp.Body(mesh, soft(sp.StVK), fixed=mesh.where(x=0))
    u = sp.static_shape(body, body.point_force(mesh.where(x=1), (0, 0, 0.1)))
    assert np.abs(u).max() > 0.2
    plain = picked_basis(body, sp.vibration_modes(body, 8).shapes)
    derived = modal_derivative_basis(body, modes=4, size=8)
    assert error(body, derived, u[None])[0] < 0.2 * error(body, plain, u[None])[0]


def test_bad_modal_derivative_bases_named():
    body = held_body()
    refused("modes=0", modal_derivative_basis, body, modes=0)
    refused("modes=66: this body has no more than 65", modal_derivative_basis, body, modes=66)
    with pytest.raises(sp.InputError, match=r"size=6: there are only 5 .*take more modes"):
        modal_derivative_basis(body, modes=2, size=6)
    refused("size=0", modal_derivative_basis, body, modes=2, size=0)


# -- motions ---------------------------------------------------------------------------------


def test_motion_basis_of_motion_file_and_array(tmp_path):
    body = held_body()
    motion = sp.Simulation(body, dt=0.05, gravity=(0, 0, -9.81)).run(0.5)
    motion.save(tmp_path / "fall.motion")
    first = motion_basis(body, motion, 3)
    assert_a_basis(body, first, 3)
    for other in (motion.displacements, str(tmp_path / "fall.motion"), tmp_path / "fall.motion"):
        np.testing.assert_array_equal(motion_basis(body, other, 3).vectors, first.vectors)
    _, values = dense_pca(body, motion.displacements, 3)
    left = motion.displacements - projected(body, first, motion.displacements)
    missed = np.sum(left * [body.mass_times(u) for u in left])
    np.testing.assert_allclose(missed, (values[3:] ** 2).sum(), rtol=1e-9)
    refused("not the mesh of this body", motion_basis, held_body("brick"), motion, 3)


def test_motion_basis_sees_a_tumbling_body_in_its_frame():
    """Turned by any angle and thrown, a body that deforms in two ways needs two vectors."""
    body = free_body()
    pair = picked_basis(body, shapes_of(body, 2))
    rng = RNG(5)
    frames = []
    for _ in range(6):
        turn = Rotation.random(rng=rng).as_matrix()
        u = 0.3 * np.tensordot(rng.normal(size=2), pair.vectors, 1)
        frames.append((body.mesh.vertices + u) @ turn.T - body.mesh.vertices + rng.normal(size=3))
    basis = motion_basis(body, np.stack(frames), 2)
    assert_a_basis(body, basis, 2)
    assert error(body, basis, pair.vectors).max() <= 1e-12
    refused("only 2 independent", motion_basis, body, np.stack(frames), 3)
    mirrored = affine(body.mesh, np.diag([1, 1, -1.0]))  # flat and beyond is a deformation
    assert_a_basis(body, motion_basis(body, mirrored[None], 1), 1)


def test_shapes_that_move_supports_named():
    body = held_body()
    shapes = shapes_of(body, 2)
    vertex = int(np.flatnonzero(~body.free[:, 0])[0])
    shapes[1, vertex, 2] = 0.5
    for make in (mass_pca, motion_basis):
        refused(rf"\[1\] moves vertex {vertex} along z by 0.5", make, body, shapes, 1)
    refused("where the body is held", picked_basis, body, shapes)
    for bad in (shapes[0], shapes[:0], shapes[:, 1:]):
        refused(r"shapes has shape .* give \(k, 27, 3\)", picked_basis, body, bad)
    refused("every value must be finite", mass_pca, body, np.full_like(shapes, np.nan), 1)


def test_half_held_components():
    """Rollers: vertices on x = 0 are held along x only, and so are the vectors."""
    mesh = small_mesh("brick")
    fixed = np.zeros((mesh.n_vertices, 3), dtype=bool)
    fixed[mesh.where(x=0), 0] = True
    fixed[0] = True
    body = sp.Body(mesh, soft(sp.StVK), fixed=fixed)
    assert body.free_rigid_motions == 1
    assert_a_basis(body, modal_derivative_basis(body, modes=3, size=6), 6)
    assert_a_basis(body, mass_pca(body, shapes_of(body, 5), 4), 4)


# -- picked and joined -----------------------------------------------------------------------


@pytest.mark.parametrize("make", [held_body, free_body], ids=["held", "free"])
def test_picked_basis_keeps_the_order(make):
    body = make()
    shapes = shapes_of(body, 4)
    basis = picked_basis(body, shapes)
    assert_a_basis(body, basis, 4)
    assert (basis.importance == 1).all()
    rigid = rigid_motions(body)
    deforming = shapes - np.tensordot(gram(body, shapes, rigid), rigid, 1)
    for k in range(1, 5):
        assert error(body, basis.truncated(k), deforming[:k]).max() <= 1e-13
    assert (np.diag(gram(body, basis.vectors, shapes)) > 0).all()


def test_picked_basis_nearly_dependent():
    body = held_body()
    shapes = shapes_of(body, 2)
    assert_a_basis(body, picked_basis(body, [shapes[0], shapes[0] + 1e-7 * shapes[1]]), 2)
    refused(r"shapes\[2\] adds nothing", picked_basis, body, [*shapes, shapes[0] - 2 * shapes[1]])


def test_joined_basis_in_order():
    body = held_body()
    shapes = shapes_of(body, 5)
    first, second = picked_basis(body, shapes[:3]), mass_pca(body, shapes[1:], 4)
    joined = joined_basis(body, first, second)
    assert_a_basis(body, joined, 5)  # of seven vectors two are in the span of the others
    np.testing.assert_allclose(joined.vectors[:3], first.vectors, atol=1e-13)
    assert error(body, joined, shapes).max() <= 1e-12
    np.testing.assert_array_equal(joined.importance[:3], 1.0)


def test_joined_basis_by_importance():
    """What both bases hold comes first, and what neither finds important is left out."""
    body = held_body()
    vectors = picked_basis(body, shapes_of(body, 3)).vectors
    first = Basis(vectors[:2], np.array([1.0, 1e-3]))
    joined = joined_basis(body, first, Basis(vectors[[0, 2]], np.array([1.0, 0.5])), size=2)
    assert_a_basis(body, joined, 2)
    np.testing.assert_allclose(joined.importance, [1.0, 0.5 / np.sqrt(2)], rtol=1e-12)
    assert error(body, joined, vectors[[0, 2]]).max() <= 1e-12


def test_bad_joins_and_truncations_named():
    body = held_body()
    basis = mass_pca(body, shapes_of(body, 3), 3)
    assert basis.truncated(2).size == 2
    np.testing.assert_array_equal(basis.truncated(2).vectors, basis.vectors[:2])
    refused("size=4: this basis has 3 vectors", basis.truncated, 4)
    refused("no bases given", joined_basis, body)
    refused("a basis is 3; give an object", joined_basis, body, basis, 3)
    refused("a basis has shape", joined_basis, body, Basis(np.ones((1, 5, 3)), np.ones(1)))
    refused(r"vectors has shape \(2, 3\)", Basis, np.ones((2, 3)), np.ones(2))
    refused("importance has shape", Basis, np.ones((2, 4, 3)), np.ones(3))
    with pytest.raises(ValueError, match="read-only"):
        basis.vectors[0] = 0
