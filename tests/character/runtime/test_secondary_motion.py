"""Flesh along clips: loops that close, starts from rest, gravity as modelled."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.character.arms import arm, playing
from tests.character.flesh import Springs
from tests.refusals import refused

from supple.character import Channel, Track
from supple.character.rigs import SkeletonRig
from supple.character.runtime.soft_motion import SoftMotion, secondary_motion
from supple.character.skeleton.clip import Interpolation
from supple.character.skeleton.clip_frames import (
    Loop,
    RootMotion,
    at_jumps,
    frame_length,
    frame_times,
    jump_times,
)
from supple.core.errors import StepFailed

PERIOD = 0.8
AMPLITUDE = 0.1
NOD = Rotation.from_rotvec([(0, 0, 0), (0, 0.5, 0), (0, 0, 0), (0, 0, 0)]).as_quat()


def shaken(*, keys: int = 97, last: bool = True, start: float = 0.0) -> SkeletonRig:
    """An arm whose root goes up and down as a sine, in a clip of one period."""
    character = arm()
    t = np.linspace(0.0, PERIOD, keys)
    places = np.tile(character.rig.rest.translations[0], (keys, 1))
    places[:, 2] += AMPLITUDE * np.sin(2 * np.pi * t / PERIOD)
    if not last:
        t, places = t[:-1], places[:-1]
    return playing(character, Track(0, Channel.TRANSLATION, start + t, places), name="shake")


def swinging(
    rig: SkeletonRig, *, ratio: float = 0.3, gravity: Any = (0.0, 0.0, 0.0), **options: Any
) -> SoftMotion:
    """How springs of 2 Hz swing along a clip."""
    return secondary_motion(Springs(rig, ratio=ratio, gravity=gravity), rig, **options)


def steady(times: np.ndarray, frequency: float, ratio: float) -> np.ndarray:
    """How springs follow the sine for ever: the particular solution of u″ + 2ζωu′ + ω²u = −x″."""
    drive, own = 2 * np.pi / PERIOD, 2 * np.pi * frequency
    answer = AMPLITUDE * drive**2 / (own**2 - drive**2 + 2j * ratio * own * drive)
    return np.imag(answer * np.exp(1j * drive * times))


def test_loop_is_the_steady_motion():
    motion = swinging(shaken(), ratio=0.1, rate=960)
    assert motion.loops
    assert motion.rounds > 3  # springs that ring for long take their time
    np.testing.assert_allclose(motion.times, frame_times(shaken().character.clip(), 960))
    wanted = steady(motion.times, 2.0, 0.1)
    off = motion.displacements - wanted[:, None, None] * np.array([0.0, 0.0, 1.0])
    assert np.abs(off).max() < 0.02 * np.abs(wanted).max()
    np.testing.assert_allclose(motion.displacements[-1], motion.displacements[0], atol=1e-12)


def test_well_damped_loop_takes_few_rounds():
    quick = swinging(shaken(), ratio=0.7)
    assert quick.rounds < swinging(shaken(), ratio=0.05).rounds
    assert quick.rounds <= 4
    assert quick.gap < 2e-4 * 1.3
    assert quick.agrees


def test_loop_that_is_given_up_says_so():
    lost = swinging(shaken(), ratio=0.01, most_rounds=3)
    assert lost.rounds == 3
    assert lost.gap > 2e-4 * 1.3
    assert not lost.agrees


def test_loop_that_lacks_its_last_frame_goes_on_for_one_more():
    whole, short = shaken(keys=21), shaken(keys=21, last=False)
    loop = Loop.of(short, short.character.clip())
    assert loop.closes
    assert loop.period == pytest.approx(PERIOD)
    a, b = (swinging(rig, tolerance=1e-5) for rig in (whole, short))
    assert len(b.times) == len(a.times) - 1
    np.testing.assert_allclose(b.displacements, a.displacements[:-1], atol=1e-4)


def test_first_key_later_than_0_is_no_pause():
    late = PERIOD / 20
    a, b = (swinging(shaken(keys=21, last=False, start=t), tolerance=1e-5) for t in (0.0, late))
    np.testing.assert_allclose(b.times, a.times + late)
    np.testing.assert_allclose(b.displacements, a.displacements, atol=1e-5)


def test_clip_that_ends_elsewhere_starts_from_rest():
    rig = SkeletonRig(arm())  # its lower half bends away, and stays there
    motion = swinging(rig, gravity=(0, 0, -9.81))
    assert not motion.loops
    assert motion.rounds == 1
    # It hangs in its first pose, which is the neutral one: as it was modelled.
    np.testing.assert_allclose(motion.displacements[0], 0.0, atol=1e-4)
    assert motion.largest > 0.01
    assert swinging(rig, loop=True).loops


def walking(turn: float, **options: Any) -> tuple[SkeletonRig, RootMotion]:
    """The shaken arm on a way of 1.4 m in each round, straight or along an arc."""
    still = shaken(**options)
    (track,) = still.character.clip().tracks
    way = RootMotion(Rotation.from_rotvec([0.0, 0.0, turn]).as_matrix(), np.array([1.3, 0.4, 0.0]))
    poses = still.pose_of(still.character.clip().poses(still.character.rig, track.times))
    there = [way.times(t / PERIOD).posed(still, p) for t, p in zip(track.times, poses, strict=True)]
    joints = still.rig_pose(np.stack(there))
    places = Track(0, Channel.TRANSLATION, track.times, joints.translations[:, 0])
    turns = Track(0, Channel.ROTATION, track.times, joints.rotations[:, 0])
    return playing(still.character, places, turns), way


@pytest.mark.parametrize("turn", [0.0, 0.7])
@pytest.mark.parametrize(("keys", "last"), [(97, True), (21, False)])
@pytest.mark.parametrize("said", [None, True])
def test_loop_that_walks_on_is_told(turn, keys, last, said):
    rig, way = walking(turn, keys=keys, last=last)
    loop = Loop.of(rig, rig.character.clip(), said)
    assert loop.closes
    assert loop.period == pytest.approx(PERIOD)
    np.testing.assert_allclose(loop.root_motion.turn, way.turn, atol=1e-9)
    np.testing.assert_allclose(loop.root_motion.shift, way.shift, atol=1e-9)


def test_clip_that_is_said_to_end_does_not_walk_on():
    rig, _ = walking(0.0)
    loop = Loop.of(rig, rig.character.clip(), False)
    assert not loop.closes
    assert not loop.root_motion.shift.any()


def test_one_that_only_glides_along_walks_on_where_it_is_said():
    way = np.array([[0.0, 0.0, 0.0], [0.5, 0.2, 0.0], [1.0, 0.4, 0.0]])
    rig = playing(arm(), Track(0, Channel.TRANSLATION, (0.0, 0.5, 1.0), way))
    assert not Loop.of(rig, rig.character.clip()).closes
    loop = Loop.of(rig, rig.character.clip(), True)
    assert loop.period == pytest.approx(1.0)
    np.testing.assert_allclose(loop.root_motion.shift, way[-1], atol=1e-9)


@pytest.mark.parametrize("said", [None, True])
@pytest.mark.parametrize("turn", [0.0, 0.7])
def test_flesh_of_a_loop_that_walks_on_is_that_on_the_spot(turn, said):
    rig, way = walking(turn)
    motion = swinging(rig, rate=480, tolerance=1e-6, loop=said)
    wanted = swinging(shaken(), rate=480, tolerance=1e-6)
    assert motion.loops
    u = motion.displacements
    np.testing.assert_allclose(u[-1], u[0] @ way.turn.T, atol=1e-12)
    np.testing.assert_allclose(u[:, :, 2], wanted.displacements[:, :, 2], atol=1e-5)
    # On an arc of radius r at the rate w, which is far from their own, springs give by w² r / ω².
    start = rig.vertices(rig.poses_of_clip(None, [0.0])[0])
    rate, outward = turn / PERIOD, np.zeros(len(start))
    if turn:
        centre = np.linalg.solve((np.eye(3) - way.turn)[:2, :2], way.shift[:2])
        outward = rate**2 * np.linalg.norm(start[:, :2] - centre, axis=1) / (2 * np.pi * 2.0) ** 2
    level = np.linalg.norm(u[:, :, :2], axis=2)
    np.testing.assert_allclose(level, np.tile(outward, (len(level), 1)), rtol=0.03, atol=1e-5)


def test_speed_at_the_start_is_not_felt():
    character = arm()
    places = character.rig.rest.translations[0] + np.outer([0.0, 1.0], [3.0, 0.0, 0.0])
    motion = swinging(playing(character, Track(0, Channel.TRANSLATION, (0.0, 1.0), places)))
    assert not motion.loops
    assert motion.largest < 1e-9


def test_flesh_that_never_rests_is_told():
    with pytest.warns(UserWarning, match="did not come to rest within 0.5 s"):
        swinging(SkeletonRig(arm()), ratio=0.0, gravity=(0, 0, -9.81), patience=0.5)


def test_sag_is_left_out_unless_wanted():
    rig = SkeletonRig(arm())
    sag = 9.81 / (2 * np.pi * 2.0) ** 2
    options = {"ratio": 0.5, "gravity": (0, 0, -9.81)}
    with_sag, without = swinging(rig, sag=True, **options), swinging(rig, **options)
    np.testing.assert_allclose(with_sag.displacements[0, :, 2], -sag, rtol=1e-3)
    frames = np.stack([rig.frames(pose) for pose in rig.poses_of_clip(None, with_sag.times)])
    hanging = np.einsum("tnij,j->tni", frames, np.array([0.0, 0.0, -sag]))
    np.testing.assert_allclose(without.displacements, with_sag.displacements - hanging, atol=2e-4)


def test_still_clip_stays_still():
    motion = swinging(playing(arm(), Track(0, Channel.TRANSLATION, (0.0, 1.0), np.zeros((2, 3)))))
    assert not motion.loops
    assert motion.largest == 0.0


def test_steps_that_fail_are_taken_in_halves():
    rig = shaken(keys=21)

    class Nervous(Springs):
        def step(self, pose, dt):
            if dt > 1 / 40:
                raise StepFailed("too long", time=0.0, residual=1.0, advice="shorter")
            super().step(pose, dt)

    calm = swinging(rig, rate=50)
    nervous = secondary_motion(Nervous(rig, ratio=0.3), rig, rate=25)
    np.testing.assert_allclose(nervous.displacements, calm.displacements[::2], atol=2e-3)

    class Hopeless(Springs):
        def step(self, pose, dt):
            raise StepFailed("never", time=0.0, residual=1.0, advice="none")

    refused("never", secondary_motion, Hopeless(rig), rig, error=StepFailed)


def test_a_frame_that_flesh_cannot_follow_is_passed_and_told():
    rig = shaken(keys=41)

    class Stumbling(Springs):
        stumbles = 0

        def step(self, pose, dt):
            high = self.rig.vertices(pose)[0, 2] - self.rig.vertices(self.rig.neutral)[0, 2]
            if high > 0.99 * AMPLITUDE:
                self.stumbles += 1
                raise StepFailed("too high", time=0.0, residual=1.0, advice="lower")
            super().step(pose, dt)

    flesh = Stumbling(rig, ratio=0.3)
    with pytest.warns(UserWarning, match="could not follow shake at"):
        motion = secondary_motion(flesh, rig, loop=False)
    assert flesh.stumbles > 0
    plain = swinging(rig, loop=False)
    assert motion.displacements.shape == plain.displacements.shape
    assert motion.largest < 2 * plain.largest


class Stopping(Springs):
    """Comes to rest by itself wherever the rig is higher than a share of how high it gets."""

    def __init__(self, rig, share):
        super().__init__(rig, ratio=0.3)
        self.stats, self._share = SimpleNamespace(stopped=3), share

    def step(self, pose, dt):
        super().step(pose, dt)
        high = self.rig.vertices(pose)[0, 2] - self.rig.vertices(self.rig.neutral)[0, 2]
        self.stats.stopped += high > self._share * AMPLITUDE


def test_flesh_that_came_to_rest_by_itself_is_told():
    rig = shaken(keys=41)
    with pytest.warns(UserWarning, match="could not follow shake at"):
        secondary_motion(Stopping(rig, 0.99), rig, loop=False)


def test_flesh_that_keeps_coming_to_rest_is_refused():
    rig = shaken(keys=41)
    with pytest.raises(StepFailed, match="came to rest in more than 10 %"):
        secondary_motion(Stopping(rig, 0.0), rig, loop=False)


def test_frames():
    rig = shaken(keys=9)  # ten keys a second: too few to be frames
    clip = rig.character.clip()
    times = frame_times(clip)
    assert np.diff(times).max() <= 1 / 24 + 1e-9
    assert set(np.round(clip.tracks[0].times, 9)) <= set(np.round(times, 9))
    dense = frame_times(shaken(keys=401).character.clip())
    assert np.diff(dense)[:-1].min() >= 1 / 60 - 1e-6
    assert (dense[0], dense[-1]) == (0.0, PERIOD)
    even = frame_times(clip, 30)
    np.testing.assert_allclose(even[:-1], np.arange(24) / 30)
    assert even[-1] == PERIOD
    refused("rate", frame_times, clip, 0)


def stepped(times: Any, places: Any, *more: Track) -> SkeletonRig:
    """An arm whose root jumps to heights [m] at ``times`` [s]; ``more`` are further tracks."""
    character = arm()
    where = np.tile(character.rig.rest.translations[0], (len(times), 1))
    where[:, 2] += np.asarray(places)
    jump = Track(0, Channel.TRANSLATION, times, where, Interpolation.STEP)
    return playing(character, jump, *more, name="jump")


@pytest.mark.parametrize("start", [0.0, 2000.0])
def test_a_frame_just_before_each_jump_holds_the_old_pose(start):
    rig = stepped(start + np.array([0.0, 0.25, 0.5, 1.0]), (0.0, 0.2, 0.2, 0.1))
    clip = rig.character.clip()
    times = frame_times(clip)
    jumps = start + np.array([0.25, 1.0])  # nothing changes at 0.5 s
    np.testing.assert_allclose(jump_times(clip), jumps)
    assert (np.diff(times.astype(np.float32)) > 0).all()
    for jump in jumps:
        k = int(np.searchsorted(times, jump - 1e-6))
        assert times[k] == pytest.approx(jump, abs=1e-6)
        assert 0 < times[k] - times[k - 1] < 2e-3
        before, after = map(rig.vertices, rig.poses_of_clip(None, times[k - 1 : k + 1] - start))
        assert np.abs(after - before).max() > 0.09
    assert at_jumps(clip, times).sum() == 2
    assert frame_length(times) == pytest.approx(1 / 24, rel=0.05)
    even = frame_times(clip, 30)
    assert np.ptp(np.diff(even)[:-1]) < 1e-9
    assert not at_jumps(clip, even).any()


def test_flesh_does_not_move_before_a_jump_and_feels_nothing_of_it():
    motion = swinging(stepped((0.0, 0.5, 1.0), (0.0, 0.4, 0.4)))
    assert not motion.loops  # it ends where it jumped to
    assert motion.largest == 0.0


def test_jumps_that_lead_back_loop():
    rig = stepped((0.0, 0.3, 0.6, 1.0), (0.0, 0.4, -0.2, 0.0))
    assert Loop.of(rig, rig.character.clip()).closes


def test_what_swings_goes_on_swinging_over_a_jump():
    nod = Track(1, Channel.ROTATION, (0.0, 0.2, 0.4, 1.0), NOD)
    a, b = (
        swinging(stepped((0.0, 0.5, 1.0), (0.0, height, height), nod), ratio=0.1, loop=False)
        for height in (0.0, 0.4)
    )
    assert a.largest > 1e-3
    off = np.abs(b.displacements - _at(a, b.times)).max(axis=(1, 2)) / a.largest
    assert off[b.times < 0.5].max() < 0.01
    assert off.max() < 0.05


def _at(motion: Any, times: np.ndarray) -> np.ndarray:
    """Displacements at other times, straight from frame to frame."""
    flat = motion.displacements.reshape(len(motion.times), -1)
    found = np.stack([np.interp(times, motion.times, each) for each in flat.T], axis=1)
    return found.reshape(len(times), -1, 3)


def test_a_value_that_is_keyed_often_and_stays_jumps_when_it_changes():
    t = np.linspace(0.0, 1.0, 13)
    rig = stepped(t, np.where((t > 0.4) & (t < 0.7), 0.3, 0.0))
    np.testing.assert_allclose(jump_times(rig.character.clip()), [5 / 12, 9 / 12])


def test_values_that_are_sampled_often_do_not_jump():
    t = np.linspace(0.0, PERIOD, 25)
    sampled = stepped(t, AMPLITUDE * np.sin(2 * np.pi * t / PERIOD))
    assert not len(jump_times(sampled.character.clip()))
    assert swinging(sampled).largest > 0.5 * swinging(shaken(keys=25)).largest


def test_a_stray_key_is_named():
    rig = stepped((0.0, 1.0, 3600.0), (0.0, 0.1, 0.1))
    refused(r"'jump' lasts 3600 s.*86,400 frames.*clips=", frame_times, rig.character.clip())
    refused("stray key", frame_times, rig.character.clip(), 30)
    assert len(frame_times(rig.character.clip(), 1)) == 3601


def test_progress_tells_the_round():
    told = []
    swinging(shaken(keys=21), ratio=0.5, progress=lambda *each: told.append(each))
    assert told[0][2] == "frames of shake, round 1"
    assert told[-1][0] == told[-1][1] == 20
