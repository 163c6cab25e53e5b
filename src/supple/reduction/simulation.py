"""A reduced model in motion."""

from __future__ import annotations

from math import isfinite
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from .._kernels import stepping
from ..checks import numbers, whole_number
from ..errors import StepFailed
from ..motion import Frame
from ..types import Floats
from .damping import ReducedDamping, reduced_damping
from .model import ReducedModel, expand
from .recorded import RecordedStepper
from .stage_table import StageTable
from .stepper import skin_shape, still

_REASONS = {
    stepping.NOT_FINITE: "the forces are not finite",
    stepping.NOT_CONVERGED: "the Newton iteration did not converge",
    stepping.NOT_DEFINITE: "the matrix of the step is not positive definite",
}


class ReducedSimulation(RecordedStepper):
    """A reduced model, moved by an implicit integrator in steps of ``dt`` [s].

    ``gravity`` is an acceleration (3,) [m/s²]. ``q`` and ``v`` are the coordinates and their rates,
    (r,); assign them for initial conditions. A force acts in full from the start of its step to the
    end, as in full space.
    """

    def __init__(self, model: ReducedModel, **options: Any) -> None:
        super().__init__(model, **options)
        r = model.size
        self._history: Floats = np.zeros((self._vectors, r))
        self._x, self._x_v, self._x_a, self._v, self._a, self._delta = np.zeros((6, r))
        self._pushed, self._jump, self._f = np.zeros((3, r))
        self._K, self._A = np.zeros((r, r)), np.zeros((r, r))
        self._R, self._force = np.zeros(r), np.zeros((1, r))
        self._use(model)

    def _use(self, model: ReducedModel) -> None:
        self._damping: ReducedDamping = reduced_damping(self.damping, model)
        self._mass = np.ascontiguousarray(model.mass)
        self._inverse_mass = np.ascontiguousarray(np.linalg.inv(self._mass))
        self._weight = model.weight(self._gravity)
        self._diagonal = _is_diagonal(self._mass) and _is_diagonal(self._damping.constant)
        quartic = model.quartic
        self._quartic = None if quartic is None else quartic.compiled
        self._scratch = () if self._quartic is None else self._quartic.scratch()

    # -- where it is ---------------------------------------------------------------------

    @property
    def q(self) -> Floats:
        """Coordinates, (r,)."""
        return still(self._history[0])

    @q.setter
    def q(self, value: ArrayLike) -> None:
        self._history[0] = self.model.checked("q", value)
        self._settled = self._has_past = False

    @property
    def v(self) -> Floats:
        """Rates of the coordinates, (r,)."""
        return still(self._history[1])

    @v.setter
    def v(self, value: ArrayLike) -> None:
        self._history[1] = self.model.checked("v", value)
        self._settled = self._has_past = False

    def displacements(self, *, out: Floats | None = None) -> Floats:
        """Displacements of the volume mesh [m], (n, 3)."""
        return expand(self._history[0], self.model.vectors, out)

    def skin_vertices(self, *, out: Floats | None = None) -> Floats:
        """Where the vertices of the model's skin are [m], (s, 3)."""
        return skin_shape(self.model, self._history[0], out)

    @property
    def kinetic(self) -> float:
        """Kinetic energy [J]."""
        v = self._history[1]
        return 0.5 * float(v @ self._mass @ v)

    @property
    def elastic(self) -> float:
        """Elastic energy [J]."""
        return self.model.evaluate(self._history[0])[0]

    @property
    def damping_power(self) -> float:
        """Power that damping takes from the motion [W]."""
        q, v = self._history[0], self._history[1]
        damping = self._damping
        if damping.factor or damping.by_region is not None:
            return float(v @ self._damping_matrix(q, self.model.evaluate(q)[2]) @ v)
        return float(v @ damping.constant @ v)

    def frame(self, *, dissipated: float = 0.0) -> Frame:
        """The body as it is now, with its energies and momenta."""
        q, v = self._history[0], self._history[1]
        linear, angular = self.model.momenta(q, v)
        return Frame(
            time=self.time,
            displacements=self.displacements(),
            kinetic=self.kinetic,
            elastic=self.elastic,
            gravitational=self.model.gravitational(q, self._gravity),
            dissipated=dissipated,
            linear_momentum=linear,
            angular_momentum=angular,
        )

    # -- stepping --------------------------------------------------------------------------

    def step(self, *, force: ArrayLike | None = None) -> None:
        """One step, with the reduced external force (r,) that ``model.pull`` or ``project`` give.

        Raises StepFailed where the step cannot be solved; the state is then as it was.
        """
        self._force[0] = self._weight
        if force is not None:
            self._force += force if self._is_sound(force) else self._checked_force(force)
        self._advance(1, self._force)

    def _is_sound(self, force: object) -> TypeGuard[Floats]:
        """Whether a force needs no further check; makes no array."""
        return (
            isinstance(force, np.ndarray)
            and force.shape == self._weight.shape
            and force.dtype == float
            and isfinite(force.min())
            and isfinite(force.max())
        )

    def _checked_force(self, force: ArrayLike) -> Floats:
        return numbers("force", force, (self._weight.shape,))

    def run_steps(self, steps: int, *, force: ArrayLike | None = None) -> None:
        """Many steps in one compiled loop.

        One force (r,) acts on all of them in full. A row for each step, (steps, r), is a force that
        changes evenly from the end of one step to that of the next, where the rows are its values.
        """
        whole_number("steps", steps, at_least=0)
        forces = self._weight[None]
        if force is not None:
            r = self.model.size
            forces = forces + np.atleast_2d(numbers("force", force, ((r,), (steps, r))))
        self._advance(steps, np.ascontiguousarray(forces), sampled=len(forces) > 1)

    def _advance(self, steps: int, forces: Floats, *, sampled: bool = False) -> None:
        if not steps:
            return
        before = self._settled, self._has_past, self._steps
        if not self._settled:
            self._find_acceleration(forces[0])
        if not sampled and not np.array_equal(forces[0], self._pushed):
            self._has_past = False  # a force that jumps makes the past useless
        try:
            if self._looks_back and not self._has_past:
                self._take(1, forces, self._start_table, sampled)
                self._has_past = True
                steps, forces = steps - 1, forces[min(1, len(forces) - 1) :]
            if steps:
                self._take(steps, forces, self._table, sampled)
                self._has_past = True
        except StepFailed:
            if self._steps == before[2]:  # leave no trace of a force that was at fault
                self._settled, self._has_past = before[:2]
            raise

    def _take(self, steps: int, forces: Floats, table: StageTable, sampled: bool) -> None:
        if self._quartic is not None and self._damping.by_region is None:
            done, reason = self._run_compiled(steps, forces, table, sampled)
        else:
            done, reason = self._run_interpreted(steps, forces, table, sampled)
        self._steps += done
        if reason != stepping.DONE:
            raise StepFailed(
                _REASONS[reason],
                time=self.time + self.dt,
                residual=float("nan"),
                advice="Try a smaller dt, TRBDF2() or more damping; a model with more coordinates "
                "may also be softer where this one locks.",
            )

    def _run_compiled(
        self, steps: int, forces: Floats, table: StageTable, sampled: bool
    ) -> tuple[int, int]:
        quartic, damping, solver = self._quartic, self._damping, self.solver
        assert quartic is not None
        done, reason = stepping.run_steps(
            steps, sampled, forces, self._pushed, table.times / self.dt,
            table.c_v, table.c_a, table.w_v, table.w_a, table.w_guess,
            self._diagonal, self._mass, self._inverse_mass, damping.constant, damping.factor,
            quartic.P, quartic.Q, quartic.S, quartic.starts, quartic.rows,
            solver.max_iterations, solver.tolerance,
            self._history, *self._scratch, self._K, self._R, self._A,
            self._x, self._x_v, self._x_a, self._v, self._a, self._delta, self._jump, self._f,
        )  # fmt: skip
        return int(done), int(reason)

    def _run_interpreted(
        self, steps: int, forces: Floats, table: StageTable, sampled: bool
    ) -> tuple[int, int]:
        """The same loop, for energies and damping that are not one polynomial."""
        history = self._history
        end = 6 + 3 * (len(table.c_v) - 1)
        for step in range(steps):
            force = forces[min(step, len(forces) - 1)]
            change = force - self._pushed
            acceleration = history[2].copy()
            if not sampled:
                history[2] += self._inverse_mass @ change
            left = 1 - table.times / self.dt if sampled else np.zeros(len(table.times))
            reason = self._take_stages(force - left[:, None] * change, table)
            if reason != stepping.DONE:
                history[2] = acceleration
                return step, reason
            self._pushed[:] = force
            history[3:6] = history[:3]
            history[:3] = history[end : end + 3]
        return steps, stepping.DONE

    def _take_stages(self, forces: Floats, table: StageTable) -> int:
        """The stages of one step, with a force (r,) for each."""
        x, history = self._x, self._history
        for s in range(len(table.c_v)):
            stepping.begin_stage(
                s, table.w_v, table.w_a, table.w_guess, history, self._x_v, self._x_a, x
            )  # fmt: skip
            converged = self.solver.max_iterations == 1
            size_before, share = -1.0, 1.0
            for _ in range(self.solver.max_iterations):
                _, R, K = self.model.evaluate(x)
                C = self._damping_matrix(x, K)
                size = stepping.correct(
                    K, R, forces[s], False, self._mass, C, 0.0, table.c_v[s], table.c_a[s],
                    self._x_v, self._x_a, x, self._v, self._a, self._A, self._delta,
                )  # fmt: skip
                if size < 0:
                    return stepping.NOT_DEFINITE
                if not np.isfinite(size):
                    return stepping.NOT_FINITE
                if stepping.is_small(size, self.solver.tolerance, x, history):
                    converged = True
                    break
                if self.solver.max_iterations > 1:
                    share = stepping.shorten(size, size_before, share, self._delta, x)
                    size_before = size
            if not converged:
                return stepping.NOT_CONVERGED
            place = 6 + 3 * s
            history[place] = x
            history[place + 1] = table.c_v[s] * (x - self._x_v)
            history[place + 2] = table.c_a[s] * (x - self._x_a)
            if not np.isfinite(history[place : place + 3]).all():
                return stepping.NOT_FINITE
        return stepping.DONE

    def _damping_matrix(self, q: Floats, K: Floats) -> Floats:
        C = self._damping.constant + self._damping.factor * K
        if self._damping.by_region is not None:
            C += self._damping.by_region.compiled.evaluate(q)[1]
        return C

    def _find_acceleration(self, force: Floats) -> None:
        """a from M a = f − C v − R at the state as it was set."""
        q, v = self._history[0], self._history[1]
        _, R, K = self.model.evaluate(q)
        rest = force - R - self._damping_matrix(q, K) @ v
        if not np.isfinite(rest).all():
            raise StepFailed(
                "the forces are not finite at the start of the step",
                time=self.time,
                residual=float("inf"),
                advice="Check the coordinates that were set; they may be far too large.",
            )
        self._history[2] = self._inverse_mass @ rest
        self._history[3] = q
        self._pushed[:] = force
        self._settled = True


def _is_diagonal(matrix: Floats) -> bool:
    """Up to rounding."""
    roots = np.sqrt(np.abs(np.diag(matrix)))
    beside = np.abs(matrix - np.diag(np.diag(matrix)))
    return bool((beside <= 1e-14 * np.outer(roots, roots)).all())
