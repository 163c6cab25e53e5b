"""The compiled side of a character in motion: its state, and room for a step."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from supple._kernels.character import frame as pose_frame
from supple._kernels.character import path as pose_path
from supple._kernels.character import stage as pose_stage
from supple._kernels.character.basis import interpolate_mass, weigh
from supple._kernels.character.inertia import add_inertia
from supple._kernels.character.stage import Options, Stages
from supple._kernels.character.state import keep
from supple._kernels.elasticity.material_call import address_of
from supple._kernels.reduction import stepping
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.runtime.arrays import StepArrays
from supple.character.runtime.damping import PoseDamping
from supple.character.runtime.rig import Path, Sample
from supple.core.types import Floats
from supple.damping import Damping
from supple.reduction.runtime.newton import DenseNewton

_THINNEST = 0.01  # det F that a step may leave in a cell that must not turn inside out
_FARTHEST = 10.0  # times the body: flesh that is further away than this has run away
_UNSEEN = 1e-13  # of the body's size: corrections below this are rounding


class Bounds(NamedTuple):
    """What of the rig's motion is felt."""

    cut: float
    """A frame that leaves the path by more is a cut [m]."""
    acceleration: float
    """[m/s²]"""
    jump: float
    """Of a speed: as much is felt at once, however short a frame is [m/s]."""


class StepSolver:
    """The state of a character and room for everything on the way.

    ``room.rig_history`` is to the vertices that stand for the rig's inertia what ``room.history``
    is to the coordinates: what the integrator makes of positions, it makes of theirs too, so that
    the inertial force is as accurate as the rule. With ``by_path`` the acceleration is that of the
    cubic through the last four frames, for rules in which rates would ring.
    """

    def __init__(
        self,
        model: PoseSpaceModel,
        arrays: StepArrays,
        vectors: int,
        damping: Damping | None,
        newton: DenseNewton,
        gravity: Floats,
        bounds: Bounds,
        by_path: bool,
    ) -> None:
        self._made_of = (model, arrays, vectors, damping, newton, gravity, bounds, by_path)
        self._arrays = arrays.arrays
        self.room = arrays.room(vectors)
        self._damping = found = PoseDamping.of(damping, model)
        size = float(np.linalg.norm(np.ptp(model.tet_rig.mesh.vertices, axis=0)))
        self._options = Options(
            material=address_of(model.material.evaluate),
            gravity=gravity,
            alpha=found.mass,
            beta=0.0 if found.at_rest else found.stiffness,
            beta_at_rest=found.stiffness if found.at_rest else 0.0,
            max_acceleration=bounds.acceleration,
            max_jump=bounds.jump,
            by_path=by_path,
            cut_distance=bounds.cut,
            thinnest=-np.inf if model.material.survives_inversion else _THINNEST,
            max_iterations=newton.max_iterations,
            tolerance=newton.tolerance,
            nothing=_UNSEEN * size * float(np.sqrt(model.masses.sum())),
            farthest=(_FARTHEST * size) ** 2 * float(model.masses.sum()),
        )
        self._kept = keep(self._arrays, self.room, self._options, found.examples)

    def twin(self) -> StepSolver:
        """The same with a state and room of its own."""
        return StepSolver(*self._made_of)

    def __getstate__(self) -> dict[str, Any]:
        return {"made_of": self._made_of, "room": self.room, "taken": self._taken}

    def __setstate__(self, state: dict[str, Any]) -> None:
        StepSolver.__init__(self, *state["made_of"])
        for array, kept in zip(self.room, state["room"], strict=True):
            array[...] = kept
        self._taken = state["taken"]

    # -- the state -----------------------------------------------------------------------

    def stand(self, at: Sample) -> None:
        """The rig is at rest in a pose."""
        pose_path.stand(at.x, self._arrays.places, self.room.rig_history)
        self.room.lag[:] = 0.0

    def forget(self) -> None:
        """The state was set: what was before counts no more."""
        history = self.room.history
        history[2:] = 0.0
        history[3] = history[6] = history[0]

    def kinetic(self) -> float:
        v = self.room.history[1]
        return 0.5 * float(v @ self.room.M @ v)

    def elastic(self) -> float:
        q = self.room.history[0]
        self.forces(q)
        return float(self.room.volumes @ self.room.psi[:, 0] + 0.5 * q @ self.room.gap @ q)

    # -- the model of a pose -------------------------------------------------------------

    def weigh(self, sample: Sample) -> None:
        """Weights of the poses (Eq. 2), M̃ and Υ (Eqs. 15–16)."""
        model, room = self._arrays, self.room
        weigh(
            sample.features, model.features, model.coefficients, model.rounding,
            room.distances, room.w,
        )  # fmt: skip
        interpolate_mass(room.w, model, room.entries, room.M, room.scale)

    def take_pose(self, sample: Sample) -> None:
        """Everything that depends on the pose alone."""
        self._taken = sample
        self.forces(self.room.history[0])

    def forces(self, q: Floats) -> None:
        """R and K (Eqs. 21–22) at q, in the pose that was taken."""
        pose_stage.model_pose(*self._taken, q, self._kept)

    # -- steps ---------------------------------------------------------------------------

    def settle(self, force: Floats) -> None:
        """a from M̃ a = f − C̃ v − R at the state as it is, in the pose that was taken."""
        room, options = self.room, self._options
        q, v = room.history[0], room.history[1]
        self.forces(q)
        f = force.copy()
        add_inertia(
            0.0, room.rig, room.rig, self._taken.frames, options.gravity, room.w, room.scale,
            self._arrays, room.U, f,
        )  # fmt: skip
        damping = self._damping.force(q, v, room.C + options.beta * room.K)
        room.history[2] = np.linalg.solve(room.M, f - room.R - damping)
        room.history[3] = room.history[6] = q

    def run(
        self,
        path: Path,
        moving: bool,
        told: Sample,
        count: int,
        rule: tuple[Stages, Stages],
        has_past: bool,
        jumps: bool,
        force: Floats,
        pushed: Floats,
    ) -> tuple[int, float, bool]:
        """``pose_frame.run_frame`` with this state, which is as it was where anything is raised."""
        room = self.room
        try:
            found: tuple[int, float, bool] = pose_frame.run_frame(
                path, moving, told, count, *rule, has_past, jumps, force, pushed, self._kept
            )
        except BaseException:  # of a material in Python, or an interruption
            room.history[:], room.rig_history[:] = room.saved, room.rig_saved
            self.weigh(self._taken)
            raise
        if found[0] == stepping.DONE:
            self._taken = path.end
        else:
            self.take_pose(self._taken)
        return found
