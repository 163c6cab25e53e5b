"""Unloading tests of a character that stands in its neutral pose."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.runtime.damping import NeutralModel, PoseDamping
from supple.character.runtime.simulation import PoseSimulation
from supple.core.types import Floats
from supple.damping import Damping, ExampleDamping
from supple.design.unloading import Testbed, norm, squares_in_coordinates


class PoseTestbed(Testbed):
    """Unloading tests with a pose-space model, whose rig stands still."""

    def __init__(self, model: PoseSpaceModel, damping: ExampleDamping, **options: Any) -> None:
        self._model, self._neutral = model, NeutralModel(model)
        designed = PoseDamping.of(damping, model).designed
        assert designed is not None  # as it is ExampleDamping
        self._X, self._duals, self._about = designed.X, designed.D, designed.about
        self._simulation = PoseSimulation(model)
        self._simulation.q = self._about
        super().__init__(damping, **options)

    def _squares(self) -> Floats:
        return squares_in_coordinates(self._X, self._neutral.mass, self._simulation.stiffness)

    def _imbalance(self, gravity: Floats) -> tuple[float, float]:
        elastic = self._simulation.elastic_force
        weight = self._neutral.gathered(self._model.masses[:, None] * gravity)
        return norm(elastic - weight), norm(elastic) + norm(weight)

    def _release(self, damping: Damping, example: int, start: float) -> None:
        self._simulation = PoseSimulation(self._model, damping=damping, **self._options)
        self._simulation.q = self._about + start * self._X[example]

    def _trajectory(self, example: int, steps: int) -> tuple[Floats, Floats]:
        simulation, dual = self._simulation, self._duals[example]
        x, v = np.empty((2, steps))
        for k in range(steps):
            simulation.step(simulation.pose)
            x[k], v[k] = dual @ (simulation.q - self._about), dual @ simulation.v
        return x, v
