"""Closed forms: beams, the elastica, uniaxial stretch, amplitudes kept by integrators.

Every tolerance is the size of what the closed form leaves out, worked out beside it.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.optimize import brentq
from tests.helpers import simulate

import supple as sp
from supple.integrators import INTEGRATORS, ExplicitIntegrator
from supple.materials import MATERIALS

YOUNG, DENSITY, LENGTH, SIDE = 1e6, 1000.0, 1.0, 0.1
AREA, INERTIA = SIDE**2, SIDE**4 / 12
TORSION = 0.140577  # of h⁴, Saint-Venant's constant of a square
FINE = (20, 4, 4)


def shear_coefficient(nu: float) -> float:
    """Cowper's for a rectangle; 5/6 at ν = 0."""
    return 10 * (1 + nu) / (12 + 11 * nu)


def timoshenko_frequencies(nu: float, count: int, *, clamped: bool) -> np.ndarray:
    """Exact frequencies [Hz] of Timoshenko's beam, clamped–free or free–free.

    The state (w, ψ, M, V) along the beam obeys a linear ODE with constant coefficients; its matrix
    exponential takes the conditions of one end to the other, where a 2 × 2 determinant vanishes.
    """
    G = YOUNG / 2 / (1 + nu)
    unit = np.sqrt(YOUNG * INERTIA / DENSITY / AREA) / LENGTH**2

    def determinant(w):
        slope = np.zeros((4, 4))
        slope[0, 1], slope[0, 3] = 1, 1 / (shear_coefficient(nu) * G * AREA)  # w' = ψ + V/κGA
        slope[1, 2] = 1 / (YOUNG * INERTIA)  # ψ' = M/EI
        slope[2, 1], slope[2, 3] = -DENSITY * INERTIA * w * w, -1  # M' = −V − ρI ω² ψ
        slope[3, 0] = -DENSITY * AREA * w * w  # V' = −ρA ω² w
        across = expm(slope * LENGTH)
        return np.linalg.det(across[2:, 2:] if clamped else across[2:, :2])

    found: list[float] = []
    low = 0.5 * unit
    while len(found) < count:
        high = low + 0.5 * unit
        if determinant(low) * determinant(high) < 0:
            found.append(brentq(determinant, low, high, rtol=1e-12))
        low = high
    return np.array(found) / (2 * np.pi)


@lru_cache
def beam_frequencies(cells: tuple[int, ...], nu: float, *, clamped: bool) -> dict[str, np.ndarray]:
    """Frequencies of the solid beam by kind; bending comes in equal pairs, one of each is kept."""
    mesh = sp.QuadraticTetMesh.box((LENGTH, SIDE, SIDE), cells)
    body = sp.Body(
        mesh, sp.StVK(young=YOUNG, poisson=nu, density=DENSITY),
        fixed=mesh.where(x=0) if clamped else None,
    )  # fmt: skip
    modes = sp.vibration_modes(body, 14 if clamped else 18)
    kinds: dict[str, list[float]] = {"bending": [], "torsion": [], "axial": [], "rigid": []}
    around = np.cross([1.0, 0, 0], mesh.vertices - [0, SIDE / 2, SIDE / 2])
    lever = np.maximum((around**2).sum(axis=1), 1e-12)
    for f, shape in zip(modes.frequencies, modes.shapes, strict=True):
        share = (shape**2).sum(axis=0) / (shape**2).sum()
        turning = ((shape * around).sum(axis=1) ** 2 / lever).sum() / (shape**2).sum()
        kind = "axial" if share[0] > 0.6 else "torsion" if turning > 0.8 else "bending"
        kinds["rigid" if f == 0 else kind].append(f)
    kinds["bending"] = kinds["bending"][::2]
    return {kind: np.array(values) for kind, values in kinds.items()}


def test_cantilever_bending_frequencies_timoshenko():
    """Four bending modes of a clamped beam, L/h = 10, within 0.5 %, and converging.

    ν = 0, so that the clamp, which holds the whole end, does not also hinder lateral contraction:
    in beam theory a clamp has no such effect, in a solid it stiffens the beam by about ν² h/L.
    """
    exact = timoshenko_frequencies(0.0, 4, clamped=True)
    coarse, fine = (
        beam_frequencies(cells, 0.0, clamped=True)["bending"][:4] / exact - 1
        for cells in ((10, 2, 2), FINE)
    )
    assert (fine < 5e-3).all()
    assert (fine[:2] < 1e-3).all()
    # Displacement elements are too stiff, and quadratic ones lose an order at the clamp's edge.
    assert (fine > 0).all()
    assert (np.log2(coarse / fine) > 2.5).all()


def test_free_beam_bending_frequencies_timoshenko():
    """ν = 0.3 with Cowper's coefficient, free at both ends: no clamp to spoil the comparison."""
    exact = timoshenko_frequencies(0.3, 3, clamped=False)
    found = beam_frequencies(FINE, 0.3, clamped=False)
    assert len(found["rigid"]) == 6
    error = found["bending"][:3] / exact - 1
    # Cowper's coefficient is good to 1 % for waves some five heights long, and shear is a fifth of
    # the compliance of the third mode.
    assert (np.abs(error) < 5e-3).all()


def test_free_beam_torsion_frequencies():
    """f = n/2L √(G J / ρ I_p): free ends, where a clamp would hinder the warping of sections."""
    G = YOUNG / 2.6
    exact = np.sqrt(G * TORSION / DENSITY / (1 / 6)) / (2 * LENGTH)
    coarse, fine = (
        beam_frequencies(cells, 0.3, clamped=False)["torsion"][0] / exact - 1
        for cells in ((10, 2, 2), FINE)
    )
    # Warping inertia is of the order of (π h/L)² · 1e-2, that is 1e-3.
    assert abs(fine) < 5e-3
    assert np.log2(coarse / fine) > 2


def test_cantilever_axial_frequency():
    """f = √(E/ρ)/4L; a sine along 20 quadratic cells is known to (π/2/20)⁴/720, below 1e-6."""
    found = beam_frequencies(FINE, 0.0, clamped=True)["axial"][0]
    assert abs(found / (np.sqrt(YOUNG / DENSITY) / (4 * LENGTH)) - 1) < 1e-5


def test_free_beam_axial_frequency_love():
    """Rayleigh and Love: lateral inertia slows waves by ½ ν² I_p (π/L)² / A."""
    found = beam_frequencies(FINE, 0.3, clamped=False)["axial"][0]
    slowed = 1 - 0.5 * 0.3**2 * (SIDE**2 / 6) * (np.pi / LENGTH) ** 2
    # The next term of the series is the square of the correction, 1e-3².
    assert abs(found / (np.sqrt(YOUNG / DENSITY) / (2 * LENGTH) * slowed) - 1) < 1e-4


def test_cantilever_small_deflection_timoshenko():
    """P L³/3EI + P L/κGA for a small shear force on the end."""
    mesh = sp.QuadraticTetMesh.box((LENGTH, SIDE, SIDE), (16, 2, 2))
    body = sp.Body(mesh, sp.StVK(young=YOUNG, poisson=0.0), fixed=mesh.where(x=0))
    P = 1e-3
    u = sp.static_shape(body, body.surface_force(mesh.where(x=LENGTH), (0, 0, P / AREA)))
    exact = P * LENGTH**3 / (3 * YOUNG * INERTIA) + P * LENGTH / (5 / 6 * YOUNG / 2 * AREA)
    # Load and clamp are not those of Saint-Venant: an end zone of one height, (h/L)³ of bending.
    assert abs(u[mesh.where(x=LENGTH), 2].mean() / exact - 1) < 2e-3


# -- the elastica ----------------------------------------------------------------------------


def elastica_tip(load: float) -> tuple[float, float]:
    """x and w at the tip of θ'' = −load cos θ, θ(0) = 0, θ'(1) = 0, for load = P L²/EI."""

    def solve(curvature):
        return solve_ivp(
            lambda s, y: [y[1], -load * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])],
            (0, 1), [0, curvature, 0, 0], rtol=1e-10, atol=1e-12,
        ).y[:, -1]  # fmt: skip

    end = solve(brentq(lambda k: solve(k)[1], 0, load + 1))
    return end[2], end[3]


def test_cantilever_large_deflection_elastica():
    """Tip forces up to P L²/EI = 10, which turn the tip by 82°, on a beam of L/h = 50, ν = 0.

    The elastica neither stretches nor shears and has a linear bending law. A solid with
    P = load EI/L² stretches by load (h/L)²/12, shears by 2.4 times that (E/κG), and its strains of
    ε = h θ'/2 < √(2 load) h/2L change StVK's stiffness by about ε²: 2e-3 in all at load = 10.
    """
    h = LENGTH / 50
    mesh = sp.QuadraticTetMesh.box((LENGTH, h, h), (50, 1, 1))
    body = sp.Body(mesh, sp.StVK(young=1e9, poisson=0.0), fixed=mesh.where(x=0))
    tip, u = mesh.where(x=LENGTH), None
    for load in (1.0, 4.0, 10.0):
        traction = load * 1e9 * h**4 / 12 / LENGTH**2 / h**2
        u = sp.static_shape(body, body.surface_force(tip, (0, 0, traction)), start=u)
        x, w = elastica_tip(load)
        middle = u[tip].mean(axis=0)
        missing = load * (h / LENGTH) ** 2 * (3.4 / 12 + 0.5)
        assert abs(middle[2] / w - 1) < missing
        assert abs((LENGTH + middle[0]) / x - 1) < missing


# -- homogeneous stretch ---------------------------------------------------------------------


def uniaxial(material: type[sp.Material], a: float, lam: float, mu: float) -> tuple[float, float]:
    """Lateral stretch b and nominal stress P of a bar stretched by a, its sides free."""
    if material in (sp.StVK, sp.OrthotropicStVK):  # with one modulus; E₂ = −ν E₁
        young, nu = mu * (3 * lam + 2 * mu) / (lam + mu), lam / 2 / (lam + mu)
        strain = (a * a - 1) / 2
        return np.sqrt(1 - 2 * nu * strain), young * a * strain
    if material is sp.NeoHookean:
        b = brentq(lambda b: mu * (b * b - 1) + lam * np.log(a * b * b), 0.3, 3, xtol=1e-15)
        return b, mu * (a - 1 / a) + lam * np.log(a * b * b) / a
    if material is sp.StableNeoHookean:
        b2 = (1 + (mu - mu / a) / (lam + mu)) / a
        return np.sqrt(b2), mu * a + ((lam + mu) * (a * b2 - 1) - mu) * b2
    if material in (sp.Corotational, sp.SplineMaterial):  # whose curves are straight
        b = (2 * mu + lam * (3 - a)) / (2 * mu + 2 * lam)
        return b, 2 * mu * (a - 1) + lam * (a + 2 * b - 3)
    raise AssertionError(f"write the closed form of {material.__name__}")


@pytest.mark.parametrize("material", MATERIALS, ids=lambda m: m.__name__)
@pytest.mark.parametrize(
    "kind", [sp.TetMesh, sp.QuadraticTetMesh, sp.HexMesh], ids=lambda k: k.__name__
)
@pytest.mark.parametrize("stretch", [0.8, 1.4])
def test_uniaxial_stretch(material, kind, stretch):
    """Symmetry planes hold three faces, a traction pulls a fourth: the exact shape is affine."""
    mesh = kind.box((1, 0.6, 0.5), (2, 2, 2))
    held = np.abs(mesh.vertices) < 1e-9
    constants = material(young=1e4, poisson=0.3)
    body = sp.Body(mesh, constants, fixed=held)
    b, P = uniaxial(material, stretch, *(x[0] for x in constants.lame(np.array([0]))))
    u = sp.static_shape(body, body.surface_force(mesh.where(x=1), (P, 0, 0)), tolerance=1e-13)
    expected = mesh.vertices * [stretch - 1, b - 1, b - 1]
    assert np.abs(u - expected).max() < 1e-11


# -- amplitudes ------------------------------------------------------------------------------


@lru_cache
def released_beam() -> tuple[sp.Body, float, np.ndarray]:
    mesh = sp.TetMesh.box((1, 0.2, 0.2), (10, 2, 2))
    body = sp.Body(mesh, sp.StVK(young=1e6, poisson=0.4, density=1000), fixed=mesh.where(x=0))
    modes = sp.vibration_modes(body, 1)
    shape = modes.shapes[0]
    return body, 2 * np.pi * modes.frequencies[0], shape / np.abs(shape[mesh.where(x=1)]).max()


def decay_of_a_step(rule: sp.Integrator, phase: float) -> float:
    """|R(i phase)|, the amplitude that a rule leaves of an undamped oscillation in one step."""
    z = 1j * phase
    if isinstance(rule, sp.BackwardEuler):
        return abs(1 / (1 - z))
    if isinstance(rule, sp.BDF2):
        return np.abs(np.roots([1 - 2 * z / 3, -4 / 3, 1 / 3])).max()
    if isinstance(rule, sp.TRBDF2):
        g = rule.gamma
        return abs((2 * (2 - g) + (1 + (1 - g) ** 2) * z) / (2 - g * z) / ((2 - g) - (1 - g) * z))
    return 1.0  # Trapezoidal, Newmark


@pytest.mark.parametrize(
    "rule", [r() for r in INTEGRATORS if not issubclass(r, ExplicitIntegrator)], ids=repr
)
def test_undamped_amplitude_kept(rule):
    """First bending mode, 1 cm at the tip, 1/60 s: what is left of it after five cycles."""
    body, w, shape = released_beam()
    dt = 1 / 60
    count = round(5 * 2 * np.pi / w / dt)
    start = 0.01 * shape
    sim = simulate(body, rule, np.full(count, dt), u=start, solver=sp.Newton(tolerance=1e-9))
    weight = body.mass_times(start) / np.vdot(start, body.mass_times(start))
    left = np.hypot(np.vdot(weight, sim.state.u), np.vdot(weight, sim.state.v) / w)
    # At 1 cm of 1 m the motion is linear up to a relative (w/L)·(w/h)-sized 1e-3 of shape change;
    # q̇/ω is that of the exact frequency, so the measure itself ripples by (ω dt)²/12 ≈ 2 %.
    expected = decay_of_a_step(rule, w * dt) ** count
    assert abs(left / expected - 1) < (w * dt) ** 2 / 12 + 5e-3
    if isinstance(rule, sp.TRBDF2):
        assert left >= 0.99
