"""A character: joints, the skin that follows them, and its animations."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.character.skeleton.clip import Clip
from supple.character.skeleton.rig import Rig, RigPose
from supple.character.skeleton.skin import Skin
from supple.contact import AnimatedMesh
from supple.core.checks import instance, number, numbers, vector, whole_number
from supple.core.errors import InputError
from supple.core.parameters import Instance, checked, parameter
from supple.core.types import Floats
from supple.mesh.surface import Surface

_AT_ONCE = 64  # poses that are skinned together


@dataclass(frozen=True, kw_only=True, eq=False)
class Dressing:
    """What a character does before its clip begins, so that it can be dressed.

    It stands in the pose ``start``, at rest unless given, drawn towards its bones to the share
    ``slim``; fills out within ``growing`` [s]; stands for ``settling`` [s]; and comes into the
    motion of the clip within ``easing`` [s].
    """

    start: RigPose | None = parameter(
        None,
        "pose that it starts in; at rest",
        kind=Instance(RigPose, "character.rig.turned({name: (0, 0, 0.5)})"),
    )
    slim: float = parameter(1.0, "how far it is drawn towards its bones, 1 not at all", above=0)
    growing: float = parameter(0.0, "time to fill out", unit="s", at_least=0)
    settling: float = parameter(0.0, "time to stand", unit="s", at_least=0)
    easing: float = parameter(0.5, "time to come into motion", unit="s", at_least=0)

    def __post_init__(self) -> None:
        checked(self)
        if self.slim != 1 and not self.growing:
            raise InputError(f"slim={self.slim!r} needs growing=, the time to fill out [s]")

    @property
    def duration(self) -> float:
        """Until the clip goes on by itself [s]."""
        return self.growing + self.settling + self.easing


@dataclass(frozen=True, eq=False, repr=False)
class Character:
    """A rig, the skin on it, and clips by name."""

    rig: Rig
    skin: Skin
    clips: Mapping[str, Clip] = field(default_factory=dict)

    def __repr__(self) -> str:
        clips = ", ".join(map(repr, self.clips)) or "none"
        return (
            f"Character({self.rig.n_joints} joints, {len(self.skin.vertices)} vertices, "
            f"clips: {clips})"
        )

    def clip(self, name: str | None = None) -> Clip:
        """The clip with this name; it may be left out where there is but one."""
        if name is None and len(self.clips) == 1:
            return next(iter(self.clips.values()))
        if name is not None and name in self.clips:
            return self.clips[name]
        if not self.clips:
            raise InputError("the character has no clips; pose it with character.surface(pose)")
        near = difflib.get_close_matches(str(name), self.clips, n=3) or list(self.clips)
        what = "give the name of a clip" if name is None else f"there is no clip {name!r}"
        raise InputError(f"{what}; there is {', '.join(near)}")

    def surface(self, pose: RigPose | None = None) -> Surface:
        """The skin in a pose, at rest unless given."""
        return Surface(self.posed(self.rig.rest if pose is None else pose), self.skin.triangles)

    def posed(self, pose: RigPose) -> Floats:
        """Vertices of the skin in a pose, or in several, (…, n, 3) [m]."""
        return self.skin.placed(self.rig.world(pose), pose.weights)

    def vertices_at(self, time: ArrayLike, clip: str | None = None) -> Floats:
        """Vertices (n, 3) [m] at a time [s] of a clip, or (T, n, 3) at several."""
        times = numbers("time", time)
        found = self.posed(self.clip(clip).poses(self.rig, np.atleast_1d(times)))
        return found if times.ndim else found[0]

    def slimmed(self, share: float) -> Character:
        """This character with its skin drawn towards its bones: 1 is as it is, 0 on the bones."""
        return replace(self, skin=self.skin.slimmed(share, self.rig.parents))

    def animated_mesh(
        self,
        clip: str | None = None,
        *,
        repeat: int = 1,
        speed: float = 1.0,
        rate: float = 60.0,
        velocity: ArrayLike = (0.0, 0.0, 0.0),
        turned: Mapping[str, Any] | None = None,
        dressing: Dressing | None = None,
        **options: Any,
    ) -> AnimatedMesh:
        """A clip as an obstacle, played ``repeat`` times from the time 0.

        ``speed`` is that of the clip, 2 for twice as fast. ``rate`` [1/s]: how often the skin is
        computed; between, vertices go along cubics.
        ``velocity`` (3,) [m/s] carries the whole character along, for walks in place.
        ``turned`` changes every pose of the clip as ``Rig.turned`` does: arms that press on the
        body, and would pinch what it wears, can be held off it. ``dressing`` comes before the clip,
        which then starts the later. ``options`` are those of an AnimatedMesh: ``friction``,
        ``vertex_restitution`` and ``margin``.
        """
        played, before = self.clip(clip), dressing or Dressing(easing=0.0)
        instance("dressing", before, Dressing, "Dressing(easing=0.5)")
        whole_number("repeat", repeat, at_least=1)
        spacing = 1 / number("rate", rate, above=0, unit="1/s")
        pace = number("speed", speed, above=0)
        ready = before.growing + before.settling
        rounds = ((repeat - 1) * played.period + played.duration) / pace
        length = ready + max(before.easing, rounds)
        if length <= 0:
            raise InputError(f"the clip {played.name!r} has one key and does not move")
        times = np.linspace(0.0, length, max(2, round(length / spacing) + 1))
        going = np.maximum(times - ready, 0.0)  # since the clip began

        positions = np.empty((len(times), *self.skin.vertices.shape))
        thin = self.slimmed(before.slim) if before.slim != 1 else self
        start = self.rig.rest if before.start is None else before.start
        for first in range(0, len(times), _AT_ONCE):
            part = slice(first, first + _AT_ONCE)
            poses = played.looped(self.rig, pace * going[part])
            poses = self.rig.turned(turned or {}, poses)
            poses = start.blended(poses, _eased(going[part], before.easing))
            positions[part] = self.posed(poses)
            growing = np.flatnonzero(times[part] < before.growing)
            if len(growing) and thin is not self:
                full = _eased(times[part][growing], before.growing)[:, None, None]
                small = thin.posed(_only(poses, growing))
                positions[first + growing] = small + full * (positions[first + growing] - small)
        way = _eased_way(going, before.easing)[:, None] * vector("velocity", velocity)
        positions += way[:, None]
        return AnimatedMesh(
            triangles=self.skin.triangles, times=times, positions=positions, **options
        )


def _eased(t: Floats, duration: float) -> Floats:
    """From 0 at the time 0 to 1 after ``duration`` [s], at rest at both ends."""
    s = np.clip(t / duration, 0.0, 1.0) if duration else np.ones_like(t)
    return np.asarray(s * s * (3 - 2 * s))


def _eased_way(t: Floats, duration: float) -> Floats:
    """The time [s] for which something has moved at full speed that starts as ``_eased``."""
    if not duration:
        return t
    s = np.clip(t / duration, 0.0, 1.0)
    return np.asarray(duration * (s**3 - 0.5 * s**4) + np.maximum(t - duration, 0.0))


def _only(poses: RigPose, which: Any) -> RigPose:
    weights = np.broadcast_to(poses.weights, (len(poses.scales), poses.weights.shape[-1]))
    return RigPose(
        poses.translations[which], poses.rotations[which], poses.scales[which], weights[which]
    )
