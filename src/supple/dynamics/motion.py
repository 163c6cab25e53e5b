"""What a simulation leaves behind: the shape at every frame, with its energies and momenta."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from supple.core.checks import number
from supple.core.errors import InputError
from supple.core.types import Floats
from supple.mesh import Mesh, YarnMesh


@dataclass(frozen=True, eq=False)
class Frame:
    """One moment of a motion.

    Attributes: ``time`` [s]; ``displacements`` u [m], (n, 3); ``kinetic``, ``elastic``,
    ``gravitational`` and ``dissipated`` energies [J]; ``linear_momentum`` [kg m/s], (3,);
    ``angular_momentum`` about the origin [kg m²/s], (3,).
    """

    time: float
    displacements: Floats
    kinetic: float
    elastic: float
    gravitational: float
    dissipated: float
    linear_momentum: Floats
    angular_momentum: Floats


@dataclass(frozen=True, eq=False)
class YarnFrame(Frame):
    """One moment of woven cloth, with the arc lengths of its crossings [m], (n, 2)."""

    arc_lengths: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Motion:
    """Frames of one body, in order of time.

    Args:
        mesh: The body at rest, n vertices.
        times: [s], (T,), strictly increasing, T at least 1.
        displacements: u [m], (T, n, 3).
        kinetic: [J], (T,).
        elastic: [J], (T,).
        gravitational: Potential energy in gravity [J], (T,).
        dissipated: Energy taken by damping since the start [J], (T,).
        linear_momentum: [kg m/s], (T, 3).
        angular_momentum: About the origin [kg m²/s], (T, 3).
    """

    mesh: Mesh
    times: Floats
    displacements: Floats
    kinetic: Floats
    elastic: Floats
    gravitational: Floats
    dissipated: Floats
    linear_momentum: Floats
    angular_momentum: Floats

    frame_kind: ClassVar[type[Frame]] = Frame
    """What its frames are."""

    def __post_init__(self) -> None:
        count = np.size(self.times)
        if count == 0:
            raise InputError("a motion needs at least one frame; times is empty")
        vertices = len(self.mesh.vertices)
        for name, row in self._rows().items():
            shape = (count, *row)
            array = np.asarray(getattr(self, name), dtype=np.float64, order="C")
            if array.shape != shape:
                raise InputError(
                    f"{name} has shape {array.shape}; {count} frames of a mesh with {vertices} "
                    f"vertices need {shape}"
                )
            finite = np.isfinite(array.reshape(count, -1)).all(axis=1)
            if not finite.all():
                raise InputError(
                    f"{name} holds NaN or infinity, first in frame {int(np.argmin(finite))}"
                )
            object.__setattr__(self, name, array)
        steps = np.diff(self.times)
        if (steps <= 0).any():
            i = int(np.argmax(steps <= 0))
            raise InputError(
                f"times must increase from frame to frame; frame {i} is at {self.times[i]:.9g} s "
                f"and frame {i + 1} at {self.times[i + 1]:.9g} s"
            )

    def _rows(self) -> dict[str, tuple[int, ...]]:
        """The shape of one frame's share of each array."""
        return {
            "times": (),
            "displacements": (len(self.mesh.vertices), 3),
            "kinetic": (),
            "elastic": (),
            "gravitational": (),
            "dissipated": (),
            "linear_momentum": (3,),
            "angular_momentum": (3,),
        }

    @classmethod
    def from_frames(cls, mesh: Mesh, frames: Iterable[Frame]) -> Self:
        """Puts single frames of ``mesh`` together."""
        rows = list(frames)
        arrays: dict[str, Any] = {
            each.name: np.array([getattr(row, each.name) for row in rows])
            for each in fields(cls.frame_kind)
        }
        return cls(mesh=mesh, times=arrays.pop("time"), **arrays)

    def __repr__(self) -> str:
        span = f"{self.times[0]:.6g}…{self.times[-1]:.6g} s"
        return f"{type(self).__name__}({len(self)} frames, {span}, {self.mesh!r})"

    def __len__(self) -> int:
        """Number of frames T."""
        return len(self.times)

    def __iter__(self) -> Iterator[Frame]:
        return (self.frame(i) for i in range(len(self)))

    def __getitem__(self, frames: slice) -> Self:
        """A stretch of the motion, as in ``motion[10:20]``; ``frame(i)`` gives a single frame."""
        if not isinstance(frames, slice):
            raise TypeError(
                f"motion[{frames!r}] is not a slice; use motion.frame({frames!r}) for one frame"
            )
        if len(range(*frames.indices(len(self)))) == 0:
            raise InputError(
                f"the slice holds no frame; the motion has frames 0 to {len(self) - 1}"
            )
        return replace(self, **{name: getattr(self, name)[frames] for name in self._rows()})

    def frame(self, index: int) -> Frame:
        """Frame ``index``; negative numbers count from the end."""
        if not -len(self) <= index < len(self):
            raise InputError(f"there is no frame {index}; the motion has 0 to {len(self) - 1}")
        numbers = {name: getattr(self, name)[index] for name in self._rows()}
        plain: dict[str, Any] = {k: float(v) if np.ndim(v) == 0 else v for k, v in numbers.items()}
        return self.frame_kind(time=plain.pop("times"), **plain)

    def vertex(self, index: int) -> Floats:
        """Where vertex ``index`` goes: its positions [m], (T, 3)."""
        vertices = len(self.mesh.vertices)
        if not -vertices <= index < vertices:
            raise InputError(f"there is no vertex {index}; the mesh has 0 to {vertices - 1}")
        path: Floats = self.mesh.vertices[index] + self.displacements[:, index]
        return path

    def at(self, time: float) -> Floats:
        """Displacement [m], (n, 3), at ``time`` [s], linear between the frames around it."""
        first, last = float(self.times[0]), float(self.times[-1])
        rounding = 1e-9 * max(abs(first), abs(last))
        if not first - rounding <= time <= last + rounding:
            raise InputError(f"time={time:.9g} s lies outside the motion, {first:.9g}…{last:.9g} s")
        time = min(max(time, first), last)
        after = int(np.searchsorted(self.times, time))
        if self.times[after] == time:
            return np.array(self.displacements[after])
        before = after - 1
        share = (time - self.times[before]) / (self.times[after] - self.times[before])
        blend: Floats = (1 - share) * self.displacements[before] + share * self.displacements[after]
        return blend

    def at_rate(self, rate: float) -> Self:
        """The motion with ``rate`` frames a second [1/s], linear between those it has.

        The first frame stays; the last is the last of that rate within the motion.
        """
        number("rate", rate, above=0, unit="1/s")
        if len(self) == 1:
            return self
        count = 1 + int(np.floor(self.duration * rate * (1 + 1e-12) + 1e-9))
        times: Floats = np.minimum(self.times[0] + np.arange(count) / rate, self.times[-1])
        after = np.clip(np.searchsorted(self.times, times), 1, len(self) - 1)
        before = after - 1
        share = (times - self.times[before]) / (self.times[after] - self.times[before])
        arrays: dict[str, Any] = {}
        for name in self._rows():
            array = getattr(self, name)
            weight = share.reshape(-1, *(1 for _ in array.shape[1:]))
            arrays[name] = (1 - weight) * array[before] + weight * array[after]
        return replace(self, **{**arrays, "times": times})

    @cached_property
    def positions(self) -> Floats:
        """Vertex positions x = X + u [m], (T, n, 3)."""
        return self.mesh.vertices + self.displacements

    @property
    def duration(self) -> float:
        """From the first frame to the last [s]; 0 for a single frame."""
        return float(self.times[-1] - self.times[0])

    @property
    def frame_rate(self) -> float:
        """Frames a second [1/s], the mean where frames are not evenly spaced."""
        if len(self) < 2:
            raise InputError("a motion of one frame has no frame rate; record at least two")
        return (len(self) - 1) / self.duration

    @property
    def total_energy(self) -> Floats:
        """Kinetic + elastic + gravitational energy [J], (T,)."""
        return self.kinetic + self.elastic + self.gravitational

    def joined(self, other: Self) -> Self:
        """This motion, then ``other``, which must be of the same mesh and not start earlier.

        Where ``other`` starts at the moment this one ends, that frame is kept once. Where the
        dissipated energy of ``other`` was counted from its own start, it is counted on from here.
        """
        if not _same_mesh(self.mesh, other.mesh):
            raise InputError("only motions of the same mesh can be joined; these meshes differ")
        if other.times[0] < self.times[-1]:
            raise InputError(
                f"the second motion starts at {other.times[0]:.9g} s, before the first one ends at "
                f"{self.times[-1]:.9g} s; cut one of them first, e.g. first[:10].joined(second)"
            )
        start = int(other.times[0] == self.times[-1])
        restarted = other.dissipated[0] < self.dissipated[-1]
        offset = self.dissipated[-1] - other.dissipated[0] if restarted else 0.0
        arrays: dict[str, Any] = {
            name: np.concatenate([getattr(self, name), getattr(other, name)[start:]])
            for name in self._rows()
        }
        arrays["dissipated"][len(self) :] += offset
        return replace(self, **arrays)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a motion file; the file at ``path``, if any, stays until the new one is whole."""
        # Here and not at the top: recording builds on this module.
        from supple.dynamics.recording import write_motion

        write_motion(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Motion:
        """Reads a motion file, of a run that is finished or of one that is still going on."""
        from supple.dynamics.recording import read_motion

        return read_motion(path)


@dataclass(frozen=True, eq=False, repr=False)
class YarnMotion(Motion):
    """Frames of woven cloth: displacements are those of its crossings.

    ``arc_lengths`` [m], (T, n, 2), say where the crossings are along warp and weft.
    """

    mesh: YarnMesh
    arc_lengths: Floats

    frame_kind: ClassVar[type[Frame]] = YarnFrame

    def _rows(self) -> dict[str, tuple[int, ...]]:
        return {**super()._rows(), "arc_lengths": (len(self.mesh.vertices), 2)}

    @property
    def potential(self) -> Floats:
        """Stored energy, that of weight included [J], (T,)."""
        return self.elastic + self.gravitational


def _same_mesh(first: Mesh, second: Mesh) -> bool:
    return first is second or (
        type(first) is type(second)
        and np.array_equal(first.vertices, second.vertices)
        and np.array_equal(first.cells, second.cells)
    )
