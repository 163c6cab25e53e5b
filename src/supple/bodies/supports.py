"""Supports: what holds a body, still or moving."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from supple.core.checks import number, numbers, vector, vertex_indices
from supple.core.errors import InputError
from supple.core.types import Bools, Floats, Ints

Path = Callable[[float], ArrayLike]
"""A vector as a function of time [s]: (3,) for all vertices alike, or (k, 3)."""


@dataclass(frozen=True, eq=False)
class Support:
    """Vertices that follow a prescribed motion.

    ``vertices`` are indices (k,) or a mask (n,). ``motion(t)`` gives their displacement [m] at time
    t [s]: (3,) moves them all alike, (k, 3) one row each. ``velocity(t)`` [m/s] and
    ``acceleration(t)`` [m/s²] are its derivatives; where they are not given, differences over
    ``resolution`` [s] stand in, so the motion should be smooth at that scale.
    """

    vertices: ArrayLike
    motion: Path
    velocity: Path | None = None
    acceleration: Path | None = None
    resolution: float = 1e-3

    def __post_init__(self) -> None:
        check_paths(self, "motion")
        check_paths(self, "velocity", "acceleration", optional=True)
        number("resolution", self.resolution, above=0, unit="s")

    @classmethod
    def keyframes(cls, vertices: ArrayLike, times: ArrayLike, displacements: ArrayLike) -> Support:
        """Through ``displacements`` (T, 3) [m] at ``times`` (T,) [s], without overshoot.

        The motion starts and ends at rest, and stays where it is before and after.
        """
        curve = resting(*checked_keyframes(times, "displacements", displacements))
        return cls(vertices, curve(0), curve(1), curve(2))

    @classmethod
    def oscillating(cls, vertices: ArrayLike, amplitude: ArrayLike, frequency: float) -> Support:
        """amplitude (3,) [m] times sin(2π frequency t), frequency [Hz]."""
        a = vector("amplitude", amplitude)
        w = 2 * np.pi * number("frequency", frequency, at_least=0, unit="Hz")
        return cls(
            vertices,
            lambda t: a * np.sin(w * t),
            lambda t: a * w * np.cos(w * t),
            lambda t: -a * w * w * np.sin(w * t),
        )

    @classmethod
    def rotating(
        cls, vertices: ArrayLike, positions: ArrayLike, centre: ArrayLike, rate: ArrayLike
    ) -> Support:
        """Turn the vertices, at rest at ``positions`` (k, 3) [m], about ``centre`` at ``rate``.

        ``rate`` is the angular velocity vector (3,) [rad/s].
        """
        from scipy.spatial.transform import Rotation  # slow to import

        arm = numbers("positions", positions) - vector("centre", centre)
        spin = vector("rate", rate)

        def turned(t: float) -> Floats:
            turn: Floats = Rotation.from_rotvec(spin * t).apply(arm)
            return turn

        return cls(
            vertices,
            lambda t: turned(t) - arm,
            lambda t: np.cross(spin, turned(t)),
            lambda t: np.cross(spin, np.cross(spin, turned(t))),
        )

    def displacement_at(self, time: float, count: int) -> Floats:
        """Displacement [m] of each of ``count`` vertices, (count, 3)."""
        return self._evaluate("motion", self.motion, time, count)

    def velocity_at(self, time: float, count: int) -> Floats:
        """Velocity [m/s] of each vertex, (count, 3)."""
        if self.velocity is not None:
            return self._evaluate("velocity", self.velocity, time, count)
        a, b, _, d, e = self._stencil(time, count)
        return (a - 8 * b + 8 * d - e) / (12 * self.resolution)

    def acceleration_at(self, time: float, count: int) -> Floats:
        """Acceleration [m/s²] of each vertex, (count, 3)."""
        if self.acceleration is not None:
            return self._evaluate("acceleration", self.acceleration, time, count)
        a, b, c, d, e = self._stencil(time, count)
        return (-a + 16 * b - 30 * c + 16 * d - e) / (12 * self.resolution**2)

    def _stencil(self, time: float, count: int) -> list[Floats]:
        return [self.displacement_at(time + k * self.resolution, count) for k in (-2, -1, 0, 1, 2)]

    def _evaluate(self, name: str, path: Path, time: float, count: int) -> Floats:
        value = numbers(f"a support's {name}({time:g})", path(time), ((3,), (count, 3)))
        return np.broadcast_to(value, (count, 3))


def check_paths(thing: object, *names: str, optional: bool = False) -> None:
    """Stop where one of its attributes is no function of time, nor None if that will do."""
    for name in names:
        given = getattr(thing, name)
        if not callable(given) and not (optional and given is None):
            raise InputError(f"{name}={given!r}: give a function of time, e.g. lambda t: (0, 0, t)")


def checked_keyframes(times: ArrayLike, name: str, given: ArrayLike) -> tuple[Floats, Floats]:
    """Times (T,) that increase, and as many vectors (T, 3)."""
    t, values = numbers("times", times), numbers(name, given)
    if t.ndim != 1 or len(t) < 2 or values.shape != (len(t), 3):
        raise InputError(
            f"times has shape {t.shape} and {name} {values.shape}; "
            "give (T,) and (T, 3) with T at least 2"
        )
    if not (np.diff(t) > 0).all():
        raise InputError("times must increase from one keyframe to the next")
    return t, values


def resting(t: Floats, values: Floats) -> Callable[[int], Path]:
    """The curve through values at times t, without overshoot and at rest at both ends.

    Gives its derivatives, by their order.
    """
    from scipy.interpolate import CubicHermiteSpline, PchipInterpolator  # slow to import

    slopes = PchipInterpolator(t, values).derivative()(t)
    slopes[[0, -1]] = 0.0
    curve, still = CubicHermiteSpline(t, values, slopes), np.zeros(values.shape[1:])

    def derivative(order: int) -> Path:
        if not order:
            return lambda now: curve(np.clip(now, t[0], t[-1]))
        moving = curve.derivative(order)
        return lambda now: moving(now) if t[0] <= now <= t[-1] else still

    return derivative


@dataclass(frozen=True, eq=False)
class HeldComponents:
    """What the supports of a body hold, and where: ``free`` (n, 3) is the rest."""

    free: Bools
    moving: tuple[tuple[Ints, Support], ...]

    @classmethod
    def of(cls, fixed: ArrayLike | None, supports: tuple[Support, ...], n: int) -> HeldComponents:
        held = _fixed_components(fixed, n)
        moving = []
        for support in supports:
            index = vertex_indices("a support's vertices", support.vertices, n)
            values, counts = np.unique(index, return_counts=True)
            twice = np.concatenate([index[held[index].any(axis=1)], values[counts > 1]])
            if len(twice):
                raise InputError(
                    f"vertex {twice[0]} is held twice: leave it out of fixed= or of all supports "
                    "but one"
                )
            held[index] = True
            moving.append((index, support))
        return cls(~held, tuple(moving))

    def place(self, u: Floats, time: float) -> None:
        """Put the moving vertices of u (n, 3) where they are at ``time``."""
        for index, support in self.moving:
            u[index] = support.displacement_at(time, len(index))

    def set_velocity(self, v: Floats, time: float) -> None:
        """Give the held components of v (n, 3) their prescribed velocity."""
        v[~self.free] = 0.0
        for index, support in self.moving:
            v[index] = support.velocity_at(time, len(index))

    def set_acceleration(self, a: Floats, time: float) -> None:
        """Give the held components of a (n, 3) their prescribed acceleration."""
        a[~self.free] = 0.0
        for index, support in self.moving:
            a[index] = support.acceleration_at(time, len(index))


def _fixed_components(fixed: ArrayLike | None, n: int) -> Bools:
    """(n, 3) mask of what ``fixed`` holds: indices, a mask of vertices, or one of components."""
    mask = np.zeros((n, 3), dtype=bool)
    if fixed is None:
        return mask
    given = np.asarray(fixed)
    if given.dtype == bool and given.ndim == 2:
        if given.shape != (n, 3):
            raise InputError(f"fixed is a mask of shape {given.shape}; give ({n},) or ({n}, 3)")
        return given.copy()
    mask[vertex_indices("fixed", given, n)] = True
    return mask
