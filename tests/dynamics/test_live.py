"""Changes between two steps of simulations in full space, and moments that are gone back to."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from tests.refusals import refused

import supple as sp
from supple.integrators import INTEGRATORS, ExplicitIntegrator

IMPLICIT = [rule for rule in INTEGRATORS if not issubclass(rule, ExplicitIntegrator)]
SOLVERS = {
    "Cholesky": sp.Newton(linear=sp.Cholesky()),
    "lagged": sp.Newton(linear=sp.LaggedCholesky()),
    "lagged, double": sp.Newton(linear=sp.LaggedCholesky(single=False)),
    "conjugate gradients": sp.Newton(linear=sp.ConjugateGradients()),
    "multigrid": sp.Newton(linear=sp.Multigrid(coarsest=10)),
    "one iteration": sp.Newton(iterations=1),
    "ADMM": sp.ADMM(),
}
every_solver = pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS.keys())


def beam(young: float = 1e5, **options: Any) -> sp.Body:
    mesh = sp.TetMesh.box(size=(1.0, 0.2, 0.2), cells=(4, 1, 1))
    return sp.Body(mesh, sp.StVK(young=young, poisson=0.4, density=1000), **options)


def held(**options: Any) -> sp.Simulation:
    mesh = beam().mesh
    body = beam(fixed=mesh.where(x=0))
    given = {"damping": sp.Rayleigh(stiffness=5e-3), "gravity": (0, 0, -9.81), "dt": 1 / 100}
    return sp.Simulation(body, **{**given, **options})


def sliding(**options: Any) -> sp.Simulation:
    """A beam that falls onto a floor with friction, and slides."""
    floor = sp.Plane(normal=(0, 0, 1), offset=-0.01, friction=0.3)
    given = {"obstacles": [floor], "gravity": (0, 0, -9.81), "dt": 1 / 100}
    sim = sp.Simulation(beam(young=3e5), damping=sp.Rayleigh(mass=0.5), **{**given, **options})
    sim.state.v[:] = (1.0, 0.3, 0.0)
    return sim


def by_example(**options: Any) -> sp.Simulation:
    body = held().body
    shape = 0.2 * sp.vibration_modes(body, 1).shapes[0]
    shape /= np.abs(shape).max() / 0.1
    damping = sp.ExampleDamping(
        sp.Rayleigh(mass=0.2, stiffness=1e-3),
        [sp.Example(shape, curve=sp.Curve([(0.0, 5.0), (1.0, 0.5)]))],
    )
    return held(damping=damping, **options)


SETUPS = {"held": held, "sliding": sliding, "by example": by_example}
every_setup = pytest.mark.parametrize("make", SETUPS.values(), ids=SETUPS.keys())


def steps(sim: sp.Simulation, count: int) -> None:
    for _ in range(count):
        sim.step()


def where(sim: sp.Simulation) -> bytes:
    state = sim.state
    numbers = np.array([state.time, sim.dissipated])
    return b"".join(x.tobytes() for x in (state.u, state.v, numbers, sim.contact_forces))


class TestSnapshots:
    @every_solver
    @every_setup
    def test_the_motion_after_it_is_the_same_again(self, make, solver):
        sim = make(solver=solver)
        steps(sim, 6)
        kept = sim.snapshot()
        steps(sim, 6)
        there = where(sim)
        for _ in range(2):
            sim.restore(kept)
            assert sim.snapshot().time == kept.time
            steps(sim, 6)
            assert where(sim) == there

    @pytest.mark.parametrize("name", [name for name in SOLVERS if name != "multigrid"])
    @every_setup
    def test_taking_one_changes_nothing(self, make, name):
        sim, other = make(solver=SOLVERS[name]), make(solver=SOLVERS[name])
        kept = []
        for _ in range(8):
            kept.append(sim.snapshot())
            steps(sim, 1)
            steps(other, 1)
        assert where(sim) == where(other)
        sim.restore(kept[3])
        steps(sim, 5)
        assert where(sim) == where(other)

    @every_solver
    @every_setup
    def test_in_another_simulation(self, make, solver):
        sim, other = make(solver=solver), make(solver=solver)
        steps(sim, 6)
        other.restore(sim.snapshot())
        assert where(other) == where(sim)
        for each in (sim, other):
            steps(each, 6)
        assert where(other) == where(sim)

    @pytest.mark.parametrize("rule", INTEGRATORS, ids=lambda rule: rule.__name__)
    def test_with_every_rule(self, rule):
        explicit = issubclass(rule, ExplicitIntegrator)
        sim = held(integrator=rule(), dt=1e-5 if explicit else 1 / 100)
        steps(sim, 4)
        kept = sim.snapshot()
        steps(sim, 4)
        there = where(sim)
        sim.restore(kept)
        steps(sim, 4)
        assert where(sim) == there

    def test_a_bounce(self):
        floor = sp.Plane(normal=(0, 0, 1), offset=-0.02, vertex_restitution=0.7, friction=0.2)
        sim = sliding(obstacles=[floor])
        ends, kept = [], []
        for _ in range(12):
            kept.append(sim.snapshot())
            steps(sim, 1)
            ends.append(where(sim))
        for k in (10, 2, 7):
            sim.restore(kept[k])
            for end in ends[k:]:
                steps(sim, 1)
                assert where(sim) == end

    def test_self_contact(self):
        pytest.importorskip("ipctk")
        from tests.contact.layers import meeting

        sim = meeting(speed=1.0, gap=0.02, self_contact=sp.SelfContact(friction=0.3), dt=2e-3)
        sim.damping = sp.Rayleigh(mass=0.5)
        sim.integrator = sp.TRBDF2()
        steps(sim, 12)
        assert sim.stats.total is not None
        kept = sim.snapshot()
        steps(sim, 12)
        assert sim.stats.total.contacts > 0
        there = where(sim), sim.self_contact_forces.tobytes()
        sim.restore(kept)
        steps(sim, 12)
        assert (where(sim), sim.self_contact_forces.tobytes()) == there

    def test_settings_come_back(self):
        sim, steady = held(), held()
        for each in (sim, steady):
            steps(each, 3)
        kept = sim.snapshot()
        sim.body = beam(young=4e5, fixed=sim.body.mesh.where(x=0))
        sim.damping, sim.gravity, sim.dt = None, (1, 2, 3), 1e-3
        sim.integrator, sim.solver = sp.BackwardEuler(), sp.Newton(tolerance=1e-4)
        sim.obstacles = [sp.Plane(normal=(0, 0, 1), offset=-3)]
        steps(sim, 3)
        sim.restore(kept)
        for each in (sim, steady):
            steps(each, 3)
        assert where(sim) == where(steady)
        assert sim.body is kept.settings.body
        assert (sim.dt, sim.integrator, sim.obstacles) == (1 / 100, sp.TRBDF2(), ())

    def test_before_the_first_step(self):
        sim = held()
        kept = sim.snapshot()
        steps(sim, 5)
        there = where(sim)
        sim.restore(kept)
        assert not sim.state.u.any()
        steps(sim, 5)
        assert where(sim) == there

    def test_of_another_body(self):
        mesh = sp.TetMesh.box(size=(1, 1, 1), cells=(1, 1, 1))
        other = sp.Simulation(sp.Body(mesh, sp.StVK(young=1e5, poisson=0.3)))
        refused("snapshot is of", other.restore, held().snapshot())
        refused("snapshot", other.restore, {"u": 0})

    @pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy], ids=["copy", "deepcopy"])
    @every_setup
    def test_copies(self, make, copied):
        sim = make()
        steps(sim, 5)
        other = copied(sim)
        before = where(sim)
        steps(other, 5)
        assert where(sim) == before
        steps(sim, 5)
        assert where(sim) == where(other)


class TestWhatCanBeSet:
    def test_a_word_for_what_cannot(self):
        sim = held()
        refused("did you mean gravity", setattr, sim, "gravty", (0, 0, 1))
        refused("restore", setattr, sim, "state", None)
        refused("cannot be set", setattr, sim, "stats", None)
        refused("no position", setattr, sim.state, "position", 0.0)
        refused("dt", setattr, sim, "dt", 0.0)
        refused("integrator", setattr, sim, "integrator", "euler")
        refused("solver", setattr, sim, "solver", sp.DenseNewton())
        refused("gravity", setattr, sim, "gravity", (1, 2))
        refused("force", setattr, sim, "force", np.zeros((3, 3)))
        sim.step()

    def test_another_body(self):
        """From a state that is the same, a body that was assigned moves as one from the start."""
        sim = held()
        steps(sim, 5)
        stiff = beam(young=4e5, fixed=sim.body.mesh.where(x=0))
        sim.body = stiff
        anew = sp.Simulation(
            stiff, damping=sim.damping, gravity=sim.gravity, dt=sim.dt, integrator=sim.integrator
        )
        anew.state.u, anew.state.v, anew.state.time = sim.state.u, sim.state.v, sim.state.time
        for each in (sim, anew):
            steps(each, 5)
        assert np.array_equal(sim.state.u, anew.state.u)

    def test_a_body_that_does_not_fit(self):
        sim = held()
        mesh = sp.TetMesh.box(size=(1.0, 0.2, 0.2), cells=(5, 1, 1))
        refused("start a new simulation", setattr, sim, "body", sp.Body(mesh, sim.body.material))
        refused("body", setattr, sim, "body", mesh)
        before = sim.body
        sim.damping = sp.Viscous(np.eye(3 * before.n_vertices))
        sim.step()
        assert sim.body is before

    def test_what_touches_goes_on_touching(self):
        """Another damping or body does not let a body fall that lies on a floor."""
        sim = sliding()
        steps(sim, 60)
        twin, pressed = copy.copy(sim), sim.contact_forces
        assert pressed[:, 2].sum() > 100.0
        sim.damping = sp.Rayleigh(mass=0.50005)
        assert np.array_equal(sim.contact_forces, pressed)
        sim.body = beam(young=3.00003e5)
        assert np.array_equal(sim.contact_forces, pressed)
        for each in (sim, twin):
            steps(each, 3)
        assert np.abs(sim.state.v - twin.state.v).max() < 0.01 * np.abs(twin.state.v).max()

    def test_an_obstacle_that_is_elsewhere(self):
        """A floor that is lifted between two steps lifts what lies on it."""
        sim = sliding(obstacles=[sp.Plane(normal=(0, 0, 1), offset=-0.01)])
        steps(sim, 10)
        for height in np.linspace(-0.01, 0.02, 7)[1:]:
            sim.obstacles = [sp.Plane(normal=(0, 0, 1), offset=height)]
            steps(sim, 2)
            lowest = (sim.body.mesh.vertices + sim.state.u)[:, 2].min()
            assert lowest >= height - 1e-5

    @pytest.mark.parametrize("rule", IMPLICIT, ids=lambda rule: rule.__name__)
    def test_steps_of_random_lengths_keep_the_order(self, rule):
        duration = 0.16

        def end(count: int) -> np.ndarray:
            rng = np.random.default_rng(4)
            spread = np.repeat(rng.uniform(0.4, 1.6, size=8), count // 8)
            spread *= 1 + 0.3 * np.sin(np.arange(count))
            sim = held(integrator=rule(), solver=sp.Newton(tolerance=1e-10))
            for dt in duration * spread / spread.sum():
                sim.step(dt=float(dt))
            return np.concatenate([sim.state.u, sim.state.v])

        order = rule().order
        fine = [end(count) for count in (256, 512)]
        reference = (2**order * fine[1] - fine[0]) / (2**order - 1)
        errors = [np.linalg.norm(end(count) - reference) for count in (32, 64)]
        assert np.log2(errors[0] / errors[1]) > order - 0.35

    def test_a_run_of_another_step(self):
        sim, other = held(), held(dt=1 / 200)
        assert np.array_equal(
            sim.run(0.05, dt=1 / 200).displacements, other.run(0.05).displacements
        )
        assert sim.dt == 1 / 100
