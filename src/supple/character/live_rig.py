"""The rig as a step sees it: where some vertices of the tet mesh are, now and on the way."""

from __future__ import annotations

from copy import copy
from typing import NamedTuple

import numpy as np

from supple._kernels.pose_basis import weigh
from supple._kernels.pose_rig import blend_frames, finish_points
from supple.character.tet_rig import TetRig
from supple.errors import InputError
from supple.types import Floats, Ints

_ON_TIME = 1e-9  # of a frame


class Sample(NamedTuple):
    """The rig in one pose."""

    x: Floats
    """Vertices [m], (k, 3)."""
    frames: Floats
    """(k, 3, 3), or (0, 3, 3) for a rig without frames."""
    features: Floats
    """(f,)"""


class Follower:
    """Some vertices of a tet rig; the same numbers as ``TetRig`` gives, faster."""

    def __init__(self, tet_rig: TetRig, which: Ints) -> None:
        self._points = tet_rig.rig.carried(
            tet_rig.near[which], tet_rig.shares[which], tet_rig.offsets[which]
        )
        self._weights = tet_rig.weights
        self._corrections = np.empty((0, len(which), 3))
        if tet_rig.weights is not None and tet_rig.corrections is not None:
            self._corrections = np.ascontiguousarray(tet_rig.corrections[:, which])
        self._w, self._distances = np.zeros((2, max(1, len(self._corrections))))

    def twin(self) -> Follower:
        """The same for another thread."""
        other = copy(self)
        other._w, other._distances = np.zeros_like([self._w, self._distances])
        return other

    def sample(self, pose: Floats) -> Sample:
        """The rig in a pose (d,)."""
        x, frames, features = self._points(pose)
        if len(self._corrections):
            assert self._weights is not None
            weigh(
                features, self._weights.features, self._weights.coefficients,
                self._weights.rounding, self._distances, self._w,
            )  # fmt: skip
        if not finish_points(features, self._w, self._corrections, x, frames):
            raise InputError(f"the rig gave numbers that are not finite for the pose {pose!r}")
        return Sample(x, frames, features)


class Path:
    """The rig through the last four frames, and in between the last two.

    Between frames it goes along cubics whose slopes at the frames are those of parabolas through
    the frame and the two before it: smooth, exact for motion at constant acceleration, and it asks
    for nothing that is still to come.
    """

    def __init__(self, start: Sample) -> None:
        self.stand(start)

    def stand(self, at: Sample) -> None:
        """From now on: at rest in a pose."""
        self._samples, self._spans = [at] * 4, [1.0] * 3
        self.moving = True  # whether the speed is known

    def jump(self, to: Sample) -> None:
        """From now on: in another pose, at a speed that the next frame will tell."""
        self.stand(to)
        self.moving = False

    def copy(self) -> Path:
        """A path that goes on by itself."""
        other = Path(self.end)
        other._samples, other._spans = list(self._samples), list(self._spans)
        other.moving = self.moving
        return other

    @property
    def end(self) -> Sample:
        """The last frame."""
        return self._samples[-1]

    @property
    def before(self) -> Sample:
        """The frame before the last."""
        return self._samples[-2]

    @property
    def span(self) -> float:
        """The time between these two [s]."""
        return self._spans[-1]

    def add(self, new: Sample, span: float) -> None:
        """The next frame, ``span`` [s] after the last."""
        if not self.moving:  # it came as it goes on
            now = self._samples[-1]
            back = [
                Sample(*(a + k * (a - b) for a, b in zip(now, new, strict=True))) for k in (2, 1)
            ]
            self._samples, self._spans = [now, *back, now], [span] * 3
            self.moving = True
        self._samples = [*self._samples[1:], new]
        self._spans = [*self._spans[1:], span]

    def at(self, share: float) -> Sample:
        """At a share of the way from the last frame but one to the last."""
        if share > 1 - _ON_TIME:
            return self._samples[-1]
        shares = self._shares(share)
        x, frames, features = zip(*self._samples, strict=True)
        turned = np.empty_like(frames[-1])
        if len(turned):
            blend_frames(np.array(frames), shares, turned)
        return Sample(_sum(shares, x), turned, _sum(shares, features))

    def _shares(self, s: float) -> Floats:
        """How much each of the four frames counts at a share s of the last span."""
        a, b, c = self._spans
        # slopes, times c, at the last frame but one and at the last
        start = np.array([*_backward(a, b), 0.0]) * c
        end = np.array([0.0, *_backward(b, c)]) * c
        value = np.zeros(4)
        value[2], value[3] = 1 - (3 - 2 * s) * s * s, (3 - 2 * s) * s * s
        shares: Floats = value + s * (1 - s) * ((1 - s) * start - s * end)
        return shares


def _backward(first: float, last: float) -> tuple[float, float, float]:
    """Weights of the slope at the end of a parabola through three values, so far apart."""
    both = first + last
    return last / (first * both), -both / (first * last), (both + last) / (both * last)


def _sum(shares: Floats, arrays: tuple[Floats, ...]) -> Floats:
    total: Floats = shares[0] * arrays[0]
    for share, array in zip(shares[1:], arrays[1:], strict=True):
        total = total + share * array
    return total
