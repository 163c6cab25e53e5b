"""One scenario, played by models of the same body: a start, forces on vertices, and a rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.solid import Body
from supple.core.checks import several
from supple.core.errors import InputError
from supple.core.types import Floats
from supple.damping import Damping, ExampleDamping
from supple.dynamics.problem import BodyProblem
from supple.dynamics.simulation import Simulation
from supple.dynamics.terms import terms_of
from supple.reduction.coordinates import expand
from supple.reduction.model import ReducedModel
from supple.reduction.modes import mass_times, products
from supple.reduction.runtime.floating_simulation import FloatingSimulation
from supple.reduction.runtime.simulation import ReducedSimulation
from supple.solvers.newton import Newton

_ROUGH = 1e-3  # share of the forces that may be left, where only the way is looked at

Force = ArrayLike | Callable[[float], ArrayLike | None] | None
"""On all vertices, (n, 3) [N]: always the same, or that of the step that starts at a time [s]."""

Live = ReducedSimulation | FloatingSimulation


@dataclass(frozen=True, eq=False)
class Played:
    """How a model moved: ``q`` and its rates ``v`` (T, r); the frames (T, 6, 3) of a free body.

    A frame is the rotation, the position, and the velocity and the spin. ``residuals`` (s, n, 3)
    [N] are the forces that the model leaves unbalanced at some moments, in the body's own frame.
    """

    model: ReducedModel
    q: Floats
    v: Floats
    frames: Floats | None
    residuals: Floats

    def displacements(self, step: int) -> Floats:
        """In the world [m], (n, 3)."""
        if self.frames is None:
            return expand(self.q[step], self.model.vectors)
        assert self.model.floating is not None
        arms = expand(self.q[step], self.model.vectors) + self.model.floating.arms
        R, place = self.frames[step, :3], self.frames[step, 3]
        return np.asarray(arms @ R.T + place - self.model.mesh.vertices)


@dataclass(frozen=True, eq=False)
class Scenario:
    """What a simulation would do from where it is, in ``steps`` under a ``force``."""

    live: Live
    body: Body
    steps: int
    force: Force

    @cached_property
    def times(self) -> Floats:
        """Ends of the steps and, first, the start [s], (T,)."""
        return np.asarray(self.live.time + self.live.dt * np.arange(self.steps + 1.0))

    @cached_property
    def _dampings(self) -> Sequence[Damping]:
        return several("damping", self.live.damping or (), Damping, "Rayleigh(mass=0.1)")

    @cached_property
    def _problem(self) -> BodyProblem:
        return BodyProblem(self.body, terms_of(self.body, self._dampings))

    @cached_property
    def damped_shapes(self) -> list[Floats]:
        """Examples of the damping, (n, 3) each: every model must have these, moved or not."""
        by_example = [each for each in self._dampings if isinstance(each, ExampleDamping)]
        shapes = [example.shape for each in by_example for example in each.examples]
        shapes += [each.about for each in by_example if each.about is not None]
        return [np.where(self.body.free, shape, 0.0) for shape in shapes]

    @cached_property
    def _weight(self) -> Floats:
        return self.body.weight(self.live.gravity)

    def forces(self) -> Iterator[Floats | None]:
        """The force of each step."""
        if self.force is None or not callable(self.force):
            same = None if self.force is None else self.body.checked("force", self.force)
            for _ in range(self.steps):
                yield same
            return
        for time in self.times[:-1]:
            given = self.force(float(time))
            yield None if given is None else self.body.checked("force(t)", given)

    def simulation(self, model: ReducedModel, *, substeps: int = 1) -> Live:
        """Another model where this one is, as near as its vectors come to that."""
        live = self.live
        back = np.linalg.solve(model.mass, mass_products(self.body, model, live.model))
        other: Live = model.simulation(
            damping=live.damping,
            integrator=live.integrator,
            dt=live.dt / substeps,
            gravity=live.gravity,
            solver=live.solver,
        )
        other.q, other.v = back @ live.q, back @ live.v
        other.time = live.time
        if isinstance(other, FloatingSimulation):
            assert isinstance(live, FloatingSimulation)
            for name in ("position", "rotation", "velocity", "spin"):
                setattr(other, name, getattr(live, name))
        return other

    def play(
        self, model: ReducedModel, *, samples: Sequence[int] = (), substeps: int = 1
    ) -> Played:
        """The motion of a model, and what it leaves unbalanced after the steps of ``samples``."""
        live, wanted = self.simulation(model, substeps=substeps), set(samples)
        q, v = np.empty((2, self.steps + 1, model.size))
        frames: Floats | None = None
        if isinstance(live, FloatingSimulation):
            frames = np.empty((self.steps + 1, 6, 3))
        residuals: list[Floats] = []
        pushed: Floats | None = None
        load: Any = None
        for step, force in enumerate([None, *self.forces()]):
            if step:
                if force is not pushed and not np.array_equal(force, pushed):  # type: ignore[arg-type]
                    load = None if force is None else model.project(force)
                pushed = force
                live.run_steps(substeps, force=load)
            q[step], v[step] = live.q, live.v
            if isinstance(live, FloatingSimulation) and frames is not None:
                frames[step] = *live.rotation, live.position, live.velocity, live.spin
            if step in wanted:
                residuals.append(self._residual(live, pushed))
        return Played(model, q, v, frames, np.reshape(residuals, (-1, *self.body.free.shape)))

    def _residual(self, live: Live, force: Floats | None) -> Floats:
        """f − M a − ∇₂R − ∇U of the body [N], (n, 3), where a model of it is; in its own frame."""
        model, body = live.model, self.body
        load = self._weight if force is None else self._weight + force
        inner = self._problem.free_force(live_shape(live), expand(live.v, model.vectors))
        if isinstance(live, FloatingSimulation):
            return np.asarray(
                (load - body.mass_times(live.accelerations())) @ live.rotation - inner
            )
        rest: Floats = (load - inner) * body.free
        # a with M̃ a = Uᵀ (f − ∇₂R − ∇U), which leaves what is outside the span alone
        along = model.vectors.reshape(model.size, -1) @ rest.ravel()
        a = np.asarray(np.linalg.solve(model.mass, along), dtype=float)
        rest -= body.mass_times(expand(a, model.vectors)) * body.free
        return rest

    def play_in_full(self) -> Iterator[Floats]:
        """Displacements of the body itself (n, 3) [m], at the start and after every step."""
        sim = self._full(self.live)
        yield sim.state.u
        for force in self.forces():
            sim.step(force=force)
            yield sim.state.u

    def depart(self, played: Played, step: int) -> Floats:
        """Where the body itself is (n, 3) [m], one step after a model was there at ``step``."""
        live = self.simulation(played.model)
        live.q, live.v = played.q[step], played.v[step]
        live.time = float(self.times[step])
        if isinstance(live, FloatingSimulation):
            assert played.frames is not None
            live.rotation = played.frames[step, :3]
            live.position, live.velocity, live.spin = played.frames[step, 3:]
        sim = self._full(live, solver=Newton(tolerance=_ROUGH))
        sim.step(force=next(islice(self.forces(), step, None)))
        return sim.state.u

    def _full(self, live: Live, *, solver: Newton | None = None) -> Simulation:
        """The body itself where a model of it is, which steps as this one does."""
        sim = Simulation(
            self.body,
            damping=self.live.damping,
            integrator=self.live.integrator,
            dt=self.live.dt,
            gravity=self.live.gravity,
            solver=solver or Newton(),
        )
        sim.state.u, sim.state.time = live.displacements(), live.time
        if isinstance(live, FloatingSimulation):
            sim.state.v = live.velocities()
        else:
            sim.state.v = expand(live.v, live.model.vectors)
        return sim


def mass_products(body: Body, one: ReducedModel, other: ReducedModel) -> Floats:
    """Uᵀ M V of the vectors of two models, (r, s)."""
    if one is other:
        return one.mass
    return products(one.vectors, mass_times(body, other.vectors))


def live_shape(live: Live) -> Floats:
    """Displacements in the body's own frame [m], (n, 3)."""
    return expand(live.q, live.model.vectors)


def body_of(model: ReducedModel, body: Body | None) -> Body:
    """The body of a model, or the one that is given for it."""
    found = body if body is not None else model.body
    if found is None:
        raise InputError(
            "a model from a file does not have its body, which alone knows the error; give it: "
            "body=Body(...)"
        )
    if not np.array_equal(found.mesh.vertices, model.mesh.vertices):
        raise InputError(
            f"the body has the mesh {found.mesh!r}, which is not that of the model, "
            f"{model.mesh!r}; give the body that was reduced"
        )
    return found
