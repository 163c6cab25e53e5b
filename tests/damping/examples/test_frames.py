"""Examples go with the body: frames, and damping that a turn of everything does not change."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.damping.derivatives import assert_derivative
from tests.damping.examples.scenes import (
    EQUIVARIANT,
    block,
    carried,
    energy,
    forces,
    free,
    moved,
    quarter_turn,
    run,
)
from tests.helpers import rotation, soft

import supple as sp
from supple.damping.examples.frames import Frame, frame_of_body

MESH = block()
RNG = np.random.default_rng(3)
U, V = 0.03 * RNG.normal(size=(2, *MESH.vertices.shape))
SHIFT = np.array([0.4, -1.0, 2.0])
every_base = pytest.mark.parametrize("base", EQUIVARIANT.values(), ids=EQUIVARIANT.keys())


def frames() -> list[Frame]:
    some = np.array([0, 3, 7, 11, 20])
    return [
        Frame.of_mass(free(MESH)),
        Frame.of(MESH.vertices, some, np.arange(1.0, 6.0)),
        Frame.of(MESH.vertices, some[:3], np.ones(3)),
    ]


@pytest.mark.parametrize("frame", frames(), ids=["mass", "some", "three"])
def test_a_rigid_motion_is_found_and_not_seen(frame):
    R = rotation(5)
    u = moved(MESH, np.zeros_like(U), R, SHIFT)
    pose = frame.pose(u)
    np.testing.assert_allclose(pose.rotation, R, atol=1e-12)
    np.testing.assert_allclose(frame.displacements(u, pose), 0.0, atol=1e-12)
    seen = frame.displacements(U, frame.pose(U))
    turned = moved(MESH, U, R, SHIFT)
    np.testing.assert_allclose(frame.displacements(turned, frame.pose(turned)), seen, atol=1e-12)


@pytest.mark.parametrize("frame", frames(), ids=["mass", "some", "three"])
def test_rates_are_those_of_what_is_seen(frame):
    u = moved(MESH, U, rotation(4), SHIFT)

    def seen(h: float) -> np.ndarray:
        there = u + h * V
        return frame.displacements(there, frame.pose(there))

    assert_derivative(seen, frame.velocities(u, V, frame.pose(u)))


def test_the_frame_of_a_body_leaves_no_rigid_motion():
    """u' has neither momentum nor angular momentum, in the product of the mass."""
    body = free(MESH)
    frame = frame_of_body(body)
    u = moved(MESH, U, rotation(2), SHIFT)
    momenta = body.mass_times(np.ascontiguousarray(frame.displacements(u, frame.pose(u))))
    np.testing.assert_allclose(momenta.sum(axis=0), 0.0, atol=1e-10)
    np.testing.assert_allclose(np.cross(MESH.vertices, momenta).sum(axis=0), 0.0, atol=1e-10)


def test_who_carries_a_body():
    assert frame_of_body(sp.Body(MESH, soft(sp.StVK), fixed=MESH.where(x=(None, 0.1)))) is None
    assert frame_of_body(free(MESH)).is_of_mass
    assert not frame_of_body(carried(MESH)).is_of_mass
    hinge = sp.Body(MESH, soft(sp.StVK), fixed=[0])
    assert frame_of_body(hinge).is_of_mass


def test_vertices_on_one_line_only_travel():
    line = np.stack([np.arange(4.0), np.zeros(4), np.zeros(4)], axis=1)
    frame = Frame.of(line, np.arange(4), np.ones(4))
    assert not frame.turns
    u = line @ (rotation(1) - np.eye(3)).T + SHIFT
    np.testing.assert_array_equal(frame.pose(u).rotation, np.eye(3))


# -- Ĉ ---------------------------------------------------------------------------------------


def damping_of(base, seed: int = 0, **options) -> sp.ExampleDamping:
    shapes = np.random.default_rng(seed).normal(size=(3, *MESH.vertices.shape))
    examples = [
        sp.Example(0.1 * shapes[0], sp.Curve.linear([(0.0, 0.2), (1.0, 6.0)])),
        sp.Example(shapes[1], sp.Curve.linear([(0.0, 0.5), (1.0, 2.0)]), measure=sp.Measure.RATE),
        sp.Example(shapes[2], 3.0),
    ]
    overall = sp.Curve.linear([(0.0, 0.5), (0.1, 2.0)])
    return sp.ExampleDamping(base, examples, overall=overall, **options)


@every_base
@pytest.mark.parametrize("make", [free, carried], ids=["free", "carried"])
def test_a_turned_body_feels_turned_forces(base, make):
    """Ĉ(R u) R v = R Ĉ(u) v: with curves of excitation and of rate, overall and about."""
    body = make(MESH)
    damping = damping_of(base, about=0.02 * RNG.normal(size=U.shape))
    R = rotation(7)
    u = np.where(body.free, U, 0.0)
    v = np.where(body.free, V, 0.0)
    here, scale = forces(body, damping, u, v)
    there, _ = forces(body, damping, moved(MESH, u, R, SHIFT), v @ R.T)
    np.testing.assert_allclose(there, here @ R.T, atol=1e-9 * scale)


@pytest.mark.parametrize("name", ["strain rate", "matched", "conserving"])
def test_free_bodies_keep_their_momenta(name):
    """No resultant and no moment, whatever the frame; rigid velocities are not felt."""
    body, damping = free(MESH), damping_of(EQUIVARIANT[name])
    u = moved(MESH, U, rotation(8), SHIFT)
    force, scale = forces(body, damping, u, V)
    np.testing.assert_allclose(force.sum(axis=0), 0.0, atol=1e-11 * scale)
    np.testing.assert_allclose(
        np.cross(MESH.vertices + u, force).sum(axis=0), 0.0, atol=1e-10 * scale
    )
    rigid = SHIFT + np.cross([0.3, -2.0, 1.0], MESH.vertices + u)
    more, _ = forces(body, damping, u, V + rigid)
    np.testing.assert_allclose(more, force, atol=1e-9 * scale)


def test_rigid_examples_of_free_bodies():
    """They can have a constant, over mass; no excitation is theirs to follow."""
    shape = np.tile([1.0, 0.0, 0.0], (MESH.n_vertices, 1))
    body, base = free(MESH), sp.Rayleigh(mass=1.0)
    force, _ = forces(body, sp.ExampleDamping(base, [sp.Example(shape, 4.0)]), 0 * U, shape)
    np.testing.assert_allclose(force, 4.0 * body.mass_times(shape), rtol=1e-12)
    curve = sp.Curve.linear([(0.0, 1.0), (1.0, 2.0)])
    with pytest.raises(sp.InputError, match="moves the body as one"):
        sp.ExampleDamping(base, [sp.Example(shape, curve)]).bind(body)
    with pytest.raises(sp.InputError, match="does nothing along example 0"):
        sp.ExampleDamping(EQUIVARIANT["matched"], [sp.Example(shape)]).bind(body)


# -- in motion -------------------------------------------------------------------------------


def beam(turn: np.ndarray | None = None) -> sp.TetMesh:
    mesh = sp.HexMesh.box(size=(1.0, 0.2, 0.1), cells=(6, 2, 1)).tetrahedra()
    return mesh if turn is None else sp.TetMesh(mesh.vertices @ turn.T, mesh.cells)


RUBBER = sp.StVK(young=6e7, poisson=0.4, density=1000)  # bends at 10 Hz
ENDS = beam().where(x=0)
BASE = sp.MatchedStrainRate(stiffness=1e-3)


def bending() -> np.ndarray:
    shape = sp.vibration_modes(sp.Body(beam(), RUBBER, fixed=ENDS), 1).shapes[0]
    return shape * 0.02 / np.abs(shape).max()


BENDING = bending()


def kicked(body: sp.Body, example: np.ndarray, kick: np.ndarray, u: np.ndarray, gamma, dt):
    damping = sp.ExampleDamping(BASE, [sp.Example(example, gamma)])
    sim = sp.Simulation(body, damping=damping, integrator=sp.Bathe(), dt=dt)
    sim.state.u, sim.state.v = u, kick
    return sim


@pytest.mark.parametrize("gamma", [0.05, 10.0])
def test_a_kick_after_a_quarter_turn(gamma):
    """What is left is what an unturned beam has, all of it turned or its supports alone."""
    R, kick, dt = quarter_turn(), 30 * BENDING, 1 / 60
    still = np.zeros_like(kick)
    plain = kicked(sp.Body(beam(), RUBBER, fixed=ENDS), BENDING, kick, still, gamma, dt)
    left, _ = run(plain, 0.3)
    turned = sp.Body(beam(R), RUBBER, fixed=ENDS)
    whole, _ = run(kicked(turned, BENDING @ R.T, kick @ R.T, still, gamma, dt), 0.3)
    np.testing.assert_allclose(whole[-1], left[-1], rtol=1e-6)
    gone = beam().vertices @ R.T - beam().vertices
    nothing = 0 * gone[ENDS]
    support = sp.Support(ENDS, lambda t: gone[ENDS], lambda t: nothing, lambda t: nothing)
    on = kicked(sp.Body(beam(), RUBBER, supports=[support]), BENDING, kick @ R.T, gone, gamma, dt)
    np.testing.assert_allclose(run(on, 0.3)[0][-1], left[-1], rtol=1e-6)


@pytest.mark.parametrize("dt", [1 / 60, 1 / 240])
@pytest.mark.parametrize("gamma", [0.05, 2.0])
def test_a_kick_while_supports_turn(gamma, dt):
    """Beside the motion without it, a kick dies away as it does on supports that stand."""
    mesh, kick = beam(), 30 * BENDING
    rate = np.array([0.0, 0.5 * np.pi, 0.0])  # a quarter turn in a second
    support = sp.Support.rotating(ENDS, mesh.vertices[ENDS], (0, 0, 0), rate)
    body = sp.Body(mesh, RUBBER, supports=[support])
    carried_along = np.cross(rate, mesh.vertices)
    sims = [
        kicked(body, BENDING, carried_along + share * kick, 0 * kick, gamma, dt)
        for share in (0.0, 1.0)
    ]
    seconds, ends = 0.25, []
    for sim in sims:
        run(sim, seconds)
        ends.append((sim.state.u.copy(), sim.state.v.copy()))
    R = Rotation.from_rotvec(seconds * rate).as_matrix()
    beside = sp.Simulation(sp.Body(mesh, RUBBER, fixed=ENDS), damping=BASE)
    (u0, v0), (u1, v1) = ends
    beside.state.u, beside.state.v = (u1 - u0) @ R, (v1 - v0) @ R
    plain = kicked(sp.Body(mesh, RUBBER, fixed=ENDS), BENDING, kick, 0 * kick, gamma, dt)
    run(plain, seconds)
    assert energy(beside) == pytest.approx(energy(plain), rel=0.01)


def test_a_body_that_tumbles_in_flight():
    """Momenta as without examples, the decay of a body that does not turn, no more iterations."""
    mesh = beam()
    body = sp.Body(mesh, sp.StVK(young=1e6, poisson=0.4, density=1000))
    shape = sp.vibration_modes(body, 7).shapes[6]
    shape *= 0.02 / np.abs(shape).max()
    centre = mesh.vertices.mean(axis=0)

    def flight(gamma: float | None, spin: float, dt: float) -> tuple[float, np.ndarray, float]:
        examples = [] if gamma is None else [sp.Example(shape, gamma)]
        damping = sp.ExampleDamping(BASE, examples)
        sim = sp.Simulation(body, damping=damping, integrator=sp.Bathe(), dt=dt)
        sim.state.u = 0.5 * shape
        arm = mesh.vertices + sim.state.u - centre
        sim.state.v = np.cross(spin * np.array([0.3, 1.0, 0.2]), arm) + np.array([1.0, 0.5, 2.0])
        looking = sp.ExampleDamping(BASE, [sp.Example(shape)])

        def excitation(now: sp.Simulation) -> float:
            return float(looking.excitations(body, now.state.u)[0])

        seen, iterations = run(sim, 0.3, excitation)
        momenta = body.mass_times(sim.state.v)
        around = np.cross(mesh.vertices + sim.state.u, momenta).sum(axis=0)
        return np.abs(seen[-len(seen) // 4 :]).max(), around, iterations

    for dt in (1 / 60, 1 / 240):
        _, without, usual = flight(None, 3.0, dt)
        for gamma in (0.05, 5.0):
            left, around, iterations = flight(gamma, 3.0, dt)
            assert iterations <= 1.1 * usual
            np.testing.assert_allclose(around, without, rtol=1e-3)
            if dt < 1 / 200:
                assert left == pytest.approx(flight(gamma, 0.0, dt)[0], rel=0.02)
