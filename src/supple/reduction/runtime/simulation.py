"""A reduced model in motion."""

from __future__ import annotations

from functools import partial
from math import isfinite
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from supple._kernels.reduction import example_newton, example_stepping, stepping
from supple.core.checks import numbers, whole_number
from supple.core.errors import StepFailed
from supple.core.types import Floats
from supple.reduction.damping import reduced_damping
from supple.reduction.model import ReducedModel
from supple.reduction.runtime.stage_table import StageTable
from supple.reduction.runtime.state import ReducedState

_REASONS = {
    stepping.NOT_FINITE: "the forces are not finite",
    stepping.NOT_CONVERGED: "the Newton iteration did not converge",
    stepping.NOT_DEFINITE: "the matrix of the step is not positive definite",
}
_NO_RECORD = np.empty((0, 2, 0))


class ReducedSimulation(ReducedState):
    """A reduced model, moved by an implicit integrator in steps of ``dt`` [s].

    ``gravity`` is an acceleration (3,) [m/s²]. ``q`` and ``v`` are the coordinates and their rates,
    (r,); assign them for initial conditions. A force acts in full from the start of its step to the
    end, as in full space.
    """

    def __init__(self, model: ReducedModel, **options: Any) -> None:
        super().__init__(model, **options)
        r = model.size
        self._x, self._x_v, self._x_a, self._v, self._a, self._delta = np.zeros((6, r))
        self._pushed, self._jump, self._f = np.zeros((3, r))
        self._K, self._A = np.zeros((r, r)), np.zeros((r, r))
        self._R, self._force = np.zeros(r), np.zeros((1, r))
        self._use(model)

    def _use(self, model: ReducedModel) -> None:
        self._damping = reduced_damping(self.damping, model)
        self._mass = np.ascontiguousarray(model.mass)
        self._inverse_mass = np.ascontiguousarray(np.linalg.inv(self._mass))
        self._weight = model.weight(self._gravity)
        examples = self._damping.examples
        self._examples = None if examples is None else examples.compiled(self._damping.constant)
        self._diagonal = _is_diagonal(self._mass) and _is_diagonal(self._damping.constant)
        quartic = model.quartic
        self._quartic = None if quartic is None else quartic.compiled
        self._workspace = () if self._quartic is None else self._quartic.workspace()

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
        self._run_steps(whole_number("steps", steps, at_least=0), force, _NO_RECORD)

    def trace(self, steps: int, *, force: ArrayLike | None = None) -> tuple[Floats, Floats]:
        """As ``run_steps``; returns q and v as they are now and after every step, (steps + 1, r).

        Raises StepFailed where a step cannot be solved; the state is then that before it.
        """
        whole_number("steps", steps, at_least=0)
        record = np.empty((steps + 1, 2, self.model.size))
        record[0] = self._history[:2]
        self._run_steps(steps, force, record[1:])
        return record[:, 0].copy(), record[:, 1].copy()

    def _run_steps(self, steps: int, force: ArrayLike | None, record: Floats) -> None:
        forces = self._weight[None]
        if force is not None:
            r = self.model.size
            forces = forces + np.atleast_2d(numbers("force", force, ((r,), (steps, r))))
        self._advance(steps, np.ascontiguousarray(forces), sampled=len(forces) > 1, record=record)

    def _advance(
        self,
        steps: int,
        forces: Floats,
        *,
        sampled: bool = False,
        record: Floats = _NO_RECORD,
    ) -> None:
        if not steps:
            return
        before = self._settled, self._has_past, self._steps
        if not self._settled:
            self._find_acceleration(forces[0])
        if not sampled and not np.array_equal(forces[0], self._pushed):
            self._has_past = False  # a force that jumps makes the past useless
        try:
            if self._looks_back and not self._has_past:
                self._take(1, forces, self._start_table, sampled, record[:1])
                self._has_past = True
                steps, forces = steps - 1, forces[min(1, len(forces) - 1) :]
                record = record[1:]
            if steps:
                self._take(steps, forces, self._table, sampled, record)
                self._has_past = True
        except StepFailed:
            if self._steps == before[2]:  # leave no trace of a force that was at fault
                self._settled, self._has_past = before[:2]
            raise

    def _take(
        self, steps: int, forces: Floats, table: StageTable, sampled: bool, record: Floats
    ) -> None:
        if self._quartic is not None and self._damping.by_region is None:
            done, reason = self._run_compiled(steps, forces, table, sampled, record)
        else:
            done, reason = self._run_interpreted(steps, forces, table, sampled, record)
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
        self, steps: int, forces: Floats, table: StageTable, sampled: bool, record: Floats
    ) -> tuple[int, int]:
        quartic, damping, solver = self._quartic, self._damping, self.solver
        assert quartic is not None
        run: Any = stepping.run_steps
        examples: tuple[Any, ...] = ()
        if self._examples is not None:
            run = partial(example_stepping.run_steps_with_examples, self.dt)
            examples = (self._examples,)
        done, reason = run(
            steps, sampled, forces, self._pushed, table.times / self.dt,
            table.c_v, table.c_a, table.w_v, table.w_a, self._guess(table),
            self._diagonal, self._mass, self._inverse_mass, damping.constant, damping.factor,
            quartic.P, quartic.Q, quartic.S, quartic.starts, quartic.rows,
            solver.max_iterations, solver.tolerance,
            self._history, *self._workspace, self._K, self._R, self._A,
            self._x, self._x_v, self._x_a, self._v, self._a, self._delta, self._jump, self._f,
            record, *examples,
        )  # fmt: skip
        return int(done), int(reason)

    def _guess(self, table: StageTable) -> Floats:
        """Weights of the first guess; a single iteration relies on it, and gets the plainer one."""
        return table.w_guess if self.solver.max_iterations == 1 else table.w_curved_guess

    def _run_interpreted(
        self, steps: int, forces: Floats, table: StageTable, sampled: bool, record: Floats
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
                stepping.undo_step(table.times[0] / self.dt, acceleration, history)
                return step, reason
            self._pushed[:] = force
            history[3:6] = history[:3]
            history[:3] = history[end : end + 3]
            if step < len(record):
                record[step] = history[:2]
        return steps, stepping.DONE

    def _take_stages(self, forces: Floats, table: StageTable) -> int:
        """The stages of one step, with a force (r,) for each."""
        x, history = self._x, self._history
        for s in range(len(table.c_v)):
            stepping.begin_stage(
                s, table.w_v, table.w_a, self._guess(table), history, self._x_v, self._x_a, x
            )  # fmt: skip
            converged = self.solver.max_iterations == 1
            size_before, share = -1.0, 1.0
            for _ in range(self.solver.max_iterations):
                _, R, K = self.model.evaluate(x)
                size = self._correct(K, R, forces[s], table.c_v[s], table.c_a[s])
                if size < 0:
                    return stepping.NOT_DEFINITE
                if not np.isfinite(size):
                    return stepping.NOT_FINITE
                left = stepping.remaining_error(size, size_before, share)
                if stepping.is_small(left, self.solver.tolerance, x, history):
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

    def _correct(self, K: Floats, R: Floats, force: Floats, c_v: float, c_a: float) -> float:
        """One Newton iteration; how far it moved."""
        correct: Any = stepping.correct
        examples: tuple[Any, ...] = ()
        C = self._damping.matrix(self._x, K)
        if self._examples is not None:
            np.dot(self._examples.X, C, out=self._examples.C0X)
            correct, examples = example_newton.correct_with_examples, (self._examples, 1.0)
        size = correct(
            K, R, force, False, self._mass, C, 0.0, *examples, c_v, c_a,
            self._x_v, self._x_a, self._x, self._v, self._a, self._A, self._delta,
        )  # fmt: skip
        return float(size)

    def _find_acceleration(self, force: Floats) -> None:
        """a from M a = f − C v − R at the state as it was set."""
        q, v = self._history[0], self._history[1]
        _, R, K = self.model.evaluate(q)
        known = np.isfinite(R).all() and np.isfinite(K).all()
        rest = force - R - self._damping.force(q, v, K) if known else R
        if not (known and np.isfinite(rest).all()):
            raise StepFailed(
                "the forces are not finite at the start of the step",
                time=self.time,
                residual=float("inf"),
                advice="Check the coordinates that were set; they may be far too large.",
            )
        self._history[2] = self._inverse_mass @ rest
        self._history[3] = self._history[6] = q
        if self._examples is not None:
            self._examples.is_known[0] = False
        self._pushed[:] = force
        self._settled = True


def _is_diagonal(matrix: Floats) -> bool:
    """Up to rounding."""
    roots = np.sqrt(np.abs(np.diag(matrix)))
    beside = np.abs(matrix - np.diag(np.diag(matrix)))
    return bool((beside <= 1e-14 * np.outer(roots, roots)).all())
