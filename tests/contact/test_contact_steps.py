"""Newton's method among obstacles: few full steps with forces as unknowns, or else smaller ones."""

from __future__ import annotations

import numpy as np
import pytest
from tests.contact.blocks import DAMPING, G, block, depth, edge

import supple as sp
from supple.contact.augmented_lagrangian import AugmentedLagrangian
from supple.dynamics import safeguard
from supple.integrators import State
from supple.solvers import active_set

pytestmark = pytest.mark.processors

FLOOR = sp.Plane(friction=0.4)


def thrown(tolerance: float = 1e-6, iterations: int | None = None) -> sp.Simulation:
    """A block that meets the floor edge first, and spins."""
    body = block((0.2, 0.2, 0.2), (4, 4, 4), at=(0, 0, 0.02), young=2e5)
    sim = sp.Simulation(
        body, solver=sp.Newton(tolerance=tolerance, iterations=iterations), obstacles=FLOOR,
        damping=DAMPING, dt=0.02, gravity=(0, 0, -G),
    )  # fmt: skip
    sim.state.v = np.cross((0.0, 6.0, 1.0), body.mesh.vertices - (0.0, 0.0, 0.1))
    sim.state.v += (0.5, 0.0, -2.0)
    return sim


def shapes(sim: sp.Simulation, steps: int = 12) -> tuple[np.ndarray, list[float], bool]:
    """Displacements after every step, iterations a stage, whether anything touched."""
    found, spent, touched = [], [], False
    for _ in range(steps):
        sim.step()
        found.append(sim.state.u.copy())
        spent.append(sim.stats.iterations / sim.stats.stages)
        touched |= bool(sim.contact_forces.any())
    return np.array(found), spent, touched


def test_few_iterations_find_out_what_holds():
    _, spent, touched = shapes(thrown())
    assert touched
    assert max(spent) <= 15


def test_few_iterations_find_out_where_dry_clay_sticks_to_the_floor():
    """Contacts that counted how stiff dry damping is at rest took fifteen a stage."""
    body = block((0.5, 0.5, 0.6), (5, 5, 6), at=(0, 0, 0.02), young=2e4)
    sim = sp.Simulation(
        body, solver=sp.Newton(tolerance=1e-2), obstacles=sp.Plane(friction=0.5), dt=0.04,
        damping=sp.PowerLaw(exponent=0, strength=1000), gravity=(0, 0, -G),
    )  # fmt: skip
    sim.state.v = np.cross((2.0, 1.0, 0.0), body.mesh.vertices)
    sim.state.v += (0.0, 0.0, -2.0)
    _, spent, touched = shapes(sim, 5)
    assert touched
    assert max(spent) <= 10


def test_weights_taken_by_shares_leave_forces_as_they_are():
    """Multipliers are the forces that they were, in another unit, and all can be taken back."""
    body = block()
    rest = np.zeros((body.n_vertices, 3))
    stage = next(sp.BackwardEuler().stages(State(0.0, rest, rest, rest), None, 0.01))
    contacts = AugmentedLagrangian.of_body(body, [FLOOR])
    contacts.begin(stage, rest, rest, 0.0)
    pairs, weights = contacts.contacts.pairs, contacts.weights.copy()
    rng = np.random.default_rng(0)
    pairs.scaled_multiplier = rng.normal(size=pairs.scaled_multiplier.shape)
    pairs.limits = rng.uniform(size=len(pairs.limits))
    assert pairs.count > 0
    forces, limits = weights[:, None] * pairs.scaled_multiplier, weights * pairs.limits
    restore = contacts.snapshot()
    for share in (0.2, 0.05, 0.2):
        contacts.weigh(share)
        np.testing.assert_allclose(contacts.weights, share * weights, rtol=1e-14)
        found = contacts.weights[:, None] * contacts.contacts.pairs.scaled_multiplier
        np.testing.assert_allclose(found, forces, rtol=1e-13)
        np.testing.assert_allclose(contacts.weights * contacts.contacts.pairs.limits, limits)
    restore()
    np.testing.assert_array_equal(contacts.weights, weights)
    np.testing.assert_array_equal(
        weights[:, None] * contacts.contacts.pairs.scaled_multiplier, forces
    )


@pytest.mark.parametrize("tolerance", [1e-2, 1e-3])
def test_loose_tolerances_are_met(tolerance, monkeypatch):
    """Contacts are asked for no more than the solver is, and bodies still stay out."""
    monkeypatch.setattr(safeguard, "_FOR_ACCURACY", 0)  # nobody halves steps that are to be fast
    exact, _, _ = shapes(thrown())
    sim = thrown(tolerance)
    found, spent, _ = shapes(sim)
    assert max(spent) <= 12
    assert np.abs(found - exact).max() <= 10 * tolerance * np.abs(exact).max()
    assert depth(sim, FLOOR) <= 0.1 * tolerance * edge(sim.body)


@pytest.mark.parametrize(
    "limits", [{"_MOST_TRIES": 0}, {"_FEW_FULL_STEPS": 1, "_MOST_FULL_STEPS": 2}], ids=str
)
def test_smaller_steps_lead_to_the_same_with_no_trace_of_full_ones(limits, monkeypatch):
    """Where full steps come to nothing, or are given up, contacts go back to where they were."""
    exact, _, _ = shapes(thrown(), 6)
    for name, most in limits.items():
        monkeypatch.setattr(active_set, name, most)
    found, _, _ = shapes(thrown(), 6)
    assert np.abs(found - exact).max() <= 1e-4 * np.abs(exact).max()


def test_four_iterations_a_stage_will_do(monkeypatch):
    """As games have it: a known cost, nearly the same motion, and next to no depth.

    The same as that of whole steps: a known cost leaves no room for halves.
    """
    monkeypatch.setattr(safeguard, "_FOR_ACCURACY", 0)
    exact, _, _ = shapes(thrown())
    sim = thrown(iterations=4)
    for shape in exact:
        sim.step()
        assert np.abs(sim.state.u - shape).max() <= 0.02 * np.abs(exact).max()
        assert depth(sim, FLOOR) <= 1e-3 * edge(sim.body)


@pytest.mark.parametrize("iterations", [1, 2])
def test_a_single_iteration_leaves_nothing_inside(iterations):
    sim = thrown(iterations=iterations)
    _, _, touched = shapes(sim)
    assert touched
    assert depth(sim, FLOOR) <= 1e-12


def test_a_single_iteration_leaves_nothing_in_a_crease():
    """Cloth thrown into a valley, where out of one side leads into the other."""
    line = np.array([-0.5, 0.0, 0.5])
    places = np.array([(x, y, abs(x)) for x in line for y in (-0.5, 0.5)])
    valley = sp.MeshObstacle(
        sp.Surface(places, np.array([(0, 2, 3), (0, 3, 1), (2, 4, 5), (2, 5, 3)])), friction=0.3
    )
    grid = sp.SheetMesh.grid(size=(0.4, 0.4), cells=(8, 8))
    mesh = sp.SheetMesh(grid.vertices + np.array([-0.17, -0.2, 0.25]), grid.cells)
    felt = sp.IsotropicCloth(young=1e5, poisson=0.3, thickness=1e-3, areal_density=0.3)
    sim = sp.Simulation(
        sp.Cloth(mesh, felt), damping=sp.ClothStrainRate(matched=0.02), obstacles=valley,
        integrator=sp.BackwardEuler(), solver=sp.Newton(iterations=1), gravity=(0, 0, -G), dt=5e-3,
    )  # fmt: skip
    sim.state.v = np.tile((0.0, 0.0, -3.0), (mesh.n_vertices, 1))
    for _ in range(40):
        sim.step()
        x = mesh.vertices + sim.state.u
        assert (np.abs(x[:, 0]) - x[:, 2]).max() < 1e-5
    assert x[:, 2].min() < 0.05


def test_full_steps_that_go_astray_are_taken_back():
    """At 50 m/s, sixteen cells a step, they do; the surface is stopped all the same.

    In parts as short as these inertia is stiff: what a solver leaves moves a vertex by more than in
    a whole step, which contacts hold to a millionth of an edge.
    """
    mesh = sp.TetMesh.box((0.2, 0.2, 0.2), (4, 4, 4))
    mesh = sp.TetMesh(mesh.vertices + np.array([0, 0, 0.05]), mesh.cells)
    body = sp.Body(mesh, sp.StableNeoHookean(young=1e4, poisson=0.4, density=1000))
    damping = sp.StrainRate(shear=1.0)
    sim = sp.Simulation(body, obstacles=FLOOR, damping=damping, dt=1 / 60, gravity=(0, 0, -G))
    sim.state.v = np.tile((25.0, 0.0, -50.0), (body.n_vertices, 1))
    for _ in range(3):
        sim.step()
        surface = (mesh.vertices + sim.state.u)[body.contact_vertices]
        assert surface[:, 2].min() >= -1e-5 * edge(body)
