"""Finished parts of long work, kept in a folder, so that it can be interrupted and resumed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from supple.core import files
from supple.core.checksums import digest, plain_name, sources_digest
from supple.core.errors import InputError
from supple.core.files import Arrays

Made = TypeVar("Made")
Packed = tuple[Mapping[str, Any], Mapping[str, ArrayLike]]
"""A JSON-ready header and named arrays of numbers."""

_PART = files.Kind(b"\x89SUPPRT\n", "finished part", 1)
_ENDING = ".supple-part"


class Checkpoint:
    """Parts of long work in a folder, each in a file that is whole or not there.

    Every part carries a checksum of what it was made of, and of the program. One that is there and
    was made of the same is taken from there; any other is made, and kept. Without a folder nothing
    is kept.
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

    def sum_of(self, made_of: Callable[[], object]) -> str:
        """A checksum of what ``made_of`` gives, which is not asked where nothing is kept."""
        return "" if self._folder is None else digest(made_of())

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
            from supple import __version__

            key = digest(__version__, sources_digest(), name, made_of)
            path = self._folder / f"{plain_name(name)}{_ENDING}"
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
            if path.is_file() and files.begins_as(path, _PART):
                path.unlink()
        if not any(self._folder.iterdir()):
            self._folder.rmdir()


def _read(path: Path, key: str) -> files.Block | None:
    """The part in a file, if it is whole and was made of the same."""
    if not path.exists():
        return None
    if path.is_dir() or (path.stat().st_size and not files.begins_as(path, _PART)):
        raise InputError(
            f"{path} is in the place of a finished part and is none; move it away, or give another "
            "folder as checkpoint"
        )
    try:
        block = files.load(path, _PART, lambda block: block)
    except InputError:  # damaged: it is made again
        return None
    return block if block.header.get("key") == key else None


def _copied(arrays: Mapping[str, ArrayLike]) -> Arrays:
    """Arrays laid out row by row, as a file has them: sums of others may round otherwise."""
    return {name: np.array(array, order="C") for name, array in arrays.items()}
