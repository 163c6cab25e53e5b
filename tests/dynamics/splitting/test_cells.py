"""Local minimisers of cells: stationary, a minimum, and where SciPy finds it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import polar
from scipy.optimize import minimize
from tests.damping.cases import the_body
from tests.helpers import (
    EPS,
    MATERIAL_NAMES,
    evaluate,
    rotation,
    shaken,
    small_mesh,
    soft,
    unpacked,
)

import supple as sp
from supple._kernels.local_steps.stretch import add_stretches, minimise_power_law
from supple.damping.base import BoundDamping
from supple.damping.cells import BoundCellDamping
from supple.damping.power_law import BoundStretchPower
from supple.dynamics.splitting.cells import CellTerms, StretchTerms, least_stiffness
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
    more, twice = (
        least_stiffness(part, [sp.StrainRate(shear=eta).bind(body).in_cells()], C_V) - 2 * mu
        for eta in (40.0, 80.0)
    )
    assert (more > 0).all()
    np.testing.assert_allclose(twice, 2 * more, rtol=1e-9)


# -- dry damping -----------------------------------------------------------------------------------


W = 3.0


def stretch(F: np.ndarray) -> np.ndarray:
    """√(FᵀF) by SciPy."""
    return polar(F)[1]


def minimised(
    s: np.ndarray,
    before: np.ndarray,
    b: float,
    p: float,
    w: float = W,
    begin: np.ndarray | None = None,
    accuracy: float = 1e-12,
) -> np.ndarray:
    """The minimum near s; ``begin`` (k, 3, 3) is the stretch to start from, and becomes that."""
    z = np.empty((len(s), 1, 3, 3))
    begin = before.copy() if begin is None else begin
    law = before[:, None].copy(), np.full(len(s), b), p, np.full(len(s), w)
    minimise_power_law(s[:, None].copy(), *law, accuracy, begin[:, None], z)
    return z[:, 0]


@pytest.mark.parametrize("p", [0.0, 0.5])
def test_minimum_goes_on_from_the_last_one(p):
    """Rough minima that start where the last one ended reach the exact one, for a small change."""
    s, before = samples()
    begin = before.copy()
    rough = minimised(s, before, 0.1, p, begin=begin, accuracy=0.1)
    np.testing.assert_allclose(stretch(rough), begin, atol=1e-12)
    exact = minimised(s + 1e-3, before, 0.1, p)
    assert np.abs(rough - exact).max() > 1e-4
    for _ in range(20):
        last = minimised(s + 1e-3, before, 0.1, p, begin=begin, accuracy=1e9)  # one turn each
    np.testing.assert_allclose(last, exact, atol=1e-8)


def value_of_law(F: np.ndarray, s: np.ndarray, before: np.ndarray, b: float, p: float) -> float:
    """b ‖S − Ŝ‖^(p+1) + w/2 ‖F − s‖²."""
    far = np.linalg.norm(stretch(F) - before)
    return b * far ** (p + 1) + 0.5 * W * float(np.sum((F - s) ** 2))


def samples(count: int = 5, size: float = 0.3, seed: int = 0):
    """Places to seek from, and symmetric stretches not far from theirs."""
    rng = np.random.default_rng(seed)
    before = np.eye(3) + 0.1 * rng.normal(size=(count, 3, 3))
    before = 0.5 * (before + before.transpose(0, 2, 1))
    turn = np.array([rotation(seed + k) for k in range(count)])
    return turn @ (before + size * rng.normal(size=(count, 3, 3))), before


def test_stretches_and_their_rates():
    """p S + q Ṡ, the rate by differences of SciPy's polar decomposition."""
    rng = np.random.default_rng(1)
    F, rate = rng.normal(size=(2, 20, 1, 3, 3))
    F[:10] = np.eye(3) + 0.2 * F[:10]
    assert (np.linalg.det(F) < 0).any()
    S, h = np.ones_like(F), 1e-6
    add_stretches(F, rate, 2.0, 0.5, S)
    for f, r, found in zip(F[:, 0], rate[:, 0], S[:, 0], strict=True):
        slope = (stretch(f + h * r) - stretch(f - h * r)) / (2 * h)
        # differences: rounding 1e-16/h, truncation h² over the square of the least σ_a + σ_b
        np.testing.assert_allclose(found, 1 + 2 * stretch(f) + 0.5 * slope, atol=1e-7)


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("b", [0.05, 0.6, 20.0])
def test_minimum_as_scipy_finds(p, b):
    """No lower value from the same place, from s and from the old stretch, nor around it."""
    s, before = samples()
    z = minimised(s, before, b, p)
    rng = np.random.default_rng(3)
    for k in range(len(s)):
        here = value_of_law(z[k], s[k], before[k], b, p)
        for start in (s[k], z[k] + 1e-2 * rng.normal(size=(3, 3))):
            found = minimize(
                lambda F, k=k: value_of_law(F.reshape(3, 3), s[k], before[k], b, p),
                start.ravel(),
                method="BFGS",
                options={"gtol": 1e-9},
            )
            assert here <= found.fun + 1e-8
        for size in (1e-1, 1e-2, 1e-3):
            near = z[k] + size * rng.normal(size=(20, 3, 3))
            assert here <= min(value_of_law(F, s[k], before[k], b, p) for F in near) + 1e-12


@pytest.mark.parametrize("p", [0.5, 1.0, 2.0])
def test_on_the_way_back(p):
    """A pure stretch: S on the line to its old value, with b (p + 1) τ^p D^(p−1) = w (1 − τ)."""
    before = np.diag([1.0, 1.1, 0.9])[None]
    s = np.diag([1.4, 1.0, 0.95])[None]
    z = minimised(s, before, 0.4, p)[0]
    D = np.linalg.norm(s[0] - before[0])
    tau = np.linalg.norm(z - before[0]) / D
    np.testing.assert_allclose(z, before[0] + tau * (s[0] - before[0]), atol=1e-14)
    assert 0.4 * (p + 1) * tau**p * D ** (p - 1) == pytest.approx(W * (1 - tau), rel=1e-12)


def test_dry_damping_sticks_up_to_its_strength():
    """p = 0: S stays exactly while b ≥ w D, and from there on loses b/w of the distance."""
    before = np.diag([1.0, 1.0, 1.0])[None]
    s = np.diag([1.25, 1.0, 1.0])[None]  # D = ¼, exact in binary
    threshold = W * 0.25
    for b in (threshold, np.nextafter(threshold, 9), 2 * threshold):
        assert (minimised(s, before, b, 0.0)[0] == before[0]).all()
    moved = minimised(s, before, threshold * (1 - 1e-9), 0.0)[0]
    assert moved[0, 0] - 1 == pytest.approx(0.25e-9, rel=1e-6)
    half = minimised(s, before, 0.5 * threshold, 0.0)[0]
    assert half[0, 0] - 1 == pytest.approx(0.125, rel=1e-14)


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0])
def test_turning_is_free(p):
    """A rotation of the old shape costs nothing, and turning s turns z."""
    s, before = samples(size=0.2)
    R = rotation(77)
    np.testing.assert_allclose(
        minimised(R @ s, before, 0.3, p), R @ minimised(s, before, 0.3, p), atol=1e-10
    )
    turned = R @ before
    np.testing.assert_allclose(minimised(turned, before, 5.0, p), turned, atol=30 * EPS)


def test_without_strength_nothing_happens():
    s, before = samples()
    np.testing.assert_allclose(minimised(s, before, 0.0, 0.5), s, atol=1e-13)


def test_tension_is_kept_from_stage_to_stage():
    """What a stage ended with starts the next one: the minimum of the warmed place is z."""
    body = sp.Body(small_mesh("tet"), soft(sp.StVK))
    bound = sp.PowerLaw(exponent=0, strength=40.0).bind(body).in_cells()
    assert isinstance(bound, BoundStretchPower)
    assert bound.is_rate_independent
    part = body.parts[0]
    terms = StretchTerms(part, bound, np.full(len(part.cells), 2e4), c_v=50.0)
    terms.accuracy = 1e-12
    u = 0.02 * np.random.default_rng(0).normal(size=(body.n_vertices, 3))
    now = State(0.0, u, np.zeros_like(u), np.zeros_like(u))
    terms.begin(next(BackwardEuler().stages(now, None, 0.02)), u, u)
    s, z, again = (np.empty(terms.shape) for _ in range(3))
    terms.gather(1.01 * u, s)
    terms.minimise(s, z)
    assert np.abs(z - s).max() > 1e-6
    terms.finish(s, z)
    terms.warm_start(z, s)
    terms.minimise(s, again)
    np.testing.assert_allclose(again, z, atol=1e-12)
    terms.set_weight(4.0)  # forces w ū stay
    old = 2e4 * (s - z)
    terms.warm_start(z, s)
    np.testing.assert_allclose(4 * 2e4 * (s - z), old, atol=1e-9 * np.abs(old).max())
