"""Materials from static shapes: bodies whose answers are known."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from tests.refusals import refused

import supple as sp
from supple.design.matching.caveats import MatchingWarning
from supple.design.matching.observations import Seen, StaticObservation
from supple.design.matching.stiffness import _Shapes, fit_material, fit_stiffness
from supple.design.matching.unknowns import Unknown, elastic_unknowns

GRAVITY = (0.0, 0.0, -9.81)
BOX = sp.TetMesh.box(size=(1.0, 0.2, 0.2), cells=(8, 2, 2))
MESH = BOX.with_region("root", BOX.cells_where(x=(0.0, 0.5))).with_region(
    "tip", BOX.cells_where(x=(0.5, 1.0))
)
MARKERS = np.array([[0.3, 0.1, 0.2], [0.55, 0.05, 0.2], [0.77, 0.11, 0.2], [0.99, 0.1, 0.2]])
YOUNG = {"root": 6e5, "tip": 2e5}


def body(material=sp.NeoHookean, poisson=0.35, **young: float) -> sp.Body:
    each = {region: material(young=E, poisson=poisson) for region, E in young.items()}
    return sp.Body(MESH, each, fixed=MESH.where(x=0))


def pull(of: sp.Body, newtons: float) -> np.ndarray:
    end = MESH.where(x=1.0)
    return of.point_force(end, np.array([0.2, 1.0, -0.5]) * newtons / len(end))


def observed(true: sp.Body, noise: float = 0.0, seed: int = 0) -> list[StaticObservation]:
    """Four markers, between vertices, of a body in gravity, alone and pulled."""
    rng = np.random.default_rng(seed)
    found = []
    for forces in (None, pull(true, 8.0)):
        u = sp.static_shape(true, forces, gravity=GRAVITY, tolerance=1e-11)
        blind = StaticObservation(positions=MARKERS, points=MARKERS, gravity=GRAVITY, forces=forces)
        moved = Seen.of(blind, true).matrix @ u
        seen = MARKERS + moved + noise * rng.normal(size=MARKERS.shape)
        found.append(replace(blind, positions=seen))
    return found


@pytest.mark.parametrize("material", [sp.StVK, sp.NeoHookean, sp.StableNeoHookean])
def test_regions_and_poisson_are_found(material):
    true = body(material, **YOUNG)
    guess = body(material, poisson=0.2, root=2e6, tip=2e6)
    fit = fit_stiffness(guess, observed(true), poisson=True)
    assert all(fit.determined.values())
    assert fit.values["young of root"] == pytest.approx(6e5, rel=1e-4)
    assert fit.values["young of tip"] == pytest.approx(2e5, rel=1e-4)
    assert fit.values["poisson"] == pytest.approx(0.35, abs=1e-3)
    assert max(fit.misses) < 1e-6
    assert fit.body.material["tip"].young == fit.values["young of tip"]
    u = sp.static_shape(fit.body, gravity=GRAVITY)
    np.testing.assert_allclose(fit.shapes[0], u, atol=1e-6)


def test_noise_gives_errors_as_large_as_told():
    true, off = observed(body(**YOUNG)), []
    for seed in range(100, 112):
        noise = 1e-3 * np.random.default_rng(seed).normal(size=(len(true), *MARKERS.shape))
        seen = [
            replace(each, positions=each.positions + n) for each, n in zip(true, noise, strict=True)
        ]
        fit = fit_stiffness(body(root=6.5e5, tip=2.2e5), seen)
        assert fit.estimate.noise == pytest.approx(np.sqrt(np.mean(noise**2)), rel=0.1)
        off += [(fit.values[n] - E) / fit.errors[n] for n, E in _named(YOUNG).items()]
    assert 0.3 < np.mean(np.square(off)) < 2.5  # the two go together: twelve samples of one


def _named(young: dict[str, float]) -> dict[str, float]:
    return {f"young of {region}": value for region, value in young.items()}


def test_sensitivities_follow_equilibria():
    """dx/dp = −K⁻¹ ∂r/∂p against differences of whole equilibria, of second order."""
    start = body(**YOUNG)
    unknowns = elastic_unknowns(start, None, poisson=True)
    seen = [Seen.of(each, start) for each in observed(start)]
    here = np.concatenate([J for _, J in _Shapes(start, seen, unknowns, None).at(unknowns.start)])
    errors = []
    for h in (0.08, 0.04):
        columns = []
        for axis in np.eye(3):
            ends = [
                np.concatenate([rho for rho, _ in _Shapes(start, seen, unknowns, None).at(p)])
                for p in (unknowns.start + h * axis, unknowns.start - h * axis)
            ]
            columns.append((ends[0] - ends[1]) / (2 * h))
        errors.append(np.abs(np.stack(columns, axis=1) - here).max(axis=0))
    assert (errors[1] < 2e-3 * np.abs(here).max(axis=0)).all()
    np.testing.assert_allclose(errors[0] / errors[1], 4.0, rtol=0.15)


def test_a_region_nobody_saw_strain_is_told():
    """Markers before the softer half: it hangs from there, and its own shape is not seen."""
    seen = np.where(MARKERS[:, :1] < 0.5, observed(body(**YOUNG))[0].positions, np.nan)
    one = StaticObservation(positions=seen, points=MARKERS, gravity=GRAVITY)
    with pytest.warns(MatchingWarning, match="young of tip is not determined by these shapes"):
        fit = fit_stiffness(body(root=8e5, tip=8e5), [one], noise=1e-3)
    assert fit.determined == {"young of root": True, "young of tip": False}
    assert fit.values["young of root"] == pytest.approx(6e5, rel=0.1)
    assert fit.values["young of tip"] == pytest.approx(8e5, rel=0.5)  # where it started
    assert "not determined" in str(fit)


def test_any_parameters_of_any_material():
    """One number for both regions, and the quotient of the two."""
    true = body(**YOUNG)

    def material(x):
        soft = sp.NeoHookean(young=x["soft"], poisson=0.35)
        return {"tip": soft, "root": sp.NeoHookean(young=x["times"] * x["soft"], poisson=0.35)}

    wanted = [
        Unknown("soft", 1e6, above=0.0, unit="Pa"),
        Unknown("times", 1.0, scale=2.0),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error", MatchingWarning)
        fit = fit_material(true, observed(true), wanted, material)
    assert fit.values["soft"] == pytest.approx(2e5, rel=1e-4)
    assert fit.values["times"] == pytest.approx(3.0, rel=1e-4)


def test_one_modulus_for_a_body_of_one_material():
    true = sp.Body(MESH, sp.StVK(young=3e5, poisson=0.3), fixed=MESH.where(x=0))
    u = sp.static_shape(true, gravity=GRAVITY)
    heights = np.full(u.shape, np.nan)
    heights[:, 2] = (MESH.vertices + u)[:, 2]  # of all vertices, heights alone
    guess = replace(true, material=sp.StVK(young=4e6, poisson=0.3))
    fit = fit_stiffness(guess, [StaticObservation(positions=heights, gravity=GRAVITY)])
    assert fit.values["young"] == pytest.approx(3e5, rel=1e-5)
    named = fit_stiffness(guess, observed(body(sp.StVK, 0.3, **YOUNG)), regions=["root", "tip"])
    assert named.values["young of tip"] == pytest.approx(2e5, rel=1e-3)


def test_bad_input_says_what_is_wrong():
    given, seen = body(**YOUNG), observed(body(**YOUNG))
    refused("no observations given", fit_stiffness, given, [])
    loose = sp.Body(MESH, sp.StVK(young=1e5, poisson=0.3))
    refused("needs a body that is held in place", fit_stiffness, loose, seen)
    refused("no material for region 'ear'", fit_stiffness, given, seen, regions=["ear"])
    far = replace(seen[0], positions=1000 * MARKERS)
    refused("check units and frame", fit_stiffness, given, [far])
    few = replace(seen[0], positions=MARKERS[:2])
    refused("for 4 points", fit_stiffness, given, [few])
    refused("give one", StaticObservation, positions=MARKERS, points=MARKERS, vertices=[1, 2])
    nothing = replace(seen[0], positions=np.full_like(MARKERS, np.nan))
    refused("no components of positions are observed", fit_stiffness, given, [nothing])
    refused("upper bound alone", Unknown, "x", 1.0, below=2.0)
    refused("give a function", fit_material, given, seen, [Unknown("x", 1.0)], 3)
    cells = sp.StVK(young=np.full(MESH.n_cells, 1e5), poisson=0.3)
    refused("one number for each cell", fit_stiffness, replace(given, material=cells), seen)
