"""A free reduced body in motion: thrown, tumbling and wobbling (subspace StVK, App. D)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from supple._kernels.reduction import floating as kernels
from supple._kernels.reduction.floating_newton import FloatingOptions
from supple._kernels.reduction.frame import (
    R_NOW,
    Flight,
    FloatingWorkspace,
    L,
    P,
)
from supple._kernels.reduction.laws import law_context
from supple._kernels.reduction.newton import DONE, GAINS
from supple._kernels.reduction.stepping import STOPPED
from supple.core.checks import instance, whole_number
from supple.core.errors import InputError, StepFailed
from supple.core.types import Floats
from supple.integrators import TRBDF2, ImplicitIntegrator
from supple.reduction.damping.laws import compiled_laws
from supple.reduction.damping.strain_rate import NO_RATE
from supple.reduction.model import ReducedModel
from supple.reduction.runtime.floating import FloatingLoad
from supple.reduction.runtime.floating_parts import floating_workspace, free_damping
from supple.reduction.runtime.floating_state import FloatingState
from supple.reduction.runtime.interpreted import InterpretedFlight
from supple.reduction.runtime.newton import StepStats, step_stats
from supple.reduction.runtime.stage_table import StageTable

if TYPE_CHECKING:
    from supple.reduction.runtime.contact.flight import FlightContacts

_QUICK_CUTS = 3  # as often a step is halved at best effort, which has to have a bounded cost


class FloatingSimulation(FloatingState):
    """A reduced model of a body without supports, in steps of ``dt`` [s].

    The body deforms in a frame that moves with it; its turns may be of any size. Momentum changes
    by forces alone, and by the α of Rayleigh damping, which is a drag on all motion as in full
    space. Damping by stiffness acts on the deformation and leaves rigid motion alone, which that of
    the full space does not quite.

    Assign ``q``, ``v``, ``position``, ``rotation``, ``velocity`` and ``spin`` for initial
    conditions; each leaves the others as they are, and all arrays given out are copies. The options
    are those of ReducedSimulation.
    """

    _of_free_bodies = True
    _values = (*FloatingState._values, "_load", "_push")

    _contacts: FlightContacts | None

    @property
    def _advice(self) -> str:
        rule = "" if isinstance(self._integrator, TRBDF2) else ", TRBDF2()"
        return f"Try a smaller dt{rule} or more damping."

    _patience = 20  # there is no line search, which could make something of more

    def __init__(self, model: ReducedModel, **options: Any) -> None:
        super().__init__(model, **options)
        assert model.floating is not None  # checked above
        self._inertia = model.floating
        # points in time, as in the history: now, one step ago and the ends of stages
        self._rigid: Floats = np.zeros((self._vectors // 3, 8, 3))
        self._frame: Floats = np.zeros((7, 3, 3))
        self._frame[R_NOW] = np.eye(3)
        self._rigid[0, P] = self._inertia.centre
        self._load = self._no_load = FloatingLoad(np.zeros(3), np.zeros((model.size + 1, 3, 3)))
        self._push: Floats = np.zeros(3)  # force per mass, with gravity
        self._counts = np.zeros(4, dtype=np.int64)
        self._taken = 0
        self._use(model)

    def _check_rule(self, rule: ImplicitIntegrator, tables: tuple[StageTable, StageTable]) -> None:
        for table in tables:
            if np.abs(table.w_a[:, ::3] - table.w_v[:, ::3]).max() > 1e-12:
                raise InputError(
                    f"integrator={rule!r} makes velocities from displacements as well, in which "
                    "momentum drifts; use one such as Newmark(), TRBDF2() or BDF2()"
                )

    def _arrays(self) -> tuple[Floats, ...]:
        return self._history, self._rigid, self._frame

    def _carry(self, into: Floats) -> None:
        super()._carry(into)
        self._load = self._no_load = FloatingLoad(np.zeros(3), np.zeros((len(into) + 1, 3, 3)))

    def _fit_history(self) -> None:
        super()._fit_history()
        fitted = np.zeros((self._vectors // 3, *self._rigid.shape[1:]))
        both = min(len(fitted), len(self._rigid))
        fitted[:both] = self._rigid[:both]
        self._rigid = fitted

    def _use(self, model: ReducedModel) -> None:
        assert model.floating is not None
        parts = free_damping(self.damping)
        self._alpha, damping = parts.drag, parts.reduced(model)
        self._rigid[0, L] *= model.floating.mass / self._inertia.mass  # the spin stays
        self._inertia, self._damping = model.floating, damping
        self._use_polynomial(model)
        self._laws = compiled_laws(damping) if self._is_compiled else None
        rate = damping.rate if self._is_compiled else None
        self._rate = NO_RATE if rate is None else rate.arrays(self._rate)
        self._workspace = floating_workspace(model.size)
        self._workspace.C0[:] = damping.constant
        self._follow(model)
        if self._contacts is not None:
            pull = float(np.linalg.norm(self._gravity))
            self._contacts.weigh(pull * model.floating.mass)
        self._has_past = False

    def _kind_of_contacts(self) -> type[FlightContacts]:
        from supple.reduction.runtime.contact.flight import FlightContacts

        return FlightContacts

    @property
    def _knows_damping(self) -> bool:
        return self._damping.is_compiled and self._damping.examples is None

    def _make_context(self, table: StageTable) -> Any:
        solver, laws = self.solver, self._laws
        context = kernels.floating_context(
            table.compiled(),
            self._polynomial,
            self._rate,
            self._inertia.compiled,
            self._flight(),
            self._counted(),
            FloatingOptions(
                alpha=self._alpha,
                max_iterations=self._most_iterations(table),
                best_effort=solver.is_best_effort,
                tolerance=solver.tolerance,
            ),
        )
        return context, None if laws is None else law_context(laws)

    def _counted(self) -> FloatingWorkspace:
        """Room for the kernels, which count in it what they take."""
        return self._workspace._replace(counts=self._counts)

    def _interpreted(self, table: StageTable) -> InterpretedFlight:
        return InterpretedFlight(
            model=self.model,
            damping=self._damping,
            table=table,
            workspace=self._counted(),
            context=self._context(table)[0],
            load=self._load.moments,
            push=self._push,
            solver=self.solver,
            most=self._most_iterations(table),
            contacts=self._contacts,
            flight=self._flight(),
        )

    # -- stepping --------------------------------------------------------------------------

    def step(self, *, force: FloatingLoad | None = None, dt: float | None = None) -> None:
        """One step, with the forces of the world that ``model.pull`` or ``project`` give.

        They act in full from the start of the step to its end, which is ``dt`` [s] later, as set
        unless given. A step that cannot be solved is cut into shorter ones. Raises StepFailed where
        these fail too; the state is then as it was.
        """
        self._run(1, force, dt)

    def run_steps(self, steps: int, *, force: FloatingLoad | None = None) -> None:
        """Many steps in one compiled loop, with the same forces on the same vertices."""
        self._run(steps, force, None)

    def _run(self, steps: int, force: FloatingLoad | None, dt: float | None) -> None:
        load = self._no_load if force is None else force
        instance("force", load, FloatingLoad, "model.pull(vertex, (0, 0, 1))")
        if load.moments.shape != self._no_load.moments.shape:
            raise InputError(
                f"this load is of a model with {len(load.moments) - 1} coordinates, not "
                f"{self.model.size}; make it with pull or project of this model"
            )
        if not whole_number("steps", steps, at_least=0):
            return
        self._use_step(dt)
        before = self._settled, self._has_past, self._load, self._push
        accelerations = self._history[2].copy(), self._rigid[0].copy()
        done = self._steps
        try:
            self._find_acceleration(load)
            if self._looks_back and not self._has_past:
                self._take(1, self._start_table)
                steps -= 1
            if steps:
                self._take(steps, self._table)
        except StepFailed:
            if self._steps == done:  # leave no trace of a load that was at fault
                self._settled, self._has_past, self._load, self._push = before
                self._history[2], self._rigid[0] = accelerations
            raise

    def _power_at(self, row: int) -> float:
        """α is a drag on all of the motion."""
        q, v = self._history[row : row + 2]
        return float(v @ self._damping.force(q, v)) + 2 * self._alpha * self._kinetic_at(row // 3)

    @property
    def stats(self) -> StepStats:
        """What it took so far."""
        return step_stats(self._taken, self._cut, self._counts)

    def _find_acceleration(self, load: FloatingLoad) -> None:
        """Accelerations that belong to the state and the load; one that jumps ends the past."""
        push = load.force / self._inertia.mass + self._gravity
        same = load is self._load or np.array_equal(load.moments, self._load.moments)
        if self._settled and same and np.array_equal(push, self._push):
            return
        q, v, inner = *self._history[:2], self._workspace.R
        context, _ = self._context(self._table)
        if self._settled:
            kernels.find_inner_force(context, self._load.moments, inner)
        else:
            self._history[3] = q - self._step * v  # Coriolis forces want a guess that moves
            inner[:] = self.model.evaluate(q)[1] + self._damping.force(q, v)
        self._load, self._push, self._has_past = load, push, False
        self._settled = kernels.find_accelerations(context, inner, load.moments, push)
        if not self._settled:
            raise self._no_start()

    def _take(self, steps: int, table: StageTable) -> None:
        """Steps with one table, of which those that fail are cut into shorter ones."""
        while True:
            done, reason = self._run_table(steps, table)
            self._has_past |= done > 0
            self._taken += done
            self._count(done, DONE)
            if reason == DONE:
                return
            self._take_cut(reason)
            self._taken += 1
            self._count(1, DONE)
            steps -= done + 1
            if not steps:
                return
            if self._looks_back:
                self._take(1, self._start_table)
                steps -= 1

    def _run_table(
        self, steps: int, table: StageTable, after: float | None = None
    ) -> tuple[int, int]:
        """Steps until one fails; how many, and why. Parts of one begin ``after`` its start [s]."""
        if not self._is_compiled:
            return self._interpreted(table).run(steps, self._since(after))
        taken = 0
        while True:
            left = steps - taken, self._load.moments, self._push
            if self._contacts is None:
                done, reason = kernels.run_floating_steps(*self._context(table), *left)
            else:
                now, flight = self._since(after), self._flight()
                state = (now[0], now[1] + taken), flight, table
                done, reason = self._contacts.fly(self._context(table), state, *left)
            taken += int(done)
            if reason in (DONE, GAINS) or self._laws is None:
                return taken, int(reason)
            # laws have a definite matrix near the derivative; Python has the derivative itself
            start = self._since(after)
            done, reason = self._interpreted(table).run(1, (start[0], start[1] + taken))
            taken += done
            if reason != DONE or taken == steps:
                return taken, reason

    def _flight(self) -> Flight:
        return Flight(self._history, self._rigid, self._frame)

    def _take_cut(self, reason: int) -> None:
        """One step as 2, 4, 8, … shorter ones; if none will do, best effort stops the body."""
        state = self._history, self._rigid, self._frame
        try:
            self._in_parts(reason, 1, state, self._take_parts)
        except StepFailed:
            if not self.solver.is_best_effort:
                raise
            self._stop()
            return
        self._has_past = False  # a shorter step ago is not a step ago
        self._cut += 1

    @property
    def _most_cuts(self) -> int:
        return _QUICK_CUTS if self.solver.is_best_effort else super()._most_cuts

    def _stop(self) -> None:
        """Stay where it is, at rest, in place of a step that cannot be taken."""
        q, position = self._history[0].copy(), self._rigid[0, P].copy()
        self._history[:], self._rigid[:] = 0.0, 0.0
        self._history[::3], self._rigid[:, P] = q, position
        self._counts[STOPPED] += 1
        self._settled = self._has_past = False

    def _take_parts(self, parts: int, rule: ImplicitIntegrator) -> int:
        """A step in so many equal parts; DONE, or why one of them could not be solved."""
        start, later = self._cut_tables(parts, rule)
        reason = self._run_table(1, start, 0.0)[1]
        if reason != DONE or parts == 1:
            return reason
        return self._run_table(parts - 1, later, self._step / parts)[1]
