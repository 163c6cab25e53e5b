"""The releases of a design, kept in a file as they are made, so that it can be gone on with.

A search is the same whenever its releases are: one that is gone on with asks for all of them again,
finds those that were made in the file, to the last bit, and so arrives where it would have.
"""

from __future__ import annotations

import base64
import json
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from supple.core.checksums import digest, sources_digest
from supple.core.errors import InputError
from supple.core.types import Floats
from supple.design.unloading import UnloadingTest

_FORMAT = "supple design journal 1"


class Journal:
    """Releases that were made, by what they were made of; in a file if one is given.

    ``made_of`` is what the whole design is made of. A file of another design is refused.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, made_of: object = None) -> None:
        self._path = None if path is None else Path(path)
        self._known: dict[str, UnloadingTest] = {}
        self.taken = 0
        """Releases that did not have to be made again."""
        if self._path is None:
            return
        head = {"format": _FORMAT, "of": digest(sources_digest(), made_of)}
        if self._path.exists() and self._path.stat().st_size:
            self._read(head)
        else:
            self._path.write_text(_line(head), encoding="utf-8")

    def __len__(self) -> int:
        return len(self._known)

    def find(self, key: object) -> UnloadingTest | None:
        """The release that was made of ``key``, if it was."""
        test = self._known.get(digest(key)) if self._known else None
        self.taken += test is not None
        return test

    def keep(self, key: object, test: UnloadingTest) -> None:
        """Add a release that was made."""
        name = digest(key)
        self._known[name] = test
        if self._path is None:
            return
        with self._path.open("a", encoding="utf-8") as file:
            file.write(_line({"key": name, **_packed(test)}))

    def drop(self) -> None:
        """Remove the file: the design is done."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def _read(self, head: dict[str, str]) -> None:
        assert self._path is not None
        data = self._path.read_bytes()
        lines = data.split(b"\n")
        first = _entry(lines[0])
        if first is None or first.get("format") != _FORMAT:
            raise InputError(f"{self._path} is no journal of a design; give another file")
        if first.get("of") != head["of"]:
            raise InputError(
                f"{self._path} is of another design: its body, damping, targets or options were "
                "others, or Supple was; undo that to go on with it, or remove it to start anew"
            )
        whole = len(lines[0]) + 1
        for line in lines[1:]:
            entry = _entry(line)
            if entry is None:  # cut off when it was written
                break
            self._known[entry.pop("key")] = _unpacked(entry)
            whole += len(line) + 1
        if whole < len(data):
            with self._path.open("r+b") as file:
                file.truncate(whole)


def _line(entry: dict[str, Any]) -> str:
    text = json.dumps(entry)
    return f"{zlib.crc32(text.encode()):08x} {text}\n"


def _entry(line: bytes) -> dict[str, Any] | None:
    """What a line says, if it is whole."""
    check, _, text = line.partition(b" ")
    if not text or check != f"{zlib.crc32(text):08x}".encode():
        return None
    found: dict[str, Any] = json.loads(text)
    return found


def _packed(test: UnloadingTest) -> dict[str, Any]:
    arrays = {name: getattr(test, name) for name in ("times", "excitations", "rates", "turns")}
    packed: dict[str, Any] = {name: _text(array) for name, array in arrays.items()}
    ends = np.array([test.residual, test.period])
    return packed | {"ends": _text(ends), "substeps": test.substeps, "failure": test.failure}


def _unpacked(entry: dict[str, Any]) -> UnloadingTest:
    residual, period = _array(entry["ends"]).tolist()
    return UnloadingTest(
        times=_array(entry["times"]),
        excitations=_array(entry["excitations"]),
        residual=residual,
        period=period,
        rates=_array(entry["rates"]),
        turns=_array(entry["turns"]).reshape(-1, 2),
        substeps=entry["substeps"],
        failure=entry["failure"],
    )


def _text(array: Floats) -> str:
    return base64.b64encode(np.ascontiguousarray(array, dtype="<f8").tobytes()).decode()


def _array(text: str) -> Floats:
    return np.frombuffer(base64.b64decode(text), dtype="<f8").astype(float)
