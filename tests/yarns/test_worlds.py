"""Woven cloth as a body of worlds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.contact.blocks import G, block
from tests.helpers import stepped
from tests.refusals import refused
from tests.yarns.cases import bent, cloth, rates

import supple as sp
from supple.bodies.group import BodyGroup
from supple.contact.contact_surface import ContactSurface
from supple.yarns import (
    Weave,
    WovenBody,
    WovenCloth,
    Yarn,
    YarnDamping,
    YarnNet,
    YarnRayleigh,
    YarnSimulation,
)
from supple.yarns.inertia import momentum_rate

ipctk = pytest.importorskip("ipctk")

DAMPING = YarnDamping(stretch=0.03, bending=0.016, shear=0.01)
GRAVITY = (0.0, 0.0, -G)


def patch(n=7, spacing=1e-3, z=0.0, friction=0.3, shear=1e-8, **yarn) -> WovenCloth:
    thread = {"radius": 1.2e-4, "linear_density": 5e-5, "stretch": 0.05, "bending": 1e-9, **yarn}
    half = spacing * (n - 1) / 2
    net = YarnNet.patch(
        n,
        n,
        spacing=spacing,
        weave=Weave.twill(),
        origin=(-half, -half, z),
    )
    return WovenCloth(net, warp=Yarn(**thread), shear=shear, friction=friction)


def thick(n, size, z, **options) -> WovenCloth:
    """Of yarns that carry something."""
    yarn = {"radius": 4e-4, "linear_density": 2e-4, "stretch": 50.0, "bending": 1e-8}
    return patch(n, size / (n - 1), z, shear=1e-5, **{**yarn, **options})


def moving(body: WovenCloth, seed=0, speed=0.3) -> np.ndarray:
    return speed * np.random.default_rng(seed).normal(size=(body.n_nodes, 3))


# -- alone ----------------------------------------------------------------------------------------


CASES = {
    "hangs": (patch(), [0, 6], None, DAMPING, GRAVITY),
    "slides": (patch(friction=0.0), [0, 6], 0.3, DAMPING, GRAVITY),
    "brakes": (patch(), [0, 6], 0.3, YarnRayleigh(stiffness=1e-3), GRAVITY),
    "flies": (patch(friction=0.05), None, 0.3, None, (0, 0, 0)),
}


def both(name, rule, dt, duration):
    """The same motion twice: yarns alone and as the only body of a world."""
    woven, fixed, speed, damping, gravity = CASES[name]
    alone = YarnSimulation(
        woven, fixed=fixed or (), damping=damping, gravity=gravity, dt=dt, integrator=rule,
        tolerance=1e-8,
    )  # fmt: skip
    body = WovenBody(woven, fixed=fixed)
    world = sp.Simulation(
        [body], damping=damping, gravity=gravity, dt=dt, integrator=rule,
        solver=sp.Newton(tolerance=1e-8),
    )  # fmt: skip
    if speed:
        v = moving(woven, speed=speed)
        v[fixed or []] = 0.0
        alone.set_state(v=v)
        world.state_of(body).v = body.velocity(v)
    stepped(alone, round(duration / dt))
    stepped(world, round(duration / dt))
    return alone, world, body


@pytest.mark.parametrize("name", CASES)
def test_alone_it_moves_as_yarns_do(name):
    """By backward Euler every number of a stage is the same, so the motion is, to the tolerance."""
    alone, world, body = both(name, sp.BackwardEuler(), 1e-3, 0.015)
    q, then = body.coordinates(world.state.u), alone.q
    gone = np.abs(then - body.cloth.rest_state).max(axis=0)
    assert gone[:3].max() > 5e-4
    if name == "slides":
        assert gone[3:].max() > 1e-5
    np.testing.assert_allclose(q, then, atol=1e-6 * gone[:3].max())
    here, there = world.frame(), alone.frame()
    assert here.kinetic == pytest.approx(there.kinetic, rel=1e-5)
    size = here.kinetic + abs(here.gravitational)
    for of in ("elastic", "gravitational", "dissipated"):
        assert getattr(here, of) == pytest.approx(getattr(there, of), abs=1e-5 * size), of


@pytest.mark.parametrize("rule", [sp.TRBDF2(), sp.BDF2(), sp.Bathe()], ids=repr)
def test_other_rules_tend_to_the_same_motion(rule):
    """They begin otherwise, so they differ by far less than a rule of second order is off."""
    ends = []
    for dt in (1e-3, 5e-4):
        alone, world, body = both("hangs", rule, dt, 0.015)
        assert world.stats.substeps == 1
        assert alone.stood_in == 0
        ends.append((alone.q, body.coordinates(world.state.u)))
    off = [np.abs(q - then).max() for then, q in ends]
    error = np.abs(ends[0][0] - ends[1][0]).max()
    assert max(off) < 0.05 * error


def test_crossings_follow_supports_as_alone():
    woven = patch()
    lifted = sp.Support.oscillating([0, 6, 42, 48], amplitude=(0, 0, 1e-3), frequency=20)
    options = {"damping": DAMPING, "gravity": GRAVITY, "dt": 5e-4}
    alone = stepped(YarnSimulation(woven, supports=lifted, **options), 30)
    body = WovenBody(woven, supports=lifted)
    world = stepped(sp.Simulation(body, integrator=sp.BackwardEuler(), **options), 30)
    x = body.positions(world.state.u)
    np.testing.assert_allclose(x[[0, 48], 2], 1e-3 * np.sin(40 * np.pi * 0.015), rtol=1e-9)
    # alone, backward Euler has the velocity of supports from where they were
    np.testing.assert_allclose(x, alone.q[:, :3], atol=1e-6)


@pytest.mark.parametrize("rule", [sp.TRBDF2(), sp.BackwardEuler()], ids=repr)
def test_momentum_is_kept_in_flight(rule):
    woven = patch(friction=0.1)
    body = WovenBody(woven)
    sim = sp.Simulation(
        body, damping=DAMPING, integrator=rule, dt=1e-3, solver=sp.Newton(tolerance=1e-9)
    )
    x = woven.net.positions
    spin = np.cross((3.0, -20.0, 5.0), x - x.mean(axis=0))
    sim.state.v = body.velocity(np.array([0.1, 0.2, -0.1]) + spin + moving(woven, speed=0.05))
    first = sim.frame()
    for _ in range(20):
        frame = stepped(sim, 1).frame()
        assert frame.kinetic + frame.elastic < (1 + 1e-4) * first.kinetic
    assert frame.dissipated > 0
    size = np.abs(first.linear_momentum).max()
    np.testing.assert_allclose(frame.linear_momentum, first.linear_momentum, atol=1e-7 * size)
    size = np.abs(first.angular_momentum).max()
    off = 4e-3 if rule.order > 1 else 1e-2
    np.testing.assert_allclose(frame.angular_momentum, first.angular_momentum, atol=off * size)


def test_a_flat_cloth_falls_as_a_stone():
    sim = sp.Simulation(WovenBody(patch()), damping=DAMPING, gravity=GRAVITY, dt=1e-3)
    stepped(sim, 10)
    n = sim.body.mesh.crossings
    np.testing.assert_allclose(sim.state.v[:n], [[0, 0, -G * 0.01]] * n, atol=1e-9)
    assert not sim.state.u[n:].any()
    frame = sim.frame()
    assert frame.kinetic + frame.gravitational == pytest.approx(0, abs=1e-6 * frame.kinetic)


# -- what it is made of ---------------------------------------------------------------------------


def test_states_matrices_and_energies_are_those_of_the_cloth():
    woven = cloth()
    body, rng = WovenBody(woven), np.random.default_rng(4)
    q, v = bent(woven), rates(woven)
    u = body.displaced(q)
    np.testing.assert_allclose(body.coordinates(u), q, atol=1e-18)
    np.testing.assert_array_equal(body.rates(body.velocity(v)), v)
    np.testing.assert_allclose(body.positions(u), q[:, :3], atol=1e-18)
    stored = woven.energies(q)
    assert body.energy(u) == pytest.approx(stored.total)
    d = rng.normal(size=q.shape)
    M = woven.mass_values(q)
    along = body.pattern.multiply(body.blocks_of(M), body.velocity(d))
    np.testing.assert_allclose(body.rates(along), woven.pattern.multiply(M, d), atol=1e-18)
    h, way = 1e-9, body.velocity(d)
    slope = (body.energy(u + h * way) - body.energy(u - h * way)) / (2 * h)
    assert slope == pytest.approx(float(np.vdot(body.force(u), way)), rel=1e-5)
    change = (body.force(u + h * way) - body.force(u - h * way)) / (2 * h)
    product = (body.stiffness(u) @ way.ravel()).reshape(-1, 3)
    np.testing.assert_allclose(product, change, atol=1e-5 * np.abs(change).max())
    assert body.mass_values[body.pattern.indptr[:-1]].min() > 0
    weight = body.weight(GRAVITY).sum(axis=0)
    np.testing.assert_allclose(weight, [0, 0, -G * body.total_mass], atol=1e-12)


def test_momentum_changes_as_yarns_move_on():
    woven = cloth()
    q, v = bent(woven), rates(woven)
    h = 1e-7

    def momentum(at):
        return woven.kinetic(at, v)[1]

    expected = (momentum(q + h * v) - momentum(q - h * v)) / (2 * h)
    found = momentum_rate(woven, q, v)
    np.testing.assert_allclose(found, expected, atol=1e-7 * np.abs(expected).max())


def test_contact_begins_at_the_thickness_of_the_cloth():
    lower, upper = (WovenBody(thick(6, 0.05, z)) for z in (0.0, 0.01))
    forces = sp.SelfContact().bind(BodyGroup([lower, upper]))
    assert forces.scales.between(0, 1) == pytest.approx(4 * 4e-4)


# -- among others ---------------------------------------------------------------------------------


def crosses(sim) -> bool:
    surface = ContactSurface(sim.body)
    return surface.crosses_itself(np.ascontiguousarray(surface.carried.moved(sim.state.u)))


def ball(at, radius=0.02, density=2000.0):
    import trimesh

    made = trimesh.creation.icosphere(subdivisions=2, radius=radius)
    return sp.RigidBody(sp.Surface(made.vertices + np.array(at), made.faces), density=density)


def draped(*, held: bool):
    """Woven cloth over a soft block and a rigid ball beside it, which are held or on a floor."""
    soft = block((0.04, 0.04, 0.03), (2, 2, 2), at=(-0.035, -0.02, 0.0005), young=6e4)
    thing = ball((0.03, 0, 0.0205))
    if held:
        soft = replace(soft, fixed=soft.mesh.where(z=0.0005))
        thing = sp.RigidBody(thing.mesh.skin, density=1.0, fixed=True)
    sheet = WovenBody(thick(11, 0.1, 0.043))
    damping = YarnDamping(stretch=0.01, bending=0.02, shear=0.02)
    return sp.Simulation(
        {"block": soft, "ball": thing, "cloth": sheet},
        damping={"block": sp.StrainRate(shear=60), "cloth": damping},
        integrator=sp.BackwardEuler(),
        obstacles=() if held else sp.Plane(friction=0.5),
        self_contact=sp.SelfContact(friction=0.3),
        gravity=GRAVITY,
        dt=1 / 100,
    )


@pytest.mark.parametrize("held", [True, pytest.param(False, marks=pytest.mark.verify)])
def test_it_falls_over_a_block_and_a_ball_and_crosses_nothing(held):
    sim = draped(held=held)
    energies = []
    for _ in range(6):
        frame = stepped(sim, 2).frame()
        assert not crosses(sim)
        energies.append(frame.kinetic + frame.elastic + frame.gravitational)
    assert np.diff(energies).max() < 1e-6
    assert sim.stats.contacts > 0
    felt = [sim.self_contact_forces[each].sum(axis=0) for each in sim.body.rows]
    assert felt[2][2] > 0, "the cloth is borne"
    np.testing.assert_allclose(np.sum(felt, axis=0), 0, atol=1e-9 * np.abs(felt[2]).max())


@pytest.mark.verify
def test_a_ball_lies_in_a_hammock_that_pins_hold():
    n = 11
    woven = WovenBody(thick(n, 0.2, 0.0, stretch=200.0))
    thing = ball((0.005, 0.0, 0.022), density=600.0)
    sim = sp.Simulation(
        {"hammock": woven, "ball": thing},
        damping={"hammock": YarnDamping(stretch=0.01, bending=0.02, shear=0.02)},
        attachments=[sp.Pin(woven, k) for k in (0, n - 1, n * (n - 1), n * n - 1)],
        integrator=sp.BackwardEuler(),
        self_contact=sp.SelfContact(friction=0.4),
        gravity=GRAVITY,
        dt=1 / 100,
    )
    stepped(sim, 60)
    assert not crosses(sim)
    weight = thing.total_mass * G
    felt = sim.self_contact_forces[sim.body.rows[1]].sum(axis=0)
    assert felt[2] == pytest.approx(weight, rel=0.02)
    x = woven.positions(sim.state_of("hammock").u)
    assert thing.pose(sim.state_of("ball").u)[1][2] > x[:, 2].min()
    assert np.abs(x[0] - woven.cloth.net.positions[0]).max() < 1e-3


def test_it_lies_on_obstacles():
    woven = patch(9)
    body = WovenBody(woven)
    under = sp.Sphere(centre=(0, 0, -2.5e-3), radius=2e-3, friction=0.4)
    sim = sp.Simulation(
        body, obstacles=under, damping=YarnDamping(stretch=0.03, bending=0.16), gravity=GRAVITY,
        dt=1e-3, integrator=sp.BackwardEuler(),
    )  # fmt: skip
    sim.state.v = body.velocity((0, 0, -0.1))
    stepped(sim, 15)
    away = np.linalg.norm(body.positions(sim.state.u) - under.centre, axis=1)
    assert away.min() > under.radius - 1e-8
    assert sim.contact_forces[:, 2].sum() > 0


# -- what is kept ---------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [sp.BDF2(), sp.BackwardEuler()], ids=repr)
def test_motions_are_recorded_resumed_and_exported(tmp_path, rule):
    woven, thing = patch(5), ball((0, 0, 6e-3), radius=4e-3)

    def made():
        body = WovenBody(woven, fixed=[0, 4, 20, 24])
        bodies = {"cloth": body, "ball": thing}
        return sp.Simulation(
            bodies, damping={"cloth": DAMPING}, gravity=GRAVITY, dt=1e-3, integrator=rule
        )

    whole = made().run(0.008, record=tmp_path / "whole.motion")
    made().run(0.004, record=tmp_path / "half.motion")
    resumed = made().run(0.008, record=tmp_path / "half.motion", resume=True)
    # but for a factor of the matrix that is not kept, to the tolerance of the solver
    far = np.abs(whole.displacements).max()
    np.testing.assert_allclose(resumed.displacements, whole.displacements, atol=1e-9 * far)
    np.testing.assert_allclose(resumed.dissipated, whole.dissipated, rtol=1e-5)
    read = sp.read_motion(tmp_path / "whole.motion").mesh.parts[0]
    assert repr(read) == repr(WovenBody(woven).mesh)
    np.testing.assert_array_equal(read.warp_on_top, woven.net.warp_on_top)
    for suffix in (".glb", ".usdc", ".pvd"):
        sp.export_motion(whole, tmp_path / f"world{suffix}")
        assert (tmp_path / f"world{suffix}").stat().st_size > 100


def test_yarns_are_drawn_as_those_of_woven_cloth_alone(tmp_path):
    from supple.io.shown_bodies import shown_bodies
    from supple.io.surfaces import moving_bodies

    woven = patch(5)
    options = {"damping": DAMPING, "gravity": GRAVITY, "dt": 1e-3}
    alone = YarnSimulation(woven, fixed=[0, 4], **options).run(0.003)
    body = WovenBody(woven, fixed=[0, 4])
    for bodies in (body, {"cloth": body}):
        motion = sp.Simulation(bodies, integrator=sp.BackwardEuler(), **options).run(0.003)
        (shown,) = shown_bodies(motion)
        assert repr(shown.motion.mesh) == repr(woven.mesh)
        drawn, those = moving_bodies(motion), moving_bodies(alone)
        np.testing.assert_array_equal(drawn.triangles, those.triangles)
        np.testing.assert_allclose(drawn.frame(-1), those.frame(-1), atol=1e-8)


def test_snapshots_bring_the_same_motion_again():
    body = WovenBody(patch(friction=0.1), fixed=[0, 6])
    sim = sp.Simulation(body, damping=DAMPING, gravity=GRAVITY, dt=1e-3, integrator=sp.BDF2())
    stepped(sim, 4)
    kept = sim.snapshot()
    first = stepped(sim, 4).state.u.copy()
    sim.gravity = (0, 0, 0)
    stepped(sim, 1)
    sim.restore(kept)
    again = stepped(sim, 4).state.u
    np.testing.assert_array_equal(again, first)
    lighter = sp.Simulation(body, damping=DAMPING, gravity=GRAVITY, dt=1e-3)
    lighter.gravity = (0, 0, -1.0)
    stepped(lighter, 3)
    assert lighter.frame().gravitational == pytest.approx(
        -float(np.vdot(body.weight((0, 0, -1.0)), body.mesh.vertices + lighter.state.u)), rel=1e-3
    )


# -- what is refused ------------------------------------------------------------------------------


def test_what_yarns_cannot_take_is_refused_with_advice():
    woven = patch(4)
    body = WovenBody(woven)
    soft = block((0.01, 0.01, 0.01), (1, 1, 1), at=(0, 0, 0.1), young=6e4)
    refused(r"WovenBody\(cloth\)", sp.Simulation, [woven, soft])
    refused("cannot damp yarns.*YarnDamping", sp.Simulation, body, damping=sp.Rayleigh(mass=1.0))
    refused("damps woven cloth", sp.Simulation, [body, soft], damping=DAMPING)
    two = [DAMPING, YarnRayleigh(stiffness=1e-3)]
    refused("has one damping", sp.Simulation, [body], damping={body: two})
    refused(r"woven cloth needs solver=Newton\(\)", sp.Simulation, body, solver=sp.ADMM())
    sim = sp.Simulation(body, integrator=sp.RK4())
    refused("cannot move yarns.*TRBDF2", sim.step)
    held = WovenBody(woven, fixed=woven.mesh.where(x=woven.net.positions[0, 0]))
    refused("mass of woven cloth follows its yarns", sp.vibration_modes, body, 2)
    refused("no static shape", sp.static_shape, held, gravity=GRAVITY)
    refused("vertex 0 is held twice", WovenBody, woven, fixed=[0], supports=[
        sp.Support([0], lambda t: (0, 0, t))
    ])  # fmt: skip


def test_settings_that_are_set_anew_leave_the_motion_as_it_is():
    """What is known of momenta goes on: states do not have it."""
    worlds = []
    for _ in range(2):
        body = WovenBody(patch())
        options = {"integrator": sp.BackwardEuler(), "dt": 1e-3, "self_contact": False}
        world = sp.Simulation({"rug": body}, damping={"rug": DAMPING}, **options)
        world.state_of("rug").v = body.velocity(moving(body.cloth))
        worlds.append(world)
    for _ in range(6):
        for world in worlds:
            world.step()
        worlds[1].attachments = ()
    kept, anew = (world.state.u for world in worlds)
    way = np.abs(kept).max()
    np.testing.assert_allclose(anew, kept, atol=1e-6 * way)
