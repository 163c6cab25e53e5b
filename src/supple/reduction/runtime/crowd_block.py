"""Some copies of a reduced model, side by side in the last axis of every array, and their steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple._kernels.reduction import crowd
from supple._kernels.reduction.example_newton import Examples
from supple._kernels.reduction.laws import PointLaws
from supple._kernels.reduction.newton import AT_REST
from supple.core.memory import zeros_apart
from supple.core.types import Floats
from supple.reduction.damping.examples import ReducedExamples
from supple.reduction.damping.laws import compiled_laws
from supple.reduction.damping.reduced import ReducedDamping
from supple.reduction.model import ReducedModel
from supple.reduction.polynomial import pair_count, stiffness_rows
from supple.reduction.runtime.newton import DenseNewton
from supple.reduction.runtime.stage_table import StageTable

Array = NDArray[Any]


class CrowdPhysics:
    """What all copies share, in the precision of the crowd."""

    def __init__(self, model: ReducedModel, damping: ReducedDamping, dtype: np.dtype[Any]) -> None:
        self.mass: Array = model.mass.astype(dtype)
        self.dtype = dtype
        self.matrices = crowd.Matrices(self.mass, damping.constant.astype(dtype))
        self.cubature, self.damping, self.full_mass = model.cubature, damping, model.mass
        self.interpreted = damping.without_laws()
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

    def laws(self) -> PointLaws | None:
        """The same of damping at points."""
        return compiled_laws(self.damping)


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


class CrowdBlock:
    """Some copies, side by side, with their scratch arrays."""

    def __init__(self, copies: int, vectors: int, r: int, dtype: np.dtype[Any]) -> None:
        self.copies = copies

        def room(*shape: int) -> Array:
            zeros: Array = zeros_apart(*shape, dtype=dtype)
            return zeros

        self.history = room(vectors, r, copies)
        self.force = room(r, copies)
        self.failed: Array = np.zeros(copies, dtype=bool)
        self.iterations = self.unsolved = 0  # of the last step, over all copies
        self._pushed, self._acceleration = room(r, copies), room(r, copies)
        self._past = room(vectors, r, copies)
        pairs = pair_count(r)
        self._delta = room(r, copies)
        self._qq, *self._parts = (room(pairs, copies) for _ in range(3))
        self._examples: Examples | None = None
        self._laws: PointLaws | None = None
        self._damped_as: CrowdPhysics | None = None
        self._A = room(r, r, copies)
        self._error, self._workspace = room(copies), room(copies)

    def state(self) -> tuple[Array, ...]:
        """What the next step depends on, themselves."""
        return self.history, self._pushed

    def take_over(self, other: CrowdBlock) -> None:
        """Go on from the state of another, whose rule may have more stages or fewer."""
        self.history[:6], self._pushed[...] = other.history[:6], other._pushed

    def take(self, table: StageTable, physics: CrowdPhysics, solver: DenseNewton) -> None:
        """One step, not yet accepted; ``failed`` says which copies could not take it."""
        kind = self.history.dtype
        at_rest = kind.type(1e-30 if kind == np.float32 else AT_REST)
        tolerance = max(solver.tolerance, 8 * float(np.finfo(kind).eps))
        self.failed[:] = False
        self.iterations = self.unsolved = 0
        with np.errstate(over="ignore", invalid="ignore"):  # overflow shows in the state
            for s in range(len(table.c_v)):
                here = self.history[6 + 3 * s : 9 + 3 * s]
                self._predict(table, s, here)
                c_v, c_a = kind.type(table.c_v[s]), kind.type(table.c_a[s])
                stage = c_v, c_a, *here, self.history[0], at_rest
                for _ in range(solver.most):
                    self.iterations += len(self.failed)
                    self._fill_system(physics, here, c_v, c_a)
                    crowd.solve(self._A, self._delta, self._workspace)
                    crowd.add_correction(self._delta, *stage, self._error, self._workspace)
                    if (self._error[~self.failed] <= tolerance).all():
                        break
                limit = np.finfo(kind).max if solver.is_best_effort else tolerance
                self.failed |= ~(self._error <= limit)
                self.unsolved += int((self._error[~self.failed] > tolerance).sum())
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

    def apply_force_jump(self, physics: CrowdPhysics) -> bool:
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

    def _fill_system(self, physics: CrowdPhysics, state: Array, c_v: Any, c_a: Any) -> None:
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

    def _add_damping(self, physics: CrowdPhysics, x: Array, v: Array, c_v: Any) -> None:
        """Damping that is found copy by copy: that at points, and by examples."""
        if self._damped_as is not physics:
            self._damped_as = physics
            self._examples, self._laws = physics.examples(), physics.laws()
        examples, interpreted = physics.damping.examples, physics.interpreted
        # what examples are over, copy by copy; none where there are no examples
        C = np.zeros((0 if examples is None else self.copies, len(x), len(x)))
        if examples is not None or not interpreted.is_closed_form:
            self._add_interpreted(interpreted, C, x, v, c_v)
        if self._laws is not None:
            crowd.add_laws(self._laws, C, c_v, x, v, self._A, self._delta)
        if examples is not None and examples.local:
            self._add_local(examples, C, x, v, c_v)
        elif self._examples is not None:
            mass = physics.full_mass
            crowd.add_examples(C, self._examples, mass, c_v, x, v, self._A, self._delta)

    def _add_interpreted(
        self, damping: ReducedDamping, C: Floats, x: Array, v: Array, c_v: Any
    ) -> None:
        """What only Python knows, and C̃ of it into C if that is asked for."""
        for l in range(self.copies):
            q, rate = x[:, l].astype(float), v[:, l].astype(float)
            if len(C):
                C[l] = damping.matrix(q)
            more, N = damping.evaluate_beside(q, rate)
            for each in damping.points:
                P = each.matrix(q)
                more, N = more + P @ rate, N + P
            self._delta[:, l] -= more
            self._A[:, :, l] += c_v * N

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

    def find_acceleration(self, physics: CrowdPhysics) -> None:
        """a from M a = f − R − C v."""
        nothing = self.history.dtype.type(0.0)
        state = np.array([self.history[0], self.history[1], np.zeros_like(self.force)])
        self._fill_system(physics, state, nothing, nothing)
        self.history[2] = np.linalg.solve(physics.mass, self._delta)
        self.history[3] = self.history[0]
        self._pushed[...] = self.force
