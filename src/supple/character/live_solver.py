"""One stage of a step: the reduced model of the pose, its forces, and Newton's method on them."""

from __future__ import annotations

import numpy as np

from supple._kernels import example_newton, pose_forces, pose_stage, stepping
from supple._kernels.pose_basis import interpolate_mass, weigh
from supple.character.live_arrays import StepArrays
from supple.character.live_damping import PoseDamping
from supple.character.live_rig import Sample
from supple.character.pose_space_model import PoseSpaceModel
from supple.damping import Damping
from supple.reduction.newton import DenseNewton
from supple.reduction.stage_table import StageTable
from supple.types import Floats

_THINNEST = 0.01  # det F that a step may leave in a cell that must not turn inside out
_HALVINGS = 12
_UNSEEN = 1e-13  # of the body's size: corrections below this are rounding


class StageSolver:
    """The state of a character and room for everything on the way.

    ``room.rig_history`` is to the vertices that stand for the rig's inertia what ``room.history``
    is to the coordinates: what the integrator makes of positions, it makes of theirs too, so that
    the inertial force is as accurate as the rule.
    """

    def __init__(
        self,
        model: PoseSpaceModel,
        arrays: StepArrays,
        vectors: int,
        damping: Damping | None,
        newton: DenseNewton,
        gravity: Floats,
        limit: float,
    ) -> None:
        self._made_of = model, arrays, vectors, damping, newton, gravity, limit
        self._arrays, self._material = arrays.arrays, model.material
        self._newton, self._gravity, self._limit = newton, gravity, limit
        self._damping = PoseDamping.of(damping, model)
        self._beta = 0.0 if self._damping.at_rest else self._damping.stiffness
        self._guards = not model.material.survives_inversion
        self.room = arrays.room(vectors)
        size = float(np.linalg.norm(np.ptp(model.tet_rig.mesh.vertices, axis=0)))
        self._nothing = _UNSEEN * size * float(np.sqrt(model.masses.sum()))
        self._least = _THINNEST if self._guards else -np.inf
        self._direct = newton.max_iterations == 1 and self._damping.examples is None
        self._psi = np.zeros((len(self.room.lam), 1))

    def twin(self) -> StageSolver:
        """The same with a state and room of its own."""
        return StageSolver(*self._made_of)

    # -- the rig -------------------------------------------------------------------------

    def stand(self, at: Sample) -> None:
        """The rig is at rest in a pose."""
        rig = self.room.rig_history
        rig[:] = 0.0
        rig[0::3] = at.x[self._arrays.places].ravel()

    def move(self, now: Sample, new: Sample, span: float, h: float) -> None:
        """The rig has been moving, evenly, from before ``now`` to ``new``, ``span`` [s] later."""
        rig, places = self.room.rig_history, self._arrays.places
        x = now.x[places].ravel()
        v = (new.x[places].ravel() - x) / span
        rig[:] = 0.0
        rig[0::3], rig[3] = x, x - h * v
        rig[1] = rig[4] = v

    def surprise(self, new: Sample, now: Sample, before: Sample, ratio: float) -> float:
        """How far the rig is from where it would be at the speed it had [m]."""
        apart = pose_stage.surprise(
            new.x, now.x, before.x, ratio, self._arrays.places, self._arrays.masses
        )
        return float(apart)

    # -- the state -----------------------------------------------------------------------

    def saved(self) -> tuple[Floats, Floats]:
        """What ``restore`` takes."""
        return self.room.history.copy(), self.room.rig_history.copy()

    def restore(self, saved: tuple[Floats, Floats]) -> None:
        self.room.history[:], self.room.rig_history[:] = saved

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
        self._strain(q)
        self._evaluate(0)
        return float(self.room.volumes @ self._psi[:, 0] + 0.5 * q @ self.room.gap @ q)

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
        self._taken, damping = sample, self._damping
        pose_stage.take_pose(
            sample.x, sample.frames, sample.features, damping.mass, self._arrays, self.room
        )
        if damping.at_rest and damping.stiffness:
            self.forces(np.zeros_like(self.room.x))
            self.room.C[:] += damping.stiffness * self.room.K

    def forces(self, q: Floats) -> None:
        """R and K (Eqs. 21–22) at q, in the pose that was taken."""
        self._strain(q)
        self._evaluate(2)
        self._assemble(q)

    def _assemble(self, q: Floats) -> None:
        room = self.room
        pose_forces.assemble(
            room.P, room.A, room.volumes, room.scale, self._arrays.cells, room.G,
            room.T, room.S, room.columns, room.gap, q, room.K, room.R,
        )  # fmt: skip

    def _strain(self, q: Floats) -> float:
        room = self.room
        smallest = pose_forces.strain_cells(
            q, room.scale, self._arrays.cells, room.G, room.columns, room.F
        )
        return float(smallest)

    def _evaluate(self, order: int) -> None:
        room = self.room
        self._material.evaluate(room.F, room.lam, room.mu, self._psi, room.P, room.A, order)

    # -- stages --------------------------------------------------------------------------

    def take_stage(self, s: int, table: StageTable, sample: Sample, force: Floats) -> int:
        """Solves stage s with the rig as in the sample; says how it went."""
        c_v, c_a = table.c_v[s], table.c_a[s]
        weights = table.w_v, table.w_a, table.w_guess
        outside = force, self._limit, self._gravity, self._arrays, self.room
        if self._damping.at_rest:
            self.take_pose(sample)
            smallest = pose_stage.enter_stage(s, *weights, c_a, sample.x, sample.frames, *outside)
        else:
            self._taken = sample
            smallest = pose_stage.open_stage(
                s, *weights, c_a, *sample, self._damping.mass, *outside
            )
        if self._guards and smallest < _THINNEST:
            self._withdraw()
        if self._direct:
            self._evaluate(2)
            size, kept = pose_stage.correct_stage(
                self._beta, c_v, c_a, s, True, self._least, self._arrays, self.room
            )
            reason = _reason(size)
            if kept or reason != stepping.DONE:
                return reason
            self._take_back(1.0)
        else:
            reason = self._iterate(c_v, c_a)
            if reason != stepping.DONE:
                return reason
        finite = pose_stage.leave_stage(s, c_v, c_a, self.room)
        return stepping.DONE if finite else stepping.NOT_FINITE

    def end_step(self, table: StageTable) -> None:
        """The state of the last stage is that of now."""
        last = 6 + 3 * (len(table.times) - 1)
        pose_stage.end_step(last, self.room.history, self.room.rig_history)

    def _iterate(self, c_v: float, c_a: float) -> int:
        """Newton's method, from strained cells on."""
        newton, room = self._newton, self.room
        size_before, share = -1.0, 1.0
        for _ in range(newton.max_iterations):
            self._evaluate(2)
            size = self._correct(c_v, c_a)
            if _reason(size) != stepping.DONE:
                return _reason(size)
            if newton.max_iterations > 1:
                left = stepping.still_to_come(size, size_before, share)
                if left <= self._nothing or stepping.is_small(
                    left, newton.tolerance, room.x, room.history
                ):
                    return stepping.DONE
                share = stepping.shorten(size, size_before, share, room.delta, room.x)
                size_before = size
            elif not self._guards:
                return stepping.DONE
            smallest = self._strain(room.x)
            if self._guards and smallest < _THINNEST:
                self._take_back(share)
        return stepping.DONE if newton.max_iterations == 1 else stepping.NOT_CONVERGED

    def _correct(self, c_v: float, c_a: float) -> float:
        """One Newton iteration; the largest correction."""
        room, examples = self.room, self._damping.examples
        if examples is None:
            size, _ = pose_stage.correct_stage(
                self._beta, c_v, c_a, 0, False, self._least, self._arrays, room
            )
            return float(size)
        self._assemble(room.x)
        C = room.C + self._beta * room.K
        np.dot(examples.X, C, out=examples.C0X)
        size = example_newton.correct_with_examples(
            room.K, room.R, room.f, False, room.M, C, 0.0, examples, 1.0, c_v, c_a,
            room.x_v, room.x_a, room.x, room.v, room.a, room.matrix, room.delta,
        )  # fmt: skip
        return float(size)

    def _take_back(self, share: float) -> None:
        """Halves the last correction until no cell is about to turn inside out."""
        x, delta = self.room.x, self.room.delta
        delta *= share
        for _ in range(_HALVINGS):
            delta *= 0.5
            x -= delta
            if self._strain(x) >= _THINNEST:
                return

    def _withdraw(self) -> None:
        """From a guess with cells inside out to the start of the step, or part of the way to rest.

        At q = 0 no cell is strained.
        """
        x = self.room.x
        x[:] = self.room.history[0]
        for _ in range(_HALVINGS):
            if self._strain(x) >= _THINNEST:
                return
            x *= 0.5

    # -- starting ------------------------------------------------------------------------

    def find_acceleration(self, force: Floats) -> None:
        """a from M̃ a = f − C̃ v − R at the state as it is, in the pose that was taken last."""
        room = self.room
        q, v = room.history[0], room.history[1]
        self.forces(q)
        still = np.zeros((1, len(room.history)))
        at = self._taken
        pose_stage.enter_stage(
            0, still, still, still, 0.0, at.x, at.frames,
            force, self._limit, self._gravity, self._arrays, room,
        )  # fmt: skip
        C = room.C + self._beta * room.K
        room.history[2] = np.linalg.solve(room.M, room.f - room.R - self._damping.force(q, v, C))
        room.history[3] = room.history[6] = q

    def jolt(self, change: Floats) -> None:
        """Lets the acceleration jump with the force."""
        self.room.history[2] += np.linalg.solve(self.room.M, change)


def _reason(size: float) -> int:
    """What the size of a correction says."""
    if size < 0:
        return stepping.NOT_DEFINITE
    return stepping.DONE if size < np.inf else stepping.NOT_FINITE
