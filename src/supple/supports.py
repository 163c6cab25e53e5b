"""Supports: what holds a body, still or moving."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import PchipInterpolator
from scipy.spatial.transform import Rotation

from .errors import InputError
from .types import Bools, Floats, Ints

_DIFFERENCE = 1e-4  # [s] step of the central differences of a prescribed motion


@dataclass(frozen=True, eq=False)
class Support:
    """Vertices that follow a prescribed motion.

    ``motion(t)`` gives their displacement [m] at time t [s]: (3,) moves them all alike, (k, 3) one
    row each. It must be smooth; velocity and acceleration come from central differences.
    """

    vertices: Ints
    motion: Callable[[float], ArrayLike]

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "vertices", np.atleast_1d(np.asarray(self.vertices, dtype=np.int64))
        )

    @classmethod
    def keyframes(cls, vertices: ArrayLike, times: ArrayLike, displacements: ArrayLike) -> Support:
        """Displacements (T, 3) [m] at ``times`` (T,) [s], joined smoothly, held at both ends."""
        t, d = np.asarray(times, dtype=float), np.asarray(displacements, dtype=float)
        if t.ndim != 1 or len(t) < 2 or d.shape != (len(t), 3):
            raise InputError(
                f"times has shape {t.shape} and displacements {d.shape}; "
                "give (T,) and (T, 3) with T at least 2"
            )
        if not (np.diff(t) > 0).all():
            raise InputError("times must increase from one keyframe to the next")
        curve = PchipInterpolator(t, d)
        return cls(np.asarray(vertices), lambda now: curve(np.clip(now, t[0], t[-1])))

    @classmethod
    def oscillating(cls, vertices: ArrayLike, amplitude: ArrayLike, frequency: float) -> Support:
        """amplitude (3,) [m] times sin(2π frequency t), frequency [Hz]."""
        a = np.asarray(amplitude, dtype=float)
        return cls(np.asarray(vertices), lambda t: a * np.sin(2 * np.pi * frequency * t))

    @classmethod
    def rotating(
        cls, vertices: ArrayLike, positions: ArrayLike, centre: ArrayLike, rate: ArrayLike
    ) -> Support:
        """Turn the vertices, at rest at ``positions`` (k, 3) [m], about ``centre`` at ``rate``.

        ``rate`` is the angular velocity vector (3,) [rad/s].
        """
        arm = np.asarray(positions, dtype=float) - np.asarray(centre, dtype=float)
        spin = np.asarray(rate, dtype=float)
        return cls(np.asarray(vertices), lambda t: Rotation.from_rotvec(spin * t).apply(arm) - arm)

    def displacement(self, time: float) -> Floats:
        """Displacement [m] of each vertex at ``time``, (k, 3)."""
        value = np.asarray(self.motion(time), dtype=float)
        if value.shape not in ((3,), (len(self.vertices), 3)):
            raise InputError(
                f"a support's motion gave shape {value.shape} at t = {time:g} s; "
                f"return (3,) or ({len(self.vertices)}, 3)"
            )
        if not np.isfinite(value).all():
            raise InputError(f"a support's motion is not finite at t = {time:g} s")
        return np.broadcast_to(value, (len(self.vertices), 3))

    def velocity(self, time: float) -> Floats:
        """Velocity [m/s] of each vertex at ``time``, (k, 3)."""
        h = _DIFFERENCE
        return (self.displacement(time + h) - self.displacement(time - h)) / (2 * h)

    def acceleration(self, time: float) -> Floats:
        """Acceleration [m/s²] of each vertex at ``time``, (k, 3)."""
        h = _DIFFERENCE
        ahead, here, behind = (self.displacement(time + s) for s in (h, 0.0, -h))
        return (ahead - 2 * here + behind) / h**2


def fixed_components(fixed: ArrayLike | None, n: int) -> Bools:
    """(n, 3) mask of what ``fixed`` holds.

    ``fixed`` is None, vertex indices (k,), a mask of vertices (n,), or a mask of components (n, 3).
    """
    mask = np.zeros((n, 3), dtype=bool)
    if fixed is None:
        return mask
    given = np.asarray(fixed)
    if given.dtype == bool:
        if given.shape not in ((n,), (n, 3)):
            raise InputError(f"fixed has shape {given.shape}; a mask is ({n},) or ({n}, 3)")
        mask |= given[:, None] if given.ndim == 1 else given
        return mask
    if given.size == 0:
        return mask
    if not np.issubdtype(given.dtype, np.integer) or given.ndim != 1:
        raise InputError(
            f"fixed is {given.dtype} of shape {given.shape}; give vertex indices, "
            "a mask of vertices (n,) or a mask of components (n, 3)"
        )
    check_vertices("fixed", given, n)
    mask[given] = True
    return mask


def check_vertices(name: str, vertices: ArrayLike, n: int) -> None:
    """Stop on an index outside 0 … n−1."""
    index = np.atleast_1d(np.asarray(vertices))
    bad = index[(index < 0) | (index >= n)]
    if len(bad):
        raise InputError(f"{name} names vertex {bad[0]}, but the mesh has vertices 0 to {n - 1}")
