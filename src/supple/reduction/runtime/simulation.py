"""A reduced model in motion."""

from __future__ import annotations

from functools import partial
from math import isfinite
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from supple._kernels.reduction import point_stepping, stepping
from supple._kernels.reduction.example_newton import Examples
from supple._kernels.reduction.newton import DONE
from supple.core.checks import numbers, whole_number
from supple.core.errors import InputError, StepFailed
from supple.core.memory import zeros_apart
from supple.core.types import Floats
from supple.integrators import ImplicitIntegrator
from supple.reduction.coordinates import expand
from supple.reduction.damping.examples import ReducedExamples
from supple.reduction.damping.laws import compiled_laws
from supple.reduction.damping.reduced import ReducedDamping
from supple.reduction.damping.rules import reduced_damping
from supple.reduction.damping.strain_rate import NO_RATE
from supple.reduction.model import ReducedModel
from supple.reduction.runtime.balance import NO_GRAMS, is_diagonal, room_to_balance
from supple.reduction.runtime.contact.among import AmongObstacles
from supple.reduction.runtime.interpreted import InterpretedLoop
from supple.reduction.runtime.newton import StepStats, step_stats
from supple.reduction.runtime.points import PointLoop, point_loop
from supple.reduction.runtime.stage_table import StageTable
from supple.reduction.runtime.stepper import skin_shape, still

_NO_RECORD = np.empty((0, 2, 0))


class ReducedSimulation(AmongObstacles):
    """A reduced model, moved by an implicit integrator in steps of ``dt`` [s].

    ``gravity`` is an acceleration (3,) [m/s²]. ``q`` and ``v`` are the coordinates and their rates,
    (r,); assign them for initial conditions. A force acts in full from the start of its step to the
    end, as in full space.
    """

    @property
    def _advice(self) -> str:
        among = "" if self._contacts is None else ", and that obstacles leave the body room"
        return (
            "It was cut into up to 1024 shorter ones without success: check the size of forces and "
            f"coordinates{among}. DenseNewton(iterations=3) goes on all the same."
        )

    def __init__(self, model: ReducedModel, **options: Any) -> None:
        super().__init__(model, **options)
        self._make_room(model.size)
        self._balance: Any = None
        self._examples: Examples | None = None
        self._counts = np.zeros(4, dtype=np.int64)
        self._taken = 0
        self._use(model)

    def _make_room(self, r: int) -> None:
        self._pushed, self._jump = zeros_apart(r), zeros_apart(r)
        self._force = zeros_apart(1, r)

    def _carry(self, into: Floats) -> None:
        super()._carry(into)
        self._make_room(len(into))

    def _arrays(self) -> tuple[Floats, ...]:
        kept: tuple[Floats, ...] = () if self._loop is None else self._loop.state
        if self._laws is not None and self._loop is None:
            kept = self._laws.kept, self._laws.made
        return self._history, self._pushed, self._jump, *kept

    def _forget(self) -> None:
        """Have matrices that are kept from step to step made anew."""
        if self._loop is not None:
            self._loop.forget()
        if self._laws is not None:
            self._laws.made[:] = 0.0

    def _use(self, model: ReducedModel) -> None:
        before: ReducedDamping | None = self.__dict__.get("_damping")
        self._damping = reduced_damping(self.damping, model)
        self._mass = np.ascontiguousarray(model.mass)
        self._inverse_mass = model.inverse_mass
        self._weight = model.weight(self._gravity) + self._damping.push()
        self._use_examples(None if before is None else before.examples)
        self._use_polynomial(model)
        self._follow(model)
        if self._contacts is not None:
            self._contacts.weigh(float(np.linalg.norm(self._weight)))
        self._find_loop(model)
        is_known = self._is_compiled or self._loop is not None
        self._laws = compiled_laws(self._damping) if is_known else None
        rate = self._damping.rate if is_known else None
        self._rate = NO_RATE if rate is None else rate.arrays(self._rate)
        factors, grams = (np.empty(0), NO_GRAMS) if rate is None else rate.lower_grams()
        fits = self._balance is not None and len(self._balance.x) == model.size
        room = self._balance if fits else room_to_balance(model.size)
        self._balance = room._replace(
            M=self._mass,
            C0=self._damping.constant.copy(),
            grams=grams,
            gram_factors=factors,
        )

    def _use_examples(self, before: ReducedExamples | None) -> None:
        """Lay them out for kernels; ``before`` are those that were."""
        examples, constant = self._damping.examples, self._damping.constant.copy()
        if examples is None:
            self._examples = None
        elif examples.differs_in_base_alone(before):
            self._examples = examples.compiled(constant, self._examples)
        else:
            self._examples = examples.compiled(constant)

    @property
    def _knows_damping(self) -> bool:
        return self._damping.is_compiled

    def _find_loop(self, model: ReducedModel) -> None:
        """How a model with a cubature is stepped, if kernels can."""
        stages = max(len(table.times) for table in (self._table, self._start_table))
        self._loop = None
        if self._contacts is None:
            self._loop = point_loop(model, self._damping, self._examples, stages)
        self._contexts = {}

    def _fit_history(self) -> None:
        super()._fit_history()
        self._find_loop(self.model)

    def _make_context(self, table: StageTable) -> Any:
        if self._loop is not None:
            return self._make_point_context(table, self._loop)
        solver, examples, compiled = self.solver, self._examples, self._is_compiled
        options = stepping.Options(
            dt=float(table.times[-1]),
            diagonal=compiled and is_diagonal(self._mass) and is_diagonal(self._damping.constant),
            max_iterations=self._most_iterations(table),
            best_effort=solver.is_best_effort,
            tolerance=solver.tolerance,
        )
        context = stepping.step_context(
            # a single iteration relies on the first guess, and gets the plainer one
            table.compiled(curved=solver.most > 1),
            self._polynomial,
            self._rate,
            self._laws,
            self._balance,
            self._kernel_state(),
            options,
        )
        return context, None if examples is None else stepping.example_context(examples)

    def _make_point_context(self, table: StageTable, loop: PointLoop) -> Any:
        solver = self.solver
        options = point_stepping.PointOptions(
            dt=float(table.times[-1]),
            max_iterations=self._most_iterations(table),
            best_effort=solver.is_best_effort,
            tolerance=solver.tolerance,
            matrix_cost=loop.matrix_cost,
        )
        return point_stepping.point_context(
            table.compiled(curved=solver.most > 1),
            loop.points,
            self._rate,
            self._laws,
            self._balance,
            self._kernel_state(),
            options,
            loop.kept,
            loop.secants,
            self._examples,
        )

    def _kernel_state(self) -> stepping.State:
        kept = self._history, self._pushed, self._jump, self._inverse_mass
        return stepping.State(*kept, self._counts)

    def _interpreted(self, table: StageTable) -> InterpretedLoop:
        return InterpretedLoop(
            model=self.model,
            damping=self._damping,
            table=table,
            balance=self._balance,
            state=self._kernel_state(),
            examples=self._examples,
            contexts=self._context(table),
            most=self._most_iterations(table),
            best_effort=self.solver.is_best_effort,
            contacts=self._contacts,
        )

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
        return float(v @ (self._damping.force(q, v) - self._damping.push()))

    @property
    def stats(self) -> StepStats:
        """What it took so far."""
        return step_stats(self._taken, self._cut, self._counts)

    def _weight_and_momenta(self) -> tuple[float, Floats, Floats]:
        q, v = self._history[:2]
        return self.model.gravitational(q, self._gravity), *self.model.momenta(q, v)

    @property
    def a(self) -> Floats:
        """Accelerations of the coordinates at the end of the last step, (r,)."""
        return still(self._history[2])

    def resume(self, history: Floats, pushed: Floats, *, has_past: bool) -> None:
        """Go on from the states of another simulation, now and one step ago; not checked."""
        self._history[:] = history
        self._pushed[:] = pushed
        self._settled, self._has_past = True, has_past
        self._forget()

    # -- stepping --------------------------------------------------------------------------

    def step(self, *, force: ArrayLike | None = None, dt: float | None = None) -> None:
        """One step, with the reduced external force (r,) that ``model.pull`` or ``project`` give.

        It is ``dt`` [s] long, as set unless given. A step that cannot be solved is cut into shorter
        ones. Raises StepFailed where these fail too; the state is then as it was.
        """
        self._use_step(dt)
        self._force[0] = self._weight
        if force is not None:
            shapes = (self._weight.shape,)
            self._force += force if self._is_sound(force) else numbers("force", force, shapes)
        self._advance(1, self._force)

    def step_under(self, force: Floats) -> None:
        """One step with all of the force (r,) given, that of gravity too; not checked."""
        self._advance(1, force[None])

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
        """Steps with one table, of which those that fail are cut into shorter ones."""
        while True:
            done, reason = self._run(steps, forces, table, sampled, record)
            self._steps += done
            self._taken += done
            if reason == DONE:
                return
            self._take_cut(forces[min(done, len(forces) - 1)], sampled, reason)
            if done < len(record):
                record[done] = self._history[:2]
            self._steps += 1
            self._taken += 1
            steps, record = steps - done - 1, record[done + 1 :]
            if not steps:
                return
            forces = forces[min(done + 1, len(forces) - 1) :]

    def _run(
        self,
        steps: int,
        forces: Floats,
        table: StageTable,
        sampled: bool,
        record: Floats,
        after: float | None = None,
    ) -> tuple[int, int]:
        """Steps until one fails; how many, and why. Parts of one begin ``after`` its start [s]."""
        found: tuple[int, int]
        if self._loop is not None:
            context = self._context(table)
            found = point_stepping.run_point_steps(context, steps, sampled, forces, record)
            return found
        if not self._is_compiled:
            since = self._since(after)
            return self._interpreted(table).run(steps, forces, sampled, record, since)
        if self._contacts is not None:
            state = self._since(after), self._history, table
            return self._contacts.run(self._context(table), state, steps, forces, sampled, record)
        found = stepping.run_steps(*self._context(table), steps, sampled, forces, record)
        return found

    def _take_cut(self, force: Floats, sampled: bool, reason: int) -> None:
        """One step with patience, then as 2, 4, 8, … shorter ones."""
        state = self._history, self._pushed
        before = self._history[:3].copy()
        take = partial(self._take_parts, force, sampled)
        cuts = self._in_parts(reason, int(self._looks_back), state, take)
        # the step as a whole is what the next one looks back on
        self._history[3:6] = before
        share = self._table.times[0] / self._step
        self._history[6] = before[0] + share * (self._history[0] - before[0])
        self._cut += cuts > 0

    def _take_parts(
        self, force: Floats, sampled: bool, parts: int, rule: ImplicitIntegrator
    ) -> int:
        """A step in so many equal parts; DONE, or why one of them could not be solved."""
        start, later = self._cut_tables(parts, rule)
        forces = force[None]
        if sampled:
            shares = np.arange(1, parts + 1)[:, None] / parts
            forces = self._pushed + shares * (force - self._pushed)
        reason = self._run(1, forces, start, sampled, _NO_RECORD, 0.0)[1]
        if reason != DONE or parts == 1:
            return reason
        left = forces[min(1, len(forces) - 1) :]
        after = self._step / parts
        return self._run(parts - 1, left, later, sampled, _NO_RECORD, after)[1]

    def _find_acceleration(self, force: Floats) -> None:
        """a from M a = f − C v − R at the state as it was set."""
        self._forget()
        q, v = self._history[:2]
        quartic = self.model.quartic
        R, K = self.model.evaluate(q)[1:] if quartic is None else quartic.compiled.evaluate(q)
        known = np.isfinite(R).all() and np.isfinite(K).all()
        rest = force - R - self._damping.force(q, v) if known else R
        if not (known and np.isfinite(rest).all()):
            raise self._no_start()
        self._history[2] = self._inverse_mass @ rest
        self._history[3] = self._history[6] = q
        self._pushed[:] = force
        self._settled = True
