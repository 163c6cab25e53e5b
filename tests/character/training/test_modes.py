"""Modes under contact and in regions, against dense algebra."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sparse
from tests.character.bent_beam import beam, bent, flat
from tests.reduction.conftest import mixed_basis
from tests.refusals import refused

import supple as sp
from supple.character.training.basis import pose_basis, posed_body, shared_sizes
from supple.character.training.contact import PoseContact
from supple.character.training.modes import (
    ConstrainedRest,
    independent_rows,
    nullspace,
    pose_modes,
    thresholded,
)
from supple.core.errors import ContactNotKept
from supple.reduction.derivatives import derivative_pairs, force_derivatives, modal_derivatives
from supple.solvers.interface import NotPositiveDefinite
from supple.solvers.linear.cholesky import MatrixFactorization

pytestmark = pytest.mark.processors

BODY = beam()
X = BODY.mesh.vertices
N = len(X)
RAMP = np.clip(np.minimum(X[:, 0] - 0.2, 0.9 - X[:, 0]) / 0.2, 0.0, 1.0) ** 0.5


def pairs() -> PoseContact:
    """Vertices of the top that slide on triangles of the bottom, some of them twice."""
    top, bottom = BODY.mesh.where(y=0.12, x=(0.3, 0.9)), BODY.mesh.where(y=0.0, x=(0.2, 0.9))
    rng = np.random.default_rng(3)
    corners = np.stack([rng.choice(bottom, 3, replace=False) for _ in top])
    shares = rng.dirichlet(np.ones(3), len(top))
    normals = rng.standard_normal((len(top), 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    zero = np.zeros(len(top))
    contact = PoseContact(top, normals, zero, corners, shares, zero > 0)
    return contact.joined(contact.picked([0, 3]))


CONTACTS = {
    "none": None,
    "floor": PoseContact.of_vertices(BODY.mesh.where(y=0), (0.1, 1.0, 0.2), N),
    "glue": PoseContact.of_vertices(BODY.mesh.where(y=0, x=(0.5, 1)), (0, 1, 0), N, sticking=True),
    "pairs": pairs(),
}
every_contact = pytest.mark.parametrize("name", CONTACTS)
every_region = pytest.mark.parametrize("region", [None, RAMP], ids=["whole", "region"])


def dense(body: sp.Body, region: np.ndarray | None, contact: PoseContact | None):
    """Orthonormal columns of the nullspace of C W, with W, K and M where things can move."""
    w = np.ones(N) if region is None else region
    where = np.flatnonzero(body.free & (w > 0)[:, None])
    W = np.diag(np.repeat(w, 3)[where])
    K = body.stiffness(np.zeros_like(X)).toarray()[np.ix_(where, where)]
    M = body.mass.toarray()[np.ix_(where, where)]
    Z = np.eye(len(where))
    if contact is not None:
        Z = scipy.linalg.null_space(contact.rows(N).toarray()[:, where] @ W, rcond=1e-9)
    return where, W, K, M, Z


@every_contact
@every_region
def test_modes_and_derivatives_equal_dense_algebra(name, region) -> None:
    contact = CONTACTS[name]
    where, W, K, M, Z = dense(BODY, region, contact)
    squares, y = scipy.linalg.eigh(Z.T @ K @ Z, Z.T @ W @ M @ W @ Z + 1e-30 * np.eye(Z.shape[1]))
    rest = ConstrainedRest(BODY, region, contact)
    found, fields = rest.modes(6)
    np.testing.assert_allclose(found.squares, squares[:6], rtol=1e-8)
    wanted = W @ Z @ y[:, :6]
    phi = flat(found.shapes)[where]
    assert np.abs(wanted @ (wanted.T @ M @ phi) - phi).max() <= 1e-8 * np.abs(phi).max()
    assert np.abs(phi.T @ M @ phi - np.eye(6)).max() <= 1e-8

    i, j = rest.pairs(6).T
    assert len(i) == (36 if region is not None else 21)
    forces = flat(force_derivatives(BODY, found.shapes, fields)[i, j])[where]
    z = np.linalg.solve(Z.T @ K @ Z, -Z.T @ forces)
    psi = flat(rest.derivatives(found, fields))[where]
    assert np.abs(W @ Z @ z - psi).max() <= 1e-8 * np.abs(psi).max()


@every_contact
@every_region
def test_a_basis_keeps_contact_and_supports(name, region) -> None:
    contact = CONTACTS[name]
    basis = pose_basis(BODY, modes=6, size=12, regions=region, contact=contact)
    assert basis.vectors.shape == (12, N, 3)
    assert not basis.vectors[:, ~BODY.free.any(axis=1)].any()
    U = flat(basis.vectors)
    assert np.abs(U.T @ (BODY.mass @ U) - np.eye(12)).max() <= 1e-10
    if region is not None:
        assert not basis.vectors[:, region == 0].any()
        assert np.array_equal(basis.members[0], region > 0)
    if contact is not None:
        assert np.abs(contact.rows(N) @ U).max() <= 1e-9 * np.abs(U).max()
    K = BODY.stiffness(np.zeros_like(X))
    np.testing.assert_allclose(basis.squares, np.linalg.eigvalsh(U.T @ (K @ U)), rtol=1e-8)


def test_without_contact_and_regions_it_is_the_mass_pca_of_modes_and_derivatives() -> None:
    ours = pose_basis(BODY, modes=6, size=15).vectors
    other = mixed_basis(BODY, 6, 15)
    cosines = flat(ours).T @ (BODY.mass @ flat(other.vectors))
    assert np.linalg.svd(cosines, compute_uv=False) == pytest.approx(1.0, abs=1e-8)


def test_derivatives_in_the_whole_body_are_the_modal_derivatives() -> None:
    rest = ConstrainedRest(BODY)
    modes, fields = rest.modes(4)
    wanted = modal_derivatives(BODY, modes)
    assert np.array_equal(rest.pairs(4), derivative_pairs(BODY, modes))
    assert rest.derivatives(modes, fields) == pytest.approx(wanted, abs=1e-9 * np.abs(wanted).max())


def test_second_derivatives_of_forces_are_those_of_differences() -> None:
    """(H : φ) y for two different shapes, with any material."""
    body = beam((3, 2, 2), sp.NeoHookean(young=1e5, poisson=0.4, density=1000.0))
    rng = np.random.default_rng(4)
    one, two = (0.01 * rng.standard_normal((2, body.n_vertices, 3)) for _ in range(2))
    found = force_derivatives(body, one, two)
    for i, j in np.ndindex(2, 2):
        a, b = 1e-3 * one[i], 1e-3 * two[j]
        differences = body.force(a + b) - body.force(a - b) - body.force(b - a) + body.force(-a - b)
        close = 1e-4 * np.abs(found[i, j]).max()
        assert found[i, j] == pytest.approx(differences / 4e-6, abs=close)


def test_redundant_rows_are_left_out() -> None:
    C = pairs().rows(N)
    kept = independent_rows(C)
    assert kept.shape[0] == C.shape[0] - 2
    assert np.linalg.matrix_rank(kept.toarray()) == kept.shape[0]
    twisted = sparse.csr_array(np.array([[1.0, 0, 1, 0], [0, 2, 0, 0], [1, 2, 1, 1e-9], [0] * 4]))
    assert independent_rows(twisted).shape == (2, 4)


def test_nullspace_is_complete() -> None:
    C = independent_rows(pairs().rows(N))
    Z = nullspace(C)
    assert Z.shape == (3 * N, 3 * N - C.shape[0])
    assert np.abs((C @ Z).toarray()).max() <= 1e-13
    assert np.linalg.matrix_rank(Z.toarray()) == Z.shape[1]
    small = Z.copy()
    small.data[0] = 1e-11
    assert thresholded(small).nnz == Z.nnz - 1
    none = sparse.csr_array((0, 5))
    assert nullspace(independent_rows(none)).toarray() == pytest.approx(np.eye(5))


def test_what_the_threshold_cuts_conjugate_gradients_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a coarse threshold 𝒵 is far from exact; the modes are not."""
    exact = pose_modes(BODY, 5, contact=CONTACTS["pairs"])
    monkeypatch.setattr("supple.character.training.modes._NEGLIGIBLE", 0.05)
    mended = pose_modes(BODY, 5, contact=CONTACTS["pairs"])
    np.testing.assert_allclose(mended.squares, exact.squares, rtol=1e-9)


def test_modes_need_no_pardiso(monkeypatch: pytest.MonkeyPatch) -> None:
    contact = CONTACTS["pairs"]
    with_pardiso = pose_modes(BODY, 5, contact=contact, region=RAMP)
    monkeypatch.setattr("supple.solvers.linear.pardiso.library", lambda: None)
    without = pose_modes(BODY, 5, contact=contact, region=RAMP)
    np.testing.assert_allclose(without.squares, with_pardiso.squares, rtol=1e-9)


def test_a_region_of_one_vertex_has_three_modes() -> None:
    region = np.zeros(N)
    corner = int(np.flatnonzero(X[:, 0] == 1.0)[0])
    region[corner] = 0.5
    K = BODY.stiffness(np.zeros_like(X)).toarray()[3 * corner : 3 * corner + 3]
    mass = 0.25 * BODY.mass.diagonal()[3 * corner]
    wanted = np.linalg.eigvalsh(K[:, 3 * corner : 3 * corner + 3]) / mass
    assert pose_modes(BODY, 3, region=region).squares == pytest.approx(wanted, rel=1e-10)
    assert pose_basis(BODY, modes=10, size=(3,), regions=region).members.sum() == 1


def test_all_modes_can_be_asked_for() -> None:
    small = beam((2, 1, 1))
    rest = ConstrainedRest(small)
    found, _ = rest.modes(rest.size)
    some, _ = rest.modes(5)
    assert some.squares == pytest.approx(found.squares[:5], rel=1e-10)
    assert len(found.squares) == small.free.sum()


def test_a_posed_body_keeps_its_masses() -> None:
    young = np.linspace(1e5, 2e5, BODY.n_cells)
    posed = posed_body(BODY, bent(X, 2.0, up=1), young)
    assert posed.mass_values == pytest.approx(BODY.mass_values, rel=1e-12)
    assert isinstance(posed.material, sp.Material)
    assert np.array_equal(np.asarray(posed.material.young), young)
    assert (posed.mesh.vertices != X).any()
    refused("cells are inside out in this pose", posed_body, BODY, X * [1.0, -1.0, 1.0])


def test_sizes_are_shared_out() -> None:
    small = np.zeros(N)
    small[np.flatnonzero(X[:, 0] == 1.0)[:1]] = 1.0
    regions = np.stack([np.ones(N), RAMP, small])
    assert shared_sizes(BODY, 13, regions) == [6, 6, 1]
    assert shared_sizes(BODY, [3, 2, 1], regions) == [3, 2, 1]
    basis = pose_basis(BODY, modes=(5, 4), size=(7, 3), regions=regions[:2])
    assert basis.regions.tolist() == [0] * 7 + [1] * 3
    refused("carry no more than", shared_sizes, BODY, 10, small[None])


def only_whole(matrix: sparse.csr_array) -> MatrixFactorization:
    """Takes all displacements for stiff, and some of them not."""
    if matrix.shape[0] < BODY.free.sum():
        raise NotPositiveDefinite
    return MatrixFactorization(matrix)


def test_a_contact_that_cannot_be_kept_is_told_from_other_failures(monkeypatch):
    glued = PoseContact.of_vertices(range(N), (0, 1, 0), N, sticking=True)
    refused("held by the contact", pose_basis, BODY, contact=glued, error=ContactNotKept)
    few = PoseContact.of_vertices(BODY.mesh.where(x=(0.0, 0.9)), (0, 1, 0), N, sticking=True)
    with pytest.raises(ContactNotKept, match=r"leaves only \d+ displacements"):
        pose_basis(BODY, size=ConstrainedRest(BODY, None, few).size + 1, contact=few)
    loose = sp.Body(BODY.mesh, BODY.material)
    floor = PoseContact.of_vertices([0], (0, 1, 0), N)
    with pytest.raises(sp.InputError, match="a part of the body") as told:
        pose_basis(loose, contact=floor)
    assert not isinstance(told.value, ContactNotKept)
    with monkeypatch.context() as patch:
        patch.setattr("supple.character.training.modes.MatrixFactorization", only_whole)
        with pytest.raises(ContactNotKept, match="where the contact is kept; its rows are nearly"):
            pose_modes(BODY, 5, contact=CONTACTS["pairs"])
    monkeypatch.setattr("supple.character.training.modes._NEGLIGIBLE", 0.05)
    monkeypatch.setattr("supple.character.training.modes.cg", lambda *_, x0, **__: (x0, 200))
    with pytest.raises(ContactNotKept, match="conjugate gradients found no"):
        pose_modes(BODY, 5, contact=CONTACTS["pairs"])


def test_what_cannot_be_used_is_refused() -> None:
    refused("regions have weights from", pose_basis, BODY, regions=2 * RAMP)
    refused("regions have shape", pose_basis, BODY, regions=RAMP[:-1])
    refused(r"only \d+ independent displacements", pose_modes, BODY, 3 * N)
    refused("nothing can move here", pose_modes, BODY, 1, region=np.zeros(N))
    refused("not positive definite here", pose_modes, sp.Body(BODY.mesh, BODY.material), 1)
    twice = {"size": (4, 4), "regions": np.stack([RAMP, RAMP])}
    refused("depend on each other", pose_basis, BODY, modes=3, **twice)
