"""ψ, P = ∂ψ/∂F, ∂P/∂F and its positive semidefinite part of every material, at F."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.transform import Rotation
from tests.helpers import EPS, entries, evaluate, remainder_slopes, rotation, unpacked

import supple as sp
from supple.materials import MATERIALS

LAM, MU = 1.7, 0.9  # [Pa]
MODULUS = LAM + 2 * MU

every_material = pytest.mark.parametrize("material", MATERIALS, ids=lambda m: m.__name__)
every_survivor = pytest.mark.parametrize(
    "material", [m for m in MATERIALS if m.survives_inversion], ids=lambda m: m.__name__
)


def gradients(material: type[sp.Material], count: int = 40, seed: int = 0) -> np.ndarray:
    """F = U diag(σ) Vᵀ with stretches of 0.3 … 2.5; half of them inverted where that is allowed."""
    rng = np.random.default_rng(seed)
    sigma = rng.uniform(0.3, 2.5, (count, 3))
    if material.survives_inversion:
        sigma[::2, 2] = -0.5 * sigma[::2].min(axis=1)  # σ₁ + σ₂ > 0: R is defined
    return with_stretches(sigma, rng)


def with_stretches(sigma: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """F = U diag(σ) Vᵀ (m, 3, 3) with any rotations U and V."""
    U, V = (Rotation.random(len(sigma), rng=rng).as_matrix() for _ in range(2))
    return np.einsum("mia,ma,mja->mij", U, sigma, V)


def twin(material: type[sp.Material], F: np.ndarray) -> float:
    """ψ in plain NumPy, from the textbooks' invariants."""
    J, square = np.linalg.det(F), np.trace(F.T @ F)
    if material in (sp.StVK, sp.OrthotropicStVK):  # with one modulus
        E = 0.5 * (F.T @ F - np.eye(3))
        return 0.5 * LAM * np.trace(E) ** 2 + MU * np.trace(E @ E)
    if material is sp.NeoHookean:
        return 0.5 * MU * (square - 3) - MU * np.log(J) + 0.5 * LAM * np.log(J) ** 2
    if material is sp.StableNeoHookean:
        return 0.5 * MU * (square - 3) - MU * (J - 1) + 0.5 * (LAM + MU) * (J - 1) ** 2
    if material in (sp.Corotational, sp.SplineMaterial):  # whose curves are straight
        sigma = np.linalg.svd(F, compute_uv=False) * [1, 1, np.sign(J)]
        return MU * ((sigma - 1) ** 2).sum() + 0.5 * LAM * (sigma.sum() - 3) ** 2
    raise AssertionError(f"write the twin of {material.__name__}")


@every_material
def test_stretches_as_at_diagonal_gradients(material):
    """What is compiled for σ alone, against what ``evaluate`` says of diag(σ)."""
    rng = np.random.default_rng(4)
    sigma = rng.uniform(0.3, 2.5, (40, 2, 3))
    sigma[10:] *= rng.choice((-1, 1), (30, 2, 3))  # any of them may have turned inside out
    made = material(young=1.0, poisson=0.3)
    lam, mu = rng.uniform(0.5, 2.0, (2, 40))
    found, expected = ([np.empty((40, 2, *shape)) for shape in ((), (3,), (6,))] for _ in range(2))
    made.evaluate_stretches(sigma, lam, mu, *found)
    sp.Material.evaluate_stretches(made, sigma, lam, mu, *expected)
    sound = np.isfinite(expected[0])
    assert (np.isfinite(found[0]) == sound).all()
    assert sound.all() == material.survives_inversion
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a[sound], b[sound], rtol=1e-12, atol=1e-12 * MODULUS)


@every_material
def test_energy_equals_numpy_twin(material):
    F = gradients(material)
    expected = np.array([twin(material, f) for f in F])
    # Rounding of a quartic of the stretches, each at most 2.5.
    bound = 20 * EPS * MODULUS * (1 + np.linalg.norm(F, axis=(1, 2)) ** 4)
    assert (np.abs(evaluate(material, F, LAM, MU)[0] - expected) <= bound).all()


@every_material
def test_derivatives_taylor_slopes(material):
    """The remainders of ψ after two and three terms, and of P after two: slopes 2, 3 and 2."""
    rng = np.random.default_rng(3)
    steps = 2.0 ** -np.arange(7, 11)
    for f in gradients(material, count=12):
        D = rng.normal(size=(3, 3))
        D /= np.linalg.norm(D)
        psi, P, A = (x[0] for x in evaluate(material, f[None], LAM, MU))
        along, curved = np.vdot(P, D), (A @ D.ravel()).reshape(3, 3)

        def at(h, f=f, D=D):
            psi, P, _ = evaluate(material, (f + h * D)[None], LAM, MU)
            return psi[0], P[0]

        def second(h, at=at, psi=psi, along=along):
            return abs(at(h)[0] - psi - h * along)

        def third(h, at=at, psi=psi, along=along, curved=curved, D=D):
            return abs(at(h)[0] - psi - h * along - 0.5 * h * h * np.vdot(D, curved))

        def stress(h, at=at, P=P, curved=curved):
            return np.linalg.norm(at(h)[1] - P - h * curved)

        # The slope is p + O(h); 0.2 is for h = 2⁻⁷ at stretches of 0.15, where O(h) is h/0.15.
        assert remainder_slopes(second, steps)[-1] > 2 - 0.2
        assert remainder_slopes(third, steps)[-1] > 3 - 0.2
        assert remainder_slopes(stress, steps)[-1] > 2 - 0.2


@every_material
def test_stress_derivative_symmetric(material):
    A = evaluate(material, gradients(material), LAM, MU)[2]
    scale = np.linalg.norm(A, axis=(1, 2))
    assert (np.linalg.norm(A - A.transpose(0, 2, 1), axis=(1, 2)) <= 20 * EPS * scale).all()


@every_material
def test_kirchhoff_stress_symmetric(material):
    """P Fᵀ = F Pᵀ: no internal torque, which is what conserves angular momentum."""
    F = gradients(material)
    tau = evaluate(material, F, LAM, MU)[1] @ F.transpose(0, 2, 1)
    bound = 50 * EPS * MODULUS * (1 + np.linalg.norm(F, axis=(1, 2)) ** 4)
    assert (np.abs(tau - tau.transpose(0, 2, 1)).max(axis=(1, 2)) <= bound).all()


@every_material
def test_stress_turns_with_the_body_and_with_the_material(material):
    """P(Q F R) = Q P(F) R."""
    F, Q, R = gradients(material), rotation(4), rotation(5)
    turned, P = (evaluate(material, G, LAM, MU)[1] for G in (Q @ F @ R, F))
    # Products of four matrices, and F⁻¹ with stretches down to 0.3 in the neo-Hookean model.
    bound = 200 * EPS * MODULUS * (1 + np.linalg.norm(F, axis=(1, 2)) ** 3)
    assert (np.abs(turned - Q @ P @ R).max(axis=(1, 2)) <= bound).all()


@every_material
@given(
    F=arrays(float, (3, 3), elements=entries(2)),
    turn=arrays(float, (2, 3), elements=st.floats(-3, 3)),
)
@settings(max_examples=60, deadline=None)
def test_energy_objective_and_isotropic(material, F, turn):
    """ψ(Q F R) = ψ(F) for every F, also singular and inverted ones where they have an energy."""
    Q, R = Rotation.from_rotvec(turn).as_matrix()
    J = np.linalg.det(F)
    assume(material.survives_inversion or J > 0.05)
    turned, psi = (evaluate(material, G[None], LAM, MU)[0][0] for G in (Q @ F @ R, F))
    size = np.linalg.norm(F)
    scale = MODULUS * (1 + size**6)  # (J − 1)² is of degree six
    if not material.survives_inversion:
        scale *= (1 + size**3 / J) * (1 + abs(np.log(J)))  # condition of ln J
    # Corotational: a singular value near zero is known to √eps·0 + eps·‖F‖, its sign may be either.
    assert abs(turned - psi) <= 100 * EPS * scale


@every_material
@given(turn=arrays(float, 3, elements=st.floats(-3, 3)))
@settings(max_examples=30, deadline=None)
def test_rotations_free_of_energy_and_stress(material, turn):
    Q = Rotation.from_rotvec(turn).as_matrix()
    psi, P, _ = evaluate(material, np.stack([np.eye(3), Q]), LAM, MU)
    assert (np.abs(psi) <= 20 * EPS * MODULUS).all()
    assert np.abs(P).max() <= 20 * EPS * MODULUS
    assert psi[0] == 0.0


@every_material
def test_small_strains_linear_elasticity(material):
    """∂P_ij/∂F_kl = λ δ_ij δ_kl + μ (δ_ik δ_jl + δ_il δ_jk) at rest."""
    d = np.eye(3)
    expected = LAM * np.einsum("ij,kl->ijkl", d, d)
    expected += MU * (np.einsum("ik,jl->ijkl", d, d) + np.einsum("il,jk->ijkl", d, d))
    A = evaluate(material, d[None], LAM, MU)[2][0]
    assert np.abs(A - expected.reshape(9, 9)).max() <= 10 * EPS * MODULUS


@pytest.mark.parametrize("J", [0.0, -0.5])
def test_neo_hookean_inverted_energy_infinite(J):
    assert evaluate(sp.NeoHookean, np.diag([1.0, 1.0, J])[None], LAM, MU)[0][0] == np.inf


@every_survivor
def test_survivors_finite_everywhere(material):
    flat = [np.zeros((3, 3)), np.diag([1.0, 0, 0]), np.diag([1.0, 1, 0]), -np.eye(3)]
    flat += [np.diag([1.0, -1, 1]), 1e-170 * np.eye(3), np.outer([1.0, 2, 3], [3.0, 1, 2])]
    for value in evaluate(material, np.array(flat), LAM, MU):
        assert np.isfinite(value).all()


@every_material
def test_lame_constants(material):
    lam, mu = material(young=[3.0, 5.0], poisson=[0.0, 0.25]).lame(np.arange(2))
    np.testing.assert_allclose(lam, [0.0, 2.0], atol=4 * EPS)
    np.testing.assert_allclose(mu, [1.5, 2.0], rtol=4 * EPS)


@every_material
@pytest.mark.parametrize(
    ("bad", "named"),
    [
        ({"young": 0.0}, "young"),
        ({"young": np.nan}, "young"),
        ({"young": [1.0, -1.0]}, r"young\[1\]"),
        ({"young": "stiff"}, "young"),
        ({"young": [[1.0]]}, "young"),
        ({"poisson": 0.5}, "poisson.*less than 0.5"),
        ({"poisson": -1.0}, "poisson"),
        ({"density": -1.0}, "density"),
        ({"density": np.inf}, "density"),
    ],
)
def test_bad_constants_named(material, bad, named):
    with pytest.raises(sp.InputError, match=named):
        material(**({"young": 1.0, "poisson": 0.3} | bad))


def test_parameters_are_copies():
    young = np.array([1.0, 2.0])
    material = sp.StVK(young=young, poisson=0.3)
    young[:] = 7.0
    assert material.lame(np.arange(2))[1].tolist() == [1 / 2.6, 2 / 2.6]


@every_material
def test_constants_from_mesh_regions(material):
    """A mesh file may bring constants with its regions; what is missing is named."""
    box = sp.TetMesh.box((1, 1, 1), (1, 1, 1))
    halves = {"soft": np.array([0, 1]), "hard": np.array([2, 3, 4])}
    values = {
        "soft": {"young": 1.0, "poisson": 0.1, "density": 10.0},
        "hard": {"young": 5.0, "poisson": 0.2, "density": 20.0},
    }
    made = material.from_mesh(sp.TetMesh(box.vertices, box.cells, halves, values))
    assert list(made.young) == [1, 1, 5, 5, 5]
    assert list(made.poisson) == [0.1, 0.1, 0.2, 0.2, 0.2]
    assert list(made.density) == [10, 10, 20, 20, 20]
    with pytest.raises(sp.InputError, match="3 of 5 cells"):
        material.from_mesh(sp.TetMesh(box.vertices, box.cells, halves, {"soft": values["soft"]}))
    partial = {**values, "hard": {"young": 5.0}}
    with pytest.raises(sp.InputError, match="poisson"):
        material.from_mesh(sp.TetMesh(box.vertices, box.cells, halves, partial))


# -- the positive semidefinite part, against a dense eigenvalue decomposition -------------------


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
    F = with_stretches(stretches(material), np.random.default_rng(1))
    A, definite = map(unpacked, stress_derivatives(material, F))
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
