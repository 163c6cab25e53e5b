"""Power-law damping of the stretch as a local term: exact down to dry friction."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import polar
from scipy.optimize import minimize
from tests.helpers import EPS, rotation, small_mesh, soft

import supple as sp
from supple._kernels.local_steps.stretch import add_stretches, minimise_power_law
from supple.damping.power_law import BoundStretchPower
from supple.dynamics.splitting.cells import StretchTerms
from supple.integrators import BackwardEuler, State

W = 3.0


def stretch(F: np.ndarray) -> np.ndarray:
    """√(FᵀF) by SciPy."""
    return polar(F)[1]


def minimised(s: np.ndarray, before: np.ndarray, b: float, p: float, w: float = W) -> np.ndarray:
    z = np.empty((len(s), 1, 3, 3))
    strength, weight = np.full(len(s), b), np.full(len(s), w)
    minimise_power_law(s[:, None].copy(), before[:, None].copy(), strength, p, weight, z)
    return z[:, 0]


def value(F: np.ndarray, s: np.ndarray, before: np.ndarray, b: float, p: float) -> float:
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
        here = value(z[k], s[k], before[k], b, p)
        for start in (s[k], z[k] + 1e-2 * rng.normal(size=(3, 3))):
            found = minimize(
                lambda F, k=k: value(F.reshape(3, 3), s[k], before[k], b, p),
                start.ravel(),
                method="BFGS",
                options={"gtol": 1e-9},
            )
            assert here <= found.fun + 1e-8
        for size in (1e-1, 1e-2, 1e-3):
            near = z[k] + size * rng.normal(size=(20, 3, 3))
            assert here <= min(value(F, s[k], before[k], b, p) for F in near) + 1e-12


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
