"""Supple on the problem: full space, TR-BDF2, one step a frame."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import supple as sp
from benchmarks.peers.measuring import arguments, measure
from benchmarks.peers.problem import Problem

MATERIALS = {material.__name__: material for material in (sp.StVK, sp.NeoHookean)}


class SuppleMotion:
    def __init__(self, problem: Problem, body: sp.Body) -> None:
        self._simulation = sp.Simulation(body, integrator=sp.TRBDF2(), dt=1 / problem.frame_rate)
        self._simulation.state.u = problem.start

    def advance(self) -> None:
        self._simulation.step()

    def state(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return self._simulation.state.u, self._simulation.state.v


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--material", choices=MATERIALS, default="StVK")
    options = parser.parse_args()
    problem = Problem.load(options.problem)
    material = MATERIALS[options.material](
        young=problem.young, poisson=problem.poisson, density=problem.density
    )
    mesh = sp.TetMesh(problem.vertices, problem.tets)
    body = sp.Body(mesh, material, fixed=problem.fixed, mass_model=sp.LumpedMass())
    measure(
        options,
        problem,
        lambda: SuppleMotion(problem, body),
        engine=f"supple {sp.__version__}",
        settings=f"{options.material}, TRBDF2",
        steps_per_frame=1,
    )


if __name__ == "__main__":
    main()
