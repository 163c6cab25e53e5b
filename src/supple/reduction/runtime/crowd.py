"""Many copies of one reduced model, moved together.

The copies of a block stand side by side in the last axis of every array: the stiffness of all of
them is one matrix product, and the small systems are solved for all at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from supple._kernels.reduction.stepping import ITERATIONS, UNSOLVED
from supple.contact import Obstacle
from supple.core.blas import SERIAL_BLAS
from supple.core.checks import numbers, whole_number
from supple.core.errors import InputError, StepFailed
from supple.core.threads import run_all
from supple.core.types import Floats, Ints
from supple.reduction.coordinates import expand
from supple.reduction.damping.rules import reduced_damping
from supple.reduction.model import ReducedModel
from supple.reduction.runtime.base import Stepper
from supple.reduction.runtime.contact.among import several_obstacles
from supple.reduction.runtime.crowd_block import Array, CrowdBlock, CrowdPhysics
from supple.reduction.runtime.newton import COUNTED, StepStats, step_stats
from supple.reduction.runtime.simulation import ReducedSimulation
from supple.reduction.runtime.stage_table import StageTable
from supple.reduction.runtime.stepper import skin_shape, still

if TYPE_CHECKING:
    from supple.reduction.runtime.contact.crowd import CrowdContacts

_BLOCK = 128  # copies: enough for the matrix products, few enough for the cache


class CrowdSimulation(Stepper):
    """``copies`` of one model, each with its own coordinates ``q`` (copies, r), rates and forces.

    The other options are those of ReducedSimulation; ``dtype`` is numpy.float64 or numpy.float32,
    which is about twice as fast and keeps three to five digits over thousands of steps.
    """

    def __init__(
        self,
        model: ReducedModel,
        *,
        copies: int,
        dtype: DTypeLike = np.float64,
        obstacles: Obstacle | Sequence[Obstacle] = (),
        **options: Any,
    ) -> None:
        super().__init__(model, **options)
        self._obstacles = several_obstacles(obstacles)
        self._contacts: CrowdContacts | None = None
        self._copies = whole_number("copies", copies, at_least=1)
        self._rescued = self._taken = self._cut = 0
        self._counts = np.zeros(4, dtype=np.int64)
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
    def stats(self) -> StepStats:
        """What it took so far, all copies together."""
        return step_stats(self._taken * self.copies, self._cut, self._counts)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of all that is computed."""
        return self._dtype

    def _new_blocks(self, r: int) -> list[CrowdBlock]:
        count = min(_BLOCK, self.copies)
        return [
            CrowdBlock(min(count, self.copies - first), self._vectors, r, self.dtype)
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
        self._physics = CrowdPhysics(model, damping, self.dtype)
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

    @property
    def kinetic(self) -> Floats:
        """Kinetic energy of each copy [J], (copies,)."""
        v = self.v
        return np.asarray(0.5 * np.einsum("ni,ij,nj->n", v, self.model.mass, v))

    @property
    def elastic(self) -> Floats:
        """Elastic energy of each copy [J], (copies,)."""
        return np.array([self.model.energy(q) for q in self.q])

    @property
    def damping_power(self) -> Floats:
        """Power that damping takes from the motion of each copy [W], (copies,)."""
        damping = self._physics.damping
        push = damping.push()
        both = zip(self.q, self.v, strict=True)
        return np.array([v @ (damping.force(q, v) - push) for q, v in both])

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

    # -- obstacles -------------------------------------------------------------------------

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """What keeps all of them out; assign others and go on."""
        return self._obstacles

    @obstacles.setter
    def obstacles(self, obstacles: Obstacle | Sequence[Obstacle]) -> None:
        given = several_obstacles(obstacles)
        if given != self._obstacles:
            from supple.reduction.runtime.contact.crowd import CrowdContacts  # if there are any

            before, self._obstacles, self._known_settings = self._obstacles, given, None
            try:
                if self._contacts is not None and self._alone is not None and given:
                    self._alone.obstacles = given  # cheap for a live hand, as it moves
                    self._alone_for = self._settings(), self._step
                    self._contacts = CrowdContacts(self._contacts.one, self._contacts)
                self._single()
            except Exception:
                self._obstacles, self._known_settings = before, None
                raise

    def contact_forces(self, copy: int) -> Floats:
        """Force of the obstacles on every vertex of one copy, as ReducedSimulation has it [N]."""
        self._one(copy)
        found = self._single().contact_forces
        return found if self._contacts is None else self._contacts.forces(copy)

    @property
    def obstacle_forces(self) -> Floats:
        """Force of each copy on each obstacle at the end of the last step [N], (copies, k, 3)."""
        if self._contacts is None:
            return np.zeros((self.copies, len(self._obstacles), 3))
        return self._contacts.on_obstacles(self.copies)

    def _contact_memory(self) -> Any:
        return None if self._contacts is None else dict(self._contacts.kept)

    def _recall_contacts(self, memory: Any) -> None:
        if memory:
            self._single()  # a crowd that has not met obstacles yet has no contacts
        if self._contacts is not None:
            self._contacts.kept = dict(memory or {})

    def _set_obstacles(self, obstacles: tuple[Obstacle, ...]) -> None:
        self.obstacles = obstacles

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
            kept = self._contact_memory()
            near = self._near(table)
            try:
                for copy in np.union1d(failed, near) if len(failed) else near:
                    self._take_alone(int(copy), table)
                self._rescued += len(failed)
            except StepFailed as error:
                self._recall_contacts(kept)
                for block in self._blocks:
                    block.land()
                if step == 0:  # leave no trace of a force that was at fault
                    self._settled, self._has_past = before
                raise self._failure(failed, error) from error
            for block in self._blocks:
                block.accept(len(table.c_v))
                self._counts[[ITERATIONS, UNSOLVED]] += block.iterations, block.unsolved
            self._has_past = True
            self._steps += 1
            self._taken += 1

    def _take_alone(self, copy: int, table: StageTable) -> None:
        """The step of a copy that failed, by the solver of a single model, which has more means."""
        block, place = divmod(copy, self._blocks[0].copies)
        alone, rows = self._single(), self._blocks[block].column(place)
        alone.resume(rows, self._blocks[block].pushed(place), has_past=self._has_past)
        alone.time = self.time
        if self._contacts is not None:
            self._contacts.lend(copy)
        before = alone.stats
        alone.step_under(self._blocks[block].force[:, place].astype(float))
        after = alone.stats
        self._cut += after.cut - before.cut
        self._counts += [getattr(after, name) - getattr(before, name) for name in COUNTED]
        self._blocks[block].put(place, len(table.c_v), alone.q, alone.v, alone.a)
        if self._contacts is not None:
            self._contacts.kept[copy] = self._contacts.one.memory()

    def _near(self, table: StageTable) -> Ints:
        """The copies that may touch an obstacle on the way that they would take without any."""
        if not self._obstacles:
            return np.empty(0, dtype=np.int64)
        self._single()
        assert self._contacts is not None  # as there are obstacles
        last, found = 6 + 3 * (len(table.c_v) - 1), []
        for block in self._blocks:
            now, then = block.history[0], block.history[last]
            if block.failed.any():
                then = np.where(block.failed, now, then)
            found.append(self._contacts.near(now, then, self.time, self._step))
        near = np.flatnonzero(found[0] if len(found) == 1 else np.concatenate(found))
        kept = self._contacts.kept
        if kept:
            for copy in kept.keys() - set(near.tolist()):
                del kept[copy]
        return near

    def _single(self) -> ReducedSimulation:
        """One copy of its own, made anew where settings have changed."""
        made_for = self._settings(), self._step
        if self._alone is None or self._alone_for != made_for:
            options: dict[str, Any] = {
                "damping": self.damping,
                "integrator": self.integrator,
                "dt": self._step,
            }
            options |= {"obstacles": self._obstacles, "gravity": self._gravity}
            self._alone = ReducedSimulation(self.model, **options, solver=self.solver)
            self._alone_for = made_for
            made, before = self._alone.contacts, self._contacts
            self._contacts = None
            if made is not None:
                from supple.reduction.runtime.contact.crowd import CrowdContacts  # if there are any

                self._contacts = CrowdContacts(made, before)
        return self._alone

    def _failure(self, failed: Ints, error: StepFailed) -> StepFailed:
        some = ", ".join(map(str, failed[:5])) + (", …" if len(failed) > 5 else "")
        return StepFailed(
            f"the step of {len(failed)} of {self.copies} copies failed ({some})",
            time=self.time + self._step,
            residual=float("nan"),
            advice=error.advice,
        )
