"""Unloading tests in full space, with a reduced model, and with a character."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from supple.bodies.shape import Shape
from supple.bodies.solid import Body
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.runtime.damping import PoseDamping, base_at_rest
from supple.character.runtime.neutral import NeutralModel
from supple.character.runtime.simulation import PoseSimulation
from supple.core.errors import InputError, StepFailed
from supple.core.types import Floats
from supple.damping import ExampleDamping
from supple.damping.example import examples_on, excitation_duals
from supple.design.relaxed import in_coordinates, in_full, relaxed_shape
from supple.design.testbed import Testbed
from supple.dynamics.simulation import Simulation
from supple.reduction import ReducedModel
from supple.reduction.damping.rules import reduced_damping
from supple.reduction.modes import SmallVibrations, mass_times


class FullTestbed(Testbed):
    """Unloading tests in full space."""

    is_slow = True

    def __init__(self, body: Body, damping: ExampleDamping, **options: Any) -> None:
        self._body = body
        body.require_supports("an unloading test")
        if body.held.moving:
            raise InputError(
                "the supports of this body move, which would shake the releases that a damping is "
                "designed by; design with a body held still: Body(..., fixed=...)"
            )
        self._X, self._duals = examples_on(body, damping)
        self._about = np.zeros_like(body.mesh.vertices) if damping.about is None else damping.about
        super().__init__(damping, **options)

    def _deformation(self, example: int, start: float) -> Floats:
        return np.where(self._body.free, self.damping.examples[example].at(start), 0.0)

    def _squares(self) -> Floats:
        momenta = mass_times(self._body, self._X)
        answers = SmallVibrations(self._body, self._about).solve(momenta)
        squares: Floats = np.sum(self._X * momenta, axis=(1, 2))
        squares /= np.sum(momenta * answers, axis=(1, 2))
        return squares

    def _forces(self, gravity: Floats) -> tuple[Floats, Floats]:
        free = self._body.free
        return self._body.force(self._about)[free], self._body.weight(gravity)[free]

    def _force(self, u: Floats) -> Floats:
        return self._body.force(u)

    def base_products(self) -> tuple[Floats, Floats]:
        at = Shape(self._body, self._about, order=2)
        k = len(self._X)
        CX = np.zeros((k, self._X[0].size))
        for base in self.damping.bases:
            bound = base.bind(self._body)
            CX += np.reshape([bound.evaluate(at, x)[1] for x in self._X], (k, -1))
        rows = self._X.reshape(k, -1)
        return rows @ CX.T, rows @ mass_times(self._body, self._X).reshape(k, -1).T

    def _simulation_of(self, damping: ExampleDamping, dt: float) -> Simulation:
        return Simulation(self._body, damping=damping, dt=dt, **self._options)

    def _put(self, simulation: Simulation, u: Floats, v: Floats) -> None:
        simulation.state.u, simulation.state.v = u.copy(), v.copy()

    def _read(self, simulation: Simulation) -> tuple[Floats, Floats]:
        return simulation.state.u.copy(), simulation.state.v.copy()

    def _relax(self, straight: Floats, label: str) -> Floats:
        energy, direction = in_full(
            self._body, self._body.weight(self._options["gravity"]), self._duals
        )
        return relaxed_shape(energy, direction, self._about, straight, label)


class ReducedTestbed(Testbed):
    """Unloading tests with a reduced model."""

    def __init__(self, model: ReducedModel, damping: ExampleDamping, **options: Any) -> None:
        self._model = model
        found = [model.coordinates(example.shape) for example in damping.examples]
        self._X = np.reshape(found, (-1, model.size))
        self._duals = excitation_duals(self._X, self._X @ model.mass)
        self._about = np.zeros(model.size)
        if damping.about is not None:
            self._about = model.coordinates(damping.about)
        super().__init__(damping, **options)
        self._usual = model.simulation(damping=damping, dt=self.dt, **self._options)

    def _deformation(self, example: int, start: float) -> Floats:
        given = self.damping.examples[example]
        return (
            self._model.coordinates(given.at(start)) if given.is_bent else start * self._X[example]
        )

    def in_steps_of(self, dt: float) -> Self:
        other = super().in_steps_of(dt)
        other._usual = self._model.simulation(damping=self.damping, dt=dt, **self._options)
        return other

    def _squares(self) -> Floats:
        K = self._model.stiffness(self._about)
        return _squares_in_coordinates(self._X, self._model.mass, K)

    def _forces(self, gravity: Floats) -> tuple[Floats, Floats]:
        return self._model.force(self._about), self._model.weight(gravity)

    def _force(self, u: Floats) -> Floats:
        return self._model.force(u)

    def base_products(self) -> tuple[Floats, Floats]:
        base = reduced_damping(self.damping.base, self._model)
        C = base.matrix(self._about)
        return self._X @ C @ self._X.T, self._X @ self._model.mass @ self._X.T

    def _simulation_of(self, damping: ExampleDamping, dt: float) -> Any:
        if dt != self.dt:
            return self._model.simulation(damping=damping, dt=dt, **self._options)
        self._usual.damping = damping
        self._usual.time = 0.0
        return self._usual

    def _put(self, simulation: Any, u: Floats, v: Floats) -> None:
        simulation.q, simulation.v = u, v

    def _read(self, simulation: Any) -> tuple[Floats, Floats]:
        return simulation.q, simulation.v

    def _trajectory(self, example: int, steps: int) -> tuple[Floats, Floats]:
        q, v = self._simulation.trace(steps)
        dual = self._duals[example]
        return (q[1:] - self._about) @ dual, v[1:] @ dual

    def _relax(self, straight: Floats, label: str) -> Floats:
        load = self._model.weight(self._options["gravity"])
        energy, direction = in_coordinates(self._model.evaluate, load, self._duals)
        return relaxed_shape(energy, direction, self._about, straight, label)


class PoseTestbed(Testbed):
    """Unloading tests with a pose-space model, whose rig stands still."""

    def __init__(self, model: PoseSpaceModel, damping: ExampleDamping, **options: Any) -> None:
        self._model, self._neutral = model, NeutralModel(model)
        designed = PoseDamping.of(damping, model, model.cells).designed
        assert designed is not None  # as it is ExampleDamping
        self._X, self._duals, self._about = designed.X, designed.D, designed.about
        self._bare = PoseSimulation(model)
        self._bare.q = self._about
        super().__init__(damping, **options)

    def _squares(self) -> Floats:
        return _squares_in_coordinates(self._X, self._neutral.mass, self._bare.stiffness)

    def _forces(self, gravity: Floats) -> tuple[Floats, Floats]:
        return self._bare.elastic_force, self._weight(gravity)

    def _weight(self, gravity: Floats) -> Floats:
        return self._neutral.gathered(self._model.masses[:, None] * gravity)

    def _force(self, u: Floats) -> Floats:
        self._bare.q = u
        return np.array(self._bare.elastic_force)

    def base_products(self) -> tuple[Floats, Floats]:
        M, C = self._neutral.mass, base_at_rest(self.damping.bases, self._model)
        return self._X @ C @ self._X.T, self._X @ M @ self._X.T

    def _simulation_of(self, damping: ExampleDamping, dt: float) -> PoseSimulation:
        return PoseSimulation(self._model, damping=damping, dt=dt, **self._options)

    def _put(self, simulation: PoseSimulation, u: Floats, v: Floats) -> None:
        simulation.q, simulation.v = u, v

    def _read(self, simulation: PoseSimulation) -> tuple[Floats, Floats]:
        return np.array(simulation.q), np.array(simulation.v)

    def _step(self, simulation: PoseSimulation) -> None:
        """A release whose flesh was put to rest would say nothing about its damping."""
        q, v, stopped = simulation.q, simulation.v, simulation.stats.stopped
        simulation.step(simulation.pose)
        if simulation.stats.stopped > stopped:
            simulation.q, simulation.v = q, v
            raise StepFailed(
                "nothing leads through the step of the character",
                time=simulation.time,
                residual=float("nan"),
                advice="Take a smaller start, a smaller dt or weaker damping.",
            )

    def _relax(self, straight: Floats, label: str) -> Floats:
        bare = self._bare

        def evaluate(q: Floats) -> tuple[float, Floats, Floats]:
            bare.q = q
            return bare.elastic, np.array(bare.elastic_force), np.array(bare.stiffness)

        energy, direction = in_coordinates(
            evaluate, self._weight(self._options["gravity"]), self._duals
        )
        return relaxed_shape(energy, direction, self._about, straight, label)


def _squares_in_coordinates(X: Floats, M: Floats, K: Floats) -> Floats:
    """ω² [1/s²] of examples X (k, r), of which ``Testbed._squares`` tells."""
    momenta = X @ M
    answers = np.linalg.solve(K, momenta.T).T
    squares: Floats = np.sum(X * momenta, axis=1)
    squares /= np.sum(momenta * answers, axis=1)
    return squares


def make_testbed(
    body: Body | ReducedModel | PoseSpaceModel, damping: ExampleDamping, **options: Any
) -> Testbed:
    """Unloading tests of a body, of its reduced model, or of a character."""
    if isinstance(body, ReducedModel):
        return ReducedTestbed(body, damping, **options)
    if isinstance(body, PoseSpaceModel):
        return PoseTestbed(body, damping, **options)
    return FullTestbed(body, damping, **options)
