"""Characters as obstacles: when they do what, and that bodies feel them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.character.bodies import character_of, rig_of
from tests.refusals import refusals, refused

import supple as sp
from supple.character import Channel, Character, Clip, Dressing, Track

BALL = sp.Sphere(centre=(0, 0, 0), radius=0.2).surface()


def ball(*, rate: float = 1.0, start: float = 0.0) -> Character:
    """A ball on one joint, which moves along x at an even rate for a second."""
    track = Track(0, Channel.TRANSLATION, [start, start + 1], [(0, 0, 0), (rate, 0, 0)])
    plain = character_of(BALL, rig_of(("ball",), [-1], [(0, 0, 0)]), np.ones((BALL.n_vertices, 1)))
    return replace(plain, clips={"roll": Clip("roll", [track])})


def middle(obstacle: sp.AnimatedMesh, time: float) -> np.ndarray:
    return obstacle.vertices_at(time)[0].mean(axis=0) - BALL.vertices.mean(axis=0)


def radius(obstacle: sp.AnimatedMesh, time: float) -> float:
    x = obstacle.vertices_at(time)[0]
    return float(np.linalg.norm(x - x.mean(axis=0), axis=1).mean())


def test_a_clip_as_an_obstacle():
    rolling = ball().animated_mesh(rate=20, friction=0.3)
    assert rolling.friction == 0.3
    assert np.asarray(rolling.times)[-1] == pytest.approx(1.0)
    for time in (0.0, 0.33, 1.0, 2.0):
        np.testing.assert_allclose(middle(rolling, time), [min(time, 1.0), 0, 0], atol=1e-12)


def test_joints_can_be_turned_throughout():
    man = ball()
    turned = man.animated_mesh(rate=20, turned={"ball": (0, 0, np.pi / 2)})
    x, y, z = man.animated_mesh(rate=20).vertices_at(0.5)[0].T
    expected = np.stack([0.5 - y, x - 0.5, z], axis=1)
    np.testing.assert_allclose(turned.vertices_at(0.5)[0], expected, atol=1e-9)


def test_clips_can_be_faster():
    fast = ball().animated_mesh(repeat=2, rate=100, speed=4.0)
    assert np.asarray(fast.times)[-1] == pytest.approx(0.5)
    np.testing.assert_allclose(middle(fast, 0.1), [0.4, 0, 0], atol=1e-9)


def test_walks_in_place_can_be_carried_along():
    going = ball(rate=0.0).animated_mesh(rate=20, velocity=(0, 2.0, 0))
    np.testing.assert_allclose(middle(going, 0.5), [0, 1, 0], atol=1e-12)
    eased = ball(rate=0.0).animated_mesh(
        repeat=2, rate=100, velocity=(0, 2.0, 0), dressing=Dressing(easing=0.5)
    )
    speeds = [eased.vertices_at(time)[1][0, 1] for time in (0.0, 0.25, 0.6)]
    np.testing.assert_allclose(speeds, [0, 1, 2], atol=2e-2)


def test_dressing_comes_before_the_clip():
    """It stands still, slim and growing, then comes into its motion without a jump."""
    dressing = Dressing(slim=0.5, growing=0.4, settling=0.2, easing=0.4)
    dressed = ball().animated_mesh(rate=100, dressing=dressing)
    times = np.asarray(dressed.times)
    assert (dressing.duration, times[-1]) == (1.0, pytest.approx(1.6))
    sizes = [radius(dressed, time) / radius(dressed, 1.0) for time in (0.0, 0.2, 0.4, 0.6)]
    np.testing.assert_allclose(sizes, [0.5, 0.75, 1.0, 1.0], atol=1e-6)
    for time in (0.0, 0.3, 0.59):
        np.testing.assert_allclose(middle(dressed, time), 0, atol=1e-12)
    np.testing.assert_allclose(middle(dressed, 1.3)[0], 0.7, atol=1e-9)
    x = np.array([middle(dressed, time)[0] for time in times])
    jumps = np.abs(np.diff(x, 2)) / np.diff(times)[0]  # of the speed [m/s]
    assert jumps.max() < 0.2


def test_dressing_starts_in_the_pose_given():
    man = ball()
    pose = replace(man.rig.rest, translations=np.array([[0.0, 0, 5]]))
    dressed = man.animated_mesh(dressing=Dressing(start=pose, settling=0.5, easing=0.5))
    np.testing.assert_allclose(middle(dressed, 0.3), [0, 0, 5], atol=1e-12)
    np.testing.assert_allclose(middle(dressed, 1.0)[2], 0, atol=1e-9)


def test_repeated_clips_go_round():
    twice = ball(start=0.5).animated_mesh(repeat=2, rate=100)
    assert np.asarray(twice.times)[-1] == pytest.approx(2.5)
    places = [middle(twice, time)[0] for time in (0.5, 1.25, 2.0, 2.5)]
    np.testing.assert_allclose(places, [0.5, 0.5, 0.5, 1.0], atol=1e-6)


def test_a_growing_character_pushes_a_sheet_up():
    """A sheet that lies on a slim ball is lifted as it grows, and never passed."""
    man = ball(rate=0.0).animated_mesh(
        dressing=Dressing(slim=0.3, growing=0.3, easing=0.0), friction=0.3, margin=1e-3
    )
    mesh = sp.SheetMesh.grid(size=(0.4, 0.4), cells=(12, 12))
    mesh = sp.SheetMesh(mesh.vertices + np.array([-0.2, -0.2, 0.07]), mesh.cells)
    felt = sp.IsotropicCloth(young=1e5, poisson=0.3, thickness=1e-3, areal_density=0.3)
    sim = sp.Simulation(
        sp.Cloth(mesh, felt),
        damping=sp.ClothStrainRate(matched=0.02),
        integrator=sp.BackwardEuler(),
        solver=sp.Newton(iterations=1),
        obstacles=man,
        gravity=(0, 0, -9.81),
        dt=1 / 60,
    )
    for _ in range(18):
        sim.step()
        x = mesh.vertices + sim.state.u
        assert man.at(x, sim.state.time).distance.min() > -1e-12
    assert x[:, 2].max() == pytest.approx(0.2, abs=0.01)


test_bad_dressings = refusals(
    ({"slim": 0.5}, "needs growing="),
    ({"slim": 0.0, "growing": 1.0}, "above 0"),
    ({"easing": -1.0}, "at least 0"),
    ({"start": "standing"}, "RigPose|rig.turned"),
    make=lambda options: Dressing(**options),
)


def test_bad_clips():
    refused("no clip 'jump'", ball().animated_mesh, "jump")
    refused("whole number", ball().animated_mesh, repeat=0)
    refused("above 0", ball().animated_mesh, rate=0)


def test_what_it_is_made_of():
    assert repr(ball()) == f"Character(1 joints, {BALL.n_vertices} vertices, clips: 'roll')"
