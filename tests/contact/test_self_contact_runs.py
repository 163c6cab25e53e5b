"""Self-contact together with obstacles, supports, recordings and solids, and what it refuses."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
from tests.contact.layers import FILM, crossings, falling, meeting, never_crosses, stacked
from tests.helpers import killed, stepped
from tests.refusals import refused

import supple as sp
from supple.contact import self_contact_forces

DAMPING = sp.ClothStrainRate(matched=0.01)


def strip(cells: tuple[int, int] = (3, 12)) -> sp.SheetMesh:
    """A strip of 0.25 × 1 m that stands on its short edge, not quite straight."""
    flat = sp.SheetMesh.grid((0.25, 1.0), cells)
    x, y, _ = flat.vertices.T
    bent = 0.02 * np.sin(7 * y) + 0.01 * np.sin(5 * x)
    return replace(flat, vertices=np.column_stack([x, bent, y + 0.01]))


def crumpling(friction: float) -> sp.Simulation:
    return falling(
        sp.Cloth(strip(), FILM),
        damping=sp.ClothStrainRate(matched=0.005, bending=1e-7),
        obstacles=sp.Plane(friction=0.4),
        self_contact=sp.SelfContact(friction=friction),
        dt=6e-3,
    )


@pytest.mark.verify
def test_cloth_that_crumples_on_a_floor_never_crosses_itself():
    sim = crumpling(friction=0.3)
    assert never_crosses(sim, 80) > 50
    z = sim.body.mesh.vertices[:, 2] + sim.state.u[:, 2]
    assert z.min() > -1e-6
    assert z.max() < 0.4


def test_room_in_the_matrix_is_seldom_made(monkeypatch):
    made = []
    known = self_contact_forces.SelfContactForces.nearby_keys
    monkeypatch.setattr(
        self_contact_forces.SelfContactForces,
        "nearby_keys",
        lambda self, u: made.append(1) or known(self, u),
    )
    sim = crumpling(friction=0.0)
    spent = sum(stepped(sim, 1).stats.iterations for _ in range(70))
    assert 0 < len(made) < 0.2 * spent


def test_steps_of_one_iteration_are_those_of_a_factor():
    """Where conjugate gradients stand in for it."""
    runs = []
    for linear in (sp.AutomaticSolver(), sp.Cholesky()):
        contact = sp.SelfContact(friction=0.3)
        solver = sp.Newton(iterations=1, linear=linear)
        given = {"self_contact": contact, "dt": 1 / 200, "damping": DAMPING}
        sim = meeting(speed=0.02, gap=0.03, cells=17, solver=solver, **given)
        u = sim.state.u.copy()
        u[len(u) // 2 :, 2] -= 0.018
        sim.state.u = u
        positions, counts = [], []
        for _ in range(4):
            sim.step()
            positions.append(sim.state.u.copy())
            counts.append((sim.stats.contacts, sim.stats.factorizations))
        runs.append((np.array(positions), np.array(counts).T))
    (mine, (pairs, few)), (exact, (same_pairs, many)) = runs
    assert pairs.max() > 1000
    np.testing.assert_array_equal(pairs, same_pairs)
    assert few[0] == 0
    assert (many > 0).all()
    went = np.abs(np.diff(exact, axis=0)).max()
    # A residual of 1e-5 of the forces, most of which are stiff, is more of what is soft.
    assert np.abs(mine - exact).max() < 1e-3 * went


def rising_ball(kind: str) -> sp.Obstacle:
    """A ball of 10 cm that goes up by 30 cm a second."""
    if kind == "sphere":
        rise = sp.Rails.path(position=lambda t: (0.0, 0.0, 0.3 * t))
        return sp.Sphere(radius=0.1, friction=0.5, motion=rise)
    ball, times = sp.Sphere(radius=0.1).surface(), np.linspace(0, 1, 11)
    positions = ball.vertices + np.outer(0.3 * times, (0, 0, 1))[:, None]
    return sp.AnimatedMesh(triangles=ball.triangles, times=times, positions=positions, friction=0.5)


@pytest.mark.parametrize("kind", ["sphere", "animated mesh"])
def test_sheet_draped_over_a_ball_that_moves(kind):
    flat = sp.SheetMesh.grid((0.8, 0.8), (8, 8))
    mesh = replace(flat, vertices=flat.vertices - [0.4, 0.4, -0.11])
    sim = falling(sp.Cloth(mesh, FILM), damping=DAMPING, obstacles=rising_ball(kind), dt=8e-3)
    assert never_crosses(sim, 45) > 50
    centre = (0.0, 0.0, 0.3 * sim.state.time)
    away = np.linalg.norm(sim.body.mesh.vertices + sim.state.u - centre, axis=1)
    assert away.min() > (0.1 if kind == "sphere" else 0.095) - 1e-5


@pytest.mark.parametrize("solver", [sp.Newton(), sp.Newton(iterations=1)], ids=repr)
def test_supports_fold_a_strip_onto_itself(solver):
    """One end is led over the other and past it, and lies on it."""
    mesh = sp.SheetMesh.grid((1.0, 0.2), (12, 2))
    end = mesh.where(x=1.0)
    over = sp.Support(end, lambda t: (-2.6 * t, 0.0, 0.4 * np.sin(2 * np.pi * t) - 0.2 * t))
    cloth = sp.Cloth(mesh, FILM, fixed=mesh.where(x=0), supports=[over])
    assert never_crosses(falling(cloth, damping=DAMPING, solver=solver, dt=0.01), 50) > 10


def test_supports_cannot_drive_cloth_through_itself():
    """A patch that is held comes down on a sheet that is held."""
    low, high = sp.SheetMesh.grid((1.0, 1.0), (4, 4)), sp.SheetMesh.grid((0.3, 0.3), (2, 2))
    mesh = stacked(low, high, offsets=[(0, 0, 0), (0.33, 0.31, 0.1)])
    held = np.arange(low.n_vertices, mesh.n_vertices)
    down = sp.Support(held, lambda t: (0.0, 0.0, -1.0 * t))
    cloth = sp.Cloth(mesh, FILM, fixed=low.where(x=0), supports=[down])
    options = {"self_contact": sp.SelfContact(), "gravity": (0, 0, 0), "dt": 0.01}
    sim = falling(cloth, **options)
    assert never_crosses(sim, 25) > 10  # pushed along
    assert sim.state.u[: low.n_vertices, 2].min() < -0.13
    sim = falling(replace(cloth, fixed=np.arange(low.n_vertices)), **options)
    refused("supports drive the body through itself", sim.run, 0.25, error=sp.StepFailed)
    assert crossings(mesh, mesh.vertices + sim.state.u) == 0


def test_solids_do_not_pass_through_each_other():
    low = sp.TetMesh.box((0.4, 0.4, 0.1), (3, 3, 1))
    high = sp.TetMesh.box((0.2, 0.2, 0.2), (2, 2, 2))
    mesh = sp.TetMesh(
        np.concatenate([low.vertices, high.vertices + np.array([0.11, 0.09, 0.15])]),
        np.concatenate([low.cells, high.cells + low.n_vertices]),
    )
    body = sp.Body(mesh, sp.StableNeoHookean(young=1e5, poisson=0.4), fixed=mesh.where(z=0))
    sim = falling(body, damping=sp.StrainRate(shear=100), dt=0.01)
    assert never_crosses(sim, 40) > 10
    assert np.abs(sim.state.v[low.n_vertices :]).max() < 0.1
    force = sim.self_contact_forces[low.n_vertices :].sum(axis=0)
    assert force[2] == pytest.approx(9.81 * 1000 * 0.2**3, rel=0.05)


@pytest.mark.verify
def test_recorded_run_goes_on_as_if_it_had_not_stopped(tmp_path):
    whole = crumpling(friction=0.3).run(0.3, record=tmp_path / "whole.motion")
    path = killed(crumpling(friction=0.3), 0.3, tmp_path / "crumple.motion", 40)
    resumed = crumpling(friction=0.3).run(0.3, record=path, resume=True)
    assert np.abs(resumed.displacements - whole.displacements).max() <= 1e-5


def test_contact_can_be_turned_on_and_off_between_steps():
    sim = meeting(speed=2.0, self_contact=None)
    sim.step()
    sim.self_contact = sp.SelfContact(distance=0.02)
    assert never_crosses(sim, 8) > 0
    sim.self_contact = None
    sim.step()
    assert not sim.self_contact_forces.any()


# -- distances and refusals -------------------------------------------------------------------


def test_distance_and_stiffness_fit_the_mesh():
    sim = meeting(speed=0.0, gap=0.5)
    ends = sim.body.mesh.vertices[sim.body.mesh.edges]
    edge = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).mean()
    fitting = sp.SelfContact()
    assert fitting.bind(sim.body).distance == pytest.approx(0.2 * edge)
    softer = sp.SelfContact(distance=0.004, stiffness=12.0).bind(meeting(speed=0.0).body)
    assert (softer.distance, softer.scales.stiffness_between(0, 1)) == (0.004, 12.0)


def test_sheets_closer_than_the_distance_are_refused():
    wide = sp.SelfContact(distance=0.02)
    words = r"are 0\.01 m apart .*; give less, or nothing"
    refused(words, meeting, speed=0.0, gap=0.01, self_contact=wide)


def test_what_crosses_itself_at_the_start_is_refused():
    refused("the mesh touches or passes through itself where", meeting, speed=0.0, gap=0.0)
    sheet = sp.SheetMesh.grid((1.0, 1.0), (2, 2))
    joined = sp.Cloth(stacked(sheet, sheet, offsets=[(0, 0, 0), (1, 0, 0)]), FILM)
    refused("join vertices that should be one", sp.SelfContact().bind, joined)
    sim = meeting(speed=0.0, gap=0.1)
    sim.state.u[:25, 2] = np.linspace(0, 0.3, 25)
    refused(r"set state\.u to a shape that does not", sim.step)


def test_solvers_and_rules_that_cannot_are_refused():
    refused(r"self_contact needs solver=Newton\(\)", meeting, speed=1.0, solver=sp.ADMM())
    sim = meeting(speed=1.0, integrator=sp.SymplecticEuler())
    refused("explicit and cannot hold a body out of obstacles or", sim.step)
    line = sp.SpringMesh.chain((0, 0, 0), (1, 0, 0), 1)
    springs = sp.SpringNetwork(line, stiffness=1.0, mass=1.0)
    with pytest.raises(sp.InputError, match="self_contact is True; give an object such as"):
        sp.Simulation(springs, self_contact=True)


@pytest.mark.parametrize("name", ["distance", "friction", "stiffness", "sticking_speed"])
def test_bad_numbers_are_refused(name):
    refused(name, sp.SelfContact, **{name: -1.0})


def test_missing_toolkit_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ipctk", None)
    refused(r"pip install 'supple\[contact\]'", meeting, speed=1.0, error=sp.MissingExtra)
