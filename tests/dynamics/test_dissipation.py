"""The energy that damping takes, against closed forms and against the balance of energies."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
from tests.helpers import EXACT

import supple as sp
from supple.dynamics.dissipation import DissipationQuadrature
from supple.integrators import INTEGRATORS, ExplicitIntegrator, ImplicitIntegrator

RULES = [*INTEGRATORS]
every_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
MASS, STIFFNESS = 2.0, 1e-4
AMPLITUDE = 1e-6  # m: as good as linear


@lru_cache
def block() -> tuple[sp.Body, np.ndarray, float, float]:
    """A small body, its slowest vibration, ω of that [1/s] and the largest one."""
    mesh = sp.TetMesh.box(size=(0.5, 0.2, 0.2), cells=(2, 1, 1))
    body = sp.Body(mesh, sp.StVK(young=1e5, poisson=0.3, density=1000), fixed=mesh.where(x=0))
    modes = sp.vibration_modes(body, 20)
    omega = 2 * np.pi * modes.frequencies
    shape = modes.shapes[0] / np.abs(modes.shapes[0]).max()
    return body, shape, float(omega[0]), float(omega[-1])


def lost(omega: float, c: float, energy: float, time: float) -> float:
    """What ẍ + c ẋ + ω² x = 0, let go at rest with this energy, has lost after a time."""
    decay, w = 0.5 * c, np.sqrt(omega**2 - 0.25 * c**2)
    x = np.exp(-decay * time) * (np.cos(w * time) + decay / w * np.sin(w * time))
    v = -np.exp(-decay * time) * omega**2 / w * np.sin(w * time)
    return energy * (1 - x**2 - (v / omega) ** 2)


def orders(errors: list[float]) -> float:
    return float(np.log2(abs(errors[0]) / abs(errors[1])))


class TestAnOscillator:
    @every_rule
    def test_as_accurate_as_the_rule(self, rule):
        body, shape, omega, fastest = block()
        explicit = issubclass(rule, ExplicitIntegrator)
        duration = 1.3 * 2 * np.pi / omega
        steps = int(np.ceil(duration * fastest)) if explicit else 500
        energy = body.evaluate(AMPLITUDE * shape, order=0).energy
        exact = lost(omega, MASS + STIFFNESS * omega**2, energy, duration)
        errors = []
        for count in (steps, 2 * steps):
            sim = sp.Simulation(
                body,
                damping=sp.Rayleigh(mass=MASS, stiffness=STIFFNESS),
                integrator=rule(),
                dt=duration / count,
                solver=EXACT,
            )
            sim.state.u = AMPLITUDE * shape
            sim.run(duration)
            errors.append(sim.dissipated / exact - 1)
        assert abs(errors[0]) < 0.4
        assert orders(errors) > rule().order - 0.2

    @every_rule
    def test_thrown_through_treacle(self, rule):
        """A rigid flight that mass damping slows: v = v₀ e^(−αt)."""
        body = sp.Body(block()[0].mesh, block()[0].material)
        explicit = issubclass(rule, ExplicitIntegrator)
        start, duration = 0.5 * body.total_mass * 9.0, 0.5
        exact = start * (1 - np.exp(-2 * MASS * duration))
        errors = []
        for count in (800, 1600) if explicit else (10, 20):
            sim = sp.Simulation(
                body, damping=sp.Rayleigh(mass=MASS), integrator=rule(), dt=duration / count,
                solver=EXACT,
            )  # fmt: skip
            sim.state.v[:] = (3.0, 0.0, 0.0)
            sim.run(duration)
            errors.append(sim.dissipated / exact - 1)
        rounding = 1e-10  # which RK4 reaches
        assert orders(errors) > rule().order - 0.2 or abs(errors[1]) < rounding

    def test_by_backward_euler_it_is_the_work_of_the_damping_force(self):
        """What is lost besides is lost by the rule; nothing is counted twice."""
        body, shape, _, _ = block()
        sim = sp.Simulation(
            body,
            damping=sp.Rayleigh(mass=MASS, stiffness=1e-2),
            integrator=sp.BackwardEuler(),
            dt=2e-3,
            solver=EXACT,
        )
        sim.state.u = AMPLITUDE * shape
        K = body.stiffness(np.zeros_like(shape))
        work, before = 0.0, sim.frame()
        for _ in range(60):
            u = sim.state.u
            sim.step()
            v = sim.state.v.ravel()
            force = MASS * body.mass_times(sim.state.v).ravel() + 1e-2 * (K @ v)
            work += float(force @ (sim.state.u - u).ravel())
        assert sim.dissipated == pytest.approx(work, rel=1e-4)
        after = sim.frame()
        gone = before.kinetic + before.elastic - after.kinetic - after.elastic
        assert 0.3 * gone < sim.dissipated < gone

    @pytest.mark.parametrize("copies", ["held", "free"])
    @pytest.mark.parametrize(
        "rule", [r for r in RULES if issubclass(r, ImplicitIntegrator)], ids=lambda r: r.__name__
    )
    def test_in_reduced_space(self, rule, copies):
        body, _, _, _ = block()
        if copies == "free":
            body = sp.Body(body.mesh, body.material)
        model = sp.reduce(body, sp.modal_derivative_basis(body, modes=3, size=6))
        squares, shapes = model.vibrations
        omega = float(np.sqrt(squares[0]))
        q = 1e-7 * shapes[:, 0]
        duration, energy = 1.3 * 2 * np.pi / omega, model.energy(q)
        exact = lost(omega, MASS + STIFFNESS * omega**2, energy, duration)
        errors = []
        for count in (500, 1000):
            sim = model.simulation(
                damping=sp.Rayleigh(mass=MASS, stiffness=STIFFNESS),
                integrator=rule(),
                dt=duration / count,
                solver=sp.DenseNewton(tolerance=1e-12),
            )
            sim.q = q
            errors.append(sim.run(duration).dissipated[-1] / exact - 1)
        assert orders(errors) > rule().order - 0.2


@pytest.mark.parametrize("rule", [sp.Newmark(beta=1 / 6), sp.Newmark(beta=0.3025, gamma=0.6)])
def test_newmark_s_other_rules(rule):
    """β is for displacements; a velocity, and so the energy, goes by γ."""
    sum_ = DissipationQuadrature(rule, 0.5, power=2.0)
    sum_.add(3.0)
    assert sum_.energy == pytest.approx(0.5 * ((1 - rule.gamma) * 2.0 + rule.gamma * 3.0))


def test_of_unequal_steps():
    """BDF2 integrates P = 3 + 4 t exactly, also after a step of another length."""
    sum_ = DissipationQuadrature(sp.BDF2(), 0.5, power=3.0, before=(0.2, 0.52))
    sum_.add(5.0)
    assert sum_.energy == pytest.approx(2.0)
