"""simkit on the problem: BDF2, its only integrator of second order, one step a frame.

By default with the cheapest of its settings that keep the motion: one Newton iteration a step (as
simkit's own default), neither line search nor projection of the Hessian. More of them cost more and
change nothing in a motion as small as this.
"""

from __future__ import annotations

import warnings
from importlib.metadata import version

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from benchmarks.peers.measuring import arguments, measure
from benchmarks.peers.problem import Problem

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # names the extras that are not installed; none is needed here
    import simkit
    from simkit import energies
    from simkit.integrators import bdf2

PIN_STIFFNESS = 1e8  # [N/m], of the springs that hold the clamp


class Potential:
    """Elastic energy and pins, as simkit's examples put them together."""

    def __init__(self, problem: Problem, material: str, definite: bool) -> None:
        X, T = problem.vertices, problem.tets
        mu, lam = simkit.ympr_to_lame(problem.young, problem.poisson)
        every = np.ones((len(T), 1))
        self._jacobian = simkit.deformation_jacobian(X, T)
        self._numbers = mu * every, lam * every, simkit.volume(X, T), material
        self._definite = definite
        self._pins, self._pull = simkit.dirichlet_penalty(
            problem.fixed, X[problem.fixed], len(X), PIN_STIFFNESS
        )

    def energy(self, x: NDArray[np.float64]) -> float:
        pins = 0.5 * x.T @ (self._pins @ x) + self._pull.T @ x
        elastic = energies.elastic_energy_x(x.reshape(-1, 3), self._jacobian, *self._numbers)
        return float(elastic) + pins.item()

    def gradient(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        elastic = energies.elastic_gradient_x(x.reshape(-1, 3), self._jacobian, *self._numbers)
        return elastic + self._pins @ x + self._pull

    def hessian(self, x: NDArray[np.float64]) -> sparse.spmatrix:
        elastic = energies.elastic_hessian_x(
            x.reshape(-1, 3), self._jacobian, *self._numbers, psd=self._definite
        )
        return elastic + self._pins


class SimkitMotion:
    """Four levels of positions; those before the release follow the mode, as second order asks."""

    def __init__(self, problem: Problem, potential: Potential, options: dict[str, object]) -> None:
        self._rest, self._potential, self._options = problem.vertices, potential, options
        self._step = 1 / problem.frame_rate
        nodal = simkit.massmatrix(problem.vertices, problem.tets, rho=problem.density)
        self._mass = sparse.kron(nodal, sparse.eye(3)).tocsc()
        angles = 2 * np.pi * problem.frequency * self._step * np.arange(4)
        self._levels = [
            (problem.vertices + np.cos(angle) * problem.start).reshape(-1, 1) for angle in angles
        ]

    def advance(self) -> None:
        potential = self._potential
        after = bdf2(
            *self._levels, potential.energy, potential.gradient, potential.hessian,
            self._mass, self._step, **self._options,
        )  # fmt: skip
        self._levels = [after, *self._levels[:3]]

    def state(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        u = self._levels[0].reshape(-1, 3) - self._rest
        v = energies.kinetic.velocity_bdf2(*self._levels[:3], self._step)
        return u, v.reshape(-1, 3)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--material", default="stvk")
    parser.add_argument("--iterations", type=int, default=1, help="Newton iterations a step")
    parser.add_argument("--line-search", action="store_true")
    parser.add_argument("--definite", action="store_true", help="project the Hessian")
    options = parser.parse_args()
    problem = Problem.load(options.problem)
    potential = Potential(problem, options.material, options.definite)
    newton = {"max_iter": options.iterations, "do_line_search": options.line_search}
    measure(
        options,
        problem,
        lambda: SimkitMotion(problem, potential, newton),
        engine=f"simkit {version('simkit')}",
        settings=f"{options.material}, BDF2, Newton × {options.iterations}",
        steps_per_frame=1,
    )


if __name__ == "__main__":
    main()
