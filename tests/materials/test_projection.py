"""The positive semidefinite part of ∂P/∂F against a dense eigenvalue decomposition."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.helpers import EPS, rotation, unpacked

from supple.materials import MATERIALS

LAM, MU = 1.7, 0.9  # [Pa]

every_material = pytest.mark.parametrize("material", MATERIALS, ids=lambda m: m.__name__)
every_survivor = pytest.mark.parametrize(
    "material", [m for m in MATERIALS if m.survives_inversion], ids=lambda m: m.__name__
)


def stress_derivatives(material, F):
    """∂P/∂F as stored, and its projection, both (m, 6, 3, 3)."""
    F = np.ascontiguousarray(F)[:, None]
    m = len(F)
    psi, P, A = np.empty((m, 1)), np.empty((m, 1, 3, 3)), np.empty((m, 1, 6, 3, 3))
    material.evaluate(F, np.full(m, LAM), np.full(m, MU), psi, P, A, 2)
    definite = A.copy()
    material.make_definite(F, definite)
    return A[:, 0], definite[:, 0]


def stretches(material):
    """Principal stretches: random ones, and repeated, equal and vanishing ones."""
    rng = np.random.default_rng(0)
    rows = [*rng.uniform(0.2, 2.0, (30, 3)), (1, 1, 1), (0.4, 0.4, 0.4), (1.5, 0.3, 0.3)]
    rows += [(0.3, 0.3, 2.0), (1e-3, 1e-3, 1e-3), (1, 1, 1e-9)]
    if material.survives_inversion:
        rows += [(1, 1, 0), (0.9, 0.7, -0.3), (0.5, 0.5, -0.2)]
    return np.array(rows, dtype=float)


@every_material
def test_projection_equals_dense_eigenvalue_clamp(material):
    sigma = stretches(material)
    rng = np.random.default_rng(1)
    U, V = (Rotation.random(len(sigma), rng=rng).as_matrix() for _ in range(2))
    A, definite = (
        unpacked(x) for x in stress_derivatives(material, np.einsum("mia,ma,mja->mij", U, sigma, V))
    )
    values, vectors = np.linalg.eigh(A)
    expected = (vectors * np.maximum(values, 0)[:, None, :]) @ vectors.transpose(0, 2, 1)
    # Clamping eigenvalues does not enlarge errors (it is a projection on a convex cone), so both
    # ways agree to the rounding of an eigenvalue decomposition, some tens of eps.
    scale = np.linalg.norm(A, axis=(1, 2))
    assert (np.linalg.norm(definite - expected, axis=(1, 2)) <= 300 * EPS * scale).all()
    assert (values[:, 0] < 0).any(), "the cases should hold indefinite ones"


@every_material
def test_projection_leaves_definite_untouched(material):
    """Not a bit changes where no eigenvalue is negative, so Newton stays Newton."""
    Q, S = rotation(2), rotation(3)
    F = Q @ S @ np.array([np.diag([1.05, 1.02, 1.1]), np.diag([1.3, 0.95, 0.97])]) @ S.T
    A, definite = stress_derivatives(material, F)
    assert (np.linalg.eigvalsh(unpacked(A)) > 0).all()
    np.testing.assert_array_equal(definite, A)


@every_survivor
def test_projection_semidefinite_where_the_rotation_is_undefined(material):
    """σ₁ + σ₂ = 0: singular vectors are arbitrary there, and so is ∂P/∂F of the corotational."""
    sigma = [(1, 0, 0), (0, 0, 0), (1, 0.5, -0.5), (1, 1, -1)]
    F = rotation(4) @ np.array([np.diag(row) for row in sigma]) @ rotation(5)
    values = np.linalg.eigvalsh(unpacked(stress_derivatives(material, F)[1]))
    assert (values[:, 0] >= -100 * EPS * np.abs(values).max(axis=1)).all()
