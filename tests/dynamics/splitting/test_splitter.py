"""The parts of a splitting: D, its transpose and DᵀWD agree; nothing is lost or counted twice."""

from __future__ import annotations

import numpy as np
import pytest
from tests.damping.cases import CASES
from tests.helpers import MESH_NAMES, small_mesh, soft

import supple as sp
from supple.dynamics.problem import BodyProblem
from supple.dynamics.splitting.cells import CellTerms, StretchTerms
from supple.dynamics.terms import terms_of
from supple.dynamics.terms.base import StageStart
from supple.integrators import BackwardEuler, Stage, State
from supple.solvers.splitting import Dissipation, LocalTerms, SplitOptions, Splitting

DT = 0.02
PLAIN = SplitOptions(1.0, Dissipation.BALANCE)


def stage_of(u: np.ndarray, v: np.ndarray) -> Stage:
    return next(BackwardEuler().stages(State(0.0, u, v, np.zeros_like(u)), None, DT))


def split_body(
    name: str = "tet", damping: sp.Damping | None = None, **options: object
) -> tuple[BodyProblem, Stage, np.ndarray, Splitting]:
    """A body in general motion, split; held at x = 0."""
    mesh = small_mesh(name)
    lowest = np.argsort(mesh.vertices[:, 0])[:4]
    body = sp.Body(mesh, soft(sp.StVK), fixed=lowest, mass_model=sp.LumpedMass())
    problem = BodyProblem(body, terms_of(body, [] if damping is None else [damping], **options))
    u, v = 0.02 * np.random.default_rng(3).normal(size=(2, body.n_vertices, 3))
    u[lowest], v[lowest] = 0, 0
    stage = stage_of(u, v)
    problem.begin(StageStart(stage, body.weight((0, 0, -9.81)), State(0.0, u, v, None), u))
    later = u + DT * v
    return problem, stage, later, problem.split(stage, [later, u], PLAIN)


def touching_floor(mesh: sp.VolumeMesh) -> sp.Plane:
    return sp.Plane(offset=float(mesh.vertices[:, 2].min()), friction=0.5)


def linear_part(term: LocalTerms, u: np.ndarray) -> np.ndarray:
    """D u without what D adds at rest."""
    there, rest = np.empty(term.shape), np.empty(term.shape)
    term.gather(u, there)
    term.gather(np.zeros_like(u), rest)
    return there - rest


@pytest.mark.parametrize("name", MESH_NAMES)
def test_gather_scatter_and_matrix_agree(name):
    """y·W D x = x·(DᵀW y), and DᵀWD is the matrix that the global step is given."""
    dry = sp.PowerLaw(exponent=0, strength=40.0)
    problem, _, _, split = split_body(name, dry)
    assert {type(term) for term in split.terms} == {CellTerms, StretchTerms}
    rng = np.random.default_rng(0)
    for term in split.terms:
        x = 0.1 * rng.normal(size=problem.free.shape)
        y, force = rng.normal(size=term.shape), np.zeros(problem.free.shape)
        term.scatter(y, force)
        there = linear_part(term, x)
        weighted = term.weights[:, None, None] * y
        assert np.vdot(weighted, there) == pytest.approx(np.vdot(force, x), rel=1e-11)
        values, product = np.zeros(problem.body.pattern.n_blocks), np.zeros_like(x)
        term.add_matrix(values)
        term.scatter(there, product)
        np.testing.assert_allclose(
            problem.body.pattern.multiply(values, x), product, atol=1e-11 * np.abs(product).max()
        )


@pytest.mark.parametrize("name", [n for n in CASES if n not in ("PowerLaw, dry",)])
def test_local_and_outside_forces_are_the_balance(name):
    """∇Φ at D u through Dᵀ, and what is outside, make up the residual that Newton sees."""
    mesh = small_mesh("tet")
    model = CASES[name].make(sp.Body(mesh, soft(sp.StVK)), 1.0)
    problem, stage, u, split = split_body(damping=model)
    total = problem.outside(stage, u).residual
    for term in split.terms:
        there, warmed = np.empty(term.shape), np.empty(term.shape)
        term.gather(u, there)
        term.warm_start(there, warmed)
        term.scatter(warmed - there, total)  # w (s − z) = ∇Φ(z)
    expected = problem.linearize(stage, u)
    apart = (total - expected.residual)[problem.free]
    assert np.abs(apart).max() <= 1e-11 * expected.scale


def test_matrix_key_says_when_the_matrix_changes():
    problem, stage, u, split = split_body(damping=sp.Rayleigh(mass=0.3))
    again = problem.split(stage, [u, u], PLAIN)
    assert again.matrix_key == split.matrix_key
    heavier = problem.split(stage, [u, u], SplitOptions(2.0, Dissipation.BALANCE))
    assert heavier.matrix_key != split.matrix_key
    other = stage_of(u, 0 * u)
    other = Stage(other.time, 2 * other.c_v, u, 4 * other.c_a, u, u)
    assert problem.split(other, [u, u], PLAIN).matrix_key != split.matrix_key


def test_weight_multiplies_every_term():
    dry = sp.PowerLaw(exponent=0, strength=40.0)
    problem, stage, u, split = split_body(damping=dry)
    once = [term.weights.copy() for term in split.terms]
    twice = problem.split(stage, [u, u], SplitOptions(2.0, Dissipation.BALANCE))
    for before, term in zip(once, twice.terms, strict=True):
        np.testing.assert_allclose(term.weights, 2 * before, rtol=1e-15)


def test_mass_damping_stays_in_scalars():
    """Damping of the mass is a multiple of the identity: n × n still serves all coordinates."""
    _, stage, _, split = split_body(damping=sp.Rayleigh(mass=0.3))
    bare = split_body()[3]
    assert split.blocks is None
    assert split.low_rank is None
    np.testing.assert_allclose(
        split.scalars, bare.scalars * (1 + 0.3 * stage.c_v / stage.c_a), rtol=1e-13
    )


def test_wide_damping_goes_outside_with_its_blocks():
    mesh = small_mesh("tet")
    a = np.zeros(3 * mesh.n_vertices)
    a[1], a[-2] = 1.0, -1.0
    problem, stage, _, split = split_body(damping=sp.Viscous(np.outer(a, a)))
    assert split.blocks is not None
    full = problem.pattern.full(split.blocks)
    np.testing.assert_allclose(full.toarray(), stage.c_v * np.outer(a, a), atol=1e-9)


def test_contacts_know_their_vertices():
    mesh = small_mesh("tet")
    _, _stage, u, split = split_body(obstacles=[touching_floor(mesh)])
    contacts = split.contacts
    assert contacts is not None
    assert 0 < len(contacts.nodes) < mesh.n_vertices
    assert contacts.forces.shape == (len(contacts.nodes), 3)
    deep = u - np.array([0.0, 0.0, 1.0])
    contacts.follow(u)
    np.testing.assert_array_equal(contacts.involved(deep), np.arange(len(contacts.nodes)))
    assert not len(contacts.involved(u + np.array([0.0, 0.0, 1.0])))


def test_concave_cells_get_more_weight_and_lose_it_again():
    _, _, u, split = split_body()
    (cells,) = (term for term in split.terms if isinstance(term, CellTerms))
    z = np.empty(cells.shape)
    cells.gather(np.zeros_like(u), z)
    assert not cells.raise_weights(z)  # nothing is concave at rest
    z[0] = np.diag([0.35, 0.35, 0.35])  # pressed together
    assert cells.raise_weights(z)
    assert cells.doublings[0] > 0
    assert not cells.raise_weights(z)  # it is enough
    before = cells.weights[0]
    cells.set_weight(1.0)
    assert cells.weights[0] == before * 2.0 ** cells.doublings[0]
    for _ in range(10):
        cells.lower_weights()
    assert not cells.doublings.any()
