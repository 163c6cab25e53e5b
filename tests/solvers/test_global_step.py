"""The global step of ADMM against dense solves; factorized when the matrix changes, not else."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.helpers import small_mesh, soft, stepped

import supple as sp
from supple.core.sparse import LowRank
from supple.dynamics.problem import BodyProblem
from supple.dynamics.terms import terms_of
from supple.dynamics.terms.base import StageStart
from supple.integrators import BackwardEuler, Stage, State
from supple.solvers.global_step import GlobalStep
from supple.solvers.linear.cholesky import Factorization
from supple.solvers.splitting import Dissipation, SplitOptions, Splitting

N = small_mesh("tet").n_vertices


def held(rows: dict[int, tuple[bool, bool, bool]]) -> np.ndarray:
    """A mask of held components (n, 3)."""
    mask = np.zeros((N, 3), dtype=bool)
    for vertex, components in rows.items():
        mask[vertex] = components
    return mask


HELD = {
    "free": None,
    "clamped": held({0: (True,) * 3, 3: (True,) * 3}),
    "by component": held(dict.fromkeys(range(4), (False, False, True))),
    "each its own": held({0: (True, False, True), 5: (False, True, True)}),
}


@dataclasses.dataclass
class Setting:
    body: sp.Body
    problem: BodyProblem
    stage: Stage
    split: Splitting

    def dense(self) -> np.ndarray:
        """c_a M + Σ w DᵀD and the rest of the matrix, (3n, 3n)."""
        pattern = self.problem.pattern
        own = self.split.scalars.copy()
        for term in self.split.terms:
            term.add_matrix(own)
        values = np.zeros((pattern.n_blocks, 3, 3))
        values[self.split.places] = own[:, None, None] * np.eye(3)
        if self.split.blocks is not None:
            values += self.split.blocks
        matrix = pattern.full(values).toarray()
        if self.split.low_rank is not None:
            low = self.split.low_rank
            F = low.factors.reshape(len(low.factors), -1)
            matrix += low.weight * F.T @ low.coupling @ F
        return matrix

    def expected(self, rhs: np.ndarray) -> np.ndarray:
        free = self.problem.free.ravel()
        x = np.zeros(free.size)
        x[free] = np.linalg.solve(self.dense()[np.ix_(free, free)], rhs.ravel()[free])
        return x.reshape(rhs.shape)


def setting(fixed: np.ndarray | None = None, damping: sp.Damping | None = None) -> Setting:
    mesh = small_mesh("tet")
    body = sp.Body(mesh, soft(sp.StVK), fixed=fixed)
    problem = BodyProblem(body, terms_of(body, [] if damping is None else [damping]))
    u = np.zeros_like(mesh.vertices)
    stage = next(BackwardEuler().stages(State(0.0, u, u, u), None, 0.02))
    problem.begin(StageStart(stage, u, State(0.0, u, u, None), u))
    split = problem.split(stage, [u, u], SplitOptions(1.0, Dissipation.BALANCE))
    return Setting(body, problem, stage, split)


def wide(body_vertices: int) -> sp.Viscous:
    a = np.zeros(3 * body_vertices)
    a[1], a[-2] = 1.0, -1.0
    return sp.Viscous(5.0 * np.outer(a, a))


def examples(n: int) -> sp.Damping:
    shapes = 0.3 * np.random.default_rng(5).normal(size=(2, n, 3))
    made = [sp.Example(x, sp.Curve.constant(3.0)) for x in shapes]
    base = sp.Rayleigh(stiffness=0.01, at=sp.StiffnessAt.REST)
    return sp.ExampleDamping(base, made, symmetric=True)


DAMPINGS = {"none": lambda n: None, "wide": wide, "low rank": examples}


@pytest.mark.parametrize("damping", DAMPINGS)
@pytest.mark.parametrize("how", HELD)
def test_as_a_dense_solve(how, damping):
    case = setting(HELD[how], DAMPINGS[damping](N))
    assert (case.split.blocks is None) == (damping == "none")
    assert (case.split.low_rank is not None) == (damping == "low rank")
    step = GlobalStep(case.problem.pattern, case.problem.free)
    step.take(case.split)
    rhs = np.random.default_rng(1).normal(size=case.problem.free.shape)
    x = step.solve(rhs)
    expected = case.expected(rhs)
    np.testing.assert_allclose(x, expected, atol=1e-10 * np.abs(expected).max())
    assert (x[~case.problem.free] == 0).all()


def test_low_rank_beside_blocks_that_need_not_be_symmetric():
    case = setting(HELD["by component"], wide(N))
    rng = np.random.default_rng(3)
    factors = rng.normal(size=(3, case.body.n_vertices, 3))
    coupling = np.diag([50.0, 20.0, 0.0]) + rng.normal(size=(3, 3))
    case.split = dataclasses.replace(case.split, low_rank=LowRank(factors, coupling, 2.0))
    step = GlobalStep(case.problem.pattern, case.problem.free)
    step.take(case.split)
    rhs = rng.normal(size=case.problem.free.shape)
    expected = case.expected(rhs)
    np.testing.assert_allclose(step.solve(rhs), expected, atol=1e-9 * np.abs(expected).max())


@pytest.fixture
def factorized(monkeypatch):
    """Sizes of the matrices that were factorized, one entry each time."""
    sizes: list[int] = []
    original = Factorization.factorize

    def counted(self, values):
        sizes.append(values.shape[1])
        return original(self, values)

    monkeypatch.setattr(Factorization, "factorize", counted)
    return sizes


def test_factorized_when_the_key_changes_only(factorized):
    case = setting()
    step = GlobalStep(case.problem.pattern, case.problem.free)
    step.take(case.split)
    assert factorized == [1]  # n × n, once for three coordinates
    step.take(dataclasses.replace(case.split, scalars=2 * case.split.scalars))
    assert factorized == [1]  # the key says that nothing has changed
    step.take(dataclasses.replace(case.split, matrix_key=("another",)))
    assert factorized == [1, 1]


def test_one_matrix_for_each_way_of_being_held(factorized):
    case = setting(HELD["by component"])
    step = GlobalStep(case.problem.pattern, case.problem.free)
    step.take(case.split)
    assert factorized == [1, 1]  # x and y are held alike
    assert len({case.problem.free[:, k].tobytes() for k in range(3)}) == 2


def test_from_blocks_back_to_scalars(factorized):
    """A matrix of blocks, then one without: the second is not solved with the first."""
    case = setting(HELD["clamped"], wide(N))
    step = GlobalStep(case.problem.pattern, case.problem.free)
    step.take(case.split)
    case.split = dataclasses.replace(case.split, blocks=None, matrix_key=("plain",))
    step.take(case.split)
    assert factorized == [3, 1]
    rhs = np.random.default_rng(1).normal(size=case.problem.free.shape)
    expected = case.expected(rhs)
    np.testing.assert_allclose(step.solve(rhs), expected, atol=1e-10 * np.abs(expected).max())


def test_trbdf2_needs_one_matrix(factorized):
    """Both stages have the same c_v and c_a, and so has every step."""
    body = sp.Body(small_mesh("tet"), soft(sp.StVK), fixed=[0, 1, 2])
    sim = sp.Simulation(body, solver=sp.ADMM(), integrator=sp.TRBDF2(), gravity=(0, 0, -9.81))
    stepped(sim, 4)
    assert factorized == [1]
