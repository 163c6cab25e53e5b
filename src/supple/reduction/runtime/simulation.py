"""A reduced model in motion."""

from __future__ import annotations

from math import isfinite
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from supple._kernels.reduction import stepping
from supple._kernels.reduction.newton import DONE, GO_ON, NOT_CONVERGED, NOT_FINITE, Balance
from supple.core.checks import numbers, whole_number
from supple.core.errors import InputError, StepFailed
from supple.core.types import Floats
from supple.reduction.damping import reduced_damping
from supple.reduction.model import ReducedModel, expand
from supple.reduction.runtime.stage_table import StageTable
from supple.reduction.runtime.stepper import RecordedStepper, skin_shape

_NO_RECORD = np.empty((0, 2, 0))


class ReducedSimulation(RecordedStepper):
    """A reduced model, moved by an implicit integrator in steps of ``dt`` [s].

    ``gravity`` is an acceleration (3,) [m/s²]. ``q`` and ``v`` are the coordinates and their rates,
    (r,); assign them for initial conditions. A force acts in full from the start of its step to the
    end, as in full space.
    """

    _advice = (
        "Try a smaller dt, TRBDF2() or more damping; a model with more coordinates may also be "
        "softer where this one locks."
    )

    def __init__(self, model: ReducedModel, **options: Any) -> None:
        super().__init__(model, **options)
        self._make_room(model.size)
        self._use(model)

    def _make_room(self, r: int) -> None:
        self._pushed, self._jump = np.zeros((2, r))
        self._force = np.zeros((1, r))

    def _carry(self, into: Floats) -> None:
        super()._carry(into)
        self._make_room(len(into))

    def _arrays(self) -> tuple[Floats, ...]:
        kept = self._history, self._pushed, self._jump
        examples = self._examples
        return kept if examples is None else (*kept, examples.K_before, examples.is_known)

    def _use(self, model: ReducedModel) -> None:
        self._damping = reduced_damping(self.damping, model)
        self._mass = np.ascontiguousarray(model.mass)
        self._inverse_mass = model.inverse_mass
        self._weight = model.weight(self._gravity) + self._damping.push()
        examples = self._damping.examples
        self._examples = None if examples is None else examples.compiled(self._damping.constant)
        self._use_polynomial(model)
        r = model.size
        self._balance = Balance(
            M=self._mass,
            C0=self._damping.constant.copy(),
            **{name: np.zeros((r, r)) for name in "KA"},
            **{name: np.zeros(r) for name in ("R", "f", "x", "x_v", "x_a", "v", "a", "delta")},
        )

    def _make_context(self, table: StageTable) -> Any:
        solver, examples, compiled = self.solver, self._examples, self._is_compiled
        options = stepping.Options(
            dt=self._step,
            beta=self._damping.factor if compiled else 0.0,  # else C is found in Python
            diagonal=compiled and _is_diagonal(self._mass) and _is_diagonal(self._damping.constant),
            max_iterations=solver.max_iterations,
            tolerance=solver.tolerance,
        )
        context = stepping.step_context(
            # a single iteration relies on the first guess, and gets the plainer one
            table.compiled(curved=solver.max_iterations > 1),
            self._polynomial,
            self._balance,
            stepping.State(self._history, self._pushed, self._jump, self._inverse_mass),
            options,
        )
        return context, None if examples is None else stepping.example_context(examples)

    # -- where it is -----------------------------------------------------------------------

    def displacements(self, *, out: Floats | None = None) -> Floats:
        """Displacements of the volume mesh [m], (n, 3)."""
        return expand(self._history[0], self.model.vectors, out)

    def skin_vertices(self, *, out: Floats | None = None) -> Floats:
        """Where the vertices of the model's skin are [m], (s, 3)."""
        return skin_shape(self.model, self._history[0], out)

    def excitations(self, q: ArrayLike | None = None) -> Floats:
        """How much of each example of the damping there is, now (k,) or at q (..., r)."""
        examples = self._damping.examples
        if examples is None:
            raise InputError("there are no examples; give damping=ExampleDamping(base, [...])")
        return examples.excitations(self._history[0] if q is None else numbers("q", q))

    @property
    def kinetic(self) -> float:
        """Kinetic energy [J]."""
        v = self._history[1]
        return 0.5 * float(v @ self._mass @ v)

    def _power_at(self, row: int) -> float:
        q, v = self._history[row : row + 2]
        C = self._damping
        K = C.constant if C.is_constant else self.model.evaluate(q)[2]  # any will do
        return float(v @ (C.force(q, v, K) - C.push()))

    def _weight_and_momenta(self) -> tuple[float, Floats, Floats]:
        q, v = self._history[:2]
        return self.model.gravitational(q, self._gravity), *self.model.momenta(q, v)

    # -- stepping --------------------------------------------------------------------------

    def step(self, *, force: ArrayLike | None = None, dt: float | None = None) -> None:
        """One step, with the reduced external force (r,) that ``model.pull`` or ``project`` give.

        It is ``dt`` [s] long, as set unless given. Raises StepFailed where the step cannot be
        solved; the state is then as it was.
        """
        self._use_step(dt)
        self._force[0] = self._weight
        if force is not None:
            shapes = (self._weight.shape,)
            self._force += force if self._is_sound(force) else numbers("force", force, shapes)
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
        self._use_step(None)
        forces = self._weight[None]
        if force is not None:
            r = self.model.size
            forces = forces + np.atleast_2d(numbers("force", force, ((r,), (steps, r))))
        self._advance(steps, np.ascontiguousarray(forces), sampled=len(forces) > 1, record=record)

    def _advance(
        self, steps: int, forces: Floats, *, sampled: bool = False, record: Floats = _NO_RECORD
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
        if self._is_compiled:
            run = stepping.run_steps(*self._context(table), steps, sampled, forces, record)
        else:
            run = self._run_interpreted(steps, forces, table, sampled, record)
        self._count(*run)

    def _run_interpreted(
        self, steps: int, forces: Floats, table: StageTable, sampled: bool, record: Floats
    ) -> tuple[int, int]:
        """The same loop, for energies and damping that are not one polynomial."""
        history = self._history
        end = 6 + 3 * (len(table.c_v) - 1)
        for step in range(steps):
            force = forces[min(step, len(forces) - 1)]
            change = force - self._pushed
            self._jump[:] = history[2]
            if not sampled:
                history[2] += self._inverse_mass @ change
            left = 1 - table.times / self._step if sampled else np.zeros(len(table.times))
            reason = self._take_stages(force - left[:, None] * change, table)
            if reason != DONE:
                stepping.undo(self._context(table)[0])
                return step, reason
            self._pushed[:] = force
            history[3:6] = history[:3]
            history[:3] = history[end : end + 3]
            if step < len(record):
                record[step] = history[:2]
        return steps, DONE

    def _take_stages(self, forces: Floats, table: StageTable) -> int:
        """The stages of one step, with a force (r,) for each."""
        balance, (context, examples) = self._balance, self._context(table)
        for s, force in enumerate(forces):
            stepping.enter_stage(context, s)
            balance.f[:] = force
            reason, size, share = GO_ON, -1.0, 1.0
            for _ in range(self.solver.max_iterations):
                _, balance.R[:], balance.K[:] = self.model.evaluate(balance.x)
                balance.C0[:] = self._damping.matrix(balance.x, balance.K)
                if self._examples is not None:
                    np.dot(self._examples.X, balance.C0, out=self._examples.C0X)
                reason, size, share = stepping.iterate(context, examples, s, size, share)
                if reason != GO_ON:
                    break
            if reason != DONE:
                return NOT_CONVERGED if reason == GO_ON else int(reason)
            if not stepping.leave_stage(context, s):
                return NOT_FINITE
        return DONE

    def _find_acceleration(self, force: Floats) -> None:
        """a from M a = f − C v − R at the state as it was set."""
        q, v = self._history[:2]
        _, R, K = self.model.evaluate(q)
        known = np.isfinite(R).all() and np.isfinite(K).all()
        rest = force - R - self._damping.force(q, v, K) if known else R
        if not (known and np.isfinite(rest).all()):
            raise self._no_start()
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
