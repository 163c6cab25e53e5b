"""Damping by example on reduced models: the matrix against Eq. 9 as printed, and mistakes."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from tests.reduction.conftest import relative, two_part_beam
from tests.reduction.example_dampings import (
    BASE,
    BASES,
    FALLING,
    RISING,
    TIGHT,
    base_matrix,
    examples,
    force,
    printed,
    shapes_of,
)
from tests.refusals import refused

import supple as sp
from supple.damping import Curve, Example, ExampleDamping, Measure
from supple.damping.caughey import Caughey
from supple.damping.viscous import Viscous
from supple.reduction.damping.examples import ExampleWarning
from supple.reduction.damping.reduced import ReducedDamping
from supple.reduction.damping.rules import reduced_damping


class TestTheMatrix:
    @pytest.mark.parametrize("symmetric", [False, True])
    @pytest.mark.parametrize("base", BASES)
    @pytest.mark.parametrize("spread", [0.3, 3.0])  # powers of ten: consistent scales, and not
    def test_is_that_of_the_paper(self, model, base, symmetric, spread):
        clamped = 0
        for seed in range(20):
            rng = np.random.default_rng(seed)
            gamma = 10 ** rng.uniform(-spread, spread, 4)
            q = rng.normal(size=model.size) * 0.005
            X = rng.normal(size=(4, model.size))
            listed = [Example(u, g) for u, g in zip(shapes_of(model, X), gamma, strict=True)]
            damping = ExampleDamping(BASES[base], listed, symmetric=symmetric)
            C = base_matrix(BASES[base], model, q)
            expected = printed(C, X, gamma, symmetric)
            raw = expected @ X.T - C @ X.T * gamma
            clamped += np.abs(raw).max() > 1e-6 * np.abs(expected @ X.T).max()
            got = np.array([force(damping, model, q, v) for v in np.eye(model.size)]).T
            assert relative(got, expected) < 1e-9
        assert symmetric or (clamped > 10) == (spread > 1)

    @pytest.mark.filterwarnings("ignore::supple.StrengthWarning")
    def test_never_gives_energy(self, model):
        for seed in range(60):
            rng = np.random.default_rng(seed)
            X = rng.normal(size=(3, model.size))
            X[2] = X[0] + 10 ** rng.uniform(-4, 0) * X[2]  # two that are nearly alike
            curves = [Curve.linear([(0, a), (1, b)]) for a, b in 10 ** rng.uniform(-4, 4, (3, 2))]
            listed = [Example(u, c) for u, c in zip(shapes_of(model, X), curves, strict=True)]
            q = rng.normal(size=model.size) * 0.02
            rest = sp.Rayleigh(mass=0.1, stiffness=1e-3, at=sp.StiffnessAt.REST)
            live = model.simulation(damping=ExampleDamping(rest, listed))
            live.q = q
            for v in rng.normal(size=(20, model.size)):
                live.v = v
                assert live.damping_power >= -1e-9 * (v @ base_matrix(rest, model, q) @ v)

    @pytest.mark.parametrize("base", BASES)
    def test_along_an_example_and_beside_all(self, model, base):
        damping = ExampleDamping(BASES[base], examples(model, 0.4, 3.0, 1.0, 0.7))
        rng = np.random.default_rng(5)
        q = rng.normal(size=model.size) * 0.005
        C = base_matrix(BASES[base], model, q)
        X = np.array([model.coordinates(e.shape) for e in damping.examples])
        for x, curve in zip(X, damping.curves, strict=True):
            assert relative(force(damping, model, q, x), curve(0.0) * C @ x) < 1e-10
        v = rng.normal(size=model.size)
        v -= np.linalg.solve(X @ C @ X.T, X @ C @ v) @ X  # C-orthogonal to all
        assert relative(force(damping, model, q, v), C @ v) < 1e-10

    def test_curves_follow_excitation_rate_and_overall_displacement(self, model):
        one, other = examples(model, RISING, FALLING)
        other = Example(other.shape, other.curve, measure=Measure.RATE)
        overall = Curve.linear([(0.0, 0.5), (0.2, 4.0)])
        about = model.displacements(0.01 * np.arange(model.size))
        damping = ExampleDamping(BASE, [one, other], overall=overall, about=about)
        q, v = np.random.default_rng(7).normal(size=(2, model.size)) * 0.1
        X = np.array([model.coordinates(e.shape) for e in damping.examples])
        u = q - model.coordinates(about)
        D = np.linalg.solve(X @ model.mass @ X.T, X @ model.mass)
        gamma = np.array([RISING(D[0] @ u), FALLING(D[1] @ v)])
        g = overall(np.sqrt(u @ model.mass @ u / two_part_beam().total_mass))
        expected = g * printed(base_matrix(BASE, model, q), X, gamma, False) @ v
        assert relative(force(damping, model, q, v), expected) < 1e-10
        live = model.simulation(damping=damping)
        live.q = q
        np.testing.assert_allclose(live.excitations(), D @ u, rtol=1e-9)
        np.testing.assert_allclose(live.excitations(np.stack([q, 0 * q])), [D @ u, D @ (u - q)])

    def test_without_examples_only_the_overall_curve_acts(self, model):
        half = ExampleDamping(BASE, [], overall=Curve.constant(0.5))
        halved = sp.Rayleigh(mass=0.2, stiffness=1e-3)
        q = model.coordinates(examples(model, 1.0)[0].shape)
        paths = []
        for damping in (half, halved):
            live = model.simulation(damping=damping, dt=1 / 100, solver=TIGHT)
            live.q = q
            paths.append(live.trace(30)[0])
        assert relative(*paths) < 1e-9


class TestOtherBases:
    def test_caughey_with_two_coefficients_is_rayleigh(self, model):
        q = np.full(model.size, 0.02)
        one = base_matrix(Caughey((0.4, 2e-3)), model, q)
        rest = sp.Rayleigh(mass=0.4, stiffness=2e-3, at=sp.StiffnessAt.REST)
        assert relative(one, base_matrix(rest, model, q)) < 1e-9

    def test_caughey_gives_each_vibration_its_ratio(self, model):
        C = base_matrix(Caughey((0.4, 2e-3, 1e-9)), model, np.zeros(model.size))
        K = model.stiffness(np.zeros(model.size))
        powers = 0.4 * model.mass + 2e-3 * K + 1e-9 * K @ np.linalg.solve(model.mass, K)
        assert relative(C, powers) < 1e-9
        refused("less than nothing", reduced_damping, Caughey((0.4, 2e-3, -1e-6)), model)

    def test_viscous_matrix_is_projected(self, beam, model):
        C = 0.3 * beam.mass + 1e-3 * beam.stiffness(np.zeros_like(beam.mesh.vertices))
        rest = sp.Rayleigh(mass=0.3, stiffness=1e-3, at=sp.StiffnessAt.REST)
        q = np.zeros(model.size)
        one, other = (base_matrix(d, model, q) for d in (Viscous(C), rest))
        assert relative(one, other) < 1e-9
        damping = ExampleDamping(Viscous(C), examples(model, 3.0))
        x = model.coordinates(damping.examples[0].shape)
        assert relative(force(damping, model, q, x), 3 * other @ x) < 1e-9
        refused("damping matrix is", reduced_damping, Viscous(np.eye(6)), model)


class TestErrors:
    def test_examples_outside_the_basis(self, beam, model):
        inside = examples(model, 1.0)[0].shape
        beside = np.where(beam.free, np.random.default_rng(0).normal(size=inside.shape), 0.0)
        beside -= model.displacements(model.coordinates(beside))
        beside *= np.linalg.norm(inside) / np.linalg.norm(beside)
        mostly = ExampleDamping(BASE, [Example(inside + 0.1 * beside)])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            reduced_damping(mostly, model)
        with pytest.warns(ExampleWarning, match="example 0.*joined_basis"):
            reduced_damping(ExampleDamping(BASE, [Example(inside + beside)]), model)
        jiggle = Example(beside + 0.1 * inside, name="jiggle")
        lost = ExampleDamping(BASE, [Example(inside), jiggle])
        refused(r"example 1 \('jiggle'\).*joined_basis", reduced_damping, lost, model)
        old, new = sp.Basis(model.vectors, np.ones(model.size)), sp.picked_basis(beam, [beside])
        reduced_damping(lost, sp.reduce(beam, sp.joined_basis(beam, new, old)))

    def test_other_mistakes(self, model):
        one = examples(model, 2.0)[0]
        refused("alike", reduced_damping, ExampleDamping(BASE, [one, one]), model)
        with pytest.raises(sp.InputError, match="does nothing along example 0"):
            reduced_damping(ExampleDamping(sp.Rayleigh(), [one]), model)
        refused("mesh", reduced_damping, ExampleDamping(BASE, [Example(np.ones((5, 3)))]), model)
        live = model.simulation(damping=BASE)
        refused("alike", setattr, live, "damping", ExampleDamping(BASE, [one, one]))
        assert live.damping is BASE

    def test_free_bodies_refuse_what_brakes_all_motion(self, model):
        body = sp.Body(model.mesh, sp.StVK(young=1e5, poisson=0.4))
        free = sp.reduce(body, sp.modal_derivative_basis(body, modes=3, size=4))
        for other in (sp.Drag(strength=1.0), sp.Viscous(body.mass)):
            refused("dampings of the deformation", free.simulation, damping=other)


class TestRules:
    def test_what_is_no_damping_or_no_base_is_refused(self, model):
        for other in ("none", 3):
            refused("give a damping such as", reduced_damping, other, model)
        two = [ExampleDamping(BASE, examples(model, 2.0)) for _ in range(2)]
        refused("two dampings by example", reduced_damping, two, model)
        windy = sp.Drag(strength=1.0, wind=(1.0, 0.0, 0.0))
        refused("without wind", reduced_damping, ExampleDamping(windy, examples(model, 2.0)), model)
        base = sp.PowerLaw(strength=1.0, exponent=0.5)
        refused("not linear", reduced_damping, ExampleDamping(base, examples(model, 2.0)), model)

    def test_coefficients_cell_by_cell(self, model, tmp_path):
        by_cell = np.linspace(1e-3, 3e-3, model.mesh.n_cells)
        q = np.full(model.size, 0.05)
        one = base_matrix(sp.Rayleigh(stiffness=by_cell), model, q)
        other = base_matrix(sp.MatchedStrainRate(stiffness=by_cell), model, q)
        assert relative(one, other) < 1e-14
        model.save(tmp_path / "model")
        loaded = sp.load_model(tmp_path / "model")
        refused("make the model anew", reduced_damping, sp.Rayleigh(stiffness=by_cell), loaded)

    def test_a_damping_may_say_itself_what_it_is(self, model):
        class Own(sp.Rayleigh):
            def reduced(self, model: sp.ReducedModel) -> ReducedDamping:
                return ReducedDamping(3.0 * model.mass)

        q = np.zeros(model.size)
        assert relative(base_matrix(Own(), model, q), 3.0 * model.mass) < 1e-12
        both = [Own(), sp.Rayleigh(mass=1.0)]
        assert relative(base_matrix(both, model, q), 4.0 * model.mass) < 1e-12

    def test_a_model_from_a_file_has_no_body_to_project_from(self, model, tmp_path):
        model.save(tmp_path / "model")
        loaded = sp.load_model(tmp_path / "model")
        reduced_damping([BASE, Viscous(np.eye(model.vectors[0].size))], loaded)
        refused("make the model anew", reduced_damping, sp.Drag(strength=1.0), loaded)

    def test_edits_reach_what_is_projected(self, beam, basis):
        by_cell = np.linspace(0.1, 2.0, beam.mesh.n_cells)
        damping = sp.Rayleigh(mass=by_cell, stiffness=1e-3 * by_cell, at=sp.StiffnessAt.REST)
        stiff = sp.StVK(young=3e5, poisson=0.3, density=700)
        model = sp.reduce(two_part_beam(), basis, regions=["far"])
        edited = model.edited("far", young=3e5, poisson=0.3, density=700)
        anew = sp.reduce(two_part_beam(far=stiff), basis)
        one, other = (reduced_damping(damping, m).constant for m in (edited, anew))
        assert relative(one, other) < 1e-12


class TestTotalMass:
    @pytest.mark.parametrize(
        "change", [{"young": 3e5}, {"poisson": 0.2, "density": 700.0}, {"density": 2000.0}]
    )
    def test_edits_are_what_is_made_anew(self, beam, basis, change):
        """What holds for every material is kept from edit to edit, and nothing else is."""
        model = sp.reduce(beam, basis, regions=["far"])

        def dampings():
            two = examples(model, RISING, FALLING)
            yield sp.StrainRate(shear={"far": 30.0}, bulk=20.0, fibre=50.0, direction=(1, 2, 0))
            yield ExampleDamping(BASE, two, overall=Curve.linear([(0.0, 1.0), (0.1, 3.0)]))
            yield ExampleDamping([sp.StrainRate(shear=30.0), sp.Rayleigh(mass=0.2)], two)

        for kept, anew in zip(dampings(), dampings(), strict=True):
            live = model.simulation(damping=kept, dt=1e-3)
            live.run_steps(5)
            for edit in ({"young": 9e5, "density": 800.0}, change):
                live.edit("far", **edit)
            other = live.model.simulation(damping=anew, dt=1e-3)
            for sim in (live, other):
                sim.q, sim.v = np.linspace(0.0, 0.02, model.size), np.linspace(-1, 1, model.size)
                sim.run_steps(20)
            assert np.array_equal(live.q, other.q)

    def test_contradictions_are_told_in_every_reduced_space(self, model):
        """Two deformations that have much in common, and ask for very different strengths."""
        q = np.eye(model.size)
        for count in (None, 3):
            shapes = shapes_of(model, np.array([q[0], q[0] + 0.3 * q[1]]))
            clash = ExampleDamping(
                sp.Rayleigh(mass=0.3), [Example(shapes[0], 0.1), Example(shapes[1], 10.0)]
            )
            options = {} if count is None else {"copies": count}
            with pytest.warns(sp.StrengthWarning, match="contradict each other: 0 asks for 0.1"):
                live = model.simulation(damping=clash, **options)
            with warnings.catch_warnings():
                warnings.simplefilter("error", sp.StrengthWarning)
                live.edit(young=2e6)
                model.simulation(damping=replace(clash, definite=False))
                model.simulation(damping=clash.made_orthogonal(model.body))

    def test_of_one_density_and_of_many(self, beam, basis, tmp_path):
        rho = np.random.default_rng(1).uniform(500, 2000, beam.mesh.n_cells)
        for body in (beam, two_part_beam(sp.StVK(young=1e5, poisson=0.4, density=rho))):
            model = sp.reduce(body, sp.picked_basis(body, basis.vectors[:3]), regions=["far"])
            model.save(tmp_path / "model")
            for each in (model, sp.load_model(tmp_path / "model"), model.truncated(2)):
                assert each.total_mass == pytest.approx(body.total_mass, rel=1e-12)
        edited = model.edited("far", density=700.0)
        heavy = rho.copy()
        heavy[beam.mesh.region("far")] = 700.0
        assert edited.total_mass == pytest.approx(heavy @ beam.mesh.volumes, rel=1e-12)


def test_reduced_damping_says_when_it_is_constant(model):
    assert ReducedDamping(np.eye(2)).is_constant
    assert reduced_damping(BASES["rest"], model).is_constant
    assert not reduced_damping(BASE, model).is_constant
