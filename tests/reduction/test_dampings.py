"""Every damping on the coordinates of reduced models, against the same on the whole body."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reduction.example_dampings import BASE, examples

import supple as sp
from supple.bodies.shape import Shape
from supple.damping import ExampleDamping
from supple.reduction.damping.laws import compiled_laws
from supple.reduction.damping.points import CubatureDamping
from supple.reduction.damping.reduced import ReducedDamping
from supple.reduction.damping.rules import reduced_damping

EXACT = {
    "rayleigh": sp.Rayleigh(mass=0.3, stiffness=2e-3),
    "at rest": sp.Rayleigh(stiffness=2e-3, at=sp.StiffnessAt.REST),
    "by region": sp.Rayleigh(stiffness={"far": 2e-3}),
    "strain rate": sp.StrainRate(shear=60.0, bulk={"far": 30.0}),
    "fibres": sp.StrainRate(fibre=50.0, direction=(1.0, 0.5, 0.0)),
    "matched": sp.MatchedStrainRate(stiffness=2e-3),
    "sum": [sp.Rayleigh(mass=0.1), sp.StrainRate(shear=20.0), sp.MatchedStrainRate(stiffness=1e-3)],
}
AT_POINTS = {
    "power law": sp.PowerLaw(strength=30.0, exponent=0.5),
    "principal strain": sp.PrincipalStrain(stiffness=1e-3),
    "spline": sp.SplineDamping(
        sp.StrainRate(shear=30.0), sp.Curve.linear([(0.5, 3.0), (1.0, 1.0), (1.5, 4.0)])
    ),
    "quadratic drag": sp.Drag(strength=1.0, exponent=2.0),
}


def states(model: sp.ReducedModel, count: int = 4) -> list[tuple[np.ndarray, np.ndarray]]:
    """Shapes of up to a third of the body's size, and velocities."""
    rng = np.random.default_rng(3)
    k = np.diag(model.stiffness(np.zeros(model.size)))
    found = []
    for _ in range(count):
        q, v = rng.normal(size=(2, model.size)) / np.sqrt(k)
        q *= 0.3 / np.abs(model.displacements(q)).max()
        v *= 3.0 / np.abs(model.displacements(v)).max()
        found.append((q, v))
    return found


def full_force(damping, model: sp.ReducedModel, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Of the whole body, projected."""
    body = model.body
    listed = damping if isinstance(damping, list) else [damping]
    shape, velocity = Shape(body, model.displacements(q)), model.displacements(v)
    force = sum(each.bind(body).evaluate(shape, velocity)[1] for each in listed)
    return model.vectors.reshape(model.size, -1) @ force.ravel()


@pytest.mark.parametrize("name", [*EXACT, *AT_POINTS])
def test_forces_are_those_of_the_body(model, name):
    damping = (EXACT | AT_POINTS)[name]
    reduced = reduced_damping(damping, model)
    for q, v in states(model):
        given = reduced.force(q, v) - reduced.push()
        wanted = full_force(damping, model, q, v)
        assert np.abs(given - wanted).max() <= 1e-10 * np.abs(wanted).max()


@pytest.mark.parametrize("name", AT_POINTS)
def test_derivatives_by_the_velocity(model, name):
    reduced = reduced_damping(AT_POINTS[name], model)
    for q, v in states(model, 2):
        dv = 1e-5 * states(model, 3)[-1][1]
        change = reduced.force(q, v + dv) - reduced.force(q, v - dv)
        tangent = (reduced.matrix(q) + reduced.evaluate_beside(q, v)[1]) @ (2 * dv)
        assert np.abs(change - tangent).max() <= 1e-4 * np.abs(tangent).max()


@pytest.mark.parametrize("name", EXACT)
def test_never_gives_energy(model, name):
    reduced = reduced_damping(EXACT[name], model)
    for q, _ in states(model, 50):
        least, *_, most = np.linalg.eigvalsh(reduced.matrix(5 * q))
        assert least >= -1e-12 * most


def test_at_rest_the_strain_rate_is_the_stiffness(model):
    zero = np.zeros(model.size)
    C, K = reduced_damping(sp.Rayleigh(stiffness=1.0), model).matrix(zero), model.stiffness(zero)
    assert np.abs(C - K).max() <= 1e-12 * np.abs(K).max()


@pytest.mark.parametrize("name", [*EXACT, *AT_POINTS])
def test_steps_dissipate_what_is_told(model, name):
    """By compiled steps and by steps in Python: the energy falls by what the damping takes."""
    live = model.simulation(damping=(EXACT | AT_POINTS)[name], dt=1e-4, integrator=sp.TRBDF2())
    live.q = states(model, 1)[0][0]
    start = live.elastic
    taken, power = 0.0, live.damping_power
    for _ in range(40):
        live.step()
        before, power = power, live.damping_power
        taken += 0.5 * live.dt * (before + power)
    assert taken > 0
    assert start - live.elastic - live.kinetic == pytest.approx(taken, rel=0.05)


@pytest.mark.parametrize("name", [*EXACT, *AT_POINTS, "examples", "examples and another"])
def test_copies_of_a_crowd_move_as_one_alone(model, name):
    damping = (EXACT | AT_POINTS).get(name)
    if damping is None:
        damping = ExampleDamping(BASE, examples(model, 5.0, 0.2))
        damping = [damping, sp.StrainRate(shear=10.0)] if "another" in name else damping
    tight = sp.DenseNewton(tolerance=1e-10, max_iterations=60)
    options = {"damping": damping, "dt": 1 / 240, "integrator": sp.TRBDF2(), "solver": tight}
    starts = [q for q, _ in states(model, 3)]
    crowd = model.simulation(copies=3, **options)
    crowd.q = np.array(starts)
    crowd.run_steps(20)
    for copy, q in enumerate(starts):
        alone = model.simulation(**options)
        alone.q = q
        alone.run_steps(20)
        assert np.abs(crowd.q[copy] - alone.q).max() < 1e-5 * np.abs(q).max()


def test_examples_beside_other_dampings(model):
    designed = ExampleDamping(BASE, examples(model, 5.0, 0.2))
    q, v = states(model, 1)[0]
    more = sp.StrainRate(shear=10.0)
    both, one, other = (
        reduced_damping(d, model).force(q, v) for d in ([more, designed], designed, more)
    )
    assert np.abs(both - one - other).max() < 1e-12 * np.abs(both).max()


def test_a_file_keeps_what_damping_needs(model, tmp_path):
    rng = np.random.default_rng(2)
    young = rng.uniform(5e4, 2e5, model.mesh.n_cells)
    body = sp.Body(model.mesh, sp.StVK(young=young, poisson=0.4), fixed=model.mesh.where(x=0))
    varied = sp.reduce(body, sp.modal_derivative_basis(body, modes=3, size=5))
    for each in (model, varied):
        each.save(tmp_path / "model")
        loaded = sp.load_model(tmp_path / "model")
        for damping in (BASE, sp.StrainRate(shear=3.0)):
            q, v = states(each, 1)[0]
            one, other = (reduced_damping(damping, m).force(q, v) for m in (each, loaded))
            assert np.abs(one - other).max() <= 1e-12 * np.abs(one).max()
            small = reduced_damping(damping, loaded.truncated(2)).matrix(q[:2])
            whole = reduced_damping(damping, each).matrix(np.concatenate([q[:2], 0 * q[2:]]))
            assert np.abs(small - whole[:2, :2]).max() <= 1e-12 * np.abs(small).max()


class TestFreeBodies:
    @pytest.fixture(scope="class")
    def free(self) -> sp.ReducedModel:
        mesh = sp.TetMesh.box(size=(0.4, 0.1, 0.1), cells=(6, 2, 2))
        body = sp.Body(mesh, sp.StVK(young=1e5, poisson=0.4))
        return sp.reduce(body, sp.modal_derivative_basis(body, modes=4, size=8))

    @pytest.mark.parametrize(
        "damping",
        [
            sp.StrainRate(shear=30.0),
            [sp.Rayleigh(mass=0.0, stiffness=1e-3), sp.MatchedStrainRate(stiffness=1e-3)],
            sp.PowerLaw(strength=20.0, exponent=0.5),
            "examples",
        ],
    )
    def test_settle_and_keep_their_momenta(self, free, damping):
        if damping == "examples":
            shapes = free.vectors[:2]
            damping = ExampleDamping(
                sp.MatchedStrainRate(stiffness=2e-3),
                [sp.Example(shapes[0], 8.0), sp.Example(shapes[1], 0.1)],
            )
        live = free.simulation(damping=damping, dt=1 / 240, integrator=sp.TRBDF2())
        live.spin = (0.0, 3.0, 9.0)
        live.v = states(free, 1)[0][1] * 0.2
        energy = live.elastic + live.kinetic
        momentum = live.spin_momentum
        for _ in range(40):
            live.run_steps(5)
            now = live.elastic + live.kinetic
            assert now <= energy * (1 + 1e-9)
            energy = now
        assert np.abs(live.spin_momentum - momentum).max() < 1e-9 * np.abs(momentum).max()

    def test_dampings_that_brake_all_motion_are_refused(self, free):
        with pytest.raises(sp.InputError, match="dampings of the deformation"):
            free.simulation(damping=sp.Drag(strength=1.0))


@pytest.mark.parametrize("name", ["power law", "principal strain", "spline"])
def test_laws_at_points_are_the_sum_of_a_cubature_of_points(name):
    """Of bricks, whose points have weights of their own; those without any are left out."""
    mesh = sp.HexMesh.box((1.0, 0.2, 0.2), (4, 1, 1))
    parts = {"near": sp.StVK(young=1e5, poisson=0.3), "far": sp.NeoHookean(young=2e5, poisson=0.4)}
    near = mesh.cells_where(x=(0.0, 0.5))
    far = np.setdiff1d(np.arange(mesh.n_cells), near)
    mesh = mesh.with_region("near", near).with_region("far", far)
    body = sp.Body(mesh, parts, fixed=mesh.where(x=0))
    vectors = sp.modal_derivative_basis(body, modes=3, size=6).vectors
    cells, points, weights = [0, 1, 1, 3, 2], [2, 0, 7, 4, 5], [3.0, 1.0, 2.5, 4.0, 2.0]
    cubature = sp.Cubature.of_cells(body, vectors, cells, weights, points=points)
    damping = CubatureDamping(AT_POINTS[name].bind(body), vectors, cubature)
    laws = compiled_laws(ReducedDamping(np.zeros((6, 6)), beside=(damping,)))
    assert laws is not None
    assert len(laws.volumes) == len(cells)
    rng = np.random.default_rng(4)
    q, v = 0.02 * rng.normal(size=(2, 6)) / np.abs(vectors).max()
    laws.F[:] = (laws.G @ q).reshape(laws.F.shape) + np.eye(3)
    laws.rate[:] = (laws.G @ v).reshape(laws.F.shape)
    groups = zip(damping.at.materials, laws.starts[:-1], laws.starts[1:], strict=False)
    for (material, _), a, b in groups:
        cut = slice(a, b)
        room = laws.psi[cut], laws.P[cut], laws.A[cut]
        material.evaluate(laws.F[cut], laws.lam[cut], laws.mu[cut], *room, 2)
    (law,) = damping.laws
    law.kernel(
        laws.F, laws.rate, laws.P, laws.A, law.coefficients, law.numbers, laws.density,
        laws.stress, laws.derivative, 1, 1.0, False,
    )  # fmt: skip
    found = laws.G.T @ (laws.volumes[:, None] * laws.stress.reshape(-1, 9)).ravel()
    wanted = damping.evaluate(q, v)[0]
    assert np.abs(found - wanted).max() <= 1e-10 * np.abs(wanted).max()
