"""Full simulations of posed characters: forces, solvers, steps, and what they refuse."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from tests.refusals import refusals, refused

import supple as sp
from supple.bodies.assembly import Evaluation
from supple.character.rigs import BendRig, BlackBoxRig
from supple.character.tissue.fitting import sound_cells
from supple.character.tissue.full_pose import FullPoseSimulation
from supple.character.tissue.posed_body import PosedBody, PosedCells
from supple.character.tissue.tet_rig import TetRig
from supple.character.training.basis import posed_body

MESH = sp.TetMesh.box(size=(0.6, 0.16, 0.16), cells=(6, 2, 2))
SKIN = MESH.boundary()
TET_RIG = TetRig.of(BendRig(SKIN), MESH)
FLESH = sp.StableNeoHookean(young=4e4, poisson=0.4)
BONE = (np.abs(MESH.vertices[:, 1:] - 0.08) < 1e-9).all(axis=1) & (MESH.vertices[:, 0] < 0.45)
DAMPING = {"mass": 0.5, "stiffness": 1e-3}


def body(material: Any = FLESH, **options: Any) -> sp.Body:
    return sp.Body(MESH, material, **{"fixed": BONE, "mass_model": sp.LumpedMass(), **options})


def along(sim: FullPoseSimulation, bends: np.ndarray) -> np.ndarray:
    """Displacements (frames, n, 3) in poses of one number."""
    found = []
    for bend in bends:
        sim.step([bend])
        found.append(sim.displacements)
    return np.array(found)


def moved(sim: FullPoseSimulation, seconds: float = 0.3, far: float = 1.2) -> np.ndarray:
    """Displacements (frames, n, 3) while the body is bent and stopped."""
    t = np.minimum(sim.dt * np.arange(1, round(seconds / sim.dt) + 1) / 0.15, 1.0)
    return along(sim, far * t * t * (3 - 2 * t))


def test_forces_in_a_pose_are_those_of_a_body_made_of_it() -> None:
    regions = {"near": np.arange(40), "far": np.arange(40, MESH.n_cells)}
    whole = sp.TetMesh(MESH.vertices, MESH.cells, regions)
    two = {"near": FLESH, "far": sp.StVK(young=9e4, poisson=0.3)}
    neutral = sp.Body(whole, two, fixed=whole.where(x=0))
    cells = PosedCells(neutral, neutral.free)
    x = TET_RIG.vertices(np.array([0.8]))
    u = 0.003 * np.random.default_rng(0).standard_normal(x.shape)
    posed = posed_body(neutral, x)
    cells.take_pose(x[cells.vertices])
    masses = neutral.mass_times(np.ones_like(x))[cells.vertices, 0]
    here = cells.shape(PosedBody(neutral, cells, masses), u[cells.vertices])
    assert here.energy == pytest.approx(posed.energy(u), rel=1e-12)
    wanted = posed.force(u)[cells.vertices]
    assert here.gradient == pytest.approx(wanted, abs=1e-12 * np.abs(wanted).max())
    K = posed.stiffness(u).toarray()
    assert cells.pattern.full(here.stiffness).toarray() == pytest.approx(K, abs=1e-12 * K.max())


def test_cells_between_held_vertices_are_left_out() -> None:
    held = MESH.vertices[:, 0] < 0.25
    cells = PosedCells(body(fixed=held), np.repeat(~held[:, None], 3, axis=1))
    assert set(MESH.vertices[cells.vertices, 0].round(9)) == {0.2, 0.3, 0.4, 0.5, 0.6}
    everywhere = FullPoseSimulation(body(fixed=np.ones(MESH.n_vertices, dtype=bool)), TET_RIG)
    everywhere.step([0.5])
    assert not everywhere.displacements.any()


@pytest.mark.parametrize(
    "linear", [sp.LaggedCholesky(), sp.ConjugateGradients()], ids=lambda s: type(s).__name__
)
@pytest.mark.parametrize("iterations", [None, 1])
def test_linear_solvers_agree(linear: sp.LinearSolver, iterations: int | None) -> None:
    def motion(solver: sp.LinearSolver) -> np.ndarray:
        newton = sp.Newton(tolerance=1e-8, iterations=iterations, linear=solver)
        return moved(FullPoseSimulation(body(), TET_RIG, solver=newton, **DAMPING))

    wanted, found = motion(sp.Cholesky()), motion(linear)
    close = 1e-5 if iterations is None else 1e-3
    assert np.abs(wanted).max() > 0.01
    assert found == pytest.approx(wanted, abs=close * np.abs(wanted).max())


def test_one_iteration_comes_close_with_short_steps() -> None:
    apart = []
    for dt in (1 / 60, 1 / 120, 1 / 240):
        both = [
            moved(FullPoseSimulation(body(), TET_RIG, dt=dt, solver=solver, **DAMPING))
            for solver in (sp.Newton(iterations=1, linear=sp.Cholesky()), None)
        ]
        apart.append(np.linalg.norm(both[0] - both[1]) / np.linalg.norm(both[1]))
    assert apart[0] < 0.03
    assert apart[1] < apart[0] / 2
    assert apart[2] < apart[1] / 2


def test_mass_is_lumped_whatever_the_body_has() -> None:
    lumped, consistent = (
        moved(FullPoseSimulation(body(mass_model=model), TET_RIG), 0.1)
        for model in (sp.LumpedMass(), sp.ConsistentMass())
    )
    assert consistent == pytest.approx(lumped, abs=1e-9 * np.abs(lumped).max())


def test_held_components_follow_the_rig() -> None:
    held = np.zeros((MESH.n_vertices, 3), dtype=bool)
    held[MESH.where(x=0.6), 2] = True
    motion = moved(FullPoseSimulation(body(), TET_RIG, held=held, **DAMPING), 0.1)
    assert not motion[:, held].any()
    assert np.abs(motion[:, MESH.where(x=0.6), 0]).max() > 1e-3


@pytest.mark.parametrize("iterations", [None, 1])
def test_neo_hookean_cells_stay_the_right_way_round(iterations: int | None) -> None:
    soft = body(sp.NeoHookean(young=1500.0, poisson=0.4))
    newton = sp.Newton(tolerance=1e-6, max_iterations=60, iterations=iterations)
    sim = FullPoseSimulation(soft, TET_RIG, dt=1 / 30, solver=newton)
    for frame in range(12):
        sim.step([0.9 * np.sin(frame)])
        x = TET_RIG.vertices(sim.pose) + sim.displacements
        assert not sp.TetMesh.inverted(x, MESH.cells).any()


def test_a_matrix_that_is_not_definite_is_stood_in_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A column that is pressed far beyond the load at which it buckles."""
    asked = []
    evaluate = PosedBody.evaluate

    def noted(of: PosedBody, u: np.ndarray, **options: Any) -> Evaluation:
        asked.append(options.get("definite", False))
        return evaluate(of, u, **options)

    monkeypatch.setattr(PosedBody, "evaluate", noted)
    light = body(sp.StVK(young=4e4, poisson=0.3, density=300.0), fixed=MESH.where(x=0))
    newton = sp.Newton(tolerance=1e-6, max_iterations=100)
    sim = FullPoseSimulation(light, TET_RIG, dt=0.1, solver=newton)
    force = np.zeros((MESH.n_vertices, 3))
    end = MESH.where(x=0.6)
    force[end] = np.array([-60.0, 0.0, 0.1]) / len(end)
    for _ in range(20):
        sim.step([0.0], force=force)
    assert any(asked)
    assert np.abs(sim.displacements[end, 2]).max() > 0.1


def test_an_impossible_pose_is_refused_and_leaves_the_state() -> None:
    def flat(pose: np.ndarray) -> np.ndarray:
        return SKIN.vertices * [1, 1, 1 - pose[0]]

    rig = BlackBoxRig(flat, SKIN.triangles, np.zeros(1))
    sim = FullPoseSimulation(body(), TetRig.of(rig, MESH))
    sim.step([0.1])
    before = sim.displacements
    refused("inside out in this pose, the first is cell", sim.step, [2.0])
    assert (sim.displacements == before).all()
    assert sim.pose == pytest.approx([0.1])
    sim.step([0.2])


def test_cells_without_force_may_be_pressed_flat() -> None:
    """The far end is turned over; tets of what is left of the body move as by themselves."""

    def folded(pose: np.ndarray) -> np.ndarray:
        x = SKIN.vertices.copy()
        x[x[:, 0] > 0.41, 2] *= 1 - pose[0]
        x[:, 1] += 0.05 * np.sin(9 * pose[0])
        return x

    tet_rig = TetRig.of(BlackBoxRig(folded, SKIN.triangles, np.zeros(1)), MESH)
    bends = np.linspace(0.0, 2.0, 20)[1:]
    flat = ~sound_cells(tet_rig, bends[:, None])
    assert 0 < flat.sum() < MESH.n_cells
    sim = FullPoseSimulation(body(fixed=MESH.where(x=0)), tet_rig, without=flat, **DAMPING)
    motion = along(sim, bends)
    alone = np.setdiff1d(np.arange(MESH.n_vertices), MESH.cells[~flat])
    assert len(alone)
    assert not motion[:, alone].any()
    assert 1e-3 < np.abs(motion).max() < 0.3


test_what_cannot_be_simulated_is_refused = refusals(
    ({"body": sp.Body(sp.HexMesh.box((1, 1, 1), (1, 1, 1)), FLESH)}, "a rig moves a TetMesh"),
    ({"body": sp.Body(sp.TetMesh.box((1, 1, 1), (1, 1, 1)), FLESH)}, "make both of one mesh"),
    ({"tet_rig": BendRig(SKIN)}, "tet_rig"),
    ({"solver": sp.DenseNewton()}, "iterations=1"),
    ({"held": BONE}, "held has shape"),
    ({"without": np.array([3, 5])}, "without has shape"),
    make=lambda given: FullPoseSimulation(**{"body": body(), "tet_rig": TET_RIG, **given}),
)


def test_rules_of_several_stages_are_refused() -> None:
    sim = FullPoseSimulation(body(), TET_RIG, integrator=sp.TRBDF2())
    refused("has several stages", sim.step, [0.1])


def test_a_moment_to_go_back_to():
    sim, twin = (FullPoseSimulation(body(), TET_RIG, **DAMPING) for _ in range(2))
    bends = np.linspace(0.0, 0.5, 6)
    for each in (sim, twin):
        along(each, bends)
    kept = sim.snapshot()
    end = along(twin, bends[::-1])
    sim.gravity, sim.dt = (0, 0, -3), 1 / 100
    along(sim, bends)
    for _ in range(2):
        sim.restore(kept)
        assert sim.dt == 1 / 60
        assert np.array_equal(along(sim, bends[::-1]), end)
    refused("another simulation", sim.restore, twin.snapshot())
    refused("did you mean gravity", setattr, sim, "gravty", 1.0)
    refused("snapshot", copy.copy, sim)
