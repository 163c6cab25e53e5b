"""The motion file, written while a run goes on, and the checkpoint to go on from.

A motion file is a block (see ``files``) that holds the mesh, then one record a frame, only ever
added at its end:

    kind (4 bytes) · checksum (u32) · payload
    FRAM: 11 + 3n float64 numbers, of yarns 11 + 5n
    DONE: the number of frames (u64), once the run is finished

A record's checksum continues the one before it, so it vouches for all that precedes it. The
checkpoint is one block, replaced as a whole after each frame; it names its frame by that checksum.
So, whenever the process is killed, the file reads up to its last whole frame, and resuming cuts it
back to the frame whose state is known. The checkpoint of a finished run stays, so that the run can
be extended.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from io import FileIO
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from supple.core import files
from supple.core.errors import InputError, Message, Parameter
from supple.core.files import Arrays
from supple.core.types import Floats
from supple.dynamics.motion import Frame, Motion, YarnFrame, YarnMotion
from supple.mesh import Mesh, YarnMesh
from supple.mesh.packing import describe_mesh, mesh_of

_MOTION = files.Kind(b"\x89SUPMOT\n", "motion file", 1)
_CHECKPOINT = files.Kind(b"\x89SUPCHK\n", "checkpoint", 1)
_RECORD = struct.Struct("<4sI")
_SCALARS = 11  # time, four energies, two momenta
_DONE_BYTES = _RECORD.size + 8
_RESUME, _OVERWRITE = Parameter("resume", "True"), Parameter("overwrite", "True")


class Recorder:
    """Writes a motion file frame by frame, with a checkpoint beside it (``<path>.checkpoint``).

    Use it in a ``with`` block: leaving the block closes the file, and only ``finish`` marks the
    run as complete. However the run ends before that, ``resume=True`` goes on from its last state.
    A complete run is left as it is, unless ``goes_on`` is asked for more steps than it has.

    Args:
        path: The motion file, by habit ``*.motion``.
        mesh: The body at rest.
        metadata: Texts to keep with the motion, e.g. the scene that made it.
        resume: Go on with the file at ``path``; if there is none, start it.
        overwrite: Replace the file at ``path``, once the new one has its mesh.

    Attributes: ``frames``, whole frames in the file; ``finished``, whether the run is complete;
    ``metadata``, the texts in the file.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        mesh: Mesh,
        *,
        metadata: Mapping[str, str] | None = None,
        resume: bool = False,
        overwrite: bool = False,
    ) -> None:
        self.path = Path(path)
        self.frames = 0
        self.finished = False
        self._mesh = mesh
        self._aside = self.path.with_name(self.path.name + ".checkpoint")
        self._state: Arrays | None = None
        self._first = self._last = -np.inf  # times of the first and the last frame
        exists = self.path.exists()
        if resume and overwrite:
            raise InputError(
                Message(_RESUME, " keeps the file and ", _OVERWRITE, " drops it; give one")
            )
        if exists and not (resume or overwrite):
            raise InputError(
                Message(
                    f"{self.path} exists; ", _RESUME, " goes on with it, ", _OVERWRITE,
                    " replaces it",
                )
            )  # fmt: skip
        if not (exists and resume):
            block = files.pack(_MOTION, *_describe(mesh, metadata or {}))
            if exists:
                files.open_locked(self.path).close()
            with files.replacing(self.path) as temporary:
                temporary.write_bytes(block)
        self._file = files.open_locked(self.path)
        try:
            contents = _Contents(self._file, self.path)
            self.metadata = contents.metadata
            if exists and resume:
                contents.check_same(mesh, metadata)
                self._restore(contents)
            else:
                self._aside.unlink(missing_ok=True)
                self._sum, self._end = contents.sums[0], contents.start
        except BaseException:
            self._file.close()
            raise

    def _restore(self, contents: _Contents) -> None:
        times = [float(row[0]) for row in contents.frames()]
        whole, keep = len(times), 0
        self._sums = contents.sums
        frames = self._read_checkpoint(contents)
        if contents.finished and frames in (None, whole):
            keep, self.finished = whole, True
        elif frames is not None:
            keep = frames
        elif self._aside.exists():
            if whole > 1:
                about = (
                    f"{self._aside} was not made with {self.path}: it belongs to another file, or "
                    f"{self.path}, with {whole} frames, was changed since; "
                )
                raise InputError(Message(about, _OVERWRITE, " starts anew"))
        elif whole > 1:  # one frame without its checkpoint: killed between the two
            about = (
                f"{self.path} holds {whole} frames, but {self._aside.name}, the state to go on "
                "from, is missing; put it back, or start anew with "
            )
            raise InputError(Message(about, _OVERWRITE))
        self.frames = keep
        self._sum, self._end = contents.sums[keep], contents.start + keep * contents.frame_bytes
        if keep:
            self._first, self._last = times[0], times[keep - 1]
        if not self.finished:
            self._file.truncate(self._end)

    def _read_checkpoint(self, contents: _Contents) -> int | None:
        """Takes the state to go on from, if there is one; how many frames it belongs to."""
        if not self._aside.exists():
            return None
        try:
            with FileIO(self._aside) as file:
                saved = files.unpack(file, self._aside, _CHECKPOINT)
        except InputError:
            if contents.finished:  # nothing is lost but that the run cannot be extended
                return None
            raise
        frames, belongs = saved.header.get("frames"), saved.header.get("sum")
        if not (isinstance(frames, int) and 0 < frames < len(contents.sums)):
            return None
        if contents.sums[frames] != belongs:
            return None
        self._state = saved.arrays
        return frames

    def goes_on(self, steps: int, *, every: int, dt: float) -> bool:
        """Whether frames are missing in a run of ``steps`` steps [dt s], one ``every`` so many.

        A complete run that has fewer is opened again, to be extended from its ``checkpoint``.
        """
        if not self.finished:
            return True
        if self._state is None:
            if self._last - self._first < (steps - 0.5) * dt:
                about = (
                    f"{self.path} is finished at {self._last:g} s, and {self._aside.name}, the "
                    "state to go on from, is missing or of another run; put it back, or run it "
                    "again with "
                )
                raise InputError(Message(about, _OVERWRITE))
            return False
        done = int(self._state["steps"])
        if steps <= done:
            return False
        if done % every:  # its last frame is between those of a longer run
            self.frames -= 1
            self._sum = self._sums[self.frames]
            self._end -= _frame_bytes(self._mesh)
            self._save(_checkpoint(self.frames, self._sum, self._state))
        self.finished = False
        return True

    def append(self, frame: Frame, state: Mapping[str, ArrayLike] | None = None) -> None:
        """Adds a frame, then replaces the checkpoint by ``state``, the state after that frame.

        ``state`` holds whatever the simulation needs to go on: arrays of numbers of
        any shape, by name. A frame that cannot be used is refused, and the file stays as it was.
        """
        if self.finished:
            raise InputError(f"{self.path} is finished; record to another file")
        values = _flat(frame, self._mesh)
        time = float(values[0])
        if time <= self._last:
            raise InputError(f"time={time:.9g} s is not after {self._last:.9g} s, the last frame")
        record, checksum = _record(b"FRAM", values.tobytes(), self._sum)
        block = None if state is None else _checkpoint(self.frames + 1, checksum, state)
        self._write(record)
        self.frames, self._sum, self._end = self.frames + 1, checksum, self._end + len(record)
        self._last = time
        if block is not None:
            self._save(block)

    def _save(self, block: bytes) -> None:
        temporary = self._aside.with_name(self._aside.name + ".tmp")
        with FileIO(temporary, "w") as file:
            files.write(file, block)
        os.replace(temporary, self._aside)

    def checkpoint(self) -> Arrays | None:
        """The state to go on from, as the resumed file held it; None to start from the beginning.

        The motion file ends with the frame of that state, or the one before in an extended run.
        """
        return None if self._state is None else {k: np.array(v) for k, v in self._state.items()}

    def finish(self) -> None:
        """Marks the run as complete and closes the file; the checkpoint stays, to extend it."""
        if not self.finished:
            record, _ = _record(b"DONE", struct.pack("<Q", self.frames), self._sum)
            self._write(record)
            self.finished = True
        self._aside.with_name(self._aside.name + ".tmp").unlink(missing_ok=True)
        self.close()

    def close(self) -> None:
        """Closes the file and leaves the checkpoint, so that the run can be resumed."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _write(self, record: bytes) -> None:
        if self._file.closed:
            raise InputError(f"{self.path} is closed; a Recorder with resume=True opens it again")
        # A write that was interrupted earlier may have left bytes past the end.
        self._file.truncate(self._end)
        self._file.seek(self._end)
        files.write(self._file, record)


def read_motion(path: str | os.PathLike[str], *, salvage: bool = False) -> Motion:
    """Reads a motion file up to its last whole frame, also while it is still being recorded.

    With ``salvage=True`` a damaged frame ends the motion; otherwise it is an error.
    """
    with FileIO(_existing(path)) as file:
        contents = _Contents(file, Path(path))
        capacity = max(0, os.fstat(file.fileno()).st_size - contents.start) // contents.frame_bytes
        scalars = np.empty((capacity, _SCALARS))
        n = len(contents.mesh.vertices)
        u, arcs = np.empty((capacity, n, 3)), np.empty((capacity, n, _arcs(contents.mesh)))
        for i, row in enumerate(contents.frames(salvage=salvage)):
            scalars[i], of_vertices = row[:_SCALARS], row[_SCALARS:]
            u[i] = of_vertices[: 3 * n].reshape(n, 3)
            arcs[i] = of_vertices[3 * n :].reshape(n, -1) if arcs.size else 0.0
        count = len(contents.sums) - 1
    if count == 0:
        raise InputError(f"{path} holds no whole frame yet")
    times, kinetic, elastic, gravitational, dissipated = scalars[:count, :5].T
    energies = kinetic, elastic, gravitational, dissipated
    momenta = scalars[:count, 5:8], scalars[:count, 8:11]
    if isinstance(contents.mesh, YarnMesh):
        return YarnMotion(contents.mesh, times, u[:count], *energies, *momenta, arcs[:count])
    return Motion(contents.mesh, times, u[:count], *energies, *momenta)


def is_motion_file(path: str | os.PathLike[str]) -> bool:
    """Whether the file is a recorded motion, whatever its name."""
    return os.path.isfile(path) and files.begins_as(path, _MOTION)


def is_finished(path: str | os.PathLike[str]) -> bool:
    """Whether the run of a motion file is complete, by the mark at its end."""
    with FileIO(_existing(path)) as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - _DONE_BYTES))
        return files.read(file, _DONE_BYTES)[:4] == b"DONE"


def read_metadata(path: str | os.PathLike[str]) -> dict[str, str]:
    """The texts kept with a motion file, e.g. the scene that made it."""
    with FileIO(_existing(path)) as file:
        return _Contents(file, Path(path)).metadata


def read_mesh_of(path: str | os.PathLike[str]) -> Mesh:
    """The mesh of a motion file; no frame is read."""
    with FileIO(_existing(path)) as file:
        return _Contents(file, Path(path)).mesh


def write_motion(
    motion: Motion, path: str | os.PathLike[str], *, metadata: Mapping[str, str] | None = None
) -> None:
    """Writes a finished motion file; what stands at ``path`` stays until the new one is whole."""
    block = files.pack(_MOTION, *_describe(motion.mesh, metadata or {}))
    checksum = files.checksum(block)
    with files.replacing(path) as temporary, open(temporary, "wb") as file:
        file.write(block)
        for frame in motion:
            values = _flat(frame, motion.mesh)
            record, checksum = _record(b"FRAM", values.tobytes(), checksum)
            file.write(record)
        file.write(_record(b"DONE", struct.pack("<Q", len(motion)), checksum)[0])


class _Contents:
    """An open motion file: its mesh and texts, and a walk over its frames."""

    def __init__(self, file: FileIO, path: Path) -> None:
        self._file, self._path = file, path
        self._block = files.unpack(file, path, _MOTION)
        header, arrays = self._block.header, self._block.arrays
        try:
            self.metadata: dict[str, str] = dict(header["metadata"])
            self.mesh = mesh_of(header, arrays)
        except InputError as error:
            raise InputError(f"{path}: {error}") from error
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            raise InputError(f"{path}: its header does not describe a mesh ({error!r})") from error
        self.start = file.tell()
        self.frame_bytes = _frame_bytes(self.mesh)
        self.sums = [self._block.checksum]
        self.finished = False

    def frames(self, *, salvage: bool = False) -> Iterator[Floats]:
        """The numbers of each whole frame; ``sums`` and ``finished`` grow with it."""
        size = os.fstat(self._file.fileno()).st_size
        at = self.start
        while size - at >= _DONE_BYTES:
            self._file.seek(at)
            data = files.read(self._file, min(self.frame_bytes, size - at))
            if len(data) < _DONE_BYTES:
                return  # cut back by a writer meanwhile
            kind, checksum = _RECORD.unpack_from(data)
            length = self.frame_bytes if kind == b"FRAM" else _DONE_BYTES
            record, _ = _record(kind, data[_RECORD.size : length], self.sums[-1])
            valid = len(data) >= length and data[:length] == record
            if valid and kind == b"DONE":
                self.finished = True
                return
            if not (valid and kind == b"FRAM"):
                # Only the record being written when the process died can be torn.
                if size - at > self.frame_bytes and not salvage:
                    whole = len(self.sums) - 1
                    raise InputError(
                        f"{self._path}: frame {whole} is damaged, its checksum does not match; "
                        f"read_motion(path, salvage=True) gives the {whole} frames before it"
                    )
                return
            self.sums.append(checksum)
            at += length
            yield np.frombuffer(data, dtype="<f8", offset=_RECORD.size)

    def check_same(self, mesh: Mesh, metadata: Mapping[str, str] | None) -> None:
        header, arrays = _describe(mesh, self.metadata)
        if self._block.header != header or not all(
            np.array_equal(array, self._block.arrays[name]) for name, array in arrays.items()
        ):
            raise InputError(f"{self._path} was recorded with another mesh; resume with that one")
        given = dict(self.metadata if metadata is None else metadata)
        changed = [k for k in given | self.metadata if given.get(k) != self.metadata.get(k)]
        if changed:
            about = (
                f"{self._path} was recorded with another {', '.join(changed)}; resume with what "
                "it was started with, or start anew with "
            )
            raise InputError(Message(about, _OVERWRITE))


def _describe(mesh: Mesh, metadata: Mapping[str, str]) -> tuple[dict[str, Any], Arrays]:
    for key, text in metadata.items():
        if not (isinstance(key, str) and isinstance(text, str)):
            raise InputError(f"metadata[{key!r}] is a {type(text).__name__}; it must be text")
    header, arrays = describe_mesh(mesh)
    return {**header, "metadata": dict(metadata)}, arrays


def _checkpoint(frames: int, checksum: int, state: Mapping[str, ArrayLike]) -> bytes:
    return files.pack(_CHECKPOINT, {"frames": frames, "sum": checksum}, state)


def _arcs(mesh: Mesh) -> int:
    """How many arc lengths a vertex has: as many as yarns pass through it."""
    return 2 if isinstance(mesh, YarnMesh) else 0


def _frame_bytes(mesh: Mesh) -> int:
    return _RECORD.size + 8 * (_SCALARS + (3 + _arcs(mesh)) * len(mesh.vertices))


def _flat(frame: Frame, mesh: Mesh) -> Floats:
    n, woven = len(mesh.vertices), isinstance(mesh, YarnMesh)
    if isinstance(frame, YarnFrame) != woven:
        needed = "YarnFrame" if woven else "Frame"
        raise InputError(f"a {type(frame).__name__} does not go with {mesh!r}; give a {needed}")
    shapes = {"displacements": (n, 3), "linear_momentum": (3,), "angular_momentum": (3,)}
    if woven:
        shapes["arc_lengths"] = (n, 2)
    for name, shape in shapes.items():
        found = np.shape(getattr(frame, name))
        if found != shape:
            raise InputError(f"{name} of the frame has shape {found}; it must be {shape}")
    energies = (frame.kinetic, frame.elastic, frame.gravitational, frame.dissipated)
    momenta = (frame.linear_momentum, frame.angular_momentum)
    parts = [np.array([frame.time, *energies]), *momenta, np.ravel(frame.displacements)]
    if isinstance(frame, YarnFrame):
        parts.append(np.ravel(frame.arc_lengths))
    values = np.concatenate(parts).astype("<f8", copy=False)
    if not np.isfinite(values).all():
        raise InputError(f"the frame at time={frame.time} s holds NaN or infinity")
    return values


def _record(kind: bytes, payload: bytes, previous: int) -> tuple[bytes, int]:
    checksum = zlib.crc32(payload, zlib.crc32(kind, previous))
    return _RECORD.pack(kind, checksum) + payload, checksum


def _existing(path: str | os.PathLike[str]) -> Path:
    if not Path(path).is_file():
        raise InputError(f"there is no file {path}")
    return Path(path)
