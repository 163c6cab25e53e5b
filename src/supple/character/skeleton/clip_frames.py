"""When a clip has frames, and whether it goes on from its end to its start."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import expm, logm
from scipy.spatial.transform import Rotation

from supple.character.rigs.skeleton import SkeletonRig
from supple.character.skeleton.clip import Clip, Interpolation
from supple.core.checks import number
from supple.core.errors import InputError
from supple.core.types import Bools, Floats

_CLOSED = 0.25  # of the way of a frame: a last frame as close to the first one is the first one
_NEAR = 1.1  # of the way of a frame: a last frame as close to the first one leads on to it
_STILL = 1e-6  # of the body: a character that moves by less, but for its travel, is still
_FASTEST = 60.0  # [1/s]: keys that are closer are thinned
_SLOWEST = 24.0  # [1/s]: frames are put between keys that are further apart
_MOST = 30_000  # frames of a clip: twenty minutes; more come from a stray key at its end
_JUMP = 1e-4  # [s]: so long before a jump there is a frame, or as single precision allows
_HOLD = 1 / 8  # [s]: values that stay for less before they jump are samples of a smooth motion


def frame_times(clip: Clip, rate: float | None = None) -> Floats:
    """Times (T,) [s] of frames from the first key to the last.

    With a ``rate`` [1/s] they are evenly spaced, but for the last one. Without, they are the keys
    of the clip, which programs that go from key to key in their own way agree on; more are put in
    where keys are further apart than 1/24 s, and some left out where they are closer than 1/60 s.
    Just before each of ``jump_times`` there is one more, so that nothing moves before a jump.
    """
    if clip.duration == 0:
        return np.array([clip.start])
    if rate is not None:
        spacing = 1 / number("rate", rate, above=0, unit="1/s")
        count = max(1, int(np.ceil(_few_enough(clip, clip.duration / spacing) - 1e-3)))
        return np.append(clip.start + spacing * np.arange(count), clip.end)
    _few_enough(clip, clip.duration * _SLOWEST)
    jumps = jump_times(clip)
    before = jumps - np.maximum(_JUMP, 4 * np.spacing(jumps.astype(np.float32)))
    keys = np.unique(np.concatenate([before, *(track.times for track in clip.tracks)]))
    kept = np.isin(keys, np.concatenate([before, jumps, keys[-1:]]))
    found = [keys[0]]
    for key, always in zip(keys[1:], kept[1:], strict=True):
        gap = key - found[-1]
        if gap < (1 - 1e-3) / _FASTEST and not always:
            continue
        pieces = max(1, int(np.ceil(gap * _SLOWEST - 1e-2)))
        found += [*(found[-1] + gap * np.arange(1, pieces) / pieces), key]
    return np.array(found)


def jump_times(clip: Clip) -> Floats:
    """When values that stay from key to key become others, (J,) [s], after they stayed for long."""
    found = [np.empty(0)]
    for track in clip.tracks:
        if track.between is Interpolation.STEP:
            other = (np.diff(track.values, axis=0) != 0).any(axis=1)
            times = track.times[1:][other]
            found.append(times[np.diff(times, prepend=track.times[0]) >= _HOLD])
    return np.unique(np.concatenate(found))


def at_jumps(clip: Clip, times: Floats) -> Bools:
    """Which of the ways from frame to frame, at ``times`` (T,) [s], are jumps, (T - 1,)."""
    return np.isin(times[1:], jump_times(clip)) & (np.diff(times) < 0.5 / _FASTEST)


def frame_length(times: Floats) -> float:
    """From one frame to the next [s], of ``times`` (T,) [s] as a rule, jumps left out."""
    spans = np.diff(times)
    longer = spans[spans > 10 * _JUMP]
    return float(np.median(longer if len(longer) else spans)) if len(spans) else 1 / _SLOWEST


def _few_enough(clip: Clip, frames: float) -> float:
    if frames > _MOST:
        raise InputError(
            f"the clip {clip.name!r} lasts {clip.duration:.4g} s, which makes {frames:,.0f} "
            f"frames, more than {_MOST:,}; take out the stray key at its end, if it has one, or "
            "leave the clip out: clips= names those to enrich"
        )
    return frames


@dataclass(frozen=True, eq=False)
class RootMotion:
    """A place x (3,) goes to turn x + shift [m], both along the ground: z stays as it is."""

    turn: Floats = field(default_factory=lambda: np.eye(3))
    shift: Floats = field(default_factory=lambda: np.zeros(3))

    @classmethod
    def between(cls, start: Floats, end: Floats) -> RootMotion:
        """The one that takes places (n, 3) nearest to others (n, 3), by least squares."""
        x, y = start - start.mean(axis=0), end - end.mean(axis=0)
        angle = np.arctan2((x[:, 0] * y[:, 1] - x[:, 1] * y[:, 0]).sum(), (x * y)[:, :2].sum())
        turn = Rotation.from_rotvec([0.0, 0.0, angle]).as_matrix()
        shift = end.mean(axis=0) - turn @ start.mean(axis=0)
        return cls(turn, shift * np.array([1.0, 1.0, 0.0]))

    def times(self, share: float) -> RootMotion:
        """The same over so many rounds, or over a part of one: along a screw."""
        whole = np.eye(4)
        whole[:3, :3], whole[:3, 3] = self.turn, self.shift
        part = np.real(expm(share * logm(whole)))
        return RootMotion(part[:3, :3], part[:3, 3])

    def moved(self, places: Floats) -> Floats:
        """Places (n, 3) after it."""
        return places @ self.turn.T + self.shift

    def posed(self, rig: SkeletonRig, poses: Floats) -> Floats:
        """Poses (…, d) of a character that has gone along as a whole."""
        given = rig.rig_pose(poses)
        roots = rig.character.rig.parents < 0
        places, turns = given.translations.copy(), given.rotations.copy()
        places[..., roots, :] = places[..., roots, :] @ self.turn.T + self.shift
        own = turns[..., roots, :]
        turned = Rotation.from_matrix(self.turn) * Rotation.from_quat(own.reshape(-1, 4))
        turns[..., roots, :] = turned.as_quat().reshape(own.shape)
        return rig.pose_of(replace(given, translations=places, rotations=turns))


@dataclass(frozen=True)
class Loop:
    """Whether a clip ``closes``, and how long a round takes, ``period`` [s].

    ``root_motion`` is how far a round carries the character, which begins the next from there.
    """

    closes: bool
    period: float
    root_motion: RootMotion = field(default_factory=RootMotion)

    @classmethod
    def of(cls, rig: SkeletonRig, clip: Clip, closes: bool | None = None) -> Loop:
        """The loop of a clip.

        It closes where its last frame is no further from the first than frames are from each other,
        unless it is said. A last frame that is not yet the first one again leaves the time of a
        frame to go on to it. Where it is the first one somewhere else, walked on or turned about
        the vertical, the clip travels. One that only glides along does so if it is said to close.
        """
        times = frame_times(clip)
        if closes is False or len(times) < 2:
            return cls(False, clip.duration)
        poses = rig.pose_of(clip.poses(rig.character.rig, times))
        x = np.stack([rig.vertices(pose) for pose in poses])
        jumps = at_jumps(clip, times)
        gap, step, moved = _gap_and_steps(x, jumps)
        here = cls(True, _period(clip, times, gap, step))
        if gap <= _NEAR * step and (closes or moved > 0):
            return here
        root_motion = RootMotion.between(x[0], x[-1])
        back = [root_motion.times(-share) for share in (times - times[0]) / (times[-1] - times[0])]
        x = np.stack([part.moved(places) for part, places in zip(back, x, strict=True)])
        gap, step, moved = _gap_and_steps(x, jumps)
        still = _STILL * np.ptp(x[0], axis=0).max()
        if gap <= max(still, _NEAR * step) and (closes or moved > still):
            period = _period(clip, times, gap, max(still, step))
            return cls(True, period, root_motion.times(period / clip.duration))
        return here if closes else cls(False, clip.duration)


def _gap_and_steps(x: Floats, jumps: Bools) -> tuple[float, float, float]:
    """How far vertices (T, n, 3) are from the last frame to the first, and from frame to frame.

    The latter where there is no jump, and at all.
    """
    gap = float(np.linalg.norm(x[-1] - x[0], axis=1).max())
    steps = np.linalg.norm(np.diff(x, axis=0), axis=2).max(axis=1)
    return gap, float(steps.max(where=~jumps, initial=0.0)), float(steps.max())


def _period(clip: Clip, times: Floats, gap: float, step: float) -> float:
    if gap <= _CLOSED * step:
        return clip.period
    return max(clip.period, clip.duration + frame_length(times))
