"""Many copies of one reduced model, moved together.

The copies of a block stand side by side in the last axis of every array: the stiffness of all of
them is one matrix product, and the small systems are solved for all at once.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from supple._kernels.reduction import crowd
from supple._kernels.reduction.example_newton import Examples
from supple._kernels.reduction.newton import AT_REST
from supple.core.blas import SERIAL_BLAS
from supple.core.checks import numbers, whole_number
from supple.core.errors import InputError, StepFailed
from supple.core.memory import zeros_apart
from supple.core.threads import run_all
from supple.core.types import Floats, Ints
from supple.reduction.coordinates import expand
from supple.reduction.damping.examples import ReducedExamples
from supple.reduction.damping.reduced import ReducedDamping
from supple.reduction.damping.rules import reduced_damping
from supple.reduction.model import ReducedModel
from supple.reduction.polynomial import pair_count, stiffness_rows
from supple.reduction.runtime.base import Stepper
from supple.reduction.runtime.newton import DenseNewton
from supple.reduction.runtime.simulation import ReducedSimulation
from supple.reduction.runtime.stage_table import StageTable
from supple.reduction.runtime.stepper import skin_shape, still

Array = NDArray[Any]

_BLOCK = 128  # copies: enough for the matrix products, few enough for the cache


class CrowdSimulation(Stepper):
    """``copies`` of one model, each with its own coordinates ``q`` (copies, r), rates and forces.

    The other options are those of ReducedSimulation; ``dtype`` is numpy.float64 or numpy.float32,
    which is about twice as fast and keeps three to five digits over thousands of steps.
    """

    def __init__(
        self, model: ReducedModel, *, copies: int, dtype: DTypeLike = np.float64, **options: Any
    ) -> None:
        super().__init__(model, **options)
        self._copies = whole_number("copies", copies, at_least=1)
        self._rescued = 0
        self._alone: ReducedSimulation | None = None
        self._alone_for: Any = None
        if dtype not in (np.float32, np.float64, "float32", "float64"):
            raise InputError(f"dtype={dtype!r}: give numpy.float32 or numpy.float64")
        self._dtype: np.dtype[Any] = np.dtype(dtype)
        self._blocks = self._new_blocks(model.size)
        self._use(model)

    _fixed = dict.fromkeys(("copies", "dtype"), "start another crowd")

    @property
    def copies(self) -> int:
        """How many there are."""
        return self._copies

    @property
    def rescued(self) -> int:
        """Steps of single copies that had to be cut into shorter ones, or searched for."""
        return self._rescued

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of all that is computed."""
        return self._dtype

    def _new_blocks(self, r: int) -> list[_Block]:
        count = min(_BLOCK, self.copies)
        return [
            _Block(min(count, self.copies - first), self._vectors, r, self.dtype)
            for first in range(0, self.copies, count)
        ]

    def _arrays(self) -> tuple[Array, ...]:
        return tuple([array for block in self._blocks for array in block.state()])

    def _carry(self, into: Floats) -> None:
        before, self._blocks = self._blocks, self._new_blocks(len(into))
        for old, new in zip(before, self._blocks, strict=True):
            new.history[:6] = np.einsum("ij,kjc->kic", into, old.history[:6])

    def _fit_history(self) -> None:
        before, self._blocks = self._blocks, self._new_blocks(self.model.size)
        for old, new in zip(before, self._blocks, strict=True):
            new.take_over(old)

    def _stretch_past(self, ratio: float) -> None:
        for block in self._blocks:
            now, before = block.history[0], block.history[3]
            before[...] = now - before.dtype.type(ratio) * (now - before)

    def _use(self, model: ReducedModel) -> None:
        damping = reduced_damping(self.damping, model)
        self._physics = _Physics(model, damping, self.dtype)
        self._weight = model.weight(self._gravity) + damping.push()

    # -- where they are ------------------------------------------------------------------

    @property
    def q(self) -> Floats:
        """Coordinates, (copies, r)."""
        return self._gathered(0)

    @q.setter
    def q(self, value: ArrayLike) -> None:
        self._set(0, "q", value)

    @property
    def v(self) -> Floats:
        """Rates of the coordinates, (copies, r)."""
        return self._gathered(1)

    @v.setter
    def v(self, value: ArrayLike) -> None:
        self._set(1, "v", value)

    def displacements(self, copy: int, *, out: Floats | None = None) -> Floats:
        """Displacements of one copy's volume mesh [m], (n, 3)."""
        return expand(self._one(copy), self.model.vectors, out)

    def skin_vertices(self, copy: int, *, out: Floats | None = None) -> Floats:
        """Where the vertices of one copy's skin are [m], (s, 3)."""
        return skin_shape(self.model, self._one(copy), out)

    def _one(self, copy: int) -> Floats:
        if whole_number("copy", copy, at_least=0) >= self.copies:
            raise InputError(f"copy={copy!r}: this crowd has copies 0 to {self.copies - 1}")
        block, place = divmod(copy, self._blocks[0].copies)
        return self._blocks[block].history[0, :, place].astype(float)

    def _gathered(self, row: int) -> Floats:
        return still(np.concatenate([b.history[row].T for b in self._blocks]))

    def _set(self, row: int, name: str, value: ArrayLike) -> None:
        for block, part in zip(self._blocks, self._split(self._spread(name, value)), strict=True):
            block.history[row] = part
        self._settled = self._has_past = False

    def _spread(self, name: str, value: ArrayLike) -> Floats:
        shape = self.copies, self.model.size
        return np.broadcast_to(numbers(name, value, (shape[1:], shape)), shape)

    def _split(self, values: Floats) -> list[Array]:
        """(copies, r) as one (r, copies) array for each block."""
        ends = np.cumsum([block.copies for block in self._blocks])[:-1]
        return [np.ascontiguousarray(p.T).astype(self.dtype) for p in np.split(values, ends)]

    # -- stepping --------------------------------------------------------------------------

    def step(self, *, force: ArrayLike | None = None, dt: float | None = None) -> None:
        """One step of all copies, with a force (r,) for all or one for each, (copies, r).

        It is ``dt`` [s] long, as set unless given. Copies whose step cannot be solved with the
        others are taken alone, and cut into shorter steps. Raises StepFailed, naming them, where
        that fails too; all are then as they were.
        """
        self._run(1, force, dt)

    def run_steps(self, steps: int, *, force: ArrayLike | None = None) -> None:
        """Many steps with the same forces."""
        self._run(whole_number("steps", steps, at_least=0), force, None)

    def _run(self, steps: int, force: ArrayLike | None, dt: float | None) -> None:
        with SERIAL_BLAS:  # blocks share the work; threads of BLAS would only get in their way
            self._run_blocks(steps, force, dt)

    def _run_blocks(self, steps: int, force: ArrayLike | None, dt: float | None) -> None:
        self._use_step(dt)
        total = np.broadcast_to(self._weight, (self.copies, self.model.size))
        if force is not None:
            total = total + self._spread("force", force)
        for block, part in zip(self._blocks, self._split(total), strict=True):
            block.force[...] = part
        before = self._settled, self._has_past
        if steps and not self._settled:
            for block in self._blocks:
                block.find_acceleration(self._physics)
            self._settled = True
        for step in range(steps):
            for block in self._blocks:
                self._has_past &= not block.apply_force_jump(self._physics)
            table = self._table if self._has_past or not self._looks_back else self._start_table
            run_all([partial(b.take, table, self._physics, self.solver) for b in self._blocks])
            failed = np.flatnonzero(np.concatenate([block.failed for block in self._blocks]))
            try:
                for copy in failed:
                    self._take_alone(int(copy), table)
            except StepFailed as error:
                for block in self._blocks:
                    block.land()
                if step == 0:  # leave no trace of a force that was at fault
                    self._settled, self._has_past = before
                raise self._failure(failed, error) from error
            for block in self._blocks:
                block.accept(len(table.c_v))
            self._has_past = True
            self._steps += 1

    def _take_alone(self, copy: int, table: StageTable) -> None:
        """The step of a copy that failed, by the solver of a single model, which has more means."""
        block, place = divmod(copy, self._blocks[0].copies)
        alone, rows = self._single(), self._blocks[block].column(place)
        alone.resume(rows, self._blocks[block].pushed(place), has_past=self._has_past)
        alone.step_under(self._blocks[block].force[:, place].astype(float))
        self._blocks[block].put(place, len(table.c_v), alone.q, alone.v, alone.a)
        self._rescued += 1

    def _single(self) -> ReducedSimulation:
        """One copy of its own, made anew where settings have changed."""
        made_for = self._settings(), self._step
        if self._alone is None or self._alone_for != made_for:
            options = {"damping": self.damping, "integrator": self.integrator, "dt": self._step}
            self._alone = ReducedSimulation(self.model, **options, solver=self.solver)
            self._alone_for = made_for
        return self._alone

    def _failure(self, failed: Ints, error: StepFailed) -> StepFailed:
        some = ", ".join(map(str, failed[:5])) + (", …" if len(failed) > 5 else "")
        return StepFailed(
            f"the step of {len(failed)} of {self.copies} copies failed ({some})",
            time=self.time + self._step,
            residual=float("nan"),
            advice=error.advice,
        )


class _Physics:
    """What all copies share, in the precision of the crowd."""

    def __init__(self, model: ReducedModel, damping: ReducedDamping, dtype: np.dtype[Any]) -> None:
        self.mass: Array = model.mass.astype(dtype)
        self.dtype = dtype
        self.matrices = crowd.Matrices(self.mass, damping.constant.astype(dtype))
        self.cubature, self.damping, self.full_mass = model.cubature, damping, model.mass
        r, quartic = model.size, model.quartic
        if quartic is not None:
            self.stiffness = _Rows(quartic.P, stiffness_rows(quartic), r, dtype)
        self.rate = None
        if damping.rate is not None:
            self.rate = _Rows(damping.rate.constant, damping.rate.rows, r, dtype)

    def examples(self) -> Examples | None:
        """For kernels, with room of their own."""
        examples = self.damping.examples
        return None if examples is None else examples.compiled(np.zeros_like(self.full_mass))


class _Rows:
    """A matrix of second degree in q: coefficients that all copies share."""

    def __init__(self, P: Floats, rows: Floats, r: int, dtype: np.dtype[Any]) -> None:
        self.P: Array = P.astype(dtype)
        self.linear = np.ascontiguousarray(rows[:r].T).astype(dtype)
        self.quadratic = np.ascontiguousarray(rows[r:].T).astype(dtype)

    def parts(self, x: Array, qq: Array, linear: Array, quadratic: Array) -> crowd.Parts:
        """Its parts at x (r, copies)."""
        np.dot(self.linear, x, out=linear)
        np.dot(self.quadratic, qq, out=quadratic)
        return crowd.Parts(self.P, linear, quadratic)


class _Block:
    """Some copies, side by side, with their scratch arrays."""

    def __init__(self, copies: int, vectors: int, r: int, dtype: np.dtype[Any]) -> None:
        self.copies = copies

        def room(*shape: int) -> Array:
            zeros: Array = zeros_apart(*shape, dtype=dtype)
            return zeros

        self.history = room(vectors, r, copies)
        self.force = room(r, copies)
        self.failed: Array = np.zeros(copies, dtype=bool)
        self._pushed, self._acceleration = room(r, copies), room(r, copies)
        self._past = room(vectors, r, copies)
        pairs = pair_count(r)
        self._delta = room(r, copies)
        self._qq, *self._parts = (room(pairs, copies) for _ in range(3))
        self._examples: Examples | None = None
        self._examples_of: _Physics | None = None
        self._A = room(r, r, copies)
        self._error, self._workspace = room(copies), room(copies)

    def state(self) -> tuple[Array, ...]:
        """What the next step depends on, themselves."""
        return self.history, self._pushed

    def take_over(self, other: _Block) -> None:
        """Go on from the state of another, whose rule may have more stages or fewer."""
        self.history[:6], self._pushed[...] = other.history[:6], other._pushed

    def take(self, table: StageTable, physics: _Physics, solver: DenseNewton) -> None:
        """One step, not yet accepted; ``failed`` says which copies could not take it."""
        kind = self.history.dtype
        at_rest = kind.type(1e-30 if kind == np.float32 else AT_REST)
        tolerance = max(solver.tolerance, 8 * float(np.finfo(kind).eps))
        self.failed[:] = False
        with np.errstate(over="ignore", invalid="ignore"):  # overflow shows in the state
            for s in range(len(table.c_v)):
                here = self.history[6 + 3 * s : 9 + 3 * s]
                self._predict(table, s, here)
                c_v, c_a = kind.type(table.c_v[s]), kind.type(table.c_a[s])
                stage = c_v, c_a, *here, self.history[0], at_rest
                for _ in range(solver.most):
                    self._fill_system(physics, here, c_v, c_a)
                    crowd.solve(self._A, self._delta, self._workspace)
                    crowd.add_correction(self._delta, *stage, self._error, self._workspace)
                    if (self._error[~self.failed] <= tolerance).all():
                        break
                limit = np.finfo(kind).max if solver.is_best_effort else tolerance
                self.failed |= ~(self._error <= limit)
                if self.failed.all():
                    return

    def _predict(self, table: StageTable, s: int, here: Array) -> None:
        """The guess of stage s, with its velocity and acceleration.

        The weights of displacements add up to one, or to none: differences to the one now are
        summed, or the rounding of the weights would move a body at rest.
        """
        width = 6 + 3 * s
        past = self._past[:width]
        past[...] = self.history[:width]
        past[::3] -= self.history[0]
        flat = past.reshape(width, -1)
        tables = table.w_guess, table.v_of_guess, table.a_of_guess
        for weights, row in zip(tables, here, strict=True):
            np.dot(weights[s, :width].astype(past.dtype), flat, out=row.reshape(-1))
        here[0] += self.history[0]

    def apply_force_jump(self, physics: _Physics) -> bool:
        """Let the force act in full from now on; says whether it is another than before."""
        self._acceleration[...] = self.history[2]
        change = self.force - self._pushed
        if not change.any():
            return False
        self.history[2] += np.linalg.solve(physics.mass, change)
        return True

    def land(self) -> None:
        """Undo the last jump."""
        self.history[2] = self._acceleration

    def _fill_system(self, physics: _Physics, state: Array, c_v: Any, c_a: Any) -> None:
        x, v, a = state
        rest = physics.matrices, c_v, c_a, x, v, a, self._A, self._delta
        crowd.fill_pairs(x, self._qq)
        if physics.cubature is not None:
            _, R, K = physics.cubature.evaluate_many(np.ascontiguousarray(x.T, dtype=float))
            kind = self.history.dtype
            crowd.fill_general_system(K.astype(kind), R.astype(kind), self.force, *rest)
        else:
            crowd.fill_system(physics.stiffness.parts(x, self._qq, *self._parts), self.force, *rest)
        if physics.rate is not None:
            parts = physics.rate.parts(x, self._qq, *self._parts)
            crowd.add_rate(parts, c_v, v, self._A, self._delta)
        if not physics.damping.is_closed_form or physics.damping.examples is not None:
            self._add_damping(physics, x, v, c_v)

    def _add_damping(self, physics: _Physics, x: Array, v: Array, c_v: Any) -> None:
        """Damping that is found copy by copy: that at points, and by examples."""
        damping = physics.damping
        C = np.empty((self.copies, len(x), len(x)))
        for l in range(self.copies):
            q, rate = x[:, l].astype(float), v[:, l].astype(float)
            C[l] = damping.matrix(q)
            more, N = damping.evaluate_beside(q, rate)
            for each in damping.points:
                P = each.matrix(q)
                more, N = more + P @ rate, N + P
            self._delta[:, l] -= more
            self._A[:, :, l] += c_v * N
        if self._examples_of is not physics:
            self._examples_of, self._examples = physics, physics.examples()
        if damping.examples is not None and damping.examples.local:
            self._add_local(damping.examples, C, x, v, c_v)
        elif self._examples is not None:
            mass = physics.full_mass
            crowd.add_examples(C, self._examples, mass, c_v, x, v, self._A, self._delta)

    def _add_local(
        self, examples: ReducedExamples, C: Floats, x: Array, v: Array, c_v: Any
    ) -> None:
        """Ĉ − C of examples that have gone elsewhere in every copy."""
        for l in range(self.copies):
            q, rate = x[:, l].astype(float), v[:, l].astype(float)
            more = examples.matrix(q, rate, C[l]) - C[l]
            self._delta[:, l] -= more @ rate
            self._A[:, :, l] += 0.5 * c_v * (more + more.T)

    def column(self, place: int) -> Floats:
        """The history of one copy, (vectors, r), before the jump of the acceleration."""
        rows: Floats = self.history[:, :, place].astype(float)
        rows[2] = self._acceleration[:, place]
        return rows

    def pushed(self, place: int) -> Floats:
        """The force on one copy in the last step, (r,)."""
        pushed: Floats = self._pushed[:, place].astype(float)
        return pushed

    def put(self, place: int, stages: int, *state: Floats) -> None:
        """The end of the step of one copy: q, v and a."""
        last = 6 + 3 * (stages - 1)
        for row, values in enumerate(state):
            self.history[last + row, :, place] = values

    def accept(self, stages: int) -> None:
        self._pushed[...] = self.force
        last = 6 + 3 * (stages - 1)
        self.history[3:6] = self.history[:3]
        self.history[:3] = self.history[last : last + 3]

    def find_acceleration(self, physics: _Physics) -> None:
        """a from M a = f − R − C v."""
        nothing = self.history.dtype.type(0.0)
        state = np.array([self.history[0], self.history[1], np.zeros_like(self.force)])
        self._fill_system(physics, state, nothing, nothing)
        self.history[2] = np.linalg.solve(physics.mass, self._delta)
        self.history[3] = self.history[0]
        self._pushed[...] = self.force
