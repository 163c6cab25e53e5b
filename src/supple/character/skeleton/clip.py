"""Animations: keys of joints, and what is between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike

from supple.character.skeleton.rig import Rig, RigPose, slerp
from supple.core.checks import number, numbers
from supple.core.errors import InputError
from supple.core.types import Floats, Ints

_ROUNDING = 1e-9  # of a round


class Channel(Enum):
    """What of a joint is animated."""

    TRANSLATION = "translation"
    ROTATION = "rotation"
    SCALE = "scale"
    WEIGHTS = "weights"
    """Those of morph targets."""


class Interpolation(Enum):
    """How a value goes from key to key."""

    STEP = "STEP"
    """It stays, and jumps at the next key."""
    LINEAR = "LINEAR"
    """At an even rate; rotations about one axis, the short way round."""
    CUBICSPLINE = "CUBICSPLINE"
    """Along a cubic whose slopes at both ends are given."""


@dataclass(frozen=True, eq=False)
class Track:
    """One channel of one joint: ``values`` (k, d) at ``times`` (k,) [s].

    d is 3, or 4 for rotations, which are quaternions x, y, z, w. Cubics have values (k, 3, d): the
    slope [1/s] that ends at the key, the key, and the slope that begins there. Weights are those of
    d morph targets, and ``joint`` is the number of the first.
    """

    joint: int
    channel: Channel
    times: Floats
    values: Floats
    between: Interpolation = Interpolation.LINEAR

    def __post_init__(self) -> None:
        times, values = numbers("times", self.times), numbers("values", self.values)
        if times.ndim != 1 or not len(times):
            raise InputError(f"times of a track have shape {times.shape}; give one or more, (k,)")
        if not (np.diff(times) > 0).all():
            k = 1 + int(np.argmin(np.diff(times) > 0))
            raise InputError(
                f"key {k} is at {times[k]:g} s and the one before at {times[k - 1]:g} s; times of "
                "a track must each be later than the one before"
            )
        size = 4 if self.channel is Channel.ROTATION else 3
        if self.channel is Channel.WEIGHTS and values.ndim > 1:
            size = values.shape[-1]
        cubic = self.between is Interpolation.CUBICSPLINE
        wanted = (len(times), 3, size) if cubic else (len(times), size)
        if values.shape != wanted:
            raise InputError(f"values of a track have shape {values.shape}; give {wanted}")
        if self.channel is Channel.ROTATION:
            lengths = np.linalg.norm(values[:, 1] if cubic else values, axis=1)
            if not lengths.all():
                at = times[np.argmin(lengths)]
                raise InputError(f"the key at {at:g} s is a quaternion of length 0; give a turn")
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "values", values)

    def at(self, times: ArrayLike) -> Floats:
        """The value at each of ``times`` (T,) [s], (T, d); before and after the keys it rests."""
        keys = self.times
        t = np.clip(np.asarray(times, dtype=float), keys[0], keys[-1])
        cubic = self.between is Interpolation.CUBICSPLINE
        if len(keys) == 1:
            only = self.values[0, 1] if cubic else self.values[0]
            return self._sound(np.tile(only, (len(t), 1)))
        if self.between is Interpolation.STEP:
            return self._sound(self.values[np.searchsorted(keys, t, side="right") - 1])
        if cubic:
            return self._sound(along_cubics(keys, self.values, t))
        if self.channel is Channel.ROTATION:
            k, s = _between_keys(keys, t)
            return slerp(self.values[k], self.values[k + 1], s)
        return np.stack([np.interp(t, keys, each) for each in self.values.T], axis=1)

    def _sound(self, values: Floats) -> Floats:
        """Quaternions of length 1; other values as they are."""
        if self.channel is not Channel.ROTATION:
            return values
        return np.asarray(values / np.linalg.norm(values, axis=-1, keepdims=True))


def along_cubics(keys: Floats, values: Floats, t: Floats) -> Floats:
    """Values (T, d) of (k, 3, d) at ``t`` (T,) within ``keys`` (k,) [s]; glTF 2.0, appendix C.5."""
    k, share = _between_keys(keys, t)
    span, s = (keys[k + 1] - keys[k])[:, None], share[:, None]
    v0, b0 = values[k, 1], values[k, 2]
    a1, v1 = values[k + 1, 0], values[k + 1, 1]
    found: Floats = (
        (2 * s**3 - 3 * s**2 + 1) * v0
        + span * (s**3 - 2 * s**2 + s) * b0
        + (-2 * s**3 + 3 * s**2) * v1
        + span * (s**3 - s**2) * a1
    )
    return found


def _between_keys(keys: Floats, t: Floats) -> tuple[Ints, Floats]:
    """The key before each time (T,), and the share of the way to the next."""
    k = np.clip(np.searchsorted(keys, t, side="right") - 1, 0, len(keys) - 2)
    return k, (t - keys[k]) / (keys[k + 1] - keys[k])


@dataclass(frozen=True, eq=False)
class Clip:
    """A named animation, from its first key at ``start`` [s] to its last at ``end`` [s]."""

    name: str
    tracks: Sequence[Track]

    def __post_init__(self) -> None:
        if not self.tracks:
            raise InputError(f"the clip {self.name!r} has no tracks; give one or more")

    @property
    def start(self) -> float:
        """Time of the first key [s]."""
        return min(float(track.times[0]) for track in self.tracks)

    @property
    def end(self) -> float:
        """Time of the last key [s]."""
        return max(float(track.times[-1]) for track in self.tracks)

    @property
    def duration(self) -> float:
        """From the first key to the last [s]."""
        return self.end - self.start

    @property
    def period(self) -> float:
        """From one round to the next [s], where the clip is played over and over.

        A file whose first key is later than 0 leaves that time to go from the last to the first.
        """
        return self.duration + max(self.start, 0.0)

    def poses(self, rig: Rig, times: ArrayLike) -> RigPose:
        """How the joints of a rig lie at each of ``times`` (T,) [s]; those without keys rest."""
        t = numbers("times", times)
        if t.ndim != 1:
            raise InputError(f"times have shape {t.shape}; give (T,)")
        x, q, s = (
            np.tile(each, (len(t), 1, 1))
            for each in (rig.rest.translations, rig.rest.rotations, rig.rest.scales)
        )
        into = {Channel.TRANSLATION: x, Channel.ROTATION: q, Channel.SCALE: s}
        w = np.tile(rig.rest.weights, (len(t), 1))
        for track in self.tracks:
            values = track.at(t)
            if track.channel is Channel.WEIGHTS:
                w[:, track.joint : track.joint + values.shape[1]] = values
            else:
                into[track.channel][:, track.joint] = values
        return RigPose(x, q, s, w)

    def looped(self, rig: Rig, times: ArrayLike, *, period: float | None = None) -> RigPose:
        """The same at ``times`` (T,) [s] since the clip began, played over and over.

        ``period`` [s] from one round to the next is that of the clip unless given.
        """
        t = np.maximum(numbers("times", times), 0.0)
        length = self.period if period is None else number("period", period, at_least=0, unit="s")
        if length == 0:
            return self.poses(rig, np.full_like(t, self.start))
        rounds = np.maximum(np.ceil(t / length - _ROUNDING) - 1, 0.0)
        since = t - rounds * length  # the end of a round, not the start of the next
        poses = self.poses(rig, self.start + np.minimum(since, self.duration))
        gap = length - self.duration
        if gap == 0:
            return poses
        share = np.clip((since - self.duration) / gap, 0.0, 1.0)
        return poses.blended(self.poses(rig, np.full_like(t, self.start)), share)
