"""A complete basis reproduces the full simulation, whatever the rule, the damping or the force."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from tests.reduction.conftest import (
    IMPLICIT,
    TIGHT,
    complete_basis,
    every_cell,
    every_rule,
    pushed,
    relative,
    two_part_beam,
)

import supple as sp
from supple.bodies.shape import Shape
from supple.damping import BoundDamping, Damping


def dashpots(body: sp.Body) -> sp.Viscous:
    """Each component of the vertices is held back by its own number, and by its neighbour."""
    n = 3 * body.n_vertices
    chain = np.eye(n) - np.eye(n, k=1)
    return sp.Viscous(np.diag(0.05 + 0.1 * np.arange(n) / n) + 0.02 * chain.T @ chain)


@dataclass(frozen=True)
class Ether(Damping):
    """A damping of one file: it holds every vertex back."""

    strength: float

    def bind(self, body: sp.Body) -> BoundDamping:
        return BoundEther(self.strength, body)


class BoundEther(BoundDamping):
    def __init__(self, strength: float, body: sp.Body) -> None:
        self._strength, self._diagonal = strength, body.pattern.indptr[:-1]

    @property
    def depends_on_shape(self) -> bool:
        return False

    def evaluate(self, shape: Shape, v: np.ndarray) -> tuple[float, np.ndarray]:
        return 0.5 * self._strength * float(np.vdot(v, v)), self._strength * v

    def add_matrix(
        self, shape: Shape, v: np.ndarray, factor: float, values: np.ndarray, *, definite: bool
    ) -> None:
        values[self._diagonal] += factor * self._strength * np.eye(3)


def projected(body: sp.Body) -> dict[str, Damping | list[Damping]]:
    """Dampings that need the body to be reduced, and sums."""
    by_cell = np.linspace(0.1, 2.0, body.mesh.n_cells)
    at_rest = sp.StiffnessAt.REST
    drag = sp.Drag(strength=3.0)
    return {
        "viscous": dashpots(body),
        "drag": drag,
        "drag in a wind": sp.Drag(strength=3.0, wind=(1.0, -2.0, 0.5)),
        "one file": Ether(0.2),
        "mass by cell": sp.Rayleigh(mass=by_cell, stiffness=1e-3),
        "stiffness at rest by cell": sp.Rayleigh(mass=0.2, stiffness=1e-3 * by_cell, at=at_rest),
        "sum": [sp.Rayleigh(mass=0.3, stiffness=1e-3), dashpots(body), drag],
        "sum by region": [
            sp.Rayleigh(stiffness={"far": 3e-3}),
            sp.Rayleigh(stiffness={"near": 1e-3}),
        ],
        "empty sum": [],
    }


DAMPINGS = {
    "none": None,
    "current": sp.Rayleigh(mass=0.3, stiffness=2e-3),
    "rest": sp.Rayleigh(mass=0.3, stiffness=2e-3, at=sp.StiffnessAt.REST),
    "by region": sp.Rayleigh(mass={"far": 0.5}, stiffness={"far": 3e-3, "near": 1e-3}),
    "by region at rest": sp.Rayleigh(stiffness={"far": 3e-3}, at=sp.StiffnessAt.REST),
}
BY_REGION = [name for name in DAMPINGS if name.startswith("by region")]


class TestACompleteBasisIsTheFullSimulation:
    @pytest.mark.parametrize(
        ("rule", "damping"),
        [
            *((rule, name) for rule in IMPLICIT for name in ("none", "current", "rest")),
            *((rule, name) for rule in (sp.Newmark, sp.BDF2) for name in BY_REGION),
        ],
    )
    def test_every_integrator_and_damping(self, beam, complete, tip, rule, damping):
        force = beam.point_force([tip], (0.0, 3.0, -10.0))
        options = {"damping": DAMPINGS[damping], "integrator": rule(), "dt": 1 / 60}
        full, live = pushed(complete, force, 20, **options, gravity=(0, 0, -9.81))
        assert np.abs(full.state.u).max() > 0.1  # deep in the nonlinear range
        assert relative(live.displacements(), full.state.u) < 1e-8
        assert live.kinetic == pytest.approx(full.frame().kinetic, rel=1e-7)
        assert live.elastic == pytest.approx(full.frame().elastic, rel=1e-7)
        assert live.time == pytest.approx(full.state.time)

    @pytest.mark.parametrize("name", projected(two_part_beam()))
    def test_every_linear_damping_and_sums(self, beam, complete, tip, name):
        force = beam.point_force([tip], (0.0, 3.0, -10.0))
        options = {"damping": projected(beam)[name], "integrator": sp.TRBDF2(), "dt": 1 / 60}
        options["gravity"] = (0, 0, -9.81)
        full, live = pushed(complete, force, 20, **options)
        assert np.abs(full.state.u).max() > 0.1
        assert relative(live.displacements(), full.state.u) < 1e-8
        if "region" not in name:
            crowd = complete.simulation(**options, solver=TIGHT, copies=2)
            crowd.run_steps(20, force=complete.project(force))
            assert relative(crowd.displacements(1), full.state.u) < 1e-8

    @every_rule
    def test_forces_that_jump(self, beam, complete, tip, rule):
        strengths = [-9.0] * 5 + [6.0] * 3 + [0.0, 2.0]
        pushes = [beam.point_force([tip], (0.0, 0.0, z)) for z in strengths]
        options = {"integrator": rule(), "dt": 1 / 100}
        full = sp.Simulation(beam, **options, solver=sp.Newton(tolerance=1e-11))
        for push in pushes:
            full.step(force=push)
        reduced = [complete.project(push) for push in pushes]
        live = complete.simulation(**options, solver=TIGHT)
        crowd = complete.simulation(**options, solver=TIGHT, copies=2)
        for force in reduced:
            live.step(force=force)
            crowd.step(force=force)
        assert relative(live.displacements(), full.state.u) < 1e-8
        assert relative(crowd.displacements(1), full.state.u) < 1e-8

    def test_other_materials(self, beam, tip):
        body = two_part_beam(sp.StableNeoHookean(young=1e5, poisson=0.4))
        basis = complete_basis(body)
        model = sp.reduce(body, basis, cubature=every_cell(body, basis.vectors))
        force = body.point_force([tip], (0.0, 3.0, -10.0))
        damping = sp.Rayleigh(mass=0.1, stiffness=1e-3)
        full, live = pushed(model, force, 10, damping=damping, integrator=sp.TRBDF2(), dt=1 / 60)
        assert relative(live.displacements(), full.state.u) < 1e-8
