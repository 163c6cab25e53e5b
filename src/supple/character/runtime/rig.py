"""The rig as a step sees it: where some vertices of the tet mesh are, now and on the way."""

from __future__ import annotations

from copy import copy
from typing import NamedTuple

import numpy as np

from supple._kernels.character.basis import interpolation_weights
from supple._kernels.character.rig import finish_points
from supple.character.tissue.tet_rig import TetRig
from supple.core.errors import InputError
from supple.core.types import Floats, Ints


class Sample(NamedTuple):
    """The rig in one pose."""

    x: Floats
    """Vertices [m], (k, 3)."""
    frames: Floats
    """(k, 3, 3), or (0, 3, 3) for a rig without frames."""
    features: Floats
    """(f,)"""


class RigSampler:
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

    def copy(self) -> RigSampler:
        """The same for another thread."""
        other = copy(self)
        other._w, other._distances = np.zeros_like([self._w, self._distances])
        return other

    def sample(self, pose: Floats) -> Sample:
        """The rig in a pose (d,)."""
        x, frames, features = self._points(pose)
        if len(self._corrections):
            assert self._weights is not None
            interpolation_weights(features, self._weights.compiled, self._distances, self._w)
        if not finish_points(features, self._w, self._corrections, x, frames):
            raise InputError(f"the rig gave numbers that are not finite for the pose {pose!r}")
        return Sample(x, frames, features)


class Path(NamedTuple):
    """The rig in its last four frames."""

    samples: tuple[Sample, Sample, Sample, Sample]
    spans: tuple[float, float, float]
    """The times between them [s]; 0 where it stood for as long as one likes."""
    moving: bool
    """Whether its speed is known."""

    @classmethod
    def standing(cls, at: Sample) -> Path:
        """At rest in a pose."""
        return cls((at, at, at, at), (0.0, 0.0, 0.0), True)

    @classmethod
    def jumped(cls, to: Sample) -> Path:
        """In another pose, at a speed that the next frame will tell."""
        return cls.standing(to)._replace(moving=False)

    @property
    def end(self) -> Sample:
        """The last frame."""
        return self.samples[3]

    def on(self, new: Sample, span: float) -> Path:
        """On to the next frame, ``span`` [s] after the last."""
        _, one, two, now = self.samples
        _, first, last = self.spans
        if not self.moving:  # it came as it goes on
            one, two = (
                Sample(*(a + k * (a - b) for a, b in zip(now, new, strict=True))) for k in (2, 1)
            )
            first = last = span
        return Path((one, two, now, new), (first or span, last or span, span), True)
