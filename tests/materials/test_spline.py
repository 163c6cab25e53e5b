"""Materials whose stress is drawn: curves, what follows from them, and where they hold."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation
from tests.helpers import remainder_slopes, rotation, unpacked
from tests.refusals import refusals, refused

import supple as sp
from supple.materials.spline_curves import CURVES, Curve, spline_slopes

RISING = [(0.3, -9e4), (0.7, -2e4), (1.0, 0.0), (1.4, 1e4), (2.0, 9e4), (3.0, 4e5)]
SOFT_THEN_STIFF = sp.SplineMaterial(
    stretch=RISING,
    area=[(0.4, -3e3), (1.0, 2e3), (2.0, 1e4)],
    volume=[(0.2, -9e4), (0.8, -2.4e4), (1.0, -4e3), (1.3, 3e4), (2.5, 3e5)],
)
ORIGINALS = {
    "StVK": (sp.StVK(young=1e5, poisson=0.3), 1e-9),
    "Corotational": (sp.Corotational(young=1e5, poisson=0.3), 1e-9),
    "StableNeoHookean": (sp.StableNeoHookean(young=1e5, poisson=0.45), 1e-9),
    "NeoHookean": (sp.NeoHookean(young=1e5, poisson=0.4), 0.01),
}


def evaluate(material: sp.Material, F: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """ψ (m,), P (m, 3, 3) and ∂P/∂F (m, 9, 9) at deformation gradients (m, 3, 3)."""
    F = np.ascontiguousarray(F)[:, None]
    m = len(F)
    psi, P, A = np.empty((m, 1)), np.empty((m, 1, 3, 3)), np.empty((m, 1, 6, 3, 3))
    lam, mu = (np.full(m, x[0]) for x in material.lame(np.arange(1)))
    material.evaluate(F, lam, mu, psi, P, A, 2, *material.extra(np.arange(1)))
    return psi[:, 0], P[:, 0], unpacked(A[:, 0])


def gradients(low=0.2, high=3.5, count=40, seed=0, *, inverted=True) -> np.ndarray:
    rng = np.random.default_rng(seed)
    sigma = rng.uniform(low, high, (count, 3))
    if inverted:
        sigma[::2, 2] = -0.5 * sigma[::2].min(axis=1)
    U, V = (Rotation.random(count, rng=rng).as_matrix() for _ in range(2))
    return np.einsum("mia,ma,mja->mij", U, sigma, V)


def twin(curves: dict[str, list], sigma: np.ndarray) -> float:
    """ψ by SciPy's splines, continued along their tangents."""

    def integral(knots, x):
        if knots is None:
            return 0.0
        a, y = np.array(knots).T
        spline = CubicSpline(a, y, bc_type="not-a-knot" if len(a) > 3 else "natural")
        near = np.clip(x, a[0], a[-1])
        t = x - near
        return spline.integrate(1.0, near) + t * spline(near) + 0.5 * t * t * spline(near, 1)

    a, b, c = sigma
    f = sum(integral(curves["stretch"], x) for x in sigma)
    g = sum(integral(curves["area"], x) for x in (a * b, a * c, b * c))
    return f + g + integral(curves["volume"], a * b * c)


# -- energy and derivatives ----------------------------------------------------------------


def test_energy_equals_scipys_splines():
    F = gradients()
    curves = {name: getattr(SOFT_THEN_STIFF, name) for name in CURVES}
    # The curves are shifted by what rounding leaves of the stress at rest, nothing else.
    sigma = np.linalg.svd(F, compute_uv=False)
    sigma[:, 2] *= np.sign(np.linalg.det(F))
    expected = np.array([twin(curves, s) for s in sigma])
    psi = evaluate(SOFT_THEN_STIFF, F)[0]
    np.testing.assert_allclose(psi, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())


def test_slopes_are_scipys():
    x = np.sort(np.random.default_rng(0).uniform(0.3, 3, 8))
    y = np.sin(3 * x)
    np.testing.assert_allclose(spline_slopes(x) @ y, CubicSpline(x, y)(x, 1), atol=1e-12)
    natural = CubicSpline(x[:3], y[:3], bc_type="natural")
    np.testing.assert_allclose(spline_slopes(x[:3]) @ y[:3], natural(x[:3], 1), atol=1e-12)
    line = np.diff(y[:2]) / np.diff(x[:2])
    np.testing.assert_allclose(spline_slopes(x[:2]) @ y[:2], [*line, *line])


def test_derivatives_taylor_slopes():
    """The remainders of ψ after three terms and of P after two: slopes 3 and 2, also past knots."""
    rng = np.random.default_rng(3)
    steps = 2.0 ** -np.arange(9, 13)
    for f in gradients(count=16):
        D = rng.normal(size=(3, 3))
        D /= np.linalg.norm(D)
        psi, P, A = (x[0] for x in evaluate(SOFT_THEN_STIFF, f[None]))
        curved = (A @ D.ravel()).reshape(3, 3)

        def third(h, f=f, D=D, psi=psi, P=P, curved=curved):
            there = evaluate(SOFT_THEN_STIFF, (f + h * D)[None])[0][0]
            return abs(there - psi - h * np.vdot(P, D) - 0.5 * h * h * np.vdot(D, curved))

        def second(h, f=f, D=D, P=P, curved=curved):
            there = evaluate(SOFT_THEN_STIFF, (f + h * D)[None])[1][0]
            return np.linalg.norm(there - P - h * curved)

        assert remainder_slopes(third, steps)[-1] > 3 - 0.25
        assert remainder_slopes(second, steps)[-1] > 2 - 0.25


@pytest.mark.parametrize("gap", [0.0, 1e-12, 1e-8, 1e-5])
@pytest.mark.parametrize("at", [1.0, 1.37, 1.4])  # a knot among them
def test_derivative_where_stretches_meet(gap, at):
    """∂P/∂F against differences of P, with two or three stretches the same or nearly so."""
    h = 1e-5
    for sigma in ((at + gap, at, 0.8), (at + gap, at, at - gap)):
        f = rotation(1) @ np.diag(sigma) @ rotation(2)
        A = evaluate(SOFT_THEN_STIFF, f[None])[2][0]
        D = np.eye(9).reshape(9, 3, 3)
        ahead, behind = (evaluate(SOFT_THEN_STIFF, f + s * h * D)[1] for s in (1, -1))
        found = (ahead - behind).reshape(9, 9) / (2 * h)
        np.testing.assert_allclose(A, found, atol=3e-5 * np.abs(A).max())


def test_energy_is_objective_and_isotropic():
    F = gradients()
    psi, P, _ = evaluate(SOFT_THEN_STIFF, F)
    Q, R = rotation(4), rotation(5)
    turned, stress, _ = evaluate(SOFT_THEN_STIFF, Q @ F @ R)
    np.testing.assert_allclose(turned, psi, rtol=1e-11)
    np.testing.assert_allclose(stress, Q @ P @ R, atol=1e-11 * np.abs(P).max())


def test_beyond_the_knots_stress_goes_on_straight():
    def pull(x):
        F = np.array([np.diag([a, 1, 1]) for a in x])
        return evaluate(sp.SplineMaterial(stretch=RISING), F)[1][:, 0, 0]

    beyond = pull([3.5, 4.0, 4.5])
    assert np.diff(beyond, 2) == pytest.approx(0, abs=1e-9 * beyond.max())
    assert beyond[0] > RISING[-1][1]
    pressed = pull([0.2, 0.0, -0.2])
    assert np.diff(pressed, 2) == pytest.approx(0, abs=1e-9 * abs(pressed).max())
    assert (np.diff(pressed) < 0).all()  # the more inside out, the harder it is pushed back


# -- from another material -----------------------------------------------------------------


@pytest.mark.parametrize("name", ORIGINALS)
def test_made_from_another_material(name):
    """All of ours are of this form; what is left is what splines make of logarithms."""
    original, error = ORIGINALS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = sp.SplineMaterial.from_material(original)
    assert made.young == pytest.approx(original.young, rel=1e-10)
    assert made.poisson == pytest.approx(original.poisson, rel=1e-10)
    assert made.density == original.density
    F = gradients(0.75, 1.4, inverted=False)  # products within the knots
    for found, expected in zip(evaluate(made, F), evaluate(original, F), strict=True):
        assert np.abs(found - expected).max() <= 5 * error * np.abs(expected).max()


def test_more_knots_come_nearer():
    original = ORIGINALS["NeoHookean"][0]
    F = gradients(0.75, 1.4, inverted=False)
    expected = evaluate(original, F)[1]
    errors = [
        np.abs(evaluate(sp.SplineMaterial.from_material(original, knots=n), F)[1] - expected).max()
        for n in (7, 13, 25)
    ]
    assert errors[1] < errors[0] / 5
    assert errors[2] < errors[1] / 5


def test_few_knots_are_warned_of():
    with pytest.warns(sp.MaterialWarning, match=r"miss the stress of NeoHookean by .* %"):
        sp.SplineMaterial.from_material(ORIGINALS["NeoHookean"][0], knots=4, reach=6.0)


def test_small_strains_are_those_of_its_young_and_poisson():
    mesh = sp.TetMesh.box((1.0, 0.4, 0.4), (3, 1, 1))
    rest = np.zeros_like(mesh.vertices)
    young, poisson = SOFT_THEN_STIFF.young, SOFT_THEN_STIFF.poisson
    ours = sp.Body(mesh, SOFT_THEN_STIFF).stiffness(rest)
    theirs = sp.Body(mesh, sp.StVK(young=young, poisson=poisson)).stiffness(rest)
    assert abs(ours - theirs).max() <= 1e-12 * abs(theirs).max()
    assert np.abs(sp.Body(mesh, SOFT_THEN_STIFF).force(rest)).max() <= 1e-12 * young


def test_bent_and_scaled():
    base = sp.SplineMaterial.from_material(sp.NeoHookean(young=1e5, poisson=0.4))
    bent = base.with_curves(stretch=[(x, y + 3e5 * max(x - 1.8, 0)) for x, y in base.stretch])
    assert bent.young == pytest.approx(1e5, rel=0.05)  # the spline feels it at 1 too
    F = np.array([np.diag([2.8, 0.6, 0.6])])
    assert evaluate(bent, F)[1][0, 0, 0] > 2 * evaluate(base, F)[1][0, 0, 0]
    twice = replace(bent, young=2 * bent.young)
    np.testing.assert_allclose(evaluate(twice, F)[1], 2 * evaluate(bent, F)[1], rtol=1e-12)
    mesh = sp.TetMesh.box((1, 1, 1), (1, 1, 1))
    graded = sp.Body(mesh, replace(bent, young=np.linspace(1e4, 5e4, 5)))
    u = 0.1 * np.random.default_rng(0).normal(size=mesh.vertices.shape)
    alone = [
        sp.Body(mesh, replace(bent, young=y)).evaluate(u, order=0, cell_factors=np.eye(5)[k])
        for k, y in enumerate(np.linspace(1e4, 5e4, 5))
    ]
    assert graded.energy(u) == pytest.approx(sum(each.energy for each in alone), rel=1e-12)


def test_curve_of_scaled_knot_at_one_is_the_same_curve():
    """1 is made a knot of its own, on the curve as it is."""
    knots = [(0.4, -1.0), (0.9, -0.2), (1.6, 0.7), (2.5, 0.9)]
    x, y = np.array(knots).T
    made = Curve.through(knots)
    assert 1.0 in made.x
    at = np.linspace(0.1, 3.0, 50)
    plain = Curve(x, y, spline_slopes(x) @ y)
    for a, b in zip(made.at(at), plain.at(at), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-14)


# -- stability -----------------------------------------------------------------------------


def test_where_it_is_not_stable_is_told():
    """StVK, drawn: pressed one way it is at its strongest at 1/√3 of its length."""
    curves = sp.SplineMaterial.from_material(ORIGINALS["StVK"][0])
    with pytest.warns(sp.MaterialWarning) as found:
        curves.with_curves()
    told = [str(each.message) for each in found]
    assert any("one way for stretches of 0.58 to 3 only" in text for text in told)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        replace(curves, young=3e5)  # a copy tells nothing anew
        sp.SplineMaterial(stretch=RISING)


test_bad_curves_are_refused = refusals(
    ({"stretch": [(0.5, -1e4), (1, 1e3), (2, 3e4)]}, "is 1000 Pa.*add -1000 to every value"),
    ({"stretch": [(0.5, 1e4), (1, 0), (2, -3e4)]}, "let stretch= rise"),
    ({"stretch": [(1, 0), (0.5, 1)]}, "left to right"),
    ({"stretch": [(1, 0)]}, "two knots or more"),
    ({"stretch": RISING, "poisson": 0.3}, r"the curves have 0(\.0*)?; leave it out"),
    ({"area": RISING, "young": 1.0, "poisson": 0.3}, "area= needs the curve stretch="),
    ({"young": 1e5}, "needs stretch=.*or young= and poisson="),
    make=lambda given: sp.SplineMaterial(**given),
)


def test_materials_that_cannot_be_drawn_are_refused():
    make = sp.SplineMaterial.from_material
    refused("fibres", make, sp.OrthotropicStVK(young=(1e5, 1e4, 1e4), poisson=0.3))
    refused("young differs", make, sp.StVK(young=[1e5, 1e4], poisson=0.3))
    refused("both sides of 1", make, sp.StVK(young=1e5, poisson=0.3), knots=[1.0, 2.0, 3.0])
    refused("is no curve", SOFT_THEN_STIFF.with_curves, young=3)


# -- in motion -----------------------------------------------------------------------------


def test_step_of_admm_as_of_newton():
    mesh = sp.TetMesh.box((1.0, 0.4, 0.4), (4, 1, 1))
    body = sp.Body(mesh, SOFT_THEN_STIFF, fixed=mesh.where(x=0))
    ends = []
    for solver in (sp.Newton(tolerance=1e-10), sp.ADMM(tolerance=1e-10, max_iterations=5000)):
        sim = sp.Simulation(body, solver=solver, integrator=sp.BackwardEuler(), dt=0.02,
                            gravity=(0, 0, -9.81))  # fmt: skip
        for _ in range(5):
            sim.step()
        ends.append(sim.state.u)
    assert np.abs(ends[0]).max() > 1e-3
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-6 * np.abs(ends[0]).max())


def test_crumpled_body_recovers():
    mesh = sp.TetMesh.box((1.0, 0.4, 0.4), (4, 2, 2))
    body = sp.Body(mesh, sp.SplineMaterial(stretch=RISING), fixed=mesh.where(x=0))
    u = 0.3 * np.random.default_rng(0).normal(size=mesh.vertices.shape) * body.free
    found = sp.static_shape(body, start=u)
    assert np.abs(found).max() < 1e-6
