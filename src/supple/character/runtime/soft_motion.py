"""What soft tissue adds to a clip of a character: from rest, or in the rhythm of a loop."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from supple.character.rigs.base import turned
from supple.character.rigs.skeleton import SkeletonRig
from supple.character.skeleton.clip_frames import Loop, at_jumps, frame_length, frame_times
from supple.core.checks import numbers, whole_number
from supple.core.errors import InputError, StepFailed
from supple.core.types import Floats, Progress

_STILL = 1e-5  # of the body's size: flesh that moves less in a tenth of a second is at rest
_LOOK = 0.1  # [s]: how often it is looked whether it is
_DIGITS = 7  # of the length of a frame [s]: times of a file are in single precision
_HALVINGS = 4  # of a step that fails
_EASED = 0.1  # of the frames: where more steps fail whatever is tried, so does the motion


@dataclass(frozen=True, eq=False)
class SoftMotion:
    """How far each vertex of a skin is from where its clip puts it.

    ``times`` (T,) [s] are those of the clip, ``displacements`` (T, n, 3) [m] of the world. A clip
    that ``loops`` was played for ``rounds`` until it repeated itself; ``gap`` [m] is how far the
    last two rounds were apart at most, and ``agrees`` whether that was near enough.
    """

    clip: str
    times: Floats
    displacements: Floats
    loops: bool = False
    rounds: int = 1
    gap: float = 0.0
    agrees: bool = True

    def __post_init__(self) -> None:
        times, moved = numbers("times", self.times), numbers("displacements", self.displacements)
        if times.ndim != 1 or not len(times) or not (np.diff(times) > 0).all():
            raise InputError("times must be one or more, each later than the one before")
        if moved.ndim != 3 or moved.shape[2] != 3 or len(moved) != len(times):
            raise InputError(
                f"displacements have shape {moved.shape}; {len(times)} times need "
                f"({len(times)}, n, 3)"
            )
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "displacements", moved)

    @property
    def largest(self) -> float:
        """How far a vertex goes at most [m]."""
        return float(np.sqrt((self.displacements**2).sum(axis=2).max(initial=0.0)))


class SoftTissue(Protocol):
    """What moves on a rig, such as a PoseSimulation."""

    def reset(self, pose: Floats) -> None:
        """At rest in a pose (d,)."""

    def teleport(self, pose: Floats) -> None:
        """To a pose (d,) at once, at a speed that the next one tells: nothing is felt of that."""

    def ease(self, pose: Floats) -> None:
        """The same, at half of its way from the rig, and at rest."""

    def step(self, pose: Floats, dt: float) -> None:
        """On to a pose (d,), ``dt`` [s] later."""

    def surface_displacements(self) -> Floats:
        """How far the surface is from where the rig has it [m], (n, 3)."""


def secondary_motion(
    flesh: SoftTissue,
    rig: SkeletonRig,
    clip: str | None = None,
    *,
    rate: float | None = None,
    loop: bool | None = None,
    sag: bool = False,
    tolerance: float = 2e-4,
    most_rounds: int = 40,
    patience: float = 10.0,
    progress: Progress | None = None,
) -> SoftMotion:
    """What flesh adds to a clip of a character.

    Flesh hangs at rest on the first pose as the clip begins, and goes along at the speed that the
    clip begins with. A clip that loops is played until two rounds agree, so that the last frame
    leads on to the first; one that walks on in each round walks on. Of a value that jumps from key
    to key nothing is felt: flesh is moved along, and goes on as it did.

    Args:
        flesh: Moves on ``rig``, by a step from frame to frame.
        rig: The character.
        clip: Its name; may be left out where there is but one.
        rate: Frames a second; those of the clip's own keys unless given.
        loop: Whether the clip loops; told from its first and last frame unless given.
        sag: Keep what gravity does in the neutral pose. Without, the character hangs there as it
            was modelled, and gravity shows where it turns away from that.
        tolerance: How far two rounds may be apart, as a share of the body's size.
        most_rounds: When to give up on that; the motion then does not agree.
        patience: For how long to wait for rest, at most [s].
        progress: Called as ``progress(done, total, what)``.
    """
    played = rig.character.clip(clip)
    whole_number("most_rounds", most_rounds, at_least=2)
    closing = Loop.of(rig, played, loop)
    times = frame_times(played, rate)
    size = float(np.linalg.norm(np.ptp(rig.vertices(rig.neutral), axis=0)))
    frame = frame_length(times)
    hanging: Floats | None = None
    if not sag:
        _settle(flesh, rig, rig.neutral, frame, _STILL * size, patience)
        hanging = flesh.surface_displacements()

    since, way, jumps = times - played.start, closing.root_motion, at_jumps(played, times)
    poses = rig.pose_of(played.poses(rig.character.rig, times))
    if closing.closes and closing.period > since[-1]:
        since = np.append(since, closing.period)
        poses = np.concatenate([poses, way.posed(rig, poses[:1])])
        jumps = np.append(jumps, False)
    _settle(flesh, rig, poses[0], frame, _STILL * size, patience)
    flesh.teleport(poses[0])
    before: Floats | None = None
    gap, rounds, agrees, eased = 0.0, 0, True, -_stopped(flesh)

    def most_eased(rounds: int) -> float:
        return _EASED * rounds * len(since)

    while True:
        gone = way.times(rounds)  # since the first round began
        path = gone.posed(rig, poses)
        rounds += 1
        moved = [flesh.surface_displacements()]
        for k, dt in enumerate(np.diff(since)):
            if jumps[k]:
                flesh.teleport(path[k + 1])
            else:
                try:
                    _step(flesh, rig, path[k], path[k + 1], round(float(dt), _DIGITS))
                except StepFailed:
                    eased += 1
                    if eased + _stopped(flesh) > most_eased(rounds):
                        raise
                    flesh.ease(path[k + 1])
                if eased + _stopped(flesh) > most_eased(rounds):
                    raise StepFailed(
                        f"flesh came to rest in more than {100 * _EASED:.0f} % of the frames",
                        time=float(times[min(k + 1, len(times) - 1)]),
                        residual=np.nan,
                        advice="Make it stiffer, or damp it more.",
                    )
            moved.append(flesh.surface_displacements())
            if progress is not None:
                progress(k + 1, len(since) - 1, f"frames of {played.name}, round {rounds}")
        u = np.stack(moved) @ gone.turn  # as in the first round
        if not closing.closes:
            break
        if before is not None:
            gap = float(np.sqrt(((u - before) ** 2).sum(axis=2).max()))
            agrees = gap <= tolerance * size
            if agrees or rounds >= most_rounds:
                break
        before = u
    eased += _stopped(flesh)
    if eased:
        warnings.warn(
            f"flesh could not follow {played.name} at {eased} of {rounds * (len(since) - 1)} "
            "frames; there it was brought nearer to the skin",
            stacklevel=2,
        )
    if closing.closes:  # what is left of the way round is spread over it
        u -= (since / since[-1])[:, None, None] * (u[-1] - u[0] @ way.turn.T)
    if hanging is not None:
        u -= np.stack([turned(rig.frames(pose), hanging) for pose in poses])
    return SoftMotion(played.name, times, u[: len(times)], closing.closes, rounds, gap, agrees)


def _stopped(flesh: SoftTissue) -> int:
    """How often flesh was brought nearer to the skin by its own steps."""
    return int(getattr(getattr(flesh, "stats", None), "stopped", 0))


def _settle(
    flesh: SoftTissue, rig: SkeletonRig, pose: Floats, frame: float, still: float, patience: float
) -> None:
    """Comes to rest in a pose."""
    flesh.reset(pose)
    last = flesh.surface_displacements()
    for _ in range(max(1, round(patience / _LOOK))):
        for _ in range(max(1, round(_LOOK / frame))):
            _step(flesh, rig, pose, pose, frame)
        now = flesh.surface_displacements()
        if np.abs(now - last).max(initial=0.0) <= still:
            return
        last = now
    warnings.warn(f"flesh did not come to rest within {patience:g} s", stacklevel=3)


def _step(
    flesh: SoftTissue,
    rig: SkeletonRig,
    start: Floats,
    end: Floats,
    dt: float,
    left: int = _HALVINGS,
) -> None:
    """A step from pose to pose (d,), or where it fails two half as long."""
    try:
        flesh.step(end, dt)
    except StepFailed:
        if not left:
            raise
        middle = rig.pose_of(rig.rig_pose(start).blended(rig.rig_pose(end), 0.5))
        _step(flesh, rig, start, middle, dt / 2, left - 1)
        _step(flesh, rig, middle, end, dt / 2, left - 1)
