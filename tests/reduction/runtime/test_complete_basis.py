"""A complete basis reproduces the full simulation, whatever the rule, the damping or the force."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reduction.conftest import complete_basis, two_part_beam

import supple as sp
from supple.integrators import INTEGRATORS, ImplicitIntegrator

IMPLICIT = [rule for rule in INTEGRATORS if issubclass(rule, ImplicitIntegrator)]
DAMPINGS = {
    "none": None,
    "current": sp.Rayleigh(mass=0.3, stiffness=2e-3),
    "rest": sp.Rayleigh(mass=0.3, stiffness=2e-3, at=sp.StiffnessAt.REST),
    "by region": sp.Rayleigh(mass={"far": 0.5}, stiffness={"far": 3e-3, "near": 1e-3}),
    "by region at rest": sp.Rayleigh(stiffness={"far": 3e-3}, at=sp.StiffnessAt.REST),
}
BY_REGION = [name for name in DAMPINGS if name.startswith("by region")]
TIGHT = sp.DenseNewton(tolerance=1e-11, max_iterations=30)


def relative(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(one - other).max() / np.abs(other).max())


class TestACompleteBasisIsTheFullSimulation:
    @pytest.mark.parametrize(
        ("rule", "damping"),
        [
            *((rule, name) for rule in IMPLICIT for name in ("none", "current", "rest")),
            *((rule, name) for rule in (sp.Newmark, sp.BDF2) for name in BY_REGION),
        ],
    )
    def test_every_integrator_and_damping(
        self, beam: sp.Body, complete: sp.ReducedModel, tip: int, rule: type, damping: str
    ) -> None:
        force = beam.point_force([tip], (0.0, 3.0, -10.0))
        options = {"damping": DAMPINGS[damping], "integrator": rule(), "dt": 1 / 60}
        full = sp.Simulation(
            beam,
            **options,
            gravity=(0, 0, -9.81),
            force=lambda t: force,
            solver=sp.Newton(tolerance=1e-11),
        )
        live = complete.simulation(**options, gravity=(0, 0, -9.81), solver=TIGHT)
        for _ in range(20):
            full.step()
        live.run_steps(20, force=complete.project(force))
        assert np.abs(full.state.u).max() > 0.1  # deep in the nonlinear range
        assert relative(live.displacements(), full.state.u) < 1e-8
        assert live.kinetic == pytest.approx(full.frame().kinetic, rel=1e-7)
        assert live.elastic == pytest.approx(full.frame().elastic, rel=1e-7)
        assert live.time == pytest.approx(full.state.time)

    @pytest.mark.parametrize("rule", IMPLICIT, ids=lambda rule: rule.__name__)
    def test_forces_that_jump(
        self, beam: sp.Body, complete: sp.ReducedModel, tip: int, rule: type
    ) -> None:
        pushes = [
            beam.point_force([tip], (0.0, 0.0, z)) for z in [-9.0] * 5 + [6.0] * 3 + [0.0, 2.0]
        ]
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

    def test_other_materials(self, beam: sp.Body, tip: int) -> None:
        soft = sp.StableNeoHookean(young=1e5, poisson=0.4)
        body = two_part_beam(near=soft, far=soft)
        basis = complete_basis(body)
        cells = np.arange(body.mesh.n_cells)
        every = sp.Cubature.of_cells(body, basis.vectors, cells, np.ones(len(cells)))
        model = sp.reduce(body, basis, cubature=every)
        force = body.point_force([tip], (0.0, 3.0, -10.0))
        options = {"damping": sp.Rayleigh(mass=0.1, stiffness=1e-3), "dt": 1 / 60}
        full = sp.Simulation(
            body,
            **options,
            integrator=sp.TRBDF2(),
            force=lambda t: force,
            solver=sp.Newton(tolerance=1e-11),
        )
        live = model.simulation(**options, integrator=sp.TRBDF2(), solver=TIGHT)
        for _ in range(10):
            full.step()
        live.run_steps(10, force=model.project(force))
        assert relative(live.displacements(), full.state.u) < 1e-8
