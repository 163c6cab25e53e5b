"""When a clip has frames, and whether it goes on from its end to its start."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from supple.character.clip import Clip
from supple.character.rigs.skeleton import SkeletonRig
from supple.character.travel import Travel
from supple.checks import number
from supple.types import Floats

_CLOSED = 0.25  # of the way of a frame: a last frame as close to the first one is the first one
_NEAR = 1.1  # of the way of a frame: a last frame as close to the first one leads on to it
_STILL = 1e-6  # of the body: a character that moves by less, but for its travel, is still
_FASTEST = 60.0  # [1/s]: keys that are closer are thinned
_SLOWEST = 24.0  # [1/s]: frames are put between keys that are further apart


def frame_times(clip: Clip, rate: float | None = None) -> Floats:
    """Times (T,) [s] of frames from the first key to the last.

    With a ``rate`` [1/s] they are evenly spaced, but for the last one. Without, they are the keys
    of the clip, which programs that go from key to key in their own way agree on; more are put in
    where keys are further apart than 1/24 s, and some left out where they are closer than 1/60 s.
    """
    if clip.duration == 0:
        return np.array([clip.start])
    if rate is not None:
        spacing = 1 / number("rate", rate, above=0, unit="1/s")
        count = max(1, int(np.ceil(clip.duration / spacing - 1e-3)))
        return np.append(clip.start + spacing * np.arange(count), clip.end)
    keys = np.unique(np.concatenate([track.times for track in clip.tracks]))
    found = [keys[0]]
    for key in keys[1:]:
        gap = key - found[-1]
        if gap < (1 - 1e-3) / _FASTEST and key < keys[-1]:
            continue
        pieces = max(1, int(np.ceil(gap * _SLOWEST - 1e-2)))
        found += [*(found[-1] + gap * np.arange(1, pieces) / pieces), key]
    return np.array(found)


@dataclass(frozen=True)
class Loop:
    """Whether a clip ``closes``, and how long a round takes, ``period`` [s].

    ``travel`` is how far a round carries the character, which begins the next from there.
    """

    closes: bool
    period: float
    travel: Travel = field(default_factory=Travel)

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
        gap, step = _gap_and_step(x)
        here = cls(True, _period(clip, times, gap, step))
        if gap <= _NEAR * step and (closes or step > 0):
            return here
        travel = Travel.between(x[0], x[-1])
        back = [travel.times(-share) for share in (times - times[0]) / (times[-1] - times[0])]
        x = np.stack([part.moved(places) for part, places in zip(back, x, strict=True)])
        gap, step = _gap_and_step(x)
        still = _STILL * np.ptp(x[0], axis=0).max()
        if gap <= max(still, _NEAR * step) and (closes or step > still):
            period = _period(clip, times, gap, max(still, step))
            return cls(True, period, travel.times(period / clip.duration))
        return here if closes else cls(False, clip.duration)


def _gap_and_step(x: Floats) -> tuple[float, float]:
    """How far vertices (T, n, 3) are from the last frame to the first, and from frame to frame."""
    gap = float(np.linalg.norm(x[-1] - x[0], axis=1).max())
    return gap, float(np.linalg.norm(np.diff(x, axis=0), axis=2).max())


def _period(clip: Clip, times: Floats, gap: float, step: float) -> float:
    if gap <= _CLOSED * step:
        return clip.period
    return max(clip.period, clip.duration + float(np.median(np.diff(times))))
