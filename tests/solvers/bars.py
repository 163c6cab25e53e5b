"""A small bar that is kicked, and how well forces balance after a step."""

from __future__ import annotations

import numpy as np
from tests.helpers import shaken, soft, stepped

import supple as sp
from supple.dynamics.problem import BodyProblem
from supple.dynamics.terms import terms_of
from supple.dynamics.terms.base import StageStart
from supple.integrators import State

CLOSE = sp.ADMM(tolerance=1e-8, max_iterations=3000)
BAR = shaken(sp.TetMesh.box((1.0, 0.4, 0.3), (3, 1, 1)), size=0.03)
AT_WALL = np.argsort(BAR.vertices[:, 0])[:4]
DT = 0.02


def bar(material: type[sp.Material] = sp.StableNeoHookean, **changes: object) -> sp.Body:
    """A soft bar of 18 cells, held at one end."""
    options = {"fixed": AT_WALL, "mass_model": sp.LumpedMass()} | changes
    return sp.Body(BAR, soft(material, young=2e4), **options)  # type: ignore[arg-type]


def kicked(body: sp.Body, solver: sp.StageSolver, steps: int = 3, **options: object):
    """A simulation some steps after a kick, in which cells are strained by a few percent."""
    options = {"gravity": (0, 0, -9.81), "dt": DT, "integrator": sp.BackwardEuler()} | options
    sim = sp.Simulation(body, solver=solver, **options)  # type: ignore[arg-type]
    v = np.random.default_rng(1).normal(size=(body.n_vertices, 3))
    sim.state.v = np.where(body.free, v, 0.0)
    return stepped(sim, steps)


def unbalanced(body: sp.Body, solver: sp.StageSolver, u: np.ndarray | None = None, **options):
    """The force left after a step of BackwardEuler, as Newton's method measures it."""
    sim = kicked(body, solver, steps=0, **options)
    if u is not None:
        sim.state.u, sim.state.v = u, 0 * u
    now = State(sim.state.time, sim.state.u, sim.state.v, np.zeros_like(sim.state.u))
    stage = next(sp.BackwardEuler().stages(now, None, sim.dt))
    sim.step()
    damping = [] if sim.damping is None else [sim.damping]
    problem = BodyProblem(body, terms_of(body, damping, sim.obstacles))
    problem.begin(StageStart(stage, body.weight(sim.gravity), now, now.u))
    here = problem.linearize(stage, sim.state.u)
    return float(np.linalg.norm(here.residual[body.free])) / here.scale
