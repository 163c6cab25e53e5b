"""One stage of a step: the reduced model of the pose, its forces, and Newton's method on them."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple._kernels import example_newton, pose_basis, pose_forces, stepping
from supple.character.live_arrays import StepArrays
from supple.character.live_damping import PoseDamping
from supple.character.live_rig import Sample
from supple.character.pose_space_model import PoseSpaceModel
from supple.damping import Damping
from supple.reduction.newton import DenseNewton
from supple.reduction.stage_table import StageTable
from supple.types import Floats, Ints

_BLOCK = 8  # cells that the kernel of the stiffness takes together
_THINNEST = 0.01  # det F that a step may leave in a cell that must not turn inside out
_HALVINGS = 12


class StageSolver:
    """The state of a character, ``history`` (vectors, r), and room for everything on the way.

    ``rig_history`` is the same for the vertices that stand for the rig's inertia: what the
    integrator makes of positions, it makes of theirs too, so that the inertial force is as accurate
    as the rule.
    """

    def __init__(
        self,
        model: PoseSpaceModel,
        vectors: int,
        damping: Damping | None,
        newton: DenseNewton,
        gravity: Floats,
        limit: float,
        dtype: Any,
    ) -> None:
        found = StepArrays.of(model, dtype)
        self.needed: Ints = found.needed
        self._arrays, self._material = found.arrays, model.material
        self._cells, self._places = found.arrays.cells, found.arrays.places
        self._newton, self._gravity, self._limit = newton, gravity, limit
        self._damping = PoseDamping.of(damping, model)
        r, m, c, wide = model.n_coordinates, model.n_poses, len(found.arrays.corners), found.widest
        self.history, self.rig_history = (
            np.zeros((vectors, r)),
            np.zeros((vectors, 3 * len(self._places))),
        )
        self.w, self._distances = np.zeros((2, m))
        self.scale: Floats = np.ones(r)
        self._entries = np.zeros(len(found.arrays.gram_rows))
        self._U, self._G = np.zeros(12 * wide), np.zeros(found.gradients)
        self._volumes, self._lam, self._mu = np.zeros((3, c))
        self._F, self._P = np.zeros((2, c, 1, 3, 3))
        self._psi, self._A = np.zeros((c, 1)), np.zeros((c, 1, 6, 3, 3))
        self._T, self._S = np.zeros(9 * _BLOCK * wide), np.zeros(2 * wide * wide)
        self._columns = np.zeros(wide)
        self._M, self._K, self._C, self._matrix = np.zeros((4, r, r))
        self._R, self._f, self._x, self._x_v, self._x_a = np.zeros((5, r))
        self._v, self._a, self._delta = np.zeros((3, r))
        self._rig, self._rig_v, self._rig_a = np.zeros((3, 3 * len(self._places)))
        self._rates = np.zeros((2, 3 * len(self._places)))

    # -- the rig -------------------------------------------------------------------------

    def stand(self, at: Sample) -> None:
        """The rig is at rest in a pose."""
        self.rig_history[:] = 0.0
        self.rig_history[0::3] = at.x[self._places].ravel()

    def move(self, now: Sample, new: Sample, span: float, h: float) -> None:
        """The rig has been moving, evenly, from before ``now`` to ``new``, ``span`` [s] later."""
        x = now.x[self._places].ravel()
        v = (new.x[self._places].ravel() - x) / span
        self.rig_history[:] = 0.0
        self.rig_history[0::3], self.rig_history[3] = x, x - h * v
        self.rig_history[1] = self.rig_history[4] = v

    def root_mean_square(self, d: Floats) -> float:
        """Of vectors at the vertices that are needed (k, 3), by mass."""
        masses = self._arrays.masses
        squares = np.einsum("ki,ki->k", d[self._places], d[self._places])
        total = masses.sum()
        return float(np.sqrt(masses @ squares / total)) if total > 0 else 0.0

    # -- the state -----------------------------------------------------------------------

    def saved(self) -> tuple[Floats, Floats]:
        """What ``restore`` takes."""
        return self.history.copy(), self.rig_history.copy()

    def restore(self, saved: tuple[Floats, Floats]) -> None:
        self.history[:], self.rig_history[:] = saved

    def forget(self) -> None:
        """The state was set: what was before counts no more."""
        self.history[2:] = 0.0
        self.history[3] = self.history[6] = self.history[0]

    def kinetic(self) -> float:
        v = self.history[1]
        return 0.5 * float(v @ self._M @ v)

    def elastic(self) -> float:
        self._strain(self.history[0])
        self._material.evaluate(self._F, self._lam, self._mu, self._psi, self._P, self._A, 0)
        return float(self._volumes @ self._psi[:, 0])

    # -- the model of a pose -------------------------------------------------------------

    def weigh(self, sample: Sample) -> None:
        """Weights of the poses (Eq. 2), M̃ and Υ (Eqs. 15–16)."""
        arrays = self._arrays
        pose_basis.weigh(
            sample.features, arrays.features, arrays.coefficients, self._distances, self.w
        )
        pose_basis.interpolate_mass(self.w, arrays, self._entries, self._M, self.scale)

    def take_pose(self, sample: Sample) -> None:
        """Everything that depends on the pose alone."""
        self._taken = sample
        self.weigh(sample)
        pose_basis.shape_cells(
            sample.x, sample.frames, self.w, self._arrays, self._U,
            self._G, self._volumes, self._lam, self._mu,
        )  # fmt: skip
        damping = self._damping
        np.multiply(damping.mass, self._M, out=self._C)
        if damping.at_rest and damping.stiffness:
            self._evaluate(np.zeros_like(self._x))
            self._C += damping.stiffness * self._K

    def _strain(self, q: Floats) -> float:
        return float(
            pose_forces.strain_cells(q, self.scale, self._cells, self._G, self._columns, self._F)
        )

    def _evaluate(self, q: Floats | None = None) -> None:
        """R and K (Eqs. 21–22), at q or where the cells are strained to."""
        if q is not None:
            self._strain(q)
        self._material.evaluate(self._F, self._lam, self._mu, self._psi, self._P, self._A, 2)
        pose_forces.assemble(
            self._P, self._A, self._volumes, self.scale, self._cells, self._G,
            self._T, self._S, self._columns, self._K, self._R,
        )  # fmt: skip

    # -- stages --------------------------------------------------------------------------

    def take_stage(self, s: int, table: StageTable, sample: Sample, force: Floats) -> int:
        """Solves stage s with the rig as in the sample; says how it went."""
        self.take_pose(sample)
        c_a, guess = table.c_a[s], table.w_guess
        stepping.begin_stage(
            s, table.w_v, table.w_a, guess, self.history, self._x_v, self._x_a, self._x
        )
        stepping.begin_stage(
            s, table.w_v, table.w_a, guess, self.rig_history, self._rig_v, self._rig_a, self._rig
        )
        np.take(sample.x, self._places, axis=0, out=self._rig.reshape(-1, 3))
        self._f[:] = force
        self._add_inertia(c_a, sample)
        reason = self._iterate(table.c_v[s], c_a)
        row = 6 + 3 * s
        stepping.end_stage(
            row, table.c_v[s], c_a, self._rig_v, self._rig_a, self._rig, *self._rates,
            self.rig_history,
        )  # fmt: skip
        done = stepping.end_stage(
            row, table.c_v[s], c_a, self._x_v, self._x_a, self._x, self._v, self._a, self.history
        )
        return reason if reason != stepping.DONE or done else stepping.NOT_FINITE

    def end_step(self, table: StageTable) -> None:
        """The state of the last stage is that of now."""
        last = 6 + 3 * (len(table.times) - 1)
        for history in (self.history, self.rig_history):
            history[3:6] = history[:3]
            history[:3] = history[last : last + 3]

    def _add_inertia(self, c_a: float, sample: Sample) -> None:
        pose_basis.add_inertia(
            c_a, self._rig_a, self._rig, sample.frames, self._limit, self._gravity,
            self.w, self.scale, self._arrays, self._U, self._f,
        )  # fmt: skip

    def _iterate(self, c_v: float, c_a: float) -> int:
        newton, x = self._newton, self._x
        guards = not self._material.survives_inversion
        if self._strain(x) <= 0 and guards:
            self._withdraw(self.history[0])
        size_before, share = -1.0, 1.0
        for _ in range(newton.max_iterations):
            self._evaluate()
            size = self._correct(c_v, c_a)
            if size < 0:
                return stepping.NOT_DEFINITE
            if not np.isfinite(size):
                return stepping.NOT_FINITE
            if newton.max_iterations > 1:
                left = stepping.still_to_come(size, size_before, share)
                if stepping.is_small(left, newton.tolerance, x, self.history):
                    return stepping.DONE
                share = stepping.shorten(size, size_before, share, self._delta, x)
                size_before = size
            elif not guards:
                return stepping.DONE
            smallest = self._strain(x)
            if guards and smallest < _THINNEST:
                self._delta *= share
                self._take_back()
        return stepping.DONE if newton.max_iterations == 1 else stepping.NOT_CONVERGED

    def _correct(self, c_v: float, c_a: float) -> float:
        """One Newton iteration; the largest correction."""
        damping = self._damping
        beta = 0.0 if damping.at_rest else damping.stiffness
        state = (
            c_v, c_a, self._x_v, self._x_a, self._x, self._v, self._a, self._matrix, self._delta,
        )  # fmt: skip
        if damping.examples is None:
            return float(
                pose_forces.correct_pose(self._K, self._R, self._f, self._M, self._C, beta, *state)
            )
        C = self._C + beta * self._K
        np.dot(damping.examples.X, C, out=damping.examples.C0X)
        return float(
            example_newton.correct_with_examples(
                self._K, self._R, self._f, False, self._M, C, 0.0, damping.examples, 1.0, *state
            )
        )

    def _take_back(self) -> None:
        """Halves the last correction until no cell is about to turn inside out."""
        for _ in range(_HALVINGS):
            self._delta *= 0.5
            self._x -= self._delta
            if self._strain(self._x) >= _THINNEST:
                return

    def _withdraw(self, start: Floats) -> None:
        """From a guess with cells inside out to the start of the step, or part of the way to rest.

        At q = 0 no cell is strained.
        """
        self._x[:] = start
        for _ in range(_HALVINGS):
            if self._strain(self._x) >= _THINNEST:
                return
            self._x *= 0.5

    # -- starting ------------------------------------------------------------------------

    def find_acceleration(self, force: Floats) -> None:
        """a from M̃ a = f − C̃ v − R at the state as it is, in the pose that was taken last."""
        q, v = self.history[0], self.history[1]
        self._evaluate(q)
        self._f[:] = force
        self._add_inertia(0.0, self._taken)  # the weight alone
        beta = 0.0 if self._damping.at_rest else self._damping.stiffness
        rest = self._f - self._R - self._damping.force(q, v, self._C + beta * self._K)
        self.history[2] = np.linalg.solve(self._M, rest)
        self.history[3] = self.history[6] = q

    def jolt(self, change: Floats) -> None:
        """Lets the acceleration jump with the force."""
        self.history[2] += np.linalg.solve(self._M, change)
