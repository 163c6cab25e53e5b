"""Multigrid: a symmetric preconditioner whose iterations do not grow with the body."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from tests.refusals import refused

import supple as sp
from supple.solvers.interface import NotPositiveDefinite
from supple.solvers.linear import pardiso
from supple.solvers.linear.levels import Levels
from supple.solvers.linear.multigrid import interpolations as by_graph
from supple.yarns import WovenCloth, Yarn, YarnDamping, YarnNet
from supple.yarns.coarsening import interpolations
from supple.yarns.stages import YarnStage, YarnState
from supple.yarns.step import StepPotential

SPACING = 5e-4


def tube(around: int = 24, high: int = 31) -> YarnNet:
    """Wefts run round, warps up; with a hole, and an upper edge that slants."""
    i, j = (each.ravel() for each in np.indices((around, high)))
    angle = 2 * np.pi * i / around
    radius = around * SPACING / (2 * np.pi)
    positions = np.stack([radius * np.cos(angle), radius * np.sin(angle), SPACING * j], axis=1)
    kept = (j < high - i // 3) & ~((i > 7) & (i < 14) & (j > 9) & (j < 18))
    number = np.where(kept, np.cumsum(kept) - 1, -1).reshape(around, high)
    along = np.full((around, high, 2, 2), -1)
    along[:, 1:, 0, 0], along[:, :-1, 0, 1] = number[:, :-1], number[:, 1:]
    along[1:, :, 1, 0], along[:-1, :, 1, 1] = number[:-1], number[1:]
    arcs = np.stack([SPACING * j, SPACING * i], axis=1)
    top = (i + j) % 2 == 0
    return YarnNet(positions[kept], arcs[kept], along.reshape(-1, 2, 2)[kept], top[kept])


def woven(net: YarnNet) -> WovenCloth:
    yarn = Yarn(radius=1.2e-4, linear_density=5e-5, stretch=0.5, bending=2e-9)
    return WovenCloth(net, warp=yarn, shear=1e-7, friction=0.3)


def system(net: YarnNet):
    """Pattern, blocks, free components and right-hand side of a step of 1 ms."""
    body = woven(net)
    q = body.rest_state
    q[:, 2] += 2 * SPACING * np.sin(net.positions[:, 0] / (3 * SPACING))
    still = YarnState(0.0, q, np.zeros_like(q), np.zeros_like(q))
    stage = YarnStage.backward_euler(still, 1e-3, 1e-3)
    damping = YarnDamping(stretch=3e-3, bending=0.1)
    step = StepPotential(body, damping, np.array([0, 0, -9.81]), stage)
    gradient, values = np.empty_like(q), np.empty((body.pattern.n_blocks, 5, 5))
    step.evaluate(q, gradient, values, definite=True)
    free = np.ones(q.shape, dtype=bool)
    free[net.positions[:, 1] >= net.positions[:, 1].max() - 1e-9, :3] = False
    free[net.edge, 3:] = False
    return body.pattern, values, free, np.where(free, -gradient, 0.0)


NETS = {
    "patch": partial(YarnNet.patch, 30, 41, spacing=SPACING),
    "uneven patch": partial(YarnNet.patch, 21, 40, spacing=(SPACING, 2 * SPACING)),
    "cut tube": tube,
}
each_net = pytest.mark.parametrize("name", NETS)


@each_net
def test_interpolation_is_linear_along_yarns(name):
    net = NETS[name]()
    positions = net.arc_lengths
    found = interpolations(net.along, net.arc_lengths, 60)
    assert len(found) >= 2
    for P in found:
        coarse = np.flatnonzero(np.diff(P.indptr) == 1)
        assert P.shape[0] == len(positions)
        kept = np.zeros((P.shape[1], 2))
        kept[P.indices[P.indptr[coarse]]] = positions[coarse]
        np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-12)
        linear = np.isclose(P @ kept, positions, atol=1e-12).all(axis=1)
        assert linear.mean() > 0.95  # corners aside
        assert 0.2 < P.shape[1] / P.shape[0] < 0.4
        positions = kept


@each_net
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cycle_is_symmetric_and_positive(name, dtype):
    pattern, values, free, _ = system(NETS[name]())
    levels = Levels(pattern, free, pattern.coarsening(60), dtype)
    levels.take(values)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, *free.shape)) * free
    Mx, My = levels.apply(x), levels.apply(y)
    eps = 100 * np.finfo(dtype).eps
    size = np.sqrt(np.vdot(x, Mx) * np.vdot(y, My))
    assert abs(np.vdot(x, My) - np.vdot(y, Mx)) < eps * size
    assert np.vdot(x, Mx) > 0
    assert not Mx[~free].any()


@each_net
def test_multigrid_equals_cholesky(name):
    pattern, values, free, rhs = system(NETS[name]())
    exact = sp.Cholesky().bind(pattern, free)
    exact.take(values)
    x = exact.solve(rhs)
    solver = sp.Multigrid(coarsest=60).bind(pattern, free)
    solver.take(values)
    np.testing.assert_allclose(solver.solve(rhs, 1e-10), x, atol=1e-7 * abs(x).max())
    solver.take(1.1 * values)  # with the levels of the first one
    np.testing.assert_allclose(solver.solve(rhs, 1e-10), x / 1.1, atol=1e-7 * abs(x).max())


def test_iterations_do_not_grow_with_the_net():
    counts = []
    for warps, wefts in ((21, 31), (41, 61), (81, 121)):
        pattern, values, free, rhs = system(YarnNet.patch(warps, wefts, spacing=SPACING))
        solver = sp.Multigrid(coarsest=200).bind(pattern, free)
        solver.take(values)
        solver.solve(rhs, 1e-3)
        counts.append(solver.iterations)
    assert max(counts) <= 12
    assert counts[2] <= counts[1] + 2


def test_threads_change_the_order_of_sweeps_only(monkeypatch):
    pattern, values, free, rhs = system(YarnNet.patch(60, 80, spacing=SPACING))
    found = []
    for threads in (1, 2, 3):
        monkeypatch.setattr("supple.solvers.linear.levels.thread_count", threads.__int__)
        monkeypatch.setattr("supple.solvers.linear.levels._WORTH_A_THREAD", 100)
        solver = sp.Multigrid(coarsest=200).bind(pattern, free)
        solver.take(values)
        found.append((solver.solve(rhs, 1e-10), solver.iterations))
    for x, iterations in found[1:]:
        np.testing.assert_allclose(x, found[0][0], atol=1e-7 * abs(x).max())
        assert abs(iterations - found[0][1]) <= 2


def test_levels_are_renewed_when_they_no_longer_serve():
    pattern, values, free, rhs = system(NETS["patch"]())
    solver = sp.Multigrid(coarsest=60).bind(pattern, free)
    solver.take(values)
    solver.solve(rhs, 1e-6)
    fresh = solver.iterations
    other = values.copy()
    other[:, :3, :3] *= 30.0
    counts = []
    for _ in range(4):
        solver.take(other)
        solver.solve(rhs, 1e-6)
        counts.append(solver.iterations)
    assert counts[0] > fresh
    assert max(counts[1:]) < counts[0] <= 3 * fresh  # old levels are given up in time


def test_indefinite_matrix_is_refused():
    pattern, values, free, rhs = system(NETS["patch"]())
    bad = values.copy()
    bad[pattern.indptr[:-1]] -= 1.5 * np.abs(bad[pattern.indptr[:-1]])
    solver = sp.Multigrid(coarsest=60).bind(pattern, free)
    single = solver.memory()

    def attempt():
        solver.take(bad)
        solver.solve(rhs, 1e-6)

    with pytest.raises(NotPositiveDefinite):
        attempt()
    assert solver.memory() == single  # not precision was at fault
    solver.take(values)
    left = (pattern.multiply(values, solver.solve(rhs, 1e-6)) - rhs) * free
    assert np.linalg.norm(left) < 1e-5 * np.linalg.norm(rhs)


def test_too_stiff_for_single_precision_goes_on_in_double():
    net = NETS["patch"]()
    pattern, values, free, rhs = system(net)
    rest = np.hstack([net.positions, net.arc_lengths])
    light = values - 0.999999e6 * woven(net).mass_values(rest)
    free[:] = True  # so that nothing but mass keeps the cloth from drifting
    light[pattern.indptr[:-1], 3:, 3:] += 0.01 * np.eye(2)
    solver = sp.Multigrid(coarsest=60).bind(pattern, free)
    solver.take(light)
    x = solver.solve(rhs, 1e-6)
    left = pattern.multiply(light, x) - rhs
    assert np.linalg.norm(left) < 1e-5 * np.linalg.norm(rhs)


@pytest.mark.parametrize("fast", [True, False])
def test_automatic_solver_takes_multigrid_for_large_nets(fast, monkeypatch):
    if not fast:
        monkeypatch.setattr(pardiso, "library", lambda: None)
    pattern, values, free, rhs = system(NETS["patch"]())
    chosen = sp.AutomaticSolver(multigrid_from=1000).bind(pattern, free)
    assert type(chosen) is type(sp.Multigrid().bind(pattern, free))
    chosen.take(values)
    assert np.isfinite(chosen.solve(rhs, 1e-6)).all()


def beam(cells: int):
    """Pattern, blocks, free components and weight of a beam at 60 Hz."""
    mesh = sp.TetMesh.box(size=(2, 1, 1), cells=(2 * cells, cells, cells))
    body = sp.Body(mesh, sp.StVK(young=1e5, poisson=0.4), fixed=mesh.where(x=0))
    values = body.evaluate(0.0 * mesh.vertices, order=2).stiffness.copy()
    values += 3600 * body.mass_values[:, None, None] * np.eye(3)
    weight = np.where(body.free, (0.0, 0.0, -1.0), 0.0)
    return body.pattern, values, body.free, weight


def test_solids_leave_out_nodes_by_their_graph():
    counts = []
    for cells in (5, 10):
        pattern, values, free, rhs = beam(cells)
        solver = sp.Multigrid(coarsest=20).bind(pattern, free)
        solver.take(values)
        x = solver.solve(rhs, 1e-9)
        left = np.where(free, pattern.multiply(values, x) - rhs, 0.0)
        assert np.linalg.norm(left) < 1e-8 * np.linalg.norm(rhs)
        solver.solve(rhs, 1e-3)
        counts.append(solver.iterations)
    assert max(counts) <= 12
    assert counts[1] <= counts[0] + 3


def test_interpolation_by_graph_keeps_constants():
    pattern = beam(6)[0]
    for P in by_graph(pattern, 20):
        np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-6)
        assert P.min() >= 0
        assert P.shape[1] < 0.2 * P.shape[0]


@pytest.mark.parametrize("option", ["coarsest", "max_iterations"])
def test_options_are_checked(option):
    refused(option, sp.Multigrid, **{option: 0})
