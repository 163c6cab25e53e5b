"""Damping by example in full space: Eqs. 5–11 and 16–17 of the example damping paper."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.damping.derivatives import matrix_of
from tests.helpers import large_deformation, small_mesh, soft, stepped
from tests.refusals import refused

import supple as sp
from supple.bodies.shape import Shape
from supple.core.sparse import LowRank
from supple.damping.base import BoundDamping
from supple.solvers.linear.cholesky import Factorization, Woodbury

pytestmark = pytest.mark.filterwarnings("ignore::supple.StrengthWarning")
REST, CURRENT = sp.StiffnessAt.REST, sp.StiffnessAt.CURRENT
BASES = {
    "mass": sp.Rayleigh(mass=0.7),
    "rest": sp.Rayleigh(mass=0.2, stiffness=0.02, at=REST),
    "current": sp.Rayleigh(mass=0.2, stiffness=0.02, at=CURRENT),
    "by region": sp.Rayleigh(mass={"left": 0.1, "right": 2.0}, stiffness={"left": 0.03}),
    "Caughey": sp.Caughey((0.3, 0.01)),
}
every_base = pytest.mark.parametrize("base", BASES.values(), ids=BASES.keys())


@pytest.fixture(scope="module")
def body() -> sp.Body:
    mesh = small_mesh("tet")
    left = mesh.centroids[:, 0] < 0.5
    regions = {"left": np.flatnonzero(left), "right": np.flatnonzero(~left)}
    mesh = sp.TetMesh(mesh.vertices, mesh.cells, regions=regions)
    return sp.Body(mesh, soft(sp.StVK), fixed=mesh.where(x=(None, 0.1)))


def dense(bound: BoundDamping, body: sp.Body, shape: Shape, near: np.ndarray) -> np.ndarray:
    """∂(∇₂R)/∂v as the solvers see it, on the free components."""
    free = body.free.ravel()
    return matrix_of(body, bound, shape, near)[np.ix_(free, free)]


def printed(
    C: np.ndarray, X: np.ndarray, gamma: np.ndarray, *, symmetric: bool = False
) -> np.ndarray:
    """Ĉ as the paper prints it: Gram–Schmidt in the C product, Eqs. 8–9 and App. B."""
    k = X.shape[1]
    Q, R = np.zeros_like(X), np.zeros((k, k))
    for j in range(k):
        q = X[:, j].copy()
        for _ in range(2):  # twice is enough
            for i in range(j):
                part = Q[:, i] @ C @ q
                R[i, j] += part
                q -= part * Q[:, i]
        R[j, j] = np.sqrt(q @ C @ q)
        Q[:, j] = q / R[j, j]
    Pi = R @ np.diag(gamma) @ np.linalg.inv(R)
    lam, V = np.linalg.eigh(0.5 * (Pi + Pi.T))
    Pi = Pi - (V * np.minimum(lam, 0.0)) @ V.T
    if symmetric:
        Pi = 0.5 * (Pi + Pi.T)
    U = C @ Q
    return C + U @ (Pi - np.eye(k)) @ U.T


def random_examples(
    body: sp.Body, gammas: list[float], alike: float, seed: int
) -> list[sp.Example]:
    """Examples that share the part ``alike`` of their shapes, with very different scales."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(body.n_vertices, 3))
    return [
        sp.Example(alike * common + (1 - alike) * rng.normal(size=common.shape), gamma)
        for gamma in gammas
    ]


def setting(
    body: sp.Body, base: sp.Damping, examples: list[sp.Example], **options: object
) -> tuple[Shape, np.ndarray, np.ndarray, np.ndarray]:
    """A deformed shape, Ĉ, C and X on the free components."""
    u = np.where(body.free, 0.02 * large_deformation(body.mesh, inverted=False), 0.0)
    shape = Shape(body, u, order=2)
    v = np.zeros_like(u)
    free = body.free.ravel()
    C = dense(base.bind(body), body, shape, v)
    damped = dense(sp.ExampleDamping(base, examples, **options).bind(body), body, shape, v)  # type: ignore[arg-type]
    X = np.stack([example.shape.ravel()[free] for example in examples], axis=1)
    return shape, damped, C, X


@every_base
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("alike", [0.0, 0.9])
def test_the_matrix_is_the_papers(body, base, symmetric, alike):
    gammas = [0.01, 3.0, 80.0]
    examples = random_examples(body, gammas, alike, seed=3)
    _, damped, C, X = setting(body, base, examples, symmetric=symmetric)
    expected = printed(C, X, np.array(gammas), symmetric=symmetric)
    np.testing.assert_allclose(damped, expected, atol=1e-9 * np.abs(expected).max())


@every_base
def test_along_an_example_damping_is_scaled(body, base):
    """Ĉ xᵢ = γᵢ C xᵢ (Eq. 10), for examples that are not C-orthogonal."""
    gammas = [0.5, 1.0, 2.0]
    _, damped, C, X = setting(body, base, random_examples(body, gammas, 0.1, seed=1))
    np.testing.assert_allclose(
        damped @ X, C @ X * np.array(gammas), atol=1e-10 * np.abs(C @ X).max()
    )


@every_base
def test_c_orthogonal_velocities_feel_the_base(body, base):
    _, damped, C, X = setting(body, base, random_examples(body, [0.0, 9.0], 0.5, seed=2))
    z = np.random.default_rng(0).normal(size=len(C))
    z -= X @ np.linalg.solve(X.T @ C @ X, X.T @ C @ z)
    np.testing.assert_allclose(damped @ z, C @ z, atol=1e-12 * np.abs(C @ z).max())


@given(
    gammas=st.lists(st.floats(0.0, 1000.0), min_size=1, max_size=5),
    alike=st.floats(0.0, 0.999),
    symmetric=st.booleans(),
    base=st.sampled_from(list(BASES.values())),
    seed=st.integers(0, 100),
)
@settings(max_examples=60, deadline=None)
def test_dissipation_is_never_negative(body, gammas, alike, symmetric, base, seed):
    """For consistent and inconsistent examples (§4.1.1): vᵀĈv ≥ 0 for every v."""
    examples = random_examples(body, gammas, alike, seed)
    rest = Shape(body, np.zeros_like(body.mesh.vertices), order=2)
    bound = sp.ExampleDamping(base, examples, symmetric=symmetric).bind(body)
    damped = dense(bound, body, rest, np.zeros_like(rest.u))
    lowest = np.linalg.eigvalsh(0.5 * (damped + damped.T))[0]
    assert lowest >= -1e-9 * np.abs(damped).max()
    v = np.where(body.free, np.random.default_rng(seed).normal(size=rest.u.shape), 0.0)
    dissipation, force = bound.evaluate(rest, v)
    assert dissipation == pytest.approx(0.5 * np.vdot(v, force))
    np.testing.assert_allclose(
        force[body.free], damped @ v[body.free], atol=1e-9 * np.abs(damped).max()
    )


def test_curves_follow_the_excitation(body):
    """γ(|χ|) with χ the mass-weighted least-squares fit of u − about (§4.2)."""
    rng = np.random.default_rng(5)
    X = np.where(body.free, rng.normal(size=(2, *body.mesh.vertices.shape)), 0.0)
    about = np.where(body.free, 0.01 * rng.normal(size=X[0].shape), 0.0)
    curve = sp.Curve.linear([(0.0, 0.5), (2.0, 8.0)])
    damping = sp.ExampleDamping(
        sp.Rayleigh(mass=1.0), [sp.Example(X[0], curve), sp.Example(X[1])], about=about
    )
    u = about + 0.7 * X[0] - 0.3 * X[1]
    shape = Shape(body, u, order=2)
    _, force = damping.bind(body).evaluate(shape, X[0])
    np.testing.assert_allclose(
        force, curve(0.7) * body.mass_times(X[0]), atol=1e-10 * np.abs(force).max()
    )


def test_curves_follow_the_rate(body):
    rng = np.random.default_rng(6)
    x = np.where(body.free, rng.normal(size=body.mesh.vertices.shape), 0.0)
    curve = sp.Curve.bezier([(0.0, 0.5), (2.0, 8.0)])
    damping = sp.ExampleDamping(
        sp.Rayleigh(mass=1.0), [sp.Example(x, curve, measure=sp.Measure.RATE)]
    )
    shape = Shape(body, np.zeros_like(x), order=2)
    for rate in (0.0, -0.4, 1.5, 9.0):
        _, force = damping.bind(body).evaluate(shape, rate * x)
        np.testing.assert_allclose(
            force, curve(rate) * rate * body.mass_times(x), atol=1e-10 * (1 + np.abs(force).max())
        )


def test_overall_scales_everything(body):
    """γ(‖u‖) in front (Eq. 17), with the mean square displacement over the mass."""
    curve = sp.Curve.linear([(0.0, 1.0), (0.1, 10.0)])
    base = sp.Rayleigh(mass=0.3, stiffness=0.01)
    v = np.random.default_rng(7).normal(size=body.mesh.vertices.shape)
    shift = np.tile([0.03, 0.0, 0.04], (body.n_vertices, 1))  # 0.05 m everywhere
    shape = Shape(body, shift, order=2)
    for examples in ([], random_examples(body, [4.0], 0.0, 1)):
        plain = sp.ExampleDamping(base, examples).bind(body).evaluate(shape, v)[1]
        scaled = sp.ExampleDamping(base, examples, overall=curve).bind(body).evaluate(shape, v)[1]
        np.testing.assert_allclose(scaled, curve(0.05) * plain, rtol=1e-9)


@pytest.mark.parametrize("symmetric", [False, True])
def test_potential_has_the_force_as_gradient(body, symmetric):
    """What line searches go by: its gradient at ``near`` is the force, its curvature definite."""
    examples = random_examples(body, [0.1, 50.0], 0.9, 4)
    damping = sp.ExampleDamping(BASES["rest"], examples, symmetric=symmetric)
    bound = damping.bind(body)
    shape = Shape(body, np.zeros_like(body.mesh.vertices), order=2)
    near, d = np.random.default_rng(1).normal(size=(2, body.n_vertices, 3))
    assert bound.potential(shape, near, near) == 0.0
    slope = float(np.vdot(bound.evaluate(shape, near)[1], d))
    h = 1e-4
    values = [bound.potential(shape, near + s * h * d, near) for s in (-1, 1)]
    assert (values[1] - values[0]) / (2 * h) == pytest.approx(slope, rel=1e-8)
    assert values[0] + values[1] >= 0.0


# -- in motion -------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [REST, CURRENT])
@pytest.mark.parametrize("symmetric", [False, True])
def test_solvers_agree(body, at, symmetric):
    """Woodbury, kept factors and conjugate gradients lead to the same motion."""
    modes = sp.vibration_modes(body, 3).shapes
    examples = [
        sp.Example(modes[0], 6.0),
        sp.Example(0.6 * modes[0] + modes[1], sp.Curve.bezier([(0.0, 0.1), (0.05, 8.0)])),
        sp.Example(modes[2], 0.02),
    ]
    base = sp.Rayleigh(mass=0.1, stiffness=0.01, at=at)
    damping = sp.ExampleDamping(base, examples, symmetric=symmetric)
    ends = []
    for linear in (sp.Cholesky(), sp.LaggedCholesky(), sp.ConjugateGradients()):
        sim = sp.Simulation(
            body, damping=damping, solver=sp.Newton(linear=linear, tolerance=1e-10), dt=0.02,
            integrator=sp.Bathe(), gravity=(0, 0, -9.81),
        )  # fmt: skip
        sim.run(0.2)
        ends.append(sim.state.u.copy())
    for other in ends[1:]:
        np.testing.assert_allclose(other, ends[0], atol=1e-7 * np.abs(ends[0]).max())


def test_woodbury_is_the_dense_solve(body):
    rng = np.random.default_rng(0)
    stiffness = body.evaluate(np.zeros_like(body.mesh.vertices), order=2).stiffness
    factorization = Factorization(body.pattern, body.free)
    factorization.factorize(stiffness)
    factors = rng.normal(size=(4, body.n_vertices, 3))
    coupling = rng.normal(size=(4, 4))
    coupling[2] = 0.0  # an example that is left as it is
    low_rank = LowRank(factors, coupling, 3.0)
    rhs = rng.normal(size=factors[0].shape)
    x = Woodbury(low_rank, factorization.solve(factors)).correct(factorization.solve(rhs))
    free = body.free.ravel()
    F = factors.reshape(4, -1)[:, free]
    A = body.pattern.full(stiffness).toarray()[np.ix_(free, free)] + 3.0 * F.T @ coupling @ F
    expected = np.linalg.solve(A, rhs.ravel()[free])
    np.testing.assert_allclose(x.ravel()[free], expected, rtol=1e-8)


@pytest.mark.parametrize(
    "rule", [sp.Bathe(), sp.TRBDF2(), sp.Newmark(), sp.BDF2(), sp.BackwardEuler()], ids=repr
)
def test_order_with_nonlinear_examples(body, rule):
    """State-dependent, coupled, unsymmetric damping costs no rule its order."""
    modes = sp.vibration_modes(body, 2).shapes
    scale = 0.05 / np.abs(modes[0]).max()
    curve = sp.Curve.bezier([(0.0, 0.3), (1.0, 4.0)])
    examples = [
        sp.Example(scale * modes[0], curve),
        sp.Example(scale * (modes[0] + modes[1]), curve, measure=sp.Measure.EXCITATION),
    ]
    base = sp.Rayleigh(mass=0.3, stiffness=0.02, at=CURRENT)
    damping = sp.ExampleDamping(base, examples)
    start = scale * (modes[0] - 0.5 * modes[1])

    def end(steps: int) -> np.ndarray:
        solver = sp.Newton(tolerance=1e-12, linear=sp.Cholesky())
        sim = sp.Simulation(body, damping=damping, integrator=rule, solver=solver, dt=0.4 / steps)
        sim.state.u = start
        return stepped(sim, steps).state.u.copy()

    ends = [end(n) for n in (40, 80, 160)]
    errors = [np.abs(a - b).max() for a, b in pairwise(ends)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(rule.order, abs=0.15)


def test_decay_is_scaled(body):
    """A mode with γ = 3 decays three times as fast; another mode as before."""
    modes = sp.vibration_modes(body, 2)
    w = 2 * np.pi * modes.frequencies
    base = sp.Rayleigh(stiffness=0.05 / w[0] * 2, at=REST)  # ζ = 0.05 at the first mode

    def damping_ratio(damping: sp.Damping, k: int) -> float:
        sim = sp.Simulation(body, damping=damping, integrator=sp.Trapezoidal(), dt=0.2 / w[k] / 4)
        sim.state.u = 1e-6 * modes.shapes[k]
        weight = body.mass_times(modes.shapes[k])
        steps = round(2 * np.pi / w[k] / sim.dt)
        energies = []
        for _ in range(steps + 1):
            x, v = np.vdot(weight, sim.state.u), np.vdot(weight, sim.state.v)
            energies.append(v * v + (w[k] * x) ** 2)
            sim.step()
        return -0.5 * np.log(energies[-1] / energies[0]) / (w[k] * steps * sim.dt)

    examples = sp.ExampleDamping(base, [sp.Example(modes.shapes[0], 3.0)])
    assert damping_ratio(examples, 0) == pytest.approx(3 * damping_ratio(base, 0), rel=0.03)
    assert damping_ratio(examples, 1) == pytest.approx(damping_ratio(base, 1), rel=1e-6)


def test_energy_falls_and_is_accounted_for(body):
    examples = random_examples(body, [0.01, 100.0], 0.95, 2)
    damping = sp.ExampleDamping(sp.Rayleigh(mass=0.5, stiffness=0.01, at=REST), examples)
    modes = sp.vibration_modes(body, 3).shapes
    start = 0.03 * modes.sum(axis=0) / np.abs(modes).max()
    sim = sp.Simulation(body, damping=damping, integrator=sp.Newmark(), dt=1e-3)
    sim.state.u = start
    motion = sim.run(0.3)
    energy = motion.kinetic + motion.elastic
    assert (np.diff(energy) <= 1e-6 * energy[0]).all()
    assert energy[0] - energy[-1] == pytest.approx(motion.dissipated[-1], rel=1e-3)


def test_damping_can_change_between_steps(body):
    """The new one acts from then on, as in a simulation that starts there."""
    modes = sp.vibration_modes(body, 1).shapes
    first = sp.Rayleigh(stiffness=0.01, at=REST)
    second = sp.ExampleDamping(first, [sp.Example(modes[0], 20.0)])
    sim = sp.Simulation(body, damping=first, dt=0.01)
    sim.state.u = 0.02 * modes[0]
    stepped(sim, 5)
    fresh = sp.Simulation(body, damping=second, dt=0.01)
    fresh.state.u, fresh.state.v, fresh.state.time = sim.state.u, sim.state.v, sim.state.time
    sim.damping = second
    assert sim.damping is second
    for each in (sim, fresh):
        stepped(each, 5)
    np.testing.assert_allclose(sim.state.u, fresh.state.u, atol=1e-9 * np.abs(sim.state.u).max())
    sim.damping = None
    sim.step()
    with pytest.raises(sp.InputError, match="damping"):
        sim.damping = 3.0


def test_a_carried_body_is_not_excited(body):
    """Where supports move, what they carry along is neither excitation nor displacement."""
    mesh = body.mesh
    held = np.flatnonzero(~body.free.any(axis=1))
    swing = sp.Support.oscillating(held, (0, 0, 0.3), 1.0)
    carried = sp.Body(mesh, body.material, supports=[swing])
    shape = sp.vibration_modes(carried, 1).shapes[0]
    curve = sp.Curve.linear([(0.0, 0.5), (1.0, 50.0)])
    for measure in sp.Measure:
        example = sp.Example(shape, curve, measure=measure)
        damping = sp.ExampleDamping(sp.Rayleigh(stiffness=0.01, at=REST), [example], overall=curve)
        bound = damping.bind(carried)
        v = 0.1 * shape
        shift = np.tile([0.3, 0.2, -0.1], (mesh.n_vertices, 1))
        here = Shape(carried, 0.02 * shape, order=2)
        there = Shape(carried, 0.02 * shape + shift, order=2)
        force = bound.evaluate(here, v)[1]
        moved = bound.evaluate(there, v + 5 * shift)[1]
        np.testing.assert_allclose(moved, force, atol=1e-8 * np.abs(force).max())


@pytest.mark.parametrize("rule", [sp.Bathe(), sp.Newmark(), sp.BDF2()], ids=repr)
def test_curves_that_rise_steeply_with_the_rate(body, rule):
    """Drag that grows a hundredfold over the rates of a swing: each step has one solution."""
    mode = sp.vibration_modes(body, 1)
    shape = mode.shapes[0] * 0.05 / np.abs(mode.shapes[0]).max()
    w = 2 * np.pi * mode.frequencies[0]
    curve = sp.Curve.linear([(0.02 * w, 0.01), (0.5 * w, 100.0)])
    example = sp.Example(shape, curve, measure=sp.Measure.RATE)
    damping = sp.ExampleDamping(sp.Rayleigh(mass=0.05 * w), [example])
    sim = sp.Simulation(body, damping=damping, integrator=rule, dt=2 * np.pi / w / 40)
    sim.state.u = shape
    motion = sim.run(4 * np.pi / w)
    energy = motion.kinetic + motion.elastic
    assert energy[-1] < 0.5 * energy[0]


# -- bad input -------------------------------------------------------------------------------


def test_bad_input(body):
    shape = np.ones((body.n_vertices, 3))
    base = sp.Rayleigh(mass=1.0)
    example, cut, held = (sp.Example(x) for x in (shape, shape[1:], 1.0 - body.free))
    refused(r"\(n, 3\)", sp.Example, np.ones(5))
    refused("moves nothing", sp.Example, 0 * shape)
    refused("measure", sp.Example, shape, measure="rate")
    refused("list", sp.ExampleDamping, base, example)
    refused("base", sp.ExampleDamping, 3.0, [example])
    refused("one ExampleDamping", sp.ExampleDamping, sp.ExampleDamping(base, []), [])
    refused("different bodies", sp.ExampleDamping, base, [example, cut])
    alike = sp.ExampleDamping(base, [example, sp.Example(2 * shape)])
    refused("examples 0 and 1 are alike", alike.bind, body)
    refused("nothing to scale", sp.ExampleDamping(sp.Rayleigh(), [example]).bind, body)
    refused("free to move", sp.ExampleDamping(base, [held]).bind, body)
    refused("shape", sp.ExampleDamping(base, [cut]).bind, body)


def test_any_iterable_of_examples(body):
    """A generator is kept, not used up by the check."""
    shapes = np.random.default_rng(0).normal(size=(2, body.n_vertices, 3))
    damping = sp.ExampleDamping(sp.Rayleigh(mass=1.0), (sp.Example(x) for x in shapes))
    assert len(damping.examples) == 2


def test_examples_by_name(body):
    shape = np.ones((body.n_vertices, 3))
    damping = sp.ExampleDamping(sp.Rayleigh(mass=1.0), [sp.Example(shape, name="bend")])
    assert damping.index("bend") == damping.index(0) == 0
    refused("'bend'", damping.index, "twist")
    refused("numbered from 0", damping.index, 1)


def test_an_example_scaled(body):
    shape = np.random.default_rng(0).normal(size=(body.n_vertices, 3))
    example = sp.Example(shape, 2.0, name="bend").scaled(0.25)
    assert example.amplitude == pytest.approx(0.25)
    assert example.name == "bend"
    assert example.curve == sp.Curve.constant(2.0)
    assert "bend" in repr(example)
