"""Steps of a reduced model with forces from Python, for energies and damping kernels do not know.

The stages and Newton's method are those of the compiled loops, piece by piece.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from supple._kernels.reduction import floating, stepping
from supple._kernels.reduction.example_newton import Examples
from supple._kernels.reduction.frame import Flight, FloatingWorkspace
from supple._kernels.reduction.newton import (
    DONE,
    GAINS,
    GO_ON,
    NO_ROOM,
    NOT_CONVERGED,
    NOT_FINITE,
    Balance,
)
from supple.core.types import Floats
from supple.reduction.damping.reduced import ReducedDamping
from supple.reduction.model import ReducedModel
from supple.reduction.runtime.newton import DenseNewton
from supple.reduction.runtime.stage_table import StageTable

if TYPE_CHECKING:
    from supple.reduction.runtime.contact.contacts import ReducedContacts
    from supple.reduction.runtime.contact.flight import FlightContacts


@dataclass(frozen=True, eq=False, kw_only=True)
class InterpretedLoop:
    """The loop of a simulation for one table of stages, on the arrays of that simulation."""

    model: ReducedModel
    damping: ReducedDamping
    table: StageTable
    balance: Balance
    state: stepping.State
    examples: Examples | None
    contexts: tuple[Any, Any]
    """Of the step and of its examples, for kernels."""
    most: int
    """Iterations of a stage."""
    best_effort: bool
    contacts: ReducedContacts | None = None

    def run(
        self, steps: int, forces: Floats, sampled: bool, record: Floats, since: tuple[float, int]
    ) -> tuple[int, int]:
        """As ``stepping.run_steps``; steps are counted ``since`` a time [s], by so many."""
        (history, pushed, jump, inverse_mass, counts), table = self.state, self.table
        end = 6 + 3 * (len(table.c_v) - 1)
        for step in range(steps):
            force = forces[min(step, len(forces) - 1)]
            change = force - pushed
            jump[:] = history[2]
            if not sampled:
                history[2] += inverse_mass @ change
            left = 1 - table.times / table.times[-1] if sampled else np.zeros(len(table.times))
            now = since[0], since[1] + step
            reason = self._take_stages(force - left[:, None] * change, now)
            while self.contacts is not None and reason == self.contacts.NO_ROOM:
                self.contacts.undo()
                self.contacts.grow()
                reason = self._take_stages(force - left[:, None] * change, now)
            pushed[:] = force
            if reason != DONE and self.contacts is not None:
                self.contacts.undo()
            if reason == DONE:
                history[3:6] = history[:3]
                history[:3] = history[end : end + 3]
            elif self.best_effort:
                history[::3], history[1::3], history[2::3] = history[0].copy(), 0.0, 0.0
                counts[stepping.STOPPED] += 1
            else:
                pushed[:] = force - change
                stepping.undo(self.contexts[0])
                return step, reason
            if step < len(record):
                record[step] = history[:2]
        return steps, DONE

    def _take_stages(self, forces: Floats, since: tuple[float, int]) -> int:
        """The stages of one step, with a force (r,) for each."""
        (context, examples), contacts = self.contexts, self.contacts
        if contacts is not None:
            poses = contacts.poses(self.table, since, 1)
            contacts.find_given(self.state.history, self.table, since)
        for s, force in enumerate(forces):
            stepping.enter_stage(context, s)
            self.balance.f[:] = force
            if contacts is not None and not contacts.enter_stage(context, poses, s):
                return contacts.NO_ROOM
            reason, size = GO_ON, -1.0
            for _ in range(self.most):
                self._fill_balance(self.table.c_v[s])
                if contacts is None:
                    reason, size = stepping.iterate(context, examples, s, size)
                else:
                    reason, size = contacts.iterate(self.contexts, poses, s, size)
                if reason != GO_ON:
                    break
            if reason == GO_ON:
                self.state.counts[stepping.UNSOLVED] += self.best_effort
                reason = DONE if self.best_effort else NOT_CONVERGED
            if reason != DONE:
                return int(reason)
            if not stepping.leave_stage(context, s):
                return NOT_FINITE
            if contacts is not None:
                contacts.leave_stage(context, s)
        return DONE

    def _fill_balance(self, c_v: float) -> None:
        """Forces, stiffness and damping at x."""
        balance, damping = self.balance, self.damping
        _, balance.R[:], balance.K[:] = self.model.evaluate(balance.x)
        balance.C0[:] = damping.matrix(balance.x)
        if damping.beside:  # one more force, and what it adds to the tangent
            force, C = damping.evaluate_beside(balance.x, c_v * (balance.x - balance.x_v))
            balance.R[:] += force
            balance.K[:] += c_v * C
        if self.examples is not None and damping.examples is not None:
            damping.examples.update(self.examples, balance.x)
            self.examples.C0[:] = balance.C0
            np.dot(self.examples.X, balance.C0, out=self.examples.C0X)


@dataclass(frozen=True, eq=False, kw_only=True)
class InterpretedFlight:
    """The same for a free body, under one load."""

    model: ReducedModel
    damping: ReducedDamping
    table: StageTable
    workspace: FloatingWorkspace
    context: Any
    """For kernels."""
    load: Floats
    push: Floats
    solver: DenseNewton
    most: int
    """Iterations of a stage."""
    contacts: FlightContacts | None
    flight: Flight

    def run(self, steps: int, since: tuple[float, int]) -> tuple[int, int]:
        """As ``floating.run_floating_steps``; steps are counted ``since`` a time [s]."""
        for step in range(steps):
            reason = self._take_stages((since[0], since[1] + step))
            while self.contacts is not None and reason == NO_ROOM:
                self.contacts.undo()
                self.contacts.grow()
                reason = self._take_stages((since[0], since[1] + step))
            if reason == DONE and self._gains():
                reason = GAINS
            if reason != DONE:
                if self.contacts is not None:
                    self.contacts.undo()
                return step, reason
            floating.end_step(self.context)
        return steps, DONE

    def _gains(self) -> bool:
        if self.contacts is None:
            return False
        history = self.flight.history
        ends = history[0], history[3 + 3 * len(self.table.c_v)]
        before, after = (self.model.evaluate(q)[0] for q in ends)
        return self.contacts.gains(self.context, (before, after), self.load, self.push)

    def _take_stages(self, since: tuple[float, int]) -> int:
        """The stages of one step."""
        poses = None
        if self.contacts is not None:
            poses = self.contacts.poses(self.table, since, 1)
            self.contacts.find_given_in_flight(self.flight, self.table, since)
        for s in range(len(self.table.c_v)):
            reason = self._take_stage(s, poses)
            if reason != DONE:
                return reason
        return DONE

    def _take_stage(self, s: int, poses: Floats | None) -> int:
        context, load, contacts, given = self.context, self.load, self.contacts, 0
        if contacts is None or poses is None:
            floating.enter_stage(context, s, self.push)
        else:
            given = contacts.enter(context, s, self.push, poses)
            if given < 0:
                return NO_ROOM
        reason, iteration = GO_ON, 0
        while True:
            if contacts is None or poses is None:
                moved = floating.move_stage(context, s, load)
            else:
                moved = contacts.move(context, s, load, self.push)
            if not moved:
                return NOT_CONVERGED
            if reason == DONE:
                complete = 1
                if contacts is not None and poses is not None:
                    complete = contacts.is_complete(context, s, poses, given)
                if complete < 0:
                    return NO_ROOM
                if complete > 0:
                    break
            if iteration == self.most:
                if self.solver.is_best_effort:
                    self.workspace.counts[stepping.UNSOLVED] += 1
                    break
                return NOT_CONVERGED
            iteration += 1
            self._fill_balance(self.table.c_v[s])
            if contacts is None or poses is None:
                reason = int(floating.iterate(context, s, load))
            else:
                reason = contacts.correct(context, s, poses, given)
            if reason not in (DONE, GO_ON):
                return reason
        if contacts is None or poses is None:
            left = floating.leave_stage(context, s)
        else:
            left = contacts.leave(context, s, poses, given)
        return DONE if left else NOT_FINITE

    def _fill_balance(self, c_v: float) -> None:
        """Forces, stiffness and damping at the coordinates of the stage."""
        w, damping = self.workspace, self.damping
        q, v = w.X[0], w.X[1]
        _, w.R[:], w.K[:] = self.model.evaluate(q)
        w.C[:] = damping.matrix(q)
        if damping.examples is not None:
            w.C[:] = damping.examples.matrix(q, v, w.C)
        if damping.beside:
            force, C = damping.evaluate_beside(q, v)
            w.R[:] += force
            w.K[:] += c_v * C
