"""MuJoCo on the problem: a 3D flex of tetrahedra whose vertices at the clamp are pinned.

MuJoCo 4 takes flex elasticity implicitly with the integrator ``discrete`` (linearly implicit Euler,
which damps by itself; stable at any step) or explicitly with ``Euler`` (semi-implicit, so without
damping, but only stable at small steps). It refuses ``implicit`` and ``implicitfast`` for a flex;
``RK4`` is explicit too and dearer. The solver is CG, a little faster here than Newton; tolerance
and iteration limit are MuJoCo's defaults.
"""

from __future__ import annotations

import os
from math import ceil

import mujoco
import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.measuring import arguments, measure
from benchmarks.peers.problem import Problem

MODEL = """
<mujoco>
  <option timestep="{step!r}" integrator="{integrator}" solver="CG" gravity="0 0 0">
    <flag contact="disable" autoreset="disable"/>
  </option>
  <worldbody>
    <flexcomp name="beam" type="direct" dim="3" radius="0" mass="{mass!r}"
              point="{points}" element="{elements}">
      <pin id="{pins}"/>
      <elasticity young="{young}" poisson="{poisson}" damping="0"/>
      <edge damping="0"/>
      <contact selfcollide="none" contype="0" conaffinity="0"/>
    </flexcomp>
  </worldbody>
</mujoco>
"""

SAFETY = 1.03  # strains of a percent shift the stability limit of the shape at rest


class MujocoMotion:
    def __init__(self, problem: Problem, model: mujoco.MjModel, steps: int) -> None:
        self._model, self._steps = model, steps
        self._data = mujoco.MjData(model)
        mujoco.mju_threadpool(self._data, os.cpu_count() or 1)
        self._free, self._slots = _degrees_of_freedom(model)
        self._shape = problem.vertices.shape
        self._data.qpos[self._slots] = problem.start[self._free]

    def advance(self) -> None:
        mujoco.mj_step(self._model, self._data, nstep=self._steps)

    def state(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        u, v = np.zeros(self._shape), np.zeros(self._shape)
        u[self._free] = self._data.qpos[self._slots]
        v[self._free] = self._data.qvel[self._slots]
        return u, v

    def warnings(self) -> str:
        """How often MuJoCo warned that it stopped solving for accelerations before convergence."""
        count = self._data.warning[mujoco.mjtWarning.mjWARN_INERTIA].number
        return f"not converged in {count} steps" if count else ""


def _model(problem: Problem, integrator: str, steps: int) -> mujoco.MjModel:
    model = mujoco.MjModel.from_xml_string(
        MODEL.format(
            step=1 / (problem.frame_rate * steps),
            integrator=integrator,
            mass=float(problem.masses.sum()),
            young=problem.young,
            poisson=problem.poisson,
            points=_words(problem.vertices),
            elements=_words(problem.tets),
            pins=_words(problem.fixed),
        )
    )
    # flexcomp gives every vertex the same mass; give each the mass of the tets around it.
    free, _ = _degrees_of_freedom(model)
    bodies = model.flex_vertbodyid[free]
    model.body_inertia[bodies] *= (problem.masses[free] / model.body_mass[bodies])[:, None]
    model.body_mass[bodies] = problem.masses[free]
    mujoco.mj_setConst(model, mujoco.MjData(model))
    return model


def _degrees_of_freedom(model: mujoco.MjModel) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Vertices that are not pinned, (k,), and the places of their coordinates in qpos, (k, 3).

    A vertex that moves is a body of its own with three sliding joints, so places in qpos and qvel
    are the same.
    """
    bodies = model.flex_vertbodyid
    free = np.flatnonzero(bodies)
    return free, model.body_dofadr[bodies[free]][:, None] + np.arange(3)


def _words(numbers: NDArray[np.generic]) -> str:
    return " ".join(map(repr, numbers.ravel().tolist()))


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--integrator", choices=("discrete", "Euler"), default="discrete")
    parser.add_argument(
        "--steps", type=int, help="steps a frame, by default as few as an explicit integrator needs"
    )
    options = parser.parse_args()
    problem = Problem.load(options.problem)
    steps = options.steps or ceil(SAFETY / (problem.frame_rate * problem.explicit_step))
    model = _model(problem, options.integrator, steps)
    measure(
        options,
        problem,
        lambda: MujocoMotion(problem, model, steps),
        engine=f"mujoco {mujoco.__version__}",
        settings=f"StVK flex, {options.integrator}",
        steps_per_frame=steps,
        note=MujocoMotion.warnings,
    )


if __name__ == "__main__":
    main()
