"""The compiled side of a character in motion: its state, and room for a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np

from supple._kernels.character import energy
from supple._kernels.character import frame as pose_frame
from supple._kernels.character import rig_path as pose_path
from supple._kernels.character import stage as pose_stage
from supple._kernels.character.basis import interpolate_mass, interpolation_weights
from supple._kernels.character.forces import add_inertia
from supple._kernels.character.stage import Options, Workspace, step_context
from supple._kernels.elasticity.material_call import address_of
from supple._kernels.reduction.newton import DONE
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.runtime.arrays import StepArrays
from supple.character.runtime.damping import PoseDamping
from supple.character.runtime.rig import Path, Sample
from supple.core.types import Floats
from supple.damping import Damping
from supple.reduction.runtime.newton import DenseNewton

_MIN_DET_F = 0.01  # det F that a step may leave in a cell that must not turn inside out
_FARTHEST = 10.0  # times the body: flesh that is further away than this has run away
_UNSEEN = 1e-13  # of the body's size: corrections below this are rounding
_TINY = 1e-3  # of the body's size: energy with which the slowest vibration goes as far is let be
_SMALL = 3e-3  # and energy with which it goes less far is looked at in every fourth step
_GAINS = {1: 0.01, 2: 0.1}  # share of the energy at play that a rule may make of nothing, by order
_WANDERS = 0.6  # and one that keeps rates, whose energy comes and goes
_THOROUGH = 8  # iterations of a step that is taken again, where fewer are asked for


_OPTIONS = ("vectors", "damping", "newton", "gravity", "bounds", "path_acceleration", "order")


class Bounds(NamedTuple):
    """What of the rig's motion is felt."""

    cut: float
    """A frame that leaves the path by more is a cut [m]."""
    acceleration: float
    """[m/s²]"""
    jump: float
    """Of a speed: as much is felt at once, however short a frame is [m/s]."""
    speed: float
    """A frame that changes the speed of parts against each other by more is a cut [m/s]."""


@dataclass(eq=False)
class StepSolver:
    """The state of a character and room for everything on the way.

    ``workspace.rig_history`` is to the vertices that stand for the rig's inertia what
    ``workspace.history`` is to the coordinates: what the integrator makes of positions, it makes of
    theirs too, so that the inertial force is as accurate as the rule. With ``path_acceleration``
    the acceleration is that of the cubic through the last four frames, for rules in which rates
    would ring.
    """

    model: PoseSpaceModel
    arrays: StepArrays
    vectors: int
    damping: Damping | Sequence[Damping] | None
    newton: DenseNewton
    gravity: Floats
    bounds: Bounds
    path_acceleration: bool
    order: int
    """Of the rule."""

    def __post_init__(self) -> None:
        model, newton, bounds = self.model, self.newton, self.bounds
        self._arrays = self.arrays.arrays
        self.workspace = self.arrays.workspace(self.vectors)
        self._damping = found = PoseDamping.of(self.damping, model, self.arrays.cells)
        size = float(np.linalg.norm(np.ptp(model.tet_rig.mesh.vertices, axis=0)))
        mass = float(model.masses.sum())
        slowest = float(np.sqrt(max(model.squares[:, 0].min(), 0.0)))
        swing = 0.5 * (slowest * size) ** 2 * mass  # of the whole body by its size
        self._options = Options(
            material=address_of(model.material.evaluate),
            gravity=self.gravity,
            beta=found.beta,
            beta_at_rest=found.beta_at_rest,
            max_acceleration=bounds.acceleration,
            max_jump=bounds.jump,
            path_acceleration=self.path_acceleration,
            cut_distance=bounds.cut,
            cut_speed=bounds.speed,
            min_det_F=-np.inf if model.material.survives_inversion else _MIN_DET_F,
            max_iterations=newton.most,
            best_effort=newton.is_best_effort,
            tolerance=newton.tolerance,
            rounding=_UNSEEN * size * float(np.sqrt(mass)),
            max_norm_square=(_FARTHEST * size) ** 2 * mass,
            order=min(self.order, 2),
            may_gain=_WANDERS if self.path_acceleration else _GAINS[min(self.order, 2)],
            unseen=_TINY**2 * swing,
            small=_SMALL**2 * swing,
            short=1.0 / slowest if slowest else np.inf,
        )
        self._context = self._context_with(self._options)
        self._others: dict[tuple[bool, bool], Any] = {}

    def _context_with(self, options: Options) -> Any:
        found = self._damping
        return step_context(
            self._arrays, self.workspace, options, found.constants, found.laws, found.examples
        )

    def _context_for(self, settling: bool, thorough: bool) -> Any:
        """What steps are taken with that go by backward Euler, or with more iterations."""
        if not (settling or thorough):
            return self._context
        key = settling, thorough
        if key not in self._others:
            options = self._options
            if thorough:
                options = options._replace(max_iterations=max(options.max_iterations, _THOROUGH))
            if settling:
                options = options._replace(may_gain=_GAINS[1], order=1)
            self._others[key] = self._context_with(options)
        return self._others[key]

    def copy(self) -> StepSolver:
        """The same with a state and room of its own."""
        return replace(self)

    def changed(self, **fields: Any) -> StepSolver:
        """The same with other options, going on from this state."""
        other = replace(self, **fields)
        for array, kept in zip(_flat(other.workspace), _flat(self.workspace), strict=True):
            rows = min(len(array), len(kept)) if array.ndim else 0  # of rules with more stages
            array[:rows] = kept[:rows]
        other._taken = self._taken
        return other

    def state(self) -> tuple[Any, ...]:
        """The arrays that the next step depends on, themselves; kernels fill in all others."""
        room = self.workspace
        return (
            room.history, room.rig_history, room.w, room.gap_w, room.scale, room.gap,
            room.balance.M, room.excess, room.lag, room.effective, room.account, room.external,
            room.counts,
        )  # fmt: skip

    @property
    def options(self) -> dict[str, Any]:
        """What can be changed."""
        return {name: getattr(self, name) for name in _OPTIONS}

    @property
    def taken(self) -> Sample:
        """The pose that the rest of the arrays are of."""
        return self._taken

    @taken.setter
    def taken(self, sample: Sample) -> None:
        self._taken = sample

    def __getstate__(self) -> dict[str, Any]:
        made_of = [getattr(self, each.name) for each in fields(self)]
        return {"made_of": made_of, "room": self.workspace, "taken": self._taken}

    def __setstate__(self, state: dict[str, Any]) -> None:
        StepSolver.__init__(self, *state["made_of"])
        for array, kept in zip(_flat(self.workspace), _flat(state["room"]), strict=True):
            array[...] = kept
        self._taken = state["taken"]

    # -- the state -----------------------------------------------------------------------

    def rest_rig(self, at: Sample) -> None:
        """The rig is at rest in a pose."""
        pose_path.rest_rig(at.x, self._arrays.places, self.workspace.rig_history)
        self.workspace.lag[:] = 0.0

    def come_to_rest(self) -> None:
        """Flesh is where the rig has it, and at rest."""
        workspace = self.workspace
        for each in (workspace.history, workspace.account, workspace.external):
            each[:] = 0.0

    def drop_history(self) -> None:
        """The state was set: what was before counts no more."""
        history = self.workspace.history
        history[2:] = 0.0
        history[3] = history[6] = history[0]

    # -- the model of a pose -------------------------------------------------------------

    def interpolation_weights(self, sample: Sample) -> None:
        """Weights of the poses (Eq. 2), M̃ and Υ (Eqs. 15–16)."""
        model, workspace = self._arrays, self.workspace
        w, M = workspace.w, workspace.balance.M
        interpolation_weights(sample.features, model.poses, workspace.distances, w)
        interpolate_mass(w, model, workspace.entries, M, workspace.scale)

    def take_pose(self, sample: Sample) -> None:
        """Everything that depends on the pose alone."""
        self._taken = sample
        self.forces(self.workspace.history[0])

    def jump_to(self, sample: Sample) -> None:
        """Into another pose at once, with no more energy than there was."""
        energy.jump_to_pose(*sample, self._context)
        self.take_pose(sample)

    def rest_in(self, sample: Sample) -> None:
        """The same at half of its way from the rig, and at rest."""
        energy.rest_in_pose(*sample, self._context)
        self.take_pose(sample)

    def forces(self, q: Floats) -> None:
        """R and K (Eqs. 21–22) at q, in the pose that was taken."""
        pose_stage.model_pose(*self._taken, q, self._context)

    # -- steps ---------------------------------------------------------------------------

    def find_acceleration(self, force: Floats) -> None:
        """a from M̃ a = f − C̃ v − R at the state as it is, in the pose that was taken."""
        workspace, options = self.workspace, self._options
        q, v = workspace.history[0], workspace.history[1]
        self.forces(q)
        energy.open_account(self._context)
        f = force.copy()
        add_inertia(
            0.0, workspace.rig.x, workspace.rig.x, self._taken.frames, options.gravity, workspace.w,
            workspace.scale, self._arrays, workspace.U, f,
        )  # fmt: skip
        balance = workspace.balance
        rest = f - balance.R - self.damping_force(q, v)
        workspace.history[2] = np.linalg.solve(balance.M, rest)
        workspace.history[3] = workspace.history[6] = q

    def damping_force(self, q: Floats, v: Floats) -> Floats:
        """Of rates v (r,) at q (r,), in the pose that was taken and modelled at q."""
        balance, found = self.workspace.balance, self._damping
        R, K, C = balance.R.copy(), balance.K.copy(), balance.C0
        if self._options.beta or self._options.beta_at_rest or found.laws.in_base.any():
            pose_stage.damp_pose(q, v, False, self._context)
            C = C + balance.K - K
        force = found.force(q, v, C)
        if not found.laws.in_base.all():
            pose_stage.damp_pose(q, v, True, self._context)
            force = force + balance.R - R
        balance.R[:], balance.K[:] = R, K
        return force + self.workspace.law_room.C1 @ v if found.constants.has_beside else force

    def run(
        self,
        path: Path,
        *frame: Any,
        contacts: Any = None,
        settling: bool = False,
        thorough: bool = False,
    ) -> tuple[int, float, bool]:
        """``pose_frame.run_frame`` with this state, which is as it was where anything is raised.

        With ``contacts`` it is ``run_contact_frame``. ``settling`` is by backward Euler,
        ``thorough`` with more iterations than are asked for.
        """
        workspace, context = self.workspace, self._context_for(settling, thorough)
        try:
            found: tuple[int, float, bool]
            if contacts is None:
                found = pose_frame.run_frame(path, *frame, context)
            else:
                found = pose_frame.run_contact_frame(path, *frame, context, contacts)
        except BaseException:  # of a material in Python, or an interruption
            workspace.history[:], workspace.rig_history[:] = workspace.saved, workspace.rig_saved
            workspace.account[:] = workspace.account_saved
            workspace.external[:] = workspace.external_saved
            self.interpolation_weights(self._taken)
            raise
        if found[0] == DONE:
            self._taken = path.end
        else:
            self.take_pose(self._taken)
        return found


def _flat(workspace: Workspace) -> list[Any]:
    """All of its arrays."""
    parts = (each if isinstance(each, tuple) else (each,) for each in workspace)
    return [array for part in parts for array in part]
