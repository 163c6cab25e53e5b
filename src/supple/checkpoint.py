"""Finished parts of long work, kept in a folder, so that it can be interrupted and resumed."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from supple import files
from supple.errors import InputError
from supple.files import Arrays

Made = TypeVar("Made")
Packed = tuple[Mapping[str, Any], Mapping[str, ArrayLike]]
"""A JSON-ready header and named arrays of numbers."""

_PART = files.Kind(b"\x89SUPPRT\n", "finished part", 1)
_ENDING = ".part"


class Checkpoint:
    """Parts of long work in a folder, each in a file that is whole or not there.

    Every part carries a checksum of what it was made of. One that is there and was made of the
    same is taken from there; any other is made, and kept. Without a folder nothing is kept.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self.seconds: dict[str, float] = {}
        """How long it took to make each part [s], in this run or in an earlier one."""
        self._folder = None if folder is None else Path(folder)
        if self._folder is None:
            return
        if self._folder.exists() and not self._folder.is_dir():
            raise InputError(f"checkpoint={folder}: it is a file; give the name of a folder")
        if not self._folder.parent.is_dir():
            raise InputError(f"checkpoint={folder}: there is no folder {self._folder.parent}")

    def part(
        self,
        name: str,
        made_of: object,
        make: Callable[[], Made],
        pack: Callable[[Made], Packed],
        unpack: Callable[[Mapping[str, Any], Arrays], Made],
    ) -> Made:
        """What ``make`` makes of ``made_of``, or made of the same in an earlier run.

        ``unpack`` gets what ``pack`` gave, in either case: so both are the same to the last bit.
        """
        key, path = "", None
        if self._folder is not None:
            key = digest(_version(), name, made_of)
            path = self._folder / f"{_plain(name)}{_ENDING}"
            kept = _read(path, key)
            if kept is not None:
                self.seconds[name] = float(kept.header["seconds"])
                return unpack(kept.header["about"], _copied(kept.arrays))
        start = time.perf_counter()
        about, arrays = pack(make())
        self.seconds[name] = time.perf_counter() - start
        if path is not None:
            path.parent.mkdir(exist_ok=True)
            header = {"key": key, "seconds": self.seconds[name], "about": about}
            with files.replacing(path) as temporary:
                temporary.write_bytes(files.pack(_PART, header, arrays))
        return unpack(about, _copied(arrays))

    def drop(self) -> None:
        """Removes the parts; the folder too, where nothing else is in it."""
        if self._folder is None or not self._folder.is_dir():
            return
        for path in self._folder.glob(f"*{_ENDING}"):
            path.unlink()
        if not any(self._folder.iterdir()):
            self._folder.rmdir()


def digest(*things: object) -> str:
    """A checksum of plain values, arrays, and dataclasses, sequences and mappings of those."""
    found = hashlib.blake2b(digest_size=16)
    for thing in things:
        _feed(found.update, thing)
    return found.hexdigest()


def _feed(update: Callable[[bytes], None], thing: object) -> None:
    """Every value goes with its kind and its length, so that no two things read the same."""
    if thing is None or isinstance(thing, bool | int | float | str | np.generic):
        if isinstance(thing, np.generic):
            thing = thing.item()
        text = repr(thing).encode()
        update(f"{type(thing).__name__} {len(text)} ".encode() + text)
    elif isinstance(thing, np.ndarray) and thing.dtype != object:
        update(f"array {thing.dtype.str} {thing.shape} ".encode())
        update(np.ascontiguousarray(thing).tobytes())
    elif isinstance(thing, bytes):
        update(f"bytes {len(thing)} ".encode() + thing)
    elif isinstance(thing, Enum):
        _feed(update, f"{type(thing).__name__}.{thing.name}")
    elif isinstance(thing, type):
        _feed(update, f"{thing.__module__}.{thing.__qualname__}")
    elif is_dataclass(thing):
        _feed(update, type(thing))
        _feed(update, {each.name: getattr(thing, each.name) for each in fields(thing) if each.init})
    elif isinstance(thing, Mapping):
        update(f"mapping {len(thing)} ".encode())
        for key, value in thing.items():
            _feed(update, key)
            _feed(update, value)
    elif isinstance(thing, Sequence):
        update(f"sequence {len(thing)} ".encode())
        for value in thing:
            _feed(update, value)
    else:
        raise TypeError(f"there is no checksum of a {type(thing).__name__}")


def _read(path: Path, key: str) -> files.Block | None:
    """The part in a file, if it is whole and was made of the same."""
    if not path.is_file():
        return None
    try:
        block = files.load(path, _PART, lambda block: block)
    except InputError:  # damaged: it is made again
        return None
    return block if block.header.get("key") == key else None


def _copied(arrays: Mapping[str, ArrayLike]) -> Arrays:
    """Arrays laid out row by row, as a file has them: sums of others may round otherwise."""
    return {name: np.array(array, order="C") for name, array in arrays.items()}


def _version() -> str:
    from supple import __version__

    return __version__


def _plain(name: str) -> str:
    """A name that every file system takes, another one for every part."""
    plain = "".join(letter if letter.isalnum() or letter in "-_ " else "_" for letter in name)
    return plain if plain == name else f"{plain}-{digest(name)[:8]}"
