"""What long benchmarks have found so far, kept in a folder."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import warnings
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

import numpy as np

import supple as sp
from benchmarks.timing import table
from supple.core.types import Floats

Row = dict[str, Any]


def fingerprint(*parts: Any, files: Iterable[Path] = ()) -> str:
    """A short text that is another one where a part or the text of a file is."""
    digest = hashlib.sha256(repr(parts).encode())
    for file in sorted(files):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


class Kept:
    """Arrays and rows by name, on disk; in memory only where there is no folder."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)

    def arrays(self, name: str, make: Callable[[], dict[str, Floats]]) -> dict[str, Floats]:
        """Those of that name, made where there are none."""
        if self._folder is None:
            return make()
        file = self._folder / f"{name}.npz"
        if not file.exists():
            made = make()
            part = file.with_suffix(".part.npz")
            np.savez(part, **made)  # type: ignore[arg-type]
            os.replace(part, file)
        with np.load(file) as found:
            return {key: found[key] for key in found.files}

    def row(self, table: str, key: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """One row of a table, made where there is none of that key."""
        if self._folder is None:
            return make()
        file = self._folder / f"{table}.jsonl"
        for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
            found: dict[str, Any] = json.loads(line)
            if found["key"] == key:
                return found
        made = {"key": key, **make()}
        with file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(made) + "\n")
        return made


def told_rows(
    arguments: list[str],
    *,
    of: str,
    about: str | None,
    bodies: Collection[str],
    rows_of: Callable[[Path, str, Kept], Iterable[Row]],
    cells: Callable[[Row], list[str]],
    head: list[str],
) -> list[Row]:
    """The rows of benchmark ``of`` for some bodies of a folder: told one by one, then as a table.

    ``arguments`` are the folder, the bodies, all if none is named, and ``--keep CACHE``.
    """
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks {of}", description=about)
    parser.add_argument("folder", type=Path, help="of bodies, with tets and surfaces")
    parser.add_argument("bodies", nargs="*", help=f"some of {', '.join(bodies)}")
    parser.add_argument("--keep", type=Path, help="a folder for what was found")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore", sp.ModelWarning)
    warnings.simplefilter("ignore", sp.MeshWarning)
    rows: list[Row] = []
    for name in given.bodies or bodies:
        for row in rows_of(given.folder, name, Kept(given.keep)):
            print("  ".join(cells(row)), file=sys.stderr, flush=True)
            rows.append(row)
    print(table(head, [cells(row) for row in rows]))
    return rows
