"""Files that are never left half-written, and whose contents are never executed.

A block keeps named arrays and a JSON header in one piece, guarded by checksums:

    magic (8 bytes) · version · header length · header checksum · body checksum (4 × u32)
    header as JSON, then the arrays that it lists, each padded to 8 bytes

All numbers are little-endian. The header checksum also covers the numbers before it, so that it
vouches for the whole block.
"""

from __future__ import annotations

import json
import math
import os
import secrets
import struct
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.core.errors import InputError

Made = TypeVar("Made")

Arrays = dict[str, NDArray[Any]]

_PREAMBLE = struct.Struct("<8sIIII")


@dataclass(frozen=True)
class Kind:
    """A kind of block: its first eight bytes, its name for messages, the version written."""

    magic: bytes
    name: str
    version: int


@dataclass(frozen=True, eq=False)
class Block:
    """A block that was read: its header, its arrays (read-only) and its checksum."""

    header: dict[str, Any]
    arrays: Arrays
    checksum: int


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A name beside ``path`` to write under; that file takes the place of ``path`` when whole."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise InputError(f"cannot write {path}: there is no folder {target.parent}; make it first")
    if target.is_dir():
        raise InputError(f"cannot write {path}: it is a folder; give a file name")
    temporary = target.with_name(f".{target.stem}-{secrets.token_hex(4)}{target.suffix}")
    try:
        yield temporary
        with open(temporary, "r+b") as file:
            os.fsync(file.fileno())
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def pack(kind: Kind, header: Mapping[str, Any], arrays: Mapping[str, ArrayLike]) -> bytes:
    """A block of ``kind`` with a JSON-ready ``header`` and named arrays of numbers."""
    listed: list[tuple[str, str, list[int]]] = []
    parts: list[bytes] = []
    for name, given in arrays.items():
        array = np.asarray(given)
        if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
            raise InputError(f"{name} is an array of {array.dtype}; only numbers can be kept")
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        listed.append((name, array.dtype.str, list(array.shape)))
        data = array.tobytes()
        parts += [data, bytes(-len(data) % 8)]
    body = b"".join(parts)
    text = json.dumps({**header, "arrays": listed}).encode()
    text += b" " * (-len(text) % 8)
    sums = _checksum(kind.version, text, zlib.crc32(body)), zlib.crc32(body)
    return _PREAMBLE.pack(kind.magic, kind.version, len(text), *sums) + text + body


def load(path: str | os.PathLike[str], kind: Kind, make: Callable[[Block], Made]) -> Made:
    """What ``make`` makes of the block in a file.

    Raises InputError, naming the file, where it is not there, is damaged or makes no sense.
    """
    source = Path(path)
    if not source.is_file():
        raise InputError(f"there is no file {source}")
    with FileIO(source) as file:
        block = unpack(file, source, kind)
    try:
        return make(block)
    except InputError as error:
        raise InputError(f"{source}: {error}") from error
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise InputError(f"{source} does not describe a {kind.name} ({error!r})") from error


def begins_as(path: str | os.PathLike[str], kind: Kind) -> bool:
    """Whether a file begins as those of a kind do."""
    with open(path, "rb") as file:
        return file.read(len(kind.magic)) == kind.magic


def unpack(file: FileIO, path: Path, kind: Kind) -> Block:
    """Reads the block at the start of ``file`` and leaves the position behind it.

    Raises InputError, naming ``path``, for a file of another kind, a newer one or a damaged one.
    """
    size = os.fstat(file.fileno()).st_size
    start = read(file, _PREAMBLE.size)
    if start[: len(kind.magic)] != kind.magic:
        found = f"starts with {start[:8]!r}" if start else "is empty"
        raise InputError(f"{path} is not a Supple {kind.name}: it {found}")
    if len(start) < _PREAMBLE.size:
        raise InputError(f"{path} ends inside its header: the file was cut short")
    _, version, length, head_sum, body_sum = _PREAMBLE.unpack(start)
    if version > kind.version:
        raise InputError(
            f"{path} was made by a newer version ({version}), this one reads up to {kind.version}; "
            "update Supple to read it"
        )
    if length > size - file.tell():
        raise InputError(f"{path} ends inside its header: the file is cut short or damaged")
    text = read(file, length)
    if _checksum(version, text, body_sum) != head_sum:
        raise InputError(f"{path}: header checksum does not match: the file is damaged")
    try:
        header = dict(json.loads(text))
        shapes = {
            str(name): (np.dtype(dtype), tuple(int(side) for side in shape))
            for name, dtype, shape in header.pop("arrays")
        }
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise InputError(f"{path}: its header does not list its arrays ({error!r})") from error
    wanted = {name: _bytes(path, name, *of) for name, of in shapes.items()}
    if sum(n + -n % 8 for n in wanted.values()) > size - file.tell():
        raise InputError(f"{path} ends inside its arrays: the file was cut short")
    arrays: Arrays = {}
    running = 0
    for name, (dtype, shape) in shapes.items():
        data = read(file, wanted[name] + -wanted[name] % 8)
        running = zlib.crc32(data, running)
        arrays[name] = np.frombuffer(data[: wanted[name]], dtype=dtype).reshape(shape)
    if running != body_sum:
        raise InputError(f"{path}: the checksum of its arrays does not match: the file is damaged")
    return Block(header, arrays, head_sum)


def checksum(block: bytes) -> int:
    """The checksum of a packed block, which covers all of it."""
    return int(_PREAMBLE.unpack_from(block)[3])


def read(file: FileIO, count: int) -> bytes:
    """``count`` bytes, or those up to the end of the file."""
    parts: list[bytes] = []
    while count > 0 and (part := file.read(count)):
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def write(file: FileIO, data: bytes) -> None:
    """Writes all of ``data`` and waits until the disk has it."""
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]
    os.fsync(file.fileno())


def open_locked(path: Path) -> FileIO:
    """Opens a file to change it; another process, or object, that does so too is an InputError."""
    file = FileIO(path, "r+")
    if sys.platform != "win32":
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise InputError(
                f"{path} is being written elsewhere; stop or close that first"
            ) from None
        except OSError:
            pass  # a file system without locks
    return file


def _checksum(version: int, text: bytes, body_sum: int) -> int:
    return zlib.crc32(text, zlib.crc32(struct.pack("<III", version, len(text), body_sum)))


def _bytes(path: Path, name: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> int:
    sane = len(shape) <= 32 and all(0 <= side < 2**48 for side in shape)
    if dtype.kind not in "biuf" or not sane:
        raise InputError(f"{path}: {name} is listed as {dtype}{shape}; only numbers are read")
    return math.prod(shape) * dtype.itemsize
