"""Local minimisers of cells: stationary, a minimum, and where SciPy finds it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.damping.cases import the_body
from tests.helpers import MATERIAL_NAMES, evaluate, rotation, shaken, small_mesh, soft, unpacked

import supple as sp
from supple.damping.base import BoundDamping
from supple.damping.cells import BoundCellDamping
from supple.dynamics.splitting.cells import CellTerms, least_stiffness
from supple.integrators import BackwardEuler, State
from supple.materials import MATERIALS
from supple.solvers.splitting import Dissipation

C_V = 50.0
SPREAD = {"near rest": 0.1, "large": 0.4}


def terms_of(
    body: sp.Body, damping: sp.Damping | None = None, dissipation: Dissipation = Dissipation.BALANCE
) -> CellTerms:
    bound: list[BoundCellDamping] = []
    if damping is not None:
        model: BoundDamping = damping.bind(body)
        inside = model.in_cells()
        assert inside is not None
        bound.append(inside)
    terms = CellTerms(body.parts[0], bound, c_v=C_V, dissipation=dissipation)
    rng = np.random.default_rng(9)
    u, v = 0.02 * rng.normal(size=(2, body.n_vertices, 3))
    now = State(0.0, u, v, np.zeros_like(u))
    terms.begin(next(BackwardEuler().stages(now, None, 1 / C_V)), u, v)
    terms.accuracy = 1e-11
    return terms


def stretched(count: int, spread: float, seed: int = 0, flip: float = 1.0) -> np.ndarray:
    """Rotations times stretches e^±spread, the last of them times ``flip``, (count, 3, 3)."""
    rng = np.random.default_rng(seed)
    stretches = np.exp(rng.uniform(-spread, spread, (count, 3))) * (1, 1, flip)
    return np.array([
        rotation(seed + 2 * i) @ np.diag(x) @ rotation(seed + 2 * i + 1)
        for i, x in enumerate(stretches)
    ])  # fmt: skip


def judged(terms: CellTerms, z: np.ndarray, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far ∇Φ(z)/w + z − s is from zero, and the least curvature of Φ/w + ½‖z − s‖², (m,)."""
    P, A = terms.forces(slice(0, len(terms.stiffness)), z.reshape(terms.by_point), 2)
    w = terms.stiffness[:, None, None]
    slope = np.linalg.norm(P[:, 0] / w + z - s, axis=(1, 2))
    return slope, np.linalg.eigvalsh(unpacked(A[:, 0]) / w + np.eye(9))[:, 0]


def value(material: sp.Material, F: np.ndarray, s: np.ndarray, w: float) -> float:
    """ψ(F) + w/2 ‖F − s‖² [Pa]."""
    lam, mu = (float(x[0]) for x in material.lame(np.zeros(1, dtype=np.int64)))
    psi, P, A = np.empty((1, 1)), np.empty((0, 1, 3, 3)), np.empty((0, 1, 6, 3, 3))
    material.evaluate(F[None, None], np.array([lam]), np.array([mu]), psi, P, A, 0)
    return float(psi[0, 0]) + 0.5 * w * float(np.sum((F - s) ** 2))


@pytest.mark.parametrize("spread", SPREAD)
@pytest.mark.parametrize("poisson", [0.3, 0.45])
@pytest.mark.parametrize("material", MATERIALS, ids=lambda m: m.__name__)
def test_minimum_of_where_it_was_warmed_from(material, poisson, spread):
    """s = z + ∇Φ(z)/w: where the whole is convex at z, its minimum near z is z itself."""
    terms = terms_of(sp.Body(small_mesh("tet"), soft(material, poisson=poisson)))
    known = stretched(terms.shape[0], SPREAD[spread])
    s, z = np.empty(terms.shape), known.copy()
    terms.warm_start(known, s)
    _, curvature = judged(terms, known, s)
    terms.minimise(s, z)
    convex = curvature > 0.05
    assert convex.mean() > 0.3
    assert np.abs(z - known)[convex].max() < 1e-9


# StableNeoHookean is left out where it is flat: its energy bends so sharply there that a local
# search may stop short of the minimum, which the next iteration of ADMM makes up for
PLACES = [(m, name) for m in MATERIALS for name in ("gentle", "flat", "inverted")]
PLACES = [p for p in PLACES if p[0] is not sp.StableNeoHookean or p[1] == "gentle"]


@pytest.mark.parametrize(("material", "name"), PLACES)
def test_minimum_by_singular_values(material, name):
    """Against nine unknowns by SciPy: stationary, no saddle, and nothing lower close by."""
    terms = terms_of(sp.Body(small_mesh("tet"), soft(material)))
    flip = {"gentle": 1.0, "flat": 0.0, "inverted": -0.3}[name]
    s = stretched(terms.shape[0], 0.3, seed=7, flip=flip)
    z = np.zeros(terms.shape)
    z[:] = np.eye(3)
    for _ in range(12):  # iterations of ADMM go on from where the last one ended
        terms.minimise(s, z)
    slope, curvature = judged(terms, z, s)
    assert slope.max() < 1e-9
    assert curvature.min() > -1e-9
    given, w = soft(material), terms.stiffness
    for k in range(0, len(s), 8):
        here = value(given, z[k], s[k], w[k])
        found = minimize(
            lambda F, k=k: value(given, F.reshape(3, 3), s[k], w[k]) / w[k],
            z[k].ravel() + 1e-3 * rotation(k).ravel(),
            method="BFGS",
            options={"gtol": 1e-8},
        )
        # differences that SciPy takes leave 1e-8 of slope, and values are good to 1e-14
        assert found.fun * w[k] >= here - 1e-12 * w[k]
        assert np.abs(found.x.reshape(3, 3) - z[k]).max() < 1e-5 / min(1.0, curvature[k])


MODELS: dict[str, sp.Damping] = {
    "StrainRate": sp.StrainRate(shear=40, bulk=30),
    "fibres": sp.StrainRate(shear=40, fibre=60, direction=(1, 2, -1)),
    "Rayleigh": sp.Rayleigh(stiffness=0.02, at=sp.StiffnessAt.CURRENT),
    "MatchedStrainRate": sp.MatchedStrainRate(stiffness=0.02),
    "PrincipalStrain": sp.PrincipalStrain(stiffness=0.02, axis_width=0.5),
    "PowerLaw, steep": sp.PowerLaw(exponent=2, strength=3.0),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("material", ["StVK", "StableNeoHookean"])
def test_balance_with_damping(material, name):
    """∇Φ(z) + w (z − s) = 0 with damping too, as iterations go on from the last z."""
    terms = terms_of(sp.Body(small_mesh("tet"), soft(MATERIAL_NAMES[material])), MODELS[name])
    rng = np.random.default_rng(2)
    known = np.eye(3) + 0.05 * rng.normal(size=terms.shape)
    s, z = np.empty(terms.shape), known.copy()
    terms.warm_start(known, s)
    terms.minimise(s, z)
    assert np.abs(z - known).max() < 1e-12  # it stays where forces balance
    nearby = s + 0.02 * rng.normal(size=s.shape)
    for _ in range(12):  # iterations of ADMM
        terms.minimise(nearby, z)
    slope, _ = judged(terms, z, nearby)
    assert slope.max() < 1e-9
    assert np.abs(z - known).max() > 1e-3  # it has moved


def asymmetry(terms: CellTerms) -> float:
    """How far the derivative of ∂Φ/∂F by F is from symmetric, of its size, by differences."""
    F = np.eye(3) + 0.1 * np.random.default_rng(0).normal(size=terms.shape)
    F = F.reshape(terms.by_point)
    whole, h = slice(0, len(terms.stiffness)), 1e-5
    slope = np.empty((len(F), 9, 9))
    for k in range(9):
        d = h * np.eye(9)[k].reshape(3, 3)
        ahead, behind = (terms.forces(whole, F + sign * d, 1)[0].copy() for sign in (1, -1))
        slope[:, :, k] = ((ahead - behind) / (2 * h))[:, 0].reshape(-1, 9)
    return float(np.abs(slope - slope.transpose(0, 2, 1)).max() / np.abs(slope).max())


@pytest.mark.parametrize("name", ["StrainRate", "fibres", "PrincipalStrain", "MatchedStrainRate"])
def test_force_of_an_effective_potential(name):
    """Eqs. 28 and 30: in these forms ∂Φ/∂F is a gradient; ∇₂R itself is none."""
    body, model = the_body(sp.StVK), MODELS[name]
    assert asymmetry(terms_of(body, model)) > 1e-3
    for dissipation in (Dissipation.FIRST_ORDER, Dissipation.SECOND_ORDER):
        # models differentiate by F numerically, good to some 1e-11 of the force, over h
        assert asymmetry(terms_of(body, model, dissipation)) < 3e-6


def test_principal_strain_alone_by_singular_values():
    """Eq. 53: ∇ψ(σ) + β c_v K_σ (σ − σ̂) + w (σ − σ̃) = 0, with the axes of s."""
    material = soft(sp.StVK)
    body = sp.Body(small_mesh("tet"), material)
    terms = terms_of(body, MODELS["PrincipalStrain"], Dissipation.FIRST_ORDER)
    before = np.empty(terms.shape)
    u = 0.02 * np.random.default_rng(9).normal(size=(2, body.n_vertices, 3))[0]  # as terms_of
    terms.gather(u, before)
    s = before + 0.05 * np.random.default_rng(5).normal(size=terms.shape)
    z = s.copy()
    for _ in range(3):  # iterations of ADMM
        terms.minimise(s, z)
    U, sought, Vt = np.linalg.svd(s)
    inside = U.transpose(0, 2, 1) @ z @ Vt.transpose(0, 2, 1)
    sigma = np.einsum("kii->ki", inside)
    np.testing.assert_allclose(inside, sigma[:, :, None] * np.eye(3), atol=1e-12)
    lam, mu = (float(x[0]) for x in material.lame(np.zeros(1, dtype=np.int64)))
    _, P, A = evaluate(sp.StVK, sigma[:, :, None] * np.eye(3), lam, mu)
    K = A[:, ::4, ::4]  # entries 00, 11, 22
    change = sigma - np.linalg.svd(before, compute_uv=False)
    w = terms.stiffness[:, None]
    left = np.einsum("kii->ki", P) + 0.02 * C_V * np.einsum("kij,kj->ki", K, change)
    left += w * (sigma - sought)
    assert np.abs(left / w).max() < 1e-9
    assert np.abs(change).max() > 0.01


@pytest.mark.parametrize("material", MATERIALS, ids=lambda m: m.__name__)
def test_weight_is_the_least_modulus(material):
    """2μ for elasticity alone, and more with viscosity: 2μ + 2 c_v η."""
    body = sp.Body(shaken(sp.TetMesh.box((1, 1, 1), (1, 1, 1))), soft(material, poisson=0.4))
    part = body.parts[0]
    mu = part.lame[1]
    np.testing.assert_allclose(least_stiffness(part, [], C_V), 2 * mu, rtol=1e-9)
    shear = sp.StrainRate(shear=40.0).bind(body).in_cells()
    assert shear is not None
    more = least_stiffness(part, [shear], C_V) - 2 * mu
    rate = sp.StrainRate(shear=80.0).bind(body).in_cells()
    assert rate is not None
    twice = least_stiffness(part, [rate], C_V) - 2 * mu
    assert (more > 0).all()
    np.testing.assert_allclose(twice, 2 * more, rtol=1e-9)
